/* SPDX-License-Identifier: MIT */
/* transfer.c - copies and fills that HIP makes with kernels of its own */
#include "query/transfer.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "query/rows.h"
#include "store/map.h"

#define PREFIX "__amd_rocclr_"

enum transfer transfer_of(const char *kernel)
{
	if (strncmp(kernel, PREFIX, strlen(PREFIX)) != 0)
		return TRANSFER_NONE;
	kernel += strlen(PREFIX);
	return strncmp(kernel, "copy", 4) == 0 ? TRANSFER_COPY :
	       strncmp(kernel, "fill", 4) == 0 ? TRANSFER_FILL :
						 TRANSFER_NONE;
}

/* ---- rows ---- */

/* Types of transfers, as operations of copy engines have them. */
enum { T_H2H, T_H2D, T_D2H, T_D2D, T_FILL, T_COPY, T_NR };

struct transfers {
	struct map names; /* ids of the kernels' names -> enum transfer */
	sqlite3_stmt *row, *agent;
	int64_t types[T_NR]; /* ids of their names */
	int64_t last_shape, last_agent;
};

/* Names that the trace may not have: below zero is no id of rocpd_string. */
static const char types_sql[] =
	"CREATE TEMP TABLE IF NOT EXISTS query_type (id INTEGER PRIMARY KEY, string TEXT); INSERT OR IGNORE "
	"INTO query_type VALUES (-1, 'CopyHostToHost'), (-2, 'CopyHostToDevice'), (-3, 'CopyDeviceToHost'), "
	"(-4, 'CopyDeviceToDevice'), (-5, 'FillBuffer'), (-6, 'Copy'); CREATE TEMP TABLE IF NOT EXISTS "
	"query_transfer (op_id INTEGER PRIMARY KEY, type INTEGER, bytes INTEGER)";

/* type: a position in types[]; -1 - type is its id in query_type */
static const char table_sql[] =
	"DROP VIEW IF EXISTS temp.rtl_transfer; CREATE TEMP " TRANSFER_VIEW
	"; INSERT OR IGNORE INTO query_transfer SELECT op_id, CASE kind WHEN 'HostToHost' THEN 0 WHEN 'HostToDevice' "
	"THEN 1 WHEN 'DeviceToHost' THEN 2 WHEN 'DeviceToDevice' THEN 3 WHEN 'Fill' THEN 4 ELSE 5 END, "
	"coalesce(bytes, 0) FROM temp.rtl_transfer WHERE " TRANSFER_IS(
		"means") "; DROP VIEW temp.rtl_transfer";

static int read_names(struct query *q, struct transfers *t)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(q, &row,
				"SELECT id, string FROM rocpd_string WHERE " TRANSFER_IS("string"));

	while (ret == 0 && (ret = query_step(q, row)) == 1)
		ret = map_put(&t->names, (uint64_t)sqlite3_column_int64(row, 0),
			      transfer_of(query_text(row, 1))) ?
			      query_fail_memory(q) :
			      0;
	sqlite3_finalize(row);
	return ret;
}

static int read_types(struct query *q, struct transfers *t)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(
		q, &row,
		"SELECT coalesce((SELECT min(S.id) FROM rocpd_string S WHERE S.string = "
		"Y.string), Y.id) FROM temp.query_type Y ORDER BY Y.id DESC");

	for (int i = 0; ret == 0 && i < T_NR && (ret = query_step(q, row)) == 1; i++, ret = 0)
		t->types[i] = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return ret;
}

/* In an RPD file the name of a kernel alone says what it does. */
static int read_kinds(struct query *q, struct transfers *t)
{
	const struct query_sql all[] = {
		{ &t->row, "SELECT type, bytes FROM temp.query_transfer WHERE op_id = ?1" },
		{ &t->agent, "SELECT Q.agent_id FROM rtl_shape S JOIN rtl_queue Q ON Q.id = "
			     "S.queue_id WHERE S.id = ?1" },
	};
	int ret = read_types(q, t);

	if (ret || !q->ours)
		return ret;
	ret = query_run(q, table_sql);
	return ret == 0 ? query_prepare_all(q, all, sizeof(all) / sizeof(all[0])) : ret;
}

int transfer_prepare(struct query *q)
{
	struct transfers *t;
	int ret = query_run(q, types_sql);

	if (ret || q->transfers)
		return ret;
	t = alloc_zero(1, sizeof(*t));
	if (!t)
		return query_fail_memory(q);
	q->transfers = t;
	ret = read_names(q, t);
	if (ret == 0 && t->names.nr)
		ret = read_kinds(q, t);
	if (ret || !t->names.nr)
		transfer_end(q);
	return ret;
}

void transfer_end(struct query *q)
{
	if (!q->transfers)
		return;
	map_fini(&q->transfers->names);
	sqlite3_finalize(q->transfers->row);
	sqlite3_finalize(q->transfers->agent);
	alloc_free(q->transfers);
	q->transfers = NULL;
}

void transfer_apply(struct query *q, int64_t *op)
{
	struct transfers *t = q->transfers;
	uint64_t transfer;
	int64_t type;

	if (!t || op[OP_COPY] || !map_get(&t->names, (uint64_t)op[OP_NAME], &transfer))
		return;
	type = transfer == TRANSFER_FILL ? T_FILL : T_COPY;
	if (t->row && query_row(t->row, op[OP_ID])) {
		type = sqlite3_column_int64(t->row, 0);
		op[OP_BYTES] = sqlite3_column_int64(t->row, 1);
	}
	op[OP_COPY] = 1;
	op[OP_TYPE] = t->types[type];
	/* the GPU whose queue it ran on: of a copy between two GPUs this may be the one or the other */
	if (t->agent && t->last_shape != op[OP_SHAPE]) {
		t->last_shape = op[OP_SHAPE];
		t->last_agent =
			query_row(t->agent, t->last_shape) ? sqlite3_column_int64(t->agent, 0) : 0;
	}
	op[OP_SRC] = type == T_D2H || type == T_D2D ? t->last_agent : 0;
	op[OP_DST] = type == T_H2D || type == T_D2D || type == T_FILL ? t->last_agent : 0;
}
