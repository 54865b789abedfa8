/* SPDX-License-Identifier: MIT */
/* salu1.c - scalar instructions with one source: SOP1, and SOPK with its constant */
#include <stddef.h>

#include "salu.h"

#define OP1(name, result, scc_)                                                                    \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint32_t a = gcn_src32(w, i, i->src[0]);                                           \
		uint32_t r = (uint32_t)(result);                                                   \
		w->scc = (scc_);                                                                   \
		w->sgpr[i->dst] = r;                                                               \
	}
#define OP1_64(name, result, scc_)                                                                 \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint64_t a = gcn_src64(w, i, i->src[0]);                                           \
		uint64_t r = (result);                                                             \
		w->scc = (scc_);                                                                   \
		gcn_set64(w, i->dst, r);                                                           \
	}
/* from 64 bits to 32 */
#define OP1_64_32(name, result, scc_)                                                              \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint64_t a = gcn_src64(w, i, i->src[0]);                                           \
		uint32_t r = (uint32_t)(result);                                                   \
		w->scc = (scc_);                                                                   \
		w->sgpr[i->dst] = r;                                                               \
	}
/* EXEC is combined with the source; its old value goes to the destination */
#define SAVEEXEC(name, result)                                                                     \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint64_t a = gcn_src64(w, i, i->src[0]), exec = gcn_exec(w);                       \
		uint64_t r = (result);                                                             \
		gcn_set64(w, i->dst, exec);                                                        \
		gcn_set64(w, GCN_REG_EXEC, r);                                                     \
		w->scc = r != 0;                                                                   \
	}                                                                                          \
	GCN_STEP_FOR(name, i->src[0] < 128)
/* the result goes to both */
#define WREXEC(name, result)                                                                       \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint64_t a = gcn_src64(w, i, i->src[0]), exec = gcn_exec(w);                       \
		uint64_t r = (result);                                                             \
		gcn_set64(w, i->dst, r);                                                           \
		gcn_set64(w, GCN_REG_EXEC, r);                                                     \
		w->scc = r != 0;                                                                   \
	}

static uint64_t reverse(uint64_t v, unsigned int bits)
{
	uint64_t r = 0;

	for (unsigned int n = 0; n < bits; n++)
		r |= (v >> n & 1) << (bits - 1 - n);
	return r;
}

/* Each group of four bits with any bit set becomes four set bits (or one). */
static uint64_t whole_quads(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned int n = 0; n < 64; n += 4)
		r |= v >> n & 15 ? 15ull << n : 0;
	return r;
}

static uint64_t quad_mask(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned int n = 0; n < 64; n += 4)
		r |= v >> n & 15 ? 1ull << (n / 4) : 0;
	return r;
}

static uint32_t count(uint64_t v)
{
	return (uint32_t)__builtin_popcountll(v);
}

static uint32_t first_one(uint64_t v)
{
	return v ? (uint32_t)__builtin_ctzll(v) : UINT32_MAX;
}

/* Zeros before the first one, counted from the top of `bits`. */
static uint32_t leading(uint64_t v, unsigned int bits)
{
	return v ? (uint32_t)__builtin_clzll(v) - (64 - bits) : UINT32_MAX;
}

static uint64_t replicate(uint32_t v)
{
	uint64_t r = 0;

	for (unsigned int n = 0; n < 32; n++)
		r |= (v >> n & 1 ? 3ull : 0) << (2 * n);
	return r;
}

OP1(s_mov_b32, a, w->scc)
OP1(s_cmov_b32, w->scc ? a : w->sgpr[i->dst], w->scc)
OP1(s_not_b32, ~a, r != 0)
OP1(s_wqm_b32, whole_quads(a), r != 0)
OP1(s_brev_b32, reverse(a, 32), w->scc)
OP1(s_bcnt0_i32_b32, 32 - count(a), r != 0)
OP1(s_bcnt1_i32_b32, count(a), r != 0)
OP1(s_ff0_i32_b32, first_one((uint32_t)~a), w->scc)
OP1(s_ff1_i32_b32, first_one(a), w->scc)
OP1(s_flbit_i32_b32, leading(a, 32), w->scc)
OP1(s_flbit_i32, leading(a ^ (uint32_t)((int32_t)a >> 31), 32), w->scc)
OP1(s_sext_i32_i8, (int8_t)a, w->scc)
OP1(s_sext_i32_i16, (int16_t)a, w->scc)
OP1(s_bitset0_b32, w->sgpr[i->dst] & ~(1u << (a & 31)), w->scc)
OP1(s_bitset1_b32, w->sgpr[i->dst] | 1u << (a & 31), w->scc)
OP1(s_quadmask_b32, quad_mask(a), r != 0)
OP1(s_abs_i32, a >> 31 ? 0 - a : a, r != 0)

OP1_64(s_mov_b64, a, w->scc)
OP1_64(s_cmov_b64, w->scc ? a : gcn_get64(w, i->dst), w->scc)
OP1_64(s_not_b64, ~a, r != 0)
OP1_64(s_wqm_b64, whole_quads(a), r != 0)
OP1_64(s_brev_b64, reverse(a, 64), w->scc)
OP1_64(s_quadmask_b64, quad_mask(a), r != 0)
OP1_64_32(s_bcnt0_i32_b64, 64 - count(a), r != 0)
OP1_64_32(s_bcnt1_i32_b64, count(a), r != 0)
OP1_64_32(s_ff0_i32_b64, first_one(~a), w->scc)
OP1_64_32(s_ff1_i32_b64, first_one(a), w->scc)
OP1_64_32(s_flbit_i32_b64, leading(a, 64), w->scc)
OP1_64_32(s_flbit_i32_i64, leading(a ^ (uint64_t)((int64_t)a >> 63), 64), w->scc)

SAVEEXEC(s_and_saveexec_b64, a &exec)
SAVEEXEC(s_or_saveexec_b64, a | exec)
SAVEEXEC(s_xor_saveexec_b64, a ^ exec)
SAVEEXEC(s_andn2_saveexec_b64, a & ~exec)
SAVEEXEC(s_orn2_saveexec_b64, a | ~exec)
SAVEEXEC(s_nand_saveexec_b64, ~(a &exec))
SAVEEXEC(s_nor_saveexec_b64, ~(a | exec))
SAVEEXEC(s_xnor_saveexec_b64, ~(a ^ exec))
SAVEEXEC(s_andn1_saveexec_b64, ~a &exec)
SAVEEXEC(s_orn1_saveexec_b64, ~a | exec)
WREXEC(s_andn1_wrexec_b64, ~a &exec)
WREXEC(s_andn2_wrexec_b64, a & ~exec)

static void s_bitset0_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint32_t a = gcn_src32(w, i, i->src[0]);

	gcn_set64(w, i->dst, gcn_get64(w, i->dst) & ~(1ull << (a & 63)));
}

static void s_bitset1_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint32_t a = gcn_src32(w, i, i->src[0]);

	gcn_set64(w, i->dst, gcn_get64(w, i->dst) | 1ull << (a & 63));
}

static void s_bitreplicate_b64_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	gcn_set64(w, i->dst, replicate(gcn_src32(w, i, i->src[0])));
}

/* The program counter is already behind the instruction. */
static void s_getpc_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	gcn_set64(w, i->dst, w->pc);
}

static void s_setpc_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->pc = gcn_src64(w, i, i->src[0]);
}

static void s_swappc_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t to = gcn_src64(w, i, i->src[0]);

	gcn_set64(w, i->dst, w->pc);
	w->pc = to;
}

/* M0 is added to the number of the source or of the destination. */
static unsigned int relative(const struct gcn_wave *w, unsigned int reg)
{
	return (reg + w->sgpr[GCN_REG_M0]) & 127;
}

static void s_movrels_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->sgpr[i->dst] = w->sgpr[relative(w, i->src[0])];
}

static void s_movrels_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	gcn_set64(w, i->dst, gcn_get64(w, relative(w, i->src[0])));
}

static void s_movreld_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->sgpr[relative(w, i->dst)] = gcn_src32(w, i, i->src[0]);
}

static void s_movreld_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	gcn_set64(w, relative(w, i->dst), gcn_src64(w, i, i->src[0]));
}

static void s_set_gpr_idx_idx(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->sgpr[GCN_REG_M0] = (w->sgpr[GCN_REG_M0] & ~255u) | (gcn_src32(w, i, i->src[0]) & 255);
}

#define E(name)                                                                                    \
	{                                                                                          \
#name, name, GCN_SALU, .only = 0                                                   \
	}
#define STEP(name)                                                                                 \
	{                                                                                          \
#name, name, GCN_SALU, .step = name##_step                                         \
	}
#define JUMP(name)                                                                                 \
	{                                                                                          \
#name, name, GCN_BRANCH, .only = 0                                                 \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_SALU, .only = 0                                                   \
	}

const struct gcn_entry gcn_sop1[256] = {
	[0] = E(s_mov_b32),
	[1] = E(s_mov_b64),
	[2] = E(s_cmov_b32),
	[3] = E(s_cmov_b64),
	[4] = E(s_not_b32),
	[5] = E(s_not_b64),
	[6] = E(s_wqm_b32),
	[7] = E(s_wqm_b64),
	[8] = E(s_brev_b32),
	[9] = E(s_brev_b64),
	[10] = E(s_bcnt0_i32_b32),
	[11] = E(s_bcnt0_i32_b64),
	[12] = E(s_bcnt1_i32_b32),
	[13] = E(s_bcnt1_i32_b64),
	[14] = E(s_ff0_i32_b32),
	[15] = E(s_ff0_i32_b64),
	[16] = E(s_ff1_i32_b32),
	[17] = E(s_ff1_i32_b64),
	[18] = E(s_flbit_i32_b32),
	[19] = E(s_flbit_i32_b64),
	[20] = E(s_flbit_i32),
	[21] = E(s_flbit_i32_i64),
	[22] = E(s_sext_i32_i8),
	[23] = E(s_sext_i32_i16),
	[24] = E(s_bitset0_b32),
	[25] = E(s_bitset0_b64),
	[26] = E(s_bitset1_b32),
	[27] = E(s_bitset1_b64),
	[28] = E(s_getpc_b64),
	[29] = JUMP(s_setpc_b64),
	[30] = JUMP(s_swappc_b64),
	[31] = MISSING(s_rfe_b64),
	[32] = STEP(s_and_saveexec_b64),
	[33] = STEP(s_or_saveexec_b64),
	[34] = STEP(s_xor_saveexec_b64),
	[35] = STEP(s_andn2_saveexec_b64),
	[36] = STEP(s_orn2_saveexec_b64),
	[37] = STEP(s_nand_saveexec_b64),
	[38] = STEP(s_nor_saveexec_b64),
	[39] = STEP(s_xnor_saveexec_b64),
	[40] = E(s_quadmask_b32),
	[41] = E(s_quadmask_b64),
	[42] = E(s_movrels_b32),
	[43] = E(s_movrels_b64),
	[44] = E(s_movreld_b32),
	[45] = E(s_movreld_b64),
	[46] = MISSING(s_cbranch_join),
	[48] = E(s_abs_i32),
	[50] = E(s_set_gpr_idx_idx),
	[51] = STEP(s_andn1_saveexec_b64),
	[52] = STEP(s_orn1_saveexec_b64),
	[53] = E(s_andn1_wrexec_b64),
	[54] = E(s_andn2_wrexec_b64),
	[55] = E(s_bitreplicate_b64_b32),
};

#define CMPK(name, type, op, constant)                                                             \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		w->scc = (type)w->sgpr[i->dst] op(type)(constant);                                 \
	}

CMPK(s_cmpk_eq_i32, int32_t, ==, i->imm)
CMPK(s_cmpk_lg_i32, int32_t, !=, i->imm)
CMPK(s_cmpk_gt_i32, int32_t, >, i->imm)
CMPK(s_cmpk_ge_i32, int32_t, >=, i->imm)
CMPK(s_cmpk_lt_i32, int32_t, <, i->imm)
CMPK(s_cmpk_le_i32, int32_t, <=, i->imm)
CMPK(s_cmpk_eq_u32, uint32_t, ==, i->imm & 0xffff)
CMPK(s_cmpk_lg_u32, uint32_t, !=, i->imm & 0xffff)
CMPK(s_cmpk_gt_u32, uint32_t, >, i->imm & 0xffff)
CMPK(s_cmpk_ge_u32, uint32_t, >=, i->imm & 0xffff)
CMPK(s_cmpk_lt_u32, uint32_t, <, i->imm & 0xffff)
CMPK(s_cmpk_le_u32, uint32_t, <=, i->imm & 0xffff)

static void s_movk_i32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->sgpr[i->dst] = (uint32_t)i->imm;
}

static void s_cmovk_i32(struct gcn_wave *w, const struct gcn_inst *i)
{
	if (w->scc)
		w->sgpr[i->dst] = (uint32_t)i->imm;
}

static void s_addk_i32(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint32_t a = w->sgpr[i->dst], b = (uint32_t)i->imm, r = a + b;

	w->scc = ((a ^ r) & (b ^ r)) >> 31;
	w->sgpr[i->dst] = r;
}

static void s_mulk_i32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->sgpr[i->dst] *= (uint32_t)i->imm;
}

/* SIMM16 of the register instructions: number 5:0, first bit 10:6, width less one 15:11 */
static uint32_t field_mask(const struct gcn_inst *i)
{
	return (uint32_t)((2ull << ((uint32_t)i->imm >> 11 & 31)) - 1);
}

static void s_getreg_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint32_t imm = (uint32_t)i->imm;

	w->sgpr[i->dst] = hwreg_read(w, imm & 63) >> (imm >> 6 & 31) & field_mask(i);
}

static void set_field(struct gcn_wave *w, const struct gcn_inst *i, uint32_t v)
{
	uint32_t imm = (uint32_t)i->imm, at = imm >> 6 & 31;
	uint32_t mask = field_mask(i) << at;

	hwreg_write(w, imm & 63, (hwreg_read(w, imm & 63) & ~mask) | (v << at & mask));
}

static void s_setreg_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	set_field(w, i, w->sgpr[i->dst]);
}

static void s_setreg_imm32_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	set_field(w, i, i->literal);
}

static void s_call_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	gcn_set64(w, i->dst, w->pc);
	w->pc += (uint64_t)((int64_t)i->imm * 4);
}

const struct gcn_entry gcn_sopk[32] = {
	[0] = E(s_movk_i32),
	[1] = E(s_cmovk_i32),
	[2] = E(s_cmpk_eq_i32),
	[3] = E(s_cmpk_lg_i32),
	[4] = E(s_cmpk_gt_i32),
	[5] = E(s_cmpk_ge_i32),
	[6] = E(s_cmpk_lt_i32),
	[7] = E(s_cmpk_le_i32),
	[8] = E(s_cmpk_eq_u32),
	[9] = E(s_cmpk_lg_u32),
	[10] = E(s_cmpk_gt_u32),
	[11] = E(s_cmpk_ge_u32),
	[12] = E(s_cmpk_lt_u32),
	[13] = E(s_cmpk_le_u32),
	[14] = E(s_addk_i32),
	[15] = E(s_mulk_i32),
	[16] = MISSING(s_cbranch_i_fork),
	[17] = E(s_getreg_b32),
	[18] = E(s_setreg_b32),
	[20] = E(s_setreg_imm32_b32),
	[21] = JUMP(s_call_b64),
};
