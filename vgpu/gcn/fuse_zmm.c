/* SPDX-License-Identifier: MIT */
/* fuse_zmm.c - two vector instructions as one step, on AVX-512: those that make addresses
 *
 * A sum of 64 bits is two instructions, of which the second waits for the first one's carries; an
 * index of 32 bits becomes a distance in bytes by a sign and a shift. As one step the carries and
 * the sign stay in registers.
 */
#include "zmm.h"

#if defined(__AVX512F__)

enum { CONST_31 = 128 + 31 };

/* v_add_co_u32 and v_addc_co_u32, both with their carries in VCC; `scalars` as for zmm_row(), of
 * the second one in the bits from 4 on. */
ZMM void add_pair(struct gcn_wave *w, const struct gcn_inst *first, const struct gcn_inst *second,
		  struct zmm_rows *rows, unsigned int scalars)
{
	const struct gcn_inst *i = first;
	const __m512i one = _mm512_set1_epi32(1), ones = _mm512_set1_epi32(-1);
	uint64_t exec = gcn_exec(w);
	__mmask16 carry[4];

	ZMM_SOURCE(0, scalars);
	ZMM_SOURCE(1, scalars);
	i = second;
	const uint32_t *const row2 = zmm_row(w, i, 0, scalars >> 4);
	const uint32_t *const row3 = zmm_row(w, i, 1, 0);
	const __m512i all2 = scalars >> 4 & 1 ? _mm512_set1_epi32((int)gcn_src32(w, i, i->src[0])) :
						_mm512_setzero_si512();

	FOR_PARTS
	{
		__m512i low = _mm512_add_epi32(src0[k], src1[k]), a, b;
		__mmask16 c = _mm512_cmplt_epu32_mask(low, src0[k]) & (__mmask16)(exec >> k * 16);

		rows->a[k] = zmm_blend(w->vgpr[first->dst], k, low, exec);
		/* before the second one's sources are read: it may be one of them */
		if (!(rows->last & GCN_DEAD_A))
			_mm512_storeu_si512(w->vgpr[first->dst] + k * 16, rows->a[k]);
		a = scalars >> 4 & 1 ? all2 : _mm512_loadu_si512(row2 + k * 16);
		b = rows->last & GCN_LAST_HIGH ? rows->b[k] : _mm512_loadu_si512(row3 + k * 16);
		b = _mm512_add_epi32(a, b);
		carry[k] = _mm512_cmplt_epu32_mask(b, a) | _mm512_mask_cmpeq_epi32_mask(c, b, ones);
		b = _mm512_mask_add_epi32(b, c, b, one);
		rows->b[k] = zmm_blend(w->vgpr[second->dst], k, b, exec);
	}
	zmm_store(w->vgpr[second->dst], rows->b, rows, GCN_DEAD_B);
	gcn_set64(w, GCN_REG_VCC, zmm_bits(carry[0], carry[1], carry[2], carry[3]) & exec);
}

/* v_ashrrev_i32 by 31 to the register behind its source, and v_lshlrev_b64 of both. */
ZMM void extend_and_shift(struct gcn_wave *w, const struct gcn_inst *i,
			  const struct gcn_inst *second, struct zmm_rows *rows)
{
	const __m128i by = _mm_cvtsi32_si128((int)gcn_src32(w, second, second->src[0]) & 63);
	uint64_t exec = gcn_exec(w);

	ZMM_SOURCE(1, 0);
	FOR_PARTS
	{
		__m512i high = _mm512_srai_epi32(src1[k], 31);
		struct zmm_pair v = zmm_join(src1[k], high);

		if (!(rows->last & GCN_DEAD_FIRST))
			zmm_put_part(w->vgpr[i->dst], k, high, exec);
		v.a = _mm512_sll_epi64(v.a, by);
		v.b = _mm512_sll_epi64(v.b, by);
		zmm_put_pair(w->vgpr[second->dst], k, v, exec, rows);
	}
	zmm_put_rows(w->vgpr[second->dst], w->vgpr[second->dst + 1u], rows);
}

#define FUSED(name, call)                                                                          \
	static void name(struct gcn_wave *w, const struct gcn_step *step, ZMM_ROWS_ARGS)           \
	{                                                                                          \
		struct zmm_rows rows_ = ZMM_ROWS(step), *rows = &rows_;                            \
                                                                                                   \
		call;                                                                              \
		ZMM_NEXT(w, step, rows);                                                           \
	}
FUSED(add_pair_00, add_pair(w, step->i, step->i + step->words, rows, 0))
FUSED(add_pair_01, add_pair(w, step->i, step->i + step->words, rows, 0x10))
FUSED(add_pair_10, add_pair(w, step->i, step->i + step->words, rows, 1))
FUSED(add_pair_11, add_pair(w, step->i, step->i + step->words, rows, 0x11))
FUSED(extended, extend_and_shift(w, step->i, step->i + step->words, rows))

/* Whether it is this instruction, without modifiers. */
static bool is(const struct gcn_inst *i, const char *name)
{
	bool vector = i->enc >= GCN_VOP2 && i->enc <= GCN_VOP3;

	return vector && i->valu && !strcmp(i->valu->name, name) && !i->ext && !i->omod &&
	       !i->clamp && !i->op_sel && !i->neg && !i->abs;
}

static bool runs(const struct gcn_inst *i)
{
	return i->run != gcn_run_illegal && i->run != gcn_run_misaligned;
}

/* Both have their carries in VCC, and no scalar source that the first one changes. */
static zmm_step_fn *fuse_add(const struct gcn_inst *i, const struct gcn_inst *second)
{
	static zmm_step_fn *const by_scalars[2][2] = { { add_pair_00, add_pair_01 },
						       { add_pair_10, add_pair_11 } };
	unsigned int mask = second->src[2], code = second->src[0];

	if (i->sdst != GCN_REG_VCC || second->sdst != GCN_REG_VCC ||
	    (mask != GCN_REG_VCC && mask < GCN_SRC_VGPR))
		return NULL;
	if (i->src[1] < GCN_SRC_VGPR || second->src[1] < GCN_SRC_VGPR || code == GCN_REG_VCC ||
	    code == GCN_REG_VCC + 1 || code == GCN_SRC_VCCZ)
		return NULL;
	return by_scalars[i->src[0] < GCN_SRC_VGPR][code < GCN_SRC_VGPR];
}

gcn_step_fn *PASTE(valu_fuse, VALU_SUFFIX)(const struct gcn_inst *i, const struct gcn_inst *second)
{
	if (!runs(i) || !runs(second))
		return NULL;
	if (is(i, "v_add_co_u32") && is(second, "v_addc_co_u32"))
		return (gcn_step_fn *)(void (*)(void))fuse_add(i, second);
	if (is(i, "v_ashrrev_i32") && is(second, "v_lshlrev_b64") && i->src[0] == CONST_31 &&
	    i->src[1] >= GCN_SRC_VGPR && second->src[0] < GCN_SRC_VGPR &&
	    second->src[1] == i->src[1] && i->dst + GCN_SRC_VGPR == i->src[1] + 1)
		return (gcn_step_fn *)(void (*)(void))extended;
	return NULL;
}

#else

gcn_step_fn *PASTE(valu_fuse, VALU_SUFFIX)(const struct gcn_inst *i, const struct gcn_inst *second)
{
	(void)i;
	(void)second;
	return NULL;
}

#endif
