/* SPDX-License-Identifier: MIT */
/* sopp.c - branches, barriers, messages and other control instructions; hardware registers */
#include <stddef.h>

#include "salu.h"

enum {
	HWREG_MODE = 1,
	HWREG_HW_ID = 4,
	HWREG_LDS_ALLOC = 6,
	HWREG_SH_MEM_BASES = 15,
	HWREG_XCC_ID = 20,
};

enum { MSG_INTERRUPT = 1 };

uint32_t hwreg_read(const struct gcn_wave *w, unsigned int id)
{
	switch (id) {
	case HWREG_MODE:
		return w->mode;
	case HWREG_HW_ID:
		return w->number & 15;
	case HWREG_LDS_ALLOC:
		return (w->run->lds_size / 512) << 12;
	case HWREG_SH_MEM_BASES:
		return GCN_SCRATCH_HI >> 16 | (GCN_LDS_HI >> 16) << 16;
	case HWREG_XCC_ID:
		/* the hardware's dispatcher deals workgroups to the dies in turn */
		return (uint32_t)(w->run->number % w->run->arch->nr_xccs);
	default:
		return 0;
	}
}

void hwreg_write(struct gcn_wave *w, unsigned int id, uint32_t value)
{
	if (id == HWREG_MODE)
		gcn_set_mode(w, value);
}

static void s_nop(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)w;
	(void)i;
}

static void s_endpgm(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	w->state = GCN_WAVE_END;
}

/* A branch, and the end of the block whose last instruction it is: unless one before stopped the
 * wave. */
#define BRANCH(name, take)                                                                         \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		w->pc += (take) ? (uint64_t)((int64_t)i->imm * 4) : 0;                             \
	}                                                                                          \
	static void name##_end(struct gcn_wave *w, const struct gcn_step *step)                    \
	{                                                                                          \
		if (w->state != GCN_WAVE_RUN)                                                      \
			return;                                                                    \
		w->pc += step->words * 4u;                                                         \
		name(w, step->i);                                                                  \
	}

BRANCH(s_branch, true)
BRANCH(s_cbranch_scc0, !w->scc)
BRANCH(s_cbranch_scc1, w->scc)
BRANCH(s_cbranch_vccz, !gcn_get64(w, GCN_REG_VCC))
BRANCH(s_cbranch_vccnz, gcn_get64(w, GCN_REG_VCC))
BRANCH(s_cbranch_execz, !gcn_exec(w))
BRANCH(s_cbranch_execnz, gcn_exec(w))

static void s_barrier(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	w->run->counters.wait++;
	w->state = GCN_WAVE_BARRIER;
}

/* All memory instructions complete at once. But the host's processor may still hold back the stores
 * from other processors while it does later loads: a wave that waits for its stores wants them to
 * be visible. */
void gcn_run_fence(struct gcn_run *r)
{
	r->stored = false;
	/* store, fence, load here; the same on another processor: one of them sees the other's
	 * store */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void s_waitcnt(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->run->counters.wait++;
	if (w->run->stored && gcn_waits_for_all(i))
		gcn_run_fence(w->run);
}

bool gcn_is_wait(const struct gcn_inst *i)
{
	return i->run == s_waitcnt;
}

bool gcn_waits_for_all(const struct gcn_inst *i)
{
	uint32_t vmcnt = ((uint32_t)i->imm & 15) | ((uint32_t)i->imm >> 10 & 0x30);
	uint32_t lgkmcnt = (uint32_t)i->imm >> 8 & 15;

	return !vmcnt || !lgkmcnt;
}

/* Yields to the other waves of the workgroup: this wave may wait for one of them. */
static void s_sleep(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	w->run->yield = true;
}

/* Code is compared with memory again. */
static void s_icache_inv(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	gcn_tally_up(w->run);
}

static void s_sendmsg(struct gcn_wave *w, const struct gcn_inst *i)
{
	if ((i->imm & 15) == MSG_INTERRUPT && w->run->host->interrupt)
		w->run->host->interrupt(w->sgpr[GCN_REG_M0] & 0xffffff);
}

static void s_trap(struct gcn_wave *w, const struct gcn_inst *i)
{
	/* 3 is a breakpoint for a debugger: ignored */
	if ((i->imm & 255) == 3)
		return;
	gcn_stop(w, GCN_TRAP, (uint64_t)i->imm & 255);
}

static void s_set_gpr_idx_off(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	w->idx_on = false;
}

static void s_set_gpr_idx_mode(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->idx_mode = i->imm & 15;
	w->sgpr[GCN_REG_M0] = (w->sgpr[GCN_REG_M0] & ~0xf000u) | ((uint32_t)i->imm & 15) << 12;
}

#define E(name)                                                                                    \
	{                                                                                          \
#name, name, GCN_MISC, .only = 0                                                   \
	}
#define NOP(name)                                                                                  \
	{                                                                                          \
#name, s_nop, GCN_MISC, .only = 0                                                  \
	}
#define JUMP(name)                                                                                 \
	{                                                                                          \
#name, name, GCN_BRANCH, .step = name##_end                                        \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_MISC, .only = 0                                                   \
	}

const struct gcn_entry gcn_sopp[128] = {
	[0] = NOP(s_nop),
	[1] = E(s_endpgm),
	[2] = JUMP(s_branch),
	[3] = NOP(s_wakeup),
	[4] = JUMP(s_cbranch_scc0),
	[5] = JUMP(s_cbranch_scc1),
	[6] = JUMP(s_cbranch_vccz),
	[7] = JUMP(s_cbranch_vccnz),
	[8] = JUMP(s_cbranch_execz),
	[9] = JUMP(s_cbranch_execnz),
	[10] = E(s_barrier),
	[11] = MISSING(s_setkill),
	[12] = E(s_waitcnt),
	[13] = MISSING(s_sethalt),
	[14] = E(s_sleep),
	[15] = NOP(s_setprio),
	[16] = { "s_sendmsg", s_sendmsg, GCN_MSG, .only = 0 },
	[17] = { "s_sendmsghalt", NULL, GCN_MSG, .only = 0 },
	[18] = E(s_trap),
	[19] = E(s_icache_inv),
	[20] = NOP(s_incperflevel),
	[21] = NOP(s_decperflevel),
	[22] = NOP(s_ttracedata),
	/* there is never a debugger */
	[23] = NOP(s_cbranch_cdbgsys),
	[24] = NOP(s_cbranch_cdbguser),
	[25] = NOP(s_cbranch_cdbgsys_or_user),
	[26] = NOP(s_cbranch_cdbgsys_and_user),
	[27] = { "s_endpgm_saved", s_endpgm, GCN_MISC, .only = 0 },
	[28] = E(s_set_gpr_idx_off),
	[29] = E(s_set_gpr_idx_mode),
	[30] = MISSING(s_endpgm_ordered_ps_done),
};
