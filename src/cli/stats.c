/* SPDX-License-Identifier: MIT */
/* stats.c - durations gathered under names */
#include "cli/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "store/map.h"

struct stats {
	struct stats_group **groups;
	size_t nr, max;
	struct map by_name; /* hash of the name -> index; colliding hashes are probed upwards */
	struct map by_key;
};

struct stats *stats_create(void)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		ui_die_memory();
	return s;
}

void stats_destroy(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++) {
		free(s->groups[i]->times);
		free(s->groups[i]->name);
		free(s->groups[i]);
	}
	free(s->groups);
	map_fini(&s->by_name);
	map_fini(&s->by_key);
	free(s);
}

static size_t find(struct stats *s, const char *name)
{
	uint64_t hash = map_hash(name, strlen(name)), index;
	struct stats_group *g;

	for (;; hash++) {
		if (!map_get(&s->by_name, hash, &index))
			break;
		if (strcmp(s->groups[index]->name, name) == 0)
			return index;
	}
	if (s->nr == s->max) {
		s->max = s->max ? s->max * 2 : 64;
		s->groups = reallocarray(s->groups, s->max, sizeof(*s->groups));
		if (!s->groups)
			ui_die_memory();
	}
	g = calloc(1, sizeof(*g));
	if (!g || map_put(&s->by_name, hash, s->nr))
		ui_die_memory();
	g->name = ui_format("%s", name);
	g->min_ns = UINT64_MAX;
	s->groups[s->nr] = g;
	return s->nr++;
}

struct stats_group *stats_group(struct stats *s, const char *name)
{
	size_t index = find(s, name);

	return s->groups[index];
}

struct stats_group *stats_group_of(struct stats *s, uint64_t key, const char *(*name)(void *arg),
				   void *arg)
{
	uint64_t index;

	if (!map_get(&s->by_key, key, &index)) {
		index = find(s, name(arg));
		if (map_put(&s->by_key, key, index))
			ui_die_memory();
	}
	return s->groups[index];
}

void stats_add(struct stats_group *g, uint64_t ns)
{
	g->calls++;
	g->total_ns += ns;
	if (ns < g->min_ns)
		g->min_ns = ns;
	if (ns > g->max_ns)
		g->max_ns = ns;
	if (g->nr_times == g->max_times) {
		g->max_times = g->max_times ? g->max_times * 2 : 16;
		g->times = reallocarray(g->times, g->max_times, sizeof(*g->times));
		if (!g->times)
			ui_die_memory();
	}
	g->times[g->nr_times++] = ns;
	g->sorted = false;
}

void stats_add_untimed(struct stats_group *g)
{
	g->calls++;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t stats_quantile(struct stats_group *g, double share)
{
	size_t rank;

	if (!g->nr_times)
		return 0;
	if (!g->sorted)
		qsort(g->times, g->nr_times, sizeof(*g->times), by_number);
	g->sorted = true;
	rank = (size_t)ceil(share * (double)g->nr_times);
	if (rank > g->nr_times)
		rank = g->nr_times;
	return g->times[rank ? rank - 1 : 0];
}

static int by_total(const void *a, const void *b)
{
	const struct stats_group *x = *(struct stats_group *const *)a;
	const struct stats_group *y = *(struct stats_group *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct stats_group **stats_sorted(struct stats *s, size_t *nr)
{
	/* indices are of no use after this, and neither are the maps */
	map_clear(&s->by_name);
	map_clear(&s->by_key);
	if (s->nr)
		qsort(s->groups, s->nr, sizeof(*s->groups), by_total);
	*nr = s->nr;
	return s->groups;
}

const char *stats_gpus(char *buf, size_t size, uint64_t gpus)
{
	size_t used = 0;

	buf[0] = 0;
	for (unsigned int i = 0; i < 64; i++) {
		unsigned int last = i;
		int n;

		if (!(gpus >> i & 1))
			continue;
		while (last < 63 && (gpus >> (last + 1) & 1))
			last++;
		n = snprintf(buf + used, size - used,
			     last > i + 1 ? "%s%u-%u" :
			     last > i	  ? "%s%u,%u" :
					    "%s%u",
			     used ? "," : "", i, last);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
		i = last;
	}
	return buf;
}
