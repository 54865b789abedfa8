/* SPDX-License-Identifier: MIT */
/* memory.h - the memory that a wave sees, lane by lane
 *
 * Global memory is the host's, and every access is checked against the host's allocations. Its
 * addresses are the host's, too, but for memory that was registered at others: what is checked is
 * the GPU's address, what is accessed is the host's. LDS belongs to a workgroup; addresses outside
 * read 0 and ignore writes. Scratch memory is
 * interleaved: dword n of all lanes, then dword n + 1 of all lanes.
 */
#ifndef VGPU_GCN_MEMORY_H
#define VGPU_GCN_MEMORY_H

#include "wave.h"

/* How a value that is not a whole number of dwords is loaded. */
enum memory_form {
	MEMORY_PLAIN,
	MEMORY_U8,
	MEMORY_I8,
	MEMORY_U16,
	MEMORY_I16,
	MEMORY_U8_LO, /* the other half of the register is kept */
	MEMORY_U8_HI,
	MEMORY_I8_LO,
	MEMORY_I8_HI,
	MEMORY_16_LO,
	MEMORY_16_HI,
};

/* of any alignment, and overlaying other types */
typedef uint16_t memory_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t memory_u32 __attribute__((aligned(1), may_alias));
typedef uint64_t memory_u64 __attribute__((aligned(1), may_alias));

struct memory_access {
	uint64_t addr[GCN_LANES]; /* offsets, for LDS */
	uint64_t active;
	unsigned int bytes;
	bool write, atomic;
};

/* Other threads and processes use global memory at the same time: an aligned access of up to 8
 * bytes is one access of the host. x86 has such accesses of any alignment; those that cross a line
 * of its cache may tear, as on a GPU. */
static inline uint16_t memory_get16(const void *p)
{
	return *(const volatile memory_u16 *)p;
}

static inline uint32_t memory_get32(const void *p)
{
	return *(const volatile memory_u32 *)p;
}

static inline uint64_t memory_get64(const void *p)
{
	return *(const volatile memory_u64 *)p;
}

static inline void memory_put16(void *p, uint16_t v)
{
	*(volatile memory_u16 *)p = v;
}

static inline void memory_put32(void *p, uint32_t v)
{
	*(volatile memory_u32 *)p = v;
}

static inline void memory_put64(void *p, uint64_t v)
{
	*(volatile memory_u64 *)p = v;
}

/* Copies between global memory and a buffer: dwords as aligned pairs where the global address has
 * them, bytes and halves alone. */
void memory_fetch(void *buf, const void *global, unsigned int bytes);
void memory_put(void *global, const void *buf, unsigned int bytes);

/* `addr` is the host's. */
static inline void *memory_at(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

void *memory_host_any(struct gcn_run *r, uint64_t addr, uint32_t bytes);

/* Where [addr, addr + bytes) is for the host, if it is in allocation `hit` of those that were used
 * last; or NULL. */
static inline void *memory_same(const struct gcn_run *r, unsigned int hit, uint64_t addr,
				uint32_t bytes)
{
	const struct gcn_range *range = &r->range[hit];

	if (addr >= range->lo && addr < range->hi && bytes <= range->hi - addr &&
	    r->generation == __atomic_load_n(r->host->generation, __ATOMIC_ACQUIRE))
		return memory_at(addr + range->shift);
	return NULL;
}

/* Where [addr, addr + bytes) is for the host; NULL: it is not in one allocation. */
static inline void *memory_host(struct gcn_run *r, uint64_t addr, uint32_t bytes)
{
	/* most often it is in the same one as before */
	void *at = memory_same(r, r->hit, addr, bytes);

	return at ? at : memory_host_any(r, addr, bytes);
}

/* Checks a global access of all its lanes, counts it, and makes the addresses the host's; false:
 * the wave was stopped. */
bool memory_check(struct gcn_wave *w, struct memory_access *a);

/* Where byte `offset` of LDS is; NULL if [offset, offset + bytes) is out of range. */
void *memory_lds(const struct gcn_wave *w, uint32_t offset, unsigned int bytes);

/* Copies bytes between `buf` and byte `offset` of a lane's scratch memory at `base`; false: out of
 * range, and the wave was stopped. */
bool memory_scratch(struct gcn_wave *w, uint64_t base, uint32_t offset, unsigned int lane,
		    void *buf, unsigned int bytes, bool write);

/* Copies loaded bytes to registers from `reg` on, or bytes to store from them. */
void memory_to_regs(struct gcn_wave *w, unsigned int reg, unsigned int lane, const void *buf,
		    unsigned int bytes, enum memory_form form);
void memory_from_regs(const struct gcn_wave *w, unsigned int reg, unsigned int lane, void *buf,
		      unsigned int bytes, enum memory_form form);

/* Loads and stores of global memory whose addresses have been checked. */
void memory_load(struct gcn_wave *w, const struct memory_access *a, unsigned int reg,
		 enum memory_form form);
void memory_store(struct gcn_wave *w, const struct memory_access *a, unsigned int reg,
		  enum memory_form form);

/* repetitions of a load before its wave gives way to others */
#define GCN_POLLS 16

/* Whether a flat or global load reads what others write meanwhile: GLC, or SC0 or SC1 of gfx942. */
static inline bool memory_may_poll(const struct gcn_inst *i)
{
	return (i->word[0] >> 16 | i->word[0] >> 25) & 1;
}

/* A load that may be part of a loop that waits. */
void memory_polled(struct gcn_wave *w, uint64_t addr);

/* A store to global memory, or an atomic. */
static inline void memory_stored(struct gcn_run *r)
{
	r->stored = true;
	r->poll_pc = 0;
}

/* Removes the lowest active lane from `active` and returns its number. */
static inline unsigned int memory_next(uint64_t *active)
{
	unsigned int l = (unsigned int)__builtin_ctzll(*active);

	*active &= *active - 1;
	return l;
}

enum atomic_op {
	ATOMIC_SWAP,
	ATOMIC_CMPSWAP,
	ATOMIC_ADD,
	ATOMIC_SUB,
	ATOMIC_SMIN,
	ATOMIC_UMIN,
	ATOMIC_SMAX,
	ATOMIC_UMAX,
	ATOMIC_AND,
	ATOMIC_OR,
	ATOMIC_XOR,
	ATOMIC_INC,
	ATOMIC_DEC,
	ATOMIC_RSUB,
	ATOMIC_MSKOR,
	ATOMIC_WRAP,
	ATOMIC_ADD_F,
	ATOMIC_MIN_F,
	ATOMIC_MAX_F,
	ATOMIC_CMPSWAP_F,
	ATOMIC_PK_ADD_F16,
	ATOMIC_PK_ADD_BF16,
};

/* One read-modify-write, atomic for the host, too; returns the old value. `p` is aligned. data2 is
 * the value to compare with, or the second operand of the few that have one. */
uint32_t atomic_run32(void *p, enum atomic_op op, uint32_t data, uint32_t data2);
uint64_t atomic_run64(void *p, enum atomic_op op, uint64_t data, uint64_t data2);

/* The same in LDS, which one thread of the host sees. */
uint32_t atomic_local32(void *p, enum atomic_op op, uint32_t data, uint32_t data2);
uint64_t atomic_local64(void *p, enum atomic_op op, uint64_t data, uint64_t data2);

#endif
