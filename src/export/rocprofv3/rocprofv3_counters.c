/* SPDX-License-Identifier: MIT */
/* rocprofv3_counters.c - what a counter or metric of a trace is
 *
 * The database has what rtl wrote with it (rtl_counter_name), also of the user's own metrics;
 * blocks and events are those of the GPU.
 */
#include <stdio.h>
#include <string.h>

#include "counter/metric.h"
#include "export/rocprofv3/rocprofv3_internal.h"

static void copy_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static void read_shipped(struct rocprofv3_counter *c, const char *agent, const char *name)
{
	const struct counter_gpu *gpu = gpus_find(agent);
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	if (!gpu || !metric_find(gpu, name, &m, error))
		return;
	copy_text(c->description, sizeof(c->description), m.description);
	copy_text(c->expression, sizeof(c->expression), m.expression);
	copy_text(c->unit, sizeof(c->unit), m.unit);
	copy_text(c->block, sizeof(c->block), m.block ? m.block->name : "");
	c->event = m.event;
	c->is_constant = m.kind == METRIC_CONSTANT;
	c->is_derived = m.kind == METRIC_DERIVED;
}

int rocprofv3_counters_find(struct query *q, const char *agent, const char *name,
			    struct rocprofv3_counter *c)
{
	sqlite3_stmt *row = NULL;
	int ret;

	memset(c, 0, sizeof(*c));
	read_shipped(c, agent, name);
	if (!query_has(q->db, "rtl_counter_name"))
		return 0;
	ret = query_prepare(
		q, &row,
		"SELECT N.description, N.expression, N.unit FROM rtl_counter_name N JOIN rocpd_string S "
		"ON S.id = N.id WHERE S.string = ?1");
	if (ret == 0) {
		sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
		ret = query_step(q, row);
	}
	if (ret == 1) {
		copy_text(c->description, sizeof(c->description), query_text(row, 0));
		copy_text(c->expression, sizeof(c->expression), query_text(row, 1));
		copy_text(c->unit, sizeof(c->unit), query_text(row, 2));
		c->is_derived = c->expression[0] != 0;
	}
	sqlite3_finalize(row);
	return ret < 0 ? ret : 0;
}

int rocprofv3_counters_make(struct query *q)
{
	sqlite3_stmt *make = NULL;
	int ret = query_run(
		q,
		"CREATE TEMP TABLE IF NOT EXISTS rocprofv3_counter (id INTEGER PRIMARY KEY, agent INTEGER, "
		"gpu TEXT, name TEXT, UNIQUE (agent, name))");

	if (ret == 0)
		ret = query_run(q, "DELETE FROM rocprofv3_counter");
	if (ret == 0)
		ret = query_prepare(
			q, &make,
			"INSERT INTO rocprofv3_counter (agent, gpu, name) SELECT DISTINCT coalesce(G.handle, 0), "
			"coalesce((SELECT name FROM rtl_agent WHERE id = Q.agent_id), ''), W.string FROM rtl_op_kernel K "
			"CROSS JOIN rocpd_counter C ON C.op_id = K.op_id JOIN rocpd_string W ON W.id = C.name_id JOIN "
			"rtl_shape S ON S.id = K.shape_id JOIN rtl_queue Q ON Q.id = S.queue_id LEFT JOIN rocprofv3_agent G "
			"ON G.id = Q.agent_id WHERE K.op_id BETWEEN ?1 AND ?2 ORDER BY 1, C.id");
	if (ret == 0) {
		query_bind_range(q, make);
		ret = query_step(q, make);
	}
	sqlite3_finalize(make);
	return ret < 0 ? ret : 0;
}
