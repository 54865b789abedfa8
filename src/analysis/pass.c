/* SPDX-License-Identifier: MIT */
/* pass.c - one pass over the operations of a trace
 *
 * In the order of the file, which is the fastest, unless a reader needs the order of time.
 */
#include "analysis/pass.h"

#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "query/cause.h"
#include "query/timeline.h"
#include "store/map.h"

struct row {
	struct timeline_op op;
	/* only if they are read */
	int64_t call, call_begin, call_end;
};
ROW_CHECK(struct row, 10, call_end);

enum { RECENT = 512 };

struct pass {
	struct query *q;
	struct kinds *kinds;
	const struct pass_reader *const *readers;
	size_t nr;
	bool calls;
	struct map odd; /* operations whose times are not measured */
	int64_t block;	/* of the last operation's process */
	uint32_t process;
	/* names are few, their look-ups are not */
	struct {
		int64_t name, type; /* type 0: none */
		enum kinds_op kind;
	} recent[RECENT];
};

static enum kinds_op kind_of(struct pass *p, int64_t name, int64_t type)
{
	size_t at = (uint64_t)name % RECENT; /* ids of names are dense */

	if (!type)
		return KINDS_KERNEL;
	if (p->recent[at].name != name || p->recent[at].type != type) {
		p->recent[at].name = name;
		p->recent[at].type = type;
		p->recent[at].kind = kinds_of(p->kinds, name, type);
	}
	return p->recent[at].kind;
}

static uint32_t process_of(struct pass *p, int64_t id)
{
	if (id >> 32 != p->block) {
		const struct query_process *found = query_process_of(p->q, id);

		p->block = id >> 32;
		p->process = found ? (uint32_t)(found - p->q->processes) : 0;
	}
	return p->process;
}

static int pass_op(struct pass *p, const struct row *row)
{
	const struct timeline_op *from = &row->op;
	struct pass_op op = { .id = from->id,
			      .begin = from->begin,
			      .end = from->end,
			      .gpu = from->gpu,
			      .name = from->name,
			      .type = from->type,
			      .marker = from->marker,
			      .kind = kind_of(p, from->name, from->type),
			      .process = process_of(p, from->id) };
	uint64_t one;
	int ret = 0;

	op.timed = op.end >= op.begin && !(p->odd.nr && map_get(&p->odd, (uint64_t)op.id, &one));
	if (p->calls) {
		op.has_call = row->call != 0;
		op.call_begin = row->call_begin;
		op.call_end = row->call_end;
	}
	for (size_t i = 0; ret == 0 && i < p->nr; i++)
		ret = p->readers[i]->take(p->readers[i]->arg, &op);
	return ret;
}

static int take_ordered(void *arg, const void *row)
{
	return pass_op(arg, row);
}

static int take_any(void *arg, sqlite3_value **columns)
{
	struct pass *p = arg;
	struct row row;

	row_take(&row, columns, p->calls ? ROW_COLUMNS(row) : ROW_BEFORE(struct row, call));
	return pass_op(p, &row);
}

static void reset(void *arg)
{
	struct pass *p = arg;

	for (size_t i = 0; i < p->nr; i++)
		if (p->readers[i]->reset)
			p->readers[i]->reset(p->readers[i]->arg);
}

static int read_odd(struct pass *p)
{
	static const char sql[] =
		"SELECT op_id FROM rtl_op_kernel WHERE flags & " KINDS_UNTIMED
		" UNION ALL SELECT op_id FROM rtl_op_copy WHERE flags & " KINDS_UNTIMED;
	sqlite3_stmt *stmt = NULL;
	int ret = p->q->ours ? query_prepare(p->q, &stmt, sql) : 0;

	while (stmt && ret == 0 && (ret = query_step(p->q, stmt)) == 1) {
		ret = map_put(&p->odd, (uint64_t)sqlite3_column_int64(stmt, 0), 1);
		if (ret)
			query_fail_memory(p->q);
	}
	sqlite3_finalize(stmt);
	return ret;
}

#define CALL ", A.id, A.start, A.\"end\""
/* the correlation id of an operation is the id of its call, if calls were recorded at all */
#define CALL_OURS                                                                                  \
	" LEFT JOIN rtl_api_data X ON X.api_id = O.correlation_id LEFT JOIN rocpd_api A ON A.id = X.api_id"
#define CALL_COMPACT                                                                               \
	" LEFT JOIN rocpd_api A ON A.id = O.correlation_id AND A.rtl_parent_id IS NOT NULL"
#define CALL_RPD                                                                                   \
	" LEFT JOIN query_cause L ON L.op_id = O.id LEFT JOIN rocpd_api A ON A.id = L.api_id"
#define IDS " WHERE O.id BETWEEN ?1 AND ?2"

static int read_rows(struct pass *p, bool ordered)
{
#define ROWS(columns_of, from_where, bytes, plain)                                                 \
	{                                                                                          \
		.columns = columns_of, .id = "O.id", .from = from_where IDS, .size = bytes,        \
		.table = plain                                                                     \
	}
#define PLAIN(columns_of) ROWS(columns_of, "rocpd_op O", offsetof(struct row, call), "rocpd_op")
	static const struct timeline_rows ours = PLAIN(TIMELINE_OP);
	static const struct timeline_rows ours_calls =
		ROWS(TIMELINE_OP CALL, "rocpd_op O" CALL_OURS, sizeof(struct row), NULL);
	static const struct timeline_rows compact_calls =
		ROWS(TIMELINE_OP CALL, "rocpd_op O" CALL_COMPACT, sizeof(struct row), NULL);
	static const struct timeline_rows rpd = PLAIN(TIMELINE_OP_RPD);
	static const struct timeline_rows rpd_calls =
		ROWS(TIMELINE_OP_RPD CALL, "rocpd_op O" CALL_RPD, sizeof(struct row), NULL);
#undef PLAIN
#undef ROWS
	const struct timeline_rows *rows = p->q->ours ? (!p->calls	  ? &ours :
							 p->q->is_compact ? &compact_calls :
									    &ours_calls) :
							(p->calls ? &rpd_calls : &rpd);
	bool is_part;

	if (!ordered)
		return query_scan(p->q, rows->columns, rows->from, take_any, p);
	/* a part of a trace, and what cause_make() found, are temporary: only this connection has
	 * them */
	is_part = p->calls || query_number(p->q->db,
					   "SELECT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE "
					   "name = 'rocpd_op')",
					   1);
	return timeline_read(p->q, rows, is_part ? TIMELINE_APART : TIMELINE_TWO, take_ordered,
			     reset, p);
}

static int read_once(struct query *q, struct kinds *kinds, const struct pass_reader *const *readers,
		     size_t nr)
{
	struct pass p = {
		.q = q, .kinds = kinds, .readers = readers, .nr = nr, .block = INT64_MIN
	};
	bool ordered = false;
	int ret = kinds_read(q, kinds);

	for (size_t i = 0; i < nr; i++) {
		ordered |= readers[i]->ordered;
		p.calls |= readers[i]->calls;
	}
	/* what a trace has none of is not joined: that takes half of the time */
	p.calls = p.calls && (!q->ours ||
			      query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rtl_api_data)", 1));
	/* rows_prepare() has made the same, with streams, which other readers want */
	if (ret == 0 && p.calls && !q->ours && !q->is_prepared)
		ret = cause_make(q, false);
	if (ret == 0)
		ret = query_read_processes(q);
	if (ret == 0)
		ret = read_odd(&p);
	if (ret == 0)
		ret = read_rows(&p, ordered);
	map_fini(&p.odd);
	return ret == -ENOMEM ? query_fail_memory(q) : ret;
}

int pass_read(struct query *q, struct kinds *kinds, const struct pass_reader *const *readers,
	      size_t nr)
{
	const struct pass_reader **apart;
	size_t nr_filed = 0, nr_others = 0;
	bool ordered = false;
	int ret;

	for (size_t i = 0; i < nr; i++) {
		ordered |= readers[i]->ordered;
		nr_filed += readers[i]->as_filed;
	}
	if (!ordered || !nr_filed)
		return read_once(q, kinds, readers, nr);
	apart = alloc_zero(nr, sizeof(*apart));
	if (!apart)
		return query_fail_memory(q);
	nr_filed = 0;
	for (size_t i = 0; i < nr; i++)
		*(readers[i]->as_filed ? &apart[nr_filed++] : &apart[nr - ++nr_others]) =
			readers[i];
	ret = read_once(q, kinds, apart, nr_filed);
	if (ret == 0)
		ret = read_once(q, kinds, apart + nr_filed, nr_others);
	alloc_free(apart);
	return ret;
}
