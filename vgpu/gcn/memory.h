/* SPDX-License-Identifier: MIT */
/* memory.h - the memory that a wave sees, lane by lane
 *
 * Global memory is the host's, at the same addresses, and every access is checked against the allocations that
 * the host told of. LDS is a workgroup's own; what lies outside reads 0 and takes no writes. Scratch memory is
 * interleaved: dword n of all lanes, then dword n + 1 of all lanes.
 */
#ifndef VGPU_GCN_MEMORY_H
#define VGPU_GCN_MEMORY_H

#include "wave.h"

/* What becomes of a value that is not a whole number of dwords. */
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

struct memory_access {
	uint64_t addr[GCN_LANES]; /* offsets, for LDS */
	uint64_t active;
	unsigned int bytes;
	bool write, atomic;
};

static inline uint32_t memory_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void memory_put32(void *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void *memory_at(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

/* Does [addr, addr + bytes) lie in one allocation? */
bool memory_valid(struct gcn_run *r, uint64_t addr, uint32_t bytes);

/* Checks a global access of all its lanes, and counts it; false: the wave was stopped. */
bool memory_check(struct gcn_wave *w, const struct memory_access *a);

/* Where byte `offset` of LDS is; NULL if [offset, offset + bytes) is out of range. */
void *memory_lds(const struct gcn_wave *w, uint64_t offset, unsigned int bytes);

/* Moves bytes between `buf` and byte `offset` of a lane's scratch memory at `base`; false: out of memory that
 * is there, and the wave was stopped. */
bool memory_scratch(struct gcn_wave *w, uint64_t base, uint32_t offset, unsigned int lane,
		    void *buf, unsigned int bytes, bool write);

/* Puts what was read into registers from `reg` on, or takes what is to be written from them. */
void memory_to_regs(struct gcn_wave *w, unsigned int reg, unsigned int lane, const void *buf,
		    unsigned int bytes, enum memory_form form);
void memory_from_regs(const struct gcn_wave *w, unsigned int reg, unsigned int lane, void *buf,
		      unsigned int bytes, enum memory_form form);

/* Loads and stores of global memory whose addresses have been checked. */
void memory_load(struct gcn_wave *w, const struct memory_access *a, unsigned int reg,
		 enum memory_form form);
void memory_store(struct gcn_wave *w, const struct memory_access *a, unsigned int reg,
		  enum memory_form form);

/* Takes the lowest active lane out of `active` and gives its number. */
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
};

/* One read-modify-write, seen as one step by the host too; the old value. `p` is aligned. data2 is the value to
 * compare with, or the second operand of the few that have one. */
uint32_t atomic_run32(void *p, enum atomic_op op, uint32_t data, uint32_t data2);
uint64_t atomic_run64(void *p, enum atomic_op op, uint64_t data, uint64_t data2);

#endif
