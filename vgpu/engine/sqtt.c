/* SPDX-License-Identifier: MIT */
/* sqtt.c - thread trace of a GPU: its registers, and the buffer of each shader engine
 *
 *     BASE, BASE2    the buffer's address, in pages of 4 KiB
 *     SIZE           its size in pages; 0: the shader engine is not traced
 *     CTRL           bit 31 empties the buffer and clears STATUS and CNTR
 *     MODE           bits 22:21: 1 traces, 0 stops; MASK_CS (20:18) has to be set for waves of
 *                    compute
 *     MASK           the compute unit (4:0) and SIMDs (11:8) whose waves have INST tokens
 *     TOKEN_MASK     bits 15:0: the types of tokens that are written
 *     TOKEN_MASK2    0: no INST tokens
 *     WPTR           tokens written, 32 bytes each
 *     CNTR           tokens that were lost because the buffer was full
 *     STATUS         bit 31: the buffer was too small; bit 28: it was not memory that the GPU can
 *                    access
 *
 * Tokens are written when a dispatch completes, so a trace that is stopped by a packet behind it
 * has all of them.
 *
 * Owns:     the registers of each GPU.
 * Threads:  the engine's, under the engine's lock.
 */
#include "sqtt.h"

#include <string.h>

#include "host.h"
#include "knobs.h"
#include "log.h"
#include "mem.h"

enum {
	BASE = 0xc330,
	SIZE,
	MASK,
	TOKEN_MASK,
	PERF_MASK,
	CTRL,
	MODE,
	BASE2,
	TOKEN_MASK2,
	WPTR,
	STATUS,
	HIWATER,
	CNTR,
};

#define PAGE 4096u
#define CTRL_RESET (1u << 31)
#define MODE_ON(mode) (((mode) >> 21 & 3) == 1 && ((mode) >> 18 & 7))
#define STATUS_FULL (1u << 31)
#define STATUS_MEMORY (1u << 28)
#define WPTR_MASK 0x3fffffffu

_Static_assert(sizeof(struct sqtt_token) == 32, "the unit of WPTR");

struct se {
	uint32_t reg[CNTR - BASE + 1];
	uint64_t tokens, lost;
};

static struct gpu {
	struct se se[SQTT_SES];
	bool on;
	uint64_t session;
} gpus[KNOBS_DEVICES_MAX];

static uint32_t reg_of(const struct se *e, uint32_t reg)
{
	return e->reg[reg - BASE];
}

static uint64_t base_of(const struct se *e)
{
	return (reg_of(e, BASE) | (uint64_t)(reg_of(e, BASE2) & 15) << 32) * PAGE;
}

static uint64_t capacity(const struct se *e)
{
	return (uint64_t)(reg_of(e, SIZE) & 0x3fffff) * PAGE / sizeof(struct sqtt_token);
}

bool sqtt_has_register(uint32_t reg)
{
	return reg >= BASE && reg <= CNTR;
}

static void reset(struct se *e)
{
	e->tokens = e->lost = 0;
	e->reg[STATUS - BASE] = 0;
}

/* All engines get MODE together, or one does: the trace is on while any has it on. */
static void set_mode(unsigned int gpu)
{
	struct gpu *g = &gpus[gpu];
	bool on = false;

	for (unsigned int n = 0; n < SQTT_SES; n++)
		on |= MODE_ON(reg_of(&g->se[n], MODE));
	if (on == g->on)
		return;
	g->on = on;
	if (on) {
		g->session++;
		return;
	}
	for (unsigned int n = 0; n < SQTT_SES; n++) {
		const struct se *e = &g->se[n];

		if (capacity(e))
			log_thread_trace(gpu, n, base_of(e), e->tokens, e->lost);
	}
}

void sqtt_write(unsigned int gpu, uint32_t index, uint32_t reg, uint32_t value)
{
	bool all = index >> 31 & 1;
	unsigned int chosen = (index >> 16 & 0xff) % SQTT_SES;

	for (unsigned int n = 0; n < SQTT_SES; n++) {
		struct se *e = &gpus[gpu].se[n];

		if (!all && n != chosen)
			continue;
		if (reg == WPTR || reg == STATUS || reg == CNTR)
			continue;
		e->reg[reg - BASE] = value;
		if (reg == CTRL && value & CTRL_RESET)
			reset(e);
	}
	if (reg == MODE)
		set_mode(gpu);
}

uint32_t sqtt_read(unsigned int gpu, uint32_t index, uint32_t reg)
{
	const struct se *e = &gpus[gpu].se[index >> 31 & 1 ? 0 : (index >> 16 & 0xff) % SQTT_SES];

	switch (reg) {
	case WPTR:
		return (uint32_t)e->tokens & WPTR_MASK;
	case CNTR:
		return e->lost < UINT32_MAX ? (uint32_t)e->lost : UINT32_MAX;
	default:
		return reg_of(e, reg);
	}
}

/* ---- tokens ---- */

uint64_t sqtt_session(unsigned int gpu)
{
	return gpus[gpu].on ? gpus[gpu].session : 0;
}

uint64_t sqtt_space(unsigned int gpu, unsigned int se)
{
	const struct se *e = &gpus[gpu].se[se];

	return MODE_ON(reg_of(e, MODE)) && e->tokens < capacity(e) ? capacity(e) - e->tokens : 0;
}

/* The masks are the same in all shader engines that a profile traces: any of them knows. */
bool sqtt_wants(unsigned int gpu, unsigned int type)
{
	for (unsigned int n = 0; n < SQTT_SES; n++) {
		const struct se *e = &gpus[gpu].se[n];

		if (capacity(e) && reg_of(e, TOKEN_MASK) >> type & 1 &&
		    (type != SQTT_INST || reg_of(e, TOKEN_MASK2)))
			return true;
	}
	return false;
}

bool sqtt_chosen(unsigned int gpu, const struct sqtt_token *t)
{
	uint32_t mask = reg_of(&gpus[gpu].se[t->se], MASK);

	return t->cu == (mask & 31) && mask >> (8 + t->simd) & 1;
}

void sqtt_lost(unsigned int gpu, unsigned int se, uint64_t tokens)
{
	struct se *e = &gpus[gpu].se[se];

	if (!tokens || !capacity(e) || !MODE_ON(reg_of(e, MODE)))
		return;
	e->lost += tokens;
	e->reg[STATUS - BASE] |= STATUS_FULL;
}

void sqtt_put(unsigned int gpu, const struct sqtt_token *t)
{
	struct se *e = &gpus[gpu].se[t->se];
	uint64_t at = base_of(e) + e->tokens * sizeof(*t);
	struct gcn_range range;

	if (!sqtt_space(gpu, t->se)) {
		sqtt_lost(gpu, t->se, 1);
		return;
	}
	if (!host_range(at, &range) || range.hi - at < sizeof(*t)) {
		e->reg[STATUS - BASE] |= STATUS_MEMORY;
		return;
	}
	memcpy(mem_ptr(at + range.shift), t, sizeof(*t));
	e->tokens++;
}
