/* SPDX-License-Identifier: MIT */
/* cmd_fleet.c - rtl fleet: questions about a data set of many ranks, answered by an engine of SQL
 *
 * Not here: the page (cli/read/job_page.c), the questions (src/fleet/sql/), engines and the reader
 * of files (src/fleet/).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/capture.h"
#include "base/rank.h"
#include "cli/checks.h"
#include "cli/cmd/commands.h"
#include "cli/grid.h"
#include "cli/read/exporter.h"
#include "cli/read/job_page.h"
#include "cli/trace/dataset.h"
#include "cli/ui.h"
#include "fleet/fleet_ask.h"
#include "fleet/fleet_keep.h"

#define QUESTIONS                                                                                  \
	"overview|ranks|kernels|ranges|slow-ranks|slow-hosts|slow-gpus|slow-ranges|imbalance|"     \
	"collectives|outliers|busy|rank-kernels|timeline"
#define SMALL UINT64_C(30000000) /* rows that SQLite reads unasked: in a minute or two */
#define TABLE_ROWS 20

enum { HTML = GRID_JSON + 1 };

enum {
	O_OUTPUT,
	O_BY,
	O_ROWS,
	O_FORMAT,
	O_JOB,
	O_RANKS,
	O_UNITS,
	O_WIDE,
	O_SORT,
	O_NAMES,
	O_ENGINE,
	O_SQL,
	O_KEEP,
	O_MAX_SIZE,
	O_DRY_RUN,
	O_FORCE,
	O_QUIET
};
enum engine {
	ENGINE_AUTO,
	ENGINE_DUCKDB,
	ENGINE_SQLITE,
	ENGINE_SERVER,
	ENGINE_CLICKHOUSE,
	ENGINE_SPARK,
	ENGINE_DASK,
	ENGINE_NONE
};
static const char *const engines[] = { [ENGINE_AUTO] = "auto",
				       [ENGINE_DUCKDB] = "duckdb",
				       [ENGINE_SQLITE] = "sqlite",
				       [ENGINE_SERVER] = "clickhouse://",
				       [ENGINE_CLICKHOUSE] = "clickhouse",
				       [ENGINE_SPARK] = "spark",
				       [ENGINE_DASK] = "dask" };

static const char *check_engine(const char *text);
static const char *check_age(const char *text);
static const char *check_bytes(const char *text);

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "OUT",
		       .help = "write a file; - is stdout (default)" },
	[O_BY] = { 'b', "by", OPT_CHOICE, .arg = "WHAT", .choices = QUESTIONS,
		   .help = "question: overview (default), slow-ranks, kernels, ...",
		   .more = "overview: each job. ranks: each rank, its host and whether it is complete. kernels, ranges: over all ranks. slow-ranks, slow-hosts, slow-gpus: "
			   "where kernels take longer than elsewhere; slow-ranges the same of roctx ranges. imbalance: the largest sum of a rank beside the mean. collectives: who comes last. "
			   "outliers: seconds that took longer than others." },
	[O_ROWS] = { 'n', "rows", OPT_UINT, .arg = "N", .choices = "0..1000000000",
		     .help = "at most N rows; 0: all (20 in a table, else all)" },
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS "|html",
		       .help = "form of the output: table (default), csv, json, html",
		       .more = "html is one page for a browser, which loads nothing, about a job: heat maps of ranks over time and over kernels, the tables, and timelines "
			       "of a few ranks. It asks most of the questions." },
	[O_JOB] = { 0, "job", OPT_TEXT, .arg = "JOB", .help = "only this job" },
	[O_RANKS] = { 0, "ranks", OPT_TEXT, .arg = "LIST", .why_not = checks_list,
		      .help = "only these ranks; with -f html those with a timeline",
		      .more = "As 0,2-3. The page has timelines of up to 16 ranks; without it of the one whose kernels took most time beyond the medians of all, and of one in the "
			      "middle." },
	[O_UNITS] = { 'u', "units", OPT_CHOICE, .arg = "HOW", .choices = GRID_UNITS,
		      .help = "numbers: scaled (with units), raw, or auto (default)",
		      .in_manual = true },
	[O_WIDE] = { 'w', "wide", .help = "all columns and full names, for any terminal width" },
	[O_SORT] = { 0, "sort", OPT_TEXT, .arg = "COLUMN",
		     .help = "sort by this column: mean, calls, kernel, ..." },
	[O_NAMES] = { 0, "names", OPT_CHOICE, .arg = "FORM", .choices = NAMES_FORMS,
		      .help = "names of kernels: auto, short, medium, full, mangled",
		      .in_manual = true },
	[O_ENGINE] = { 0, "engine", OPT_TEXT, .arg = "ENGINE", .why_not = check_engine,
		       .help = "who answers: auto (default), duckdb, sqlite, ...",
		       .more = "auto is DuckDB where its command is in PATH or its library, libduckdb.so, is found; else SQLite, which is always there, for "
			       "sets of up to 30 million rows. SQLite reads one rank after the other, and needs memory for what the question "
			       "keeps of each. clickhouse://[USER@]HOST[:PORT]/ is a server of ClickHouse, by HTTP (8123), that has the data set at the same path; "
			       "CLICKHOUSE_PASSWORD is the password. clickhouse, spark and dask are for --sql." },
	[O_SQL] = { 0, "sql", OPT_CHOICE, .arg = "WHAT", .choices = QUESTIONS,
		    .help = "print the question's SQL, for an engine of one's own",
		    .more = "The tables in it are views of the data set's files; with DIR the statements that make them in DuckDB are printed, too. With --engine clickhouse they are "
			    "ClickHouse's; with spark or dask a script of Python is printed that asks the question on a cluster." },
	[O_KEEP] = { 0, "keep", OPT_TEXT, .arg = "TIME", .why_not = check_age,
		     .help = "delete jobs whose last event is older: 30d",
		     .more = "A number of seconds (s), minutes (m), hours (h), days (d) or weeks (w), by the clocks of the ranks' hosts. A job goes as a whole, by the last event of all of its ranks: its folder, which "
			     "holds nothing but ranks with a data set's files; the oldest first. A job with ranks that are not finished stays. What is not deleted and why is said, with status 4." },
	[O_MAX_SIZE] = { 0, "max-size", OPT_TEXT, .arg = "SIZE", .why_not = check_bytes,
			 .help = "delete the oldest jobs until it is no larger: 1T",
			 .more = "On the disk, by all jobs; K, M, G and T are powers of 1024. With --keep both hold." },
	[O_DRY_RUN] = { 0, "dry-run", .help = "with these: list what would be deleted" },
	[O_FORCE] = OPTS_FORCE,
	[O_QUIET] = OPTS_QUIET,
};

struct fleet {
	const struct opt_parsed *parsed;
	struct fleet_set set;
	struct fleet_question question;
	const char *shown; /* the data set, as the user wrote it */
	size_t nr_said;	   /* problems that were printed */
	struct dataset_mark *marks;
	ssize_t nr_marks;
};

/* The engine of an option; NULL: auto. */
static enum engine engine_of(const char *text)
{
	enum engine e = ENGINE_AUTO;

	if (!text)
		return e;
	if (fleet_clickhouse_is_url(text))
		return ENGINE_SERVER;
	while (e < ENGINE_NONE && (e == ENGINE_SERVER || strcmp(engines[e], text) != 0))
		e++;
	return e;
}

static const char *check_engine(const char *text)
{
	return engine_of(text) == ENGINE_NONE ?
		       "is no engine; allowed: auto, duckdb, sqlite, clickhouse://HOST/, and with --sql clickhouse, spark, dask" :
		       NULL;
}

/* ---- what is not there ---- */

static void say_marks(struct fleet *f)
{
	ssize_t nr = f->nr_marks = dataset_marks(f->set.dir, &f->marks);
	const struct dataset_mark *marks = f->marks;
	char list[400] = "";
	size_t used = 0;

	for (ssize_t i = 0; i < nr && used + 100 < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.20s %lld on %.60s",
					 i ? ", " : "", marks[i].rank >= 0 ? "rank" : "process",
					 marks[i].rank >= 0 ? (long long)marks[i].rank :
							      (long long)marks[i].pid,
					 *marks[i].host ? marks[i].host : "?");
	if (nr > 0)
		ui_say("%zd rank%s not finished, which the answer is without: %s%s; they still run, or were killed: then "
		       "'rtl recover %s' on their hosts finishes them; 'rtl status %s' lists them",
		       nr, nr > 1 ? "s are" : " is", list, used + 100 < sizeof(list) ? "" : ", ...",
		       f->shown, f->shown);
}

static void say_problems(struct fleet *f)
{
	for (; f->nr_said < f->set.nr_problems; f->nr_said++)
		ui_error("%s", f->set.problems[f->nr_said]);
}

static void open_set(struct fleet *f, const char *dir)
{
	int err = fleet_set_open(&f->set, dir);

	f->shown = dir;
	if (err == -ENOMEM)
		ui_die_memory();
	if (err == -ENOTDIR)
		ui_die(STATUS_FAILED,
		       "%s: is a file; a data set is a folder: rtl convert %s -f parquet -o DIR",
		       dir, dir);
	if (err)
		ui_die(STATUS_FAILED, "%s: %s", dir, strerror(-err));
	say_problems(f);
	say_marks(f);
	if (!f->set.nr)
		ui_die(STATUS_FAILED,
		       "%s: has no rank of a data set (job=JOB/rank=RANK/); rtl trace -o %s/ and rtl convert -f "
		       "parquet make them",
		       dir, dir);
	if (f->set.nr_bad == f->set.nr && !f->parsed->values[O_KEEP].count &&
	    !f->parsed->values[O_MAX_SIZE].count)
		ui_die(STATUS_FAILED, "%s: no rank can be read", dir);
}

/* ---- what is kept ---- */

/* Nanoseconds; 0: it is no age. */
static uint64_t read_age(const char *text)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	uint64_t number;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!errno && *end == units[i].unit && !end[1] && number <= 10000)
			return number * units[i].seconds * UINT64_C(1000000000);
	return 0;
}

static const char *check_age(const char *text)
{
	return read_age(text) ? NULL : "is no age of up to 10000 units; allowed: 12h, 30d, 8w";
}

static const char *check_bytes(const char *text)
{
	return checks_read_size(text) ? NULL : "is no size; allowed: 500M, 20G, 1T";
}

static void say_deleted(void *arg, const struct fleet_keep_job *job)
{
	char size[UI_NUMBER_SIZE], day[32] = "?";
	time_t seconds = (time_t)(job->last_ns / 1000000000);
	struct tm tm;

	(void)arg;
	if (gmtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%SZ", &tm);
	ui_putf("%s %s %s, %zu rank%s\n", day, ui_bytes(size, job->bytes), job->folder,
		job->nr_ranks, job->nr_ranks == 1 ? "" : "s");
}

/* A job that still runs, or of which more can be had, is not all there. */
static const char *why_kept(void *arg, const char *job)
{
	const struct fleet *f = arg;

	for (ssize_t i = 0; i < f->nr_marks; i++)
		if (strcmp(*f->marks[i].job ? f->marks[i].job : "0", job) == 0)
			return "it has a rank that is not finished: rtl status DIR lists it";
	return NULL;
}

/* Deletes the oldest jobs, and prints them. The exit status. */
static int keep(struct fleet *f)
{
	const struct opt_value *v = f->parsed->values;
	char deleted[UI_NUMBER_SIZE], left[UI_NUMBER_SIZE];
	struct timespec now;
	struct fleet_keep k = { .dry_run = v[O_DRY_RUN].count > 0,
				.why_kept = why_kept,
				.deleted = say_deleted,
				.arg = f };

	clock_gettime(CLOCK_REALTIME, &now);
	k.now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (v[O_KEEP].count)
		k.max_age_ns = read_age(v[O_KEEP].text);
	if (v[O_MAX_SIZE].count)
		k.max_bytes = checks_read_size(v[O_MAX_SIZE].text);
	if (fleet_keep(&f->set, &k))
		ui_die_memory();
	ui_flush();
	say_problems(f);
	ui_say("%s: %zu job%s %s, %s; %s left", f->shown, k.nr_deleted,
	       k.nr_deleted == 1 ? "" : "s", k.dry_run ? "would be deleted" : "deleted",
	       ui_bytes(deleted, k.bytes_deleted), ui_bytes(left, k.bytes_left));
	return f->set.nr_problems ? STATUS_LEFT_OUT : 0;
}

/* ---- the answer ---- */

static uint64_t rows_of(const struct fleet *f, const struct fleet_question *q)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < FLEET_TABLES; i++)
		if (fleet_question_uses(q, fleet_tables[i]))
			rows += f->set.rows[i];
	return rows;
}

static fleet_engine choose_engine(const struct fleet *f, const struct fleet_question *q)
{
	enum engine given = engine_of(f->parsed->values[O_ENGINE].text);
	uint64_t rows = rows_of(f, q);
	char number[UI_NUMBER_SIZE];
	const char *how;

	if (given == ENGINE_SERVER)
		return NULL;
	if (given >= ENGINE_CLICKHOUSE)
		ui_die(STATUS_USAGE,
		       "rtl runs DuckDB and SQLite alone; for clickhouse, spark and dask --sql %s prints what to run there",
		       q->name);
	if (given != ENGINE_SQLITE && fleet_duckdb_is_there(&how))
		return fleet_duckdb;
	if (given == ENGINE_DUCKDB)
		ui_die(STATUS_FAILED,
		       "DuckDB is not there: neither the command duckdb in PATH, nor libduckdb.so; install it "
		       "(https://duckdb.org/install, or apt install duckdb where Debian has it), or leave --engine out");
	if (given == ENGINE_AUTO && rows > SMALL)
		ui_die(STATUS_FAILED,
		       "%s: %s rows are too many for SQLite: install DuckDB (https://duckdb.org/install, or apt install "
		       "duckdb where Debian has it); --engine sqlite tries nevertheless",
		       f->shown, ui_count(number, rows));
	return fleet_sqlite;
}

/* NULL: a server. */
static int run_engine(const struct fleet *f, const struct fleet_question *q, fleet_engine engine,
		      struct sheet *t, char *error)
{
	if (engine)
		return engine(&f->set, q, t, error);
	return fleet_clickhouse(&f->set, q, f->parsed->values[O_ENGINE].text, t, error);
}

static void check_some(const struct fleet *f)
{
	if (!f->set.nr_asked)
		ui_die(STATUS_FAILED, "%s: no rank%s can be read", f->shown,
		       f->parsed->values[O_JOB].count || f->parsed->values[O_RANKS].count ?
			       " that was asked for" :
			       "");
}

static void ask(struct fleet *f, const struct fleet_question *q, struct sheet *t)
{
	fleet_engine engine = choose_engine(f, q);
	char error[FLEET_MESSAGE] = "";
	int err;

	fleet_question_columns(q, t);
	err = run_engine(f, q, engine, t, error);
	/* engines don't say which file it is in a way that could be read: look for it */
	if (err && err != -ENOMEM && fleet_set_verify(&f->set)) {
		say_problems(f);
		check_some(f);
		sheet_fini(t);
		memset(t, 0, sizeof(*t));
		fleet_question_columns(q, t);
		err = run_engine(f, q, engine, t, error);
	}
	if (err == -ENOMEM || sheet_check(t))
		ui_die_memory();
	if (err)
		ui_die(STATUS_FAILED, "%s: %s", f->shown, *error ? error : strerror(-err));
}

static void print(const struct fleet *f, struct sheet *t)
{
	const struct opt_value *v = f->parsed->values;
	enum grid_format format = (enum grid_format)v[O_FORMAT].num;
	struct grid_style style = grid_style(format);
	char number[UI_NUMBER_SIZE];
	size_t nr = t->nr;

	if (ui_output_file() != stdout) {
		style.width = 0;
		style.colour = false;
	}

	style.units = (enum grid_units)v[O_UNITS].num;
	style.names = (enum names_form)v[O_NAMES].num;
	if (v[O_WIDE].count)
		style.width = 0;
	grid_order(t, v[O_SORT].text,
		   v[O_ROWS].count     ? v[O_ROWS].num :
		   format == GRID_TEXT ? TABLE_ROWS :
					 0);
	grid_print(t, &style);
	if (format == GRID_TEXT && !nr)
		ui_say("none: %s", f->question.about);
	else if (format == GRID_TEXT && t->nr_rows < nr)
		ui_say("%zu of %s rows; -n 0 shows all", t->nr_rows, ui_count(number, nr));
}

static void print_answer(struct fleet *f)
{
	struct sheet t = { 0 };

	ask(f, &f->question, &t);
	print(f, &t);
	sheet_fini(&t);
}

/* ---- all of it ---- */

static void ask_for_page(void *f, const struct fleet_question *q, struct sheet *t)
{
	ask(f, q, t);
}

static void print_page(struct fleet *f)
{
	const struct opt_value *v = f->parsed->values;
	const struct job_page page = { .set = &f->set,
				       .shown = f->shown,
				       .job = v[O_JOB].text,
				       .ranks = v[O_RANKS].text,
				       .marks = f->marks,
				       .nr_marks = f->nr_marks,
				       .ask = ask_for_page,
				       .arg = f };

	job_page_print(&page);
}

static void print_any(void *arg)
{
	struct fleet *f = arg;

	if (f->parsed->values[O_FORMAT].num == HTML)
		print_page(f);
	else
		print_answer(f);
}

/* Which ranks are asked. */
static void choose_ranks(struct fleet *f)
{
	const struct opt_value *v = f->parsed->values;
	int64_t *ranks = calloc(f->set.nr + 1, sizeof(*ranks));
	size_t nr = 0;

	if (!ranks)
		ui_die_memory();
	for (size_t i = 0; i < f->set.nr && v[O_RANKS].count; i++)
		if (f->set.ranks[i].rank >= 0 &&
		    capture_list_has(v[O_RANKS].text, (uint64_t)f->set.ranks[i].rank))
			ranks[nr++] = f->set.ranks[i].rank;
	fleet_set_ask(&f->set, v[O_JOB].text, v[O_RANKS].count ? ranks : NULL, nr);
	free(ranks);
	check_some(f);
}

static int answer(struct fleet *f)
{
	const struct opt_value *v = f->parsed->values;
	const char *output = v[O_OUTPUT].count ? exporter_output(v[O_OUTPUT].text, NULL) : "-";

	if (strcmp(output, "-") != 0) {
		exporter_check(output, v[O_FORCE].count > 0, STATUS_FAILED);
		exporter_print(output, print_any, f);
	} else {
		print_any(f);
	}
	return f->set.nr_bad || f->set.nr_problems ? STATUS_LEFT_OUT : 0;
}

/* ---- the question alone ---- */

/* For DuckDB, or for none in particular. */
static void print_views(const struct fleet *f)
{
	char *sql = fleet_question_sql(&f->question);
	char *views = *f->set.dir ? fleet_duckdb_views(&f->set, &f->question) : NULL;

	if (!sql)
		ui_die_memory();
	if (views)
		ui_put(views);
	ui_put(sql);
	ui_put(";\n");
	free(views);
	free(sql);
}

static int print_sql(struct fleet *f)
{
	enum engine engine = engine_of(f->parsed->values[O_ENGINE].text);
	char *text = NULL;
	int err;

	if (engine == ENGINE_SERVER)
		engine = ENGINE_CLICKHOUSE;
	if (engine >= ENGINE_CLICKHOUSE && !*f->set.dir)
		ui_die(STATUS_USAGE, "of which data set? rtl fleet --sql %s --engine %s DIR",
		       f->question.name, engines[engine]);
	if (engine <= ENGINE_CLICKHOUSE) {
		ui_putf("-- %s: %s\n", f->question.name, f->question.about);
		for (size_t i = 0; i < f->question.nr_columns; i++)
			ui_putf("-- %s: %s\n", f->question.columns[i], f->question.meanings[i]);
	}
	if (engine < ENGINE_CLICKHOUSE) {
		print_views(f);
	} else {
		err = fleet_script(&f->set, &f->question, engines[engine], &text);
		if (err)
			ui_die(STATUS_FAILED, "%s: %s", f->shown,
			       err != -EINVAL ?
				       strerror(-err) :
			       engine == ENGINE_SPARK ?
				       "Spark can't read a folder with *, ?, {, }, [, ] or \\ in its path" :
				       "ClickHouse can't read a folder with *, ?, { or } in its path");
		ui_put(text);
		free(text);
	}
	ui_flush();
	return f->set.nr_problems ? STATUS_LEFT_OUT : 0;
}

static const char *name_of(uint64_t choice)
{
	return fleet_texts[choice].name;
}

static int run_fleet(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	struct fleet f = { .parsed = p };
	const char *name = name_of(v[O_SQL].count ? v[O_SQL].num : v[O_BY].count ? v[O_BY].num : 0);
	bool is_page = v[O_FORMAT].num == HTML, is_bound = v[O_KEEP].count || v[O_MAX_SIZE].count;
	int status;

	ui_quiet(v[O_QUIET].count > 0);
	ui_stop_at_once();
	if (fleet_question_open(&f.question, name))
		ui_die(STATUS_FAILED, "the question %s can't be read", name);
	if (!p->nr_operands && !v[O_SQL].count)
		ui_die(STATUS_USAGE, "which data set? rtl fleet DIR");
	if (v[O_DRY_RUN].count && !v[O_KEEP].count && !v[O_MAX_SIZE].count)
		ui_die(STATUS_USAGE, "--dry-run is of --keep and --max-size");
	if (is_bound && (v[O_JOB].count || v[O_RANKS].count || v[O_OUTPUT].count || is_page))
		ui_die(STATUS_USAGE,
		       "--keep and --max-size are of all jobs, and answer nothing: leave out --job, --ranks, --output and --format html");
	if (is_page && (v[O_BY].count || v[O_SQL].count || v[O_ROWS].count || v[O_SORT].count))
		ui_die(STATUS_USAGE,
		       "the page has all tables: leave out --by, --sql, --rows and --sort");
	if (p->nr_operands)
		open_set(&f, p->operands[0]);
	if (p->nr_operands && !is_bound && !is_page)
		choose_ranks(&f);
	if (is_bound)
		status = keep(&f);
	else
		status = v[O_SQL].count ? print_sql(&f) : answer(&f);
	fleet_question_close(&f.question);
	fleet_set_close(&f.set);
	free(f.marks);
	return status;
}

static const struct opt_status statuses[] = {
	{ "0", "done" },
	{ "1", "no data set, no rank can be read, or the engine failed" },
	{ "2", "the command line is wrong" },
	{ "4", "answered without the ranks that can't be read, named" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_fleet = {
	.name = "fleet",
	.summary = "answers questions about a data set of many ranks",
	.usage = "[options] DIR",
	.operands = "DIR, a data set",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 0,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"Reads a data set of Parquet files, DIR/job=JOB/rank=RANK/TABLE.parquet, as rtl trace -o DIR/ and rtl convert -f parquet write "
		"them, and prints a table: of each job, or, with --by, of the ranks, kernels and ranges, of what is slow where, of collectives and outliers.\n"
		"\n"
		"The questions are SQL (--sql), which an engine answers: DuckDB where it is installed, else SQLite. They are in share/rocm-trace-lite/fleet, "
		"for engines of one's own.\n"
		"\n"
		"A rank with a file that is missing, damaged or of another program is named and left out; the others are answered, with status 4. "
		"Ranks that still run, or whose rtl trace was killed, are named.",
	.examples =
		"rtl fleet run1/\nrtl fleet --by slow-ranks run1/\nrtl fleet --by kernels -f csv run1/ > kernels.csv\n"
		"rtl fleet -f html -o run1.html run1/\n"
		"rtl fleet --sql imbalance run1/ | duckdb\nrtl fleet --keep 30d --max-size 1T --dry-run /data/traces/\n",
	.run = run_fleet,
};
