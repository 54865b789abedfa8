/* SPDX-License-Identifier: MIT */
/* tui_collectives.c - the lanes of collectives in the timeline: their slices as rows of a temporary
 * table, and the text of one
 *
 * They are read when all other rows are. Requests are answered meanwhile, but not before the first
 * one is matched, for which all operations are read once more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_tracks.h"
#include "cli/read/screen.h"
#include "cli/read/tui_time.h"
#include "cli/ui.h"

#define TEXT_RANKS 16 /* those that waited longest are named */

void tui_collectives_prepare(struct tui_reader *r)
{
	db_check(
		&r->q,
		query_run(
			&r->q,
			"CREATE TEMP TABLE tui_name (id INTEGER PRIMARY KEY, string TEXT); "
			"CREATE TEMP TABLE tui_collective (id INTEGER PRIMARY KEY, number INTEGER, "
			"track INTEGER, track_name INTEGER, start INTEGER, \"end\" INTEGER, name INTEGER); "
			"CREATE TEMP TABLE tui_collective_text (number INTEGER PRIMARY KEY, last INTEGER, "
			"is_call INTEGER, string TEXT)"));
}

/* ---- reading ---- */

struct filling {
	struct tui_reader *r;
	struct texts names;
	sqlite3_stmt *name, *slice, *text;
	int64_t number;
};

static void run(struct filling *f, sqlite3_stmt *stmt)
{
	db_step(&f->r->q, stmt);
	sqlite3_reset(stmt);
}

static int64_t name_of(struct filling *f, const char *text)
{
	bool is_new;
	uint64_t id = texts_number(&f->names, text, strlen(text), &is_new);

	if (!id)
		ui_die_memory();
	if (is_new) {
		sqlite3_bind_int64(f->name, 1, (int64_t)id);
		sqlite3_bind_text(f->name, 2, text, -1, SQLITE_STATIC);
		run(f, f->name);
	}
	return (int64_t)id;
}

static void add_slice(struct filling *f, const struct collective_slices *slices, int64_t begin,
		      int64_t end, const char *name)
{
	const int64_t values[] = {
		f->number, (int64_t)slices->track, name_of(f, slices->track_name), begin,
		end,	   name_of(f, name)
	};

	if (begin >= end)
		return;
	for (int i = 0; i < 6; i++)
		sqlite3_bind_int64(f->slice, i + 1, values[i]);
	run(f, f->slice);
}

struct waiting {
	int64_t ns;
	size_t party;
};

static int compare_waiting(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->party < y->party ? -1 : x->party > y->party;
}

static void put_waiting(FILE *file, const struct collective_slices *slices)
{
	const struct collective_one *one = slices->one;
	struct waiting *all = calloc(one->nr, sizeof(*all));
	const char *before = "; waited for it: ";
	char ns[UI_NUMBER_SIZE];
	size_t nr = 0;

	if (!all)
		ui_die_memory();
	for (size_t i = 0; i < one->nr; i++)
		if (i != one->last)
			all[nr++] = (struct waiting){ one->arrivals[one->last].begin -
							      one->arrivals[i].begin,
						      one->arrivals[i].party };
	if (nr)
		qsort(all, nr, sizeof(*all), compare_waiting);
	for (size_t i = 0; i < nr && i < TEXT_RANKS; i++, before = ", ")
		fprintf(file, "%s%s %s", before, slices->parties[all[i].party].name,
			ui_time(ns, (uint64_t)all[i].ns));
	if (nr > TEXT_RANKS)
		fprintf(file, ", and %zu more", nr - TEXT_RANKS);
	free(all);
}

/* "number 8, class skew: skew 301 us, transfer 40 us: ncclAllReduce", and who came last. */
static char *make_text(const struct collective_slices *slices)
{
	const struct collective_one *one = slices->one;
	const struct collective_arrival *last = &one->arrivals[one->last];
	char skew[UI_NUMBER_SIZE], transfer[UI_NUMBER_SIZE], bytes[UI_NUMBER_SIZE], *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		ui_die_memory();
	fprintf(file, "number %" PRIu64 ", class %s: skew %s, transfer %s", one->number,
		collective_classes[one->class], ui_time(skew, (uint64_t)slices->skew_ns),
		ui_time(transfer, (uint64_t)slices->transfer_ns));
	if (last->bytes)
		fprintf(file, ", %s", ui_bytes(bytes, last->bytes));
	fprintf(file, ": %s\n%s %s came last", one->name, screen_is_utf8() ? "\xe2\x86\x90" : "<-",
		slices->parties[last->party].name);
	if (one->class == COLLECTIVE_SKEW)
		fprintf(file, " (%s)", collective_causes[one->cause]);
	fputs(" (key g)", file);
	put_waiting(file, slices);
	fclose(file);
	return text;
}

static int take(void *arg, const struct collective_slices *slices)
{
	struct filling *f = arg;
	const struct collective_one *one = slices->one;
	const struct collective_arrival *last = &one->arrivals[one->last];
	char *text = make_text(slices);

	f->number++;
	add_slice(f, slices, slices->begin, slices->middle, slices->wait);
	add_slice(f, slices, slices->middle, slices->end, one->name);
	sqlite3_bind_int64(f->text, 1, f->number);
	sqlite3_bind_int64(f->text, 2, last->op);
	sqlite3_bind_int64(f->text, 3, slices->parties[last->party].gpu < 0);
	sqlite3_bind_text(f->text, 4, text, -1, SQLITE_STATIC);
	run(f, f->text);
	free(text);
	tui_answer_meanwhile(f->r);
	return 0;
}

void tui_collectives_read(struct tui_reader *r)
{
	struct filling f = { .r = r };

	if (r->has_collectives)
		return;
	r->has_collectives = true;
	f.name = db_query(&r->q, "INSERT INTO temp.tui_name VALUES (?1, ?2)");
	f.slice = db_query(
		&r->q,
		"INSERT INTO temp.tui_collective (number, track, track_name, start, \"end\", "
		"name) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
	f.text = db_query(&r->q, "INSERT INTO temp.tui_collective_text VALUES (?1, ?2, ?3, ?4)");
	db_check(&r->q, query_run(&r->q, "BEGIN"));
	db_check(&r->q, collective_tracks_read(&r->q, take, &f));
	db_check(&r->q, query_run(&r->q, "COMMIT"));
	sqlite3_finalize(f.name);
	sqlite3_finalize(f.slice);
	sqlite3_finalize(f.text);
	texts_fini(&f.names);
}

/* ---- the text of one ---- */

bool tui_collectives_text(struct tui_reader *r, int64_t id, FILE *to, struct tui_row *last)
{
	sqlite3_stmt *stmt =
		db_query(&r->q,
			 "SELECT T.string, T.last, T.is_call FROM temp.tui_collective_text T JOIN "
			 "temp.tui_collective C ON C.number = T.number WHERE C.id = ?1");
	int64_t op = 0;
	bool is_call = false;

	if (query_row(stmt, id)) {
		fprintf(to, "\n%s", query_text(stmt, 0));
		op = sqlite3_column_int64(stmt, 1);
		is_call = sqlite3_column_int64(stmt, 2) != 0;
	}
	sqlite3_finalize(stmt);
	return op && tui_find_row(r, is_call ? TUI_CALLS : TUI_OPS, op, last);
}
