/* SPDX-License-Identifier: MIT */
/* stats.c - durations grouped by name
 *
 * When the limit of values in memory is exceeded, all of them move to a table of a private, temporary
 * database, whose file SQLite makes and removes. Its index over group and value gives the quantiles.
 */
#include "cli/stats.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/ui.h"
#include "store/map.h"

#define MAX_KEPT (4u << 20)

struct stats {
	struct stats_group **groups;
	size_t nr, max;
	size_t nr_kept, max_kept; /* values in memory */
	sqlite3 *file;		  /* NULL: all are in memory */
	sqlite3_stmt *add, *pick;

	struct map by_name; /* hash of the name -> index; colliding hashes are probed upwards */
	struct map by_key;
};

struct stats *stats_create(size_t max_kept)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		ui_die_memory();
	s->max_kept = max_kept ? max_kept : MAX_KEPT;
	return s;
}

void stats_destroy(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++) {
		for (int k = 0; k < STATS_NR; k++)
			free(s->groups[i]->values[k].kept);
		free(s->groups[i]->name);
		free(s->groups[i]);
	}
	free(s->groups);
	map_fini(&s->by_name);
	map_fini(&s->by_key);
	sqlite3_finalize(s->add);
	sqlite3_finalize(s->pick);
	sqlite3_close(s->file);
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

static void die_file_error(struct stats *s)
{
	ui_die(STATUS_FAILED, "temporary file: %s; choose another directory with TMPDIR",
	       s->file ? sqlite3_errmsg(s->file) : "out of memory");
}

static int64_t key_of(const struct stats_group *g, int series)
{
	return (int64_t)(g->id * STATS_NR) + series;
}

static void open_file(struct stats *s)
{
	static const char setup[] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA "
				    "cache_size=-8192; PRAGMA temp_store=FILE; CREATE TABLE "
				    "v(k INTEGER, ns INTEGER)";

	/* no name: a temporary file */
	if (sqlite3_open_v2("", &s->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
		    SQLITE_OK ||
	    sqlite3_exec(s->file, setup, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(s->file, "INSERT INTO v VALUES (?1, ?2)", -1, &s->add, NULL) !=
		    SQLITE_OK)
		die_file_error(s);
}

/* Moves the values in memory to the file. */
static void spill_values(struct stats *s)
{
	if (!s->file)
		open_file(s);
	sqlite3_exec(s->file, "BEGIN", NULL, NULL, NULL);
	for (size_t i = 0; i < s->nr; i++)
		for (int k = 0; k < STATS_NR; k++) {
			struct stats_values *v = &s->groups[i]->values[k];

			sqlite3_bind_int64(s->add, 1, key_of(s->groups[i], k));
			for (size_t n = 0; n < v->nr_kept; n++) {
				sqlite3_bind_int64(s->add, 2, v->kept[n]);
				if (sqlite3_step(s->add) != SQLITE_DONE)
					die_file_error(s);
				sqlite3_reset(s->add);
			}
			free(v->kept);
			v->kept = NULL;
			v->nr_kept = v->max_kept = 0;
		}
	if (sqlite3_exec(s->file, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		die_file_error(s);
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

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t pick_rank(struct stats *s, const struct stats_group *g, int series, uint64_t rank)
{
	int64_t ns;

	if (s->nr_kept)
		spill_values(s);
	if (!s->pick &&
	    (sqlite3_exec(s->file, "CREATE INDEX IF NOT EXISTS i ON v(k, ns)", NULL, NULL, NULL) !=
		     SQLITE_OK ||
	     sqlite3_prepare_v2(s->file,
				"SELECT ns FROM v WHERE k = ?1 ORDER BY ns LIMIT 1 OFFSET ?2", -1,
				&s->pick, NULL) != SQLITE_OK))
		die_file_error(s);
	sqlite3_bind_int64(s->pick, 1, key_of(g, series));
	sqlite3_bind_int64(s->pick, 2, (int64_t)rank);
	if (sqlite3_step(s->pick) != SQLITE_ROW)
		die_file_error(s);
	ns = sqlite3_column_int64(s->pick, 0);
	sqlite3_reset(s->pick);
	return ns;
}

const int64_t *stats_values(struct stats *s, struct stats_group *g, enum stats_series series,
			    size_t *nr)
{
	struct stats_values *v = &g->values[series];

	*nr = s->file ? 0 : v->nr_kept;
	if (!*nr)
		return NULL;
	if (!v->sorted)
		qsort(v->kept, v->nr_kept, sizeof(*v->kept), compare_numbers);
	v->sorted = true;
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
	if (s->file)
		return pick_rank(s, g, series, rank);
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
