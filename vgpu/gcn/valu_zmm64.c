/* SPDX-License-Identifier: MIT */
/* valu_zmm64.c - the vector instructions on 64 bits that kernels use most, on AVX-512 */
#include "direct.h"
#include "zmm.h"

#if defined(__AVX512F__)

#define REAL(v) _mm512_castsi512_pd(v)
#define BITS(v) _mm512_castpd_si512(v)
#define ALL(v) _mm512_set1_epi64((int64_t)(v))

#define OWN_NAN 0x7ff8000000000000u
#define INFINITE 0x7ff0000000000000u
#define QUIET 0x8000000000000u

typedef __m512i part_fn(__m512i a, __m512i b, __m512i c);

#define PART(name, expr)                                                                           \
	ZMM __m512i name(__m512i a, __m512i b, __m512i c)                                          \
	{                                                                                          \
		(void)a, (void)b, (void)c;                                                         \
		return expr;                                                                       \
	}

ZMM __mmask8 is_nan(__m512i v)
{
	return _mm512_cmp_pd_mask(REAL(v), REAL(v), _CMP_UNORD_Q);
}

ZMM __m512i absolute(__m512i v)
{
	return _mm512_and_si512(v, ALL(INT64_MAX));
}

/* The masks of parts, of the lanes that come first and of the others, in the order of lanes. */
ZMM uint64_t lanes_of(const __mmask8 *first, const __mmask8 *second)
{
	uint32_t a = first[0] | (uint32_t)first[1] << 8 | (uint32_t)first[2] << 16 |
		     (uint32_t)first[3] << 24;
	uint32_t b = second[0] | (uint32_t)second[1] << 8 | (uint32_t)second[2] << 16 |
		     (uint32_t)second[3] << 24;

	return _pdep_u64(a, ZMM_FIRST) | _pdep_u64(b, ZMM_SECOND);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

ZMM __m512i own_nan(__m512i r, __m512i a, __m512i b, __m512i c)
{
	__mmask8 m = is_nan(r) & (__mmask8) ~(is_nan(a) | is_nan(b) | is_nan(c));

	return _mm512_mask_mov_epi64(r, m, ALL(OWN_NAN));
}

ZMM bool run_real(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, part_fn *fn,
		  unsigned int nr, unsigned int scalars)
{
	const struct zmm_pair none = { _mm512_setzero_si512(), _mm512_setzero_si512() };
	uint64_t exec = gcn_exec(w);

	ZMM_SOURCE64(0, scalars, true);
	ZMM_SOURCE64(1, scalars, true);
	ZMM_SOURCE64(2, scalars, true);
	FOR_PARTS
	{
		struct zmm_pair a = src0[k], b = none, c = none, r;

		if (nr > 1)
			b = src1[k];
		if (nr > 2)
			c = src2[k];
		r.a = fn(a.a, b.a, c.a);
		r.b = fn(a.b, b.b, c.b);
		/* of numbers alone: the device's own NaN */
		if (nr > 1 && __builtin_expect(is_nan(r.a) | is_nan(r.b), 0)) {
			r.a = own_nan(r.a, a.a, b.a, c.a);
			r.b = own_nan(r.b, a.b, b.b, c.b);
		}
		zmm_put_pair(w->vgpr[i->dst], k, r, exec, rows);
	}
	zmm_put_rows(w->vgpr[i->dst], w->vgpr[i->dst + 1u], rows);
	return true;
}

ZMM __m512i fract(__m512i a)
{
	const __m512d below_one = _mm512_set1_pd(0x1.fffffffffffffp-1);
	__m512d r =
		_mm512_sub_pd(REAL(a), _mm512_roundscale_pd(REAL(a), _MM_FROUND_TO_NEG_INF |
									     _MM_FROUND_NO_EXC));
	__mmask8 nan = is_nan(BITS(r)), numbers = (__mmask8)~is_nan(a);

	r = _mm512_mask_mov_pd(below_one, _mm512_cmp_pd_mask(r, below_one, _CMP_LT_OQ), r);
	r = _mm512_mask_mov_pd(r, nan, REAL(_mm512_or_si512(a, ALL(QUIET))));
	return _mm512_mask_mov_epi64(BITS(r), nan & numbers, ALL(OWN_NAN));
}

#define ROUND(how) BITS(_mm512_roundscale_pd(REAL(a), (how) | _MM_FROUND_NO_EXC))

PART(v_add_f64, BITS(_mm512_add_pd(REAL(a), REAL(b))))
PART(v_mul_f64, BITS(_mm512_mul_pd(REAL(a), REAL(b))))
PART(v_fma_f64, BITS(_mm512_fmadd_pd(REAL(a), REAL(b), REAL(c))))
PART(v_rcp_f64, BITS(_mm512_div_pd(_mm512_set1_pd(1), REAL(a))))
PART(v_rndne_f64, ROUND(_MM_FROUND_TO_NEAREST_INT))
PART(v_floor_f64, ROUND(_MM_FROUND_TO_NEG_INF))
PART(v_ceil_f64, ROUND(_MM_FROUND_TO_POS_INF))
PART(v_trunc_f64, ROUND(_MM_FROUND_TO_ZERO))
PART(v_fract_f64, fract(a))

/* Of a scalar amount. */
ZMM bool shift_pair(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows)
{
	const __m128i by = _mm_cvtsi32_si128((int)gcn_src32(w, i, i->src[0]) & 63);
	uint64_t exec = gcn_exec(w);
	struct zmm_pair src1[4];

	zmm_source_pair(w, i, 1, 0, false, rows, src1);
	FOR_PARTS
	{
		struct zmm_pair v = src1[k];

		v.a = _mm512_sll_epi64(v.a, by);
		v.b = _mm512_sll_epi64(v.b, by);
		zmm_put_pair(w->vgpr[i->dst], k, v, exec, rows);
	}
	zmm_put_rows(w->vgpr[i->dst], w->vgpr[i->dst + 1u], rows);
	return true;
}

ZMM_HANDLER(v_lshlrev_b64, shift_pair(w, i, rows))

/* ---- conversions ----------------------------------------------------------------------------- */

ZMM bool run_from_int(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		      bool sign, unsigned int scalars)
{
	uint64_t exec = gcn_exec(w);

	ZMM_SOURCE(0, scalars);
	FOR_PARTS
	{
		const __m512i v = src0[k],
			      hi = sign ? _mm512_srai_epi32(v, 31) : _mm512_setzero_si512();
		struct zmm_pair r = zmm_join(v, hi);

		r.a = BITS(_mm512_cvtepi64_pd(r.a));
		r.b = BITS(_mm512_cvtepi64_pd(r.b));
		zmm_put_pair(w->vgpr[i->dst], k, r, exec, rows);
	}
	zmm_put_rows(w->vgpr[i->dst], w->vgpr[i->dst + 1u], rows);
	return true;
}

/* Towards zero; the nearest there is, of NaN 0: in the lower half of each lane. */
ZMM __m512i to_int(__m512i v)
{
	__m512d r = _mm512_min_pd(_mm512_max_pd(REAL(v), _mm512_set1_pd(INT32_MIN)),
				  _mm512_set1_pd(INT32_MAX));

	return _mm512_maskz_cvttpd_epi64((__mmask8)~is_nan(v), r);
}

ZMM bool run_to_int(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		    unsigned int scalars)
{
	__m512i part[4];

	ZMM_SOURCE64(0, scalars, true);
	FOR_PARTS
	{
		struct zmm_pair a = src0[k];

		part[k] = zmm_low((struct zmm_pair){ to_int(a.a), to_int(a.b) });
	}
	zmm_put(w->vgpr[i->dst], part, gcn_exec(w), rows);
	return true;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

typedef __mmask8 test_fn(__m512i a, __m512i b);

ZMM bool run_compare(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		     test_fn *fn, unsigned int scalars)
{
	__mmask8 first[4], second[4];

	ZMM_SOURCE64(0, scalars, true);
	ZMM_SOURCE64(1, scalars, true);
	FOR_PARTS
	{
		struct zmm_pair a = src0[k], b = src1[k];

		first[k] = fn(a.a, b.a);
		second[k] = fn(a.b, b.b);
	}
	gcn_set64(w, i->sdst & 127, lanes_of(first, second) & gcn_exec(w));
	return true;
}

#define TEST(cmp, how)                                                                             \
	ZMM __mmask8 v_cmp_##cmp##_f64(__m512i a, __m512i b)                                       \
	{                                                                                          \
		return _mm512_cmp_pd_mask(REAL(a), REAL(b), how);                                  \
	}
TEST(lt, _CMP_LT_OQ)
TEST(eq, _CMP_EQ_OQ)
TEST(le, _CMP_LE_OQ)
TEST(gt, _CMP_GT_OQ)
TEST(lg, _CMP_NEQ_OQ)
TEST(ge, _CMP_GE_OQ)
TEST(o, _CMP_ORD_Q)
TEST(u, _CMP_UNORD_Q)
TEST(nge, _CMP_NGE_UQ)
TEST(nlg, _CMP_EQ_UQ)
TEST(ngt, _CMP_NGT_UQ)
TEST(nle, _CMP_NLE_UQ)
TEST(neq, _CMP_NEQ_UQ)
TEST(nlt, _CMP_NLT_UQ)

ZMM_CLASSES(64, __mmask8, INFINITE, 1ll << 52, QUIET)

/* Of one set for all lanes. */
ZMM bool run_class(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows)
{
	uint32_t set = gcn_src32(w, i, i->src[1]);
	__mmask8 first[4], second[4];

	ZMM_SOURCE64(0, 0, true);
	FOR_PARTS
	{
		struct zmm_pair a = src0[k];

		first[k] = zmm_classes64(a.a, set);
		second[k] = zmm_classes64(a.b, set);
	}
	gcn_set64(w, i->sdst & 127, lanes_of(first, second) & gcn_exec(w));
	return true;
}

ZMM_HANDLER(v_cmp_class_f64, run_class(w, i, rows))

/* ---- the steps of division: for numbers that are not scaled, and zeros ----------------------- */

ZMM __m512i exponent(__m512i v)
{
	return _mm512_and_si512(_mm512_srli_epi64(v, 52), ALL(2047));
}

/* least <= v <= most */
ZMM __mmask8 within(__m512i v, int64_t least, int64_t most)
{
	return _mm512_cmple_epu64_mask(_mm512_sub_epi64(v, ALL(least)), ALL(most - least));
}

/* div_ordinary_f64() of valu_div.h */
ZMM __mmask8 ordinary(__m512i den, __m512i num)
{
	__m512i d = exponent(den), n = exponent(num);

	return within(d, 1, 2040) & within(n, 54, 2046) & within(_mm512_sub_epi64(n, d), -999, 767);
}

ZMM __mmask8 is_zero(__m512i v)
{
	return _mm512_testn_epi64_mask(v, ALL(INT64_MAX));
}

ZMM __m512i scale(__m512i v, __m512i den, __m512i num, __mmask8 *rare)
{
	__mmask8 zero = is_zero(den) | is_zero(num);

	*rare = (__mmask8) ~(zero | ordinary(den, num));
	return _mm512_mask_mov_epi64(v, zero, ALL(OWN_NAN));
}

ZMM __m512i fixup(__m512i q, __m512i den, __m512i num, __mmask8 *rare)
{
	const __m512i sign_bit = ALL(INT64_MIN);
	__m512i sign = _mm512_and_si512(_mm512_xor_si512(den, num), sign_bit);
	__mmask8 zero = is_zero(num) & within(exponent(den), 1, 2046);

	*rare = (__mmask8) ~(zero | (ordinary(den, num) & (__mmask8)~is_nan(q)));
	return _mm512_mask_mov_epi64(_mm512_or_si512(absolute(q), sign), zero, sign);
}

typedef __m512i step_fn(__m512i a, __m512i b, __m512i c, __mmask8 *rare);

/* false: an active lane needs more. */
ZMM bool run_step(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, step_fn *fn,
		  bool carry)
{
	uint64_t exec = gcn_exec(w);
	__mmask8 first[4], second[4];
	struct zmm_pair r[4];

	ZMM_SOURCE64(0, 0, true);
	ZMM_SOURCE64(1, 0, true);
	ZMM_SOURCE64(2, 0, true);
	FOR_PARTS
	{
		struct zmm_pair a = src0[k], b = src1[k], c = src2[k];

		r[k].a = fn(a.a, b.a, c.a, &first[k]);
		r[k].b = fn(a.b, b.b, c.b, &second[k]);
	}
	if (lanes_of(first, second) & exec)
		return false;
	FOR_PARTS
	{
		zmm_put_pair(w->vgpr[i->dst], k, r[k], exec, rows);
	}
	zmm_put_rows(w->vgpr[i->dst], w->vgpr[i->dst + 1u], rows);
	if (carry)
		gcn_set64(w, i->sdst & 127, 0);
	return true;
}

ZMM_HANDLER(v_div_scale_f64, run_step(w, i, rows, scale, true))
ZMM_HANDLER(v_div_fixup_f64, run_step(w, i, rows, fixup, false))
ZMM_HANDLER(v_div_fmas_f64,
	    !(gcn_get64(w, GCN_REG_VCC) & gcn_exec(w)) && run_real(w, i, rows, v_fma_f64, 3, 0))

/* ---- handlers -------------------------------------------------------------------------------- */

#define FORM(name, form, call) ZMM_HANDLER(name##_##form, call)
#define REAL1(name)                                                                                \
	FORM(name, 0, run_real(w, i, rows, name, 1, 0))                                            \
	FORM(name, 1, run_real(w, i, rows, name, 1, 1))
#define REAL2(name)                                                                                \
	FORM(name, 0, run_real(w, i, rows, name, 2, 0))                                            \
	FORM(name, 1, run_real(w, i, rows, name, 2, 1))                                            \
	FORM(name, 2, run_real(w, i, rows, name, 2, 2))
#define REAL3(name)                                                                                \
	FORM(name, 0, run_real(w, i, rows, name, 3, 0))                                            \
	FORM(name, 1, run_real(w, i, rows, name, 3, 1))                                            \
	FORM(name, 2, run_real(w, i, rows, name, 3, 2))                                            \
	FORM(name, 4, run_real(w, i, rows, name, 3, 4))                                            \
	FORM(name, 6, run_real(w, i, rows, name, 3, 6))
#define COMPARE(name)                                                                              \
	FORM(name, 0, run_compare(w, i, rows, name, 0))                                            \
	FORM(name, 1, run_compare(w, i, rows, name, 1))                                            \
	FORM(name, 2, run_compare(w, i, rows, name, 2))

#define LIST_REAL1(X)                                                                              \
	X(v_rcp_f64) X(v_rndne_f64) X(v_floor_f64) X(v_ceil_f64) X(v_trunc_f64) X(v_fract_f64)
#define LIST_REAL2(X) X(v_add_f64) X(v_mul_f64)
#define LIST_COMPARE(X)                                                                            \
	X(v_cmp_lt_f64)                                                                            \
	X(v_cmp_eq_f64)                                                                            \
	X(v_cmp_le_f64)                                                                            \
	X(v_cmp_gt_f64)                                                                            \
	X(v_cmp_lg_f64)                                                                            \
	X(v_cmp_ge_f64)                                                                            \
	X(v_cmp_o_f64)                                                                             \
	X(v_cmp_u_f64)                                                                             \
	X(v_cmp_nge_f64)                                                                           \
	X(v_cmp_nlg_f64) X(v_cmp_ngt_f64) X(v_cmp_nle_f64) X(v_cmp_neq_f64) X(v_cmp_nlt_f64)

LIST_REAL1(REAL1)
LIST_REAL2(REAL2)
REAL3(v_fma_f64)
LIST_COMPARE(COMPARE)
FORM(v_cvt_f64_i32, 0, run_from_int(w, i, rows, true, 0))
FORM(v_cvt_f64_i32, 1, run_from_int(w, i, rows, true, 1))
FORM(v_cvt_f64_u32, 0, run_from_int(w, i, rows, false, 0))
FORM(v_cvt_f64_u32, 1, run_from_int(w, i, rows, false, 1))
FORM(v_cvt_i32_f64, 0, run_to_int(w, i, rows, 0))

#define ROW1(n)                                                                                    \
	{ .name = #n,                                                                              \
	  .nr = 1,                                                                                 \
	  .leaves = GCN_LEAVES_PAIR,                                                               \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1) },                                             \
	  .of_signs = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1) } },
#define ROW2(n)                                                                                    \
	{ .name = #n,                                                                              \
	  .nr = 2,                                                                                 \
	  .leaves = GCN_LEAVES_PAIR,                                                               \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2) },                            \
	  .of_signs = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2) } },
#define ROW_COMPARE(n)                                                                             \
	{ .name = #n,                                                                              \
	  .nr = 2,                                                                                 \
	  .leaves = GCN_LEAVES_AS_BEFORE,                                                          \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2) },                            \
	  .of_signs = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2) } },
#define STEP(n)                                                                                    \
	{ .name = #n,                                                                              \
	  .nr = 3,                                                                                 \
	  .leaves = GCN_LEAVES_PAIR,                                                               \
	  .run = { ZMM_BOTH(n) },                                                                  \
	  .of_signs = { ZMM_BOTH(n) } },

static const struct valu_direct list[] = {
	LIST_REAL1(ROW1) LIST_REAL2(ROW2)
		LIST_COMPARE(ROW_COMPARE){ .name = "v_fma_f64",
					   .nr = 3,
					   .leaves = GCN_LEAVES_PAIR,
					   .run = { ZMM_BOTH(v_fma_f64_0),
						    ZMM_BOTH(v_fma_f64_1),
						    ZMM_BOTH(v_fma_f64_2),
						    { NULL, NULL },
						    ZMM_BOTH(v_fma_f64_4),
						    { NULL, NULL },
						    ZMM_BOTH(v_fma_f64_6) },
					   .of_signs = { ZMM_BOTH(v_fma_f64_0),
							 ZMM_BOTH(v_fma_f64_1),
							 ZMM_BOTH(v_fma_f64_2),
							 { NULL, NULL },
							 ZMM_BOTH(v_fma_f64_4),
							 { NULL, NULL },
							 ZMM_BOTH(v_fma_f64_6) } },
	STEP(v_div_scale_f64) STEP(v_div_fmas_f64)
		STEP(v_div_fixup_f64){ .name = "v_cmp_class_f64",
				       .nr = 2,
				       .leaves = GCN_LEAVES_AS_BEFORE,
				       .run = { [2] = ZMM_BOTH(v_cmp_class_f64) },
				       .of_signs = { [2] = ZMM_BOTH(v_cmp_class_f64) } },
	{ .name = "v_lshlrev_b64",
	  .nr = 2,
	  .leaves = GCN_LEAVES_PAIR,
	  .run = { [1] = ZMM_BOTH(v_lshlrev_b64) } },
	{ .name = "v_cvt_f64_i32",
	  .nr = 1,
	  .leaves = GCN_LEAVES_PAIR,
	  .run = { ZMM_BOTH(v_cvt_f64_i32_0), ZMM_BOTH(v_cvt_f64_i32_1) } },
	{ .name = "v_cvt_f64_u32",
	  .nr = 1,
	  .leaves = GCN_LEAVES_PAIR,
	  .run = { ZMM_BOTH(v_cvt_f64_u32_0), ZMM_BOTH(v_cvt_f64_u32_1) } },
	{ .name = "v_cvt_i32_f64",
	  .nr = 1,
	  .leaves = GCN_LEAVES_ROW,
	  .run = { ZMM_BOTH(v_cvt_i32_f64_0) },
	  .of_signs = { ZMM_BOTH(v_cvt_i32_f64_0) } },
};

const struct valu_direct *PASTE(valu_direct64, VALU_SUFFIX)(unsigned int n)
{
	return n < sizeof(list) / sizeof(list[0]) ? &list[n] : NULL;
}

#else

const struct valu_direct *PASTE(valu_direct64, VALU_SUFFIX)(unsigned int n)
{
	(void)n;
	return NULL;
}

#endif
