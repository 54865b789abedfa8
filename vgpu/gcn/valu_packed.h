/* SPDX-License-Identifier: MIT */
/* valu_packed.h - arithmetic of half floats, and of pairs of 16-bit values in one register
 *
 * sel says for the low result (bit n) and for the high one (bit 3 + n) which half of source n it
 * takes, and which of them are negated (bits 6 to 8 and 9 to 11).
 */
#ifndef VGPU_GCN_VALU_PACKED_H
#define VGPU_GCN_VALU_PACKED_H

#include "valu_math.h"

/* unfused, each step rounded to half precision */
static inline float mad_f16(float a, float b, float c)
{
	float p = f16_from(f16_bits(a * b));

	return nan3(p + c, a, b, c);
}

/* a half float's pattern; a double holds the sum well enough to be rounded once */
static inline uint32_t fma_f16(float a, float b, float c)
{
	double r = (double)a * (double)b + (double)c;

	if (r != r)
		return a != a ? f16_bits(a) : b != b ? f16_bits(b) : c != c ? f16_bits(c) : 0x7e00;
	return f16_bits_f64(r);
}

static inline float clamp_f32(float v, uint32_t clamp)
{
	return !clamp ? v : v > 0 ? (v < 1 ? v : 1) : 0;
}

static inline uint32_t pick16(uint32_t v, uint32_t sel, unsigned int n)
{
	return (sel >> n & 1 ? v >> 16 : v) & 0xffff;
}

static inline float pick_f16(uint32_t v, uint32_t sel, unsigned int n, bool hi)
{
	uint32_t sign = sel >> ((hi ? 9 : 6) + n) & 1;

	return f16_from(pick16(v, hi ? sel >> 3 : sel, n) ^ sign << 15);
}

static inline uint32_t clamp_f16(uint32_t h, uint32_t clamp)
{
	return clamp ? f16_bits(clamp_f32(f16_from(h), clamp)) : h;
}

/* A source of v_mad_mix: a float, or with its op_sel_hi the half that its op_sel names. */
static inline float mix_source(uint32_t v, uint32_t sel, unsigned int n)
{
	float f = sel >> (3 + n) & 1 ? f16_from(pick16(v, sel, n)) : f32_from(v);

	if (sel >> (12 + n) & 1)
		f = fabsf(f);
	return sel >> (6 + n) & 1 ? -f : f;
}

static inline float mad_mix(uint32_t a, uint32_t b, uint32_t c, uint32_t sel)
{
	float x = mix_source(a, sel, 0), y = mix_source(b, sel, 1), z = mix_source(c, sel, 2);

	return nan3(x * y + z, x, y, z);
}

static inline float fract_f16(float a)
{
	float r = fract_f32(a);

	/* the greatest half float below 1 */
	return r > 0x1.ffcp-1f ? 0x1.ffcp-1f : r;
}

/* The pair of an expression of x, y and z, for the low halves and for the high ones. */
#define PK_INT(type, expr)                                                                         \
	({                                                                                         \
		uint32_t r_ = 0;                                                                   \
		for (unsigned int hi_ = 0; hi_ < 2; hi_++) {                                       \
			type x = (type)(type##_half)pick16(a, hi_ ? sel >> 3 : sel, 0);            \
			type y = (type)(type##_half)pick16(b, hi_ ? sel >> 3 : sel, 1);            \
			type z = (type)(type##_half)pick16((uint32_t)c, hi_ ? sel >> 3 : sel, 2);  \
			(void)z;                                                                   \
			r_ |= ((uint32_t)(expr)&0xffff) << (hi_ * 16);                             \
		}                                                                                  \
		r_;                                                                                \
	})

typedef int32_t pk_i32;
typedef int16_t pk_i32_half;
typedef uint32_t pk_u32;
typedef uint16_t pk_u32_half;

#define PK_I16(expr) PK_INT(pk_i32, expr)
#define PK_U16(expr) PK_INT(pk_u32, expr)
#define PK_F16(expr)                                                                               \
	({                                                                                         \
		uint32_t r_ = 0;                                                                   \
		for (unsigned int hi_ = 0; hi_ < 2; hi_++) {                                       \
			float x = pick_f16(a, sel, 0, hi_), y = pick_f16(b, sel, 1, hi_);          \
			float z = pick_f16((uint32_t)c, sel, 2, hi_);                              \
			(void)z;                                                                   \
			r_ |= clamp_f16((expr), clamp) << (hi_ * 16);                              \
		}                                                                                  \
		r_;                                                                                \
	})

#endif
