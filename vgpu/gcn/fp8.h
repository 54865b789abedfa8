/* SPDX-License-Identifier: MIT */
/* fp8.h - the floats of 8 bits that gfx942 has: FP8 (4 bits of exponent, 3 of fraction, bias 8) and
 * BF8 (5, 2, bias 16)
 *
 * Neither has infinities or a negative zero: 0x80 is the NaN. What is too large becomes it, or,
 * with FP16_OVFL in MODE, the largest number of its sign; so do infinities.
 */
#ifndef VGPU_GCN_FP8_H
#define VGPU_GCN_FP8_H

#include "valu_math.h"

/* MODE: results that overflow are the largest numbers */
#define MODE_FP16_OVFL 0x800000u

struct fp8 {
	int fraction, bias; /* fraction: bits */
};

static const struct fp8 fp8_e4m3 = { 3, 8 }, fp8_e5m2 = { 2, 16 };

#define FP8_NAN 0x80u
#define FP8_MAX 0x7fu

static inline float fp8_to_f32(uint32_t v, const struct fp8 *f)
{
	uint32_t exponent = (v & 0x7f) >> f->fraction, fraction = v & ((1u << f->fraction) - 1);
	/* of the last bit of a number without exponent */
	float unit = f32_from((uint32_t)(127 + 1 - f->bias - f->fraction) << 23);
	float size = exponent ? f32_from((exponent + 127u - (uint32_t)f->bias) << 23 |
					 fraction << (23 - f->fraction)) :
				(float)(int32_t)fraction * unit;

	return v == FP8_NAN ? f32_from(0x7fc00000) : v & 0x80 ? -size : size;
}

/* Of what is above the largest number, or no number. */
static inline uint32_t fp8_overflow(float v, uint32_t mode)
{
	return v != v || !(mode & MODE_FP16_OVFL) ? FP8_NAN : FP8_MAX | (f32_bits(v) >> 31) << 7;
}

/* `nearest`: to the nearest, ties to even. Otherwise the upper bits of `random` are added to the
 * float's fraction, as many as FP8 or BF8 lack of it, and what lies below the last bit is cut
 * off. */
static inline uint32_t fp8_round(float v, const struct fp8 *f, uint32_t mode, bool nearest,
				 uint32_t random)
{
	uint32_t bits = f32_bits(v) & 0x7fffffff, drop = (uint32_t)(23 - f->fraction), kept;
	int32_t exponent = (int32_t)(bits >> 23) - 127 + f->bias;
	uint32_t fraction = (bits & 0x7fffff) | 0x800000;

	if (bits >= 0x7f800000)
		return fp8_overflow(v, mode);
	if (!(bits >> 23))
		return 0; /* denormal: far below half of the least number */
	if (!nearest) {
		/* to the float's fraction, which may carry into its exponent */
		bits += random >> (32 - drop);
		exponent = (int32_t)(bits >> 23) - 127 + f->bias;
		fraction = (bits & 0x7fffff) | 0x800000;
	}
	/* without exponent there are fewer bits */
	if (exponent < 1) {
		drop += (uint32_t)(1 - exponent);
		exponent = 1;
	}
	if (drop > 25)
		return 0;
	kept = fraction >> drop;
	if (nearest) {
		uint32_t rest = fraction & ((1u << drop) - 1), half = 1u << (drop - 1);

		kept += rest > half || (rest == half && (kept & 1));
	}
	/* the exponent's bits follow the fraction's, and a carry goes into them */
	kept += (uint32_t)(exponent - 1) << f->fraction;
	if (kept > FP8_MAX)
		return fp8_overflow(v, mode);
	return kept ? kept | (f32_bits(v) >> 31) << 7 : 0;
}

static inline uint32_t fp8_nearest(float v, const struct fp8 *f, uint32_t mode)
{
	return fp8_round(v, f, mode, true, 0);
}

static inline uint32_t fp8_random(float v, uint32_t random, const struct fp8 *f, uint32_t mode)
{
	return fp8_round(v, f, mode, false, random);
}

/* Byte sel 3:2 of `old` becomes `v`. */
static inline uint32_t fp8_insert(uint32_t old, uint32_t v, uint32_t sel)
{
	uint32_t at = (sel >> 2 & 3) * 8;

	return (old & ~(255u << at)) | v << at;
}

static inline uint64_t fp8_pair(uint32_t v, const struct fp8 *f, uint32_t clamp)
{
	float lo = fp8_to_f32(v & 255, f), hi = fp8_to_f32(v >> 8 & 255, f);

	if (clamp) {
		lo = lo > 0 ? fminf(lo, 1) : 0;
		hi = hi > 0 ? fminf(hi, 1) : 0;
	}
	return f32_bits(lo) | (uint64_t)f32_bits(hi) << 32;
}

#endif
