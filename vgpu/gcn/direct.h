/* SPDX-License-Identifier: MIT */
/* direct.h - handlers of vector instructions that work on rows in registers of the host, without
 * the instructions' functions over rows */
#ifndef VGPU_GCN_DIRECT_H
#define VGPU_GCN_DIRECT_H

#include "rows.h"

struct valu_direct {
	const char *name; /* of the instruction */
	uint8_t nr;	  /* sources that are not masks */
	uint8_t leaves;	  /* what its steps do: enum gcn_leaves */
	/* by the bits of sources that are not vector registers; NULL: none */
	struct gcn_both run[8];
	struct gcn_both of_signs[8]; /* the same, for sources with signs */
	struct gcn_both sdwa;	     /* of two vector registers' parts, to a whole register */
};

typedef const struct valu_direct *valu_direct_fn(unsigned int n);

/* The n-th of those that are built for a kind of processor, on values of 32 and of 64 bits, and of
 * roots, sines and the like; NULL: there are no more. */
valu_direct_fn PASTE(valu_direct32, VALU_SUFFIX), PASTE(valu_direct64, VALU_SUFFIX),
	PASTE(valu_direct_real, VALU_SUFFIX);

#endif
