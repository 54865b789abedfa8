/* SPDX-License-Identifier: MIT */
/* valu_math.h - arithmetic of single lanes, for the tables of vector instructions
 *
 * Everything is inline and, where possible, without branches, so that loops over lanes become
 * vector code. The NaN of an operation on numbers is 0x7fc00000, as on the device; the host's has
 * the sign set.
 */
#ifndef VGPU_GCN_VALU_MATH_H
#define VGPU_GCN_VALU_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f32_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline float f32_from(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

static inline uint64_t f64_bits(double f)
{
	uint64_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline double f64_from(uint64_t u)
{
	double f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

static inline float f16_from(uint32_t u)
{
	uint16_t v = (uint16_t)u;
	_Float16 h;

	memcpy(&h, &v, sizeof(h));
	/* the host would make a signalling NaN a quiet one */
	return (v & 0x7fff) > 0x7c00 ?
		       f32_from((v & 0x8000u) << 16 | 0x7f800000 | (v & 0x3ffu) << 13) :
		       (float)h;
}

static inline uint32_t f16_bits(float f)
{
	_Float16 h = (_Float16)f;
	uint16_t v;

	memcpy(&v, &h, sizeof(v));
	return v;
}

/* straight from double: through float it would be rounded twice */
static inline uint32_t f16_bits_f64(double f)
{
	_Float16 h = (_Float16)f;
	uint16_t v;

	memcpy(&v, &h, sizeof(v));
	return v;
}

/* The result r of an operation on a and b, with the device's own NaN. */
static inline float nan2(float r, float a, float b)
{
	return r != r && !isunordered(a, b) ? f32_from(0x7fc00000) : r;
}

static inline float nan3(float r, float a, float b, float c)
{
	return r != r && !isunordered(a, b) && c == c ? f32_from(0x7fc00000) : r;
}

static inline double nan2d(double r, double a, double b)
{
	return r != r && !isunordered(a, b) ? f64_from(0x7ff8000000000000) : r;
}

static inline double nan3d(double r, double a, double b, double c)
{
	return r != r && !isunordered(a, b) && c == c ? f64_from(0x7ff8000000000000) : r;
}

static inline float quiet(float f)
{
	return f32_from(f32_bits(f) | 0x400000);
}

static inline bool snan(float f)
{
	return f != f && !(f32_bits(f) & 0x400000);
}

static inline bool snan_d(double f)
{
	return f != f && !(f64_bits(f) & 0x8000000000000);
}

static inline double quiet_d(double f)
{
	return f64_from(f64_bits(f) | 0x8000000000000);
}

#define MODE_IEEE 0x200u
#define MODE_DX10_CLAMP 0x100u

/* With a NaN, the result is the other operand; with IEEE set, a signalling NaN gives a quiet one.
 * -0 is less than +0. */
static inline float min_f32(float a, float b, uint32_t mode)
{
	bool less = a < b || (a == b && (f32_bits(a) >> 31));
	float r = a != a ? b : b != b ? a : less ? a : b;

	if (mode & MODE_IEEE)
		r = snan(a) ? quiet(a) : snan(b) ? quiet(b) : r;
	return r;
}

static inline float max_f32(float a, float b, uint32_t mode)
{
	bool more = a > b || (a == b && !(f32_bits(a) >> 31));
	float r = a != a ? b : b != b ? a : more ? a : b;

	if (mode & MODE_IEEE)
		r = snan(a) ? quiet(a) : snan(b) ? quiet(b) : r;
	return r;
}

static inline double min_f64(double a, double b, uint32_t mode)
{
	bool less = a < b || (a == b && (f64_bits(a) >> 63));
	double r = a != a ? b : b != b ? a : less ? a : b;

	if (mode & MODE_IEEE)
		r = snan_d(a) ? quiet_d(a) : snan_d(b) ? quiet_d(b) : r;
	return r;
}

static inline double max_f64(double a, double b, uint32_t mode)
{
	bool more = a > b || (a == b && !(f64_bits(a) >> 63));
	double r = a != a ? b : b != b ? a : more ? a : b;

	if (mode & MODE_IEEE)
		r = snan_d(a) ? quiet_d(a) : snan_d(b) ? quiet_d(b) : r;
	return r;
}

/* With a NaN among them, the least of the three. */
static inline float med3_f32(float a, float b, float c, uint32_t mode)
{
	float lo, hi;

	if (a != a || b != b || c != c)
		return min_f32(min_f32(a, b, mode), c, mode);
	lo = min_f32(a, b, mode);
	hi = max_f32(a, b, mode);
	return max_f32(lo, min_f32(hi, c, mode), mode);
}

/* Denormals become zeros of their sign. */
static inline uint32_t flush_f32(uint32_t u)
{
	return u & 0x7f800000 ? u : u & 0x80000000;
}

static inline uint64_t flush_f64(uint64_t u)
{
	return u & 0x7ff0000000000000 ? u : u & 0x8000000000000000;
}

static inline uint32_t flush_f16(uint32_t u)
{
	return u & 0x7c00 ? u : u & 0x8000;
}

static inline int32_t i32_sat(double f)
{
	if (!(f > -2147483649.0))
		return f != f ? 0 : INT32_MIN;
	return f >= 2147483648.0 ? INT32_MAX : (int32_t)f;
}

static inline uint32_t u32_sat(double f)
{
	if (!(f > -1.0))
		return 0;
	return f >= 4294967296.0 ? UINT32_MAX : (uint32_t)f;
}

static inline int32_t i16_sat(int32_t v)
{
	return v < -32768 ? -32768 : v > 32767 ? 32767 : v;
}

static inline uint32_t u16_sat(int64_t v)
{
	return v < 0 ? 0 : v > 65535 ? 65535 : (uint32_t)v;
}

static inline int32_t i32_sat64(int64_t v)
{
	return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

/* Does a + b overflow? */
static inline bool overflows_i64(int64_t a, int64_t b)
{
	uint64_t r = (uint64_t)a + (uint64_t)b;

	return (((uint64_t)a ^ r) & ((uint64_t)b ^ r)) >> 63;
}

static inline uint32_t popcount32(uint32_t v)
{
	v = v - (v >> 1 & 0x55555555);
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	return ((v + (v >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline uint32_t reverse32(uint32_t v)
{
	v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
	v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
	v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(v);
}

/* Leading zeros, leading copies of the sign, trailing zeros; -1 if all bits are. */
static inline uint32_t ffbh_u32(uint32_t v)
{
	return v ? (uint32_t)__builtin_clz(v) : UINT32_MAX;
}

static inline uint32_t ffbh_i32(uint32_t v)
{
	uint32_t x = v ^ (uint32_t)((int32_t)v >> 31);

	return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

static inline uint32_t ffbl_u32(uint32_t v)
{
	return v ? (uint32_t)__builtin_ctz(v) : UINT32_MAX;
}

static inline uint32_t bfe_u32(uint32_t v, uint32_t at, uint32_t width)
{
	return v >> (at & 31) & ((1u << (width & 31)) - 1);
}

static inline uint32_t bfe_i32(uint32_t v, uint32_t at, uint32_t width)
{
	at &= 31;
	width &= 31;
	if (!width)
		return 0;
	if (at + width >= 32)
		return (uint32_t)((int32_t)v >> at);
	return (uint32_t)((int32_t)(v << (32 - at - width)) >> (32 - width));
}

static inline int32_t sext24(uint32_t v)
{
	return (int32_t)(v << 8) >> 8;
}

static inline uint32_t perm_byte(uint64_t v, uint32_t sel)
{
	sel &= 255;
	if (sel < 8)
		return (uint32_t)(v >> (sel * 8)) & 255;
	if (sel < 12)
		return v >> ((sel - 8) * 16 + 15) & 1 ? 255 : 0;
	return sel == 12 ? 0 : 255;
}

static inline uint32_t perm_b32(uint32_t hi, uint32_t lo, uint32_t sel)
{
	uint64_t v = (uint64_t)hi << 32 | lo;

	return perm_byte(v, sel) | perm_byte(v, sel >> 8) << 8 | perm_byte(v, sel >> 16) << 16 |
	       perm_byte(v, sel >> 24) << 24;
}

/* Sum of the absolute differences of bytes; masked: bytes whose reference is 0 don't count. */
static inline uint32_t sad_u8(uint32_t a, uint32_t b, bool masked)
{
	uint32_t sum = 0;

	for (unsigned int n = 0; n < 32; n += 8) {
		int32_t x = (int32_t)(a >> n & 255), y = (int32_t)(b >> n & 255);

		sum += masked && !y ? 0 : (uint32_t)(x > y ? x - y : y - x);
	}
	return sum;
}

static inline uint64_t qsad_u8(uint64_t a, uint32_t b, uint64_t c, bool masked)
{
	uint64_t r = 0;

	for (unsigned int n = 0; n < 4; n++) {
		uint32_t sum = sad_u8((uint32_t)(a >> (8 * n)), b, masked);

		r |= (uint64_t)((sum + (uint32_t)(c >> (16 * n))) & 0xffff) << (16 * n);
	}
	return r;
}

static inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r = 0;

	for (unsigned int n = 0; n < 32; n += 8)
		r |= ((a >> n & 255) + (b >> n & 255) + (c >> n & 1)) >> 1 << n;
	return r;
}

/* |r| < 1 whatever the rounding */
static inline float fract_f32(float a)
{
	float r = a - floorf(a);

	return r != r ? (a != a ? quiet(a) : f32_from(0x7fc00000)) :
			(r < 0x1.fffffep-1f ? r : 0x1.fffffep-1f);
}

static inline double fract_f64(double a)
{
	double r = a - floor(a);

	return r != r ? (a != a ? quiet_d(a) : f64_from(0x7ff8000000000000)) :
			(r < 0x1.fffffffffffffp-1 ? r : 0x1.fffffffffffffp-1);
}

/* The nearest integer; unlike roundeven() compilers make vector code of it. */
static inline double nearest(double v)
{
	return floor(v + 0.5);
}

/* sin(2 pi r) and cos(2 pi r), |r| <= 1/8: Taylor's series in double precision, errors below
 * 2^-52. */
static inline double sin_eighth(double r)
{
	double x = 6.283185307179586 * r, x2 = x * x;

	return x + x * x2 *
			   (-1.0 / 6 +
			    x2 * (1.0 / 120 +
				  x2 * (-1.0 / 5040 +
					x2 * (1.0 / 362880 + x2 * (-1.0 / 39916800 +
								   x2 * (1.0 / 6227020800 -
									 x2 / 1307674368000))))));
}

static inline double cos_eighth(double r)
{
	double x = 6.283185307179586 * r, x2 = x * x;

	return 1 - x2 * (0.5 -
			 x2 * (1.0 / 24 -
			       x2 * (1.0 / 720 - x2 * (1.0 / 40320 -
						       x2 * (1.0 / 3628800 -
							     x2 * (1.0 / 479001600 -
								   x2 * (1.0 / 87178291200 -
									 x2 / 20922789888000)))))));
}

/* Sine of a quarter q of the circle and r, |r| <= 1/8. */
static inline double sin_quarter(double q, double r)
{
	double s = sin_eighth(r), c = cos_eighth(r);
	double odd = q - 2 * nearest(q * 0.5 - 0.25), v = odd != 0 ? c : s; /* q modulo 2 */
	double half = (q - odd) * 0.5;					    /* of the circle */

	/* a zero is positive */
	return (half - 2 * nearest(half * 0.5 - 0.25) != 0 ? -v : v) + 0.0;
}

/* The fraction is exact: a float, or a half float. */
static inline double sin_turns(double a)
{
	double f = a - nearest(a), q = nearest(f * 4);
	double r = sin_quarter(q, f - q * 0.25);

	return a - a != 0 ? f64_from(0x7ff8000000000000) : r;
}

static inline double cos_turns(double a)
{
	double f = a - nearest(a), q = nearest(f * 4);
	double r = sin_quarter(q + 1, f - q * 0.25);

	return a - a != 0 ? f64_from(0x7ff8000000000000) : r;
}

/* 2^a of a float, in double precision: a is split into an integer and the rest, |rest| <= 1/2. */
static inline double exp2_f32(double a)
{
	double clipped = a < -1000 ? -1000 : a > 1000 ? 1000 : a, whole = nearest(clipped);
	double x = (clipped - whole) * 0.6931471805599453;
	double r =
		1 +
		x * (1 + x * (0.5 +
			      x * (1.0 / 6 +
				   x * (1.0 / 24 +
					x * (1.0 / 120 +
					     x * (1.0 / 720 +
						  x * (1.0 / 5040 +
						       x * (1.0 / 40320 +
							    x * (1.0 / 362880 +
								 x * (1.0 / 3628800 +
								      x * (1.0 / 39916800 +
									   x / 479001600)))))))))));
	/* the bits of the sum have the integer in front of those of 1.5 * 2^52 */
	uint64_t whole_bits = f64_bits(whole + 0x1.8p52) - f64_bits(0x1.8p52);

	r = f64_from(f64_bits(r) + (whole_bits << 52));
	return a != a ? a : r;
}

/* log2 of a float, in double precision: the exponent, and the series of atanh for the mantissa. */
static inline double log2_f32(double a)
{
	/* so that the mantissa is from sqrt(1/2) to sqrt(2) */
	uint64_t bits = f64_bits(a), up = bits - 0x3fe6a09e667f3bcd;
	double exponent =
		f64_from(0x4330000000000000 | (up + 0x4000000000000000) >> 52) - 0x1p52 - 1024;
	double m = f64_from((up & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
	double t = (m - 1) / (m + 1), t2 = t * t;
	double r =
		2 * t *
		(1 +
		 t2 * (1.0 / 3 +
		       t2 * (1.0 / 5 +
			     t2 * (1.0 / 7 +
				   t2 * (1.0 / 9 +
					 t2 * (1.0 / 11 +
					       t2 * (1.0 / 13 +
						     t2 * (1.0 / 15 +
							   t2 * (1.0 / 17 +
								 t2 * (1.0 / 19 + t2 / 21))))))))));

	r = exponent + r * 1.4426950408889634;
	r = a < 0 ? f64_from(0x7ff8000000000000) : r;
	r = a == 0 ? f64_from(0xfff0000000000000) : r;
	r = a == f64_from(0x7ff0000000000000) ? a : r;
	return a != a ? a : r;
}

/* a * 2^by where source and result are normal numbers. */
static inline bool ldexp_ordinary_f32(float a, int32_t by)
{
	int32_t e = (int32_t)(f32_bits(a) >> 23 & 255);

	return (e >= 1) & (e <= 254) & (by > -254) & (by < 254) &
	       ((uint32_t)e + (uint32_t)by - 1 <= 253);
}

static inline float ldexp_quick_f32(float a, int32_t by)
{
	return f32_from(f32_bits(a) + ((uint32_t)by << 23));
}

static inline bool ldexp_ordinary_f64(double a, int32_t by)
{
	int32_t e = (int32_t)(f64_bits(a) >> 52 & 2047);

	return (e >= 1) & (e <= 2046) & (by > -2046) & (by < 2046) &
	       ((uint32_t)e + (uint32_t)by - 1 <= 2045);
}

static inline double ldexp_quick_f64(double a, int32_t by)
{
	return f64_from(f64_bits(a) + ((uint64_t)(int64_t)by << 52));
}

static inline uint32_t frexp_exp_f32(float a)
{
	int e = 0;

	if (isfinite(a))
		frexpf(a, &e);
	return (uint32_t)e;
}

static inline float frexp_mant_f32(float a)
{
	int e;

	return isfinite(a) ? frexpf(a, &e) : a != a ? quiet(a) : a;
}

static inline uint32_t frexp_exp_f64(double a)
{
	int e = 0;

	if (isfinite(a))
		frexp(a, &e);
	return (uint32_t)e;
}

static inline double frexp_mant_f64(double a)
{
	int e;

	return isfinite(a) ? frexp(a, &e) : a != a ? quiet_d(a) : a;
}

/* The class of a number as a bit: what v_cmp_class tests. */
static inline uint32_t class_bit(bool sign, uint64_t exponent, uint64_t top, uint64_t mantissa,
				 bool is_quiet)
{
	if (exponent == top)
		return mantissa ? (is_quiet ? 2 : 1) : sign ? 4 : 0x200;
	if (exponent)
		return sign ? 8 : 0x100;
	if (mantissa)
		return sign ? 0x10 : 0x80;
	return sign ? 0x20 : 0x40;
}

static inline uint32_t class_f32(uint32_t u)
{
	return class_bit(u >> 31, u >> 23 & 255, 255, u & 0x7fffff, u >> 22 & 1);
}

static inline uint32_t class_f64(uint64_t u)
{
	return class_bit(u >> 63, u >> 52 & 2047, 2047, u & 0xfffffffffffff, u >> 51 & 1);
}

static inline uint32_t class_f16(uint32_t u)
{
	return class_bit(u >> 15 & 1, u >> 10 & 31, 31, u & 0x3ff, u >> 9 & 1);
}

static inline uint32_t pknorm(float v, float scale, float lo)
{
	if (v != v)
		return 0;
	v = v < lo ? lo : v > 1.0f ? 1.0f : v;
	return (uint32_t)(int32_t)rintf(v * scale) & 0xffff;
}

/* To half floats toward zero. */
static inline uint32_t f16_rtz(float f)
{
	uint32_t u = f32_bits(f), h = f16_bits(f);

	if (f == f && (h & 0x7fff) && fabsf(f16_from(h)) > fabsf(f) &&
	    (u & 0x7fffffff) != 0x7f800000)
		h--;
	return h;
}

#endif
