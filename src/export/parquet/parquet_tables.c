/* SPDX-License-Identifier: MIT */
/* parquet_tables.c - tables and columns of a data set, and the rows as SQL
 *
 * Integers have a sign, since sums of unsigned ones wrap in ClickHouse, and times are plain
 * numbers, since types of times lose digits in some engine each. What is not known is NULL.
 * docs/formats/parquet.md is made of these tables.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "export/parquet/parquet.h"
#include "export/parquet/parquet_columns.h"
#include "export/parquet/parquet_internal.h"

/* clang-format off */
#define C(column, kind, encoding, text, ...) \
	{ .name = column, .type = PARQUET_##kind, .how = PARQUET_##encoding, .note = text, __VA_ARGS__ }
#define BOTH(sql) .ours = sql, .rpd = sql
#define OURS(sql) .ours = sql, .optional = true
#define SQL(sql, sql_rpd) .ours = sql, .rpd = sql_rpd
#define NULLABLE .optional = true
#define IDENT .is_id = true
#define PACKED .is_packed = true
#define STRING .is_string = true
#define ARGS .is_args = true
#define TABLE(table, text, cols, ...) \
	{ .name = table, .note = text, .columns = cols, .nr = sizeof(cols) / sizeof(cols[0]), __VA_ARGS__ }

#define ROW(id, ...) C(__VA_ARGS__),

static const struct parquet_column dispatches[] = { PARQUET_DISPATCH(ROW) };
static const struct parquet_column copies[] = { PARQUET_COPY(ROW) };

#define OWN_PID C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, BOTH("A.pid"))
#define HOST_TIMES(begin, end) \
	C("begin_ns", INT, DELTA, "ns; begin on the host, in the same clock", BOTH(begin)), \
	C("end_ns", INT, DELTA, "ns; end", BOTH(end))

static const struct parquet_column calls[] = {
	C("id", INT, DELTA, "of the call in its process", IDENT, BOTH("A.id")),
	C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, SQL("P.os_pid", "A.pid")),
	C("tid", INT, DICTIONARY, "thread", BOTH("A.tid")),
	C("domain", TEXT, DICTIONARY, "hip, hsa, rccl, mpi", STRING, OURS("A.domain_id")),
	C("name", TEXT, DICTIONARY, "function", STRING, BOTH("A.apiName_id")),
	HOST_TIMES("A.start", "A.\"end\""),
	C("status", INT, DICTIONARY, "what it returned, 0: success", OURS("X.status")),
	C("correlation_id", INT, DELTA, "that operations have", IDENT, NULLABLE, SQL("X.correlation_id", "A.id")),
	C("parent_id", INT, DELTA, "correlation id of the call around it", IDENT, OURS("X.parent_id")),
	C("args", TEXT, DICTIONARY, "name=value, ...", NULLABLE, PACKED, ARGS, BOTH("A.args_id")),
};

static const struct parquet_column ranges[] = {
	C("id", INT, DELTA, "of the range in its process", IDENT, BOTH("A.id")),
	C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, SQL("P.os_pid", "A.pid")),
	C("tid", INT, DICTIONARY, "thread that began it", BOTH("A.tid")),
	C("kind", TEXT, DICTIONARY, "push, start, mark; with -unclosed: it had no end, and ends with the process",
	  OURS("CASE M.kind WHEN 0 THEN 'mark' WHEN 1 THEN 'push' WHEN 2 THEN 'start' ELSE 'unknown' END || CASE WHEN M.unclosed THEN '-unclosed' ELSE '' END")),
	C("message", TEXT, DICTIONARY, "text of the program", ARGS, BOTH("A.args_id")),
	HOST_TIMES("A.start", "A.\"end\""),
	C("level", INT, DICTIONARY, "ranges of the thread around it", OURS("M.level")),
	C("parent_id", INT, DELTA, "the range around it", IDENT, OURS("M.parent_id")),
};

static const struct parquet_column processes[] = {
	C("pid", INT, DICTIONARY, "as its system knew it", BOTH("P.os_pid")),
	C("parent_pid", INT, DICTIONARY, "of its parent", OURS("P.ppid")),
	C("host", TEXT, DICTIONARY, "name of the host", OURS("P.host")),
	C("boot_id", TEXT, DICTIONARY, "the host's boot: times of one boot can be compared", OURS("P.boot_id")),
	C("world_size", INT, DICTIONARY, "ranks of the job", OURS("P.world_size")),
	C("local_rank", INT, DICTIONARY, "rank on the host", OURS("P.local_rank")),
	C("command", TEXT, DICTIONARY, "command line", OURS("P.command")),
	C("exe", TEXT, DICTIONARY, "path of the program", OURS("P.exe")),
	C("mode", TEXT, DICTIONARY, "mode of the trace", OURS("P.mode")),
	C("version", TEXT, DICTIONARY, "of rtl, which recorded it", OURS("P.version")),
	C("trace_id", TEXT, DICTIONARY, "the trace that it is of", OURS("P.trace_id")),
	C("start_ns", INT, DELTA, "ns; begin of the trace, in the clock of the boot", OURS("P.start_ns")),
	C("end_ns", INT, DELTA, "ns; its end", OURS("nullif(P.end_ns, 0)")),
	C("first_ns", INT, DELTA, "ns; the earliest time of an event", OURS("nullif(P.first_ns, 0)")),
	C("last_ns", INT, DELTA, "ns; the latest one", OURS("nullif(P.last_ns, 0)")),
	C("realtime_ns", INT, DELTA, "ns; what added to a time is the time since 1970, by the host's clock at the begin",
	  OURS("(SELECT K.realtime_ns - K.system_ns FROM rtl_clock K WHERE K.process_id = P.id AND K.agent_id IS NULL ORDER BY K.system_ns LIMIT 1)")),
	C("state", TEXT, DICTIONARY, "how it ended: closed, ended, killed, exited, executed, unknown, running; rpd", OURS("P.state")),
	C("complete", BOOL, PLAIN, "nothing is missing; NULL: not known",
	  OURS("CASE WHEN P.state = 'rpd' THEN NULL ELSE P.state <> 'running' AND NOT EXISTS (SELECT 1 FROM rtl_loss_data L WHERE L.process_id = P.id AND L.class = 'loss') END")),
	C("lost", INT, DICTIONARY, "records that are missing: the sum of `losses.count` of the class loss",
	  OURS("CASE WHEN P.state = 'rpd' THEN NULL ELSE (SELECT coalesce(sum(L.count), 0) FROM rtl_loss_data L WHERE L.process_id = P.id AND L.class = 'loss') END")),
};

static const struct parquet_column losses[] = {
	C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, BOTH("P.os_pid")),
	C("reason", TEXT, DICTIONARY, "[database.md](database.md), Verdict", BOTH("L.reason")),
	C("class", TEXT, DICTIONARY, "loss, skipped (as the user chose), note", BOTH("L.class")),
	C("count", INT, DICTIONARY, "records, or events", BOTH("L.count")),
	C("first_ns", INT, DELTA, "ns; of the first one", NULLABLE, BOTH("nullif(L.first_ns, 0)")),
	C("last_ns", INT, DELTA, "ns; of the last one", NULLABLE, BOTH("nullif(L.last_ns, 0)")),
	C("text", TEXT, DICTIONARY, "a sentence", BOTH("L.text")),
};

static const struct parquet_column agents[] = {
	C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, BOTH("P.os_pid")),
	C("agent", INT, DICTIONARY, "number over all agents of the process", BOTH("G.agent_index")),
	C("type", TEXT, DICTIONARY, "CPU, GPU, OTHER", BOTH("G.type")),
	C("gpu", INT, DICTIONARY, "number of the GPU, as operations have it", OURS("G.gpu_id % 1000")),
	C("label", TEXT, DICTIONARY, "as `copies.src` has it", BOTH("G.label")),
	C("name", TEXT, DICTIONARY, "ISA, as gfx90a", OURS("G.name")),
	C("product", TEXT, DICTIONARY, "product", OURS("G.product")),
	C("uuid", TEXT, DICTIONARY, "unique id of the device", OURS("G.uuid")),
	C("bdf", INT, DICTIONARY, "address on the PCI bus", OURS("G.bdf")),
	C("compute_units", INT, DICTIONARY, "compute units", OURS("G.nr_cu")),
	C("wave_size", INT, DICTIONARY, "work-items of a wave", OURS("G.wave_size")),
	C("clock_mhz", INT, DICTIONARY, "MHz, at most", OURS("G.clock_mhz")),
};

static const struct parquet_column counters[] = {
	C("dispatch_id", INT, DELTA, "`dispatches.id`", IDENT, BOTH("C.op_id")),
	C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, BOTH("P.os_pid")),
	C("counter", TEXT, DICTIONARY, "name of the counter or metric", BOTH("N.string")),
	C("unit", TEXT, DICTIONARY, "unit of the value", BOTH("coalesce(U.unit, '')")),
	C("value", REAL, PLAIN, "sum over its instances", BOTH("C.value")),
};

static const struct parquet_column clocks[] = {
	C("pid", INT, DICTIONARY, PARQUET_PID_NOTE, BOTH("P.os_pid")),
	C("agent", INT, DICTIONARY, "`agents.agent`; NULL: the host", OURS("G.agent_index")),
	C("system_ns", INT, DELTA, "ns; in the clock of all times", BOTH("K.system_ns")),
	C("monotonic_ns", INT, DELTA, "ns; CLOCK_MONOTONIC at the same time", BOTH("K.monotonic_ns")),
	C("boottime_ns", INT, DELTA, "ns; CLOCK_BOOTTIME", BOTH("K.boottime_ns")),
	C("realtime_ns", INT, DELTA, "ns; CLOCK_REALTIME, since 1970", BOTH("K.realtime_ns")),
	C("ticks", INT, DELTA, "ticks of the GPU's counter", OURS("K.ticks")),
};

#define OF_PROCESS "JOIN rtl_process P ON P.id_first = ?1 AND P.id_last = ?2 "
#define IDS_OF(names) "(SELECT id FROM rocpd_string WHERE string IN (" names "))"

const struct parquet_table parquet_tables[] = {
	[PARQUET_DISPATCHES] = TABLE("dispatches", "a kernel's dispatch each; those with which HIP copies or fills are copies", dispatches),
	[PARQUET_COPIES] = TABLE("copies", "a copy or fill each", copies),
	TABLE("calls", "a call of HIP, HSA, RCCL or MPI each", calls,
	      .ours = "rocpd_api A LEFT JOIN rtl_api_data X ON X.api_id = A.id " OF_PROCESS
	      "WHERE A.id BETWEEN ?1 AND ?2 AND A.domain_id NOT IN " IDS_OF("'rtl', 'roctx'"),
	      .rpd = "rocpd_api A WHERE A.id BETWEEN ?1 AND ?2 AND A.apiName_id NOT IN " IDS_OF("'UserMarker'")),
	TABLE("ranges", "a range or mark of roctx each", ranges,
	      .ours = "rtl_marker_data M JOIN rocpd_api A ON A.id = M.api_id " OF_PROCESS "WHERE M.api_id BETWEEN ?1 AND ?2",
	      .rpd = "rocpd_api A WHERE A.id BETWEEN ?1 AND ?2 AND A.apiName_id IN " IDS_OF("'UserMarker'")),
	TABLE("processes", "a process each, also one without events", processes,
	      .ours = "rtl_process P WHERE P.id_first = ?1 AND P.id_last = ?2",
	      .rpd = "(SELECT DISTINCT pid AS os_pid FROM rocpd_api) P WHERE ?1 <= ?2"),
	TABLE("losses", "what is not in the trace, by process and reason", losses,
	      .ours = "rtl_loss_data L " OF_PROCESS "WHERE L.process_id = P.id"),
	TABLE("agents", "a GPU or processor each, for each process", agents,
	      .ours = "rtl_agent G " OF_PROCESS "WHERE G.process_id = P.id"),
	TABLE("counters", "a counter or metric of a dispatch each", counters,
	      .ours = "rocpd_counter C JOIN rocpd_string N ON N.id = C.name_id LEFT JOIN rtl_counter_name U ON U.id = C.name_id " OF_PROCESS
	      "WHERE C.op_id BETWEEN ?1 AND ?2", .needs = "rtl_counter_name"),
	TABLE("clocks", "clocks of the host and of GPUs at an instant each", clocks,
	      .ours = "rtl_clock K LEFT JOIN rtl_agent G ON G.id = K.agent_id " OF_PROCESS "WHERE K.process_id = P.id"),
	{ .name = NULL },
};
/* clang-format on */

char *parquet_columns(const char *table)
{
	static const char *const types[] = { [PARQUET_INT] = "INTEGER",
					     [PARQUET_REAL] = "REAL",
					     [PARQUET_BOOL] = "INTEGER",
					     [PARQUET_TEXT] = "TEXT" };
	char *text = NULL;
	size_t size;
	FILE *out;

	for (const struct parquet_table *t = parquet_tables; t->name; t++) {
		if (strcmp(t->name, table) != 0)
			continue;
		out = open_memstream(&text, &size);
		if (!out)
			return NULL;
		fputs("job, rank INTEGER", out);
		for (size_t i = 0; i < t->nr; i++)
			fprintf(out, ", \"%s\" %s", t->columns[i].name, types[t->columns[i].type]);
		fclose(out);
	}
	return text;
}

void parquet_document(void (*put)(const char *line))
{
	static const char *const types[] = { [PARQUET_INT] = "INT64",
					     [PARQUET_REAL] = "DOUBLE",
					     [PARQUET_BOOL] = "BOOLEAN",
					     [PARQUET_TEXT] = "STRING" };

	put("");
	put("## Tables of a Parquet data set");
	put("");
	put("NULL: the column can be NULL, which is what is not known. What columns mean together, and `job` and `rank`, which are in the "
	    "names of folders: [parquet.md](parquet.md).");
	for (const struct parquet_table *t = parquet_tables; t->name; t++) {
		char line[512];

		put("");
		snprintf(line, sizeof(line), "### %s: %s", t->name, t->note);
		put(line);
		put("");
		put("| column | type | unit, meaning |");
		put("|---|---|---|");
		for (size_t i = 0; i < t->nr; i++) {
			const struct parquet_column *c = &t->columns[i];

			snprintf(line, sizeof(line), "| %s | %s%s | %s |", c->name, types[c->type],
				 c->optional ? ", NULL" : "", c->note);
			put(line);
		}
	}
}
