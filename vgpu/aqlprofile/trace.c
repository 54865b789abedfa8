/* SPDX-License-Identifier: MIT */
/* trace.c - packets that start and stop a thread trace, and the samples that it leaves
 *
 * The streams have the order that is known of AMD's library on gfx9. The waits (CS_PARTIAL_FLUSH)
 * order them with the kernels of their queue. All registers of thread trace are in the space of
 * SET_UCONFIG_REG.
 */
#include "trace.h"

#include <stdio.h>

#include "blocks.h"
#include "stream.h"

enum {
	GRBM_GFX_INDEX = 0xc200,
	TRACE_BASE = 0xc330,
	TRACE_SIZE,
	TRACE_MASK,
	TRACE_TOKEN_MASK,
	TRACE_PERF_MASK,
	TRACE_CTRL,
	TRACE_MODE,
	TRACE_BASE2,
	TRACE_TOKEN_MASK2,
	TRACE_WPTR,
	TRACE_STATUS,
	TRACE_HIWATER,
	TRACE_CNTR,
	UCONFIG_BASE = 0xc000,
	CS_PARTIAL_FLUSH = 0x407,
};

#define BROADCAST 0xe0000000u
#define ONE_SE(se) (0x60000000u | (se) << 16)
/* MODE: compute waves, flushed as they come; and on */
#define MODE_OFF (1u << 18 | 1u << 25)
#define MODE_ON (MODE_OFF | 1u << 21)
#define CTRL_RESET (1u << 31)
#define STATUS_FULL (1u << 31)
#define STATUS_BUSY (1u << 30)
#define STATUS_MEMORY (1u << 28)
#define COPY_REG_TO_MEMORY 0x02002500u
#define TOKEN_BYTES 32u

/* For a shader engine, in the command buffer's area. */
struct control {
	uint32_t status, cntr, wptr, rest[5];
};

/* Values of parameters; 0 where a profile has none, as AMD's library does. */
struct settings {
	uint32_t cu, vm, mask, token_mask, token_mask2, se_mask;
};

/* Sets the member of a parameter; false: no thread trace has it. */
static bool apply(struct settings *s, const hsa_ven_amd_aqlprofile_parameter_t *p)
{
	switch ((int)p->parameter_name) {
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET:
		s->cu = p->value;
		return true;
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_VM_ID_MASK:
		s->vm = p->value;
		return true;
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK:
		s->mask = p->value;
		return true;
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK:
		s->token_mask = p->value;
		return true;
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK2:
		s->token_mask2 = p->value;
		return true;
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK:
		s->se_mask = p->value;
		return true;
	/* of sampled counters, and of how the caller orders its packets */
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SAMPLE_RATE:
	case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_K_CONCURRENT:
		return true;
	default:
		return false;
	}
}

static struct settings settings_of(const profile_t *p)
{
	struct settings s = { .se_mask = (1u << BLOCKS_TRACED_ENGINES) - 1 };

	for (uint32_t i = 0; i < p->parameter_count; i++)
		(void)apply(&s, &p->parameters[i]);
	s.se_mask &= (1u << BLOCKS_TRACED_ENGINES) - 1;
	return s;
}

hsa_status_t trace_check(const profile_t *p, char *text, size_t size)
{
	static const struct {
		uint32_t name, bad_bits, max;
		const char *name_of, *rule;
	} limits[] = {
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, 0, 15,
		  "COMPUTE_UNIT_TARGET", "compute units are 0 to 15" },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_VM_ID_MASK, 0, 2, "VM_ID_MASK",
		  "it is 0 to 2" },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK, 0x50, UINT32_MAX, "MASK",
		  "bits 4 and 6 have to be 0" },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK, 0xfe000000, UINT32_MAX,
		  "TOKEN_MASK", "bits 31:25 have to be 0" },
	};
	struct settings s;

	if (!p->parameters && p->parameter_count) {
		snprintf(text, size, "a null pointer to the parameters");
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	for (uint32_t i = 0; i < p->parameter_count; i++) {
		const hsa_ven_amd_aqlprofile_parameter_t *q = &p->parameters[i];

		if (!apply(&s, q)) {
			snprintf(text, size, "no parameter of a trace is %d",
				 (int)q->parameter_name);
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		}
		for (size_t n = 0; n < sizeof(limits) / sizeof(limits[0]); n++) {
			if (limits[n].name != (uint32_t)q->parameter_name ||
			    (!(q->value & limits[n].bad_bits) && q->value <= limits[n].max))
				continue;
			snprintf(text, size, "%s is 0x%x: %s", limits[n].name_of, q->value,
				 limits[n].rule);
			return HSA_STATUS_ERROR;
		}
	}
	if (!settings_of(p).se_mask) {
		snprintf(text, size, "SE_MASK selects none of the %d shader engines",
			 BLOCKS_TRACED_ENGINES);
		return HSA_STATUS_ERROR;
	}
	return HSA_STATUS_SUCCESS;
}

uint32_t trace_samples(const profile_t *p)
{
	return (uint32_t)__builtin_popcount(settings_of(p).se_mask);
}

uint32_t trace_output_size(const profile_t *p)
{
	return trace_samples(p) * TRACE_ALIGN;
}

/* Of each shader engine, bytes. */
static uint32_t share(const profile_t *p)
{
	return p->output_buffer.size / trace_samples(p) / TRACE_ALIGN * TRACE_ALIGN;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void set(struct stream *s, uint32_t reg, uint32_t value)
{
	STREAM_PUT(s, STREAM_SET_UCONFIG_REG, reg - UCONFIG_BASE, value);
}

static void wait_for_kernels(struct stream *s)
{
	STREAM_PUT(s, STREAM_EVENT_WRITE, CS_PARTIAL_FLUSH);
}

static void set_masks(struct stream *s, const struct settings *t)
{
	/* all SIMDs of the compute unit; the trace may stall waves, registers and launches */
	uint32_t mask = 0xcf80u | t->vm << 12 | t->cu;

	set(s, TRACE_MASK, t->mask ? t->mask : mask);
	set(s, TRACE_PERF_MASK, 0xffffffffu);
	set(s, TRACE_TOKEN_MASK, t->token_mask ? t->token_mask : 0x01ffffffu);
	set(s, TRACE_TOKEN_MASK2, t->token_mask2 ? t->token_mask2 : 0xffffff7fu);
	set(s, TRACE_MODE, MODE_OFF);
	set(s, TRACE_HIWATER, 6);
}

static void start(struct stream *s, const profile_t *p)
{
	struct settings t = settings_of(p);
	uint64_t at = (uintptr_t)p->output_buffer.ptr;

	set(s, GRBM_GFX_INDEX, BROADCAST);
	wait_for_kernels(s);
	set_masks(s, &t);
	for (uint32_t se = 0; se < BLOCKS_TRACED_ENGINES; se++) {
		bool traced = t.se_mask >> se & 1;

		set(s, GRBM_GFX_INDEX, ONE_SE(se));
		set(s, TRACE_BASE2, traced ? (uint32_t)(at >> 44) : 0);
		set(s, TRACE_BASE, traced ? (uint32_t)(at >> 12) : 0);
		set(s, TRACE_SIZE, traced ? share(p) / TRACE_ALIGN : 0);
		set(s, TRACE_CTRL, CTRL_RESET);
		at += traced ? share(p) : 0;
	}
	set(s, GRBM_GFX_INDEX, BROADCAST);
	wait_for_kernels(s);
	set(s, TRACE_MODE, MODE_ON);
	wait_for_kernels(s);
}

static void copy_register(struct stream *s, uint32_t reg, const uint32_t *to)
{
	STREAM_PUT(s, STREAM_COPY_DATA, COPY_REG_TO_MEMORY, reg, 0, STREAM_LO((uintptr_t)to),
		   STREAM_HI((uintptr_t)to));
}

static void stop(struct stream *s, const profile_t *p)
{
	uint32_t se_mask = settings_of(p).se_mask;
	struct control *c = commands_area(p);

	set(s, GRBM_GFX_INDEX, BROADCAST);
	wait_for_kernels(s);
	set(s, TRACE_MODE, MODE_OFF);
	wait_for_kernels(s);
	for (uint32_t se = 0; se < BLOCKS_TRACED_ENGINES; se++) {
		if (!(se_mask >> se & 1))
			continue;
		set(s, GRBM_GFX_INDEX, ONE_SE(se));
		/* the register equals 0 in bit BUSY */
		STREAM_PUT(s, STREAM_WAIT_REG_MEM, 3, TRACE_STATUS, 0, 0, STATUS_BUSY, 4);
		copy_register(s, TRACE_STATUS, &c->status);
		copy_register(s, TRACE_CNTR, &c->cntr);
		copy_register(s, TRACE_WPTR, &c->wptr);
		c++;
	}
	set(s, GRBM_GFX_INDEX, BROADCAST);
	set(s, TRACE_SIZE, 0);
	set(s, TRACE_CTRL, CTRL_RESET);
	wait_for_kernels(s);
}

const struct commands *trace_commands(const profile_t *p, struct commands *c)
{
	*c = (struct commands){
		.write = { [COMMANDS_START] = start, [COMMANDS_STOP] = stop },
		.area = trace_samples(p) * (uint32_t)sizeof(struct control),
	};
	return c;
}

/* ---- data ------------------------------------------------------------------------------------ */

struct trace_sample trace_sample(const profile_t *p, uint32_t n)
{
	const struct control *c = (const struct control *)commands_area(p) + n;
	uint64_t size = (uint64_t)(c->wptr & 0x3fffffffu) * TOKEN_BYTES;
	uint32_t mask = settings_of(p).se_mask;

	/* the n-th bit */
	for (uint32_t i = 0; i < n; i++)
		mask &= mask - 1;
	return (struct trace_sample){
		.se = (uint32_t)__builtin_ctz(mask),
		.size = (uint32_t)(size < share(p) ? size : share(p)),
		.at = (unsigned char *)p->output_buffer.ptr + (size_t)n * share(p),
		.lost = c->cntr,
		.full = c->status & STATUS_FULL,
		.bad_memory = c->status & STATUS_MEMORY,
	};
}
