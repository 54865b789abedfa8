/* SPDX-License-Identifier: MIT */
/* tally.c - sums of a growing trace: by kernel, function and kind of copy
 *
 * Owns:     sums by id, and the names that ids have; a name may come after the records that use it.
 * Threads:  one.
 * Fails:    out of memory ends the process. Of very many strings the later ones have no name.
 */
#include "cli/read/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "cli/ui.h"
#include "query/kinds.h"
#include "query/label.h"
#include "store/map.h"

/* names of kernels and functions; more strings are messages of markers */
#define MAX_STRINGS 1000000u

struct sums {
	uint64_t id;
	struct tally_sum all, fresh;
};

struct group {
	struct map index; /* id: index of its sums */
	struct sums *sums;
	size_t nr, max;
	struct map names; /* id: string id */
};

struct tally {
	struct group groups[TALLY_NR_KINDS];
	struct map strings; /* id: index of its text */
	char **texts;
	size_t nr_texts, max_texts;
	struct tally_row *rows;
	char **shown; /* their names */
	size_t nr_shown;
};

static void *grown(void *array, size_t nr, size_t *max, size_t size)
{
	if (nr < *max)
		return array;
	*max = *max ? 2 * *max : 64;
	array = reallocarray(array, *max, size);
	if (!array)
		ui_die_memory();
	return array;
}

static void put(struct map *map, uint64_t key, uint64_t value)
{
	if (map_put(map, key, value) != 0)
		ui_die_memory();
}

struct tally *tally_create(void)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t)
		ui_die_memory();
	return t;
}

static void forget_shown(struct tally *t)
{
	for (size_t i = 0; i < t->nr_shown; i++)
		free(t->shown[i]);
	free(t->shown);
	free(t->rows);
	t->shown = NULL;
	t->rows = NULL;
	t->nr_shown = 0;
}

void tally_destroy(struct tally *t)
{
	if (!t)
		return;
	forget_shown(t);
	for (int i = 0; i < TALLY_NR_KINDS; i++) {
		map_fini(&t->groups[i].index);
		map_fini(&t->groups[i].names);
		free(t->groups[i].sums);
	}
	for (size_t i = 0; i < t->nr_texts; i++)
		free(t->texts[i]);
	free(t->texts);
	map_fini(&t->strings);
	free(t);
}

/* ---- records --------------------------------------------------------------------------------- */

static void add_to(struct tally_sum *sum, const struct tally_sum *more)
{
	sum->count += more->count;
	sum->ns += more->ns;
	sum->bytes += more->bytes;
}

static void add(struct tally *t, enum tally_kind kind, uint64_t id, uint64_t ns, uint64_t bytes)
{
	const struct tally_sum one = { 1, ns, bytes };
	struct group *g = &t->groups[kind];
	uint64_t i;

	if (!map_get(&g->index, id, &i)) {
		g->sums = grown(g->sums, g->nr, &g->max, sizeof(*g->sums));
		i = g->nr++;
		g->sums[i] = (struct sums){ .id = id };
		put(&g->index, id, i);
	}
	add_to(&g->sums[i].all, &one);
	add_to(&g->sums[i].fresh, &one);
}

/* The first piece: longer names are cut. */
static void add_string(struct tally *t, const struct rec_string *r)
{
	uint32_t size = r->total < REC_STRING_PIECE ? r->total : REC_STRING_PIECE;

	if (r->offset || t->nr_texts == MAX_STRINGS)
		return;
	t->texts = grown(t->texts, t->nr_texts, &t->max_texts, sizeof(*t->texts));
	t->texts[t->nr_texts] = strndup(r->bytes, size);
	if (!t->texts[t->nr_texts])
		ui_die_memory();
	put(&t->strings, r->h.id, t->nr_texts++);
}

static uint64_t span(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

void tally_record(void *tally, const struct rec_head *rec, const struct rec_shape *shape)
{
	union {
		const struct rec_head *head;
		const struct rec_string *string;
		const struct rec_kernel *kernel;
		const struct rec_op *op;
		const struct rec_dispatch *dispatch;
		const struct rec_dispatch_wide *wide;
		const struct rec_copy *copy;
		const struct rec_api *api;
	} r = { rec };
	struct tally *t = tally;

	switch (rec->type) {
	case REC_STRING:
		add_string(t, r.string);
		break;
	case REC_KERNEL:
		put(&t->groups[TALLY_KERNEL].names, rec->id, r.kernel->name);
		break;
	case REC_OP:
		put(&t->groups[TALLY_CALL].names, rec->id, r.op->name);
		break;
	case REC_DISPATCH:
		if (!(rec->flags & REC_F_INTERNAL))
			add(t, TALLY_KERNEL, shape->kernel, r.dispatch->ns, 0);
		break;
	case REC_DISPATCH_WIDE:
		if (!(rec->flags & REC_F_INTERNAL))
			add(t, TALLY_KERNEL, shape->kernel, span(r.wide->begin_ns, r.wide->end_ns),
			    0);
		break;
	case REC_COPY:
		add(t, TALLY_COPY, r.copy->kind, span(r.copy->begin_ns, r.copy->end_ns),
		    r.copy->bytes);
		break;
	case REC_API:
		add(t, TALLY_CALL, (uint32_t)r.api->domain << 16 | r.api->op,
		    span(r.api->begin_ns, r.api->end_ns), 0);
		break;
	default:
		break;
	}
}

void tally_begin(struct tally *t)
{
	for (int k = 0; k < TALLY_NR_KINDS; k++)
		for (size_t i = 0; i < t->groups[k].nr; i++)
			t->groups[k].sums[i].fresh = (struct tally_sum){ 0 };
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* malloc'd */
static char *name_of(const struct tally *t, enum tally_kind kind, uint64_t id)
{
	uint64_t string = 0, text = 0;
	char label[LABEL_SIZE], *whole, *name;

	if (kind == TALLY_COPY)
		return ui_format("%s", kinds_copy_name((uint32_t)id));
	if (!map_get(&t->groups[kind].names, id, &string) || !map_get(&t->strings, string, &text))
		return ui_format("%s#%llu", kind == TALLY_KERNEL ? "kernel" : "function",
				 (unsigned long long)id);
	if (kind == TALLY_CALL)
		return ui_format("%s", t->texts[text]);
	whole = demangle_dup(t->texts[text]);
	if (!whole)
		ui_die_memory();
	name = ui_format("%s", label_kernel(label, whole));
	free(whole);
	return name;
}

static int by_name(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	if (x->fresh.ns != y->fresh.ns)
		return x->fresh.ns > y->fresh.ns ? -1 : 1;
	if (x->all.ns != y->all.ns)
		return x->all.ns > y->all.ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Rows of one name become one: the same kernel on several GPUs. Returns the number of rows. */
static size_t join_names(struct tally_row *rows, size_t nr)
{
	size_t kept = 0;

	qsort(rows, nr, sizeof(*rows), by_name);
	for (size_t i = 0; i < nr; i++) {
		if (kept && strcmp(rows[kept - 1].name, rows[i].name) == 0) {
			add_to(&rows[kept - 1].all, &rows[i].all);
			add_to(&rows[kept - 1].fresh, &rows[i].fresh);
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

size_t tally_rows(struct tally *t, enum tally_kind kind, const struct tally_row **out)
{
	const struct group *g = &t->groups[kind];
	size_t nr;

	forget_shown(t);
	*out = NULL;
	if (!g->nr)
		return 0;
	t->rows = calloc(g->nr, sizeof(*t->rows));
	t->shown = calloc(g->nr, sizeof(*t->shown));
	if (!t->rows || !t->shown)
		ui_die_memory();
	t->nr_shown = g->nr;
	for (size_t i = 0; i < g->nr; i++) {
		t->shown[i] = name_of(t, kind, g->sums[i].id);
		t->rows[i] = (struct tally_row){ t->shown[i], g->sums[i].all, g->sums[i].fresh };
	}
	nr = join_names(t->rows, g->nr);
	qsort(t->rows, nr, sizeof(*t->rows), by_time);
	*out = t->rows;
	return nr;
}

struct tally_row tally_total(const struct tally *t, enum tally_kind kind)
{
	struct tally_row total = { .name = "" };

	for (size_t i = 0; i < t->groups[kind].nr; i++) {
		add_to(&total.all, &t->groups[kind].sums[i].all);
		add_to(&total.fresh, &t->groups[kind].sums[i].fresh);
	}
	return total;
}
