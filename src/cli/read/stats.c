/* SPDX-License-Identifier: MIT */
/* stats.c - durations grouped by name
 *
 * When the limit of values in memory is exceeded, all of them move to a temporary file without a name: a sorted run for each series.
 * A quantile is found by counting, in each run of its series, the values up to a limit that is halved.
 */
#include "cli/read/stats.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cli/exit_status.h"
#include "cli/ui.h"
#include "store/map.h"

#define MAX_KEPT (2u << 20)

struct stats {
	struct stats_group **groups;
	size_t nr, max;
	size_t nr_kept, max_kept; /* values in memory */
	int fd;			  /* of a temporary file, -1: all are in memory */
	uint64_t size;		  /* of the file */
	const char *dir;

	struct map by_name; /* hash of the name -> index; colliding hashes are probed upwards */
	struct map by_key;
};

struct stats *stats_create(size_t max_kept)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		ui_die_memory();
	s->fd = -1;
	s->max_kept = max_kept ? max_kept : MAX_KEPT;
	return s;
}

void stats_destroy(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++) {
		for (int k = 0; k < STATS_NR; k++) {
			free(s->groups[i]->values[k].kept);
			free(s->groups[i]->values[k].runs);
		}
		free(s->groups[i]->name);
		free(s->groups[i]);
	}
	free(s->groups);
	map_fini(&s->by_name);
	map_fini(&s->by_key);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static size_t find_group(struct stats *s, const char *name)
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
	g->id = s->nr;
	s->groups[s->nr] = g;
	return s->nr++;
}

struct stats_group *stats_group(struct stats *s, const char *name)
{
	size_t index = find_group(s, name);

	return s->groups[index];
}

struct stats_group *stats_group_of(struct stats *s, uint64_t key, const char *(*name)(void *arg),
				   void *arg)
{
	uint64_t index;

	if (!map_get(&s->by_key, key, &index)) {
		index = find_group(s, name(arg));
		if (map_put(&s->by_key, key, index))
			ui_die_memory();
	}
	return s->groups[index];
}

void stats_forget_keys(struct stats *s)
{
	map_clear(&s->by_key);
}

/* ---- values ---- */

static void die_file_error(const struct stats *s)
{
	ui_die(STATUS_FAILED, "temporary file in %s: %s; choose another directory with TMPDIR",
	       s->dir, strerror(errno ? errno : EIO));
}

static void open_file(struct stats *s)
{
	s->dir = temporary_directory();
	s->fd = temporary_unnamed("rtl-values");
	if (s->fd < 0) {
		errno = -s->fd;
		die_file_error(s);
	}
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* By digits of 11 bits above the smallest value. */
static void sort_values(int64_t *v, size_t nr, int64_t min, int64_t max)
{
	enum { BITS = 11, DIGITS = 1 << BITS };
	uint64_t range = (uint64_t)max - (uint64_t)min;
	int64_t *from = v, *to = nr > DIGITS ? malloc(nr * sizeof(*v)) : NULL, *other = to;

	if (!to) {
		qsort(v, nr, sizeof(*v), compare_numbers);
		return;
	}
	for (unsigned int shift = 0; shift < 64 && range >> shift; shift += BITS) {
		size_t count[DIGITS] = { 0 }, at = 0;
		int64_t *swap;

		for (size_t i = 0; i < nr; i++)
			count[((uint64_t)from[i] - (uint64_t)min) >> shift & (DIGITS - 1)]++;
		for (size_t i = 0; i < DIGITS; i++) {
			size_t n = count[i];

			count[i] = at;
			at += n;
		}
		for (size_t i = 0; i < nr; i++)
			to[count[((uint64_t)from[i] - (uint64_t)min) >> shift & (DIGITS - 1)]++] =
				from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, nr * sizeof(*v));
	free(other);
}

static void sort_kept(struct stats_values *v)
{
	if (!v->sorted)
		sort_values(v->kept, v->nr_kept, v->min, v->max);
	v->sorted = true;
}

/* Appends the values of a series to the file, sorted. */
static void write_run(struct stats *s, struct stats_values *v)
{
	const char *at = (const char *)v->kept;
	size_t left = v->nr_kept * sizeof(*v->kept);

	sort_kept(v);
	v->runs = reallocarray(v->runs, v->nr_runs + 1, sizeof(*v->runs));
	if (!v->runs)
		ui_die_memory();
	v->runs[v->nr_runs++] = (struct stats_run){ s->size, v->nr_kept };
	s->size += left;
	while (left) {
		ssize_t n = write(s->fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die_file_error(s);
		at += n;
		left -= (size_t)n;
	}
	free(v->kept);
	v->kept = NULL;
	v->nr_kept = v->max_kept = 0;
}

/* Moves the values in memory to the file. */
static void spill_values(struct stats *s)
{
	if (s->fd < 0)
		open_file(s);
	for (size_t i = 0; i < s->nr; i++)
		for (int k = 0; k < STATS_NR; k++)
			if (s->groups[i]->values[k].nr_kept)
				write_run(s, &s->groups[i]->values[k]);
	s->nr_kept = 0;
}

void stats_add_value(struct stats *s, struct stats_group *g, enum stats_series series, int64_t ns)
{
	struct stats_values *v = &g->values[series];

	if (!v->nr || ns < v->min)
		v->min = ns;
	if (!v->nr || ns > v->max)
		v->max = ns;
	v->nr++;
	v->total = (int64_t)((uint64_t)v->total + (uint64_t)ns); /* damaged times may overflow */
	if (v->nr_kept == v->max_kept) {
		v->max_kept = v->max_kept ? v->max_kept * 2 : 16;
		v->kept = reallocarray(v->kept, v->max_kept, sizeof(*v->kept));
		if (!v->kept)
			ui_die_memory();
	}
	v->kept[v->nr_kept++] = ns;
	v->sorted = false;
	if (++s->nr_kept >= s->max_kept)
		spill_values(s);
}

void stats_add(struct stats *s, struct stats_group *g, uint64_t ns)
{
	g->calls++;
	stats_add_value(s, g, STATS_TIME, (int64_t)ns);
}

void stats_add_untimed(struct stats_group *g)
{
	g->calls++;
}

/* How many values of a run are not above `most`. */
static uint64_t count_run(const struct stats *s, const struct stats_run *run, int64_t most)
{
	uint64_t low = 0, high = run->nr;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		int64_t value;

		if (pread(s->fd, &value, sizeof(value), (off_t)(run->at + mid * sizeof(value))) !=
		    sizeof(value))
			die_file_error(s);
		if (value <= most)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The smallest value which more than `rank` values do not exceed: all are sorted runs. */
static int64_t pick_rank(struct stats *s, struct stats_values *v, uint64_t rank)
{
	int64_t low = v->min, high = v->max;

	if (s->nr_kept)
		spill_values(s);
	while (low < high) {
		int64_t mid = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
		uint64_t n = 0;

		for (size_t i = 0; i < v->nr_runs; i++)
			n += count_run(s, &v->runs[i], mid);
		if (n > rank)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

const int64_t *stats_values(struct stats *s, struct stats_group *g, enum stats_series series,
			    size_t *nr)
{
	struct stats_values *v = &g->values[series];

	*nr = s->fd >= 0 ? 0 : v->nr_kept;
	if (!*nr)
		return NULL;
	sort_kept(v);
	return v->kept;
}

int64_t stats_quantile(struct stats *s, struct stats_group *g, enum stats_series series,
		       double share)
{
	struct stats_values *v = &g->values[series];
	uint64_t rank;

	if (!v->nr)
		return 0;
	rank = (uint64_t)ceil(share * (double)v->nr);
	if (rank > v->nr)
		rank = v->nr;
	rank -= rank > 0;
	if (s->fd >= 0)
		return pick_rank(s, v, rank);
	return stats_values(s, g, series, &(size_t){ 0 })[rank];
}

int64_t stats_mean(const struct stats_group *g, enum stats_series series)
{
	const struct stats_values *v = &g->values[series];

	return v->nr ? (int64_t)llround((double)v->total / (double)v->nr) : 0;
}

/* ---- groups ---- */

static int compare_totals(const void *a, const void *b)
{
	const struct stats_group *x = *(struct stats_group *const *)a;
	const struct stats_group *y = *(struct stats_group *const *)b;

	int64_t a_ns = x->values[STATS_TIME].total, b_ns = y->values[STATS_TIME].total;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct stats_group **stats_sorted(struct stats *s, size_t *nr)
{
	/* sorting makes the maps' indices invalid */
	map_clear(&s->by_name);
	map_clear(&s->by_key);
	if (s->nr)
		qsort(s->groups, s->nr, sizeof(*s->groups), compare_totals);
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
