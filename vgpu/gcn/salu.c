/* SPDX-License-Identifier: MIT */
/* salu.c - scalar arithmetic: SOP2, SOPC and the arithmetic part of SOPK
 *
 * SCC depends on the instruction: sums set it to the carry or the overflow, bit operations and
 * shifts to "not zero", minimum and maximum to "the result is the first operand"; moves and
 * products keep it.
 */
#include <stddef.h>

#include "salu.h"

/* A binary instruction on 32 bits: result and SCC are expressions of a and b. */
#define OP2_FORM(name, a_, b_, result, scc_)                                                       \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint32_t a = (a_), b = (b_);                                                       \
		uint32_t r = (uint32_t)(result);                                                   \
		(void)a, (void)b;                                                                  \
		w->scc = (scc_);                                                                   \
		w->sgpr[i->dst] = r;                                                               \
	}                                                                                          \
	GCN_STEP(name)
/* for any operands, for two registers, for a register and a constant */
#define OP2(name, result, scc_)                                                                    \
	OP2_FORM(name, gcn_src32(w, i, i->src[0]), gcn_src32(w, i, i->src[1]), result, scc_)       \
	OP2_FORM(name##_rr, w->sgpr[i->src[0]], w->sgpr[i->src[1]], result, scc_)                  \
	OP2_FORM(name##_rc, w->sgpr[i->src[0]], i->literal, result, scc_)
#define OP2_64(name, result)                                                                       \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint64_t a = gcn_src64(w, i, i->src[0]), b = gcn_src64(w, i, i->src[1]);           \
		uint64_t r = (result);                                                             \
		w->scc = r != 0;                                                                   \
		gcn_set64(w, i->dst, r);                                                           \
	}                                                                                          \
	GCN_STEP_FOR(name, i->src[0] < 128 && i->src[1] < 128)
/* a 64-bit value and a 32-bit count */
#define OP2_SHIFT64(name, result)                                                                  \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint64_t a = gcn_src64(w, i, i->src[0]);                                           \
		uint32_t b = gcn_src32(w, i, i->src[1]);                                           \
		uint64_t r = (result);                                                             \
		w->scc = r != 0;                                                                   \
		gcn_set64(w, i->dst, r);                                                           \
	}                                                                                          \
	GCN_STEP(name)

#define SIGN(v) ((v) >> 31)

static uint64_t bfe_u64(uint64_t v, uint32_t at, uint32_t width)
{
	return width >= 64 ? v >> at : v >> at & ((1ull << width) - 1);
}

static uint64_t bfe_i64(uint64_t v, uint32_t at, uint32_t width)
{
	if (!width)
		return 0;
	if (at + width >= 64)
		return (uint64_t)((int64_t)v >> at);
	return (uint64_t)((int64_t)(v << (64 - at - width)) >> (64 - width));
}

static uint32_t field_u32(uint32_t v, uint32_t at, uint32_t width)
{
	return (uint32_t)bfe_u64(v, at, width > 32 ? 32 : width);
}

static uint32_t field_i32(uint32_t v, uint32_t at, uint32_t width)
{
	return (uint32_t)bfe_i64((uint64_t)(int64_t)(int32_t)v, at, width);
}

static uint32_t absdiff(uint32_t a, uint32_t b)
{
	uint32_t d = a - b;

	return SIGN(d) ? 0 - d : d;
}

OP2(s_add_u32, a + b, r < a)
OP2(s_sub_u32, a - b, a < b)
OP2(s_add_i32, a + b, SIGN((a ^ r) & (b ^ r)))
OP2(s_sub_i32, a - b, SIGN((a ^ b) & (a ^ r)))
OP2(s_addc_u32, a + b + w->scc, ((uint64_t)a + b + w->scc) >> 32 != 0)
OP2(s_subb_u32, a - b - w->scc, a < (uint64_t)b + w->scc)
OP2(s_min_i32, (int32_t)a < (int32_t)b ? a : b, (int32_t)a < (int32_t)b)
OP2(s_min_u32, a < b ? a : b, a < b)
OP2(s_max_i32, (int32_t)a > (int32_t)b ? a : b, (int32_t)a > (int32_t)b)
OP2(s_max_u32, a > b ? a : b, a > b)
OP2(s_cselect_b32, w->scc ? a : b, w->scc)
OP2(s_and_b32, a &b, r != 0)
OP2(s_or_b32, a | b, r != 0)
OP2(s_xor_b32, a ^ b, r != 0)
OP2(s_andn2_b32, a & ~b, r != 0)
OP2(s_orn2_b32, a | ~b, r != 0)
OP2(s_nand_b32, ~(a &b), r != 0)
OP2(s_nor_b32, ~(a | b), r != 0)
OP2(s_xnor_b32, ~(a ^ b), r != 0)
OP2(s_lshl_b32, a << (b & 31), r != 0)
OP2(s_lshr_b32, a >> (b & 31), r != 0)
OP2(s_ashr_i32, (int32_t)a >> (b & 31), r != 0)
OP2(s_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31), w->scc)
OP2(s_mul_i32, a *b, w->scc)
OP2(s_bfe_u32, field_u32(a, b & 31, b >> 16 & 127), r != 0)
OP2(s_bfe_i32, field_i32(a, b & 31, b >> 16 & 127), r != 0)
OP2(s_absdiff_i32, absdiff(a, b), r != 0)
OP2(s_mul_hi_u32, (uint64_t)a *b >> 32, w->scc)
OP2(s_mul_hi_i32, (int64_t)(int32_t)a *(int32_t)b >> 32, w->scc)
OP2(s_lshl1_add_u32, (a << 1) + b, (((uint64_t)a << 1) + b) >> 32 != 0)
OP2(s_lshl2_add_u32, (a << 2) + b, (((uint64_t)a << 2) + b) >> 32 != 0)
OP2(s_lshl3_add_u32, (a << 3) + b, (((uint64_t)a << 3) + b) >> 32 != 0)
OP2(s_lshl4_add_u32, (a << 4) + b, (((uint64_t)a << 4) + b) >> 32 != 0)
OP2(s_pack_ll_b32_b16, (a & 0xffff) | b << 16, w->scc)
OP2(s_pack_lh_b32_b16, (a & 0xffff) | (b & 0xffff0000), w->scc)
OP2(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000), w->scc)

OP2_64(s_and_b64, a &b)
OP2_64(s_or_b64, a | b)
OP2_64(s_xor_b64, a ^ b)
OP2_64(s_andn2_b64, a & ~b)
OP2_64(s_orn2_b64, a | ~b)
OP2_64(s_nand_b64, ~(a &b))
OP2_64(s_nor_b64, ~(a | b))
OP2_64(s_xnor_b64, ~(a ^ b))
OP2_SHIFT64(s_lshl_b64, a << (b & 63))
OP2_SHIFT64(s_lshr_b64, a >> (b & 63))
OP2_SHIFT64(s_ashr_i64, (uint64_t)((int64_t)a >> (b & 63)))
OP2_SHIFT64(s_bfe_u64, bfe_u64(a, b & 63, b >> 16 & 127))
OP2_SHIFT64(s_bfe_i64, bfe_i64(a, b & 63, b >> 16 & 127))

static void s_cselect_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	gcn_set64(w, i->dst, gcn_src64(w, i, i->src[w->scc ? 0 : 1]));
}

static void s_bfm_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint32_t a = gcn_src32(w, i, i->src[0]), b = gcn_src32(w, i, i->src[1]);

	gcn_set64(w, i->dst, ((1ull << (a & 63)) - 1) << (b & 63));
}

#define E(name)                                                                                    \
	{                                                                                          \
#name, name, GCN_SALU, .only = 0                                                   \
	}
#define FORMS(name)                                                                                \
	{                                                                                          \
#name, name, GCN_SALU, 0, name##_rr, name##_rc, name##_step, name##_rr_step,       \
			name##_rc_step                                                             \
	}
#define STEP(name)                                                                                 \
	{                                                                                          \
#name, name, GCN_SALU, .step = name##_step                                         \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_SALU, .only = 0                                                   \
	}

const struct gcn_entry gcn_sop2[128] = {
	[0] = FORMS(s_add_u32),		 [1] = FORMS(s_sub_u32),
	[2] = FORMS(s_add_i32),		 [3] = FORMS(s_sub_i32),
	[4] = FORMS(s_addc_u32),	 [5] = FORMS(s_subb_u32),
	[6] = FORMS(s_min_i32),		 [7] = FORMS(s_min_u32),
	[8] = FORMS(s_max_i32),		 [9] = FORMS(s_max_u32),
	[10] = FORMS(s_cselect_b32),	 [11] = E(s_cselect_b64),
	[12] = FORMS(s_and_b32),	 [13] = STEP(s_and_b64),
	[14] = FORMS(s_or_b32),		 [15] = STEP(s_or_b64),
	[16] = FORMS(s_xor_b32),	 [17] = STEP(s_xor_b64),
	[18] = FORMS(s_andn2_b32),	 [19] = STEP(s_andn2_b64),
	[20] = FORMS(s_orn2_b32),	 [21] = STEP(s_orn2_b64),
	[22] = FORMS(s_nand_b32),	 [23] = STEP(s_nand_b64),
	[24] = FORMS(s_nor_b32),	 [25] = STEP(s_nor_b64),
	[26] = FORMS(s_xnor_b32),	 [27] = STEP(s_xnor_b64),
	[28] = FORMS(s_lshl_b32),	 [29] = STEP(s_lshl_b64),
	[30] = FORMS(s_lshr_b32),	 [31] = STEP(s_lshr_b64),
	[32] = FORMS(s_ashr_i32),	 [33] = STEP(s_ashr_i64),
	[34] = FORMS(s_bfm_b32),	 [35] = E(s_bfm_b64),
	[36] = FORMS(s_mul_i32),	 [37] = FORMS(s_bfe_u32),
	[38] = FORMS(s_bfe_i32),	 [39] = STEP(s_bfe_u64),
	[40] = STEP(s_bfe_i64),		 [41] = MISSING(s_cbranch_g_fork),
	[42] = FORMS(s_absdiff_i32),	 [43] = MISSING(s_rfe_restore_b64),
	[44] = FORMS(s_mul_hi_u32),	 [45] = FORMS(s_mul_hi_i32),
	[46] = FORMS(s_lshl1_add_u32),	 [47] = FORMS(s_lshl2_add_u32),
	[48] = FORMS(s_lshl3_add_u32),	 [49] = FORMS(s_lshl4_add_u32),
	[50] = FORMS(s_pack_ll_b32_b16), [51] = FORMS(s_pack_lh_b32_b16),
	[52] = FORMS(s_pack_hh_b32_b16),
};

#define CMP_FORM(name, a, b, type, op)                                                             \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		w->scc = (type)(a)op(type)(b);                                                     \
	}                                                                                          \
	GCN_STEP(name)
#define CMP(name, type, op)                                                                        \
	CMP_FORM(name, gcn_src32(w, i, i->src[0]), gcn_src32(w, i, i->src[1]), type, op)           \
	CMP_FORM(name##_rr, w->sgpr[i->src[0]], w->sgpr[i->src[1]], type, op)                      \
	CMP_FORM(name##_rc, w->sgpr[i->src[0]], i->literal, type, op)

CMP(s_cmp_eq_i32, int32_t, ==)
CMP(s_cmp_lg_i32, int32_t, !=)
CMP(s_cmp_gt_i32, int32_t, >)
CMP(s_cmp_ge_i32, int32_t, >=)
CMP(s_cmp_lt_i32, int32_t, <)
CMP(s_cmp_le_i32, int32_t, <=)
CMP(s_cmp_eq_u32, uint32_t, ==)
CMP(s_cmp_lg_u32, uint32_t, !=)
CMP(s_cmp_gt_u32, uint32_t, >)
CMP(s_cmp_ge_u32, uint32_t, >=)
CMP(s_cmp_lt_u32, uint32_t, <)
CMP(s_cmp_le_u32, uint32_t, <=)

static void s_bitcmp0_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->scc = !(gcn_src32(w, i, i->src[0]) >> (gcn_src32(w, i, i->src[1]) & 31) & 1);
}

static void s_bitcmp1_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->scc = gcn_src32(w, i, i->src[0]) >> (gcn_src32(w, i, i->src[1]) & 31) & 1;
}

static void s_bitcmp0_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->scc = !(gcn_src64(w, i, i->src[0]) >> (gcn_src32(w, i, i->src[1]) & 63) & 1);
}

static void s_bitcmp1_b64(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->scc = gcn_src64(w, i, i->src[0]) >> (gcn_src32(w, i, i->src[1]) & 63) & 1;
}

static void s_cmp_eq_u64(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->scc = gcn_src64(w, i, i->src[0]) == gcn_src64(w, i, i->src[1]);
}

static void s_cmp_lg_u64(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->scc = gcn_src64(w, i, i->src[0]) != gcn_src64(w, i, i->src[1]);
}

/* The field of the second source has the index mode; the index goes to M0's low byte. */
static void s_set_gpr_idx_on(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->idx_on = true;
	w->idx_mode = i->src[1] & 15;
	w->sgpr[GCN_REG_M0] = (w->sgpr[GCN_REG_M0] & ~0xf0ffu) | (i->src[1] & 15u) << 12 |
			      (gcn_src32(w, i, i->src[0]) & 255);
}

const struct gcn_entry gcn_sopc[128] = {
	[0] = FORMS(s_cmp_eq_i32), [1] = FORMS(s_cmp_lg_i32),  [2] = FORMS(s_cmp_gt_i32),
	[3] = FORMS(s_cmp_ge_i32), [4] = FORMS(s_cmp_lt_i32),  [5] = FORMS(s_cmp_le_i32),
	[6] = FORMS(s_cmp_eq_u32), [7] = FORMS(s_cmp_lg_u32),  [8] = FORMS(s_cmp_gt_u32),
	[9] = FORMS(s_cmp_ge_u32), [10] = FORMS(s_cmp_lt_u32), [11] = FORMS(s_cmp_le_u32),
	[12] = E(s_bitcmp0_b32),   [13] = E(s_bitcmp1_b32),    [14] = E(s_bitcmp0_b64),
	[15] = E(s_bitcmp1_b64),   [16] = MISSING(s_setvskip), [17] = E(s_set_gpr_idx_on),
	[18] = E(s_cmp_eq_u64),	   [19] = E(s_cmp_lg_u64),
};

/* ---- pairs ----------------------------------------------------------------------------------- */

/* s_add_u32 and s_addc_u32 of the halves of 64 bits; `low` and `high` are their second sources. */
#define ADD_PAIR(name, low, high)                                                                  \
	static void name(struct gcn_wave *w, const struct gcn_step *step)                          \
	{                                                                                          \
		const struct gcn_inst *i = step->i, *second = i + step->words;                     \
		uint64_t a = w->sgpr[i->src[0]] | (uint64_t)w->sgpr[second->src[0]] << 32;         \
		uint64_t b = (low) | (uint64_t)(high) << 32;                                       \
                                                                                                   \
		w->scc = a + b < a;                                                                \
		gcn_set64(w, i->dst, a + b);                                                       \
		step++;                                                                            \
		step->run(w, step);                                                                \
	}

ADD_PAIR(add_pair_rr, w->sgpr[i->src[1]], w->sgpr[second->src[1]])
ADD_PAIR(add_pair_rc, w->sgpr[i->src[1]], second->literal)
ADD_PAIR(add_pair_cr, i->literal, w->sgpr[second->src[1]])
ADD_PAIR(add_pair_cc, i->literal, second->literal)

gcn_step_fn *salu_fuse(const struct gcn_inst *i, const struct gcn_inst *second)
{
	static gcn_step_fn *const by_constants[2][2] = { { add_pair_rr, add_pair_rc },
							 { add_pair_cr, add_pair_cc } };
	bool first_constant = i->run == s_add_u32_rc,
	     second_constant = second->run == s_addc_u32_rc;

	if ((!first_constant && i->run != s_add_u32_rr) ||
	    (!second_constant && second->run != s_addc_u32_rr))
		return NULL;
	/* the second one reads nothing that the first one writes but its carry */
	if (second->dst != i->dst + 1 || second->src[0] == i->dst || second->src[1] == i->dst)
		return NULL;
	return by_constants[first_constant][second_constant];
}
