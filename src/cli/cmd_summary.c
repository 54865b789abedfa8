/* SPDX-License-Identifier: MIT */
/* cmd_summary.c - rtl summary: where the time went, by kernel, copy, marker, API call or GPU
 *
 * Reads every row once. Operations whose times are no measurement (unfinished, none written,
 * inverted) are counted as calls and stay out of the times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/db.h"
#include "cli/grid.h"
#include "cli/stats.h"
#include "cli/ui.h"
#include "event/format.h"
#include "store/map.h"
#include "store/verdict.h"

enum { O_ROWS, O_BY, O_FORMAT, O_INTERNAL, O_WIDE };
enum by { BY_KERNEL, BY_API, BY_MARKER, BY_GPU, BY_COPY };

static const struct opt options[] = {
	[O_ROWS] = { 'n', "rows", OPT_UINT, .arg = "N", .choices = "0..1000000000",
		     .help = "at most N rows; 0: all (20 in a table, else all)" },
	[O_BY] = { 'b', "by", OPT_CHOICE, .arg = "WHAT", .choices = "kernel|api|marker|gpu|copy",
		   .help = "what a row is: kernel (default), api, marker, gpu, copy" },
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS,
		       .help = "form of the output: table (default), csv, json",
		       .more = "csv and json have whole nanoseconds and bytes, and names in full." },
	[O_INTERNAL] = { 0, "internal",
			 .help = "the runtime's own kernels instead of the program's",
			 .more = "They are the inside of copies and fills, which are listed by --by copy." },
	[O_WIDE] = { 'w', "wide", .help = "every column, and names in full, whatever the width" },
};

/* Times that say something: neither missing nor a mere place on the axis. */
#define UNTIMED (REC_F_INVERTED | REC_F_NO_TIME | REC_F_UNFINISHED | 1 << 16 /* placed */)

struct summary {
	struct db db;
	enum by by;
	enum grid_format format;
	bool internal, wide;
	unsigned int width;
	uint64_t rows; /* 0: all */
	struct stats *stats;
	uint64_t nr_untimed;
};

/* The text of column 0 of a statement, for stats_group_of(). */
struct lookup {
	struct db *db;
	sqlite3_stmt *stmt;
	uint64_t key;
};

static const char *look_up(void *arg)
{
	struct lookup *l = arg;

	sqlite3_reset(l->stmt);
	sqlite3_bind_int64(l->stmt, 1, (int64_t)l->key);
	return db_step(l->db, l->stmt) ? db_text(l->stmt, 0) : "?";
}

static void add(struct summary *s, struct stats_group *g, int64_t begin, int64_t end, int64_t flags)
{
	if ((flags & UNTIMED) || end < begin) {
		stats_add_untimed(g);
		s->nr_untimed++;
		return;
	}
	stats_add(g, (uint64_t)end - (uint64_t)begin);
}

static void mark_gpu(struct stats_group *g, int64_t gpu)
{
	/* (node of the host) * 1000 + its GPU, in files of several hosts */
	if (gpu >= 0)
		g->gpus |= UINT64_C(1) << (gpu % 1000 > 63 ? 63 : gpu % 1000);
}

/* What an operation is, by the name of its type: RPD's names, and ours are RPD's. */
static bool is_copy_type(const char *type)
{
	return strncasecmp(type, "copy", 4) == 0 || strncasecmp(type, "fill", 4) == 0 ||
	       strncasecmp(type, "memcpy", 6) == 0 || strncasecmp(type, "memset", 6) == 0;
}

#define STRING_OF "SELECT string FROM rocpd_string WHERE id = ?1"

/* Types are few: each is looked up once. */
static bool is_copy(struct lookup *types, struct map *known, int64_t type)
{
	uint64_t copy;

	if (map_get(known, (uint64_t)type, &copy))
		return copy != 0;
	types->key = (uint64_t)type;
	copy = is_copy_type(look_up(types));
	if (map_put(known, (uint64_t)type, copy))
		ui_die_memory();
	return copy != 0;
}

/* Every operation: names from `name_sql` by column 0; GPU, begin, end, flags, type, bytes. */
static void read_ops(struct summary *s, const char *sql, const char *name_sql, bool copies)
{
	struct lookup names = { .db = &s->db, .stmt = db_query(&s->db, name_sql) };
	struct lookup types = { .db = &s->db, .stmt = db_query(&s->db, STRING_OF) };
	sqlite3_stmt *stmt = db_query(&s->db, sql);
	struct map known = { 0 };

	while (db_step(&s->db, stmt)) {
		int64_t type = sqlite3_column_int64(stmt, 5);
		struct stats_group *g;

		if (type && is_copy(&types, &known, type) != copies)
			continue;
		names.key = (uint64_t)sqlite3_column_int64(stmt, 0);
		g = stats_group_of(s->stats, names.key, look_up, &names);
		mark_gpu(g, sqlite3_column_int64(stmt, 1));
		g->bytes += (uint64_t)sqlite3_column_int64(stmt, 6);
		add(s, g, sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
		    sqlite3_column_int64(stmt, 4));
	}
	map_fini(&known);
	sqlite3_finalize(stmt);
	sqlite3_finalize(names.stmt);
	sqlite3_finalize(types.stmt);
}

static void by_kernel(struct summary *s)
{
	bool ours = s->db.kind == ROCPD_KIND_OURS;

	if (s->internal && ours)
		read_ops(s,
			 "SELECT S.kernel_id, R.gpu_id, R.begin_ns, R.end_ns, R.flags, 0, 0 FROM "
			 "rtl_op_runtime R JOIN rtl_shape S ON S.id = R.shape_id",
			 "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1", false);
	else if (s->internal)
		ui_say("%s: was not made by rtl and does not tell the runtime's kernels apart",
		       s->db.path);
	else
		read_ops(
			s,
			ours ? "SELECT O.description_id, O.gpuId, O.start, O.end, coalesce(K.flags, 0), "
			       "O.opType_id, 0 FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id "
			       "WHERE O.gpuId >= 0" :
			       "SELECT description_id, gpuId, start, \"end\", 0, opType_id, 0 FROM rocpd_op "
			       "WHERE gpuId >= 0",
			STRING_OF, false);
}

static void by_copy(struct summary *s)
{
	read_ops(
		s,
		s->db.kind == ROCPD_KIND_OURS ?
			"SELECT O.opType_id, O.gpuId, O.start, O.end, coalesce(K.flags, 0), O.opType_id, "
			"coalesce(K.bytes, 0) FROM rocpd_op O LEFT JOIN rtl_op_copy K ON K.op_id = O.id" :
			"SELECT opType_id, gpuId, start, \"end\", 0, opType_id, 0 FROM rocpd_op",
		STRING_OF, true);
}

/* Calls: name, begin, end; no type, no GPU. */
static void read_calls(struct summary *s, const char *sql)
{
	sqlite3_stmt *stmt = db_query(&s->db, sql);

	while (db_step(&s->db, stmt))
		add(s, stats_group(s->stats, db_text(stmt, 0)), sqlite3_column_int64(stmt, 1),
		    sqlite3_column_int64(stmt, 2), 0);
	sqlite3_finalize(stmt);
}

static void by_api(struct summary *s)
{
	if (s->db.kind == ROCPD_KIND_OURS)
		read_calls(s, "SELECT name, begin_ns, end_ns FROM rtl_api");
	else
		read_calls(
			s,
			"SELECT N.string, A.start, A.end FROM rocpd_api A JOIN rocpd_string N ON "
			"N.id = A.apiName_id WHERE N.string <> 'UserMarker'");
}

static void by_marker(struct summary *s)
{
	sqlite3_stmt *stmt;

	if (s->db.kind != ROCPD_KIND_OURS) {
		bool args = db_has(&s->db, "rocpd_ustring");

		read_calls(
			s,
			args ? "SELECT U.string, A.start, A.end FROM rocpd_api A JOIN rocpd_string N "
			       "ON N.id = A.apiName_id JOIN rocpd_ustring U ON U.id = A.args_id "
			       "WHERE N.string = 'UserMarker'" :
			       "SELECT U.string, A.start, A.end FROM rocpd_api A JOIN rocpd_string N "
			       "ON N.id = A.apiName_id JOIN rocpd_string U ON U.id = A.args_id "
			       "WHERE N.string = 'UserMarker'");
		return;
	}
	read_calls(s, "SELECT message, begin_ns, end_ns FROM rtl_marker");
	/* the time of kernels and copies of which it is the innermost range */
	stmt = db_query(
		&s->db,
		"SELECT U.string, sum(X.ns) FROM (SELECT roctxId AS id, sum(end - start) AS "
		"ns FROM rocpd_op WHERE roctxId <> 0 GROUP BY roctxId) X JOIN rocpd_api A "
		"ON A.id = X.id JOIN rocpd_ustring U ON U.id = A.args_id GROUP BY U.string");
	while (db_step(&s->db, stmt))
		stats_group(s->stats, db_text(stmt, 0))->extra_ns +=
			(uint64_t)sqlite3_column_int64(stmt, 1);
	sqlite3_finalize(stmt);
}

/* ---- rows ---- */

enum {
	C_SHARE,
	C_TOTAL,
	C_CALLS,
	C_MEAN,
	C_MIN,
	C_MEDIAN,
	C_P99,
	C_MAX,
	C_GPU_TIME,
	C_BYTES,
	C_RATE,
	C_GPUS,
	C_UNTIMED,
	C_NAME,
	C_NR
};

static struct grid_column columns[C_NR] = {
	[C_SHARE] = { "share", "SHARE", GRID_SHARE },
	[C_TOTAL] = { "total_ns", "TOTAL", GRID_TIME },
	[C_CALLS] = { "calls", "CALLS", GRID_COUNT },
	[C_MEAN] = { "mean_ns", "MEAN", GRID_TIME },
	[C_MIN] = { "min_ns", "MIN", GRID_TIME },
	[C_MEDIAN] = { "median_ns", "MEDIAN", GRID_TIME },
	[C_P99] = { "p99_ns", "P99", GRID_TIME },
	[C_MAX] = { "max_ns", "MAX", GRID_TIME },
	[C_GPU_TIME] = { "gpu_ns", "GPU TIME", GRID_TIME },
	[C_BYTES] = { "bytes", "BYTES", GRID_BYTES },
	[C_RATE] = { "bytes_per_s", "RATE", GRID_RATE },
	[C_GPUS] = { "gpus", "GPU", GRID_NAME },
	[C_UNTIMED] = { "untimed", NULL, GRID_COUNT },
	[C_NAME] = { "name", "NAME", GRID_NAME },
};

/* Which columns there are: those that mean something here, as many as the width has room for. */
static size_t choose_columns(const struct summary *s, struct grid_column *out, size_t map[C_NR])
{
	unsigned int room = s->wide || !s->width ? 1000 : s->width;
	size_t nr = 0;

	for (size_t i = 0; i < C_NR; i++) {
		bool wanted = true, shown = columns[i].title != NULL;

		if (i == C_GPU_TIME)
			wanted = s->by == BY_MARKER;
		if (i == C_BYTES || i == C_RATE)
			wanted = s->by == BY_COPY;
		if (i == C_GPUS)
			wanted = s->by == BY_KERNEL || s->by == BY_COPY;
		if (i == C_MIN || i == C_MAX)
			shown = room >= 120;
		if (i == C_MEDIAN || i == C_P99)
			shown = room >= (s->by == BY_COPY ? 100 : 90);
		if (!wanted)
			continue;
		out[nr] = columns[i];
		if (!shown)
			out[nr].title = NULL;
		map[nr++] = i;
	}
	return nr;
}

static struct grid_cell cell_of(struct stats_group *g, size_t column, uint64_t all_ns, char *gpus,
				size_t gpus_size)
{
	struct grid_cell cell = { .none = !g->nr_times };
	double mean = g->nr_times ? (double)g->total_ns / (double)g->nr_times : 0;

	switch (column) {
	case C_SHARE:
		cell.real = all_ns ? (double)g->total_ns / (double)all_ns : 0;
		cell.none = !all_ns;
		break;
	case C_TOTAL:
		cell.num = g->total_ns;
		cell.none = false;
		break;
	case C_CALLS:
		cell.num = g->calls;
		cell.none = false;
		break;
	case C_MEAN:
		cell.num = (uint64_t)(mean + 0.5);
		break;
	case C_MIN:
		cell.num = g->min_ns;
		break;
	case C_MEDIAN:
	case C_P99:
		cell.num = stats_quantile(g, column == C_P99 ? 0.99 : 0.5);
		break;
	case C_MAX:
		cell.num = g->max_ns;
		break;
	case C_GPU_TIME:
		cell.num = g->extra_ns;
		cell.none = !g->extra_ns;
		break;
	case C_BYTES:
		cell.num = g->bytes;
		cell.none = false;
		break;
	case C_RATE:
		cell.none = !g->total_ns;
		cell.real = cell.none ? 0 : (double)g->bytes * 1e9 / (double)g->total_ns;
		break;
	case C_GPUS:
		cell.text = stats_gpus(gpus, gpus_size, g->gpus);
		cell.none = !g->gpus;
		break;
	case C_UNTIMED:
		cell.num = g->calls - g->nr_times;
		cell.none = false;
		break;
	default:
		cell.text = g->name;
		cell.none = false;
		break;
	}
	return cell;
}

/* Prints the groups; how many there are and their time come back. */
static size_t print_groups(struct summary *s, uint64_t *all_ns)
{
	struct grid_column chosen[C_NR];
	size_t map[C_NR], nr, nr_columns = choose_columns(s, chosen, map);
	struct stats_group **groups = stats_sorted(s->stats, &nr);
	struct grid *grid =
		grid_create(chosen, nr_columns, s->format, s->width, ui_colour(STDOUT_FILENO));

	*all_ns = 0;
	for (size_t i = 0; i < nr; i++)
		*all_ns += groups[i]->total_ns;
	for (size_t i = 0; i < nr && (!s->rows || i < s->rows); i++) {
		struct grid_cell cells[C_NR];
		char gpus[256];

		for (size_t c = 0; c < nr_columns; c++)
			cells[c] = cell_of(groups[i], map[c], *all_ns, gpus, sizeof(gpus));
		grid_row(grid, cells);
	}
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return nr;
}

/* ---- by GPU ---- */

static const struct grid_column gpu_columns[] = {
	{ "gpu", "GPU", GRID_COUNT },	       { "busy", "BUSY", GRID_SHARE },
	{ "busy_ns", "BUSY TIME", GRID_TIME }, { "span_ns", "SPAN", GRID_TIME },
	{ "kernels", "KERNELS", GRID_COUNT },  { "kernel_ns", "KERNEL TIME", GRID_TIME },
	{ "copies", "COPIES", GRID_COUNT },    { "copy_ns", "COPY TIME", GRID_TIME },
	{ "name", "NAME", GRID_NAME },
};

struct gpu {
	int64_t id;
	uint64_t kernels, kernel_ns, copies, copy_ns, busy_ns;
	int64_t first, until; /* begin of the first operation, end of all so far */
};

static void print_gpu(struct summary *s, struct grid *grid, const struct gpu *g, sqlite3_stmt *name)
{
	uint64_t span = (uint64_t)(g->until - g->first);
	const char *label = "";

	if (name) {
		sqlite3_reset(name);
		sqlite3_bind_int64(name, 1, g->id);
		if (db_step(&s->db, name))
			label = db_text(name, 0);
	}
	const struct grid_cell cells[] = {
		{ .num = (uint64_t)g->id },
		{ .real = span ? (double)g->busy_ns / (double)span : 0 },
		{ .num = g->busy_ns },
		{ .num = span },
		{ .num = g->kernels },
		{ .num = g->kernel_ns },
		{ .num = g->copies },
		{ .num = g->copy_ns },
		{ .text = label },
	};
	grid_row(grid, cells);
}

/* Busy is the time with at least one operation: overlapping ones count once. */
static size_t by_gpu(struct summary *s, uint64_t *all_ns)
{
	bool ours = s->db.kind == ROCPD_KIND_OURS;
	struct grid *grid = grid_create(gpu_columns, sizeof(gpu_columns) / sizeof(gpu_columns[0]),
					s->format, s->width, ui_colour(STDOUT_FILENO));
	struct lookup types = { .db = &s->db, .stmt = db_query(&s->db, STRING_OF) };
	sqlite3_stmt *name =
		ours ? db_query(&s->db, "SELECT coalesce(nullif(product, ''), name) || ' (' || "
					"name || ')' FROM rtl_agent WHERE gpu_id = ?1") :
		       NULL;
	sqlite3_stmt *stmt =
		db_query(&s->db,
			 ours ? "SELECT gpuId, start, end, opType_id FROM rocpd_op O "
				"WHERE gpuId >= 0 AND end >= start AND NOT EXISTS "
				"(SELECT 1 FROM rtl_op_kernel K WHERE K.op_id = O.id "
				"AND K.flags & 65550) ORDER BY gpuId, start" :
				"SELECT gpuId, start, \"end\", opType_id FROM rocpd_op "
				"WHERE gpuId >= 0 AND \"end\" >= start ORDER BY gpuId, start");
	struct map known = { 0 };
	struct gpu g = { .id = -1 };

	*all_ns = 0;
	while (db_step(&s->db, stmt)) {
		int64_t id = sqlite3_column_int64(stmt, 0), begin = sqlite3_column_int64(stmt, 1);
		int64_t end = sqlite3_column_int64(stmt, 2);

		if (id != g.id) {
			if (g.id >= 0)
				print_gpu(s, grid, &g, name);
			g = (struct gpu){ .id = id, .first = begin, .until = begin };
		}
		if (end > g.until) {
			g.busy_ns += (uint64_t)(end - (begin > g.until ? begin : g.until));
			g.until = end;
		}
		if (is_copy(&types, &known, sqlite3_column_int64(stmt, 3))) {
			g.copies++;
			g.copy_ns += (uint64_t)(end - begin);
		} else {
			g.kernels++;
			g.kernel_ns += (uint64_t)(end - begin);
		}
		*all_ns += (uint64_t)(end - begin);
	}
	if (g.id >= 0)
		print_gpu(s, grid, &g, name);
	size_t nr = grid_rows(grid);
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	map_fini(&known);
	sqlite3_finalize(stmt);
	sqlite3_finalize(types.stmt);
	sqlite3_finalize(name);
	return nr;
}

/* ---- the command ---- */

static const char *const what[] = { "kernel", "API call", "marker", "GPU", "copy kind" };
static const char *const whats[] = { "kernels", "API calls", "markers", "GPUs", "copy kinds" };

/* On stderr, below the table: what was left out, and whether the trace is complete. */
static void say_rest(const struct summary *s, size_t nr, uint64_t all_ns)
{
	struct verdict *v = malloc(sizeof(*v));
	char time[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE];
	struct load_error error;

	if (!v)
		ui_die_memory();
	if (s->rows && nr > s->rows)
		ui_say("... and %zu more (-n 0 shows all)", nr - (size_t)s->rows);
	if (s->nr_untimed)
		ui_say("%s of them have no valid times: counted as calls, not in the times",
		       ui_count(count, s->nr_untimed));
	verdict_of_db(v, s->db.path, &error);
	if (s->db.spool)
		ui_say("%s: %zu %s, %s", s->db.path, nr, nr == 1 ? what[s->by] : whats[s->by],
		       ui_time(time, all_ns));
	else
		ui_say("%s: %zu %s, %s; the trace is %s", s->db.path, nr,
		       nr == 1 ? what[s->by] : whats[s->by], ui_time(time, all_ns), v->line);
	free(v);
}

static int run(const struct opt_parsed *p)
{
	static void (*const readers[])(struct summary *) = { [BY_KERNEL] = by_kernel,
							     [BY_API] = by_api,
							     [BY_MARKER] = by_marker,
							     [BY_COPY] = by_copy };
	const struct opt_value *v = p->values;
	struct summary *s = calloc(1, sizeof(*s));
	uint64_t all_ns;
	size_t nr;

	if (!s)
		ui_die_memory();
	s->by = (enum by)v[O_BY].num;
	s->format = (enum grid_format)v[O_FORMAT].num;
	s->internal = v[O_INTERNAL].count > 0;
	s->wide = v[O_WIDE].count > 0;
	s->width = s->wide ? 0 : ui_columns(STDOUT_FILENO, 0);
	s->rows = v[O_ROWS].count ? v[O_ROWS].num : s->format == GRID_TEXT ? 20 : 0;
	s->stats = stats_create();
	db_open(&s->db, p->operands[0]);
	if (s->by == BY_GPU) {
		nr = by_gpu(s, &all_ns);
	} else {
		readers[s->by](s);
		nr = print_groups(s, &all_ns);
	}
	if (s->format == GRID_TEXT)
		say_rest(s, nr, all_ns);
	db_close(&s->db);
	stats_destroy(s->stats);
	free(s);
	return 0;
}

const struct command cmd_summary = {
	.name = "summary",
	.summary = "shows where the time went",
	.usage = "FILE [options]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.about =
		"Reads a database of rtl trace or of RPD, or a raw trace, and prints one row for each kernel, "
		"the longest total first. The columns of a table depend on the room that there is; --wide, "
		"csv and json have all of them.\n"
		"\n"
		"  share      of the time of all rows\n"
		"  total      sum of the durations\n"
		"  mean       total by the number of timed calls\n"
		"  median     half of the calls take no longer; p99: 99 of 100\n"
		"  gpu_ns     of a marker: kernels and copies of which it is the innermost range\n"
		"  busy       of a GPU: time with at least one operation, by the time from its first\n"
		"             to its last one\n"
		"  untimed    calls whose times are missing or inverted; they are not in the times\n"
		"\n"
		"Kernels of the runtime itself (copies, fills) are not the program's and stay out; --internal "
		"shows them.",
	.examples = "rtl summary trace.db -n 5\nrtl summary trace.db --by marker --wide\n"
		    "rtl summary trace.db --format csv > kernels.csv\n",
	.run = run,
};
