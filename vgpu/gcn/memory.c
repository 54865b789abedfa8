/* SPDX-License-Identifier: MIT */
/* memory.c - the memory that a wave sees, lane by lane */
#include "memory.h"

#include <stddef.h>

void *memory_host_any(struct gcn_run *r, uint64_t addr, uint32_t bytes)
{
	unsigned int generation = __atomic_load_n(r->host->generation, __ATOMIC_ACQUIRE);
	struct gcn_range *range;

	if (generation != r->generation) {
		memset(r->range, 0, sizeof(r->range));
		r->generation = generation;
	}
	for (unsigned int n = 0; n < GCN_RANGES; n++) {
		range = &r->range[n];
		if (addr >= range->lo && addr < range->hi && bytes <= range->hi - addr) {
			r->hit = n;
			return memory_at(addr + range->shift);
		}
	}
	if (addr - (uintptr_t)r->lead->packet < sizeof(r->packet)) {
		r->hit = GCN_RANGES;
		range = &r->range[r->hit];
		range->lo = (uintptr_t)r->lead->packet;
		range->hi = range->lo + sizeof(r->packet);
		range->shift = 0;
		return bytes <= range->hi - addr ? memory_at(addr) : NULL;
	}
	range = &r->range[r->next_range];
	if (!r->host->range(addr, range)) {
		memset(range, 0, sizeof(*range));
		return NULL;
	}
	r->hit = r->next_range;
	r->next_range = (r->next_range + 1) % GCN_RANGES;
	return bytes <= range->hi - addr ? memory_at(addr + range->shift) : NULL;
}

/* Loads with GLC are those of volatile and atomic variables. A wave that repeats one of the same
 * address, and has stored nothing since, waits for another wave, GPU or thread. */
void memory_polled(struct gcn_wave *w, uint64_t addr)
{
	struct gcn_run *r = w->run;

	if (r->poll_pc != w->pc || r->poll_addr != addr) {
		r->poll_pc = w->pc;
		r->poll_addr = addr;
		r->polls = 0;
	} else if (++r->polls >= GCN_POLLS) {
		r->polls = 0;
		r->yield = true;
	}
}

static void move_all(struct memory_access *a, uint64_t shift)
{
	for (uint64_t left = a->active; left;)
		a->addr[memory_next(&left)] += shift;
}

/* For lanes in several allocations, whose addresses have been checked. */
static void move_each(struct gcn_run *r, struct memory_access *a)
{
	for (uint64_t left = a->active; left;) {
		unsigned int l = memory_next(&left);

		a->addr[l] = (uintptr_t)memory_host(r, a->addr[l], a->bytes);
	}
}

bool memory_check(struct gcn_wave *w, struct memory_access *a)
{
	uint64_t lo = UINT64_MAX, hi = 0, shifts = 0;
	const void *all = NULL;

	if (!a->active)
		return true;
	if (a->active == UINT64_MAX) {
		for (unsigned int l = 0; l < GCN_LANES; l++) {
			lo = a->addr[l] < lo ? a->addr[l] : lo;
			hi = a->addr[l] > hi ? a->addr[l] : hi;
		}
	} else {
		for (uint64_t left = a->active; left;) {
			uint64_t addr = a->addr[memory_next(&left)];

			lo = addr < lo ? addr : lo;
			hi = addr > hi ? addr : hi;
		}
	}
	if (hi - lo <= UINT32_MAX - 64)
		all = memory_host(w->run, lo, (uint32_t)(hi - lo) + a->bytes);
	if (all) {
		shifts = (uintptr_t)all - lo;
	} else {
		/* the lanes are in several allocations, or in none */
		for (uint64_t left = a->active; left;) {
			uint64_t addr = a->addr[memory_next(&left)];

			const void *one = memory_host(w->run, addr, a->bytes);

			if (!one) {
				gcn_stop(w, GCN_MEMORY_FAULT, addr);
				return false;
			}
			shifts |= (uintptr_t)one - addr;
		}
	}
	if (w->run->has_cache)
		cache_access(&w->run->lead->cache, &w->run->counters, a->addr, a->active, a->bytes,
			     a->write);
	if (shifts && all)
		move_all(a, shifts);
	else if (shifts)
		move_each(w->run, a);
	return true;
}

void *memory_lds(const struct gcn_wave *w, uint32_t offset, unsigned int bytes)
{
	uint32_t size = w->run->lds_size;

	return offset < size && bytes <= size - offset ? w->run->lds + offset : NULL;
}

/* `global`: which of the two addresses decides on the pairs. */
static inline void copy(unsigned char *to, const unsigned char *from, uintptr_t global,
			unsigned int bytes)
{
	unsigned int n = 0;

	if (bytes == 2) {
		memory_put16(to, memory_get16(from));
		return;
	}
	if (global & 4 && bytes >= 4) {
		memory_put32(to, memory_get32(from));
		n = 4;
	}
	for (; n + 8 <= bytes; n += 8)
		memory_put64(to + n, memory_get64(from + n));
	if (n + 4 <= bytes) {
		memory_put32(to + n, memory_get32(from + n));
		n += 4;
	}
	for (; n < bytes; n++)
		to[n] = from[n];
}

void memory_fetch(void *buf, const void *global, unsigned int bytes)
{
	copy(buf, global, (uintptr_t)global, bytes);
}

void memory_put(void *global, const void *buf, unsigned int bytes)
{
	copy(global, buf, (uintptr_t)global, bytes);
}

static uint64_t scratch_at(uint64_t base, uint32_t offset, unsigned int lane)
{
	return base + (uint64_t)(offset / 4) * 256 + lane * 4 + offset % 4;
}

bool memory_scratch(struct gcn_wave *w, uint64_t base, uint32_t offset, unsigned int lane,
		    void *buf, unsigned int bytes, bool write)
{
	unsigned char *p = buf;

	while (bytes) {
		unsigned int n = 4 - offset % 4;
		uint64_t addr = scratch_at(base, offset, lane);
		void *at;

		if (n > bytes)
			n = bytes;
		at = memory_host(w->run, addr, n);
		if (!at) {
			gcn_stop(w, GCN_MEMORY_FAULT, addr);
			return false;
		}
		if (write)
			memcpy(at, p, n);
		else
			memcpy(p, at, n);
		p += n;
		offset += n;
		bytes -= n;
	}
	return true;
}

static uint32_t extend(uint32_t v, uint32_t old, enum memory_form form)
{
	switch (form) {
	case MEMORY_U8:
		return v & 255;
	case MEMORY_I8:
		return (uint32_t)(int32_t)(int8_t)v;
	case MEMORY_U16:
		return v & 0xffff;
	case MEMORY_I16:
		return (uint32_t)(int32_t)(int16_t)v;
	case MEMORY_U8_LO:
		return (old & 0xffff0000) | (v & 255);
	case MEMORY_U8_HI:
		return (old & 0xffff) | (v & 255) << 16;
	case MEMORY_I8_LO:
		return (old & 0xffff0000) | ((uint32_t)(int32_t)(int8_t)v & 0xffff);
	case MEMORY_I8_HI:
		return (old & 0xffff) | (uint32_t)(int32_t)(int8_t)v << 16;
	case MEMORY_16_LO:
		return (old & 0xffff0000) | (v & 0xffff);
	case MEMORY_16_HI:
		return (old & 0xffff) | v << 16;
	default:
		return v;
	}
}

void memory_to_regs(struct gcn_wave *w, unsigned int reg, unsigned int lane, const void *buf,
		    unsigned int bytes, enum memory_form form)
{
	const unsigned char *p = buf;
	unsigned int n = 0, nr = bytes / 4;
	uint32_t v;

	if (form == MEMORY_PLAIN) {
		if ((uintptr_t)p & 4 && nr)
			w->vgpr[reg + n++][lane] = memory_get32(p);
		for (; n + 2 <= nr; n += 2) {
			uint64_t pair = memory_get64(p + n * 4);

			w->vgpr[reg + n][lane] = (uint32_t)pair;
			w->vgpr[reg + n + 1][lane] = (uint32_t)(pair >> 32);
		}
		if (n < nr)
			w->vgpr[reg + n][lane] = memory_get32(p + n * 4);
		return;
	}
	v = bytes == 1 ? *p : bytes == 2 ? memory_get16(p) : memory_get32(p);
	w->vgpr[reg][lane] = extend(v, w->run->arch->d16_clears ? 0 : w->vgpr[reg][lane], form);
}

void memory_from_regs(const struct gcn_wave *w, unsigned int reg, unsigned int lane, void *buf,
		      unsigned int bytes, enum memory_form form)
{
	unsigned char *p = buf;
	unsigned int n = 0, nr = bytes / 4;
	uint32_t v;

	if (form == MEMORY_PLAIN) {
		if ((uintptr_t)p & 4 && nr)
			memory_put32(p, w->vgpr[reg + n++][lane]);
		for (; n + 2 <= nr; n += 2)
			memory_put64(p + n * 4, w->vgpr[reg + n][lane] |
							(uint64_t)w->vgpr[reg + n + 1][lane] << 32);
		if (n < nr)
			memory_put32(p + n * 4, w->vgpr[reg + n][lane]);
		return;
	}
	v = w->vgpr[reg][lane];
	if (form == MEMORY_U8_HI || form == MEMORY_16_HI)
		v >>= 16;
	if (bytes == 1)
		*p = (uint8_t)v;
	else if (bytes == 2)
		memory_put16(p, (uint16_t)v);
	else
		memory_put32(p, v);
}

void memory_load(struct gcn_wave *w, const struct memory_access *a, unsigned int reg,
		 enum memory_form form)
{
	uint64_t left = a->active;

	if (form == MEMORY_PLAIN && a->bytes == 4) {
		uint32_t *row = w->vgpr[reg];

		if (left == UINT64_MAX) {
			for (unsigned int l = 0; l < GCN_LANES; l++)
				row[l] = memory_get32(memory_at(a->addr[l]));
			return;
		}
		while (left) {
			unsigned int l = memory_next(&left);

			row[l] = memory_get32(memory_at(a->addr[l]));
		}
		return;
	}
	while (left) {
		unsigned int l = memory_next(&left);

		memory_to_regs(w, reg, l, memory_at(a->addr[l]), a->bytes, form);
	}
}

void memory_store(struct gcn_wave *w, const struct memory_access *a, unsigned int reg,
		  enum memory_form form)
{
	uint64_t left = a->active;

	memory_stored(w->run);
	if (form == MEMORY_PLAIN && a->bytes == 4 && left == UINT64_MAX) {
		const uint32_t *row = w->vgpr[reg];

		for (unsigned int l = 0; l < GCN_LANES; l++)
			memory_put32(memory_at(a->addr[l]), row[l]);
		return;
	}
	while (left) {
		unsigned int l = memory_next(&left);

		memory_from_regs(w, reg, l, memory_at(a->addr[l]), a->bytes, form);
	}
}
