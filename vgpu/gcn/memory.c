/* SPDX-License-Identifier: MIT */
/* memory.c - the memory that a wave sees, lane by lane */
#include "memory.h"

#include <stddef.h>

bool memory_valid(struct gcn_run *r, uint64_t addr, uint32_t bytes)
{
	unsigned int generation = __atomic_load_n(r->host->generation, __ATOMIC_ACQUIRE);
	struct gcn_range *range;

	if (generation != r->generation) {
		memset(r->range, 0, sizeof(r->range));
		r->generation = generation;
	}
	for (unsigned int n = 0; n < GCN_RANGES; n++) {
		range = &r->range[n];
		if (addr >= range->lo && addr < range->hi && bytes <= range->hi - addr)
			return true;
	}
	if (addr - (uintptr_t)r->packet < sizeof(r->packet))
		return bytes <= sizeof(r->packet) - (addr - (uintptr_t)r->packet);
	range = &r->range[r->next_range];
	if (!r->host->range(addr, &range->lo, &range->hi)) {
		memset(range, 0, sizeof(*range));
		return false;
	}
	r->next_range = (r->next_range + 1) % GCN_RANGES;
	return bytes <= range->hi - addr;
}

bool memory_check(struct gcn_wave *w, const struct memory_access *a)
{
	uint64_t lo = UINT64_MAX, hi = 0;

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
	if (hi - lo > UINT32_MAX - 64 ||
	    !memory_valid(w->run, lo, (uint32_t)(hi - lo) + a->bytes)) {
		/* the lanes are in several allocations, or in none */
		for (uint64_t left = a->active; left;) {
			uint64_t addr = a->addr[memory_next(&left)];

			if (!memory_valid(w->run, addr, a->bytes)) {
				gcn_stop(w, GCN_MEMORY_FAULT, addr);
				return false;
			}
		}
	}
	if (w->run->cache.on)
		cache_access(&w->run->cache, &w->run->counters, a->addr, a->active, a->bytes,
			     a->write);
	return true;
}

void *memory_lds(const struct gcn_wave *w, uint64_t offset, unsigned int bytes)
{
	uint32_t size = w->run->lds_size;

	return offset < size && bytes <= size - offset ? w->run->lds + offset : NULL;
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

		if (n > bytes)
			n = bytes;
		if (!memory_valid(w->run, addr, n)) {
			gcn_stop(w, GCN_MEMORY_FAULT, addr);
			return false;
		}
		if (write)
			memcpy(memory_at(addr), p, n);
		else
			memcpy(p, memory_at(addr), n);
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
	uint32_t v = 0;

	if (form == MEMORY_PLAIN) {
		for (unsigned int n = 0; n < bytes / 4; n++)
			w->vgpr[reg + n][lane] = memory_get32(p + n * 4);
		return;
	}
	memcpy(&v, p, bytes);
	w->vgpr[reg][lane] = extend(v, w->vgpr[reg][lane], form);
}

void memory_from_regs(const struct gcn_wave *w, unsigned int reg, unsigned int lane, void *buf,
		      unsigned int bytes, enum memory_form form)
{
	unsigned char *p = buf;
	uint32_t v;

	if (form == MEMORY_PLAIN) {
		for (unsigned int n = 0; n < bytes / 4; n++)
			memory_put32(p + n * 4, w->vgpr[reg + n][lane]);
		return;
	}
	v = w->vgpr[reg][lane];
	if (form == MEMORY_U8_HI || form == MEMORY_16_HI)
		v >>= 16;
	memcpy(p, &v, bytes);
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
