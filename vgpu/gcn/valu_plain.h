/* SPDX-License-Identifier: MIT */
/* valu_plain.h - vector instructions on 32-bit registers and constants, without modifiers; inlined
 * for those that kernels use most */
#ifndef VGPU_GCN_VALU_PLAIN_H
#define VGPU_GCN_VALU_PLAIN_H

#include "rows.h"
#include "valu.h"

gcn_fn PASTE(valu_run_any, VALU_SUFFIX);

/* The masks that it reads: VCC in the short form, a pair of scalar registers in the long one. */
static inline uint64_t valu_mask_in(const struct gcn_wave *w, const struct gcn_inst *i,
				    unsigned int flags)
{
	if (flags & VALU_VCC_IN)
		return gcn_get64(w, GCN_REG_VCC);
	if (!(flags & VALU_CARRY_IN))
		return 0;
	if (i->src[2] < 128)
		return gcn_get64(w, i->src[2]);
	if (i->src[2] < GCN_SRC_VGPR)
		return gcn_src64(w, i, i->src[2]);
	return gcn_get64(w, GCN_REG_VCC);
}

static inline void valu_mask_out(struct gcn_wave *w, const struct gcn_inst *i, unsigned int flags,
				 const struct valu_args *a)
{
	uint64_t exec = gcn_exec(w);

	if (!(flags & (VALU_CARRY_OUT | VALU_COMPARE)))
		return;
	gcn_set64(w, i->sdst & 127, a->mask & exec);
	if (flags & VALU_CMPX)
		gcn_set64(w, GCN_REG_EXEC, a->mask & exec);
}

static inline const void *valu_plain_source(struct gcn_wave *w, const struct gcn_inst *i,
					    unsigned int n, uint32_t *scratch)
{
	uint32_t v;

	if (i->src[n] >= GCN_SRC_VGPR)
		return i->src[n] == GCN_SRC_NONE ? scratch : w->vgpr[i->src[n] - GCN_SRC_VGPR];
	v = gcn_src32(w, i, i->src[n]);
	row_fill(scratch, v);
	return scratch;
}

static inline uint32_t *valu_row(struct gcn_wave *w, const struct gcn_inst *i, unsigned int n)
{
	return w->vgpr[i->src[n] - GCN_SRC_VGPR];
}

/* Runs an instruction on 32-bit registers and constants; `of_exec`, or NULL, is `fn` for the active
 * lanes alone. With all but `w` and `i` constant, the function is inlined and the arguments are
 * registers of the host. */
static inline __attribute__((always_inline)) void
valu_plain(struct gcn_wave *w, const struct gcn_inst *i, valu_fn *fn, valu_fn *of_exec,
	   unsigned int flags, unsigned int reads, unsigned int dst, enum valu_form form)
{
	gcn_row scratch[2], result;
	struct valu_args a = { .mode = w->mode };
	uint64_t exec = gcn_exec(w);
	uint32_t *d = w->vgpr[i->dst];

	if (!w->fp_plain || w->idx_on) {
		PASTE(valu_run_any, VALU_SUFFIX)(w, i);
		return;
	}
	a.mask = valu_mask_in(w, i, flags);
	if (form == VALU_ANY) {
		a.s[0] = valu_plain_source(w, i, 0, scratch[0]);
	} else if (form == VALU_ROWS) {
		a.s[0] = valu_row(w, i, 0);
	} else {
		row_fill(scratch[0], i->src[0] < 128 ? w->sgpr[i->src[0]] : i->literal);
		a.s[0] = scratch[0];
	}
	if (reads & GCN_READS << 1)
		a.s[1] = form ? valu_row(w, i, 1) : valu_plain_source(w, i, 1, scratch[1]);
	if (reads & GCN_READS << 2 && form) {
		a.s[2] = valu_row(w, i, 2);
	} else if (reads & GCN_READS << 2) {
		/* there are two scalar operands at most, and src1's buffer is free unless it is one
		 * of them */
		uint32_t *free_row = i->src[1] < GCN_SRC_VGPR ? scratch[0] : scratch[1];

		if (i->src[2] < GCN_SRC_VGPR && i->src[1] < GCN_SRC_VGPR &&
		    i->src[0] < GCN_SRC_VGPR) {
			PASTE(valu_run_any, VALU_SUFFIX)(w, i);
			return;
		}
		a.s[2] = valu_plain_source(w, i, 2, free_row);
	}
	if (!dst || exec == UINT64_MAX) {
		a.d = d;
		fn(&a);
	} else if (of_exec) {
		a.d = d;
		a.exec = exec;
		of_exec(&a);
	} else {
		a.d = result;
		fn(&a);
		row_blend(d, result, exec);
	}
	valu_mask_out(w, i, flags, &a);
}

#endif
