/* SPDX-License-Identifier: MIT */
/* kmt_vmem.h - virtual memory management: memory without an address, and addresses without memory */
#ifndef VGPU_KMT_VMEM_H
#define VGPU_KMT_VMEM_H

#include <stdbool.h>

#include "kmt.h"

/*
 * Memory of `size` bytes, a multiple of the page, that has no address until amdgpu_bo_va_op() maps it. *handle is no address,
 * but goes where one would: to kmt_vmem_free() and hsaKmtExportDMABufHandle(). Any thread.
 */
HSAKMT_STATUS kmt_vmem_create(HSAuint32 node, HSAuint64 size, void **handle);

/* Releases memory of kmt_vmem_create(), which lives on until it is mapped nowhere; false: `handle` is none. Any thread. */
bool kmt_vmem_free(void *handle);

/*
 * The file that the memory of this process is in; the runtime maps parts of it for the host. -1: the kernel refuses.
 * It stays open for the life of the process. Any thread.
 */
int kmt_vmem_file(void);

/* Around fork(), before and after kmt_memory_lock() and _unlock(). */
void kmt_vmem_lock(void);
void kmt_vmem_unlock(void);

#endif
