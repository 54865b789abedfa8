/* SPDX-License-Identifier: MIT */
/* tui_slice.c - one slice of the timeline: its details, what it is joined to, the next one */
#include "cli/read/tui_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/screen.h"
#include "cli/ui.h"

#define MAX_BLOCKS 32 /* that are read for a slice under the cursor, and for what a call caused */

/* ---- the slice under the cursor ---- */

struct pick {
	size_t lane;
	int64_t begin, end, longest;
	struct tui_row row;
	bool is_known;
};

static bool pick_row(struct tui_reader *r, const struct tui_row *row, void *arg)
{
	struct pick *k = arg;
	int64_t from = row->begin > k->begin ? row->begin : k->begin;
	int64_t to = row->end < k->end ? row->end : k->end;

	(void)r;
	if (row->lane != k->lane || row->begin >= k->end || row->end < k->begin ||
	    to - from < k->longest)
		return true;
	k->longest = to - from;
	k->row = *row;
	k->is_known = true;
	return true;
}

static bool find_under_cursor(struct tui_reader *r, size_t lane, struct pick *k)
{
	const struct tui_ask *ask = r->ask;
	enum tui_table table = tui_table_of(r, lane);
	const struct level_blocks *t = &r->levels.tables[table];
	size_t nr = 0;

	*k = (struct pick){ .lane = lane, .begin = ask->at, .end = ask->at_end };
	for (size_t i = 0; i < t->nr && nr < MAX_BLOCKS; i++) {
		const struct level_block block = t->blocks[i];

		if (block.begin < k->end && block.end >= k->begin) {
			tui_read_block(r, table, &block, pick_row, k);
			nr++;
		}
	}
	return k->is_known;
}

/* ---- texts ---- */

struct text {
	char *bytes;
	size_t size;
	FILE *file;
};

static void open_text(struct text *t)
{
	t->file = open_memstream(&t->bytes, &t->size);
	if (!t->file)
		ui_die_memory();
}

static void put_time(struct text *t, const char *what, int64_t ns)
{
	char buf[UI_NUMBER_SIZE];

	fprintf(t->file, "%s%s%s", what, ns < 0 ? "-" : "", ui_time(buf, (uint64_t)llabs(ns)));
}

static void put_slice(struct tui_reader *r, struct text *t, const struct tui_row *row)
{
	const struct level_lane *lane = &r->levels.lanes[row->lane];
	char *name = tui_name(r, lane->kind, row->name);

	fprintf(t->file, "%s\n%s", name, lane->name);
	free(name);
	fprintf(t->file, "   begins at %.9f s", (double)(row->begin - r->levels.begin) / 1e9);
	put_time(t, "   takes ", row->end - row->begin);
}

static struct tui_spot spot_of(struct tui_reader *r, const struct tui_row *row)
{
	return (struct tui_spot){ true, tui_screen_lane(r, row->lane), row->begin, row->end };
}

/* ---- rows by their id ---- */

static bool take_first(struct tui_reader *r, const struct tui_row *row, void *arg)
{
	struct pick *k = arg;

	(void)r;
	k->row = *row;
	k->is_known = true;
	return false;
}

bool tui_find_row(struct tui_reader *r, enum tui_table table, int64_t id, struct tui_row *row)
{
	const struct level_block block = { .first_id = id, .last_id = id };
	struct pick k = { 0 };

	tui_read_block(r, table, &block, take_first, &k);
	*row = k.row;
	return k.is_known;
}

static int64_t number_of(struct tui_reader *r, const char *sql, int64_t a, int64_t b, int64_t c)
{
	sqlite3_stmt *stmt = db_query(&r->q, sql);
	int64_t value;

	sqlite3_bind_int64(stmt, 1, a);
	sqlite3_bind_int64(stmt, 2, b);
	sqlite3_bind_int64(stmt, 3, c);
	value = db_step(&r->q, stmt) ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return value;
}

/* The first operation of a call: operations begin after it, and are near in the file. */
static int64_t op_of_call(struct tui_reader *r, const struct tui_row *call)
{
	const struct level_blocks *t = &r->levels.tables[TUI_OPS];
	int64_t op = 0;
	size_t nr = 0;

	if (!r->q.ours)
		return number_of(r, "SELECT min(op_id) FROM rocpd_api_ops WHERE api_id = ?1",
				 call->id, 0, 0);
	for (size_t i = 0; i < t->nr && !op && nr < MAX_BLOCKS; i++) {
		if (t->blocks[i].end < call->begin)
			continue;
		op = number_of(
			r,
			"SELECT id FROM rocpd_op WHERE id BETWEEN ?1 AND ?2 AND correlation_id = ?3 "
			"ORDER BY start LIMIT 1",
			t->blocks[i].first_id, t->blocks[i].last_id, call->id);
		nr++;
	}
	return op;
}

/* ---- details ---- */

static void put_shape(struct tui_reader *r, struct text *t, int64_t id)
{
	sqlite3_stmt *stmt;

	if (!r->q.ours)
		return;
	stmt = db_query(
		&r->q,
		"SELECT grid_x, grid_y, grid_z, group_x, group_y, group_z FROM rtl_op_kernel K "
		"JOIN rtl_shape S ON S.id = K.shape_id WHERE K.op_id = ?1");
	sqlite3_bind_int64(stmt, 1, id);
	if (db_step(&r->q, stmt))
		fprintf(t->file, "   grid %lldx%lldx%lld of %lldx%lldx%lld",
			(long long)sqlite3_column_int64(stmt, 0),
			(long long)sqlite3_column_int64(stmt, 1),
			(long long)sqlite3_column_int64(stmt, 2),
			(long long)sqlite3_column_int64(stmt, 3),
			(long long)sqlite3_column_int64(stmt, 4),
			(long long)sqlite3_column_int64(stmt, 5));
	sqlite3_finalize(stmt);
	stmt = db_query(&r->q, "SELECT bytes FROM rtl_op_copy WHERE op_id = ?1");
	sqlite3_bind_int64(stmt, 1, id);
	if (db_step(&r->q, stmt) && sqlite3_column_int64(stmt, 0)) {
		char bytes[UI_NUMBER_SIZE];

		fprintf(t->file, "   %s", ui_bytes(bytes, (uint64_t)sqlite3_column_int64(stmt, 0)));
	}
	sqlite3_finalize(stmt);
}

static void put_op(struct tui_reader *r, struct text *t, const struct tui_row *op)
{
	int64_t call = number_of(r,
				 r->q.ours ?
					 "SELECT correlation_id FROM rocpd_op WHERE id = ?1" :
					 "SELECT min(api_id) FROM rocpd_api_ops WHERE op_id = ?1",
				 op->id, 0, 0);
	struct tui_row row;
	char *name;

	put_shape(r, t, op->id);
	if (!call || !tui_find_row(r, TUI_CALLS, call, &row)) {
		fputs("\nits call is not known", t->file);
		return;
	}
	name = tui_name(r, LANE_CALLS, row.name);
	put_time(t, screen_is_utf8() ? "\n\xe2\x86\x90 " : "\n<- ", op->begin - row.begin);
	fprintf(t->file, " before in %s (key g): %s", r->levels.lanes[row.lane].name, name);
	free(name);
	r->picture->other = spot_of(r, &row);
}

static void put_call(struct tui_reader *r, struct text *t, const struct tui_row *call)
{
	int64_t op = op_of_call(r, call);
	struct tui_row row;
	sqlite3_stmt *stmt;

	stmt = r->q.ours ? db_query(&r->q, "SELECT status FROM rtl_api_data WHERE api_id = ?1") :
			   NULL;
	if (stmt && query_row(stmt, call->id) && sqlite3_column_int64(stmt, 0))
		fprintf(t->file, "   failed: error %lld", (long long)sqlite3_column_int64(stmt, 0));
	sqlite3_finalize(stmt);
	stmt = db_query(&r->q, "SELECT args_id FROM rocpd_api WHERE id = ?1");
	if (query_row(stmt, call->id)) {
		sqlite3_stmt *args = db_query(&r->q, query_args_sql(&r->q));
		const char *text = query_look_up(args, sqlite3_column_int64(stmt, 0));

		if (*text)
			fprintf(t->file, "\n%s", text);
		sqlite3_finalize(args);
	}
	sqlite3_finalize(stmt);
	if (op && tui_find_row(r, TUI_OPS, op, &row)) {
		char *name = tui_name(r, LANE_KERNELS, row.name);

		put_time(t, screen_is_utf8() ? "\n\xe2\x86\x92 " : "\n-> ",
			 row.begin - call->begin);
		fprintf(t->file, " later on %s (key g): %s", r->levels.lanes[row.lane].name, name);
		free(name);
		r->picture->other = spot_of(r, &row);
	}
}

static void put_collective(struct tui_reader *r, struct text *t, const struct tui_row *slice)
{
	struct tui_row last;

	if (tui_collectives_text(r, slice->id, t->file, &last))
		r->picture->other = spot_of(r, &last);
}

void tui_slice_details(struct tui_reader *r, int64_t id, size_t lane)
{
	struct text t = { 0 };
	struct pick k;

	if (!id) {
		if (r->ask->lane >= r->levels.nr)
			return;
		if (!find_under_cursor(r, r->levels.order[r->ask->lane], &k))
			return;
	} else {
		k.lane = lane;
		if (!tui_find_row(r, tui_table_of(r, lane), id, &k.row))
			return;
	}
	r->picture->self = spot_of(r, &k.row);
	open_text(&t);
	put_slice(r, &t, &k.row);
	if (r->levels.lanes[k.lane].kind == LANE_CALLS)
		put_call(r, &t, &k.row);
	else if (r->levels.lanes[k.lane].kind == LANE_COLLECTIVES)
		put_collective(r, &t, &k.row);
	else if (r->levels.lanes[k.lane].kind != LANE_RANGES)
		put_op(r, &t, &k.row);
	fclose(t.file);
	r->picture->details = t.bytes;
}

/* ---- the next slice ---- */

struct search {
	size_t lane; /* SIZE_MAX: any */
	int64_t from;
	int step;
	const char *text;
	struct map matches; /* tui_name_key() -> whether the name has the text */
	struct tui_row best;
	bool is_known;
};

static bool has_text(struct tui_reader *r, struct search *s, const struct tui_row *row)
{
	enum lane_kind kind = r->levels.lanes[row->lane].kind;
	uint64_t key = tui_name_key(kind, row->name), has;
	char *name;

	if (!*s->text)
		return true;
	if (map_get(&s->matches, key, &has))
		return has != 0;
	name = tui_name(r, kind, row->name);
	has = strcasestr(name, s->text) != NULL;
	free(name);
	if (map_put(&s->matches, key, has))
		ui_die_memory();
	return has != 0;
}

static bool search_row(struct tui_reader *r, const struct tui_row *row, void *arg)
{
	struct search *s = arg;

	if (s->lane != SIZE_MAX && row->lane != s->lane)
		return true;
	if (s->step > 0 ? row->begin <= s->from : row->begin >= s->from)
		return true;
	if (s->is_known &&
	    (s->step > 0 ? row->begin >= s->best.begin : row->begin <= s->best.begin))
		return true;
	if (has_text(r, s, row)) {
		s->best = *row;
		s->is_known = true;
	}
	return true;
}

/* Blocks in the order of the search, until what follows can't be nearer. Rows of different blocks
 * may overlap in time. */
static void search_table(struct tui_reader *r, struct search *s, enum tui_table table)
{
	const struct level_blocks *t = &r->levels.tables[table];

	for (size_t n = 0; n < t->nr && !tui_is_late(); n++) {
		const struct level_block block = t->blocks[s->step > 0 ? n : t->nr - 1 - n];

		if (s->step > 0 ? block.end <= s->from : block.begin >= s->from)
			continue;
		if (s->is_known &&
		    (s->step > 0 ? block.begin >= s->best.begin : block.end <= s->best.begin))
			continue;
		tui_read_block(r, table, &block, search_row, s);
	}
}

void tui_slice_find(struct tui_reader *r)
{
	const struct tui_ask *ask = r->ask;
	struct search s = {
		.lane = SIZE_MAX, .from = ask->at, .step = ask->find, .text = ask->text
	};

	r->picture->is_find = true;
	if (!*ask->text) {
		if (ask->lane >= r->levels.nr)
			return;
		s.lane = r->levels.order[ask->lane];
		search_table(r, &s, tui_table_of(r, s.lane));
	} else {
		for (int i = 0; i < TUI_TABLES; i++)
			search_table(r, &s, (enum tui_table)i);
	}
	map_fini(&s.matches);
	if (s.is_known)
		r->picture->found = spot_of(r, &s.best);
}
