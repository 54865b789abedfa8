/* SPDX-License-Identifier: MIT */
/* arch.c - the architectures: Vega 10, and MI200 as an MI210 has it */
#include "arch.h"

const struct gcn_arch gcn_archs[GCN_ARCH_NR] = {
	[GCN_GFX900] = { .name = "gfx900", .vgpr_granule = 4, .nr_simds = 64 * 4 },
	[GCN_GFX90A] = { .name = "gfx90a",
			 .agprs = true,
			 .even = true,
			 .d16_clears = true,
			 .packed_ids = true,
			 .vgpr_granule = 8,
			 .nr_simds = 104 * 4 },
};
