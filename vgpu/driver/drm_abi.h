/* SPDX-License-Identifier: MIT */
/* drm_abi.h - what programs ask of /dev/dri/renderD*: the requests of amdgpu that libdrm makes for
 * a runtime
 *
 * The layouts are those of drm/drm.h and drm/amdgpu_drm.h, which Debian has in libdrm-dev.
 */
#ifndef VGPU_DRIVER_DRM_ABI_H
#define VGPU_DRIVER_DRM_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define DRM_TYPE 'd'
#define DRM_MAJOR 226

enum drm_request {
	DRM_VERSION = 0x00,
	DRM_GEM_CLOSE = 0x09,
	DRM_GET_CAP = 0x0c,
	DRM_PRIME_HANDLE_TO_FD = 0x2d,
	DRM_PRIME_FD_TO_HANDLE = 0x2e,
	DRM_AMDGPU_GEM_MMAP = 0x41,
	DRM_AMDGPU_INFO = 0x45,
	DRM_AMDGPU_GEM_METADATA = 0x46,
	DRM_AMDGPU_GEM_VA = 0x48,
	DRM_AMDGPU_GEM_OP = 0x50,
};

struct drm_version {
	int32_t major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};
static_assert(sizeof(struct drm_version) == 64, "as the kernel has it");

struct drm_gem_close {
	uint32_t handle, pad;
};

struct drm_prime {
	uint32_t handle, flags;
	int32_t fd;
};

union drm_gem_mmap {
	struct {
		uint32_t handle, pad;
	} in;
	uint64_t offset;
};

enum drm_info_query {
	DRM_INFO_ACCEL_WORKING = 0x00,
	DRM_INFO_HW_IP_INFO = 0x02,
	DRM_INFO_HW_IP_COUNT = 0x03,
	DRM_INFO_VRAM_GTT = 0x14,
	DRM_INFO_READ_MMR_REG = 0x15,
	DRM_INFO_DEV_INFO = 0x16,
	DRM_INFO_MEMORY = 0x19,
	DRM_INFO_VBIOS = 0x1b,
};

struct drm_info {
	uint64_t return_ptr;
	uint32_t return_size, query;
	union {
		struct {
			uint32_t dword_offset, count, instance, flags;
		} read_mmr_reg;
		uint32_t words[4];
	};
};
static_assert(sizeof(struct drm_info) == 32, "as the kernel has it");

/* The begin of DEV_INFO; the rest is 0. */
struct drm_dev_info {
	uint32_t device_id, chip_rev, external_rev, pci_rev, family;
	uint32_t num_shader_engines, num_shader_arrays_per_engine;
	uint32_t counter_khz; /* a divisor */
	uint64_t max_engine_khz, max_memory_khz;
	uint32_t cu_active_number, cu_ao_mask;
	uint32_t cu_bitmap[4][4];
	uint32_t enabled_rb_pipes_mask, num_rb_pipes, num_hw_gfx_contexts, pcie_gen;
	uint64_t ids_flags;
	uint64_t virtual_address_offset, virtual_address_max;
	uint32_t virtual_address_alignment, pte_fragment_size, gart_page_size, ce_ram_size;
	uint32_t vram_type, vram_bit_width;
};

struct drm_memory_heap {
	uint64_t total, usable, used, max_allocation;
};

struct drm_memory_info {
	struct drm_memory_heap vram, cpu_vram, gtt;
};

enum drm_va_op { DRM_VA_MAP = 1, DRM_VA_UNMAP = 2, DRM_VA_CLEAR = 3, DRM_VA_REPLACE = 4 };

struct drm_gem_va {
	uint32_t handle, pad, operation, flags;
	uint64_t va, offset, size;
	uint64_t later[3]; /* synchronisation of later drivers */
};
#define DRM_GEM_VA_SIZE 40
static_assert(sizeof(struct drm_gem_va) == 64 &&
		      offsetof(struct drm_gem_va, later) == DRM_GEM_VA_SIZE,
	      "as the kernel has it");

enum drm_metadata_op { DRM_METADATA_SET = 1, DRM_METADATA_GET = 2 };

struct drm_metadata {
	uint64_t flags, tiling;
	uint32_t size, words[64];
};

struct drm_gem_metadata {
	uint32_t handle, op;
	struct drm_metadata data;
};
static_assert(sizeof(struct drm_gem_metadata) == 288, "as the kernel has it");

enum drm_gem_op { DRM_GEM_OP_GET_CREATE_INFO = 0, DRM_GEM_OP_SET_PLACEMENT = 1 };

struct drm_gem_op_args {
	uint32_t handle, op;
	uint64_t value;
};

struct drm_create_info {
	uint64_t size, alignment, domains, flags;
};

#endif
