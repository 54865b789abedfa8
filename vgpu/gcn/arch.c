/* SPDX-License-Identifier: MIT */
/* arch.c - the architectures: Vega 10, MI200 as an MI210 has it, and MI300 as an MI300X has it */
#include "arch.h"

const struct gcn_arch gcn_archs[GCN_ARCH_NR] = {
	[GCN_GFX900] = { .name = "gfx900",
			 .images = true,
			 .vgpr_granule = 4,
			 .nr_xccs = 1,
			 .nr_simds = 64 * 4 },
	[GCN_GFX90A] = { .name = "gfx90a",
			 .agprs = true,
			 .even = true,
			 .d16_clears = true,
			 .packed_ids = true,
			 .preloads = true,
			 .images = true,
			 .vgpr_granule = 8,
			 .nr_xccs = 1,
			 .nr_simds = 104 * 4 },
	[GCN_GFX942] = { .name = "gfx942",
			 .agprs = true,
			 .even = true,
			 .d16_clears = true,
			 .packed_ids = true,
			 .preloads = true,
			 .own_scratch = true,
			 .vgpr_granule = 8,
			 .nr_xccs = 8,
			 .nr_simds = 304 * 4 },
};
