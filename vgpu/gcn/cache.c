/* SPDX-License-Identifier: MIT */
/* cache.c - a simple model of the vector memory caches, for the TCP and TCC counters */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "gcn.h"

#define L1_NR (CACHE_L1_SETS * CACHE_L1_WAYS)
#define L2_NR (CACHE_L2_SETS * CACHE_L2_WAYS)

bool cache_reset(struct cache *c, bool on)
{
	c->on = on;
	if (!on)
		return true;
	if (!c->l1)
		c->l1 = calloc(L1_NR + L2_NR, sizeof(*c->l1));
	if (!c->l1) {
		c->on = false;
		return false;
	}
	c->l2 = c->l1 + L1_NR;
	/* lines with older stamps are invalid now */
	c->born = ++c->stamp;
	c->nr_dirty = 0;
	return true;
}

void cache_fini(struct cache *c)
{
	free(c->l1);
	memset(c, 0, sizeof(*c));
}

/* Looks a line up in a set and inserts it; true: a hit. */
static bool look_up(struct cache *c, struct cache_way *set, unsigned int ways, uint64_t line,
		    bool *was_dirty, bool write)
{
	struct cache_way *old = &set[0];

	*was_dirty = false;
	c->stamp++;
	for (unsigned int n = 0; n < ways; n++) {
		if (set[n].used > c->born && set[n].line == line) {
			set[n].used = c->stamp;
			c->nr_dirty += write && !set[n].dirty;
			set[n].dirty |= write;
			return true;
		}
		if (set[n].used < old->used)
			old = &set[n];
	}
	*was_dirty = old->used > c->born && old->dirty;
	c->nr_dirty += write;
	*old = (struct cache_way){ .line = line, .used = c->stamp, .dirty = write };
	return false;
}

static void second_level(struct cache *c, struct gcn_counters *n, uint64_t line, bool write)
{
	bool dirty, hit;

	*(write ? &n->tcc_wr : &n->tcc_rd) += 1;
	hit = look_up(c, &c->l2[line % CACHE_L2_SETS * CACHE_L2_WAYS], CACHE_L2_WAYS, line, &dirty,
		      write);
	if (hit) {
		n->tcc_hit++;
		return;
	}
	n->tcc_miss++;
	/* a write covers its line as a rule, so nothing is read for it */
	if (!write)
		n->ea_rd++;
	n->ea_wr += dirty;
	c->nr_dirty -= dirty;
}

static void one_line(struct cache *c, struct gcn_counters *n, uint64_t line, bool write)
{
	bool dirty;

	n->tcp_req++;
	if (!write && look_up(c, &c->l1[line % CACHE_L1_SETS * CACHE_L1_WAYS], CACHE_L1_WAYS, line,
			      &dirty, false)) {
		n->tcp_hit++;
		return;
	}
	second_level(c, n, line, write);
}

void cache_access(struct cache *c, struct gcn_counters *counters, const uint64_t *addr,
		  uint64_t active, unsigned int bytes, bool write)
{
	/* a small hash of the lines that this access touched before */
	uint64_t seen[256] = { 0 };

	while (active) {
		unsigned int l = (unsigned int)__builtin_ctzll(active);
		uint64_t first = addr[l] >> CACHE_LINE_BITS;
		uint64_t last = (addr[l] + bytes - 1) >> CACHE_LINE_BITS;

		active &= active - 1;
		for (uint64_t line = first; line <= last; line++) {
			uint64_t *at = &seen[line % 256];

			if (*at == line + 1)
				continue;
			*at = line + 1;
			one_line(c, counters, line, write);
		}
	}
}
