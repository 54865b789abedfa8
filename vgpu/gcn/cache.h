/* SPDX-License-Identifier: MIT */
/* cache.h - a simple model of the vector memory caches, for the TCP and TCC counters
 *
 * A wave's access is split into the 64-byte lines of its active lanes, each line once. Reads search
 * a first-level cache (16 KiB, 4 ways), then the second (4 MiB, 16 ways); writes and atomics go to
 * the second at once, which writes its changed lines to memory when they are replaced and when the
 * dispatch ends. Both replace the line that was used the longest ago. Both are empty when a
 * dispatch begins.
 */
#ifndef VGPU_GCN_CACHE_H
#define VGPU_GCN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct gcn_counters;

#define CACHE_LINE_BITS 6
#define CACHE_L1_SETS 64
#define CACHE_L1_WAYS 4
#define CACHE_L2_SETS 4096
#define CACHE_L2_WAYS 16

struct cache {
	bool on;
	uint64_t stamp, born; /* lines last used before `born` are gone */
	uint64_t nr_dirty;    /* changed lines in the second level */
	struct cache_way {
		uint64_t line, used : 63, dirty : 1;
	} * l1, *l2;
};

/* Empties the caches; false: out of memory. */
bool cache_reset(struct cache *c, bool on);
void cache_fini(struct cache *c);

/* One access of a wave: `bytes` at addr[lane] for the lanes in `active`. */
void cache_access(struct cache *c, struct gcn_counters *counters, const uint64_t *addr,
		  uint64_t active, unsigned int bytes, bool write);

#endif
