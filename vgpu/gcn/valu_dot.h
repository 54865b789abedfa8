/* SPDX-License-Identifier: MIT */
/* valu_dot.h - dot products, and arithmetic of pairs of floats in two registers
 *
 * sel as in valu_packed.h.
 */
#ifndef VGPU_GCN_VALU_DOT_H
#define VGPU_GCN_VALU_DOT_H

#include "valu_packed.h"

/* sel of instructions without op_sel: the low halves for the first product, the high ones for the
 * second */
#define DOT_WHOLE 0x38u

/* fused, where gfx900's v_mad_mix rounds twice */
static inline float fma_mix(uint32_t a, uint32_t b, uint32_t c, uint32_t sel)
{
	float x = mix_source(a, sel, 0), y = mix_source(b, sel, 1), z = mix_source(c, sel, 2);

	return nan3(fmaf(x, y, z), x, y, z);
}

static inline float flushed_f16(uint32_t v, uint32_t sel, unsigned int n, bool hi)
{
	float f = pick_f16(v, sel, n, hi);

	return fabsf(f) < 0x1p-14f ? copysignf(0.0f, f) : f;
}

/* Denormals are zero, going in and coming out. */
static inline float dot2_f16(uint32_t a, uint32_t b, float c, uint32_t sel)
{
	float x = flushed_f16(a, sel, 0, false), y = flushed_f16(b, sel, 1, false);
	float u = flushed_f16(a, sel, 0, true), v = flushed_f16(b, sel, 1, true);
	float low, r;

	c = f32_from(flush_f32(f32_bits(c)));
	low = nan3(fmaf(x, y, c), x, y, c);
	r = nan3(fmaf(u, v, low), u, v, low);
	return f32_from(flush_f32(f32_bits(r)));
}

/* Element n of a dot product, of `width` bits, 16 by op_sel, moved to the top of a word. */
static inline uint32_t dot_element(uint32_t v, unsigned int width, uint32_t sel,
				   unsigned int source, unsigned int n)
{
	if (width == 16)
		return pick16(v, n ? sel >> 3 : sel, source) << 16;
	return v << (32 - width - n * width);
}

static inline int64_t dot_i(uint32_t a, uint32_t b, uint32_t c, unsigned int width, uint32_t sel)
{
	int64_t sum = (int32_t)c;

	for (unsigned int n = 0; n < 32 / width; n++) {
		int32_t x = (int32_t)dot_element(a, width, sel, 0, n) >> (32 - width);
		int32_t y = (int32_t)dot_element(b, width, sel, 1, n) >> (32 - width);

		sum += (int64_t)x * y;
	}
	return sum;
}

static inline uint64_t dot_u(uint32_t a, uint32_t b, uint32_t c, unsigned int width, uint32_t sel)
{
	uint64_t sum = c;

	for (unsigned int n = 0; n < 32 / width; n++) {
		uint32_t x = dot_element(a, width, sel, 0, n) >> (32 - width);
		uint32_t y = dot_element(b, width, sel, 1, n) >> (32 - width);

		sum += (uint64_t)x * y;
	}
	return sum;
}

static inline uint32_t clamp_i32(int64_t v, uint32_t clamp)
{
	return clamp ? (uint32_t)i32_sat64(v) : (uint32_t)v;
}

static inline uint32_t clamp_u32(uint64_t v, uint32_t clamp)
{
	return clamp && v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static inline uint32_t pk_fmac_f16(uint32_t a, uint32_t b, uint32_t c)
{
	return fma_f16(f16_from(a & 0xffff), f16_from(b & 0xffff), f16_from(c & 0xffff)) |
	       fma_f16(f16_from(a >> 16), f16_from(b >> 16), f16_from(c >> 16)) << 16;
}

/* The dword of a pair that bit n of sel names. */
static inline uint32_t pick32(uint64_t v, uint32_t sel, unsigned int n)
{
	return (uint32_t)(sel >> n & 1 ? v >> 32 : v);
}

static inline float pick_f32(uint64_t v, uint32_t sel, unsigned int n, bool hi, uint32_t mode)
{
	uint32_t bits = pick32(v, hi ? sel >> 3 : sel, n) ^ (sel >> ((hi ? 9 : 6) + n) & 1) << 31;

	return f32_from(mode & 0x10 ? bits : flush_f32(bits));
}

static inline uint64_t put_f32(float v, uint32_t mode, uint32_t clamp)
{
	uint32_t bits = f32_bits(clamp_f32(v, clamp));

	return mode & 0x20 ? bits : flush_f32(bits);
}

#define PK_F32(expr)                                                                               \
	({                                                                                         \
		uint64_t r_ = 0;                                                                   \
		for (unsigned int hi_ = 0; hi_ < 2; hi_++) {                                       \
			float x = pick_f32(a, sel, 0, hi_, mode);                                  \
			float y = pick_f32(b, sel, 1, hi_, mode);                                  \
			float z = pick_f32((uint64_t)c, sel, 2, hi_, mode);                        \
			(void)z;                                                                   \
			r_ |= put_f32((expr), mode, clamp) << (hi_ * 32);                          \
		}                                                                                  \
		r_;                                                                                \
	})

#endif
