/* SPDX-License-Identifier: MIT */
/* cmd_rocprofv3.c - rtl rocprofv3: takes rocprofv3's options, runs `rtl trace`, writes rocprofv3's
 * files
 *
 * Order: options -> refusals -> trace to a database in the output directory -> files -> summary ->
 * the database is removed.
 *
 * Not here: the table of options (rocprofv3_options.c), the files (export/rocprofv3/).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/capture.h"
#include "cli/db.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/front.h"
#include "cli/cmd/rocprofv3_input.h"
#include "cli/cmd/rocprofv3_options.h"
#include "cli/paths.h"
#include "cli/ui.h"
#include "export/export.h"
#include "export/rocprofv3/rocprofv3.h"
#include "rtl_version.h"

/* rtl's own options, behind rocprofv3's */
enum { O_VGPU = ROCPROFV3_NR_OPTIONS, O_KEEP, O_CHECK, O_NR };

static const struct opt options[O_NR] = {
	ROCPROFV3_OPTIONS(ROCPROFV3_ROW)[O_VGPU] = { 0, "virtual-gpu", OPT_UINT, true, "N", "1..16",
						     "rtl's: run on N virtual GPUs (1)",
						     .more = "As rtl trace --virtual-gpu.",
						     .in_manual = true },
	[O_KEEP] = { 0, "keep-database", .in_manual = true,
		     .help = "rtl's: keep the database that rtl trace wrote",
		     .more = "DIR/rtl-rocprofv3-PID.db. rtl summary, info and convert read it." },
	[O_CHECK] = { 0, "check", .in_manual = true, .unlisted = true,
		      .help = "rtl's: check the options and stop",
		      .more = "Also the names of counters. Nothing runs, and nothing is written." },
};

struct front {
	const struct opt_parsed *p;
	struct rocprofv3_choice choice;
	const char *dir, *out; /* of the files, with patterns */
	const struct export_format *formats[5];
	size_t nr_formats;
	char *database;
	struct front_line line; /* of rtl trace */
};

static bool is_on(const struct front *f, int option)
{
	return rocprofv3_options_is_on(&options[option], &f->p->values[option]);
}

static const struct opt_value *value(const struct front *f, int option)
{
	return &f->p->values[option];
}

/* One of rocprofv3's variables. NULL: not set, or empty. */
static const char *variable(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

/* ---- what is there and what is not ---- */

/* Reports every option that rtl lacks; the status for them, or 0. */
static int refuse(const struct front *f)
{
	int status = 0;

	for (int i = 0; i < ROCPROFV3_NR_OPTIONS; i++) {
		/* 0 KB is no minimum */
		if (!is_on(f, i) || (i == ROCPROFV3_O_MINIMUM && value(f, i)->text &&
				     strcmp(value(f, i)->text, "0") == 0))
			continue;
		if (rocprofv3_options_states[i] == ROCPROFV3_LACKS) {
			ui_error("--%s: %s", options[i].name, options[i].more);
			status = STATUS_LACKS;
		} else if (rocprofv3_options_states[i] == ROCPROFV3_IDLE) {
			ui_say("--%s: %s", options[i].name, options[i].more);
		}
	}
	return status;
}

static uint32_t chosen_domains(const struct front *f)
{
	static const struct {
		int option;
		uint32_t domains;
	} all[] = {
#define RUNTIME                                                                                    \
	(ROCPROFV3_HIP_RUNTIME | ROCPROFV3_MARKER | ROCPROFV3_KERNEL | ROCPROFV3_COPY |            \
	 ROCPROFV3_ALLOCATION | ROCPROFV3_SCRATCH | ROCPROFV3_RCCL)
		{ ROCPROFV3_O_RUNTIME, RUNTIME },
		{ ROCPROFV3_O_SYS, RUNTIME | ROCPROFV3_HIP_COMPILER | ROCPROFV3_HSA },
		{ ROCPROFV3_O_HIP, ROCPROFV3_HIP },
		{ ROCPROFV3_O_MARKER, ROCPROFV3_MARKER },
		{ ROCPROFV3_O_KERNEL, ROCPROFV3_KERNEL },
		{ ROCPROFV3_O_COPY, ROCPROFV3_COPY },
		{ ROCPROFV3_O_ALLOCATION, ROCPROFV3_ALLOCATION },
		{ ROCPROFV3_O_SCRATCH, ROCPROFV3_SCRATCH },
		{ ROCPROFV3_O_PMC, ROCPROFV3_COUNTERS },
		{ ROCPROFV3_O_HSA, ROCPROFV3_HSA },
		{ ROCPROFV3_O_RCCL, ROCPROFV3_RCCL },
		{ ROCPROFV3_O_HIP_RUNTIME, ROCPROFV3_HIP_RUNTIME },
		{ ROCPROFV3_O_HIP_COMPILER, ROCPROFV3_HIP_COMPILER },
		{ ROCPROFV3_O_HSA_CORE, ROCPROFV3_HSA_CORE },
		{ ROCPROFV3_O_HSA_AMD, ROCPROFV3_HSA_AMD },
		{ ROCPROFV3_O_HSA_IMAGE, ROCPROFV3_HSA_IMAGE },
		{ ROCPROFV3_O_HSA_FINALIZER, ROCPROFV3_HSA_FINALIZE },
	};
	uint32_t domains = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (is_on(f, all[i].option))
			domains |= all[i].domains;
	return domains;
}

/* The index of `word` in a list that ends in NULL; the process ends if it is none of them. */
static int choose(const char *option, const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	ui_die(STATUS_TRACE, "--%s: '%.80s' is not known; rtl rocprofv3 --help lists what is",
	       option, word);
}

static void choose_content(struct front *f)
{
	static const char *const ways[] = { "relative", "absolute", "type-relative", NULL };
	const struct opt_value *index = value(f, ROCPROFV3_O_INDEX);

	f->choice.domains = chosen_domains(f);
	if (!f->choice.domains)
		ui_die(STATUS_TRACE,
		       "nothing to record: add --kernel-trace, --hip-trace, -r, -s or another");
	if (is_on(f, ROCPROFV3_O_STATS))
		f->choice.domains |= ROCPROFV3_STATS;
	if (index->count)
		f->choice.index = (enum rocprofv3_index)choose("agent-index", index->text, ways);
	f->choice.mangled = is_on(f, ROCPROFV3_O_MANGLED);
	f->choice.truncated = is_on(f, ROCPROFV3_O_TRUNCATE);
	f->choice.renamed = is_on(f, ROCPROFV3_O_RENAME);
	f->choice.time_format = variable("ROCPROF_TIME_FORMAT");
	f->choice.date_format = variable("ROCPROF_DATE_FORMAT");
}

static void add_format(struct front *f, const char *word)
{
	static const char *const words[] = { "csv", "json", "rocpd", "pftrace", "otf2", NULL };
	static const char *const formats[] = { "rocprofv3-csv", "rocprofv3-json", "rocpd3",
					       "rocprofv3-pftrace", "rocprofv3-otf2" };
	const struct export_format *format =
		export_find(formats[choose("output-format", word, words)]);

	for (size_t k = 0; k < f->nr_formats; k++)
		if (f->formats[k] == format)
			return;
	f->formats[f->nr_formats++] = format;
}

static void choose_formats(struct front *f)
{
	const struct opt_value *v = value(f, ROCPROFV3_O_FORMAT);

	add_format(f, v->text ? v->text : "rocpd");
	for (unsigned int i = 0; i < v->nr_more; i++)
		add_format(f, v->more[i]);
}

/* ---- names ---- */

static void make_directory(const char *dir)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/", dir) >= (int)sizeof(path))
		ui_die(STATUS_TRACE, "%s: the name is too long", dir);
	for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			ui_die(STATUS_TRACE, "%s: can't be made: %s", path, strerror(errno));
		*slash = '/';
	}
}

static void choose_names(struct front *f)
{
	const char *dir = value(f, ROCPROFV3_O_DIRECTORY)->text;
	const char *out = value(f, ROCPROFV3_O_OUTPUT)->text;

	dir = dir ? dir : variable("ROCPROF_OUTPUT_PATH");
	out = out ? out : variable("ROCPROF_OUTPUT_FILE_NAME");
	/* a directory that is named after the process can't be known yet */
	const char *fixed = dir && !strchr(dir, '%') ? dir : ".";

	f->out = ui_keep(ui_format("%s%s%s", dir ? dir : "", dir ? "/" : "",
				   out ? out : "%hostname%/%pid%"));
	f->dir = fixed;
	f->database = ui_keep(ui_format("%s/rtl-rocprofv3-%ld.db", fixed, (long)getpid()));
}

/* ---- the command line of rtl trace ---- */

static void add_arg(struct front *f, const char *option, const char *text)
{
	front_add(&f->line, option, text);
}

/* Seconds with a point, of a number in another unit. */
static const char *in_seconds(const char *text, size_t size, double unit)
{
	char number[64];
	char *end;
	double n;

	if (size >= sizeof(number))
		return NULL;
	memcpy(number, text, size);
	number[size] = 0;
	n = strtod(number, &end);
	return *end || end == number ? NULL : ui_keep(ui_format("%.9f", n * unit));
}

/* "delay:duration:repeat" in any unit -> that of rtl trace --period */
static const char *read_period(const char *text, double unit)
{
	size_t first = strcspn(text, ":"), second;
	const char *delay = in_seconds(text, first, unit), *duration;

	if (!text[first])
		return NULL;
	second = strcspn(text + first + 1, ":");
	duration = in_seconds(text + first + 1, second, unit);
	return delay && duration ?
		       ui_keep(ui_format("%s:%s%s", delay, duration, text + first + 1 + second)) :
		       NULL;
}

static void add_periods(struct front *f)
{
	static const char *const units[] = { "hour", "min", "sec", "msec", "usec", "nsec", NULL };
	static const double seconds[] = { 3600, 60, 1, 1e-3, 1e-6, 1e-9 };
	const struct opt_value *v = value(f, ROCPROFV3_O_PERIOD),
			       *unit = value(f, ROCPROFV3_O_PERIOD_UNIT);
	double factor = unit->count ? seconds[choose("collection-period-unit", unit->text, units)] :
				      1;
	const char *all = "";

	for (unsigned int i = 0; v->count && i <= v->nr_more; i++) {
		const char *word = i ? v->more[i - 1] : v->text;
		const char *period = read_period(word, factor);

		if (!period)
			ui_die(STATUS_TRACE,
			       "--collection-period: '%.80s' is not DELAY:DURATION:REPEAT", word);
		all = ui_keep(ui_format("%s%s%s", all, *all ? " " : "", period));
	}
	if (v->count)
		add_arg(f, "--period", all);
}

/* An empty text is as if the option was not there. */
static void add_list(struct front *f, int option, const char *ours, const char *between)
{
	const char *all =
		value(f, option)->count ? rocprofv3_options_join(value(f, option), between) : "";

	if (*all)
		add_arg(f, ours, all);
}

/* Launches are chosen among those that are counted. */
static void add_iterations(struct front *f)
{
	if (value(f, ROCPROFV3_O_PMC)->count)
		add_list(f, ROCPROFV3_O_ITERATION, "--pmc-iterations", ",");
	else if (value(f, ROCPROFV3_O_ITERATION)->count)
		ui_say("--kernel-iteration-range: is about --pmc; the trace has all launches");
}

/* Each dispatch gets all counters, as with rocprofv3, where more than fit are an error. */
static void add_passes(struct front *f)
{
	static const char *const modes[] = { "kernel", "application", NULL };
	const struct opt_value *mode = value(f, ROCPROFV3_O_REPLAY);
	bool reruns = mode->count && choose("replay-mode", mode->text, modes) == 1;

	if (value(f, ROCPROFV3_O_PMC)->count)
		add_arg(f, "--passes", reruns ? "rerun" : "replay");
}

/* The contents of ROCPROF_EXTRA_COUNTERS_CONTENTS as a file, which commands that this process
 * starts read, too; the program does not get its descriptor. NULL: it is not set. */
static const char *contents(void)
{
	const char *name = "ROCPROF_EXTRA_COUNTERS_CONTENTS", *text = variable(name);
	int fd = text ? memfd_create("extra_counters", MFD_CLOEXEC) : -1;

	if (!text)
		return NULL;
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		ui_die(STATUS_TRACE, "%s: %s", name, strerror(errno));
	return ui_keep(ui_format("/proc/%d/fd/%d", (int)getpid(), fd));
}

static void add_definitions(struct front *f)
{
	const char *file = value(f, ROCPROFV3_O_EXTRA)->text;

	if (!value(f, ROCPROFV3_O_PMC)->count) {
		if (file)
			ui_say("--extra-counters: defines counters for --pmc, which is not given");
		return;
	}
	if (!file)
		file = contents();
	if (file)
		add_arg(f, "--metrics-file", file);
}

/* A runtime that does not report scratch memory is worth a message only to those who asked for
 * just that. */
static void add_scratch(struct front *f)
{
	if (is_on(f, ROCPROFV3_O_SCRATCH))
		add_arg(f, "--scratch", NULL);
	else if (f->choice.domains & ROCPROFV3_SCRATCH && setenv("RTL_SCRATCH", "auto", 0))
		ui_die_memory();
}

static void make_trace_line(struct front *f)
{
	add_arg(f, "trace", NULL);
	add_arg(f, "-q", NULL);
	add_arg(f, "-o", f->database);
	if (f->choice.domains & ROCPROFV3_HSA)
		add_arg(f, "--hsa", NULL);
	if (f->choice.domains & ROCPROFV3_HIP_COMPILER)
		add_arg(f, "--internal", NULL);
	add_scratch(f);
	if (is_on(f, ROCPROFV3_O_REGIONS))
		add_arg(f, "--trace-start", "off");
	add_list(f, ROCPROFV3_O_MPI_RANKS, "--ranks", ",");
	add_list(f, ROCPROFV3_O_INCLUDE, "--kernels", "|");
	add_list(f, ROCPROFV3_O_EXCLUDE, "--not-kernels", "|");
	add_list(f, ROCPROFV3_O_PMC, "--pmc", ",");
	add_definitions(f);
	add_passes(f);
	add_iterations(f);
	add_periods(f);
	front_add_gpus(&f->line, value(f, O_VGPU));
	if (value(f, O_CHECK)->count)
		add_arg(f, "--check", NULL);
	add_arg(f, "--", NULL);
}

/* ---- the files ---- */

/* 0 or the exit status. */
static int write_files(const struct front *f)
{
	const char *input = f->database;
	struct job_result *res = calloc(1, sizeof(*res));
	struct job_options opt = { .force = true, .format = &f->choice };
	uint64_t nr = 0;
	int err = 0, status;

	if (!res)
		ui_die_memory();
	for (size_t i = 0; i < f->nr_formats && !err; i++) {
		err = export_run(f->formats[i], &input, 1, f->out, &opt, res);
		nr += res->nr_files;
	}
	status = front_check(res, err);
	if (!err)
		ui_say("%llu file%s written: %s%s; the trace is %s", (unsigned long long)nr,
		       nr == 1 ? "" : "s", res->where,
		       res->nr_where > 1 ? " and those of the other processes" : "", res->verdict);
	free(res);
	return status;
}

/* Where the summary goes. */
static int open_summary(const struct front *f)
{
	const char *name = value(f, ROCPROFV3_O_SUMMARY_FILE)->text;
	int fd;

	if (!name || strcmp(name, "stderr") == 0)
		return dup(STDERR_FILENO);
	if (strcmp(name, "stdout") == 0)
		return dup(STDOUT_FILENO);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		ui_error("%s: can't be written: %s", name, strerror(errno));
	return fd;
}

/* Runs `rtl summary` with its output in fd; its messages would name the database, which is
 * deleted. */
static void print_tables(const struct front *f, int fd, const char *by)
{
	struct paths paths;
	int status;
	pid_t pid;

	if (paths_find(&paths))
		return;
	pid = fork();
	if (pid == 0) {
		ui_stop_default();
		dup2(fd, STDOUT_FILENO);
		execl(paths.exe, paths.exe, "summary", "-q", "-n", "0", f->database, "--by", by,
		      (char *)NULL);
		_exit(STATUS_TRACE);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static void print_summary(const struct front *f)
{
	static const struct {
		const char *by;
		uint32_t domains;
	} tables[] = {
		{ ",kernel", ROCPROFV3_KERNEL },
		{ ",api", ROCPROFV3_HIP | ROCPROFV3_HSA | ROCPROFV3_RCCL },
		{ ",copy", ROCPROFV3_COPY },
		{ ",marker", ROCPROFV3_MARKER },
		{ ",counter", ROCPROFV3_COUNTERS },
	};
	char by[64] = "";
	size_t used = 0;
	int fd = open_summary(f);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].domains & f->choice.domains)
			used += (size_t)snprintf(by + used, sizeof(by) - used, "%s", tables[i].by);
	if (fd >= 0 && *by)
		print_tables(f, fd, by + 1);
	if (fd >= 0)
		close(fd);
}

/* A file that is asked for, and is missing since nothing could be recorded, needs a reason. */
static void say_unreported(const struct front *f)
{
	struct query *q = db_open(f->database);
	sqlite3_stmt *row = db_query(q, "SELECT 1 FROM rtl_info WHERE key = 'scratch'");

	if (db_step(q, row))
		ui_say("--scratch-memory-trace: this HSA runtime does not report what it does with scratch memory; "
		       "that of ROCm 6.1 and later does");
	sqlite3_finalize(row);
	query_close(q);
}

static int write_all(const void *arg)
{
	const struct front *f = arg;
	int status = write_files(f);

	if (status == 0 && is_on(f, ROCPROFV3_O_SCRATCH))
		say_unreported(f);
	if (is_on(f, ROCPROFV3_O_SUMMARY) || is_on(f, ROCPROFV3_O_SUMMARY_DOMAIN))
		print_summary(f);
	return status;
}

/* ---- jobs of an input file ---- */

/* Whether the command line has an option, which then holds instead of a job's. */
static bool overrides(const struct front *f, const char *word)
{
	for (int i = 0; i < O_NR; i++)
		if (strcmp(word + 2, options[i].name) == 0)
			return f->p->values[i].count > 0;
	return false;
}

struct line {
	char **words;
	size_t nr, max;
};

static void add_to(struct line *l, char *word)
{
	if (l->nr + 1 >= l->max) {
		l->max = l->max ? 2 * l->max : 64;
		l->words = realloc(l->words, l->max * sizeof(*l->words));
		if (!l->words)
			ui_die_memory();
	}
	l->words[l->nr++] = word;
	l->words[l->nr] = NULL;
}

/* Whether a job's files are in a directory of their own: those of several jobs, and those with
 * counters. */
static bool has_directory(const struct front *f, const struct rocprofv3_input *in, size_t i)
{
	return in->nr > 1 || in->jobs[i].is_counting || value(f, ROCPROFV3_O_PMC)->count;
}

/* The command line's own options, but for the input file and, if a job has its own, the
 * directory. */
static void add_own(const struct front *f, struct line *l, bool own_directory)
{
	for (int i = 0; i < O_NR; i++) {
		const struct opt_value *v = &f->p->values[i];

		if (!v->count || i == ROCPROFV3_O_INPUT ||
		    (own_directory && i == ROCPROFV3_O_DIRECTORY))
			continue;
		if (options[i].optional && v->text) {
			add_to(l, ui_keep(ui_format("--%s=%s", options[i].name, v->text)));
		} else {
			add_to(l, ui_keep(ui_format("--%s", options[i].name)));
			if (v->text)
				add_to(l, ui_keep(ui_format("%s", v->text)));
		}
		for (unsigned int k = 0; k < v->nr_more; k++)
			add_to(l, v->more[k]);
	}
}

/* The options of a job and of the command line. */
static void make_job_line(const struct front *f, const struct rocprofv3_input *in, size_t i,
			  bool dry, struct line *l)
{
	const char *dir = value(f, ROCPROFV3_O_DIRECTORY)->text;
	const struct rocprofv3_job *job = &in->jobs[i];
	bool own_directory = has_directory(f, in, i), skip = false;

	for (size_t k = 0; k < job->nr; k++) {
		if (strncmp(job->words[k], "--", 2) == 0) {
			skip = overrides(f, job->words[k]);
			if (own_directory && strcmp(job->words[k], "--output-directory") == 0 &&
			    k + 1 < job->nr) {
				dir = dir ? dir : job->words[k + 1];
				skip = true;
			}
		}
		if (!skip)
			add_to(l, job->words[k]);
	}
	add_own(f, l, own_directory);
	dir = dir ? dir : variable("ROCPROF_OUTPUT_PATH");
	if (own_directory) {
		add_to(l, ui_keep(ui_format("--output-directory")));
		add_to(l, ui_keep(ui_format("%s/%s_%zu", dir ? dir : ".",
					    in->is_text ? "pmc" : "pass", i + 1)));
	}
	if (dry)
		add_to(l, ui_keep(ui_format("--check")));
	add_to(l, ui_keep(ui_format("--")));
	for (int k = 0; k < f->p->nr_operands; k++)
		add_to(l, f->p->operands[k]);
}

/* Runs rtl rocprofv3 for one job, with its output in `out` if that is no -1. */
static int run_job(const struct paths *paths, struct line *l, int out)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		ui_die(STATUS_TRACE, "can't start a process: %s", strerror(errno));
	if (pid == 0) {
		ui_stop_default();
		if (out >= 0) {
			dup2(out, STDOUT_FILENO);
			dup2(out, STDERR_FILENO);
		}
		execv(paths->exe, l->words);
		_exit(STATUS_TRACE);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int start_job(const struct front *f, const struct rocprofv3_input *in, size_t i,
		     const struct paths *paths, int out)
{
	struct line line = { .words = NULL };
	int status;

	add_to(&line, ui_keep(ui_format("%s", paths->exe)));
	add_to(&line, ui_keep(ui_format("rocprofv3")));
	make_job_line(f, in, i, out >= 0, &line);
	status = run_job(paths, &line, out);
	free(line.words);
	return status;
}

/* Each job's options and counters, before the first one runs. What a refused one says is
 * printed. */
static int check_jobs(const struct front *f, const struct rocprofv3_input *in,
		      const struct paths *paths)
{
	int out = memfd_create("rtl-rocprofv3", MFD_CLOEXEC), status = 0;
	char text[4096];
	ssize_t n;

	for (size_t i = 0; out >= 0 && i < in->nr && !status; i++) {
		if (ftruncate(out, 0) || lseek(out, 0, SEEK_SET))
			break;
		status = start_job(f, in, i, paths, out);
		if (status)
			ui_error("--input: job %zu is refused, and no job is run:", i + 1);
	}
	lseek(out, 0, SEEK_SET);
	while (status && (n = read(out, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stderr);
	if (out >= 0)
		close(out);
	return status;
}

/* The status of the first job that fails; the others run all the same, but after a refusal. */
static int run_jobs(const struct front *f)
{
	struct rocprofv3_input in = { .jobs = NULL };
	struct paths paths;
	int first = 0;

	rocprofv3_input_read(value(f, ROCPROFV3_O_INPUT)->text, options, ROCPROFV3_NR_OPTIONS, &in);
	if (paths_find(&paths))
		ui_die(STATUS_TRACE, "rtl can't find itself: %s", strerror(errno));
	if (in.nr > 1 && !is_on(f, ROCPROFV3_O_ECHO))
		first = check_jobs(f, &in, &paths);
	if (first)
		return first;
	for (size_t i = 0; i < in.nr; i++) {
		int status = start_job(f, &in, i, &paths, -1);

		first = first ? first : status;
		if (status == STATUS_LACKS || (first && ui_stopped_by()))
			break;
	}
	return first;
}

/* ---- the command ---- */

static int print_version(void)
{
	ui_put("rtl rocprofv3 " RTL_VERSION_STRING
	       ", with the options of rocprofv3 1.4 and the formats of 1.0\n");
	return 0;
}

static int list_counters(const struct front *f)
{
	const char *file = value(f, ROCPROFV3_O_EXTRA)->text;
	struct paths paths;

	if (paths_find(&paths))
		ui_die(STATUS_TRACE, "rtl can't find itself: %s", strerror(errno));
	execl(paths.exe, paths.exe, "list-counters", file ? "--metrics-file" : (char *)NULL, file,
	      (char *)NULL);
	ui_die(STATUS_TRACE, "%s: can't be run: %s", paths.exe, strerror(errno));
}

static int print_line(const struct front *f)
{
	front_print(&f->line, f->p);
	for (size_t i = 0; i < f->nr_formats; i++)
		ui_putf("rtl convert %s -f %s -o '%s'\n", f->database, f->formats[i]->name, f->out);
	return 0;
}

static int run_rocprofv3(const struct opt_parsed *p)
{
	static struct front front;
	struct front *f = &front;
	int status;

	f->p = p;
	if (is_on(f, ROCPROFV3_O_VERSION))
		return print_version();
	if (is_on(f, ROCPROFV3_O_LIST))
		return list_counters(f);
	if (value(f, ROCPROFV3_O_INPUT)->count)
		return run_jobs(f);
	status = refuse(f);
	if (status)
		return status;
	choose_formats(f);
	if (!p->nr_operands)
		ui_die(STATUS_TRACE, "the program is missing; usage: rtl rocprofv3 %s",
		       cmd_rocprofv3.usage);
	choose_content(f);
	choose_names(f);
	make_trace_line(f);
	if (is_on(f, ROCPROFV3_O_ECHO))
		return print_line(f);
	if (value(f, O_CHECK)->count)
		return front_run(&f->line, p);
	make_directory(f->dir);
	return front_finish(f->database, front_run(&f->line, p), value(f, O_KEEP)->count > 0,
			    write_all, f);
}

static const struct opt_status statuses[] = {
	{ "N", "the program's status; 128+N if signal N ended it" },
	{ "121", "an option that rtl has nothing for; nothing was run" },
	{ "125 to 127", "rtl failed; the program can't be run, was not found" },
	{ NULL, NULL },
};

const struct command cmd_rocprofv3 = {
	.name = "rocprofv3",
	.summary = "takes rocprofv3's options and writes its files",
	.usage = "[options] -- PROGRAM [ARG...]",
	.operands = "PROGRAM",
	.opts = options,
	.nr_opts = O_NR,
	.child = true,
	.lists = true,
	.min_operands = 0,
	.max_operands = -1,
	.usage_status = STATUS_TRACE,
	.statuses = statuses,
	.about =
		"For scripts that call rocprofv3: runs PROGRAM with rtl trace, and writes the files that rocprofv3 writes, "
		"under its names. Options are rocprofv3's, up to its version 1.4; the command begins behind --. A switch may have a value (true, "
		"false), an option several words.\n"
		"\n"
		"An option that rtl has nothing for ends rtl rocprofv3 with status 121 before PROGRAM runs; the message says what to use "
		"instead. One that could change nothing is accepted with a message.\n"
		"\n"
		"The files are DIR/HOST/PID_kernel_trace.csv and its like for each process, or with -o DIR/NAME_kernel_trace.csv; "
		"NAME_results.json; NAME_results.db; NAME_results.pftrace; NAME_results.otf2. Existing ones are replaced, as by rocprofv3. Without --output-format it is rocpd. "
		"Files without rows are not written.\n"
		"\n"
		"ROCPROF_OUTPUT_PATH and ROCPROF_OUTPUT_FILE_NAME are as -d and -o, which go before them; so is ROCPROF_EXTRA_COUNTERS_CONTENTS, which "
		"has the contents of -E's file. ROCPROF_TIME_FORMAT and "
		"ROCPROF_DATE_FORMAT are the forms of %launch_time% and %launch_date%, as strftime(3) has them.\n"
		"\n"
		"What is recorded is at least what is asked for; what is not asked for is left out of the files.",
	.examples = "rtl rocprofv3 --kernel-trace --stats -f csv -- ./app\n"
		    "rtl rocprofv3 -s -d results -o run-%rank% -f csv json -- ./app --size 4\n"
		    "rtl rocprofv3 -i jobs.yaml -d results -- ./app\n"
		    "rtl rocprofv3 -r --kernel-include-regex gemm -P 10:1:1 -- ./train\n",
	.run = run_rocprofv3,
};
