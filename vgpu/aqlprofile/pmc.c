/* SPDX-License-Identifier: MIT */
/* pmc.c - packets that start, read and stop the counters of a profile
 *
 * The streams have the form that is known of AMD's library on gfx9. The waits (CS_PARTIAL_FLUSH)
 * order them with the kernels of their queue.
 */
#include "pmc.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "blocks.h"
#include "stream.h"

enum {
	GRBM_GFX_INDEX = 0xc200,
	CP_PERFMON_CNTL = 0xd808,
	RLC_PERFMON_CLK_CNTL = 0xdcbf,
	SQ_PERFCOUNTER_CTRL = 0xd9e0,
	SQ_PERFCOUNTER_MASK = 0xd9e1,
	COMPUTE_PERFCOUNT_ENABLE = 0x2e0b,
	SH_BASE = 0x2c00,
	UCONFIG_BASE = 0xc000,
	CS_PARTIAL_FLUSH = 0x407,
};

/* CP_PERFMON_CNTL */
enum { CNTL_RESET = 0, CNTL_COUNT = 1, CNTL_STOP = 2, CNTL_SAMPLE = 0x400 };

/* GRBM_GFX_INDEX */
#define ALL_INSTANCES (1u << 30)
#define ALL_SE (1u << 31)
#define ALL_ARRAYS (1u << 29)
#define BROADCAST (ALL_INSTANCES | ALL_SE | ALL_ARRAYS)

/* COPY_DATA: a register to memory, an immediate value to a register */
#define COPY_REG_TO_MEMORY 0x02002500u
#define COPY_IMMEDIATE_TO_REG 5u

/* the control register of a memory block */
#define MEMORY_CLEAR 0x02000000u
#define MEMORY_START 0x01000000u
#define MEMORY_ENABLE 0x10000000u

#define ALIGN 256u

typedef hsa_ven_amd_aqlprofile_event_t event_t;

static const struct block *block_of(const event_t *e)
{
	return blocks_find((uint32_t)e->block_name);
}

/* Blocks with the same registers, SQ and SQ_CS, share their counters. */
static bool shares_counters(const event_t *a, const event_t *b)
{
	return a->block_index == b->block_index &&
	       block_of(a)->slot[0].select == block_of(b)->slot[0].select;
}

/* The counter that the event gets: events of an instance take them in their order. */
static uint32_t slot_of(const profile_t *p, uint32_t i)
{
	uint32_t slot = 0;

	for (uint32_t k = 0; k < i; k++)
		slot += shares_counters(&p->events[k], &p->events[i]);
	return slot;
}

const char *pmc_check(const profile_t *p, uint32_t *at)
{
	for (*at = 0; *at < p->event_count; ++*at) {
		const struct block *b = block_of(&p->events[*at]);

		if (!b)
			return "there is no such block";
		if (p->events[*at].block_index >=
		    blocks_instances(blocks_gpu(p->agent), (uint32_t)p->events[*at].block_name))
			return "the block has no such instance";
		if (slot_of(p, *at) >= b->counters)
			return "the block has no counter left for it";
	}
	return NULL;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void wait_for_kernels(struct stream *s)
{
	STREAM_PUT(s, STREAM_EVENT_WRITE, CS_PARTIAL_FLUSH);
}

static void set(struct stream *s, uint32_t reg, uint32_t value)
{
	if (reg >= UCONFIG_BASE)
		STREAM_PUT(s, STREAM_SET_UCONFIG_REG, reg - UCONFIG_BASE, value);
	else
		STREAM_PUT(s, STREAM_COPY_DATA, COPY_IMMEDIATE_TO_REG, value, 0, reg, 0);
}

static uint32_t instance_selector(const struct block *b, const event_t *e)
{
	return b->instances > 1 ? ALL_SE | ALL_ARRAYS | e->block_index : BROADCAST;
}

static uint32_t sample_selector(const struct block *b, const event_t *e, uint32_t se)
{
	if (!b->per_se)
		return instance_selector(b, e);
	return ALL_ARRAYS | se << 16 | (b->instances > 1 ? e->block_index : ALL_INSTANCES);
}

static void select_event(struct stream *s, const struct block *b, uint32_t slot, uint32_t event)
{
	switch (b->way) {
	case BLOCKS_PLAIN:
		set(s, b->slot[slot].select, event);
		break;
	case BLOCKS_SQ:
		/* of all SIMDs, for any bank and client; of compute waves alone */
		set(s, b->slot[slot].select, 0x0f0ff000u | event);
		set(s, SQ_PERFCOUNTER_MASK, 0xffffffffu);
		set(s, SQ_PERFCOUNTER_CTRL, 0xffff0057u);
		break;
	case BLOCKS_MEMORY:
		set(s, b->control, MEMORY_CLEAR);
		set(s, b->slot[slot].select, MEMORY_ENABLE | event);
		set(s, b->control, slot);
		set(s, b->control, MEMORY_START);
		break;
	}
}

/* The texture units count what SQ's control register lets through. */
static bool has_texture_units(const profile_t *p)
{
	for (uint32_t i = 0; i < p->event_count; i++) {
		switch (p->events[i].block_name) {
		case HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA:
		case HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TD:
		case HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP:
		case HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC:
		case HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCA:
			return true;
		default:
			break;
		}
	}
	return false;
}

static void start(struct stream *s, const profile_t *p)
{
	wait_for_kernels(s);
	set(s, GRBM_GFX_INDEX, BROADCAST);
	set(s, RLC_PERFMON_CLK_CNTL, 1);
	set(s, CP_PERFMON_CNTL, CNTL_RESET);
	if (has_texture_units(p))
		set(s, SQ_PERFCOUNTER_CTRL, 0xffff007fu);
	for (uint32_t i = 0; i < p->event_count; i++) {
		const event_t *e = &p->events[i];

		set(s, GRBM_GFX_INDEX, instance_selector(block_of(e), e));
		select_event(s, block_of(e), slot_of(p, i), e->counter_id);
	}
	set(s, GRBM_GFX_INDEX, BROADCAST);
	STREAM_PUT(s, STREAM_SET_SH_REG, COMPUTE_PERFCOUNT_ENABLE - SH_BASE, 1);
	set(s, CP_PERFMON_CNTL, CNTL_RESET);
	set(s, CP_PERFMON_CNTL, CNTL_COUNT);
	wait_for_kernels(s);
}

static void copy_register(struct stream *s, uint32_t reg, uint64_t to)
{
	STREAM_PUT(s, STREAM_COPY_DATA, COPY_REG_TO_MEMORY, reg, 0, STREAM_LO(to), STREAM_HI(to));
}

static void read_sample(struct stream *s, const struct block *b, const event_t *e, uint32_t slot,
			uint32_t se, uint64_t to)
{
	set(s, GRBM_GFX_INDEX, sample_selector(b, e, se));
	if (b->way == BLOCKS_MEMORY)
		set(s, b->control, slot);
	copy_register(s, b->slot[slot].lo, to);
	copy_register(s, b->slot[slot].hi, to + 4);
}

static uint64_t read_event(struct stream *s, const profile_t *p, uint32_t i, uint64_t to)
{
	const event_t *e = &p->events[i];
	const struct block *b = block_of(e);
	uint32_t slot = slot_of(p, i);
	uint32_t nr = blocks_samples(blocks_gpu(p->agent), (uint32_t)e->block_name);

	const struct blocks_gpu *gpu = blocks_gpu(p->agent);

	for (uint32_t n = 0; n < nr; n++, to += 8) {
		uint32_t engines = nr / gpu->dies;
		struct stream length = { NULL, 0 };

		if (gpu->dies > 1) {
			/* all dies execute the packets: these one alone */
			read_sample(&length, b, e, slot, n % engines, to);
			STREAM_PUT(s, STREAM_PRED_EXEC, 1u << (24 + n / engines) | length.nr);
		}
		read_sample(s, b, e, slot, n % engines, to);
	}
	return to;
}

static void read(struct stream *s, const profile_t *p)
{
	uint64_t out = (uintptr_t)p->output_buffer.ptr, to = out;

	set(s, CP_PERFMON_CNTL, CNTL_COUNT | CNTL_SAMPLE);
	set(s, GRBM_GFX_INDEX, BROADCAST);
	wait_for_kernels(s);
	for (uint32_t i = 0; i < p->event_count; i++)
		to = read_event(s, p, i, to);
	set(s, GRBM_GFX_INDEX, BROADCAST);
	STREAM_PUT(s, STREAM_ACQUIRE_MEM, 0x28c40000u, pmc_output_size(p) / ALIGN + 1, 0,
		   STREAM_LO(out >> 8), STREAM_HI(out >> 8), 0x10);
}

static void stop(struct stream *s, const profile_t *p)
{
	(void)p;
	set(s, GRBM_GFX_INDEX, BROADCAST);
	set(s, CP_PERFMON_CNTL, CNTL_STOP);
	set(s, RLC_PERFMON_CLK_CNTL, 0);
	wait_for_kernels(s);
}

static void read_and_stop(struct stream *s, const profile_t *p)
{
	read(s, p);
	stop(s, p);
}

const struct commands pmc_commands = {
	.write = { [COMMANDS_READ] = read, [COMMANDS_START] = start, [COMMANDS_STOP] = stop },
};

const struct commands pmc_commands_read_at_stop = {
	.write = { [COMMANDS_READ] = read,
		   [COMMANDS_START] = start,
		   [COMMANDS_STOP] = read_and_stop },
};

uint32_t pmc_output_size(const profile_t *p)
{
	const struct blocks_gpu *gpu = blocks_gpu(p->agent);
	uint32_t samples = 0;

	for (uint32_t i = 0; i < p->event_count; i++)
		samples += blocks_samples(gpu, (uint32_t)p->events[i].block_name);
	return samples * 8;
}
