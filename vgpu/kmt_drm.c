/* SPDX-License-Identifier: MIT */
/* kmt_drm.c - the few functions of libdrm that runtimes from 6.0 on call; those of memory are in kmt_vmem.c
 *
 * They are exported under libdrm's names, and take precedence over it where the thunk comes first among a
 * runtime's needed libraries, as it does in Debian's.
 *
 * Threads:  any; nothing changes.
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "clock.h"
#include "kmt.h"
#include "kmt_vmem.h"
#include "knobs.h"

/* struct amdgpu_gpu_info of libdrm: its size, and the members that runtimes read */
struct gpu_info {
	uint32_t asic_id, chip_rev, chip_external_rev, family_id;
	uint64_t flags, engine_khz, memory_khz;
	uint32_t render[8];
	uint32_t counter_khz;
	uint32_t rest[85];
};
static_assert(offsetof(struct gpu_info, counter_khz) == 72 && sizeof(struct gpu_info) == 416,
	      "as libdrm has it");

int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **handle);
int amdgpu_device_deinitialize(void *handle);
int amdgpu_device_get_fd(void *handle);
int amdgpu_query_gpu_info(void *handle, struct gpu_info *info);

/* The begin of libdrm's struct amdgpu_device: its own amdgpu_device_get_fd(), where a runtime gets that, reads `fd`. */
struct device {
	int refs;
	void *next;
	int fd;
};
static_assert(offsetof(struct device, fd) == 16, "as libdrm has it");

static struct device devices[KNOBS_DEVICES_MAX];

KMT_API HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **handle)
{
	if (!handle || !kmt_topology_is_gpu(node))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	devices[node - 1].fd = kmt_vmem_file();
	*handle = &devices[node - 1];
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **handle)
{
	(void)fd;
	*major = 3;
	*minor = 54;
	devices[0].fd = kmt_vmem_file();
	*handle = devices;
	return 0;
}

KMT_API int amdgpu_device_deinitialize(void *handle)
{
	(void)handle;
	return 0;
}

KMT_API int amdgpu_device_get_fd(void *handle)
{
	return ((struct device *)handle)->fd;
}

KMT_API int amdgpu_query_gpu_info(void *handle, struct gpu_info *info)
{
	const struct kmt_gpu_kind *k;

	if (!handle || !info)
		return -EINVAL;
	k = kmt_topology_kind((HSAuint32)((struct device *)handle - devices));
	memset(info, 0, sizeof(*info));
	info->asic_id = k->device_id;
	info->family_id = 141;
	info->engine_khz = k->gpu_mhz * 1000ull;
	info->memory_khz = k->memory_mhz * 1000ull;
	info->counter_khz = (uint32_t)(knobs.clock_hz / 1000); /* a divisor */
	return 0;
}
