/* SPDX-License-Identifier: MIT */
/* tui_time.c - the thread of the timeline: reads the trace, makes pictures of it
 *
 * Fails:    errors of the file and out of memory end the process (ui_die).
 */
#include "cli/read/tui_time.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/lock.h"
#include "cli/read/screen.h"
#include "cli/read/summary.h"
#include "cli/ui.h"
#include "query/label.h"
#include "query/rows.h"

#define EXACT_ROWS 131072 /* a part with more rows than that is drawn by bins */
#define SCAN_ROWS 2048	  /* between looks for a request */

static struct lock lock = LOCK_INIT(LOCK_TUI);
static struct {
	struct tui_ask ask RTL_GUARDED_BY(lock);
	uint64_t serial RTL_GUARDED_BY(lock);
	struct tui_picture *picture RTL_GUARDED_BY(lock);
	int wake_fd;
} shared = { .wake_fd = -1 };

/* ---- requests ---- */

uint64_t tui_time_ask(struct tui_ask *ask)
{
	uint64_t serial, one = 1;

	lock_take(&lock);
	free(shared.ask.histogram);
	shared.ask = *ask;
	serial = ++shared.serial;
	lock_drop(&lock);
	ask->histogram = NULL;
	if (write(shared.wake_fd, &one, sizeof(one)) < 0)
		return serial; /* it is awake already */
	return serial;
}

struct tui_picture *tui_time_take(void)
{
	struct tui_picture *p;

	lock_take(&lock);
	p = shared.picture;
	shared.picture = NULL;
	lock_drop(&lock);
	return p;
}

void tui_time_free(struct tui_picture *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->rows; i++)
		free(p->lanes[i]);
	for (size_t i = 0; i < p->nr_names; i++)
		free(p->names[i]);
	free(p->lanes);
	free(p->kinds);
	free(p->names);
	free(p->cells);
	free(p->details);
	free(p->histogram);
	free(p->buckets);
	free(p);
}

static uint64_t serial_now(void)
{
	uint64_t serial;

	lock_take(&lock);
	serial = shared.serial;
	lock_drop(&lock);
	return serial;
}

/* of the thread alone: the last request that was answered */
static uint64_t answered;
static struct tui_ask asked;

bool tui_is_late(void)
{
	return serial_now() != answered;
}

/* ---- rows ---- */

#define COLLECTIVES_SQL                                                                            \
	"SELECT id, track, track_name, start, \"end\", name, NULL, NULL FROM temp.tui_collective O"
static const char *const rows_sql[2][TUI_TABLES] = {
	{ "SELECT id, gpuId, queueId, start, \"end\", description_id, opType_id, NULL FROM rocpd_op O",
	  "SELECT id, pid, tid, start, \"end\", apiName_id, args_id, 0 FROM rocpd_api O",
	  COLLECTIVES_SQL },
	{ "SELECT id, gpuId, queueId, start, end, description_id, opType_id, NULL FROM rocpd_op O",
	  "SELECT id, pid, tid, start, end, apiName_id, args_id, domain_id FROM rocpd_api O",
	  COLLECTIVES_SQL },
};
static const char streams_sql[] =
	"SELECT O.id, gpuId, queueId, start, end, description_id, opType_id, coalesce(K.stream, C.stream, "
	"G.stream) FROM rocpd_op O LEFT JOIN rocpd_kernelapi K ON K.api_ptr_id = O.correlation_id LEFT JOIN "
	"rocpd_copyapi C ON C.api_ptr_id = O.correlation_id LEFT JOIN rocpd_graphLaunchapi G ON G.api_ptr_id "
	"= O.correlation_id";

static sqlite3_stmt *prepare_rows(struct tui_reader *r, enum tui_table table, const char *where)
{
	const char *sql = table == TUI_OPS && r->by_stream && r->q.ours ?
				  streams_sql :
				  rows_sql[r->q.ours][table];
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", sql, where);
	return db_query(&r->q, text);
}

char *tui_name(struct tui_reader *r, enum lane_kind kind, int64_t name)
{
	sqlite3_stmt *stmt =
		db_query(&r->q, kind == LANE_RANGES ?
					query_args_sql(&r->q) :
				kind == LANE_COLLECTIVES ?
					"SELECT string FROM temp.tui_name WHERE id = ?1" :
					QUERY_STRING);
	const char *text = query_look_up(stmt, name);
	char *out = ui_format("%s", *text ? text : "unnamed");

	sqlite3_finalize(stmt);
	return out;
}

/* "rank 3 " or "4711 ", "" where there is one process alone. */
static void name_process(const struct tui_reader *r, const struct query_process *p, int64_t pid,
			 char text[40])
{
	*text = 0;
	for (size_t i = 0; !p && i < r->q.nr_processes; i++)
		if (r->q.processes[i].pid == pid)
			p = &r->q.processes[i];
	if (r->q.nr_processes > 1 && p && p->rank >= 0)
		snprintf(text, 40, "rank %lld ", (long long)p->rank);
	else if (r->q.nr_processes > 1 && (p || pid > 0))
		snprintf(text, 40, "%lld ", (long long)(p ? p->pid : pid));
}

/* "GPU 0 queue 1", "thread 4711 calls", with the process where there are several */
static void name_lane(struct tui_reader *r, size_t at, const char *stream)
{
	struct level_lane *lane = &r->levels.lanes[at];
	long long of = lane->of, which = lane->which;
	char process[40];

	if (lane->kind >= LANE_RANGES) {
		name_process(r, NULL, of, process);
		lane->name = lane->level ? ui_format("%sthread %lld ranges %lld", process, which,
						     (long long)lane->level + 1) :
					   ui_format("%sthread %lld %s", process, which,
						     lane->kind == LANE_CALLS ? "calls" : "ranges");
		return;
	}
	name_process(r, lane->level ? &r->q.processes[lane->level - 1] : NULL, 0, process);
	if (of < 0)
		lane->name = ui_format("%sno GPU", process);
	else if (stream)
		lane->name = ui_format("%sGPU %lld stream %s", process, of, label_stream(stream));
	else if (lane->kind == LANE_COPIES && which >= QUERY_COPY_QUEUE)
		lane->name =
			ui_format("%sGPU %lld copies %lld", process, of, which - QUERY_COPY_QUEUE);
	else if (lane->kind == LANE_COPIES)
		lane->name = ui_format("%sGPU %lld copies", process, of);
	else
		lane->name = ui_format("%sGPU %lld queue %lld", process, of, which);
}

/* Where there are several processes, 1 + the number of the operation's; else 0. */
static int64_t process_of(struct tui_reader *r, int64_t id)
{
	const struct query_process *p = r->process;

	if (r->q.nr_processes < 2)
		return 0;
	if (!p || id < p->id_first || id > p->id_last)
		p = r->process = query_process_of(&r->q, id);
	return p ? p - r->q.processes + 1 : 0;
}

static int64_t stream_number(struct tui_reader *r, const char *handle)
{
	uint64_t key = map_hash(handle, strlen(handle)), number = r->streams.nr + 1;

	if (!map_get(&r->streams, key, &number) && map_put(&r->streams, key, number))
		ui_die_memory();
	return (int64_t)number;
}

static size_t lane_of_op(struct tui_reader *r, sqlite3_stmt *row, struct tui_row *out)
{
	int64_t gpu = sqlite3_column_int64(row, 1), queue = sqlite3_column_int64(row, 2);
	int64_t name = sqlite3_column_int64(row, 5), type = sqlite3_column_int64(row, 6);
	bool engine = kinds_of(&r->kinds, name, type) == KINDS_ENGINE, copy = engine, is_new;
	const char *stream = NULL;
	size_t lane;

	out->name = engine ? type : name;
	if (sqlite3_column_type(row, 7) != SQLITE_NULL) {
		stream = query_text(row, 7);
		queue = -stream_number(r, stream);
		copy = false;
	}
	/* HIP's own copies are in the queue of the kernels, where they take their turn */
	lane = tui_levels_lane(&r->levels, engine && copy ? LANE_COPIES : LANE_KERNELS, gpu, queue,
			       process_of(r, out->id), &is_new);
	if (is_new)
		name_lane(r, lane, stream);
	return lane;
}

static size_t lane_of_call(struct tui_reader *r, sqlite3_stmt *row, struct tui_row *out)
{
	int64_t pid = sqlite3_column_int64(row, 1), tid = sqlite3_column_int64(row, 2), level = 0;
	bool range = sqlite3_column_int64(row, 5) == r->user_marker, is_new;
	size_t lane;

	out->name = sqlite3_column_int64(row, range ? 6 : 5);
	if (range && r->level) {
		level = query_row(r->level, out->id) ? sqlite3_column_int64(r->level, 0) : 0;
		level = level < 0 ? 0 : level > 15 ? 15 : level;
	}
	lane = tui_levels_lane(&r->levels, range ? LANE_RANGES : LANE_CALLS, pid, tid, level,
			       &is_new);
	if (is_new)
		name_lane(r, lane, NULL);
	return lane;
}

static size_t lane_of_collective(struct tui_reader *r, sqlite3_stmt *row, struct tui_row *out)
{
	int64_t track = sqlite3_column_int64(row, 1);
	bool is_new;
	size_t lane = tui_levels_lane(&r->levels, LANE_COLLECTIVES, INT64_MAX, track, 0, &is_new);

	out->name = sqlite3_column_int64(row, 5);
	if (is_new)
		r->levels.lanes[lane].name =
			tui_name(r, LANE_COLLECTIVES, sqlite3_column_int64(row, 2));
	return lane;
}

/* false: it is no slice. */
static bool take_row(struct tui_reader *r, enum tui_table table, sqlite3_stmt *row,
		     struct tui_row *out)
{
	uint64_t odd;

	out->id = sqlite3_column_int64(row, 0);
	out->begin = sqlite3_column_int64(row, 3);
	out->end = sqlite3_column_int64(row, 4);
	if (out->end < out->begin || out->end < r->levels.begin || out->begin <= 0)
		return false;
	if (out->begin < r->levels.begin)
		out->begin = r->levels.begin;
	if (table == TUI_OPS && r->odd.nr && map_get(&r->odd, (uint64_t)out->id, &odd))
		return false;
	if (table == TUI_CALLS && r->internal && sqlite3_column_int64(row, 7) == r->internal)
		return false;
	out->lane = table == TUI_OPS   ? lane_of_op(r, row, out) :
		    table == TUI_CALLS ? lane_of_call(r, row, out) :
					 lane_of_collective(r, row, out);
	return true;
}

void tui_read_block(struct tui_reader *r, enum tui_table table, const struct level_block *block,
		    tui_row_fn each, void *arg)
{
	sqlite3_stmt *stmt = r->rows[table];
	struct tui_row row;

	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, block->first_id);
	sqlite3_bind_int64(stmt, 2, block->last_id);
	while (db_step(&r->q, stmt))
		if (take_row(r, table, stmt, &row) && !each(r, &row, arg))
			break;
	sqlite3_reset(stmt);
}

enum tui_table tui_table_of(const struct tui_reader *r, size_t lane)
{
	enum lane_kind kind = r->levels.lanes[lane].kind;

	return kind == LANE_COLLECTIVES ? TUI_COLLECTIVES :
	       kind >= LANE_RANGES	? TUI_CALLS :
					  TUI_OPS;
}

size_t tui_screen_lane(const struct tui_reader *r, size_t lane)
{
	size_t i = 0;

	while (r->levels.order[i] != lane)
		i++;
	return i;
}

/* ---- the first reading ---- */

static void begin_scan(struct tui_reader *r, bool by_stream)
{
	static const char in_range[] = " WHERE O.id BETWEEN ?1 AND ?2 ORDER BY O.id";
	int64_t begin = r->levels.begin;

	sqlite3_finalize(r->scan);
	for (int i = 0; i < TUI_TABLES; i++)
		sqlite3_finalize(r->rows[i]);
	tui_levels_fini(&r->levels);
	tui_levels_init(&r->levels, begin);
	map_clear(&r->streams);
	r->by_stream = by_stream;
	for (int i = 0; i < TUI_TABLES; i++)
		r->rows[i] = prepare_rows(r, (enum tui_table)i, in_range);
	r->scanned = TUI_OPS;
	r->scan = prepare_rows(r, TUI_OPS, " ORDER BY O.id");
	r->is_read = false;
	r->nr_read = 0;
}

/* Reads some rows. */
static void scan_rows(struct tui_reader *r)
{
	for (int i = 0; i < SCAN_ROWS; i++) {
		struct tui_row row;

		if (!db_step(&r->q, r->scan)) {
			sqlite3_finalize(r->scan);
			r->scan = NULL;
			r->is_read = r->scanned + 1 == TUI_TABLES;
			if (r->is_read)
				return;
			r->scanned++;
			if (r->scanned == TUI_COLLECTIVES)
				tui_collectives_read(r);
			r->scan = prepare_rows(r, r->scanned, " ORDER BY O.id");
			continue;
		}
		r->nr_read += r->scanned != TUI_COLLECTIVES;
		if (take_row(r, r->scanned, r->scan, &row)) {
			tui_levels_row(&r->levels, r->scanned, row.id, row.begin, row.end);
			tui_levels_slice(&r->levels, row.lane, row.begin, row.end,
					 (uint32_t)row.name);
		} else {
			tui_levels_row(&r->levels, r->scanned, row.id, 0, -1);
		}
	}
}

/* ---- pictures ---- */

static int32_t add_name(struct tui_picture *p, struct map *names, struct tui_reader *r,
			enum lane_kind kind, int64_t name)
{
	uint64_t key = tui_name_key(kind, name), at;

	if (map_get(names, key, &at))
		return (int32_t)at;
	p->names = reallocarray(p->names, p->nr_names + 1, sizeof(*p->names));
	if (!p->names || map_put(names, key, p->nr_names))
		ui_die_memory();
	p->names[p->nr_names] = tui_name(r, kind, name);
	return (int32_t)p->nr_names++;
}

struct exact {
	int64_t *longest; /* ns of the longest slice in each cell */
	int64_t *name;
	struct map *row_of; /* lane -> row of the picture */
};

static int64_t column_begin(const struct tui_picture *p, size_t column)
{
	return p->begin +
	       (int64_t)((double)(p->end - p->begin) * (double)column / (double)p->columns);
}

/* A short slice in a column hides the long one around it: the inner one is what happens. */
static bool put_exact(struct tui_reader *r, const struct tui_row *row, void *arg)
{
	struct tui_picture *p = r->picture;
	struct exact *e = arg;
	double scale = (double)p->columns / (double)(p->end - p->begin);
	size_t first, last;
	uint64_t at;

	if (row->end < p->begin || row->begin >= p->end || !map_get(e->row_of, row->lane, &at))
		return true;
	first = row->begin <= p->begin ? 0 : (size_t)((double)(row->begin - p->begin) * scale);
	last = row->end >= p->end ? p->columns - 1 :
				    (size_t)((double)(row->end - p->begin) * scale);
	for (size_t c = first; c <= last && c < p->columns; c++) {
		size_t i = at * p->columns + c;
		int64_t from = column_begin(p, c), to = column_begin(p, c + 1), in;

		from = row->begin > from ? row->begin : from;
		to = row->end < to ? row->end : to;
		in = to > from ? to - from : 0;
		p->cells[i].share += (float)((double)in * scale);
		if (in >= e->longest[i]) {
			e->longest[i] = in;
			e->name[i] = row->name;
			p->cells[i].id = row->id;
		}
	}
	return true;
}

static void draw_exact(struct tui_reader *r, struct map *names)
{
	struct tui_picture *p = r->picture;
	size_t nr = p->rows * p->columns;
	struct map row_of = { 0 };
	struct exact e = { .longest = malloc((nr + 1) * sizeof(int64_t)),
			   .name = calloc(nr + 1, sizeof(int64_t)),
			   .row_of = &row_of };

	if (!e.longest || !e.name)
		ui_die_memory();
	memset(e.longest, 0xff, nr * sizeof(int64_t));
	for (size_t i = 0; i < p->rows; i++)
		if (map_put(&row_of, r->levels.order[p->first_lane + i], i))
			ui_die_memory();
	for (int t = 0; t < TUI_TABLES; t++)
		for (size_t i = 0; i < r->levels.tables[t].nr; i++) {
			const struct level_block block = r->levels.tables[t].blocks[i];

			if (block.begin < p->end && block.end >= p->begin)
				tui_read_block(r, (enum tui_table)t, &block, put_exact, &e);
		}
	for (size_t i = 0; i < nr; i++)
		if (e.longest[i] >= 0)
			p->cells[i].name =
				add_name(p, names, r, p->kinds[i / p->columns], e.name[i]);
	free(e.longest);
	free(e.name);
	map_fini(&row_of);
}

static void draw_bins(struct tui_reader *r, struct map *names)
{
	struct tui_picture *p = r->picture;

	for (size_t i = 0; i < p->rows * p->columns; i++) {
		size_t column = i % p->columns;
		int64_t from = column_begin(p, column), to = column_begin(p, column + 1);
		struct level_bin sum =
			tui_levels_sum(&r->levels, r->levels.order[p->first_lane + i / p->columns],
				       from, to);

		if (!sum.name_plus_1 || to <= from)
			continue;
		p->cells[i].share = sum.busy / (float)(to - from);
		p->cells[i].name = add_name(p, names, r, p->kinds[i / p->columns],
					    (int64_t)sum.name_plus_1 - 1);
	}
}

static void draw(struct tui_reader *r)
{
	const struct tui_ask *ask = r->ask;
	struct tui_picture *p = r->picture;
	const struct levels *l = &r->levels;
	struct map names = { 0 };

	p->trace_begin = l->begin;
	p->trace_end = l->end > l->begin ? l->end : l->begin + 1;
	p->begin = ask->end > ask->begin ? ask->begin : p->trace_begin;
	p->end = ask->end > ask->begin ? ask->end : p->trace_end;
	p->columns = ask->columns;
	p->nr_lanes = l->nr;
	p->first_lane = ask->first_lane < l->nr ? ask->first_lane : 0;
	p->rows = l->nr - p->first_lane;
	if (p->rows > ask->max_lanes)
		p->rows = ask->max_lanes;
	p->lanes = calloc(p->rows + 1, sizeof(*p->lanes));
	p->kinds = calloc(p->rows + 1, sizeof(*p->kinds));
	p->cells = calloc(p->rows * p->columns + 1, sizeof(*p->cells));
	if (!p->lanes || !p->kinds || !p->cells)
		ui_die_memory();
	for (size_t i = 0; i < p->rows; i++) {
		const struct level_lane *lane = &l->lanes[l->order[p->first_lane + i]];

		p->lanes[i] = ui_format("%s", lane->name ? lane->name : "");
		p->kinds[i] = lane->kind;
	}
	for (size_t i = 0; i < p->rows * p->columns; i++)
		p->cells[i].name = -1;
	p->is_exact = tui_levels_rows(l, TUI_OPS, p->begin, p->end) +
			      tui_levels_rows(l, TUI_CALLS, p->begin, p->end) +
			      tui_levels_rows(l, TUI_COLLECTIVES, p->begin, p->end) <=
		      EXACT_ROWS;
	if (p->is_exact)
		draw_exact(r, &names);
	else
		draw_bins(r, &names);
	map_fini(&names);
}

/* ---- durations of one name ---- */

unsigned int tui_bucket(uint64_t ns)
{
	unsigned int power = ns < 8 ? 0 : 61 - (unsigned int)__builtin_clzll(ns);

	/* 8 parts of each power of two; below 8 ns a nanosecond each */
	return ns < 8 ? (unsigned int)ns : 8 * power + (unsigned int)(ns >> (power - 1)) - 8;
}

uint64_t tui_bucket_ns(unsigned int bucket)
{
	unsigned int power = bucket / 8;

	return bucket < 8 ? bucket : (uint64_t)(8 + bucket % 8) << (power - 1);
}

static void count_durations(struct tui_reader *r)
{
	static const char *const sql[] = {
		[LANE_KERNELS] =
			"SELECT id, start, \"end\" FROM rocpd_op WHERE description_id IN (SELECT id FROM "
			"rocpd_string WHERE string = ?1)",
		[LANE_CALLS] =
			"SELECT id, start, \"end\" FROM rocpd_api WHERE apiName_id IN (SELECT id FROM "
			"rocpd_string WHERE string = ?1)",
		[LANE_RANGES] =
			"SELECT A.id, A.start, A.\"end\" FROM rocpd_api A WHERE A.apiName_id IN (SELECT id "
			"FROM rocpd_string WHERE string = 'UserMarker') AND A.args_id IN (SELECT id FROM %s "
			"WHERE string = ?1)",
	};
	struct tui_picture *p = r->picture;
	const char *text = sql[r->ask->histogram_kind];
	uint64_t *buckets = calloc(TUI_BUCKETS, sizeof(*buckets)), nr = 0, odd;
	sqlite3_stmt *stmt = NULL;
	char *full;

	if (!buckets)
		ui_die_memory();
	if (text) {
		full = sqlite3_mprintf(text, r->q.has_ustring ? "rocpd_ustring" : "rocpd_string");
		stmt = db_query(&r->q, full);
		sqlite3_free(full);
	}
	if (stmt)
		sqlite3_bind_text(stmt, 1, r->ask->histogram, -1, SQLITE_TRANSIENT);
	while (stmt && db_step(&r->q, stmt)) {
		int64_t begin = sqlite3_column_int64(stmt, 1), end = sqlite3_column_int64(stmt, 2);

		if (++nr % BLOCK_ROWS == 0 && tui_is_late())
			break;
		if (end < begin ||
		    (r->odd.nr && r->ask->histogram_kind == LANE_KERNELS &&
		     map_get(&r->odd, (uint64_t)sqlite3_column_int64(stmt, 0), &odd)))
			continue;
		buckets[tui_bucket((uint64_t)(end - begin))]++;
	}
	sqlite3_finalize(stmt);
	p->buckets = buckets;
	p->histogram = ui_format("%s", r->ask->histogram);
}

/* ---- the thread ---- */

static void copy_ask(struct tui_ask *ask, uint64_t *serial)
{
	lock_take(&lock);
	*ask = shared.ask;
	*serial = shared.serial;
	shared.ask.histogram = NULL;
	shared.ask.find = 0;
	lock_drop(&lock);
}

static void publish(struct tui_picture *p)
{
	struct tui_picture *old;

	lock_take(&lock);
	old = shared.picture;
	shared.picture = p;
	/* the picture before was not drawn: the result of a search in it belongs to this one now */
	if (old && old->is_find && !p->is_find) {
		p->is_find = true;
		p->found = old->found;
	}
	if (old && old->histogram && !p->histogram) {
		p->histogram = old->histogram;
		p->buckets = old->buckets;
		old->histogram = NULL;
		old->buckets = NULL;
	}
	lock_drop(&lock);
	tui_time_free(old);
	screen_wake();
}

static void answer(struct tui_reader *r, struct tui_ask *ask)
{
	struct tui_picture *p = calloc(1, sizeof(*p));

	if (!p)
		ui_die_memory();
	r->ask = ask;
	r->picture = p;
	p->serial = answered;
	if (ask->histogram)
		count_durations(r);
	if (ask->columns) {
		draw(r);
		if (ask->find)
			tui_slice_find(r);
		else
			tui_slice_details(r, 0, 0);
	}
	p->is_read = r->is_read;
	p->nr_read = r->nr_read;
	p->nr_total = r->nr_total;
	publish(p);
	free(ask->histogram);
	ask->histogram = NULL;
}

void tui_answer_meanwhile(struct tui_reader *r)
{
	bool same;

	lock_take(&lock);
	same = shared.ask.by_stream == r->by_stream;
	lock_drop(&lock);
	if (!same || !tui_is_late())
		return;
	copy_ask(&asked, &answered);
	answer(r, &asked);
}

static void prepare_reader(struct tui_reader *r)
{
	struct query *q = &r->q;

	db_check(q, kinds_read(q, &r->kinds));
	if (q->ours) {
		char sql[320];
		sqlite3_stmt *stmt;

		if (!q->nr_processes)
			db_check(q, query_read_processes(q));
		snprintf(
			sql, sizeof(sql),
			"SELECT op_id FROM rtl_op_kernel WHERE flags & %1$d UNION ALL SELECT op_id FROM "
			"rtl_op_copy WHERE flags & %1$d",
			QUERY_UNTIMED);
		stmt = db_query(q, sql);
		while (db_step(q, stmt))
			if (map_put(&r->odd, (uint64_t)sqlite3_column_int64(stmt, 0), 1))
				ui_die_memory();
		sqlite3_finalize(stmt);
		r->level = db_query(q, "SELECT level FROM rtl_marker_data WHERE api_id = ?1");
		r->internal =
			query_number(q->db, "SELECT id FROM rocpd_string WHERE string = 'rtl'", 0);
	}
	r->user_marker =
		query_number(q->db, "SELECT id FROM rocpd_string WHERE string = 'UserMarker'", -1);
	r->nr_total = (uint64_t)(query_number(q->db, "SELECT count(*) FROM rocpd_op", 0) +
				 query_number(q->db, "SELECT count(*) FROM rocpd_api", 0));
	tui_levels_init(&r->levels, summary_begin(q));
	tui_collectives_prepare(r);
	begin_scan(r, false);
}

static void *time_thread(void *arg)
{
	struct tui_reader *r = arg;
	uint64_t drawn_ns = 0;

	pthread_setname_np(pthread_self(), "rtl-time");
	prepare_reader(r);
	for (;;) {
		struct pollfd fd = { .fd = shared.wake_fd, .events = POLLIN };
		uint64_t count;

		if (poll(&fd, 1, r->is_read ? -1 : 0) > 0 &&
		    read(shared.wake_fd, &count, sizeof(count)) < 0)
			continue;
		if (tui_is_late()) {
			copy_ask(&asked, &answered);
			if (asked.by_stream != r->by_stream)
				begin_scan(r, asked.by_stream);
			answer(r, &asked);
			drawn_ns = ui_now_ns();
		}
		if (r->is_read)
			continue;
		scan_rows(r);
		/* what was read so far, from time to time */
		if (answered && (r->is_read || ui_now_ns() - drawn_ns > 300000000u)) {
			asked.find = 0;
			answer(r, &asked);
			drawn_ns = ui_now_ns();
		}
	}
	return NULL;
}

void tui_time_start(struct query *q)
{
	static struct tui_reader reader;
	static struct job_result res;
	pthread_t thread;

	reader.q = *q;
	/* from here on that connection is this thread's */
	reader.q.db = q->second;
	reader.q.second = q->second = NULL;
	reader.q.res = &res;
	reader.q.done = 0;
	shared.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shared.wake_fd < 0 || pthread_create(&thread, NULL, time_thread, &reader))
		ui_die_memory();
	pthread_detach(thread);
}
