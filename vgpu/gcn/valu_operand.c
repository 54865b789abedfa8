/* SPDX-License-Identifier: MIT */
/* valu_operand.c - modifiers of the operands and of the result of a vector instruction */
#include "valu_operand.h"

#include <math.h>

#include "valu_math.h"

enum { DENORM_32 = 0x30, DENORM_16_64 = 0xc0 };

/* DPP control words */
enum {
	DPP_ROW_SHL = 0x100,
	DPP_ROW_SHR = 0x110,
	DPP_ROW_ROR = 0x120,
	DPP_WAVE_SHL1 = 0x130,
	DPP_WAVE_ROL1 = 0x134,
	DPP_WAVE_SHR1 = 0x138,
	DPP_WAVE_ROR1 = 0x13c,
	DPP_ROW_MIRROR = 0x140,
	DPP_HALF_MIRROR = 0x141,
	DPP_BCAST15 = 0x142,
	DPP_BCAST31 = 0x143,
	DPP_ROW_NEWBCAST = 0x150, /* gfx90a */
};

/* The lane that lane l reads; -1: none. */
static int dpp_lane(const struct gcn_inst *i, int l)
{
	uint32_t ctrl = i->ext_word >> 8 & 0x1ff;
	int row = l & ~15, at = l & 15, by = (int)(ctrl & 15);

	if (ctrl < 0x100)
		return (l & ~3) + (int)(ctrl >> (l & 3) * 2 & 3);
	if (ctrl > DPP_ROW_SHL && ctrl < DPP_ROW_SHR)
		return at + by < 16 ? l + by : -1;
	if (ctrl > DPP_ROW_SHR && ctrl < DPP_ROW_ROR)
		return at >= by ? l - by : -1;
	if (ctrl > DPP_ROW_ROR && ctrl < DPP_WAVE_SHL1)
		return row + ((at - by) & 15);
	if ((ctrl & ~15u) == DPP_ROW_NEWBCAST && i->arch == GCN_GFX90A)
		return row + by;
	switch (ctrl) {
	case DPP_WAVE_SHL1:
		return l < 63 ? l + 1 : -1;
	case DPP_WAVE_ROL1:
		return (l + 1) & 63;
	case DPP_WAVE_SHR1:
		return l - 1;
	case DPP_WAVE_ROR1:
		return (l - 1) & 63;
	case DPP_ROW_MIRROR:
		return row + 15 - at;
	case DPP_HALF_MIRROR:
		return (l & ~7) + 7 - (l & 7);
	case DPP_BCAST15:
		return row ? row - 1 : -1;
	case DPP_BCAST31:
		return l >= 32 ? 31 : -1;
	default:
		return -1;
	}
}

/* Is the lane's row or bank switched off? */
static bool dpp_off(uint32_t x, int l)
{
	return !(x >> (28 + l / 16) & 1) || !(x >> (24 + l % 16 / 4) & 1);
}

/* A source lane that doesn't exist, or is off, gives 0. */
static void dpp_source(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int bits,
		       union valu_scratch *row)
{
	union valu_scratch from = *row;
	uint64_t exec = gcn_exec(w);

	for (int l = 0; l < GCN_LANES; l++) {
		int lane = dpp_lane(i, l);
		bool there = lane >= 0 && exec >> lane & 1;

		if (bits == 64)
			row->u64[l] = there ? from.u64[lane] : 0;
		else
			row->u32[l] = there ? from.u32[lane] : 0;
	}
}

/* Lanes that are written. With bound_ctrl lanes without a source get 0. */
static uint64_t dpp_written(const struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t exec = gcn_exec(w);
	bool bound = i->ext_word >> 19 & 1;
	uint64_t m = 0;

	for (int l = 0; l < GCN_LANES; l++) {
		int lane = dpp_lane(i, l);

		if (!dpp_off(i->ext_word, l) && (bound || (lane >= 0 && exec >> lane & 1)))
			m |= 1ull << l;
	}
	return m;
}

void valu_dpp_keep(const struct gcn_wave *w, const struct gcn_inst *i, uint32_t *row,
		   const uint32_t *old)
{
	uint64_t written = dpp_written(w, i);

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		if (!(written >> l & 1))
			row[l] = old[l];
	}
}

uint64_t valu_dpp_mask(const struct gcn_wave *w, const struct gcn_inst *i, uint64_t mask)
{
	return mask & dpp_written(w, i);
}

static uint32_t sdwa_select(uint32_t v, unsigned int sel, bool sext)
{
	switch (sel) {
	case 0:
	case 1:
	case 2:
	case 3:
		v = v >> sel * 8 & 255;
		return sext ? (uint32_t)(int32_t)(int8_t)v : v;
	case 4:
	case 5:
		v = v >> (sel - 4) * 16 & 0xffff;
		return sext ? (uint32_t)(int32_t)(int16_t)v : v;
	default:
		return v;
	}
}

void valu_sdwa_result(const struct gcn_inst *i, uint32_t *row, const uint32_t *old)
{
	unsigned int sel = i->ext_word >> 8 & 7, unused = i->ext_word >> 11 & 3;
	unsigned int at = sel < 4 ? sel * 8 : sel < 6 ? (sel - 4) * 16 : 0;
	uint32_t part = sel < 4 ? 0xffu : sel < 6 ? 0xffffu : UINT32_MAX;

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint32_t v = (row[l] & part) << at;
		uint32_t rest = ~(part << at);

		if (unused == 2) /* preserve */
			v |= old[l] & rest;
		else if (unused == 1 && v >> at & ((part >> 1) + 1)) /* sign-extend */
			v |= rest & ~((1u << at) - 1);
		row[l] = v;
	}
}

static uint64_t scalar64(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int code,
			 unsigned int type)
{
	if (type == VALU_f64) {
		if (code >= 240 && code <= 248)
			return gcn_const64[code - 240];
		/* a literal is the high half of a double */
		if (code == GCN_SRC_LITERAL)
			return (uint64_t)i->literal << 32;
	}
	/* a constant is the lower of a pair */
	if (type == VALU_p32 && code >= 128)
		return gcn_src32(w, i, code);
	return gcn_src64(w, i, code);
}

static uint32_t scalar32(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int code,
			 unsigned int type)
{
	if ((type == VALU_f16 || type == VALU_h16) && code >= 240 && code <= 248)
		return gcn_const16[code - 240];
	return gcn_src32(w, i, code);
}

static unsigned int indexed(const struct gcn_wave *w, unsigned int reg, unsigned int n)
{
	if (w->idx_on && w->idx_mode >> n & 1)
		return (reg + (w->sgpr[GCN_REG_M0] & 255)) & 255;
	return reg;
}

static void fetch(struct gcn_wave *w, const struct gcn_inst *i, unsigned int n, unsigned int type,
		  unsigned int bits, union valu_scratch *out)
{
	unsigned int code = i->src[n];

	if (bits == 64) {
		if (code >= GCN_SRC_VGPR) {
			unsigned int reg = indexed(w, code - GCN_SRC_VGPR, n);
			const uint32_t *lo = w->vgpr[reg], *hi = w->vgpr[reg + 1];

			for (unsigned int l = 0; l < GCN_LANES; l++)
				out->u64[l] = lo[l] | (uint64_t)hi[l] << 32;
		} else {
			uint64_t v = scalar64(w, i, code, type);

			for (unsigned int l = 0; l < GCN_LANES; l++)
				out->u64[l] = v;
		}
		return;
	}
	if (code >= GCN_SRC_VGPR) {
		memcpy(out->u32, w->vgpr[indexed(w, code - GCN_SRC_VGPR, n)], sizeof(out->u32));
	} else {
		uint32_t v = scalar32(w, i, code, type);

		for (unsigned int l = 0; l < GCN_LANES; l++)
			out->u32[l] = v;
	}
}

static void negate(union valu_scratch *r, unsigned int bits, bool abs, bool neg)
{
	uint64_t sign = 1ull << (bits - 1);

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		if (bits == 64)
			r->u64[l] = (abs ? r->u64[l] & ~sign : r->u64[l]) ^ (neg ? sign : 0);
		else
			r->u32[l] = (abs ? r->u32[l] & ~(uint32_t)sign : r->u32[l]) ^
				    (neg ? (uint32_t)sign : 0);
	}
}

/* Must the denormals of this type be flushed? */
static bool flushes(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int type, bool in)
{
	/* two bits for each size: the low one keeps a source's denormals, the high one a result's */
	unsigned int bit = in ? 0x10 : 0x20;

	if (type == VALU_f32)
		return i->valu->flags & VALU_NO_DENORM || !(w->mode & bit);
	if (type == VALU_f64 || type == VALU_f16)
		return !(w->mode & bit << 2);
	return false;
}

static void flush(void *row, unsigned int bits)
{
	union valu_scratch *r = row;

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		if (bits == 64)
			r->u64[l] = flush_f64(r->u64[l]);
		else
			r->u32[l] = bits == 16 ? flush_f16(r->u32[l]) : flush_f32(r->u32[l]);
	}
}

void valu_source(struct gcn_wave *w, const struct gcn_inst *i, unsigned int n, unsigned int type,
		 unsigned int bits, union valu_scratch *out)
{
	bool sdwa = i->ext == GCN_EXT_SDWA && n < 2;
	bool packed = i->enc == GCN_VOP3P;

	fetch(w, i, n, type, bits, out);
	if (i->ext == GCN_EXT_DPP && n == 0)
		dpp_source(w, i, bits, out);
	if (sdwa) {
		unsigned int at = n ? 24 : 16;
		bool sext = i->ext_word >> (at + 3) & 1;

		for (unsigned int l = 0; l < GCN_LANES; l++)
			out->u32[l] = sdwa_select(out->u32[l], i->ext_word >> at & 7, sext);
	}
	if (bits == 16 && !packed && i->op_sel >> n & 1) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			out->u32[l] >>= 16;
	}
	if ((i->neg | i->abs) >> n & 1 && !packed)
		negate(out, bits, i->abs >> n & 1, i->neg >> n & 1);
	if (!packed && flushes(w, i, type, true))
		flush(out, bits);
}

static double scaled(double v, unsigned int omod, bool clamp)
{
	static const double scale[4] = { 1, 2, 4, 0.5 };

	v *= scale[omod & 3];
	if (clamp)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	return v;
}

void valu_result(struct gcn_wave *w, const struct gcn_inst *i, void *row, unsigned int bits)
{
	union valu_scratch *r = row;

	if (i->omod || i->clamp) {
		for (unsigned int l = 0; l < GCN_LANES; l++) {
			if (bits == 64)
				r->u64[l] =
					f64_bits(scaled(f64_from(r->u64[l]), i->omod, i->clamp));
			else if (bits == 32)
				r->u32[l] = f32_bits(
					(float)scaled(f32_from(r->u32[l]), i->omod, i->clamp));
			else
				r->u32[l] = f16_bits_f64(
					scaled(f16_from(r->u32[l]), i->omod, i->clamp));
		}
	}
	if (flushes(w, i, i->valu->dst, false))
		flush(r, bits);
}
