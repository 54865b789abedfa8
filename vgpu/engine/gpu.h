/* SPDX-License-Identifier: MIT */
/* gpu.h - the GPUs that there are, by the settings (knobs.h) */
#ifndef VGPU_ENGINE_GPU_H
#define VGPU_ENGINE_GPU_H

#include <stdbool.h>
#include <stdint.h>

/* What is the same for all of them. */
#define GPU_VENDOR 0x1002u
#define GPU_SIMDS_PER_CU 4u
#define GPU_GWS 64u /* barriers of all workgroups */
#define GPU_LDS_KB 64u
/* Where a flat address is in LDS, or in scratch memory. Device code rebuilds them from 16 bits; the
 * high halves must not be 0. */
#define GPU_LDS_BASE (1ull << 48)
#define GPU_SCRATCH_BASE (2ull << 48)
#define GPU_ADDR_CONFIG 0x2a114042u

/* What the GPUs of an architecture have. */
struct gpu_kind {
	const char *name;
	uint16_t stepping, device_id; /* stepping: with the minor version, in hundreds */
	uint32_t nr_cus, nr_xccs, shader_engines; /* of all dies */
	uint32_t cus_per_array;			  /* at most */
	uint32_t waves_per_simd;
	uint32_t l1_kb, l2_kb, l3_kb; /* l2: of a die; l3: 0: none */
	uint32_t cache_line;
	uint32_t memory_mhz, memory_bits, gpu_mhz;
	uint32_t ucode, sdma_ucode;
	uint32_t sdma_count; /* mask of the field in a copy engine's packets that counts bytes */
	bool sram_ecc;
	uint32_t xgmi_sdma_engines;
	uint64_t hive; /* of GPUs with links of their own; 0: none */
};

/* `gpu`: from 0 on. */
const struct gpu_kind *gpu_kind(unsigned int gpu);

/* The kernel's number of it. */
uint32_t gpu_number(unsigned int gpu);

#endif
