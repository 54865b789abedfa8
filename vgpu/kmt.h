/* SPDX-License-Identifier: MIT */
/* kmt.h - shared by the files of exported functions */
#ifndef VGPU_KMT_H
#define VGPU_KMT_H

#include <stdbool.h>

#include <hsakmt.h>

/* The exported functions are the only visible ones (exports.map has the names). */
#define KMT_API __attribute__((visibility("default")))

/* Implemented entry points that the headers of 5.2 lack; kmt_absent.c has those that are not supported. */
HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 size, HSAuint64 align,
				     HsaMemFlags flags, void **addr);
HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes);
HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
				   HSA_QUEUE_PRIORITY priority, HSAuint32 engine, void *addr,
				   HSAuint64 bytes, HsaEvent *event, HsaQueueResource *res);
HSAKMT_STATUS hsaKmtCreateQueueV2(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
				  HSA_QUEUE_PRIORITY priority, HSAuint32 engine, void *addr,
				  HSAuint64 bytes, HSAuint64 metadata_bytes, HsaEvent *event,
				  HsaQueueResource *res);
HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **handle);
HSAKMT_STATUS hsaKmtGetNodeWallclockFrequency(HSAuint32 node, HSAuint64 *hz);
HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *mask);
HSAKMT_STATUS hsaKmtModelEnabled(bool *enabled);
HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID id);
HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 handle,
						     HsaGraphicsResourceInfo *info, HSAuint64 nr,
						     HSAuint32 *nodes, HSAuint32 flags);
HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 ms, uint64_t *age);
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *events[], HSAuint32 nr, bool all,
					     HSAuint32 ms, uint64_t *age);

#define KMT_GWS 64 /* barriers of all workgroups, of each GPU */

/* Nodes: 0 is the CPU, the GPUs follow. */
bool kmt_topology_is_gpu(HSAuint32 node);

/* The kernel driver's number of a GPU; 0: the node has none. */
HSAuint32 kmt_topology_gpu_id(HSAuint32 node);

/* What the nodes of an architecture (knobs.arch) have in their properties. */
struct kmt_gpu_kind {
	const char *name;
	uint16_t stepping, device_id;
	uint32_t nr_cus, shader_engines; /* CUs: a multiple of the engines */
	uint32_t waves_per_simd, vgpr_kb, l2_kb;
	uint32_t memory_mhz, memory_bits, gpu_mhz;
	uint32_t ucode, sdma_ucode;
	bool sram_ecc;
	uint32_t xgmi_sdma_engines;
	uint64_t hive; /* of GPUs with links of their own; 0: none */
};

/* `gpu`: from 0 on. */
const struct kmt_gpu_kind *kmt_topology_kind(HSAuint32 gpu);

/* Whether this is a child that was forked while the GPU was open: it has no engine, waits return at once. */
bool kmt_misc_inert(void);

/* Reports a driver with virtual memory management (kmt_vmem.c). Before the runtime opens it. */
void kmt_misc_map_memory(void);

/* Around fork(). */
void kmt_memory_lock(void);
void kmt_memory_unlock(void);

#endif
