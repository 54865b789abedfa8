/* SPDX-License-Identifier: MIT */
/* vtime.c - virtual completion time of signals (deterministic mode)
 *
 * A hash table with a window of PROBES slots for each address; a full window drops its earliest
 * time, which is the least likely to delay a packet.
 *
 * Threads:  under the engine's lock.
 */
#include "vtime.h"

#include <stddef.h>

#define TABLE_SIZE (1u << 16)
#define PROBES 16

static struct {
	uint64_t addr, vns;
	int pending;
} table[TABLE_SIZE];

static uint32_t hash(uint64_t addr)
{
	return (uint32_t)((addr >> 6) * 0x9e3779b97f4a7c15ull >> 48);
}

void vtime_set(uint64_t addr, uint64_t vns)
{
	uint32_t at = hash(addr), victim = at;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t slot = (at + i) % TABLE_SIZE;

		if (!table[slot].addr || table[slot].addr == addr) {
			victim = slot;
			break;
		}
		if (table[victim].pending ||
		    (!table[slot].pending && table[slot].vns < table[victim].vns))
			victim = slot;
	}
	if (table[victim].pending && table[victim].addr != addr)
		return;
	table[victim].addr = addr;
	table[victim].vns = vns;
}

/* Its slot, or -1. */
static int32_t lookup(uint64_t addr)
{
	uint32_t at = hash(addr);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t slot = (at + i) % TABLE_SIZE;

		if (table[slot].addr == addr)
			return (int32_t)slot;
		if (!table[slot].addr)
			break;
	}
	return -1;
}

uint64_t vtime_get(uint64_t addr)
{
	int32_t slot = lookup(addr);

	return slot < 0 ? 0 : table[slot].vns;
}

bool vtime_pend(uint64_t addr, int change)
{
	int32_t slot = lookup(addr);

	if (slot < 0)
		return false;
	table[slot].pending += change;
	return true;
}

int vtime_pending(uint64_t addr)
{
	int32_t slot = lookup(addr);

	return slot < 0 ? 0 : table[slot].pending;
}
