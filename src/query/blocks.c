/* SPDX-License-Identifier: MIT */
/* blocks.c - rows of several cursors of one database, read by blocks of ids
 *
 * A cursor has two blocks: rows are taken from one while the other is read. A block is WANTED from
 * when its ids are known, READING by the thread that took it, then READ. The lock guards states and
 * the queue of wanted blocks; the rest of a block belongs to the thread that reads it, or, when it
 * is READ, to the caller's.
 */
#include "query/blocks.h"

#include <pthread.h>
#include <stdint.h>

#include "base/alloc.h"
#include "query/leaves.h"

/* Ids of a block: of few cursors and of very many, which share MOST_ROWS. */
enum { MOST_IDS = 2048, LEAST_IDS = 128, MOST_ROWS = 64 << 10 };

enum state { WANTED, READING, READ };

struct block {
	/* under the lock */
	enum state state;
	bool queued;

	bool has_ids;
	int64_t first, last; /* ids */
	bool failed;	     /* reading it by `by` */
	sqlite3 *by;
	size_t nr, max; /* rows */
	char *rows;
};

struct cursor {
	struct block blocks[2];
	size_t turn;	 /* whose rows are taken */
	bool open;	 /* it has been read */
	size_t row;	 /* of it, the next one */
	size_t nr_empty; /* blocks without rows, one behind the other */
	bool more;	 /* there are ids that no block has yet: */
	int64_t next, last;
};

/* What reads: the caller's thread, and another one. */
struct blocks_reader {
	struct blocks *b;
	sqlite3 *db;
	sqlite3_stmt *stmt;
	struct leaves *leaves; /* NULL: the statement alone reads */
	struct block *to;
};

struct blocks {
	struct query *q;
	const struct timeline_rows *rows;
	void *arg;
	size_t nr;
	int64_t nr_ids;
	bool in_transaction; /* both connections are */
	struct cursor *cursors;
	struct blocks_reader readers[2];
	sqlite3_stmt *from; /* the smallest id */

	/* of the other thread; without one there is no queue */
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted, read;
	/* a ring of 2 * nr: each block once at most; those that are not WANTED any more are passed
	 * over */
	struct block **queue;
	size_t queue_first, queue_nr;
	bool stop;
};

/* ---- reading ---- */

/* An aggregate function of SQL, whose arguments are the columns. */
static void sql_take(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const struct blocks_reader *const *reading = sqlite3_user_data(context), *r = *reading;
	const struct timeline_rows *rows = r->b->rows;
	struct block *to = r->to;
	int rc = SQLITE_OK;
	char *grown;

	/* an id can have several rows */
	if (to->nr == to->max) {
		grown = alloc_resize(to->rows, 2 * to->max, rows->size);
		if (!grown) {
			sqlite3_result_error_nomem(context);
			return;
		}
		to->rows = grown;
		to->max *= 2;
	}
	row_take(to->rows + to->nr * rows->size, values, (size_t)nr);
	if (rows->extend)
		rc = rows->extend(r->b->arg, r->db, to->rows + to->nr * rows->size);
	if (rc == SQLITE_OK)
		to->nr++;
	else
		sqlite3_result_error_code(context, rc);
}

static void sql_nothing(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

static void read_block(struct blocks_reader *r, struct block *to)
{
	int64_t nr = r->leaves ? leaves_read(r->leaves, to->first, to->last, (int64_t *)to->rows,
					     to->max) :
				 -1;

	to->by = r->db;
	to->nr = nr > 0 ? (size_t)nr : 0;
	to->failed = false;
	if (nr >= 0)
		return;
	r->b->q->reading[r - r->b->readers] = r;
	r->to = to;
	sqlite3_bind_int64(r->stmt, 1, to->first);
	sqlite3_bind_int64(r->stmt, 2, to->last);
	to->failed = sqlite3_step(r->stmt) != SQLITE_ROW;
	/* a reset forgets the error */
	if (!to->failed)
		sqlite3_reset(r->stmt);
}

static void *read_wanted(void *arg)
{
	struct blocks *b = arg;

	pthread_mutex_lock(&b->lock);
	while (!b->stop) {
		struct block *to;

		if (!b->queue_nr) {
			pthread_cond_wait(&b->wanted, &b->lock);
			continue;
		}
		to = b->queue[b->queue_first];
		b->queue_first = (b->queue_first + 1) % (2 * b->nr);
		b->queue_nr--;
		to->queued = false;
		if (to->state != WANTED)
			continue;
		to->state = READING;
		pthread_mutex_unlock(&b->lock);
		read_block(&b->readers[1], to);
		pthread_mutex_lock(&b->lock);
		to->state = READ;
		pthread_cond_signal(&b->read);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* ---- blocks of a cursor ---- */

/* The first id that there is becomes the next one. 0 or -errno. */
static int seek(struct blocks *b, struct cursor *c)
{
	int ret;

	sqlite3_bind_int64(b->from, 1, c->next);
	sqlite3_bind_int64(b->from, 2, c->last);
	ret = query_step(b->q, b->from);
	c->more = ret == 1;
	if (c->more)
		c->next = sqlite3_column_int64(b->from, 0);
	if (ret >= 0)
		sqlite3_reset(b->from);
	return ret < 0 ? ret : 0;
}

/* The ids behind those that blocks have, if there are any. 0 or -errno. */
static int want(struct blocks *b, struct cursor *c, struct block *to)
{
	/* ids can be far apart */
	int ret = c->more && c->nr_empty >= 2 ? seek(b, c) : 0;

	to->has_ids = ret == 0 && c->more;
	if (!to->has_ids)
		return ret;
	to->first = c->next;
	c->more = c->next <= c->last - b->nr_ids;
	to->last = c->more ? c->next + b->nr_ids - 1 : c->last;
	c->next = c->more ? to->last + 1 : c->last;
	if (b->has_thread)
		pthread_mutex_lock(&b->lock);
	to->state = WANTED;
	if (b->has_thread) {
		if (!to->queued)
			b->queue[(b->queue_first + b->queue_nr++) % (2 * b->nr)] = to;
		to->queued = true;
		pthread_cond_signal(&b->wanted);
		pthread_mutex_unlock(&b->lock);
	}
	return 0;
}

/* Returns when the block has been read. 0 or -errno. */
static int await(struct blocks *b, struct block *block)
{
	bool here = !b->has_thread;

	if (b->has_thread) {
		pthread_mutex_lock(&b->lock);
		here = block->state == WANTED;
		while (!here && block->state != READ)
			pthread_cond_wait(&b->read, &b->lock);
		block->state = READ;
		pthread_mutex_unlock(&b->lock);
	}
	if (here)
		read_block(&b->readers[0], block);
	return block->failed ? query_fail_db(b->q, block->by) : 0;
}

int blocks_step(struct blocks *b, size_t i, const void **row)
{
	struct cursor *c = &b->cursors[i];
	struct block *block = &c->blocks[c->turn];
	int ret;

	while (!c->open || c->row == block->nr) {
		if (c->open) {
			c->nr_empty = block->nr ? 0 : c->nr_empty + 1;
			ret = want(b, c, block);
			c->turn = !c->turn;
			block = &c->blocks[c->turn];
			c->open = false;
		} else {
			if (!block->has_ids)
				return 0;
			ret = await(b, block);
			c->row = 0;
			c->open = true;
		}
		if (ret)
			return ret;
	}
	*row = block->rows + c->row++ * b->rows->size;
	ret = query_progress(b->q);
	return ret ? ret : 1;
}

/* ---- begin and end ---- */

static bool open_reader(struct blocks *b, int i, const char *sql)
{
	struct blocks_reader *r = &b->readers[i];
	struct query *q = b->q;
	sqlite3 *db = i ? q->second : q->db;

	r->b = b;
	r->db = db;
	/* it reads from the begin to the end: pages that were read are of no use */
	if (i)
		sqlite3_exec(db, "PRAGMA cache_size=-256", NULL, NULL, NULL);
	if (!q->has_blocks[i] &&
	    sqlite3_create_function(db, "blocks_take", -1, SQLITE_UTF8, &q->reading[i], NULL,
				    sql_take, sql_nothing) != SQLITE_OK)
		return false;
	q->has_blocks[i] = true;
	if (b->in_transaction && b->rows->table && !b->rows->extend)
		r->leaves = leaves_open(db, b->rows->table, b->rows->columns);
	return sqlite3_prepare_v2(db, sql, -1, &r->stmt, NULL) == SQLITE_OK;
}

static int prepare(struct blocks *b, bool two)
{
	const struct timeline_rows *rows = b->rows;
	char *take = sqlite3_mprintf("SELECT blocks_take(%s) FROM %s", rows->columns, rows->from);
	char *from = sqlite3_mprintf("SELECT %s FROM %s ORDER BY 1 LIMIT 1", rows->id, rows->from);
	int ret = take && from ? query_prepare(b->q, &b->from, from) : query_fail_memory(b->q);

	if (ret == 0 && !open_reader(b, 0, take))
		ret = query_fail_sql(b->q);
	/* without another thread it takes longer */
	b->has_thread = ret == 0 && two && open_reader(b, 1, take) &&
			pthread_create(&b->thread, NULL, read_wanted, b) == 0;
	sqlite3_free(take);
	sqlite3_free(from);
	return ret;
}

int blocks_open(struct query *q, const struct timeline_rows *rows, size_t nr, bool two, void *arg,
		struct blocks **out)
{
	struct blocks *b = *out = alloc_zero(1, sizeof(*b));
	int64_t nr_ids = (int64_t)(MOST_ROWS / 2 / nr);
	int ret = 0;

	if (!b)
		return query_fail_memory(q);
	b->q = q;
	b->rows = rows;
	b->arg = arg;
	b->nr = nr;
	b->in_transaction = two;
	b->nr_ids = nr_ids > MOST_IDS ? MOST_IDS : nr_ids < LEAST_IDS ? LEAST_IDS : nr_ids;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->wanted, NULL);
	pthread_cond_init(&b->read, NULL);
	b->cursors = alloc_zero(nr, sizeof(*b->cursors));
	b->queue = alloc_zero(2 * nr, sizeof(struct block *));
	if (!b->cursors || !b->queue)
		ret = query_fail_memory(q);
	for (size_t i = 0; ret == 0 && i < 2 * nr; i++) {
		struct block *block = &b->cursors[i / 2].blocks[i % 2];

		block->max = (size_t)b->nr_ids;
		block->rows = alloc_heap(block->max * rows->size);
		if (!block->rows)
			ret = query_fail_memory(q);
	}
	if (ret == 0)
		ret = prepare(b, two);
	if (ret) {
		blocks_close(b);
		*out = NULL;
	}
	return ret;
}

int blocks_begin(struct blocks *b, size_t i, int64_t first, int64_t last)
{
	struct cursor *c = &b->cursors[i];
	int ret;

	c->next = first;
	c->last = last;
	ret = seek(b, c);
	for (int n = 0; ret == 0 && n < 2; n++)
		ret = want(b, c, &c->blocks[n]);
	return ret;
}

void blocks_close(struct blocks *b)
{
	if (!b)
		return;
	if (b->has_thread) {
		pthread_mutex_lock(&b->lock);
		b->stop = true;
		pthread_cond_signal(&b->wanted);
		pthread_mutex_unlock(&b->lock);
		pthread_join(b->thread, NULL);
	}
	for (int i = 0; i < 2; i++) {
		sqlite3_finalize(b->readers[i].stmt);
		leaves_close(b->readers[i].leaves);
	}
	sqlite3_finalize(b->from);
	for (size_t i = 0; b->cursors && i < 2 * b->nr; i++)
		alloc_free(b->cursors[i / 2].blocks[i % 2].rows);
	alloc_free(b->cursors);
	alloc_free(b->queue);
	pthread_cond_destroy(&b->read);
	pthread_cond_destroy(&b->wanted);
	pthread_mutex_destroy(&b->lock);
	alloc_free(b);
}
