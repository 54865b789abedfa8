/* SPDX-License-Identifier: MIT */
/* valu_run.c - vector instructions: operands in, modifiers, results out
 *
 * A plain instruction on 32-bit registers works on the registers' rows directly, a wide one on 32-
 * and 64-bit registers with signs. All others go through copies of their operands, to which SDWA,
 * DPP, op_sel, absolute value, negation and the flushing of denormals are applied, and a row for
 * the result, which is scaled, clamped and blended into the register by EXEC.
 *
 * Built for each kind of processor, like the rows of the instructions.
 */
#include <fenv.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "direct.h"
#include "rows.h"
#include "valu.h"
#include "valu_math.h"
#include "valu_plain.h"
#include "valu_operand.inc"

static void run_plain(struct gcn_wave *w, const struct gcn_inst *i)
{
	valu_plain(w, i, i->valu->fn, NULL, i->valu->flags, i->reads, i->valu->dst, VALU_ANY);
}

static void put_pair(struct gcn_wave *w, unsigned int dst, const uint64_t *v, uint64_t exec)
{
	uint32_t *lo = w->vgpr[dst], *hi = w->vgpr[dst + 1], on[GCN_LANES];

	if (exec == UINT64_MAX) {
		FOR_LANES
		{
			lo[l] = (uint32_t)v[l];
			hi[l] = (uint32_t)(v[l] >> 32);
		}
		return;
	}
	row_of_bits(on, exec);
	FOR_LANES
	{
		lo[l] = on[l] ? (uint32_t)v[l] : lo[l];
		hi[l] = on[l] ? (uint32_t)(v[l] >> 32) : hi[l];
	}
}

/* A source of 32 or 64 bits with its sign; without one, a register is used where it is. */
static const void *wide_source(struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
			       union valu_scratch *out)
{
	unsigned int type = i->valu->src[n], code = i->src[n];
	bool abs = i->abs >> n & 1, neg = i->neg >> n & 1;

	if (i->reads & GCN_READS_64 << n && code >= GCN_SRC_VGPR) {
		const uint32_t *lo = w->vgpr[code - GCN_SRC_VGPR], *hi = lo + GCN_LANES;
		uint32_t keep = abs ? 0x7fffffff : UINT32_MAX, flip = neg ? 0x80000000 : 0;

		FOR_LANES
		{
			out->u64[l] = lo[l] | (uint64_t)((hi[l] & keep) ^ flip) << 32;
		}
		return out;
	}
	if (i->reads & GCN_READS_64 << n) {
		uint64_t v = scalar64(w, i, code, type);

		v = (abs ? v & INT64_MAX : v) ^ (uint64_t)neg << 63;
		FOR_LANES
		{
			out->u64[l] = v;
		}
		return out;
	}
	if (!abs && !neg)
		return valu_plain_source(w, i, n, out->u32);
	if (code >= GCN_SRC_VGPR) {
		const uint32_t *row = w->vgpr[code - GCN_SRC_VGPR];
		uint32_t keep = abs ? 0x7fffffff : UINT32_MAX, flip = neg ? 0x80000000 : 0;

		FOR_LANES
		{
			out->u32[l] = (row[l] & keep) ^ flip;
		}
	} else {
		uint32_t v = gcn_src32(w, i, code);

		row_fill(out->u32, (abs ? v & INT32_MAX : v) ^ (uint32_t)neg << 31);
	}
	return out;
}

static void run_wide(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct gcn_valu *v = i->valu;
	union valu_scratch scratch[3], result;
	struct valu_args a = { .d = &result, .mode = w->mode };

	if (!w->fp_plain || w->idx_on) {
		PASTE(valu_run_any, VALU_SUFFIX)(w, i);
		return;
	}
	a.mask = valu_mask_in(w, i, v->flags);
	for (unsigned int n = 0; n < 3; n++) {
		if (i->reads & GCN_READS << n)
			a.s[n] = wide_source(w, i, n, &scratch[n]);
	}
	if (v->dst && !(i->reads & GCN_WRITES_64) && gcn_exec(w) == UINT64_MAX)
		a.d = w->vgpr[i->dst];
	v->fn(&a);
	if (i->reads & GCN_WRITES_64)
		put_pair(w, i->dst, result.u64, gcn_exec(w));
	else if (v->dst && a.d == &result)
		row_blend(w->vgpr[i->dst], result.u32, gcn_exec(w));
	valu_mask_out(w, i, i->valu->flags, &a);
}

/* v_lshlrev_b64 by a scalar amount, as addresses of array elements are made: without pairs of
 * halves. */
static void run_shift_pair(struct gcn_wave *w, const struct gcn_inst *i)
{
	unsigned int by = gcn_src32(w, i, i->src[0]) & 63;
	const uint32_t *lo = w->vgpr[i->src[1] - GCN_SRC_VGPR], *hi = lo + GCN_LANES;
	uint32_t *to_lo = w->vgpr[i->dst], *to_hi = w->vgpr[i->dst + 1], on[GCN_LANES];

	/* on gfx900 pairs may overlap: the source's upper half is the result's lower one, or the
	 * other way round */
	if (!by || by > 31 || w->idx_on || to_lo == hi || to_hi == lo) {
		run_wide(w, i);
		return;
	}
	row_of_bits(on, gcn_exec(w));
	FOR_LANES
	{
		uint32_t low = lo[l] << by, high = hi[l] << by | lo[l] >> (32 - by);

		to_lo[l] = on[l] ? low : to_lo[l];
		to_hi[l] = on[l] ? high : to_hi[l];
	}
}

static void set_rounding(unsigned int round)
{
	static const int how[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

	fesetround(how[round & 3]);
}

/* MODE's rounding for the type that is computed in: 1:0 for single precision, 3:2 for half and
 * double */
static unsigned int rounding(const struct gcn_wave *w, const struct gcn_valu *v)
{
	unsigned int type = valu_is_float(v->dst) ? v->dst : v->src[0];

	if (v->enc == GCN_VOP3P)
		return (v->dst == VALU_p32 ? w->mode : w->mode >> 2) & 3;
	if (!valu_is_float(type))
		return 0;
	return (type == VALU_f32 ? w->mode : w->mode >> 2) & 3;
}

static void finish(struct gcn_wave *w, const struct gcn_inst *i, struct valu_args *a,
		   union valu_scratch *result)
{
	const struct gcn_valu *v = i->valu;
	unsigned int bits = valu_width(v->dst), dst = i->dst;

	if (!v->dst)
		return;
	if (w->idx_on && w->idx_mode & 8)
		dst = (dst + (w->sgpr[GCN_REG_M0] & 255)) & 255;
	if (valu_is_float(v->dst) && v->enc != GCN_VOP3P)
		valu_result(w, i, a->d, bits);
	if (bits == 64) {
		put_pair(w, dst, result->u64,
			 i->ext == GCN_EXT_DPP ? valu_dpp_mask(w, i, gcn_exec(w)) : gcn_exec(w));
		return;
	}
	if (i->ext == GCN_EXT_SDWA) {
		valu_sdwa_result(i, result->u32, w->vgpr[dst]);
	} else if (v->flags & VALU_ACC_HI) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			result->u32[l] |= w->vgpr[dst][l] & 0xffff;
	} else if (bits == 16 && i->op_sel & 8 && i->enc != GCN_VOP3P) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			result->u32[l] = result->u32[l] << 16 | (w->vgpr[dst][l] & 0xffff);
	} else if (bits == 16 && v->flags & VALU_KEEP_HI) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			result->u32[l] = (result->u32[l] & 0xffff) | (w->vgpr[dst][l] & 0xffff0000);
	}
	if (i->ext == GCN_EXT_DPP)
		valu_dpp_keep(w, i, result->u32, w->vgpr[dst]);
	row_blend(w->vgpr[dst], result->u32, gcn_exec(w));
}

void PASTE(valu_run_any, VALU_SUFFIX)(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct gcn_valu *v = i->valu;
	union valu_scratch scratch[3], result;
	struct valu_args a = { .d = &result, .clamp = i->clamp, .mode = w->mode };
	unsigned int round = w->fp_plain ? 0 : rounding(w, v);

	a.mask = valu_mask_in(w, i, v->flags);
	for (unsigned int n = 0; n < 3; n++) {
		if (valu_width(v->src[n]))
			valu_source(w, i, n, v->src[n], valu_width(v->src[n]), &scratch[n]);
		a.s[n] = &scratch[n];
	}
	a.sel = i->op_sel;
	if (i->enc == GCN_VOP3P)
		a.sel |= (uint32_t)i->op_sel_hi << 3 | (uint32_t)i->neg << 6 |
			 (uint32_t)i->neg_hi << 9 | (uint32_t)i->neg_hi << 12;
	if (round)
		set_rounding(round);
	v->fn(&a);
	if (round)
		set_rounding(0);
	finish(w, i, &a, &result);
	if (i->ext == GCN_EXT_DPP)
		a.mask = valu_dpp_mask(w, i, a.mask);
	valu_mask_out(w, i, i->valu->flags, &a);
}

/* Not memset(), which takes longer for the few kilobytes of a wave. */
static void clear(uint32_t *row, size_t nr)
{
	for (const uint32_t *end = row + nr * ROW_LANES; row < end; row += ROW_LANES) {
		row_fill(row, 0);
		/* or the compiler makes a call of memset() of it */
		__asm__ volatile("" : : : "memory");
	}
}

const struct row_kind PASTE(rows, VALU_SUFFIX) = { run_plain,
						   run_wide,
						   run_shift_pair,
						   PASTE(valu_run_any, VALU_SUFFIX),
						   PASTE(quick_find, VALU_SUFFIX),
						   PASTE(quick_step, VALU_SUFFIX),
						   clear,
						   { PASTE(valu_direct32, VALU_SUFFIX),
						     PASTE(valu_direct64, VALU_SUFFIX),
						     PASTE(valu_direct_real, VALU_SUFFIX) },
						   PASTE(valu_fuse, VALU_SUFFIX) };
