/* SPDX-License-Identifier: MIT */
/* arch.h - the architectures: what differs between them, as data
 *
 * Instructions that only some of them have are marked in the tables of their encodings (struct
 * gcn_entry, `only`) or lie in tables of their own (valu_gfx90a.inc,
 * valu_gfx942.inc). Constant data; any thread.
 */
#ifndef VGPU_GCN_ARCH_H
#define VGPU_GCN_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* in the order of the choices of VGPU_ARCH (knobs.c) */
enum gcn_arch_id { GCN_GFX900, GCN_GFX90A, GCN_GFX942, GCN_ARCH_NR };

/* struct gcn_entry, `only` */
enum {
	GCN_ONLY_GFX900 = 1 << GCN_GFX900,
	GCN_ONLY_GFX90A = 1 << GCN_GFX90A,
	GCN_ONLY_GFX942 = 1 << GCN_GFX942,
	GCN_SINCE_GFX90A = GCN_ONLY_GFX90A | GCN_ONLY_GFX942,
};

struct gcn_arch {
	const char *name;
	/* an accumulation register for each vector register, in one file with them; the kernel's
	 * descriptor divides it */
	bool agprs;
	bool even; /* registers of 64 bits and more begin at an even one, or are illegal */
	/* a load of half a register clears the other half, as with ECC of the registers */
	bool d16_clears;
	bool packed_ids; /* a work-item's three ids lie in one register, 10 bits each */
	bool images;
	bool preloads; /* kernel arguments into user registers, as the descriptor says */
	/* FLAT_SCRATCH has the wave's own memory at its start, and the kernel gets no offset of it;
	 * SCRATCH instructions add a vector and a scalar register */
	bool own_scratch;
	uint8_t vgpr_granule; /* of the descriptor's count */
	uint8_t nr_xccs;      /* dies, to which workgroups are dealt in turn */
	uint16_t nr_simds;    /* for the model of cycles */
};

extern const struct gcn_arch gcn_archs[GCN_ARCH_NR];

#endif
