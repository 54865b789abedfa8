/* SPDX-License-Identifier: MIT */
/* kmt_memory.h - the memory that the device may access */
#ifndef VGPU_KMT_MEMORY_H
#define VGPU_KMT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The allocation or registered range that holds `addr`, as [lo, hi); false: none. Any thread. */
bool kmt_memory_range(uint64_t addr, uint64_t *lo, uint64_t *hi);

/* Changes whenever memory is freed or unmapped: ranges that were looked up before are invalid then. Atomic. */
extern unsigned int kmt_memory_generation;

#endif
