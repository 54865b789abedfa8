/* SPDX-License-Identifier: MIT */
/* kmt_memory.h - the memory that the device may access */
#ifndef VGPU_KMT_MEMORY_H
#define VGPU_KMT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <hsakmt.h>

#include "gcn/gcn.h"

/* The allocation or registered range that holds `addr`; false: none. Any thread. */
bool kmt_memory_range(uint64_t addr, struct gcn_range *out);

/* Counts `size` bytes as used on a node; false: it has not so much. Any thread. */
bool kmt_memory_reserve(uint32_t node, uint64_t size);
void kmt_memory_release(uint32_t node, uint64_t size);

/*
 * A descriptor of the allocation that holds `addr`, for other processes, and where in it that is; the caller closes it.
 * INVALID_PARAMETER: no allocation has these bytes. Any thread.
 */
HSAKMT_STATUS kmt_memory_export(const void *addr, uint64_t size, int *fd, uint64_t *offset);

/* Whether a descriptor is one of those, of any process; its size and its node here. Any thread. */
bool kmt_memory_exported(int fd, uint64_t *size, uint32_t *node);

/*
 * Memory that was mapped at reserved addresses: GPUs may access it from now on. Each call is undone by one of
 * kmt_memory_unmap() with the same start, of which the last returns true: no GPU accesses the memory then. Any thread.
 */
bool kmt_memory_map(void *addr, uint64_t size, uint32_t node);
bool kmt_memory_unmap(void *addr);

/* Changes whenever memory is freed or unmapped: ranges that were looked up before are invalid then. Atomic. */
extern unsigned int kmt_memory_generation;

#endif
