/* SPDX-License-Identifier: MIT */
/* format.c - texels: values of images and formatted buffers, from memory and to memory */
#include "format.h"

#include <math.h>
#include <stddef.h>

#include "memory.h"
#include "valu_math.h"

enum { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, SNORM_OGL, FLOAT, SRGB = 9 };

/* Components by data format: their number and bits. Packed ones of unequal widths are not
 * implemented. */
static const uint8_t shapes[16][2] = {
	[1] = { 1, 8 },	 [2] = { 1, 16 },  [3] = { 2, 8 },   [4] = { 1, 32 },  [5] = { 2, 16 },
	[10] = { 4, 8 }, [11] = { 2, 32 }, [12] = { 4, 16 }, [13] = { 3, 32 }, [14] = { 4, 32 },
};

unsigned int format_bytes(const struct format *f)
{
	unsigned int bits = f->data < 16 ? shapes[f->data][1] : 0;

	if (!bits || f->number == SNORM_OGL || f->number > SRGB || f->number == 8)
		return 0;
	if ((f->number == FLOAT && bits == 8) || (f->number == SRGB && bits != 8) ||
	    (bits == 32 && f->number != FLOAT && f->number != UINT && f->number != SINT))
		return 0;
	return shapes[f->data][0] * bits / 8;
}

bool format_is_int(const struct format *f)
{
	return f->number == UINT || f->number == SINT;
}

static float from_srgb(float v)
{
	return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

static float to_srgb(float v)
{
	return v <= 0.0031308f ? v * 12.92f : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
}

static uint32_t load_one(uint32_t v, unsigned int number, unsigned int bits, bool alpha)
{
	uint32_t ones = bits < 32 ? (1u << bits) - 1 : UINT32_MAX;
	int32_t i = (int32_t)(v << (32 - bits)) >> (32 - bits);
	float f;

	switch (number) {
	case UNORM:
		return f32_bits((float)v / (float)ones);
	case SNORM:
		f = (float)i / (float)(ones >> 1);
		return f32_bits(f < -1 ? -1 : f);
	case USCALED:
		return f32_bits((float)v);
	case SSCALED:
		return f32_bits((float)i);
	case SINT:
		return (uint32_t)i;
	case FLOAT:
		return bits == 16 ? f32_bits(f16_from(v)) : v;
	case SRGB:
		f = (float)v / (float)ones;
		return f32_bits(alpha ? f : from_srgb(f));
	default:
		return v;
	}
}

static float clamped(float f, float lo, float hi)
{
	/* a NaN becomes 0 */
	return !(f >= lo) ? (f < lo ? lo : 0) : f > hi ? hi : f;
}

static uint32_t store_one(uint32_t v, unsigned int number, unsigned int bits, bool alpha)
{
	uint32_t ones = bits < 32 ? (1u << bits) - 1 : UINT32_MAX;
	int32_t i = (int32_t)v, top = (int32_t)(ones >> 1);
	float f = f32_from(v);

	switch (number) {
	case UNORM:
		return (uint32_t)rintf(clamped(f, 0, 1) * (float)ones);
	case SNORM:
		return (uint32_t)(int32_t)rintf(clamped(f, -1, 1) * (float)top) & ones;
	case USCALED:
		return (uint32_t)clamped(f, 0, (float)ones);
	case SSCALED:
		return (uint32_t)(int32_t)clamped(f, (float)(-top - 1), (float)top) & ones;
	case UINT:
		return v < ones ? v : ones;
	case SINT:
		return (uint32_t)(i > top ? top : i < -top - 1 ? -top - 1 : i) & ones;
	case FLOAT:
		return bits == 16 ? f16_bits(f) : v;
	default:
		f = clamped(f, 0, 1);
		return (uint32_t)rintf((alpha ? f : to_srgb(f)) * (float)ones);
	}
}

void format_load(const struct format *f, const void *texel, uint32_t *channels)
{
	unsigned int nr = shapes[f->data][0], bits = shapes[f->data][1];
	const unsigned char *p = texel;
	uint32_t c[4] = { 0, 0, 0, 0 };

	for (unsigned int n = 0; n < nr && p; n++) {
		uint32_t v = bits == 8	? p[n] :
			     bits == 16 ? memory_get16(p + 2 * n) :
					  memory_get32(p + 4 * n);

		c[n] = load_one(v, f->number, bits, n == 3);
	}
	for (unsigned int n = 0; n < 4; n++) {
		if (f->select[n] >= 4)
			channels[n] = c[f->select[n] - 4];
		else
			channels[n] = f->select[n] != 1 ? 0 : format_is_int(f) ? 1 : 0x3f800000;
	}
}

void format_store(const struct format *f, const uint32_t *channels, void *texel)
{
	unsigned int nr = shapes[f->data][0], bits = shapes[f->data][1];
	unsigned char *p = texel;

	for (unsigned int n = 0; n < nr; n++) {
		uint32_t v = 0;

		for (unsigned int k = 4; k-- > 0;)
			v = f->select[k] == 4 + n ? channels[k] : v;
		v = store_one(v, f->number, bits, n == 3);
		if (bits == 8)
			p[n] = (unsigned char)v;
		else if (bits == 16)
			memory_put16(p + 2 * n, (uint16_t)v);
		else
			memory_put32(p + 4 * n, v);
	}
}
