/* SPDX-License-Identifier: MIT */
/* gpu.c - the GPUs that there are
 *
 * Threads:  any; everything is constant.
 */
#include "gpu.h"

#include "../gcn/arch.h"
#include "knobs.h"

static const struct gpu_kind kinds[GCN_ARCH_NR] = {
	[GCN_GFX900] = { .name = "vega10",
			 .stepping = 0,
			 .device_id = 0x6860,
			 .nr_cus = 64,
			 .nr_xccs = 1,
			 .shader_engines = 4,
			 .cus_per_array = 16,
			 .waves_per_simd = 10,
			 .l1_kb = 16,
			 .cache_line = 64,
			 .l2_kb = 4096,
			 .memory_mhz = 945,
			 .memory_bits = 2048,
			 .gpu_mhz = 1500,
			 .ucode = 450,
			 .sdma_ucode = 430,
			 .sdma_count = 0x3fffff },
	/* as an MI210 has it */
	[GCN_GFX90A] = { .name = "aldebaran",
			 .stepping = 10,
			 .device_id = 0x740f,
			 .nr_cus = 104,
			 .nr_xccs = 1,
			 .shader_engines = 8,
			 .cus_per_array = 13,
			 .waves_per_simd = 8,
			 .l1_kb = 16,
			 .cache_line = 64,
			 .l2_kb = 8192,
			 .memory_mhz = 1600,
			 .memory_bits = 4096,
			 .gpu_mhz = 1700,
			 .ucode = 78,
			 .sdma_ucode = 8,
			 .sdma_count = 0x3fffffff,
			 .sram_ecc = true,
			 .xgmi_sdma_engines = 3,
			 .hive = 0x7667707568697665 },
	/* as an MI300X has it, whose eight dies are one device */
	[GCN_GFX942] = { .name = "ip discovery",
			 .stepping = 402,
			 .device_id = 0x74a1,
			 .nr_cus = 304,
			 .nr_xccs = 8,
			 .shader_engines = 32,
			 .cus_per_array = 10,
			 .waves_per_simd = 8,
			 .l1_kb = 32,
			 .cache_line = 128,
			 .l2_kb = 4096,
			 .l3_kb = 262144,
			 .memory_mhz = 1300,
			 .memory_bits = 8192,
			 .gpu_mhz = 2100,
			 .ucode = 150,
			 .sdma_ucode = 20,
			 .sdma_count = 0x3fffffff,
			 .sram_ecc = true,
			 .xgmi_sdma_engines = 14,
			 .hive = 0x7667707568697665 },
};

const struct gpu_kind *gpu_kind(unsigned int gpu)
{
	return &kinds[knobs.arch[gpu]];
}

uint32_t gpu_number(unsigned int gpu)
{
	return 0x7601u + gpu;
}
