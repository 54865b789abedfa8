/* SPDX-License-Identifier: MIT */
/* pftrace_counter.c - counters in Perfetto's format: a track for each counter of a GPU
 *
 * A hardware counter has the value of a dispatch from its begin to its end, and 0 between dispatches. RPD's monitors have samples.
 */
#include <stdio.h>
#include <string.h>

#include "export/pftrace/pftrace_internal.h"

static const char dispatches_sql[] =
	"SELECT O.gpuId, C.name_id, N.string, O.start, O.\"end\", sum(C.value) FROM rocpd_counter C JOIN "
	"rocpd_op O ON O.id = C.op_id JOIN rocpd_string N ON N.id = C.name_id WHERE O.id BETWEEN ?1 AND ?2 "
	"GROUP BY C.op_id, C.name_id ORDER BY O.gpuId, C.name_id, O.start";

/* one sample each: the end is that of the next one's begin */
static const char monitors_sql[] =
	"SELECT deviceId, deviceType || ' ' || monitorType, deviceType || ' ' || monitorType, start, 0, "
	"CAST(value AS REAL) FROM rocpd_monitor WHERE ?1 <= ?2 ORDER BY deviceId, 2, start";

static int put_value(struct pftrace *t, uint64_t track, int64_t ns, double value)
{
	pftrace_begin(t, TYPE_COUNTER, track, ns);
	proto_double(&t->packet, EVENT_COUNTER, value);
	return pftrace_end(t);
}

static int write_counters(struct pftrace *t, const char *sql)
{
	sqlite3_stmt *row = NULL;
	char name[512], last[512] = "";
	uint64_t track = 0;
	int ret = query_prepare(t->q, &row, sql);

	if (ret == 0)
		query_bind_range(t->q, row);
	while (ret == 0 && (ret = query_step(t->q, row)) == 1) {
		int64_t begin = sqlite3_column_int64(row, 3), end = sqlite3_column_int64(row, 4);

		snprintf(name, sizeof(name), "GPU %lld %s", (long long)sqlite3_column_int64(row, 0),
			 query_text(row, 2));
		if (!track || strcmp(name, last) != 0)
			track = pftrace_track(t, &(struct pftrace_track){ .name = name,
									  .pid = -1,
									  .tid = -1,
									  .counter = true });
		memcpy(last, name, sizeof(last));
		ret = put_value(t, track, begin, sqlite3_column_double(row, 5));
		if (ret == 0 && end > begin)
			ret = put_value(t, track, end, 0);
	}
	sqlite3_finalize(row);
	return ret;
}

int pftrace_counters_write(struct pftrace *t)
{
	int ret = 0;

	if (query_has(t->q->db, "rocpd_counter"))
		ret = write_counters(t, dispatches_sql);
	if (ret == 0 && query_has(t->q->db, "rocpd_monitor"))
		ret = write_counters(t, monitors_sql);
	return ret;
}
