/* SPDX-License-Identifier: MIT */
/* sums.c - durations grouped by name
 *
 * When the limit of values in memory is exceeded, all of them move to a temporary file without a
 * name: a sorted run for each series. A quantile is found by counting, in each run of its series,
 * the values up to a limit that is halved.
 */
#include "analysis/sums.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/temporary.h"
#include "store/map.h"

#define MAX_KEPT (2u << 20)

struct sums {
	struct sums_group **groups;
	size_t nr, max;
	size_t nr_kept, max_kept; /* values in memory */
	int fd;			  /* of a temporary file, -1: all are in memory */
	uint64_t size;		  /* of the file */
	const char *dir;
	int error;		 /* the first one, -errno */
	struct sums_group spare; /* stands for groups for which there was no memory */
	struct map by_name;	 /* hash -> index; colliding hashes are probed upwards */
	struct map *by_key;	 /* of each part: number -> index */
	uint32_t nr_parts;
	struct sums_group *last; /* of sums_group_of() */
};

struct sums *sums_create(size_t max_kept)
{
	struct sums *s = alloc_zero(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = -1;
	s->max_kept = max_kept ? max_kept : MAX_KEPT;
	return s;
}

static void free_values(struct sums_group *g)
{
	for (int k = 0; k < SUMS_NR; k++) {
		alloc_free(g->values[k].kept);
		alloc_free(g->values[k].runs);
	}
}

static void free_group(struct sums_group *g)
{
	free_values(g);
	alloc_free(g->name);
	alloc_free(g);
}

static void forget_keys(struct sums *s)
{
	for (uint32_t i = 0; i < s->nr_parts; i++)
		map_fini(&s->by_key[i]);
	alloc_free(s->by_key);
	s->by_key = NULL;
	s->nr_parts = 0;
	s->last = NULL;
}

void sums_clear(struct sums *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free_group(s->groups[i]);
	s->nr = s->nr_kept = 0;
	forget_keys(s);
	map_clear(&s->by_name);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->size = 0;
}

void sums_destroy(struct sums *s)
{
	if (!s)
		return;
	sums_clear(s);
	alloc_free(s->groups);
	map_fini(&s->by_name);
	alloc_free(s);
}

static void fail(struct sums *s, int error)
{
	if (!s->error)
		s->error = error;
}

int sums_check(const struct sums *s, struct query *q)
{
	if (s->error == -ENOMEM)
		return query_fail_memory(q);
	if (s->error)
		return query_fail(q, s->error,
				  "temporary file in %s: %s; choose another directory with TMPDIR",
				  s->dir, strerror(-s->error));
	return 0;
}

/* NULL: out of memory. */
static struct sums_group *add_group(struct sums *s, uint32_t part)
{
	struct sums_group **grown = alloc_grow(s->groups, s->nr, &s->max, 64, sizeof(*grown)), *g;

	if (!grown)
		return NULL;
	s->groups = grown;
	g = alloc_zero(1, sizeof(*g));
	if (g) {
		g->part = part;
		s->groups[s->nr++] = g;
	}
	return g;
}

/* The group of a name, and what a new one is found by. NULL: there is none. */
static struct sums_group *find_name(const struct sums *s, const char *name, uint32_t part,
				    uint64_t *hash)
{
	uint64_t index;

	for (*hash = map_hash(name, strlen(name)) + part; map_get(&s->by_name, *hash, &index);
	     ++*hash)
		if (s->groups[index]->part == part && strcmp(s->groups[index]->name, name) == 0)
			return s->groups[index];
	return NULL;
}

struct sums_group *sums_group(struct sums *s, const char *name, uint32_t part)
{
	uint64_t hash;
	struct sums_group *g = find_name(s, name, part, &hash);
	char *copy;

	if (g)
		return g;
	copy = alloc_string(name);
	g = copy ? add_group(s, part) : NULL;
	if (!g || map_put(&s->by_name, hash, s->nr - 1)) {
		fail(s, -ENOMEM);
		alloc_free(copy);
		return &s->spare;
	}
	g->name = copy;
	return g;
}

/* Whether there is a map for the part. */
static bool has_part(struct sums *s, uint32_t part)
{
	struct map *grown;

	if (part < s->nr_parts)
		return true;
	grown = alloc_resize(s->by_key, part + 1, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + s->nr_parts, 0, (part + 1 - s->nr_parts) * sizeof(*grown));
	s->by_key = grown;
	s->nr_parts = part + 1;
	return true;
}

struct sums_group *sums_group_of(struct sums *s, uint64_t key, uint32_t part)
{
	struct sums_group *g = s->last;
	uint64_t index;

	if (g && g->key == key && g->part == part)
		return g;
	if (!has_part(s, part)) {
		fail(s, -ENOMEM);
		return &s->spare;
	}
	if (map_get(&s->by_key[part], key, &index)) {
		s->last = s->groups[index];
		return s->last;
	}
	g = add_group(s, part);
	if (!g || map_put(&s->by_key[part], key, s->nr - 1)) {
		fail(s, -ENOMEM);
		return &s->spare;
	}
	g->key = key;
	s->last = g;
	return g;
}

/* ---- values ---- */

static bool open_file(struct sums *s)
{
	s->dir = temporary_directory();
	s->fd = temporary_unnamed("rtl-values");
	if (s->fd >= 0)
		return true;
	fail(s, s->fd);
	s->fd = -1;
	return false;
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
	int64_t *from = v, *to = nr > DIGITS ? alloc_heap(nr * sizeof(*v)) : NULL, *other = to;

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
	alloc_free(other);
}

static void sort_kept(struct sums_values *v)
{
	if (!v->sorted)
		sort_values(v->kept, v->nr_kept, v->min, v->max);
	v->sorted = true;
}

static void forget_kept(struct sums_values *v)
{
	alloc_free(v->kept);
	v->kept = NULL;
	v->nr_kept = v->max_kept = 0;
}

/* Appends the values of a series to the file, sorted. */
static void write_run(struct sums *s, struct sums_values *v)
{
	struct sums_run *runs = alloc_resize(v->runs, v->nr_runs + 1, sizeof(*runs));
	const char *at = (const char *)v->kept;
	size_t left = v->nr_kept * sizeof(*v->kept);

	if (!runs) {
		fail(s, -ENOMEM);
		return;
	}
	sort_kept(v);
	v->runs = runs;
	v->runs[v->nr_runs++] = (struct sums_run){ s->size, v->nr_kept };
	s->size += left;
	while (left) {
		ssize_t n = write(s->fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail(s, n < 0 ? -errno : -EIO);
			return;
		}
		at += n;
		left -= (size_t)n;
	}
}

/* Moves the values in memory to the file. */
static void spill_values(struct sums *s)
{
	bool opened = s->fd >= 0 || open_file(s);

	for (size_t i = 0; i < s->nr; i++)
		for (int k = 0; k < SUMS_NR; k++) {
			struct sums_values *v = &s->groups[i]->values[k];

			if (opened && v->nr_kept && !s->error)
				write_run(s, v);
			forget_kept(v);
		}
	s->nr_kept = 0;
}

/* Whether there is space for one more value in memory. */
static bool has_space(struct sums *s, struct sums_values *v)
{
	int64_t *grown = alloc_grow(v->kept, v->nr_kept, &v->max_kept, 16, sizeof(*grown));

	if (!grown) {
		fail(s, -ENOMEM);
		return false;
	}
	v->kept = grown;
	return true;
}

void sums_add_value(struct sums *s, struct sums_group *g, enum sums_series series, int64_t ns)
{
	struct sums_values *v = &g->values[series];

	if (!v->nr || ns < v->min)
		v->min = ns;
	if (!v->nr || ns > v->max)
		v->max = ns;
	v->nr++;
	v->total = (int64_t)((uint64_t)v->total + (uint64_t)ns); /* damaged times may overflow */
	if (s->error || (v->nr_kept == v->max_kept && !has_space(s, v)))
		return;
	v->kept[v->nr_kept++] = ns;
	v->sorted = false;
	if (++s->nr_kept >= s->max_kept)
		spill_values(s);
}

void sums_add(struct sums *s, struct sums_group *g, uint64_t ns)
{
	g->calls++;
	sums_add_value(s, g, SUMS_TIME, (int64_t)ns);
}

void sums_add_untimed(struct sums_group *g)
{
	g->calls++;
}

/* How many values of a run are not above `most`. */
static uint64_t count_run(struct sums *s, const struct sums_run *run, int64_t most)
{
	uint64_t low = 0, high = run->nr;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		int64_t value;

		if (pread(s->fd, &value, sizeof(value), (off_t)(run->at + mid * sizeof(value))) !=
		    sizeof(value)) {
			fail(s, errno ? -errno : -EIO);
			return run->nr;
		}
		if (value <= most)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The smallest value which more than `rank` values do not exceed: all are sorted runs. */
static int64_t pick_rank(struct sums *s, struct sums_values *v, uint64_t rank)
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

const int64_t *sums_values(struct sums *s, struct sums_group *g, enum sums_series series,
			   size_t *nr)
{
	struct sums_values *v = &g->values[series];

	*nr = s->fd >= 0 ? 0 : v->nr_kept;
	if (!*nr)
		return NULL;
	sort_kept(v);
	return v->kept;
}

int64_t sums_quantile(struct sums *s, struct sums_group *g, enum sums_series series, double share)
{
	struct sums_values *v = &g->values[series];
	uint64_t rank;

	if (!v->nr)
		return 0;
	rank = (uint64_t)ceil(share * (double)v->nr);
	if (rank > v->nr)
		rank = v->nr;
	rank -= rank > 0;
	if (s->error)
		return 0;
	if (s->fd >= 0)
		return pick_rank(s, v, rank);
	return sums_values(s, g, series, &(size_t){ 0 })[rank];
}

int64_t sums_mean(const struct sums_group *g, enum sums_series series)
{
	const struct sums_values *v = &g->values[series];

	return v->nr ? (int64_t)llround((double)v->total / (double)v->nr) : 0;
}

/* ---- names ---- */

static void *append(void *to, size_t nr, const void *from, size_t more, size_t size)
{
	char *grown = alloc_resize(to, nr + more, size);

	if (grown)
		memcpy(grown + nr * size, from, more * size);
	return grown;
}

static bool join_values(struct sums_values *to, const struct sums_values *from)
{
	void *grown;

	if (!from->nr)
		return true;
	if (from->nr_kept) {
		grown = append(to->kept, to->nr_kept, from->kept, from->nr_kept, sizeof(*to->kept));
		if (!grown)
			return false;
		to->kept = grown;
		to->nr_kept += from->nr_kept;
		to->max_kept = to->nr_kept;
		to->sorted = false;
	}
	if (from->nr_runs) {
		grown = append(to->runs, to->nr_runs, from->runs, from->nr_runs, sizeof(*to->runs));
		if (!grown)
			return false;
		to->runs = grown;
		to->nr_runs += from->nr_runs;
	}
	to->min = !to->nr || from->min < to->min ? from->min : to->min;
	to->max = !to->nr || from->max > to->max ? from->max : to->max;
	to->nr += from->nr;
	to->total = (int64_t)((uint64_t)to->total + (uint64_t)from->total);
	return true;
}

static void join_groups(struct sums *s, struct sums_group *to, const struct sums_group *from)
{
	to->calls += from->calls;
	to->bytes += from->bytes;
	to->errors += from->errors;
	to->extra_ns += from->extra_ns;
	to->gpus |= from->gpus;
	for (int k = 0; k < SUMS_NR; k++)
		if (!join_values(&to->values[k], &from->values[k]))
			fail(s, -ENOMEM);
}

void sums_name(struct sums *s, const char *(*name)(void *arg, uint64_t key), void *arg)
{
	size_t nr = 0;

	forget_keys(s);
	map_clear(&s->by_name);
	for (size_t i = 0; i < s->nr; i++) {
		struct sums_group *g = s->groups[i], *same;
		const char *text = g->name ? g->name : name(arg, g->key);
		uint64_t hash;

		same = find_name(s, text, g->part, &hash);
		if (same) {
			join_groups(s, same, g);
			free_group(g);
			continue;
		}
		if (!g->name)
			g->name = alloc_string(text);
		if (!g->name || map_put(&s->by_name, hash, nr))
			fail(s, -ENOMEM);
		if (g->name)
			s->groups[nr++] = g;
		else
			free_group(g);
	}
	s->nr = nr;
}

/* ---- groups ---- */

static int compare_totals(const void *a, const void *b)
{
	const struct sums_group *x = *(struct sums_group *const *)a;
	const struct sums_group *y = *(struct sums_group *const *)b;

	int64_t a_ns = x->values[SUMS_TIME].total, b_ns = y->values[SUMS_TIME].total;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct sums_group **sums_sorted(struct sums *s, size_t *nr)
{
	/* sorting makes the map's indices invalid */
	map_clear(&s->by_name);
	if (s->nr)
		qsort(s->groups, s->nr, sizeof(*s->groups), compare_totals);
	*nr = s->nr;
	return s->groups;
}

const char *sums_gpus(char *buf, size_t size, uint64_t gpus)
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
