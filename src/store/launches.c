/* SPDX-License-Identifier: MIT */
/* launches.c - whether each launch that was recorded has its dispatch */
#include "store/launches.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"

void launches_fini(struct launches *l)
{
	map_fini(&l->open);
	map_fini(&l->early);
	alloc_free(l->begins);
	alloc_free(l->ends);
	*l = (struct launches){ .is_given_up = true, .nr_submits = l->nr_submits };
}

static int put(struct launches *l, struct map *map, uint64_t correlation, uint64_t ns)
{
	if (map->nr < LAUNCHES_MAX)
		return map_put(map, correlation, ns);
	launches_fini(l);
	return 0;
}

int launches_dispatch(struct launches *l, uint64_t correlation)
{
	if (l->is_given_up || !correlation || map_del(&l->open, correlation))
		return 0;
	return put(l, &l->early, correlation, 0);
}

int launches_call(struct launches *l, uint64_t correlation, bool launches, uint64_t begin_ns)
{
	if (l->is_given_up || !correlation || map_del(&l->early, correlation) || !launches)
		return 0;
	return put(l, &l->open, correlation, begin_ns);
}

static int add(uint64_t **list, size_t *nr, size_t *cap, uint64_t ns)
{
	uint64_t *grown = alloc_grow(*list, *nr, cap, 16, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[(*nr)++] = ns;
	return 0;
}

int launches_capture(struct launches *l, uint64_t begin_ns)
{
	return l->is_given_up ? 0 : add(&l->begins, &l->nr_begins, &l->cap_begins, begin_ns);
}

int launches_capture_end(struct launches *l, uint64_t end_ns)
{
	return l->is_given_up ? 0 : add(&l->ends, &l->nr_ends, &l->cap_ends, end_ns);
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* How many of the sorted times are before `ns`. */
static size_t nr_before(const uint64_t *list, size_t nr, uint64_t ns)
{
	size_t lo = 0;

	while (lo < nr) {
		size_t mid = lo + (nr - lo) / 2;

		if (list[mid] < ns)
			lo = mid + 1;
		else
			nr = mid;
	}
	return lo;
}

uint64_t launches_missing(struct launches *l)
{
	uint64_t n = 0;

	if (l->nr_begins)
		qsort(l->begins, l->nr_begins, sizeof(*l->begins), compare_ns);
	if (l->nr_ends)
		qsort(l->ends, l->nr_ends, sizeof(*l->ends), compare_ns);
	for (size_t i = 0; i < l->open.cap; i++) {
		const struct map_entry *e = &l->open.entries[i];

		if (e->value_plus_1 && nr_before(l->begins, l->nr_begins, e->value_plus_1 - 1) <=
					       nr_before(l->ends, l->nr_ends, e->value_plus_1 - 1))
			n++;
	}
	return n;
}
