/* SPDX-License-Identifier: MIT */
/* transfer.c - copies and fills that HIP makes with kernels of its own */
#include "query/transfer.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "query/rows.h"
#include "store/map.h"

/* ---- rows ---- */

/* Types of transfers, as operations of copy engines have them. */
enum { T_H2H, T_H2D, T_D2H, T_D2D, T_FILL, T_COPY, T_P2P, T_NR };

struct transfers {
	struct map names; /* ids of the kernels' names -> enum kinds_transfer */
	sqlite3_stmt *row;
	int64_t types[T_NR]; /* ids of their names */
};

/* Names that the trace may not have: below zero is no id of rocpd_string. */
static const char types_sql[] =
	"CREATE TEMP TABLE IF NOT EXISTS query_type (id INTEGER PRIMARY KEY, string TEXT); INSERT OR IGNORE "
	"INTO query_type VALUES (-1, 'CopyHostToHost'), (-2, 'CopyHostToDevice'), (-3, 'CopyDeviceToHost'), "
	"(-4, 'CopyDeviceToDevice'), (-5, 'FillBuffer'), (-6, 'Copy'), (-7, 'CopyPeerToPeer'); CREATE TEMP TABLE IF NOT EXISTS "
	"query_transfer (op_id INTEGER PRIMARY KEY, type INTEGER, bytes INTEGER, src INTEGER, dst INTEGER)";

/* type: a position in types[]; -1 - type is its id in query_type */
static const char table_sql[] =
	"INSERT OR IGNORE INTO query_transfer SELECT op_id, CASE kind WHEN 'HostToHost' THEN 0 WHEN 'HostToDevice' "
	"THEN 1 WHEN 'DeviceToHost' THEN 2 WHEN 'DeviceToDevice' THEN 3 WHEN 'Fill' THEN 4 WHEN 'PeerToPeer' THEN 6 ELSE 5 END, "
	"coalesce(bytes, 0), coalesce(src_agent_id, 0), coalesce(dst_agent_id, 0) FROM temp.rtl_transfer WHERE " KINDS_IS_BLIT(
		"means") "; DROP VIEW temp.rtl_transfer";

static int read_names(struct query *q, struct transfers *t)
{
	sqlite3_stmt *row = NULL;
	int ret =
		query_prepare(q, &row,
			      "SELECT id, string FROM rocpd_string WHERE " KINDS_IS_BLIT("string"));

	while (ret == 0 && (ret = query_step(q, row)) == 1)
		ret = map_put(&t->names, (uint64_t)sqlite3_column_int64(row, 0),
			      kinds_transfer_of(query_text(row, 1))) ?
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

static const char blits_sql[] =
	"SELECT EXISTS (SELECT 1 FROM rocpd_string WHERE " KINDS_IS_BLIT("string") ")";

int transfer_define(struct query *q)
{
	static const char has[] =
		"SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE name = 'rtl_api_copy')";
	static const char agents[] =
		"CREATE TEMP TABLE IF NOT EXISTS rtl_api_copy (api_id INTEGER PRIMARY KEY, "
		"src_agent_id INTEGER, dst_agent_id INTEGER)";
	static const char engines[] =
		"DROP VIEW IF EXISTS temp.rtl_transfer; CREATE TEMP VIEW rtl_transfer AS " TRANSFER_ENGINES;
	static const char all[] =
		"DROP VIEW IF EXISTS temp.rtl_transfer; CREATE TEMP " TRANSFER_VIEW;
	int ret = query_number(q->db, has, 1) ? 0 : query_run(q, agents);

	/* else all operations would be read for none */
	return ret ? ret : query_run(q, query_number(q->db, blits_sql, 1) ? all : engines);
}

/* In an RPD file the name of a kernel alone says what it does. */
static int read_kinds(struct query *q, struct transfers *t)
{
	int ret = read_types(q, t);

	if (ret || !q->ours)
		return ret;
	ret = transfer_define(q);
	if (ret == 0)
		ret = query_run(q, table_sql);
	return ret == 0 ? query_prepare(q, &t->row,
					"SELECT type, bytes, src, dst FROM temp.query_transfer "
					"WHERE op_id = ?1") :
			  ret;
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
	alloc_free(q->transfers);
	q->transfers = NULL;
}

void transfer_apply(struct query *q, struct rows_op *op)
{
	struct transfers *t = q->transfers;
	uint64_t transfer;
	int64_t type;

	/* RPD has no types of these: those of rocpd_op are the names of others */
	if (op->copy == 1 + REC_COPY_P2P)
		op->type = -1 - T_P2P;
	else if (op->copy > 1 + REC_COPY_FILL)
		op->type = -1 - T_COPY;
	op->copy = op->copy != 0;
	if (!t || op->copy || !map_get(&t->names, (uint64_t)op->name, &transfer))
		return;
	type = transfer == KINDS_FILL ? T_FILL : T_COPY;
	if (t->row && query_row(t->row, op->id)) {
		type = sqlite3_column_int64(t->row, 0);
		op->bytes = sqlite3_column_int64(t->row, 1);
		op->src = sqlite3_column_int64(t->row, 2);
		op->dst = sqlite3_column_int64(t->row, 3);
	}
	op->copy = 1;
	op->type = t->types[type];
}

/* ---- the view ---- */

#define QUERY_COPY(from)                                                                                    \
	"DROP VIEW IF EXISTS temp.query_copy; CREATE TEMP VIEW query_copy AS SELECT op_id, " KINDS_NAME_OF( \
		"kind") " AS name, agent, begin_ns, end_ns, flags, coalesce(bytes, 0) AS bytes, "           \
			"means FROM " from

int transfer_view(struct query *q)
{
	static const char engines[] = QUERY_COPY("(" TRANSFER_ENGINES ")");
	static const char all[] = QUERY_COPY("temp.rtl_transfer");
	static const char rpd[] =
		"DROP VIEW IF EXISTS temp.query_copy; CREATE TEMP VIEW query_copy AS SELECT O.id AS op_id, CASE "
		"WHEN S.string GLOB '__amd_rocclr_copy*' THEN 'Copy' WHEN S.string GLOB '__amd_rocclr_fill*' THEN "
		"'FillBuffer' ELSE T.string END AS name, gpuId AS agent, start AS begin_ns, \"end\" AS end_ns, 0 AS "
		"flags, 0 AS bytes, CASE WHEN S.string = '' THEN 'not known' ELSE S.string END AS means FROM rocpd_op "
		"O JOIN rocpd_string T ON T.id = O.opType_id JOIN rocpd_string S ON S.id = O.description_id WHERE " KINDS_IS_TRANSFER(
			"T.string", "S.string");

	int ret;

	if (!q->ours)
		return query_run(q, rpd);
	if (!query_number(q->db, blits_sql, 1))
		return query_run(q, engines);
	ret = transfer_define(q);
	return ret == 0 ? query_run(q, all) : ret;
}
