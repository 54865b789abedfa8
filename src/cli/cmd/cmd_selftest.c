/* SPDX-License-Identifier: MIT */
/* cmd_selftest.c - rtl selftest: proves on this machine that what is traced is what happened
 *
 * A program of this installation (src/selftest/) knows the outcome of what it does without tracing.
 * It is run untraced and in every way of tracing, and the traces are compared with what it knows.
 */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cli/cmd/commands.h"
#include "cli/read/exporter.h"
#include "cli/selftest/selftest.h"
#include "cli/ui.h"

#define STATUS_NO_GPU 4

enum { O_OUTPUT, O_FORMAT, O_ONLY, O_LIST, O_QUICK, O_VGPU, O_TIMEOUT, O_OVERHEAD, O_QUIET };

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE",
		       .help = "the file to attach to a report (rtl-selftest-DATE.txt)",
		       .more = "Of --format json rtl-selftest-DATE.json. It has the verdicts with their numbers, and versions of the "
			       "kernel, the driver, ROCm, rtl, the GPUs' names and firmware. It has no host name, no user name and no "
			       "path. Nothing is sent anywhere. An existing file is replaced. - writes no file." },
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = "table|json",
		       .help = "table (default), json" },
	[O_ONLY] = { 0, "only", OPT_TEXT, .arg = "NAMES",
		     .help = "these checks or groups alone: count,face.sdk",
		     .more = "Separated by commas. A group is the part of a name before the dot." },
	[O_LIST] = { 'l', "list", .help = "list the checks and stop" },
	[O_QUICK] = { 0, "quick", .help = "fewer kernels and repetitions: some seconds" },
	[O_VGPU] = { 0, "virtual-gpu", OPT_UINT, true, "N", "1..16",
		     "run on N virtual GPUs (1): no GPU is needed",
		     .more = "As rtl trace --virtual-gpu. It shows that this installation works, and nothing of a real GPU." },
	[O_TIMEOUT] = { 0, "timeout", OPT_UINT, .arg = "SECONDS", .choices = "1..3600",
			.help = "of each run (60)" },
	[O_OVERHEAD] = { 0, "max-overhead", OPT_UINT, .arg = "NS", .choices = "0..1000000000",
			 .help = "limit of the check 'overhead' (20000)" },
	[O_QUIET] = { 'q', "quiet", .help = "print failures only" },
};

/* ---- before and after ------------------------------------------------------------------------ */

static void print_list(void)
{
	for (size_t i = 0; i < SELFTEST_NR; i++)
		ui_putf("%-16s %s\n", selftest_names[i], selftest_whats[i]);
}

/* Ends the process if a word of --only names nothing. */
static void check_only(const char *only)
{
	char *list = ui_keep(ui_format("%s", only)), *word, *rest;
	struct selftest *probe = calloc(1, sizeof(*probe));

	if (!probe)
		ui_die_memory();
	for (word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
		const char *suggestion = opts_suggest(word, selftest_names);

		probe->only = word;
		if (!selftest_wants(probe, 0, SELFTEST_NR - 1))
			ui_die(STATUS_USAGE, "--only: there is no check '%.80s'%s%s%s", word,
			       suggestion ? "; did you mean '" : "", suggestion ? suggestion : "",
			       suggestion ? "'?" : "; rtl selftest --list has them");
	}
	free(probe);
}

static void find_parts(struct selftest *s)
{
	char dir[PATH_MAX];

	if (paths_find(&s->paths))
		ui_die(STATUS_TRACE, "/proc/self/exe: can't be read; is /proc mounted?");
	if (!s->paths.librtl[0])
		ui_die(STATUS_TRACE, "librtl.so.1: not found below %s/lib; rtl doctor says more",
		       s->paths.root);
	if (!paths_join(dir, s->paths.root, "libexec/rocm-trace-lite") ||
	    !paths_join(s->helper, dir, "rtl-selftest-gpu") || access(s->helper, X_OK))
		ui_die(STATUS_TRACE,
		       "rtl-selftest-gpu: not found in %s; install the whole of rocm-trace-lite",
		       dir);
	if (!paths_join(s->faces, s->paths.lib_dir, "rocm-trace-lite/drop-in/lib") ||
	    access(s->faces, X_OK))
		memcpy(s->faces, s->paths.lib_dir, sizeof(s->faces)); /* a build tree */
	if (s->virtual && !s->paths.vgpu_dir[0])
		ui_die(STATUS_TRACE, "--virtual-gpu: there is no virtual GPU below %s",
		       s->paths.root);
	if (!paths_join(s->dir, temporary_directory(), "rtl-selftest-XXXXXX") || !mkdtemp(s->dir))
		ui_die(STATUS_TRACE, "%s: %s; set TMPDIR", s->dir, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

/* The directory has code, accounts and databases, and raw traces of runs that were killed. */
static void remove_parts(const struct selftest *s)
{
	nftw(s->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void name_output(struct selftest *s, const struct opt_parsed *p, bool json)
{
	const time_t now = time(NULL);
	char date[32];
	struct tm tm;

	if (p->values[O_OUTPUT].text) {
		snprintf(s->output, sizeof(s->output), "%s", p->values[O_OUTPUT].text);
	} else {
		localtime_r(&now, &tm);
		strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
		snprintf(s->output, sizeof(s->output), "rtl-selftest-%s.%s", date,
			 json ? "json" : "txt");
	}
	exporter_check(s->output, true, STATUS_TRACE);
}

/* ---- the checks ------------------------------------------------------------------------------ */

static const struct {
	enum selftest_id first, last;
	void (*run)(struct selftest *s);
	bool needs_hip;
	const char *says;
} scenarios[] = {
	{ SELFTEST_COUNT, SELFTEST_CLOCKS, selftest_count, true, "kernels that count themselves" },
	{ SELFTEST_COPY, SELFTEST_COPY_NR, selftest_copies, true, "copies" },
	{ SELFTEST_GRAPH, SELFTEST_GRAPH_NR, selftest_graphs, true, "graphs" },
	{ SELFTEST_HSA, SELFTEST_HSA_ORDER, selftest_hsa, false, "queues of HSA" },
	{ SELFTEST_KILL, SELFTEST_KILL, selftest_kill, true, "a kill" },
	{ SELFTEST_EVENTS, SELFTEST_ENCLOSE, selftest_events, true, "events" },
	{ SELFTEST_TOOLS, SELFTEST_FULL, selftest_ways, true, "ways and modes" },
	{ SELFTEST_ROCTX, SELFTEST_ROCPROFILER, selftest_faces, true, "drop-in libraries" },
	{ SELFTEST_OVERHEAD, SELFTEST_OVERHEAD, selftest_overhead, true, "the cost of a launch" },
	{ SELFTEST_EXITS, SELFTEST_EXITS, selftest_exits, false, "exits" },
};

/* False: there is no GPU. */
static bool run_all(struct selftest *s)
{
	selftest_probe(s);
	if (!selftest_number(&s->machine, "gpus"))
		return false;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]) && !ui_stopped_by(); i++) {
		if (!selftest_wants(s, scenarios[i].first, scenarios[i].last))
			continue;
		if (!selftest_number(&s->machine, "code_bytes"))
			selftest_rest(s, scenarios[i].first, scenarios[i].last, SELFTEST_SKIP,
				      "no kernel could be compiled");
		else if (scenarios[i].needs_hip && !s->has_hip)
			selftest_rest(s, scenarios[i].first, scenarios[i].last, SELFTEST_SKIP,
				      "HIP is not there, or shows no GPU");
		else {
			ui_say("%s", scenarios[i].says);
			scenarios[i].run(s);
		}
	}
	return true;
}

static unsigned int count_failed(const struct selftest *s)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < SELFTEST_NR; i++)
		nr += s->results[i].verdict == SELFTEST_FAIL;
	return nr;
}

/* Why there is no GPU, and what to do. */
static void explain_no_gpu(const struct selftest *s)
{
	const char *lacking = selftest_text(&s->machine, "lacking");
	const char *failed = selftest_text(&s->machine, "failed");

	ui_error("no GPU can be used here%s%s: nothing was tested", *lacking || *failed ? ": " : "",
		 *lacking ? lacking : failed);
	ui_error(
		"rtl doctor shows what is missing; rtl selftest --virtual-gpu tests on the virtual GPU");
}

static int report(const struct selftest *s, bool json, bool quiet)
{
	unsigned int failed = count_failed(s);
	int err = 0;

	if (quiet) {
		for (size_t i = 0; i < SELFTEST_NR; i++)
			if (s->results[i].verdict == SELFTEST_FAIL)
				ui_putf("FAIL  %-16s %s\n", selftest_names[i], s->results[i].text);
	} else {
		selftest_print(s, json);
	}
	if (strcmp(s->output, "-") != 0) {
		err = selftest_write(s, json, s->output);
		if (err)
			ui_error("%s: %s", s->output, strerror(-err));
		else
			ui_say("%s: written; it has no host name, no user name and no path, and nothing was sent",
			       s->output);
	}
	return failed ? STATUS_FAILED : err ? STATUS_TRACE : 0;
}

static int run_selftest(const struct opt_parsed *p)
{
	static struct selftest selftest;
	struct selftest *s = &selftest;
	const struct opt_value *v = p->values;
	bool json = v[O_FORMAT].num == 1, any;
	uint64_t begin = ui_now_ns();
	int status;

	if (v[O_LIST].count) {
		print_list();
		return 0;
	}
	if (v[O_ONLY].text)
		check_only(v[O_ONLY].text);
	s->only = v[O_ONLY].text;
	s->quick = v[O_QUICK].count > 0;
	s->virtual = v[O_VGPU].count > 0;
	s->virtual_gpus = v[O_VGPU].text ? v[O_VGPU].num : 1;
	s->timeout_s = v[O_TIMEOUT].count ? v[O_TIMEOUT].num : 60;
	s->limit_ns = v[O_OVERHEAD].count ? v[O_OVERHEAD].num : 20000;
	ui_quiet(v[O_QUIET].count > 0 || !ui_terminal(STDERR_FILENO));
	name_output(s, p, json);
	find_parts(s);
	ui_stop_in_order("the runs are ended");
	any = run_all(s);
	s->seconds = (double)(ui_now_ns() - begin) / 1e9;
	remove_parts(s);
	if (ui_stopped_by())
		return 128 + ui_stopped_by();
	if (!any) {
		explain_no_gpu(s);
		return STATUS_NO_GPU;
	}
	ui_quiet(v[O_QUIET].count > 0);
	status = report(s, json, v[O_QUIET].count > 0);
	for (size_t i = 0; i < SELFTEST_NR; i++)
		free(s->results[i].text);
	free(s->machine.text);
	return status;
}

static const struct opt_status statuses[] = {
	{ "0", "no check failed" },
	{ "1", "a check failed" },
	{ "2", "the command line is wrong" },
	{ "4", "there is no GPU: nothing was tested" },
	{ "125", "a part of the product is missing, or no output" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_selftest = {
	.name = "selftest",
	.summary = "proves on this machine that traces have what happened",
	.usage = "[options]",
	.operands = "",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.statuses = statuses,
	.about =
		"Runs a small GPU program, untraced and in each way of tracing, and compares the traces with what the program itself knows: its "
		"kernels count themselves in the GPU's memory, its copies are read back, its events have times. It takes about half a "
		"minute.\n"
		"\n"
		"The kernels are compiled when it runs, by comgr, which comes with HIP, or by hipRTC. No compiler and no GPU program "
		"needs to be installed. Any HIP from 5 to 7 will do; without HIP the checks of HSA remain.\n"
		"\n"
		"Each line is a check: PASS, FAIL, or SKIP with the reason, and the numbers that were compared. A check whose name ends in "
		"untraced does not trace at all: if it fails, the fault is the GPU's or the runtime's. What it finds is also written to a "
		"file, which may be attached to a report.\n"
		"\n"
		"Times are compared as rtl diff does it: untraced and traced runs take turns, and a difference counts if it can be "
		"distinguished from noise and is beyond its limit.",
	.examples = "rtl selftest\n"
		    "rtl selftest --quick --only count,order\n"
		    "rtl selftest --virtual-gpu --format json -o selftest.json\n",
	.usage_status = STATUS_USAGE,
	.run = run_selftest,
};
