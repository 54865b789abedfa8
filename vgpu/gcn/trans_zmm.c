/* SPDX-License-Identifier: MIT */
/* trans_zmm.c - roots, exponentials, logarithms, sines and cosines of single precision, on AVX-512
 *
 * The result of these instructions is what valu_f32.inc computes in double precision, rounded. The
 * functions here compute it in double precision too, in fewer steps, with errors of at most 200
 * units in the last bit where the others have a few: both are rounded to the same float unless
 * they lie next to the middle between two floats. Where one does, within MARGIN units, and for
 * special values, the general handler executes the instruction.
 */
#include "direct.h"
#include "zmm.h"

#if defined(__AVX512F__)

#define ALL(v) _mm512_set1_pd(v)
#define BITS(v) _mm512_castpd_si512(v)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)

/* eight lanes; sets those for the general handler */
typedef __m512d real_fn(__m512d a, __mmask8 *rare);

/* Lanes whose value can't be rounded to a float with certainty: next to the middle between two, or
 * denormal. */
ZMM __mmask8 uncertain(__m512d r)
{
	enum { MARGIN = 1024, CUT = 0x1fffffff, MIDDLE = 0x10000000 };
	const __m512i least = _mm512_set1_epi64((1023ll - 125) << 52);
	__m512i abs = _mm512_and_si512(BITS(r), _mm512_set1_epi64(INT64_MAX));
	__m512i from = _mm512_and_si512(_mm512_add_epi64(abs, _mm512_set1_epi64(MARGIN - MIDDLE)),
					_mm512_set1_epi64(CUT));
	__mmask8 small = _mm512_cmplt_epi64_mask(abs, least);

	return _mm512_cmple_epu64_mask(from, _mm512_set1_epi64(2 * MARGIN)) |
	       _mm512_mask_test_epi64_mask(small, abs, abs);
}

/* One step of fourth order from an estimate of 14 bits. */
ZMM __m512d rsq(__m512d a, __mmask8 *rare)
{
	__m512d y = _mm512_rsqrt14_pd(a), e = _mm512_fnmadd_pd(_mm512_mul_pd(a, y), y, ALL(1));
	__m512d p = FMA(FMA(ALL(0.3125), e, ALL(0.375)), e, ALL(0.5));

	*rare = (__mmask8) ~(_mm512_cmp_pd_mask(a, ALL(0), _CMP_GT_OQ) &
			     _mm512_cmp_pd_mask(a, ALL(0x1p200), _CMP_LT_OQ));
	return FMA(_mm512_mul_pd(y, e), p, y);
}

/* 2^(n / 16) */
static const double powers[16] = {
	0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
	0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
	0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
	0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};

/* 2^a = 2^whole * 2^(part / 16) * e^x, |x| <= ln 2 / 32 */
ZMM __m512d exp2_part(__m512d a, __mmask8 *rare)
{
	/* the sum's lowest bits are those of the integer 16 * a */
	const __m512d shift = ALL(0x1.8p52);
	__m512d sum = FMA(a, ALL(16), shift), whole = _mm512_sub_pd(sum, shift);
	__m512d x = _mm512_mul_pd(FMA(whole, ALL(-0.0625), a), ALL(0.6931471805599453));
	__m512d p = FMA(x, ALL(1.0 / 720), ALL(1.0 / 120));
	__m512d power = _mm512_permutex2var_pd(_mm512_loadu_pd(powers), BITS(sum),
					       _mm512_loadu_pd(powers + 8));
	__m512i exponent = _mm512_slli_epi64(_mm512_srai_epi64(BITS(sum), 4), 52);

	p = FMA(p, x, ALL(1.0 / 24));
	p = FMA(p, x, ALL(1.0 / 6));
	p = FMA(p, x, ALL(0.5));
	p = FMA(p, x, ALL(1));
	p = FMA(_mm512_mul_pd(p, x), power, power);
	*rare = (__mmask8) ~(_mm512_cmp_pd_mask(a, ALL(-124), _CMP_GE_OQ) &
			     _mm512_cmp_pd_mask(a, ALL(127), _CMP_LE_OQ));
	return _mm512_castsi512_pd(_mm512_add_epi64(BITS(p), exponent));
}

/* As log2_f32() of valu_math.h: the exponent, and the series of atanh for the mantissa, from
 * sqrt(1/2) to sqrt(2). */
ZMM __m512d log2_part(__m512d a, __mmask8 *rare)
{
	const __m512i root = _mm512_set1_epi64(0x3fe6a09e667f3bcd);
	__m512i up = _mm512_sub_epi64(BITS(a), root);
	__m512d exponent = _mm512_cvtepi64_pd(_mm512_srai_epi64(up, 52));
	__m512d m = _mm512_castsi512_pd(
		_mm512_add_epi64(_mm512_and_si512(up, _mm512_set1_epi64(0xfffffffffffff)), root));
	__m512d sum = _mm512_add_pd(m, ALL(1)), y = _mm512_rcp14_pd(sum);
	__m512d e = _mm512_fnmadd_pd(sum, y, ALL(1)), t, t2, p;

	/* 1 / sum */
	y = FMA(_mm512_mul_pd(y, e), _mm512_add_pd(FMA(e, e, e), ALL(1)), y);
	t = _mm512_mul_pd(_mm512_sub_pd(m, ALL(1)), y);
	t2 = _mm512_mul_pd(t, t);
	p = FMA(t2, ALL(1.0 / 17), ALL(1.0 / 15));
	p = FMA(p, t2, ALL(1.0 / 13));
	p = FMA(p, t2, ALL(1.0 / 11));
	p = FMA(p, t2, ALL(1.0 / 9));
	p = FMA(p, t2, ALL(1.0 / 7));
	p = FMA(p, t2, ALL(1.0 / 5));
	p = FMA(p, t2, ALL(1.0 / 3));
	p = FMA(p, t2, ALL(1));
	*rare = (__mmask8) ~(_mm512_cmp_pd_mask(a, ALL(0), _CMP_GT_OQ) &
			     _mm512_cmp_pd_mask(a, ALL(0x1p200), _CMP_LT_OQ));
	return FMA(_mm512_mul_pd(t, p), ALL(2 * 1.4426950408889634), exponent);
}

/* sin(2 pi r), |r| <= 1/4: Taylor's series */
ZMM __m512d sin_part(__m512d r)
{
	__m512d x = _mm512_mul_pd(r, ALL(6.283185307179586)), x2 = _mm512_mul_pd(x, x);
	__m512d p = FMA(x2, ALL(1.0 / 355687428096000), ALL(-1.0 / 1307674368000));

	p = FMA(p, x2, ALL(1.0 / 6227020800));
	p = FMA(p, x2, ALL(-1.0 / 39916800));
	p = FMA(p, x2, ALL(1.0 / 362880));
	p = FMA(p, x2, ALL(-1.0 / 5040));
	p = FMA(p, x2, ALL(1.0 / 120));
	p = FMA(p, x2, ALL(-1.0 / 6));
	/* a zero is positive */
	return _mm512_add_pd(FMA(_mm512_mul_pd(x, x2), p, x), ALL(0));
}

#define NEAREST(v) _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

ZMM __mmask8 not_finite(__m512d a)
{
	return (__mmask8)~_mm512_cmp_pd_mask(_mm512_abs_pd(a), ALL(0x1p200), _CMP_LT_OQ);
}

/* In the second half of the circle it is the other's, negative. */
ZMM __m512d sin_turns_part(__m512d a, __mmask8 *rare)
{
	__m512d f = _mm512_sub_pd(a, NEAREST(a)), half = NEAREST(_mm512_add_pd(f, f));
	__m512d r = FMA(half, ALL(-0.5), f);
	__mmask8 other = _mm512_cmp_pd_mask(half, ALL(0), _CMP_NEQ_UQ);

	*rare = not_finite(a);
	return sin_part(_mm512_mask_sub_pd(r, other, ALL(0), r));
}

ZMM __m512d cos_turns_part(__m512d a, __mmask8 *rare)
{
	__m512d f = _mm512_sub_pd(a, NEAREST(a));

	*rare = not_finite(a);
	return sin_part(_mm512_sub_pd(ALL(0.25), _mm512_abs_pd(f)));
}

ZMM bool run_real(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, real_fn *fn)
{
	__m512i part[4];
	uint64_t exec = gcn_exec(w), rare = 0;

	ZMM_SOURCE(0, 0);
	FOR_PARTS
	{
		const __m512 v = _mm512_castsi512_ps(src0[k]);
		__mmask8 lo, hi;
		__m512d a = fn(_mm512_cvtps_pd(_mm512_castps512_ps256(v)), &lo);
		__m512d b = fn(_mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)), &hi);

		lo |= uncertain(a);
		hi |= uncertain(b);
		rare |= (uint64_t)(uint16_t)(lo | hi << 8) << k * 16;
		part[k] = _mm512_castps_si512(
			_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)),
					   _mm512_cvtpd_ps(b), 1));
	}
	if (__builtin_expect(rare & exec, 0))
		return false;
	zmm_put(w->vgpr[i->dst], part, exec, rows);
	return true;
}

#define REAL(name, fn) ZMM_HANDLER(name, run_real(w, i, rows, fn))
REAL(v_rsq_f32, rsq)
REAL(v_exp_f32, exp2_part)
REAL(v_log_f32, log2_part)
REAL(v_sin_f32, sin_turns_part)
REAL(v_cos_f32, cos_turns_part)

#define ROW(n) { .name = #n, .nr = 1, .leaves = GCN_LEAVES_ROW, .run = { ZMM_BOTH(n) } },

static const struct valu_direct list[] = { ROW(v_rsq_f32) ROW(v_exp_f32) ROW(v_log_f32)
						   ROW(v_sin_f32) ROW(v_cos_f32) };

const struct valu_direct *PASTE(valu_direct_real, VALU_SUFFIX)(unsigned int n)
{
	return n < sizeof(list) / sizeof(list[0]) ? &list[n] : NULL;
}

#else

const struct valu_direct *PASTE(valu_direct_real, VALU_SUFFIX)(unsigned int n)
{
	(void)n;
	return NULL;
}

#endif
