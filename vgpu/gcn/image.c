/* SPDX-License-Identifier: MIT */
/* image.c - image instructions: loads, stores and samples of images
 *
 * The resource is eight scalar registers, the sampler four. Texels of an image lie row after row,
 * slice after slice, whatever swizzle mode the resource
 * has: only these instructions see its memory. Linear images have the resource's pitch.
 *
 *     resource  0 and 1: address / 256 (39:0), data format 57:52, number format 61:58; 2: width - 1
 *               (13:0), height - 1 (27:14);
 *               3: channels' selects 11:0, levels 15:12 and 19:16, swizzle 24:20, type 31:28; 4:
 *               depth - 1 (12:0), pitch - 1 (28:13); 5: first slice 12:0
 *     sampler   0: clamp of x, y, z (8:0), unnormalised 15; 2: filter of magnification 21:20, of z
 *               25:24; 3: border 31:30
 *
 * Not here: levels of detail, comparisons, offsets, gradients that choose a level, 16-bit
 * registers: they stop the kernel as not implemented.
 */
#include <math.h>
#include <stddef.h>

#include "format.h"
#include "memory.h"
#include "valu_math.h"

enum { TYPE_1D = 8, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_1D_ARRAY, TYPE_2D_ARRAY };

enum {
	WRAP,
	MIRROR,
	LAST,
	MIRROR_ONCE_LAST,
	HALF_BORDER,
	MIRROR_ONCE_HALF_BORDER,
	BORDER,
	MIRROR_ONCE_BORDER
};

struct image {
	uint64_t base;
	struct format format;
	unsigned int bytes; /* of a texel */
	uint32_t size[3];   /* as coordinates have them: of an array the last is its slices */
	uint32_t pitch;	    /* texels */
	unsigned int dims;  /* coordinates */
	bool layered;	    /* the last of them is a slice */
};

/* false: not implemented, and the wave was stopped. */
static bool image_of(struct gcn_wave *w, const struct gcn_inst *i, struct image *m)
{
	const uint32_t *v = &w->sgpr[i->src[1]];
	unsigned int type = v[3] >> 28;
	uint32_t first = v[5] & 0x1fff;

	m->base = (v[0] | (uint64_t)(v[1] & 255) << 32) << 8;
	m->format.data = v[1] >> 20 & 63;
	m->format.number = v[1] >> 26 & 15;
	for (unsigned int n = 0; n < 4; n++)
		m->format.select[n] = v[3] >> 3 * n & 7;
	m->bytes = format_bytes(&m->format);
	m->size[0] = (v[2] & 0x3fff) + 1;
	m->size[1] = (v[2] >> 14 & 0x3fff) + 1;
	m->size[2] = (v[4] & 0x1fff) + 1;
	m->pitch = v[3] >> 20 & 31 ? m->size[0] : (v[4] >> 13 & 0xffff) + 1;
	m->layered = type == TYPE_1D_ARRAY || type == TYPE_2D_ARRAY;
	m->dims = type == TYPE_1D ? 1 : type == TYPE_2D || type == TYPE_1D_ARRAY ? 2 : 3;
	if (type == TYPE_1D || type == TYPE_1D_ARRAY)
		m->size[1] = 1;
	if (m->layered)
		m->base += (uint64_t)first * m->pitch * m->size[1] * m->bytes;
	if (type == TYPE_1D_ARRAY)
		m->size[1] = m->size[2] - first;
	else if (m->layered)
		m->size[2] -= first;
	if (m->dims < 3)
		m->size[2] = 1;
	/* levels; 16-bit registers and addresses, and residency */
	if (!m->bytes || type < TYPE_1D || type == TYPE_CUBE || type > TYPE_2D_ARRAY ||
	    (v[3] >> 12 & 15) != (v[3] >> 16 & 15) || i->word[0] & (7u << 15) || i->word[1] >> 31) {
		gcn_stop(w, GCN_UNIMPLEMENTED, 0);
		return false;
	}
	return true;
}

/* The texel; NULL: outside. *status: the memory is not there. */
static void *texel_at(struct gcn_wave *w, const struct image *m, const int64_t *at)
{
	uint64_t addr;
	void *texel;

	for (unsigned int d = 0; d < 3; d++) {
		if (at[d] < 0 || at[d] >= m->size[d])
			return NULL;
	}
	addr = m->base +
	       (((uint64_t)at[2] * m->size[1] + (uint64_t)at[1]) * m->pitch + (uint64_t)at[0]) *
		       m->bytes;
	texel = memory_host(w->run, addr, m->bytes);
	if (!texel)
		gcn_stop(w, GCN_MEMORY_FAULT, addr);
	return texel;
}

static uint32_t address_of(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
			   unsigned int lane)
{
	return w->vgpr[i->src[0] - GCN_SRC_VGPR + n][lane];
}

static unsigned int channels_of(const struct gcn_inst *i)
{
	return i->word[0] >> 8 & 15;
}

static void put_channels(struct gcn_wave *w, const struct gcn_inst *i, unsigned int lane,
			 const uint32_t *channels)
{
	unsigned int reg = i->dst;

	for (unsigned int n = 0; n < 4; n++) {
		if (channels_of(i) >> n & 1)
			w->vgpr[reg++][lane] = channels[n];
	}
}

static void integer_coordinates(const struct gcn_wave *w, const struct gcn_inst *i,
				const struct image *m, unsigned int lane, int64_t *at)
{
	at[0] = at[1] = at[2] = 0;
	for (unsigned int d = 0; d < m->dims; d++)
		at[d] = (int32_t)address_of(w, i, d, lane);
}

static void image_load(struct gcn_wave *w, const struct gcn_inst *i)
{
	struct image m;

	if (!image_of(w, i, &m))
		return;
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		uint32_t channels[4] = { 0, 0, 0, 0 };
		int64_t at[3];
		void *p;

		integer_coordinates(w, i, &m, l, at);
		p = texel_at(w, &m, at);
		if (w->run->status != GCN_RUNNING)
			return;
		/* outside all channels are 0 */
		if (p)
			format_load(&m.format, p, channels);
		put_channels(w, i, l, channels);
	}
}

static void image_store(struct gcn_wave *w, const struct gcn_inst *i)
{
	struct image m;

	if (!image_of(w, i, &m))
		return;
	memory_stored(w->run);
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left), reg = i->dst;
		uint32_t channels[4] = { 0, 0, 0, 0 };
		int64_t at[3];
		void *p;

		for (unsigned int n = 0; n < 4; n++) {
			if (channels_of(i) >> n & 1)
				channels[n] = w->vgpr[reg++][l];
		}
		integer_coordinates(w, i, &m, l, at);
		p = texel_at(w, &m, at);
		if (w->run->status != GCN_RUNNING)
			return;
		if (p)
			format_store(&m.format, channels, p);
	}
}

static void image_get_resinfo(struct gcn_wave *w, const struct gcn_inst *i)
{
	struct image m;

	if (!image_of(w, i, &m))
		return;
	for (uint64_t left = gcn_exec(w); left;)
		put_channels(w, i, memory_next(&left),
			     (const uint32_t[4]){ m.size[0], m.size[1], m.size[2], 1 });
}

/* ---- samples --------------------------------------------------------------------------------- */

struct sampler {
	uint8_t clamp[3], border;
	bool linear, linear_z, unnormalised;
};

static struct sampler sampler_of(const struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *v = &w->sgpr[i->src[2]];

	return (struct sampler){
		.clamp = { v[0] & 7, v[0] >> 3 & 7, v[0] >> 6 & 7 },
		.border = (uint8_t)(v[3] >> 30),
		.linear = v[2] >> 20 & 1,
		/* none: as the other two */
		.linear_z = v[2] >> 24 & 3 ? (v[2] >> 24 & 3) == 2 : v[2] >> 20 & 1,
		.unnormalised = v[0] >> 15 & 1 || i->word[0] >> 12 & 1,
	};
}

/* The texel that stands at `at` of `size`; -1: the border. */
static int64_t wrapped(int64_t at, int64_t size, unsigned int clamp)
{
	bool once = clamp == MIRROR_ONCE_LAST || clamp == MIRROR_ONCE_HALF_BORDER ||
		    clamp == MIRROR_ONCE_BORDER;

	switch (clamp) {
	case WRAP:
		return (at % size + size) % size;
	case MIRROR:
		at = (at % (2 * size) + 2 * size) % (2 * size);
		return at < size ? at : 2 * size - 1 - at;
	}
	if (once && at < 0)
		at = -1 - at;
	if (clamp == LAST || clamp == MIRROR_ONCE_LAST)
		return at < 0 ? 0 : at >= size ? size - 1 : at;
	return at >= 0 && at < size ? at : -1;
}

/* floor(); of numbers that fit. */
static int64_t below(double x)
{
	int64_t i = (int64_t)x;

	return i - ((double)i > x);
}

/* Where a sample lies: the lower texel, and the weight of the upper one, in 256ths as hardware has
 * it. */
static int64_t split(float x, bool linear, uint32_t *weight)
{
	double at = x;

	*weight = 0;
	if (!(at > -1e9 && at < 1e9))
		at = at > 0 ? 1e9 : at < 0 ? -1e9 : 0;
	/* compilers pass texels' edges, which may have been rounded to just below */
	at = (double)below((linear ? at - 0.5 : at) * 256 + 0.5);
	if (!linear)
		return below(at / 256);
	*weight = (uint32_t)(int64_t)at & 255;
	return below(at / 256);
}

static void border_color(const struct image *m, const struct sampler *s, uint32_t *channels)
{
	uint32_t one = format_is_int(&m->format) ? 1 : 0x3f800000;

	for (unsigned int n = 0; n < 4; n++)
		channels[n] = s->border == 2 || (s->border == 1 && n == 3) ? one : 0;
}

/* One texel of a sample, clamped. */
static bool tap(struct gcn_wave *w, const struct image *m, const struct sampler *s,
		const int64_t *at, uint32_t *channels)
{
	int64_t in[3] = { at[0], at[1], at[2] };
	bool border = false;
	void *p;

	for (unsigned int d = 0; d < m->dims; d++) {
		if (!m->layered || d + 1 < m->dims)
			in[d] = wrapped(at[d], m->size[d], s->clamp[d]);
		border |= in[d] < 0;
	}
	if (border) {
		border_color(m, s, channels);
		return true;
	}
	p = texel_at(w, m, in);
	if (p)
		format_load(&m->format, p, channels);
	return p;
}

/* Splits the coordinates; `linear`: for filters and gathers. */
static void locate(const struct gcn_wave *w, const struct gcn_inst *i, const struct image *m,
		   const struct sampler *s, unsigned int lane, unsigned int skip, bool linear,
		   int64_t *at, uint32_t *weight)
{
	for (unsigned int d = 0; d < 3; d++) {
		float x = d < m->dims ? f32_from(address_of(w, i, skip + d, lane)) : 0;

		weight[d] = 0;
		at[d] = 0;
		if (d >= m->dims)
			continue;
		if (m->layered && d + 1 == m->dims) {
			float slice = rintf(x), last = (float)(m->size[d] - 1);

			at[d] = !(slice > 0) ? 0 : (int64_t)(slice > last ? last : slice);
			continue;
		}
		at[d] = split(s->unnormalised ? x : x * (float)m->size[d],
			      linear && (d < 2 || s->linear_z), &weight[d]);
	}
}

static bool filter(struct gcn_wave *w, const struct image *m, const struct sampler *s,
		   const int64_t *at, const uint32_t *weight, uint32_t *channels)
{
	float sum[4] = { 0, 0, 0, 0 };

	for (unsigned int n = 0; n < 8; n++) {
		float part = 1;
		int64_t one[3];
		uint32_t c[4];

		for (unsigned int d = 0; d < 3; d++) {
			one[d] = at[d] + (n >> d & 1);
			part *= (float)(n >> d & 1 ? weight[d] : 256 - weight[d]) / 256;
		}
		if (part == 0)
			continue;
		if (!tap(w, m, s, one, c))
			return false;
		for (unsigned int k = 0; k < 4; k++)
			sum[k] += f32_from(c[k]) * part;
	}
	for (unsigned int k = 0; k < 4; k++)
		channels[k] = f32_bits(sum[k]);
	return true;
}

/* `skip`: registers in front of the coordinates; `sets`: the same for each coordinate. */
static void sample(struct gcn_wave *w, const struct gcn_inst *i, unsigned int skip,
		   unsigned int sets)
{
	struct sampler s = sampler_of(w, i);
	struct image m;

	if (!image_of(w, i, &m))
		return;
	skip += sets * (m.layered ? m.dims - 1 : m.dims);
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		bool linear = s.linear && !format_is_int(&m.format);
		uint32_t channels[4], weight[3];
		int64_t at[3];

		locate(w, i, &m, &s, l, skip, linear, at, weight);
		if (!(linear ? filter(w, &m, &s, at, weight, channels) :
			       tap(w, &m, &s, at, channels)))
			return;
		put_channels(w, i, l, channels);
	}
}

static void image_sample(struct gcn_wave *w, const struct gcn_inst *i)
{
	sample(w, i, 0, 0);
}

/* the bias chooses among levels, of which there is one */
static void image_sample_b(struct gcn_wave *w, const struct gcn_inst *i)
{
	sample(w, i, 1, 0);
}

static void image_sample_d(struct gcn_wave *w, const struct gcn_inst *i)
{
	sample(w, i, 0, 2);
}

/* One channel of the four texels that a filter would use. */
static void image_gather4(struct gcn_wave *w, const struct gcn_inst *i)
{
	static const uint8_t order[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
	struct sampler s = sampler_of(w, i);
	struct image m;

	if (!image_of(w, i, &m))
		return;
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left), channel = 0;
		uint32_t c[4], out[4], weight[3];
		int64_t at[3];

		while (channel < 3 && !(channels_of(i) >> channel & 1))
			channel++;
		locate(w, i, &m, &s, l, 0, true, at, weight);
		for (unsigned int n = 0; n < 4; n++) {
			int64_t one[3] = { at[0] + order[n][0], at[1] + order[n][1], at[2] };

			if (!tap(w, &m, &s, one, c))
				return;
			out[n] = c[channel];
		}
		for (unsigned int n = 0; n < 4; n++)
			w->vgpr[i->dst + n][l] = out[n];
	}
}

#define RD(name, fn)                                                                               \
	{                                                                                          \
#name, fn, GCN_VMEM_RD, .only = 0                                                  \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_VMEM_RD, .only = 0                                                \
	}

const struct gcn_entry gcn_mimg[128] = {
	[0] = RD(image_load, image_load),
	[1] = MISSING(image_load_mip),
	[2] = MISSING(image_load_pck),
	[3] = MISSING(image_load_pck_sgn),
	[4] = MISSING(image_load_mip_pck),
	[5] = MISSING(image_load_mip_pck_sgn),
	[8] = { "image_store", image_store, GCN_VMEM_WR, .only = 0 },
	[9] = MISSING(image_store_mip),
	[10] = MISSING(image_store_pck),
	[11] = MISSING(image_store_mip_pck),
	[14] = RD(image_get_resinfo, image_get_resinfo),
	[16] = MISSING(image_atomic_swap),
	[17] = MISSING(image_atomic_cmpswap),
	[18] = MISSING(image_atomic_add),
	[19] = MISSING(image_atomic_sub),
	[20] = MISSING(image_atomic_smin),
	[21] = MISSING(image_atomic_umin),
	[22] = MISSING(image_atomic_smax),
	[23] = MISSING(image_atomic_umax),
	[24] = MISSING(image_atomic_and),
	[25] = MISSING(image_atomic_or),
	[26] = MISSING(image_atomic_xor),
	[27] = MISSING(image_atomic_inc),
	[28] = MISSING(image_atomic_dec),
	[32] = RD(image_sample, image_sample),
	[33] = MISSING(image_sample_cl),
	[34] = RD(image_sample_d, image_sample_d),
	[35] = MISSING(image_sample_d_cl),
	[36] = RD(image_sample_l, image_sample),
	[37] = RD(image_sample_b, image_sample_b),
	[38] = MISSING(image_sample_b_cl),
	[39] = RD(image_sample_lz, image_sample),
	[40] = MISSING(image_sample_c),
	[44] = MISSING(image_sample_c_l),
	[47] = MISSING(image_sample_c_lz),
	[64] = RD(image_gather4, image_gather4),
	[68] = RD(image_gather4_l, image_gather4),
	[71] = RD(image_gather4_lz, image_gather4),
	[96] = MISSING(image_get_lod),
};
