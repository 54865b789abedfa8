/* SPDX-License-Identifier: MIT */
/* walk.c - a trace as events with their annotations: parts, names, samples of counters */
#include "export/walk_internal.h"

#include <errno.h>

#include "base/alloc.h"
#include "query/kinds.h"

/* ---- parts ---- */

static int keep(struct walk *walk, struct kept *kept, uint64_t key, struct kept_part *part)
{
	return kept_put(kept, key, part) ? query_fail_memory(walk->q) : 0;
}

int walk_keep(struct walk *walk, struct kept *kept, uint64_t key, const struct walk_note *notes,
	      size_t nr, struct walk_notes *to)
{
	struct kept_part part = { "", 0 };
	int ret = nr ? walk->ops->encode(walk->w, notes, nr, &part) : 0;

	if (ret == 0)
		ret = keep(walk, kept, key, &part);
	if (ret == 0)
		to->parts[to->nr_parts++] = part;
	return ret;
}

int walk_name(struct walk *walk, struct kept *kept, int64_t id, enum walk_what what,
	      sqlite3_stmt *stmt, struct kept_part *name)
{
	const char *text;
	int ret;

	if (kept_get(kept, (uint64_t)id, name))
		return 0;
	text = stmt ? query_look_up(stmt, id) : "barrier";
	ret = walk->ops->name(walk->w, what, text, name);
	return ret ? ret : keep(walk, kept, (uint64_t)id, name);
}

/* ---- samples of counters ---- */

/* `track`: the name of its track, NULL for the writer's own. */
#define SAMPLES(track, join)                                                                       \
	"SELECT O.gpuId, C.name_id, N.string, O.start, O.\"end\", sum(C.value), " track            \
	" FROM rocpd_counter C JOIN rocpd_op O ON O.id = C.op_id JOIN rocpd_string N ON N.id = "   \
	"C.name_id " join "WHERE O.id BETWEEN ?1 AND ?2 GROUP BY C.op_id, C.name_id ORDER BY "     \
	"O.gpuId, C.name_id, O.start"
static const char dispatches_sql[] = SAMPLES("NULL", "");
static const char named_sql[] =
	SAMPLES("G.name || ' PMC ' || N.string",
		"LEFT JOIN temp.query_agent G ON G.block = O.id >> 32 AND G.gpu_id = O.gpuId ");

/* Bytes that are being copied to an agent, from each begin and each end on. Fills (5) are no
 * copies; copies without times are left out. */
static const char copied_sql[] =
	"WITH copy AS MATERIALIZED (SELECT K.dst_agent_id AS agent, O.start, O.\"end\", K.bytes FROM rtl_op_copy K CROSS "
	"JOIN rocpd_op O ON O.id = K.op_id WHERE K.op_id BETWEEN ?1 AND ?2 AND K.kind <> 5 AND NOT K.flags & " KINDS_UNTIMED
	" AND O.\"end\" > O.start), change AS (SELECT agent, start AS at, bytes FROM copy UNION ALL SELECT agent, \"end\", "
	"-bytes FROM copy), total AS (SELECT agent, at, sum(sum(bytes)) OVER (PARTITION BY agent ORDER BY at) AS bytes FROM "
	"change GROUP BY agent, at) SELECT coalesce(G.gpu_id, -1), 0, '', at, 0, bytes, 'COPY BYTES to ' || G.name || ' (' || "
	"G.type || ')' FROM total T JOIN temp.query_agent G ON G.id = T.agent ORDER BY agent, at";

/* Memory of an agent that calls have allocated, at their begins and ends. */
static const char allocated_sql[] =
	"WITH call AS MATERIALIZED (SELECT agent_id AS agent, start, \"end\", bytes FROM temp.query_allocated WHERE api_id "
	"BETWEEN ?1 AND ?2 AND agent_id), change AS (SELECT agent, start AS at, bytes FROM call UNION ALL SELECT agent, "
	"\"end\", 0 FROM call), total AS (SELECT agent, at, sum(sum(bytes)) OVER (PARTITION BY agent ORDER BY at) AS bytes "
	"FROM change GROUP BY agent, at) SELECT coalesce(G.gpu_id, -1), 0, '', at, 0, bytes, 'ALLOCATE BYTES on ' || G.name || "
	"' (' || G.type || ')' FROM total T JOIN temp.query_agent G ON G.id = T.agent ORDER BY agent, at";

/* Scratch memory that the queues of an agent have, at each begin and each end of what happens to
 * it. A queue has one allocation, and a smaller one (2) beside it; an allocation that replaces
 * another one includes the end of that. Runtimes before ROCm 7 report no end when a queue is
 * destroyed. */
static const char scratch_sql[] =
	"WITH had AS MATERIALIZED (SELECT queue_id AS queue, flags & 2 AS part, begin_ns AS since, end_ns AS at, bytes FROM "
	"rtl_scratch WHERE id BETWEEN ?1 AND ?2), ended AS (SELECT * FROM had UNION ALL SELECT DISTINCT H.queue, H.part, "
	"Q.destroy_ns, Q.destroy_ns, 0 FROM had H JOIN rtl_queue Q ON Q.id = H.queue AND Q.destroy_ns > 0), event AS "
	"MATERIALIZED (SELECT Q.agent_id AS agent, E.since, E.at, E.bytes - lag(E.bytes, 1, 0) OVER (PARTITION BY E.queue, "
	"E.part ORDER BY E.at) AS bytes FROM ended E JOIN rtl_queue Q ON Q.id = E.queue), change AS (SELECT agent, at, bytes "
	"FROM event UNION ALL SELECT agent, since, 0 FROM event), total AS (SELECT agent, at, sum(sum(bytes)) OVER (PARTITION "
	"BY agent ORDER BY at) AS bytes FROM change GROUP BY agent, at) SELECT coalesce(G.gpu_id, -1), 0, '', at, 0, bytes, "
	"'SCRATCH MEMORY on ' || G.name || ' (' || G.type || ')' FROM total T JOIN temp.query_agent G ON G.id = T.agent ORDER "
	"BY agent, at";

/* one sample each: the end is that of the next one's begin */
static const char monitors_sql[] =
	"SELECT deviceId, deviceType || ' ' || monitorType, deviceType || ' ' || monitorType, start, 0, "
	"CAST(value AS REAL), NULL FROM rocpd_monitor WHERE ?1 <= ?2 ORDER BY deviceId, 2, start";

static int read_samples(struct walk *walk, const char *sql, bool is_bytes)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(walk->q, &row, sql);

	if (ret == 0)
		query_bind_range(walk->q, row);
	while (ret == 0 && (ret = query_step(walk->q, row)) == 1) {
		struct walk_sample sample = { sqlite3_column_int64(row, 0),
					      sqlite3_column_int64(row, 3),
					      query_text(row, 2),
					      sqlite3_column_double(row, 5),
					      (const char *)sqlite3_column_text(row, 6),
					      is_bytes };
		int64_t end = sqlite3_column_int64(row, 4);

		ret = walk->ops->sample(walk->w, &sample);
		if (ret == 0 && end > sample.ns) {
			sample.ns = end;
			sample.value = 0;
			ret = walk->ops->sample(walk->w, &sample);
		}
	}
	sqlite3_finalize(row);
	return ret;
}

int walk_samples(struct walk *walk)
{
	const struct query *q = walk->q;
	int ret = 0;

	if (query_has(q->db, "rocpd_counter"))
		ret = read_samples(walk, q->names_agents ? named_sql : dispatches_sql, false);
	if (ret == 0 && query_has(q->db, "rocpd_monitor"))
		ret = read_samples(walk, monitors_sql, false);
	if (ret == 0 && q->names_agents && !(q->left_out & QUERY_COPY))
		ret = read_samples(walk, copied_sql, true);
	if (ret == 0 && q->names_agents)
		ret = read_samples(walk, allocated_sql, true);
	if (ret == 0 && q->names_agents && !(q->left_out & QUERY_SCRATCH) &&
	    query_has(q->db, "rtl_scratch"))
		ret = read_samples(walk, scratch_sql, true);
	return ret;
}

/* ---- begin and end ---- */

static int read_names(struct walk *walk)
{
	struct query *q = walk->q;
	sqlite3_stmt *row = NULL;
	int64_t nr =
		query_number(q->db, "SELECT count(DISTINCT name_id) FROM temp.walk_counter", 0);
	int ret = query_prepare(
		q, &row,
		"SELECT DISTINCT C.name_id, N.string FROM temp.walk_counter C JOIN rocpd_string N ON "
		"N.id = C.name_id ORDER BY 1");

	walk->counters = alloc_zero((size_t)nr + 1, sizeof(*walk->counters));
	if (!walk->counters)
		ret = query_fail_memory(q);
	while (ret == 0 && walk->nr_counters < (size_t)nr && (ret = query_step(q, row)) == 1) {
		struct walk_counter *c = &walk->counters[walk->nr_counters++];

		c->id = sqlite3_column_int64(row, 0);
		c->name = alloc_string(query_text(row, 1));
		ret = c->name ? 0 : query_fail_memory(q);
	}
	sqlite3_finalize(row);
	return ret;
}

/* Values by operation; files of RPD have no index for that. */
static int prepare_counters(struct walk *walk)
{
	struct query *q = walk->q;
	int ret;

	if (!query_has(q->db, "rocpd_counter") ||
	    !query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rocpd_counter)", 0))
		return 0;
	ret = query_run(
		q,
		"DROP TABLE IF EXISTS temp.walk_counter; CREATE TEMP TABLE walk_counter (op_id INTEGER, "
		"name_id INTEGER, value REAL, PRIMARY KEY (op_id, name_id)) WITHOUT ROWID; INSERT INTO "
		"walk_counter SELECT op_id, name_id, sum(value) FROM rocpd_counter GROUP BY op_id, name_id");
	if (ret == 0)
		ret = read_names(walk);
	return ret ? ret :
		     query_prepare(q, &walk->counter,
				   "SELECT name_id, value FROM temp.walk_counter WHERE op_id = ?1");
}

static int prepare(struct walk *walk)
{
	struct query *q = walk->q;
	const struct query_sql all[] = {
		{ &walk->string, QUERY_STRING },
		{ &walk->type, ROWS_TYPE_NAME },
		{ &walk->stream, ROWS_STREAM_NAME },
		{ &walk->graph,
		  q->has_graphs ?
			  "SELECT exec, replay, node FROM temp.query_graph WHERE op_id = ?1" :
			  NULL },
		{ &walk->call,
		  q->ours ?
			  "SELECT A.pid, A.tid, A.start, A.\"end\", X.correlation_id FROM rocpd_api A "
			  "LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE A.id = ?1" :
			  "SELECT pid, tid, start, \"end\", 0 FROM rocpd_api WHERE id = ?1" },
		/* databases of rtl only */
		{ &walk->shape.stmt,
		  "SELECT id, kernel_id, grid_x, grid_y, grid_z, group_x, group_y, group_z, "
		  "group_size, private_size FROM rtl_shape WHERE id >= ?1 ORDER BY id" },
		{ &walk->kernel, "SELECT demangled, name, kernel_id, vgpr_count, accum_vgpr_count, "
				 "sgpr_count FROM rtl_kernel_symbol WHERE id = ?1" },
		{ &walk->agent, "SELECT label FROM rtl_agent WHERE id = ?1" },
		{ &walk->symbol, "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" },
		/* ranges of start and stop are not on a thread's track */
		{ &walk->cause,
		  "SELECT A.pid, A.tid, A.start, A.\"end\", 0 FROM rocpd_api A JOIN "
		  "rtl_marker_data M ON M.api_id = A.id WHERE A.id = ?1 AND M.kind <> 2" },
	};
	int ret = query_prepare_all(q, all, q->ours ? sizeof(all) / sizeof(all[0]) : 5);

	if (ret == 0)
		ret = query_texts_begin(q, &walk->texts);
	return ret ? ret : prepare_counters(walk);
}

int walk_begin(struct walk **out, struct query *q, const struct walk_ops *ops, void *w)
{
	struct walk *walk = alloc_zero(1, sizeof(*walk));

	*out = walk;
	if (!walk)
		return query_fail_memory(q);
	walk->q = q;
	walk->ops = ops;
	walk->w = w;
	walk->op.notes.own =
		alloc_grow(NULL, 0, &walk->op.notes.max, WALK_NOTES, sizeof(struct walk_note));
	walk->event.notes.own =
		alloc_grow(NULL, 0, &walk->event.notes.max, WALK_NOTES, sizeof(struct walk_note));
	walk->collective.notes.own = alloc_grow(NULL, 0, &walk->collective.notes.max, WALK_NOTES,
						sizeof(struct walk_note));
	if (!walk->op.notes.own || !walk->event.notes.own || !walk->collective.notes.own)
		return query_fail_memory(q);
	return prepare(walk);
}

void walk_end(struct walk *walk)
{
	if (!walk)
		return;

	sqlite3_stmt *const stmts[] = { walk->string, walk->symbol, walk->type,	 walk->kernel,
					walk->agent,  walk->stream, walk->graph, walk->counter,
					walk->cause,  walk->call };
	struct kept *const kept[] = { &walk->kernels,  &walk->symbols, &walk->types,
				      &walk->shapes,   &walk->kinds,   &walk->sources,
				      &walk->targets,  &walk->streams, &walk->gpus,
				      &walk->flags,    &walk->args,    &walk->barrier,
				      &walk->functions };

	for (size_t i = 0; i < sizeof(stmts) / sizeof(stmts[0]); i++)
		sqlite3_finalize(stmts[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		kept_fini(kept[i]);
	query_texts_end(&walk->shape);
	query_texts_end(&walk->texts);
	for (size_t i = 0; i < walk->nr_counters; i++)
		alloc_free(walk->counters[i].name);
	alloc_free(walk->counters);
	alloc_free(walk->op.notes.own);
	alloc_free(walk->event.notes.own);
	alloc_free(walk->collective.notes.own);
	walk_joints_fini(&walk->joints);
	map_fini(&walk->function_index);
	alloc_free(walk->all);
	alloc_free(walk);
}
