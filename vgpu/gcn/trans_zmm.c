/* SPDX-License-Identifier: MIT */
/* trans_zmm.c - roots, exponentials, logarithms, sines and cosines of single precision, on AVX-512
 *
 * The result of these instructions is what valu_f32.inc computes in double precision, rounded. The
 * functions here compute it in fewer steps: the root as a sum of two floats, the others in double
 * precision by polynomials of the least degree, after what can be done exactly in single precision.
 * Their relative errors are below 2^-41; so both are rounded to the same float unless the value
 * lies next to the middle between two floats. Where it does, and for special values, the general
 * handler executes the instruction.
 */
#include "direct.h"
#include "zmm.h"

#if defined(__AVX512F__)

#define ALL(v) _mm512_set1_pd(v)
#define ALL_FLOAT(v) _mm512_set1_ps(v)
#define INT(v) _mm512_castps_si512(v)
#define FLOAT(v) _mm512_castsi512_ps(v)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)

/* 16 lanes; sets those for the general handler */
typedef __m512i real_fn(__m512 a, __mmask16 *rare);

#define LOW(v) _mm512_cvtps_pd(_mm512_castps512_ps256(v))
#define HIGH(v) _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1))

/* Rounds 16 lanes; adds those whose value lies within MARGIN units of the middle between two
 * floats. It is no denormal float. */
ZMM __m512i round_both(__m512d a, __m512d b, __mmask16 *rare)
{
	enum { MARGIN = 4096, MIDDLE = 0x10000000, CUT = 29 };
	const __m512i even =
		_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	__m512i low =
		_mm512_permutex2var_epi32(_mm512_castpd_si512(a), even, _mm512_castpd_si512(b));

	/* from MARGIN below the middle on, the bits that a float has not; those above fall out */
	low = _mm512_slli_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(MARGIN - MIDDLE)),
				32 - CUT);
	*rare |= _mm512_cmple_epu32_mask(low, _mm512_set1_epi32(2 * MARGIN << (32 - CUT)));
	return INT(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)),
				      _mm512_cvtpd_ps(b), 1));
}

/* Positive, normal and finite. */
ZMM __mmask16 usual(__m512 a)
{
	return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(INT(a), _mm512_set1_epi32(0x00800000)),
				       _mm512_set1_epi32(0x7f000000));
}

/* c[0] + x c[1] + x^2 c[2] ... */
ZMM __m512d polynomial(__m512d x, const double *c, unsigned int nr)
{
	__m512d p = ALL(c[nr - 1]);

	_Pragma("GCC unroll 8") for (unsigned int n = nr - 1; n--;) p = FMA(p, x, ALL(c[n]));
	return p;
}

#define POLYNOMIAL(x, c) polynomial(x, c, sizeof(c) / sizeof((c)[0]))

/* 1 / sqrt(a) = y + y e / 2 + ..., where e = 1 - a y^2: first for an estimate of 14 bits, then for
 * that of 23 bits, with e to 47 bits. Both bounds of the sum must be the same float. */
ZMM __m512i rsq(__m512 a, __mmask16 *rare)
{
	const __m512 error = ALL_FLOAT(0x1p-44f);
	__m512 y = _mm512_rsqrt14_ps(a);
	__m512 e = _mm512_fnmadd_ps(_mm512_mul_ps(a, y), y, ALL_FLOAT(1)), high, low, r;

	y = _mm512_fmadd_ps(_mm512_mul_ps(y, e),
			    _mm512_fmadd_ps(e, ALL_FLOAT(0.375f), ALL_FLOAT(0.5f)), y);
	high = _mm512_mul_ps(a, y);
	low = _mm512_fmsub_ps(a, y, high);
	e = _mm512_fnmadd_ps(low, y, _mm512_fnmadd_ps(high, y, ALL_FLOAT(1)));
	e = _mm512_mul_ps(e, _mm512_mul_ps(y, ALL_FLOAT(0.5f)));
	r = _mm512_add_ps(y, _mm512_fmadd_ps(y, error, e));
	*rare = (__mmask16)~_mm512_mask_cmp_ps_mask(usual(a), r,
						    _mm512_add_ps(y, _mm512_fnmadd_ps(y, error, e)),
						    _CMP_EQ_OQ);
	return INT(r);
}

/* 2^(n / 16) */
static const double powers[16] = {
	0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
	0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
	0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
	0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};

/* 2^sixteenth * 2^x, |x| <= 1/32; `number`: of sixteenths. The polynomial is (2^x - 1) / x. */
ZMM __m512d exp2_part(__m512d sixteenths, __m256i number, __m512d x)
{
	static const double c[] = { 0x1.62e42fefa39efp-1, 0x1.ebfbdff6988c8p-3,
				    0x1.c6b08d6faa1bep-5, 0x1.3b2c4ac7da565p-7,
				    0x1.5d893e58acc63p-10 };
	__m512d power = _mm512_permutex2var_pd(_mm512_loadu_pd(powers),
					       _mm512_cvtepi32_epi64(number),
					       _mm512_loadu_pd(powers + 8));

	/* the exponent is rounded down */
	return _mm512_scalef_pd(FMA(_mm512_mul_pd(POLYNOMIAL(x, c), x), power, power), sixteenths);
}

/* To the nearest multiple of 2^-bits. */
#define NEAREST(v, bits)                                                                           \
	_mm512_roundscale_ps(v, (bits) << 4 | _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

ZMM __m512i exp2_both(__m512 a, __mmask16 *rare)
{
	__m512 sixteenths = NEAREST(a, 4), x = _mm512_sub_ps(a, sixteenths);
	__m512i number = _mm512_cvtps_epi32(_mm512_mul_ps(sixteenths, ALL_FLOAT(16)));

	*rare = (__mmask16)~_mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a, ALL_FLOAT(-124),
								       _CMP_GE_OQ),
						    a, ALL_FLOAT(127), _CMP_LE_OQ);
	return round_both(exp2_part(LOW(sixteenths), _mm512_castsi512_si256(number), LOW(x)),
			  exp2_part(HIGH(sixteenths), _mm512_extracti64x4_epi64(number, 1),
				    HIGH(x)),
			  rare);
}

/* exponent + log2(1 + d): log2 of the mantissa by a polynomial of t^2, t = d / (2 + d), which is
 * 2 atanh(t) / (t ln 2). */
ZMM __m512d log2_part(__m512d d, __m512d exponent)
{
	static const double c[] = { 0x1.71547652b8253p+1, 0x1.ec709dc539e7ep-1,
				    0x1.2776c295ef7bbp-1, 0x1.a61a2cc257f13p-2,
				    0x1.4795a6190fc87p-2, 0x1.21ac9df204ccbp-2 };
	__m512d sum = _mm512_add_pd(d, ALL(2)), y = _mm512_rcp14_pd(sum);
	__m512d e = _mm512_fnmadd_pd(sum, y, ALL(1)), t = _mm512_mul_pd(d, y);

	/* 1 / sum = y (1 + e + e^2 ...) */
	t = FMA(t, FMA(e, e, e), t);
	return FMA(t, POLYNOMIAL(_mm512_mul_pd(t, t), c), exponent);
}

/* The mantissa is from sqrt(1/2) to sqrt(2). */
ZMM __m512i log2_both(__m512 a, __mmask16 *rare)
{
	const __m512i root = _mm512_set1_epi32(0x3f3504f3);
	__m512i up = _mm512_sub_epi32(INT(a), root);
	__m512 exponent = _mm512_cvtepi32_ps(_mm512_srai_epi32(up, 23));
	__m512i m = _mm512_add_epi32(_mm512_and_si512(up, _mm512_set1_epi32(0x7fffff)), root);
	__m512 d = _mm512_sub_ps(FLOAT(m), ALL_FLOAT(1));

	*rare = (__mmask16)~usual(a);
	return round_both(log2_part(LOW(d), LOW(exponent)), log2_part(HIGH(d), HIGH(exponent)),
			  rare);
}

/* sin(2 pi r), |r| <= 1/4; a zero's sign is that of r. */
ZMM __m512d sin_part(__m512d r)
{
	static const double c[] = { 0x1.921fb54442bb4p+2, -0x1.4abbce624ad99p+5,
				    0x1.466bc66ed3d1cp+6, -0x1.32d2c9b2d1df5p+6,
				    0x1.50770f6a5a66bp+5, -0x1.e29b82ab98ea9p+3,
				    0x1.d53abdeb199c1p+1 };

	return _mm512_mul_pd(r, POLYNOMIAL(_mm512_mul_pd(r, r), c));
}

/* Finite, and not so small that a sine may be denormal; or zero. */
ZMM __mmask16 usual_turns(__m512 a)
{
	const __m512i least = _mm512_set1_epi32(0x08000000);
	__m512i twice = _mm512_add_epi32(INT(a), INT(a));

	return _mm512_testn_epi32_mask(twice, twice) |
	       _mm512_cmplt_epu32_mask(_mm512_sub_epi32(twice, least),
				       _mm512_set1_epi32((int)0xff000000u - 0x08000000));
}

/* In the second half of the circle it is the other's, negative. A zero is positive. */
ZMM __m512i sin_both(__m512 a, __mmask16 *rare)
{
	__m512 f = _mm512_sub_ps(a, NEAREST(a, 0)), half = NEAREST(_mm512_add_ps(f, f), 0);
	__m512 r = _mm512_fmadd_ps(half, ALL_FLOAT(-0.5f), f);
	__mmask16 other = _mm512_test_epi32_mask(INT(half), _mm512_set1_epi32(INT32_MAX));

	r = _mm512_add_ps(_mm512_mask_sub_ps(r, other, ALL_FLOAT(0), r), ALL_FLOAT(0));
	*rare = (__mmask16)~usual_turns(a);
	return round_both(sin_part(LOW(r)), sin_part(HIGH(r)), rare);
}

ZMM __m512i cos_both(__m512 a, __mmask16 *rare)
{
	__m512 f = _mm512_abs_ps(_mm512_sub_ps(a, NEAREST(a, 0)));

	*rare = (__mmask16)~usual_turns(a);
	return round_both(sin_part(_mm512_sub_pd(ALL(0.25), LOW(f))),
			  sin_part(_mm512_sub_pd(ALL(0.25), HIGH(f))), rare);
}

ZMM bool run_real(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, real_fn *fn)
{
	__m512i part[4];
	uint64_t exec = gcn_exec(w), rare = 0;

	ZMM_SOURCE(0, 0);
	FOR_PARTS
	{
		__mmask16 bits;

		part[k] = fn(FLOAT(src0[k]), &bits);
		rare |= (uint64_t)bits << k * 16;
	}
	if (__builtin_expect(rare & exec, 0))
		return false;
	zmm_put(w->vgpr[i->dst], part, exec, rows);
	return true;
}

#define REAL(name, fn) ZMM_HANDLER(name, run_real(w, i, rows, fn))
REAL(v_rsq_f32, rsq)
REAL(v_exp_f32, exp2_both)
REAL(v_log_f32, log2_both)
REAL(v_sin_f32, sin_both)
REAL(v_cos_f32, cos_both)

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
