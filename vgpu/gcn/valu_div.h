/* SPDX-License-Identifier: MIT */
/* valu_div.h - the steps of division: v_div_scale, v_div_fmas, v_div_fixup, v_trig_preop */
#ifndef VGPU_GCN_VALU_DIV_H
#define VGPU_GCN_VALU_DIV_H

#include "valu_math.h"

struct div_step {
	uint64_t value;
	bool vcc;
};

static inline int32_t exp_f32(float a)
{
	return (int32_t)(f32_bits(a) >> 23 & 255);
}

static inline int32_t exp_f64(double a)
{
	return (int32_t)(f64_bits(a) >> 52 & 2047);
}

/*
 * Scales s0, which is the denominator s1 or the numerator s2, so that no step over- or underflows.
 * VCC says that the quotient has to be scaled back: up if it is large, down if it is small
 * (div_fmas). So a denominator whose reciprocal is a denormal is made smaller, though the ISA's
 * text has it the other way in one of two cases.
 */
static inline struct div_step div_scale_f32(float s0, float s1, float s2)
{
	struct div_step r = { f32_bits(s0), false };
	bool is_den = f32_bits(s0) == f32_bits(s1), is_num = f32_bits(s0) == f32_bits(s2);
	double q = (double)s2 / (double)s1;
	bool tiny_q = fabs(q) < 0x1p-126 && q != 0, tiny_rcp = fabsf(s1) > 0x1p126f && !isinf(s1);

	if (s2 == 0 || s1 == 0) {
		r.value = 0x7fc00000;
	} else if (exp_f32(s2) - exp_f32(s1) >= 96) {
		r.vcc = true;
		if (is_den)
			r.value = f32_bits(ldexpf(s0, 64));
	} else if (!exp_f32(s1)) {
		r.value = f32_bits(ldexpf(s0, 64));
	} else if (tiny_rcp && tiny_q) {
		r.vcc = true;
		if (is_den)
			r.value = f32_bits(ldexpf(s0, -64));
	} else if (tiny_rcp) {
		r.value = f32_bits(ldexpf(s0, -64));
	} else if (tiny_q) {
		r.vcc = true;
		if (is_num)
			r.value = f32_bits(ldexpf(s0, 64));
	} else if (exp_f32(s2) <= 23) {
		r.value = f32_bits(ldexpf(s0, 64));
	}
	return r;
}

static inline struct div_step div_scale_f64(double s0, double s1, double s2)
{
	struct div_step r = { f64_bits(s0), false };
	bool is_den = f64_bits(s0) == f64_bits(s1), is_num = f64_bits(s0) == f64_bits(s2);
	long double q = (long double)s2 / (long double)s1;
	bool tiny_q = fabsl(q) < 0x1p-1022L && q != 0, tiny_rcp = fabs(s1) > 0x1p1022 && !isinf(s1);

	if (s2 == 0 || s1 == 0) {
		r.value = 0x7ff8000000000000;
	} else if (exp_f64(s2) - exp_f64(s1) >= 768) {
		r.vcc = true;
		if (is_den)
			r.value = f64_bits(ldexp(s0, 128));
	} else if (!exp_f64(s1)) {
		r.value = f64_bits(ldexp(s0, 128));
	} else if (tiny_rcp && tiny_q) {
		r.vcc = true;
		if (is_den)
			r.value = f64_bits(ldexp(s0, -128));
	} else if (tiny_rcp) {
		r.value = f64_bits(ldexp(s0, -128));
	} else if (tiny_q) {
		r.vcc = true;
		if (is_num)
			r.value = f64_bits(ldexp(s0, 128));
	} else if (exp_f64(s2) <= 53) {
		r.value = f64_bits(ldexp(s0, 128));
	}
	return r;
}

/* Numbers that need no scaling: all conditions of div_scale and div_fixup are false. Without
 * branches. */
static inline bool div_ordinary_f32(float den, float num)
{
	int32_t d = exp_f32(den), n = exp_f32(num);

	return (d >= 1) & (d <= 250) & (n >= 24) & (n <= 254) & (n - d < 96) & (n - d > -120);
}

static inline bool div_ordinary_f64(double den, double num)
{
	int32_t d = exp_f64(den), n = exp_f64(num);

	return (d >= 1) & (d <= 2040) & (n >= 54) & (n <= 2046) & (n - d < 768) & (n - d > -1000);
}

/* Scaled before it is rounded: a denormal must not be rounded twice. */
static inline float div_fmas_f32(float a, float b, float c, bool scale)
{
	float r = fmaf(a, b, c);

	if (scale)
		r = (float)(fma(a, b, c) * (exp_f32(c) > 127 ? 0x1p64 : 0x1p-64));
	return nan3(r, a, b, c);
}

static inline double div_fmas_f64(double a, double b, double c, bool scale)
{
	double r = fma(a, b, c);

	if (scale)
		r = (double)(((__float128)a * b + c) * (exp_f64(c) > 1023 ? 0x1p128 : 0x1p-128));
	return nan3d(r, a, b, c);
}

/* q is the quotient so far, d the denominator, n the numerator: puts the special cases right. The
 * same for half floats, which come in single precision, but that no quotient of theirs is too small
 * for a float. */
static inline float div_fixup_f16(float q, float d, float n)
{
	uint32_t sign = (f32_bits(d) ^ f32_bits(n)) & 0x80000000;

	if (n != n)
		return quiet(n);
	if (d != d)
		return quiet(d);
	if ((d == 0 && n == 0) || (isinf(d) && isinf(n)))
		return f32_from(0xffc00000);
	if (d == 0 || isinf(n))
		return f32_from(sign | 0x7f800000);
	if (isinf(d) || n == 0)
		return f32_from(sign);
	/* numbers make no NaN but by infinity less infinity: the quotient is too large */
	if (q != q)
		return f32_from(sign | 0x7f800000);
	return f32_from(sign | (f32_bits(q) & 0x7fffffff));
}

static inline float div_fixup_f32(float q, float d, float n)
{
	bool numbers = isfinite(d) && isfinite(n) && d != 0 && n != 0;

	if (numbers && exp_f32(n) - exp_f32(d) < -150)
		return f32_from((f32_bits(d) ^ f32_bits(n)) & 0x80000000);
	return div_fixup_f16(q, d, n);
}

static inline double div_fixup_f64(double q, double d, double n)
{
	uint64_t sign = (f64_bits(d) ^ f64_bits(n)) & 0x8000000000000000;

	if (n != n)
		return quiet_d(n);
	if (d != d)
		return quiet_d(d);
	if ((d == 0 && n == 0) || (isinf(d) && isinf(n)))
		return f64_from(0xfff8000000000000);
	if (d == 0 || isinf(n))
		return f64_from(sign | 0x7ff0000000000000);
	if (isinf(d) || n == 0)
		return f64_from(sign);
	if (exp_f64(n) - exp_f64(d) < -1075)
		return f64_from(sign);
	/* numbers make no NaN but by infinity less infinity: the quotient is too large */
	if (q != q)
		return f64_from(sign | 0x7ff0000000000000);
	return f64_from(sign | (f64_bits(q) & 0x7fffffffffffffff));
}

/* 53 bits of 2/pi for the reduction of an argument as large as a. */
static inline double trig_preop_f64(double a, uint32_t segment)
{
	/* the first 1280 bits behind the point */
	static const uint32_t two_over_pi[40] = {
		0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
		0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
		0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
		0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
		0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
		0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
	};
	uint32_t exponent = (uint32_t)exp_f64(a);
	uint32_t shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
	int scale = -53 - (int)shift + (exponent >= 1968 ? 128 : 0);
	uint64_t v = 0;

	for (uint32_t n = shift; n < shift + 53; n++)
		v = v << 1 | (n < 1201 ? two_over_pi[n / 32] >> (31 - n % 32) & 1 : 0);
	return ldexp((double)v, scale);
}

#endif
