/* SPDX-License-Identifier: MIT */
/* rocprofv3_graphs.c - launches of graphs, and what belongs to them, with rocprofv3's numbers
 *
 * An executable graph is numbered from 1 in the order of instantiation; one whose instantiation was
 * not recorded comes behind these. Kernels and copies of a launch are numbered from 0.
 */
#include "export/rocprofv3/rocprofv3_internal.h"

static const char tables_sql[] =
	"CREATE TEMP TABLE IF NOT EXISTS rocprofv3_exec (handle TEXT, at INTEGER, number INTEGER, "
	"PRIMARY KEY (handle, at, number)) WITHOUT ROWID;"
	"CREATE TEMP TABLE IF NOT EXISTS rocprofv3_launch (api_id INTEGER PRIMARY KEY, exec INTEGER);"
	"CREATE TEMP TABLE IF NOT EXISTS rocprofv3_node (op_id INTEGER PRIMARY KEY, api_id INTEGER, exec INTEGER, "
	"node INTEGER);"
	"DELETE FROM temp.rocprofv3_exec; DELETE FROM temp.rocprofv3_launch; DELETE FROM "
	"temp.rocprofv3_node";

static const char execs_sql[] =
	"INSERT INTO temp.rocprofv3_exec SELECT I.graphExec, B.\"end\", row_number() OVER (ORDER BY B.\"end\", B.id) "
	"FROM rocpd_graphapi I JOIN rocpd_api B ON B.id = I.api_ptr_id WHERE B.id BETWEEN ?1 AND ?2 AND I.graphExec > ''";

/* A handle is used again for a later executable: a launch is of the last one that was there. */
static const char launches_sql[] =
	"INSERT INTO temp.rocprofv3_launch SELECT api_id, coalesce(number, (SELECT count(*) FROM temp.rocprofv3_exec) + "
	"dense_rank() OVER (PARTITION BY number IS NULL ORDER BY handle)) FROM (SELECT L.api_ptr_id AS api_id, "
	"L.graphExec AS handle, (SELECT E.number FROM temp.rocprofv3_exec E WHERE E.handle = L.graphExec AND E.at <= "
	"A.start ORDER BY E.at DESC, E.number DESC LIMIT 1) AS number FROM rocpd_graphLaunchapi L JOIN rocpd_api A ON "
	"A.id = L.api_ptr_id JOIN rtl_api_data X ON X.api_id = A.id AND X.status = 0 WHERE A.id BETWEEN ?1 AND ?2)";

static const char nodes_sql[] =
	"INSERT OR IGNORE INTO temp.rocprofv3_node SELECT O.id, L.api_id, L.exec, row_number() OVER (PARTITION BY "
	"L.api_id ORDER BY O.queueId, O.sequenceId, O.id) - 1 FROM rocpd_api_ops J JOIN temp.rocprofv3_launch L ON "
	"L.api_id = J.api_id JOIN rocpd_op O ON O.id = J.op_id WHERE J.op_id BETWEEN ?1 AND ?2 AND (EXISTS (SELECT 1 "
	"FROM rtl_op_kernel K WHERE K.op_id = O.id) OR EXISTS (SELECT 1 FROM rtl_op_copy C WHERE C.op_id = O.id))";

static int fill(struct query *q, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(q, &stmt, sql);

	if (ret == 0) {
		query_bind_range(q, stmt);
		ret = query_step(q, stmt);
	}
	sqlite3_finalize(stmt);
	return ret;
}

int rocprofv3_graphs_make(struct query *q)
{
	int ret = query_run(q, tables_sql);

	if (ret || !q->has_graphs)
		return ret;
	ret = fill(q, execs_sql);
	if (ret == 0)
		ret = fill(q, launches_sql);
	return ret ? ret : fill(q, nodes_sql);
}
