/* SPDX-License-Identifier: MIT */
/* rpd_tables.c - every table of a database and its columns: RPD's, schema version 3, and rtl's
 *
 * RPD's tables have RPD's names, columns, types and order; its readers select by name. Names of
 * rtl's tables begin with rtl_; rtl also adds columns at the end of rocpd_op and rocpd_api.
 * docs/decisions/059-rows-have-what-tables-repeated.md says why some tables are views.
 */
#include "export/rpd/rpd_tables.h"

#include <sqlite3.h>
#include <string.h>

#include "query/rowfile.h"

#define KEY "INTEGER PRIMARY KEY"
#define INT "INTEGER NOT NULL"
#define OPT_INT "INTEGER"
#define TEXT "TEXT NOT NULL"
#define OPT_TEXT "TEXT"

#define REFERENCE(table) "REFERENCES \"" table "\" (\"id\") DEFERRABLE INITIALLY DEFERRED"
#define RPD_KEY "integer NOT NULL PRIMARY KEY AUTOINCREMENT"
#define RPD_INT "integer NOT NULL"
#define RPD_BOOL "bool NOT NULL"
#define RPD_HANDLE "varchar(18) NOT NULL"
#define RPD_TEXT "varchar(4096) NOT NULL"
#define STRING_REF "bigint NOT NULL " REFERENCE("rocpd_string")
#define USTRING_REF "bigint NOT NULL " REFERENCE("rocpd_ustring")
/* the note of a column that has such an id, and is no reference for SQLite */
#define STRING_ID "rocpd_string.id"
#define API_REF "bigint NOT NULL " REFERENCE("rocpd_api")
#define OP_REF "bigint NOT NULL " REFERENCE("rocpd_op")
/* RPD's schemas have integer or bigint; with integer the key is SQLite's rowid, and needs no
 * index */
#define API_KEY "integer NOT NULL PRIMARY KEY " REFERENCE("rocpd_api")

/* One column on a line would take four pages. */
/* clang-format off */
#define C(column, sql, ...) { .name = column, .type = sql, __VA_ARGS__ }
#define ID .move = '+'
#define ID_OR_NONE .move = '?'
#define PID .move = 'p'
#define GPU .move = 'g'
#define NOTE(text) .note = text
#define COMPACT .is_compact = true
#define COLUMNS(...) (const struct rpd_column[]){ __VA_ARGS__ }
#define TABLE(table, how, text, ...) \
	{ table, COLUMNS(__VA_ARGS__), sizeof(COLUMNS(__VA_ARGS__)) / sizeof(struct rpd_column), how, text, RPD_EITHER, NULL }
/* a view in the compact layout: its SELECT, and what a removed row of it changes */
#define VIEW(table, how, text, select, ...) \
	{ table, COLUMNS(__VA_ARGS__), sizeof(COLUMNS(__VA_ARGS__)) / sizeof(struct rpd_column), how, text, RPD_PLAIN, select }
#define COMPACT_TABLE(table, how, text, ...) \
	{ table, COLUMNS(__VA_ARGS__), sizeof(COLUMNS(__VA_ARGS__)) / sizeof(struct rpd_column), how, text, RPD_COMPACT, NULL }
/* A column of a view that is one of a row's launch. A join would be no better: SQLite joins a view
 * of one table by its key, and reads a view of two whole. */
#define OF_LAUNCH(column) ", (SELECT L." column " FROM rtl_launch L WHERE L.id = rtl_launch_id) AS " column

const struct rpd_table rpd_tables[] = {
	TABLE("rocpd_metadata", RPD_APART, "gpu_stride 1000, pid_stride 10000000, schema_version 3, "
	      "rtl_schema_version, session_count",
	      C("id", RPD_KEY), C("tag", RPD_TEXT), C("value", RPD_TEXT)),
	TABLE("rocpd_string", RPD_REQUIRED, "names",
	      C("id", RPD_KEY, ID), C("string", RPD_TEXT, NOTE("indexed"))),
	TABLE("rocpd_ustring", RPD_OPTIONAL, "arguments, messages",
	      C("id", RPD_KEY, ID), C("string", RPD_TEXT, NOTE("indexed"))),
	TABLE("rocpd_api", RPD_OPTIONAL, NULL,
	      C("id", RPD_KEY, ID), C("pid", RPD_INT, PID), C("tid", RPD_INT), C("start", RPD_INT),
	      C("end", RPD_INT), C("apiName_id", STRING_REF, ID),
	      C("category_id", STRING_REF, ID, .fallback = "$empty"),
	      C("domain_id", STRING_REF, ID, .fallback = "$empty"),
	      C("args_id", USTRING_REF, ID, NOTE("into rocpd_ustring")),
	      C("rtl_status", OPT_INT, COMPACT, NOTE("ours")),
	      C("rtl_parent_id", OPT_INT, ID_OR_NONE, COMPACT, NOTE("ours; NULL: no call")),
	      C("rtl_correlation_id", OPT_INT, ID_OR_NONE, COMPACT, NOTE("ours; NULL: as id")),
	      C("rtl_launch_id", OPT_INT, ID_OR_NONE, COMPACT, NOTE("ours"))),
	TABLE("rocpd_copyapi", RPD_OPTIONAL, NULL,
	      C("api_ptr_id", API_KEY, ID), C("stream", RPD_HANDLE), C("size", RPD_INT),
	      C("width", RPD_INT, .fallback = "0"), C("height", RPD_INT, .fallback = "0"),
	      C("kind", RPD_INT), C("dst", RPD_HANDLE), C("src", RPD_HANDLE),
	      C("dstDevice", RPD_INT, .fallback = "-1"), C("srcDevice", RPD_INT, .fallback = "-1"),
	      C("sync", RPD_BOOL), C("pinned", RPD_BOOL, .fallback = "0")),
	COMPACT_TABLE("rtl_launch", RPD_REQUIRED, "what launches have in common; the same may be there more than once",
	      C("id", KEY, ID), C("stream", RPD_HANDLE), C("gridX", RPD_INT), C("gridY", RPD_INT),
	      C("gridZ", RPD_INT), C("workgroupX", RPD_INT), C("workgroupY", RPD_INT), C("workgroupZ", RPD_INT),
	      C("groupSegmentSize", RPD_INT), C("privateSegmentSize", RPD_INT), C("kernelName_id", STRING_REF, ID)),
	VIEW("rocpd_kernelapi", RPD_OPTIONAL, NULL,
	      "SELECT id AS api_ptr_id" OF_LAUNCH("stream") OF_LAUNCH("gridX") OF_LAUNCH("gridY")
	      OF_LAUNCH("gridZ") OF_LAUNCH("workgroupX") OF_LAUNCH("workgroupY") OF_LAUNCH("workgroupZ")
	      OF_LAUNCH("groupSegmentSize") OF_LAUNCH("privateSegmentSize") OF_LAUNCH("kernelName_id") " FROM rocpd_api WHERE rtl_launch_id IS NOT NULL",
	      C("api_ptr_id", API_KEY, ID), C("stream", RPD_HANDLE), C("gridX", RPD_INT),
	      C("gridY", RPD_INT), C("gridZ", RPD_INT), C("workgroupX", RPD_INT),
	      C("workgroupY", RPD_INT), C("workgroupZ", RPD_INT), C("groupSegmentSize", RPD_INT),
	      C("privateSegmentSize", RPD_INT), C("kernelName_id", STRING_REF, ID)),
	TABLE("rocpd_op", RPD_OPTIONAL, NULL,
	      C("id", RPD_KEY, ID), C("gpuId", RPD_INT, GPU), C("queueId", RPD_INT),
	      C("sequenceId", RPD_INT), C("start", RPD_INT), C("end", RPD_INT),
	      C("description_id", STRING_REF, ID), C("opType_id", STRING_REF, ID),
	      C("completionSignal", "text NOT NULL DEFAULT ''", .fallback = "''", NOTE("ours")),
	      C("roctxId", "integer NOT NULL DEFAULT 0", ID_OR_NONE, .fallback = "0", NOTE("ours")),
	      C("correlation_id", "integer NOT NULL DEFAULT 0", ID_OR_NONE, .fallback = "0", NOTE("ours")),
	      C("rtl_api_id", OPT_INT, ID_OR_NONE, COMPACT, NOTE("ours; NULL: as correlation_id; 0: none")),
	      C("rtl_thread_id", OPT_INT, ID, COMPACT, NOTE("ours, as the next ones; NULL: no dispatch")),
	      C("rtl_shape_id", OPT_INT, ID, COMPACT), C("rtl_flags", OPT_INT, COMPACT),
	      C("rtl_begin_ticks", OPT_INT, COMPACT), C("rtl_end_ticks", OPT_INT, COMPACT)),
	VIEW("rocpd_api_ops", RPD_OPTIONAL, NULL,
	      "SELECT id, " RPD_COMPACT_API("rocpd_op") " AS api_id, id AS op_id FROM rocpd_op WHERE "
	      RPD_COMPACT_LINKED("rocpd_op"),
	      C("id", RPD_KEY, ID), C("api_id", API_REF, ID), C("op_id", OP_REF, ID)),
	TABLE("rocpd_monitor", RPD_OPTIONAL, NULL,
	      C("id", RPD_KEY, ID), C("deviceType", "varchar(16) NOT NULL"), C("deviceId", RPD_INT),
	      C("monitorType", "varchar(16) NOT NULL"), C("start", RPD_INT), C("end", RPD_INT),
	      C("value", "varchar(255) NOT NULL")),
	TABLE("rocpd_counter", RPD_OPTIONAL, NULL,
	      C("id", RPD_KEY, ID), C("value", "real NOT NULL"), C("op_id", OP_REF, ID),
	      C("name_id", STRING_REF, ID)),
	TABLE("rocpd_stackframe", RPD_OPTIONAL, NULL,
	      C("id", RPD_KEY, ID), C("api_ptr_id", API_REF, ID), C("depth", RPD_INT),
	      C("name_id", STRING_REF, ID)),
	/* RPD makes these two for queries about graphs; its converters read them if they exist */
	TABLE("rocpd_graphapi", RPD_OPTIONAL, NULL,
	      C("api_ptr_id", API_KEY, ID), C("graph", RPD_HANDLE), C("graphExec", RPD_HANDLE),
	      C("stream", RPD_HANDLE)),
	TABLE("rocpd_graphLaunchapi", RPD_OPTIONAL, NULL,
	      C("api_ptr_id", API_KEY, ID), C("graph", RPD_HANDLE), C("graphExec", RPD_HANDLE),
	      C("stream", RPD_HANDLE)),

	TABLE("rtl_process", RPD_APART, NULL,
	      C("id", KEY), C("pid", INT, NOTE("unique in the file across hosts")),
	      C("os_pid", INT, NOTE("as the system knew it")), C("ppid", OPT_INT),
	      C("host", OPT_TEXT), C("node", INT), C("boot_id", OPT_TEXT), C("trace_id", OPT_TEXT),
	      C("command", OPT_TEXT), C("exe", OPT_TEXT), C("cwd", OPT_TEXT), C("rank", OPT_INT),
	      C("world_size", OPT_INT), C("local_rank", OPT_INT), C("job", OPT_TEXT),
	      C("mode", OPT_TEXT), C("version", OPT_TEXT), C("clock", OPT_TEXT),
	      C("start_ns", OPT_INT), C("end_ns", OPT_INT),
	      C("first_ns", OPT_INT, NOTE("span of all times")), C("last_ns", OPT_INT),
	      C("state", TEXT, NOTE("closed: ended in order; ended: the same, not drained; killed: by a signal; exited: without exit handlers; executed: "
		     "another program; unknown: without exit handlers; running; rpd")),
	      C("spool", OPT_TEXT, NOTE("the file it came from")), C("format_version", OPT_INT),
	      C("id_first", INT), C("id_last", INT)),
	TABLE("rtl_thread", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID), C("tid", INT), C("name", OPT_TEXT),
	      C("first_ns", OPT_INT)),
	TABLE("rtl_agent", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID),
	      C("agent_index", INT, NOTE("over all agents")),
	      C("type", TEXT, NOTE("CPU, GPU, OTHER")), C("gpu_index", OPT_INT),
	      C("gpu_id", OPT_INT, GPU, NOTE("as in rocpd_op")), C("label", TEXT),
	      C("driver_node", OPT_INT), C("name", OPT_TEXT, NOTE("ISA, as gfx90a")),
	      C("product", OPT_TEXT), C("vendor", OPT_TEXT), C("uuid", OPT_TEXT),
	      C("handle", OPT_INT), C("nr_cu", OPT_INT), C("simd_per_cu", OPT_INT),
	      C("wave_size", OPT_INT), C("max_waves_per_cu", OPT_INT), C("clock_mhz", OPT_INT),
	      C("bdf", OPT_INT)),
	TABLE("rtl_queue", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID),
	      C("queue_id", INT, NOTE("as in rocpd_op")), C("hsa_id", OPT_INT),
	      C("handle", OPT_INT), C("agent_id", OPT_INT, ID_OR_NONE),
	      C("tid", OPT_INT, NOTE("creator")), C("size", OPT_INT, NOTE("packets")),
	      C("queue_type", OPT_INT), C("internal", INT), C("traced", INT),
	      C("create_ns", OPT_INT), C("destroy_ns", OPT_INT)),
	TABLE("rtl_code_object", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID), C("code_object_id", INT),
	      C("uri", OPT_TEXT), C("agent_id", OPT_INT, ID_OR_NONE), C("load_base", OPT_INT),
	      C("load_size", OPT_INT), C("load_delta", OPT_INT), C("load_ns", OPT_INT),
	      C("unload_ns", OPT_INT)),
	TABLE("rtl_kernel_symbol", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID), C("kernel_id", INT),
	      C("name", TEXT, NOTE("mangled, as in the code object")), C("demangled", TEXT),
	      C("object", OPT_INT, NOTE("handle in packets")),
	      C("code_object_id", OPT_INT, ID_OR_NONE), C("agent_id", OPT_INT, ID_OR_NONE),
	      C("kernarg_size", OPT_INT), C("group_size", OPT_INT, NOTE("LDS bytes")),
	      C("private_size", OPT_INT), C("vgpr_count", OPT_INT), C("accum_vgpr_count", OPT_INT),
	      C("sgpr_count", OPT_INT, NOTE("NULL: not known")), C("rsrc1", OPT_INT),
	      C("rsrc2", OPT_INT), C("rsrc3", OPT_INT),
	      C("host_functions", OPT_TEXT, .fallback = "NULL",
		NOTE("addresses of functions that code of hipcc has registered for it, separated by commas"))),
	TABLE("rtl_shape", RPD_REQUIRED, "what dispatches have in common; the same shape may be "
	      "there more than once",
	      C("id", KEY, ID), C("process_id", INT, ID),
	      C("kernel_id", INT, ID, NOTE("rtl_kernel_symbol.id")),
	      C("queue_id", INT, ID, NOTE("rtl_queue.id")), C("grid_x", INT), C("grid_y", INT),
	      C("grid_z", INT), C("group_x", INT), C("group_y", INT), C("group_z", INT),
	      C("private_size", INT, NOTE("bytes per work-item")),
	      C("group_size", INT, NOTE("bytes per workgroup"))),
	VIEW("rtl_op_kernel", RPD_REQUIRED, "what a dispatch has beyond rocpd_op",
	      "SELECT id AS op_id, rtl_thread_id AS thread_id, rtl_shape_id AS shape_id, rtl_flags AS flags, "
	      "rtl_begin_ticks AS begin_ticks, rtl_end_ticks AS end_ticks FROM rocpd_op WHERE rtl_shape_id IS NOT NULL",
	      C("op_id", KEY, ID), C("thread_id", INT, ID), C("shape_id", INT, ID), C("flags", INT),
	      C("begin_ticks", INT), C("end_ticks", INT)),
	TABLE("rtl_op_runtime", RPD_REQUIRED, "dispatches of the runtime",
	      C("op_id", KEY, ID), C("gpu_id", INT, GPU), C("queue_id", INT),
	      C("packet_index", INT), C("begin_ns", INT), C("end_ns", INT),
	      C("correlation_id", INT, ID_OR_NONE), C("marker_id", INT, ID_OR_NONE),
	      C("thread_id", INT, ID), C("shape_id", INT, ID), C("flags", INT),
	      C("begin_ticks", INT), C("end_ticks", INT)),
	TABLE("rtl_op_copy", RPD_REQUIRED, NULL,
	      C("op_id", KEY, ID), C("thread_id", INT, ID), C("flags", INT), C("kind", INT),
	      C("bytes", INT), C("src_agent_id", OPT_INT, ID_OR_NONE),
	      C("dst_agent_id", OPT_INT, ID_OR_NONE), C("src", INT, NOTE("address")),
	      C("dst", INT, NOTE("address")), C("engine", OPT_INT)),
	TABLE("rtl_op_barrier", RPD_REQUIRED, NULL,
	      C("op_id", KEY, ID), C("thread_id", INT, ID), C("gpu_id", OPT_INT, GPU),
	      C("queue_id", INT), C("packet_index", INT), C("begin_ns", INT), C("end_ns", INT),
	      C("correlation_id", INT, ID_OR_NONE), C("packet_type", INT, NOTE("AQL")),
	      C("flags", INT)),
	TABLE("rtl_scratch", RPD_OPTIONAL, "what the runtime did with scratch memory (`rtl trace --scratch`)",
	      C("id", KEY, ID), C("thread_id", INT, ID),
	      C("queue_id", OPT_INT, ID_OR_NONE, NOTE("rtl_queue.id; NULL: unknown")),
	      C("operation", TEXT, NOTE("alloc, free; reclaim: taken back while the queue is in use")),
	      C("flags", INT, NOTE("1: for one dispatch; 2: the second, smaller allocation of a queue")),
	      C("begin_ns", INT), C("end_ns", INT),
	      C("bytes", INT, NOTE("of an allocation; 0: there was no memory")),
	      C("waves", INT, NOTE("that may use it at once, as the runtime says")),
	      C("packet_index", OPT_INT, NOTE("of the dispatch that needs it")),
	      C("correlation_id", INT, ID_OR_NONE, NOTE("of the call that it happened in"))),
	TABLE("rtl_counter_name", RPD_OPTIONAL, "what a name of rocpd_counter is",
	      C("id", KEY, ID, NOTE(STRING_ID)), C("unit", TEXT), C("description", TEXT),
	      C("expression", TEXT, NOTE("empty for a counter"))),
	TABLE("rtl_op_counter", RPD_OPTIONAL, "the samples of which a value of rocpd_counter is the sum",
	      C("id", KEY, ID), C("op_id", INT, ID), C("name_id", INT, ID, NOTE(STRING_ID)),
	      C("instance", INT, NOTE("of the block")),
	      C("sample", INT, NOTE("shader engine, where the block is in each")),
	      C("value", "REAL NOT NULL")),
	TABLE("rtl_marker_data", RPD_REQUIRED, NULL,
	      C("api_id", KEY, ID), C("kind", INT), C("level", INT),
	      C("parent_id", INT, ID_OR_NONE, NOTE("rocpd_api.id of the range around it")),
	      C("unclosed", INT), C("end_tid", INT)),
	VIEW("rtl_api_data", RPD_REQUIRED, "one row for each call",
	      "SELECT id AS api_id, rtl_status AS status, coalesce(rtl_correlation_id, id) AS correlation_id, "
	      "rtl_parent_id AS parent_id FROM rocpd_api WHERE rtl_parent_id IS NOT NULL",
	      C("api_id", KEY, ID), C("status", OPT_INT), C("correlation_id", INT, ID_OR_NONE),
	      C("parent_id", INT, ID_OR_NONE, NOTE("correlation id of the call around it"))),
	TABLE("rtl_api_copy", RPD_OPTIONAL, "whose memory a call copies or fills, where rtl knows it",
	      C("api_id", KEY, ID), C("src_agent_id", OPT_INT, ID_OR_NONE),
	      C("dst_agent_id", OPT_INT, ID_OR_NONE)),
	TABLE("rtl_clock", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID),
	      C("agent_id", OPT_INT, ID_OR_NONE, NOTE("NULL: the host")), C("system_ns", INT),
	      C("monotonic_ns", INT), C("boottime_ns", INT), C("realtime_ns", INT),
	      C("ticks", OPT_INT)),
	TABLE("rtl_info", RPD_REQUIRED, "command, exe, cwd, host, rank, library, ...",
	      C("id", KEY, ID), C("process_id", OPT_INT, ID_OR_NONE, NOTE("NULL: about the file")),
	      C("key", TEXT), C("value", TEXT)),
	TABLE("rtl_loss_data", RPD_REQUIRED, NULL,
	      C("id", KEY, ID), C("process_id", INT, ID), C("reason", TEXT), C("class", TEXT),
	      C("text", TEXT), C("count", INT), C("first_ns", INT), C("last_ns", INT)),
	TABLE("rtl_flag", RPD_APART, NULL, C("value", KEY), C("name", TEXT), C("text", TEXT)),
	{ NULL, NULL, 0, RPD_APART, NULL, RPD_EITHER, NULL },
};
/* clang-format on */

size_t rpd_tables_columns(const struct rpd_table *t, bool is_compact)
{
	size_t nr = t->nr;

	if (t->layout == (is_compact ? RPD_PLAIN : RPD_COMPACT))
		return 0;
	while (!is_compact && t->layout == RPD_EITHER && t->columns[nr - 1].is_compact)
		nr--;
	return nr;
}

/* How rows of the views are removed, and links changed, as if they were tables: RPD's tools that
 * trim a file do it. They then give strings new ids, also those of arguments, which they take for
 * strings of rocpd_string, one column at a time: these keep their ids of rocpd_ustring. A statement
 * that changes other strings of the row, too, is not theirs. */
static const struct {
	const char *name, *sql;
} triggers[] = {
	{ "rocpd_api",
	  ";CREATE TRIGGER rtl_keep_args BEFORE UPDATE OF args_id ON rocpd_api WHEN NEW.apiName_id = OLD.apiName_id AND "
	  "NEW.category_id = OLD.category_id AND NEW.domain_id = OLD.domain_id BEGIN SELECT RAISE(IGNORE); END" },
	{ "rocpd_api_ops",
	  ";CREATE TRIGGER rtl_unlink INSTEAD OF DELETE ON rocpd_api_ops BEGIN UPDATE rocpd_op SET rtl_api_id = 0 "
	  "WHERE id = OLD.op_id; END"
	  ";CREATE TRIGGER rtl_link INSTEAD OF INSERT ON rocpd_api_ops BEGIN UPDATE rocpd_op SET rtl_api_id = "
	  "NEW.api_id WHERE id = NEW.op_id; END"
	  ";CREATE TRIGGER rtl_relink INSTEAD OF UPDATE OF api_id ON rocpd_api_ops BEGIN UPDATE rocpd_op SET "
	  "rtl_api_id = NEW.api_id WHERE id = OLD.op_id; END" },
	{ "rocpd_kernelapi",
	  ";CREATE TRIGGER rtl_unlaunch INSTEAD OF DELETE ON rocpd_kernelapi BEGIN UPDATE rocpd_api SET "
	  "rtl_launch_id = NULL WHERE id = OLD.api_ptr_id; END"
	  /* RPD's tools give strings new ids in each table: those of rtl_launch are the view's */
	  ";CREATE TRIGGER rtl_rename INSTEAD OF UPDATE OF kernelName_id ON rocpd_kernelapi BEGIN "
	  "SELECT RAISE(IGNORE); END" },
};

static char *finish_with_triggers(sqlite3_str *sql, const struct rpd_table *t)
{
	for (size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++)
		if (strcmp(triggers[i].name, t->name) == 0)
			sqlite3_str_appendall(sql, triggers[i].sql);
	return sqlite3_str_finish(sql);
}

static char *create_view_sql(const struct rpd_table *t)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "CREATE VIEW %s AS %s", t->name, t->view);
	return finish_with_triggers(sql, t);
}

char *rpd_tables_create_sql(const struct rpd_table *t, bool is_compact)
{
	size_t nr = rpd_tables_columns(t, is_compact);
	/* rtl's columns need no quotes */
	const char *form = strncmp(t->name, "rtl_", 4) == 0 ? "%s%w %s" : "%s\"%w\" %s";
	sqlite3_str *sql;

	if (!nr)
		return is_compact ? create_view_sql(t) : sqlite3_mprintf("");
	sql = sqlite3_str_new(NULL);
	sqlite3_str_appendf(sql, form, "CREATE TABLE ", t->name, "(");
	for (size_t i = 0; i < nr; i++)
		sqlite3_str_appendf(sql, form, i ? ", " : "", t->columns[i].name,
				    t->columns[i].type);
	sqlite3_str_appendall(sql, ")");
	return t->view ? sqlite3_str_finish(sql) : finish_with_triggers(sql, t);
}

char *rpd_tables_references_sql(bool is_compact)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	const char *before = "INSERT INTO rocpd_metadata(tag, value) VALUES ";

	for (const struct rpd_table *t = rpd_tables; t->name; t++)
		for (size_t i = 0; i < rpd_tables_columns(t, is_compact); i++) {
			const struct rpd_column *c = &t->columns[i];

			if (strcmp(c->type, STRING_REF) != 0 &&
			    (!c->note || strcmp(c->note, STRING_ID) != 0))
				continue;
			sqlite3_str_appendf(sql, "%s('" RPD_REFERENCES_TAG "', '(\"%s\", \"%s\")')",
					    before, t->name, c->name);
			before = ", ";
		}
	return sqlite3_str_finish(sql);
}

/* Keys and references are of the file; a column's affinity is what its values are compared with. */
char *rpd_tables_virtual_sql(const struct rpd_table *t)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "CREATE VIRTUAL TABLE \"%w\" USING " ROWFILE_MODULE, t->name);
	for (size_t i = 0; i < rpd_tables_columns(t, false); i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "(", t->columns[i].name,
				    sqlite3_strnicmp(t->columns[i].type, "varchar", 7) &&
						    sqlite3_strnicmp(t->columns[i].type, "text",
								     4) ?
					    "integer" :
					    "text");
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

void rpd_tables_document(void (*put)(const char *line))
{
	put("");
	put("## Tables of a database");
	put("");
	put("Tables that are marked are views of the rows of others ([layouts](database.md#layouts)).");
	put("`process_id` is `rtl_process.id`; other `_id` columns are ids of the table named, NULL or 0 for none.");
	put("");
	put("| table | columns |");
	put("|---|---|");
	for (const struct rpd_table *t = rpd_tables; t->name; t++) {
		sqlite3_str *line = sqlite3_str_new(NULL);
		char *text;

		sqlite3_str_appendf(line, t->layout == RPD_PLAIN ? "| %s (view) | " : "| %s | ",
				    t->name);
		for (size_t i = 0; i < t->nr; i++)
			sqlite3_str_appendf(line, t->columns[i].note ? "%s%s (%s)" : "%s%s",
					    i ? ", " : "", t->columns[i].name, t->columns[i].note);
		sqlite3_str_appendf(line, t->note ? ": %s |" : " |", t->note);
		text = sqlite3_str_finish(line);
		put(text ? text : "");
		sqlite3_free(text);
	}
}
