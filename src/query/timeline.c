/* SPDX-License-Identifier: MIT */
/* timeline.c - rows of a trace in the order of their begin
 *
 * Each process has a cursor with a window of its next rows, as runs of rows in order, of which the
 * earliest is passed on.
 *
 * Threads:  the rows of one process are read by a thread of their own, unless with TIMELINE_HERE,
 *           so that SQLite works while rows are put in order and used. Blocks of rows go round
 *           between the two; the semaphores count the full and the empty ones. With TIMELINE_TWO
 *           there are two such threads, each with a connection: each reads every second block of
 *           ids. Rows of several processes are read by blocks.h.
 */
#include "query/timeline.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "query/blocks.h"
#include "query/leaves.h"

enum { WINDOW = 64 << 10, MAX_CURSORS = 256, MAX_RUNS = 128, NONE = UINT32_MAX };

/* Ids that two threads read: fewer are read before the second one has begun. Of more than the most,
 * and where the samples show that ids are far apart, most blocks of ids would have no row. */
enum { TWO_LEAST = 256 << 10, TWO_MOST = 1 << 30, SAMPLES = 16 };

/* Rows in order: those of a thread's chunk, mostly. */
struct run {
	int64_t first_ns, last_ns; /* begins of its first and last row */
	uint32_t first, last;
};

/* rows enough that waking the other thread is no part of the time */
enum { BLOCKS = 4, BLOCK_ROWS = 2048 };

struct ahead {
	struct query *q;
	sqlite3 *db;
	sqlite3_stmt *stmt;
	struct leaves *leaves; /* NULL: the statement alone reads */
	pthread_t thread;
	sem_t full, empty;
	const struct timeline_rows *rows;
	void *arg;
	bool stop;   /* __atomic: the rows are not wanted any more */
	bool failed; /* the reader, in its last block */
	size_t nr_columns;
	/* of the thread that takes rows; what it writes for each row is in no cache line that the
	 * other one reads */
	char before[64];
	size_t block, row;
	bool open;
	char behind[64];
	/* of the thread that reads: the first id of its next block and the last one of all, ids of
	 * a block, 0: all, and from one of its blocks to the next */
	int64_t next, last, nr_ids, stride;
	size_t at;
	struct block {
		size_t nr;
		bool is_last;
		int64_t v[BLOCK_ROWS * TIMELINE_COLUMNS]; /* nr_columns of each row */
	} * to, blocks[BLOCKS];
};

struct cursor {
	sqlite3_stmt *stmt;
	struct ahead *ahead[2]; /* NULL: no thread; their blocks are taken in turns */
	size_t turn;
	uint32_t *next;	 /* of each item: the next one of its run, or of the free ones */
	int64_t *values; /* nr_columns of each item */
	size_t nr, max;
	uint32_t free;
	struct run runs[MAX_RUNS];
	size_t nr_runs, nr_columns;
	/* The run that took the last row, and takes the next one if that begins earlier than
	 * hot_until, where another run ends. NULL: not known. */
	struct run *hot;
	int64_t hot_until;
	/* The run with the earliest row, as long as that begins earlier than early_until, where
	 * another run begins. NULL: not known. */
	struct run *early;
	int64_t early_until;
	bool done;
	int64_t passed;	 /* the begin of the last row that was passed on */
	int64_t wall_ns; /* added to compare it with rows of other cursors */
};

struct reading {
	struct query *q;
	const struct timeline_rows *rows;
	enum timeline_how how;
	timeline_fn each;
	void *arg;
	struct cursor *cursors;
	/* what the cursors read by; NULL: each by its statement or threads */
	struct blocks *blocks;
	int64_t first, last; /* ids, if there is one cursor */
	/* on both connections: their statements see the same rows, whatever another program
	 * writes */
	bool transaction;
};

/* The run that a row can be added to: the one whose last row is nearest. -EAGAIN: there are too
 * many. */
static int choose_run(struct cursor *c, int64_t begin, struct run **out)
{
	struct run *best = c->hot;

	/* rows are in order for long stretches: the next one is behind that before it */
	if (best && best->last_ns <= begin && begin < c->hot_until) {
		*out = best;
		return 0;
	}
	best = NULL;
	for (size_t i = 0; i < c->nr_runs; i++) {
		struct run *r = &c->runs[i];

		if (r->last_ns <= begin && (!best || r->last_ns > best->last_ns))
			best = r;
	}
	if (!best) {
		if (c->nr_runs == MAX_RUNS)
			return -EAGAIN;
		best = &c->runs[c->nr_runs++];
		*best = (struct run){ .first = NONE, .last = NONE };
		c->early = NULL;
	}
	c->hot = best;
	c->hot_until = INT64_MAX;
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct run *r = &c->runs[i];

		if (r != best && r->last_ns >= begin && r->last_ns < c->hot_until)
			c->hot_until = r->last_ns;
	}
	*out = best;
	return 0;
}

/* ---- a thread that reads ---- */

/* Whether there is a block to fill. */
static bool begin_block(struct ahead *a)
{
	while (sem_wait(&a->empty) && errno == EINTR)
		;
	a->to = &a->blocks[a->at++ % BLOCKS];
	a->to->nr = 0;
	a->to->is_last = false;
	/* relaxed: nothing else is read because of it */
	return !__atomic_load_n(&a->stop, __ATOMIC_RELAXED);
}

/* An aggregate function of SQL, whose arguments are the columns: SQLite calls it for each row
 * without leaving its loop, which takes two thirds of the time of sqlite3_step() and
 * sqlite3_column_int64(). */
static void sql_take(sqlite3_context *context, int nr, sqlite3_value **values)
{
	struct ahead *a = sqlite3_user_data(context);
	int64_t *v;

	if (a->to->nr == BLOCK_ROWS) {
		sem_post(&a->full);
		if (!begin_block(a)) {
			sqlite3_result_error_code(context, SQLITE_INTERRUPT);
			return;
		}
	}
	v = a->to->v + a->to->nr * a->nr_columns;
	row_take(v, values, (size_t)nr);
	if (a->rows->extend) {
		int rc = a->rows->extend(a->arg, a->db, v);

		if (rc != SQLITE_OK) {
			sqlite3_result_error_code(context, rc);
			return;
		}
	}
	a->to->nr++;
}

static void sql_nothing(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

/* Reads the rows of these ids; a->failed is whether that failed. */
static void read_ids(struct ahead *a, int64_t first, int64_t last)
{
	int64_t nr = a->leaves ? leaves_read(a->leaves, first, last, a->to->v, BLOCK_ROWS) : -1;

	if (nr >= 0) {
		a->to->nr = (size_t)nr;
		return;
	}
	sqlite3_bind_int64(a->stmt, 1, first);
	sqlite3_bind_int64(a->stmt, 2, last);
	a->failed = sqlite3_step(a->stmt) != SQLITE_ROW;
	if (!a->failed)
		sqlite3_reset(a->stmt);
}

static void *read_blocks(void *arg)
{
	struct ahead *a = arg;

	for (bool done = false; !done && a->next <= a->last && begin_block(a);
	     a->next += a->stride) {
		bool more = a->nr_ids && a->last - a->next >= a->nr_ids;

		read_ids(a, a->next, more ? a->next + a->nr_ids - 1 : a->last);
		done = a->failed || !more;
		a->to->is_last = done;
		sem_post(&a->full);
	}
	return NULL;
}

static int set_function(sqlite3 *db, struct ahead *a)
{
	return sqlite3_create_function(db, "timeline_take", -1, SQLITE_UTF8, a, NULL,
				       a ? sql_take : NULL, a ? sql_nothing : NULL);
}

/* A thread that reads by `db`: block `number` of nr_blocks that are read in turns, and so on. NULL
 * where there is no memory or no
 * thread: then the rows are read without one. */
static struct ahead *ahead_begin(const struct reading *r, const struct cursor *c, sqlite3 *db,
				 int64_t number, int64_t nr_blocks)
{
	struct ahead *a = alloc_heap(sizeof(*a));
	char *sql;

	if (!a)
		return NULL;
	memset(a, 0, offsetof(struct ahead, blocks));
	a->q = r->q;
	a->rows = r->rows;
	a->arg = r->arg;
	a->db = db;
	a->nr_columns = c->nr_columns;
	a->next = r->first;
	a->last = r->last;
	if (nr_blocks > 1) {
		a->nr_ids = BLOCK_ROWS;
		a->next += number * BLOCK_ROWS;
		a->stride = nr_blocks * BLOCK_ROWS;
		/* both connections have a transaction */
		if (r->rows->table && !r->rows->extend)
			a->leaves = leaves_open(db, r->rows->table, r->rows->columns);
	}
	/* it reads from the begin to the end: pages that were read are of no use */
	if (db == r->q->second)
		sqlite3_exec(a->db, "PRAGMA cache_size=-256", NULL, NULL, NULL);
	sem_init(&a->full, 0, 0);
	sem_init(&a->empty, 0, BLOCKS);
	sql = sqlite3_mprintf("SELECT timeline_take(%s) FROM %s", r->rows->columns, r->rows->from);
	if (sql && set_function(a->db, a) == SQLITE_OK &&
	    sqlite3_prepare_v2(a->db, sql, -1, &a->stmt, NULL) == SQLITE_OK &&
	    pthread_create(&a->thread, NULL, read_blocks, a) == 0) {
		sqlite3_free(sql);
		return a;
	}
	sqlite3_free(sql);
	sqlite3_finalize(a->stmt);
	leaves_close(a->leaves);
	sem_destroy(&a->full);
	sem_destroy(&a->empty);
	alloc_free(a);
	return NULL;
}

/* As query_step(): 1 with the row, 0 or -errno. */
static int ahead_step(struct cursor *c, const void **v)
{
	struct ahead *a = c->ahead[c->turn];
	struct block *b = &a->blocks[a->block % BLOCKS];
	int ret;

	while (!a->open || a->row == b->nr) {
		if (a->open && b->is_last)
			return a->failed ? query_fail_db(a->q, a->db) : 0;
		if (a->open) {
			a->open = false;
			a->block++;
			sem_post(&a->empty);
			c->turn = c->ahead[1] ? !c->turn : 0;
			a = c->ahead[c->turn];
		}
		b = &a->blocks[a->block % BLOCKS];
		while (sem_wait(&a->full) && errno == EINTR)
			;
		a->open = true;
		a->row = 0;
	}
	*v = b->v + a->row++ * a->nr_columns;
	ret = query_progress(a->q);
	return ret ? ret : 1;
}

static void ahead_end(struct ahead *a)
{
	if (!a)
		return;
	__atomic_store_n(&a->stop, true, __ATOMIC_RELAXED);
	sem_post(&a->empty);
	pthread_join(a->thread, NULL);
	sqlite3_finalize(a->stmt);
	leaves_close(a->leaves);
	set_function(a->db, NULL);
	sem_destroy(&a->full);
	sem_destroy(&a->empty);
	alloc_free(a);
}

/* ---- cursors ---- */

static int step(const struct reading *r, struct cursor *c, int64_t *v)
{
	const void *from = NULL;
	int ret, error;

	if (r->blocks || c->ahead[0]) {
		ret = r->blocks ? blocks_step(r->blocks, (size_t)(c - r->cursors), &from) :
				  ahead_step(c, &from);
		if (ret == 1)
			memcpy(v, from, c->nr_columns * sizeof(*v));
	} else {
		ret = query_step(r->q, c->stmt);
		if (ret == 1)
			row_read(v, c->stmt, (size_t)sqlite3_column_count(c->stmt));
		if (ret == 1 && r->rows->extend &&
		    r->rows->extend(r->arg, r->q->db, v) != SQLITE_OK)
			ret = query_fail_sql(r->q);
	}
	error = ret == 1 && r->rows->complete ? r->rows->complete(r->arg, v) : 0;
	return error ? error : ret;
}

static int64_t *values_of(const struct cursor *c, uint32_t at)
{
	return c->values + at * c->nr_columns;
}

/* One more row. -EAGAIN: it belongs in front of rows that were passed on, or there are too many
 * runs; its values are those of the first free item. */
static int take_row(const struct reading *r, struct cursor *c)
{
	uint32_t at = c->free;
	int64_t *v = values_of(c, at);
	int ret = step(r, c, v);
	struct run *run;

	if (ret <= 0) {
		c->done = true;
		return ret;
	}
	if (v[0] < c->passed)
		return -EAGAIN;
	ret = choose_run(c, v[0], &run);
	if (ret)
		return ret;
	c->free = c->next[at];
	c->next[at] = NONE;
	if (run->last == NONE) {
		run->first = at;
		run->first_ns = v[0];
	} else {
		c->next[run->last] = at;
	}
	run->last = at;
	run->last_ns = v[0];
	c->nr++;
	return 0;
}

/* The same, but for a row that does not fit the order: with TIMELINE_LOOSE it is passed on at
 * once. */
static int take(struct reading *r, struct cursor *c)
{
	int ret = take_row(r, c);

	while (ret == -EAGAIN && r->how == TIMELINE_LOOSE) {
		ret = r->each(r->arg, values_of(c, c->free));
		if (ret == 0)
			ret = take_row(r, c);
	}
	return ret;
}

/* The run with the earliest row, NULL: there is none. */
static struct run *earliest_run(struct cursor *c)
{
	struct run *first = c->early;

	if (first && first->first_ns < c->early_until)
		return first;
	first = c->nr_runs ? &c->runs[0] : NULL;
	c->early_until = INT64_MAX;
	for (size_t i = 1; i < c->nr_runs; i++) {
		struct run *r = &c->runs[i], *later = r;

		if (r->first_ns < first->first_ns) {
			later = first;
			first = r;
		}
		if (later->first_ns < c->early_until)
			c->early_until = later->first_ns;
	}
	c->early = first;
	return first;
}

/* Removes the first row of a run; its bytes stay until the next row is taken. */
static const int64_t *pass_row(struct cursor *c, struct run *run)
{
	uint32_t at = run->first;
	int64_t *v = values_of(c, at);

	c->passed = v[0];
	run->first = c->next[at];
	if (run->first == NONE) {
		*run = c->runs[--c->nr_runs];
		c->hot = c->early = NULL;
	} else {
		run->first_ns = values_of(c, run->first)[0];
		/* rows of a run are all over the window: the one behind is waited for, otherwise */
		if (c->next[run->first] != NONE)
			__builtin_prefetch(values_of(c, c->next[run->first]));
	}
	c->next[at] = c->free;
	c->free = at;
	c->nr--;
	return v;
}

/* The smallest id from `id` on, or -1. */
static int64_t id_from(const struct reading *r, sqlite3_stmt *stmt, int64_t id)
{
	int64_t found = -1;

	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, id);
	sqlite3_bind_int64(stmt, 2, r->last);
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) == SQLITE_INTEGER)
		found = sqlite3_column_int64(stmt, 0);
	return found;
}

/* Whether two threads are faster than one; r->first and r->last are the ids that there are,
 * then. */
static bool are_for_two(struct reading *r)
{
	static const char *const ends[] = { "SELECT min(id) FROM %s", "SELECT max(id) FROM %s" };
	sqlite3_stmt *stmt[2] = { NULL };
	int64_t first = -1, last = -1;
	bool dense = false;

	for (int i = 0; i < 2; i++) {
		char *sql = sqlite3_mprintf(ends[i], r->rows->from);

		if (sql)
			/* both begin to read here: from now on they see the same */
			sqlite3_prepare_v2(i ? r->q->second : r->q->db, sql, -1, &stmt[i], NULL);
		sqlite3_free(sql);
	}
	if (stmt[0] && stmt[1]) {
		first = id_from(r, stmt[0], r->first);
		last = id_from(r, stmt[1], r->first);
		dense = first >= 0 && last - first >= TWO_LEAST && last - first <= TWO_MOST;
		for (int64_t i = 1; dense && i < SAMPLES; i++) {
			int64_t id = first + (last - first) / SAMPLES * i;

			dense = id_from(r, stmt[0], id) - id < BLOCK_ROWS;
		}
	}
	for (int i = 0; i < 2; i++)
		sqlite3_finalize(stmt[i]);
	if (dense) {
		r->first = first;
		r->last = last;
	}
	return dense;
}

static void begin_transaction(struct reading *r)
{
	struct query *q = r->q;

	r->transaction = sqlite3_get_autocommit(q->db) &&
			 sqlite3_exec(q->second, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
	if (r->transaction)
		sqlite3_exec(q->db, "BEGIN", NULL, NULL, NULL);
}

static void end_transaction(struct reading *r)
{
	if (!r->transaction)
		return;
	sqlite3_exec(r->q->db, "COMMIT", NULL, NULL, NULL);
	sqlite3_exec(r->q->second, "COMMIT", NULL, NULL, NULL);
}

static void open_threads(struct reading *r, struct cursor *c)
{
	struct query *q = r->q;

	/* rows of a raw trace come from a file in their order, which two would not read faster */
	if (r->how == TIMELINE_TWO && q->second && !q->rows)
		begin_transaction(r);
	if (r->transaction && are_for_two(r)) {
		c->ahead[0] = ahead_begin(r, c, q->db, 0, 2);
		c->ahead[1] = c->ahead[0] ? ahead_begin(r, c, q->second, 1, 2) : NULL;
		if (c->ahead[1])
			return;
		ahead_end(c->ahead[0]);
	}
	c->ahead[0] = ahead_begin(r, c, r->how == TIMELINE_LOOSE ? q->second : q->db, 0, 1);
}

/* A member that no column sets would be one of another row. */
static int check_columns(const struct reading *r, sqlite3_stmt *stmt)
{
	size_t size = (size_t)sqlite3_column_count(stmt) * sizeof(int64_t);

	if (r->rows->size <= TIMELINE_COLUMNS * sizeof(int64_t) && size <= r->rows->size &&
	    (size == r->rows->size || r->rows->extend))
		return 0;
	return query_fail(r->q, -EINVAL, "%s: columns of %zu bytes for rows of %zu", r->q->path,
			  size, r->rows->size);
}

/* Whether another connection can read what this one does. */
static bool has_temporary(const struct query *q)
{
	return query_number(q->db, "SELECT EXISTS (SELECT 1 FROM temp.sqlite_master)", 1);
}

/* Rows of several cursors, or on this thread. Those of raw traces are in a file of their own, which
 * is read from its begin to its end. */
static int open_blocks(struct reading *r, size_t nr)
{
	const struct query *q = r->q;

	if (!r->rows->id || q->rows || (nr == 1 && r->how != TIMELINE_HERE))
		return 0;
	if (q->second && !r->rows->extend && !has_temporary(q))
		begin_transaction(r);
	return blocks_open(r->q, r->rows, nr, r->transaction, r->arg, &r->blocks);
}

static int open_cursor(struct reading *r, struct cursor *c, const char *sql, size_t nr)
{
	struct query *q = r->q;
	size_t i = (size_t)(c - r->cursors);
	int ret = query_prepare(q, &c->stmt, sql);
	int64_t first, last;

	if (ret == 0)
		ret = check_columns(r, c->stmt);
	if (ret)
		return ret;
	c->max = WINDOW / nr < 256 ? 256 : WINDOW / nr;
	c->passed = INT64_MIN;
	c->wall_ns = r->rows->by_wall && nr > 1 ? q->processes[i].wall_ns : 0;
	c->nr_columns = r->rows->size / sizeof(int64_t);
	c->next = alloc_heap((c->max + 1) * sizeof(*c->next));
	c->values = alloc_heap((c->max + 1) * c->nr_columns * sizeof(*c->values));
	if (!c->next || !c->values)
		return query_fail_memory(q);
	for (size_t n = 0; n <= c->max; n++)
		c->next[n] = n < c->max ? (uint32_t)n + 1 : NONE;
	first = nr > 1 ? q->processes[i].id_first : r->first;
	last = nr > 1 ? q->processes[i].id_last : r->last;
	sqlite3_bind_int64(c->stmt, 1, first);
	sqlite3_bind_int64(c->stmt, 2, last);
	if (r->blocks)
		ret = blocks_begin(r->blocks, i, first, last);
	else if (nr == 1 && r->how != TIMELINE_HERE && (r->how != TIMELINE_LOOSE || q->second))
		open_threads(r, c);
	while (ret == 0 && !c->done && c->nr < c->max)
		ret = take(r, c);
	return ret;
}

/* A cursor with rows, in a heap: the next row of the first one is the earliest of all. */
struct due {
	int64_t ns;
	struct cursor *of;
};

static bool is_earlier(const struct due *a, const struct due *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->of < b->of;
}

/* Moves due[i] down to where it belongs. */
static void sift(struct due *due, size_t nr, size_t i)
{
	const struct due moved = due[i];

	for (size_t k = 2 * i + 1; k < nr; k = 2 * i + 1) {
		k += k + 1 < nr && is_earlier(&due[k + 1], &due[k]);
		if (!is_earlier(&due[k], &moved))
			break;
		due[i] = due[k];
		i = k;
	}
	due[i] = moved;
}

static int merge_cursors(struct reading *r, size_t nr)
{
	struct due due[MAX_CURSORS];
	size_t nr_due = 0;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		struct cursor *c = &r->cursors[i];
		const struct run *run = earliest_run(c);

		if (run)
			due[nr_due++] = (struct due){ run->first_ns + c->wall_ns, c };
	}
	for (size_t i = nr_due / 2; i > 0; i--)
		sift(due, nr_due, i - 1);
	while (ret == 0 && nr_due) {
		struct cursor *c = due[0].of;
		const struct run *run;

		ret = r->each(r->arg, pass_row(c, earliest_run(c)));
		if (ret == 0 && !c->done)
			ret = take(r, c);
		run = earliest_run(c);
		if (run)
			due[0].ns = run->first_ns + c->wall_ns;
		else
			due[0] = due[--nr_due];
		sift(due, nr_due, 0);
	}
	return ret;
}

static void sql_wall(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const struct query_process *process =
		query_process_of(sqlite3_user_data(context), sqlite3_value_int64(values[0]));

	(void)nr;
	sqlite3_result_int64(context, process ? process->wall_ns : 0);
}

static char *sorted_sql(const struct reading *r)
{
	if (!r->rows->by_wall || sqlite3_create_function(r->q->db, "timeline_wall", 1, SQLITE_UTF8,
							 r->q, sql_wall, NULL, NULL) != SQLITE_OK)
		return sqlite3_mprintf("SELECT %s FROM %s ORDER BY 1", r->rows->columns,
				       r->rows->from);
	return sqlite3_mprintf("SELECT %s FROM %s ORDER BY %s + timeline_wall(%s)",
			       r->rows->columns, r->rows->from, r->rows->by_wall, r->rows->id);
}

static int read_sorted(const struct reading *r)
{
	char *sorted = sorted_sql(r);
	int ret = sorted ? 0 : query_fail_memory(r->q);
	sqlite3_stmt *row = NULL;

	if (ret == 0)
		ret = query_prepare(r->q, &row, sorted);
	sqlite3_free(sorted);
	if (ret == 0)
		ret = check_columns(r, row);
	if (ret) {
		sqlite3_finalize(row);
		return ret;
	}
	sqlite3_bind_int64(row, 1, r->first);
	sqlite3_bind_int64(row, 2, r->last);
	while ((ret = query_step(r->q, row)) == 1) {
		int64_t v[TIMELINE_COLUMNS] = { 0 };

		row_read(v, row, (size_t)sqlite3_column_count(row));
		if (r->rows->extend && r->rows->extend(r->arg, r->q->db, v) != SQLITE_OK)
			ret = query_fail_sql(r->q);
		else
			ret = r->rows->complete ? r->rows->complete(r->arg, v) : 0;
		if (ret == 0)
			ret = r->each(r->arg, v);
		if (ret)
			break;
	}
	sqlite3_finalize(row);
	return ret;
}

int timeline_read(struct query *q, const struct timeline_rows *rows, enum timeline_how how,
		  timeline_fn each, void (*reset)(void *arg), void *arg)
{
	struct reading r = { .q = q,
			     .rows = rows,
			     .how = how,
			     .each = each,
			     .arg = arg,
			     .first = INT64_MIN,
			     .last = INT64_MAX };
	size_t nr = q->nr_processes > 1 && !q->only ? q->nr_processes : 1;
	char *sql;
	int ret;

	if (q->only) {
		r.first = q->only->id_first;
		r.last = q->only->id_last;
	}
	if (nr > MAX_CURSORS)
		return read_sorted(&r);
	sql = sqlite3_mprintf("SELECT %s FROM %s", rows->columns, rows->from);
	r.cursors = alloc_zero(nr, sizeof(*r.cursors));
	ret = sql && r.cursors ? 0 : query_fail_memory(q);
	if (ret == 0)
		ret = open_blocks(&r, nr);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = open_cursor(&r, &r.cursors[i], sql, nr);
	if (ret == 0)
		ret = merge_cursors(&r, nr);
	for (size_t i = 0; r.cursors && i < nr; i++) {
		for (int n = 0; n < 2; n++)
			ahead_end(r.cursors[i].ahead[n]);
		sqlite3_finalize(r.cursors[i].stmt);
		alloc_free(r.cursors[i].next);
		alloc_free(r.cursors[i].values);
	}
	blocks_close(r.blocks);
	end_transaction(&r);
	alloc_free(r.cursors);
	sqlite3_free(sql);
	if (ret != -EAGAIN || how == TIMELINE_LOOSE)
		return ret;
	reset(arg);
	return read_sorted(&r);
}
