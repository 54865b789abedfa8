/* SPDX-License-Identifier: MIT */
/* mem.h - access to memory that the program under test shares with the device */
#ifndef VGPU_MEM_H
#define VGPU_MEM_H

#include <stdint.h>
#include <string.h>

static inline uint16_t mem_load16(const volatile void *p)
{
	return __atomic_load_n((const volatile uint16_t *)p, __ATOMIC_ACQUIRE);
}

static inline uint32_t mem_load32(const volatile void *p)
{
	return __atomic_load_n((const volatile uint32_t *)p, __ATOMIC_ACQUIRE);
}

static inline uint64_t mem_load64(const volatile void *p)
{
	return __atomic_load_n((const volatile uint64_t *)p, __ATOMIC_ACQUIRE);
}

static inline void mem_store16(volatile void *p, uint16_t v)
{
	__atomic_store_n((volatile uint16_t *)p, v, __ATOMIC_RELEASE);
}

static inline void mem_store32(volatile void *p, uint32_t v)
{
	__atomic_store_n((volatile uint32_t *)p, v, __ATOMIC_RELEASE);
}

static inline void mem_store64(volatile void *p, uint64_t v)
{
	__atomic_store_n((volatile uint64_t *)p, v, __ATOMIC_RELEASE);
}

/* Plain members of a packet or of a ring, of any alignment. */
static inline uint32_t mem_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t mem_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void *mem_ptr(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

#endif
