/* SPDX-License-Identifier: MIT */
/* others.c - commands and options of other profilers that users type at rtl
 *
 * Only what rtl does not have itself is looked up here.
 */
#include "cli/others.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli/opts.h"

struct row {
	const char *word, *ours;
};

static const struct row commands_of_others[] = {
	{ "profile", "'rtl trace PROGRAM' records a program" },
	{ "record", "'rtl trace PROGRAM' records a program" },
	{ "run", "'rtl trace PROGRAM' records a program" },
	{ "launch", "'rtl trace PROGRAM' records a program" },
	{ "stat",
	  "'rtl trace --summary PROGRAM' records a program and prints where its time went" },
	{ "stats", "'rtl summary FILE' prints the times of a trace" },
	{ "analyze", "'rtl summary FILE' prints the times of a trace, and what stands out" },
	{ "annotate", "'rtl summary FILE --by kernel' has the times of kernels" },
	{ "script", "'rtl convert FILE -f jsonl' writes each record as a line" },
	{ "export", "'rtl convert FILE -f FORMAT' writes a trace in another format" },
	{ "ui", "'rtl tui FILE' shows a trace in the terminal, 'rtl report FILE' in a browser" },
	{ "view", "'rtl tui FILE' shows a trace in the terminal, 'rtl report FILE' in a browser" },
	{ "open", "'rtl tui FILE' shows a trace in the terminal, 'rtl report FILE' in a browser" },
	{ "show", "'rtl info FILE' shows what a trace contains" },
	{ "list", "'rtl ps' lists traced processes, 'rtl list-counters' hardware counters" },
	{ "sessions", "'rtl ps' lists traced processes" },
	{ "attach", "'rtl start PID' records a running process that has librtl" },
	{ "cancel", "'rtl stop PID' ends the recording of a process" },
	{ "shutdown", "'rtl stop PID' ends the recording of a process" },
	{ "rocprofv2",
	  "'rtl rocprof' takes rocprof's options, 'rtl rocprofv3' those of rocprofv3" },
	{ "rocprof-compute",
	  "'rtl trace --pmc compute', then 'rtl summary FILE --metrics compute'" },
	{ "avail", "'rtl list-counters' lists hardware counters" },
	{ "nsys", "'rtl trace PROGRAM' records a program" },
	{ "nvprof",
	  "'rtl trace --summary PROGRAM' records a program and prints where its time went" },
	{ "ncu", "'rtl trace --pmc NAMES PROGRAM' counts what its kernels do" },
	{ "perf", "'rtl trace PROGRAM' records a program, 'rtl summary FILE' prints its times" },
	{ "version", "it is 'rtl --version'" },
	{ "-v", "it is 'rtl --version'; more messages: rtl trace -v PROGRAM" },
};

/* Options of commands that trace; short ones without a value. */
static const struct row options_of_others[] = {
	{ "-t",
	  "kernels, copies, markers and HIP calls are always traced; --hsa adds HSA calls, --mode chooses less" },
	{ "--trace",
	  "kernels, copies, markers and HIP calls are always traced; --hsa adds HSA calls, --mode chooses less" },
	{ "--stats", "it is --summary here, or 'rtl summary FILE' afterwards" },
	{ "-S", "it is --summary here, or 'rtl summary FILE' afterwards" },
	{ "--summary-*", "'rtl summary FILE' prints tables afterwards" },
	{ "-T", "'rtl summary FILE --names' shortens names afterwards" },
	{ "--truncate-kernels", "'rtl summary FILE --names' shortens names afterwards" },
	{ "--basenames", "'rtl summary FILE --names' shortens names afterwards" },
	{ "--hip-trace", "HIP calls are recorded without an option" },
	{ "--hip-*-trace", "HIP calls are recorded without an option" },
	{ "--hip-api", "HIP calls are recorded without an option" },
	{ "--hsa-*", "it is --hsa here" },
	{ "--sys-trace", "it is --hsa here; the rest is recorded without an option" },
	{ "-s",
	  "nothing is sampled: every kernel, copy and call is recorded. Of rocprofv3 (--sys-trace): --hsa" },
	{ "--sample", "nothing is sampled: every kernel, copy and call is recorded" },
	{ "--sampling-*", "nothing is sampled: every kernel, copy and call is recorded" },
	{ "-F", "nothing is sampled: every kernel, copy and call is recorded" },
	{ "--freq", "nothing is sampled: every kernel, copy and call is recorded" },
	{ "--cuda-*", "kernels, copies, markers and HIP calls are recorded without an option" },
	{ "-r", "kernels, copies, markers and HIP calls are recorded without an option" },
	{ "--runtime-trace",
	  "kernels, copies, markers and HIP calls are recorded without an option" },
	{ "--kernel-trace", "kernels are recorded without an option" },
	{ "--memory-copy-trace", "copies are recorded without an option" },
	{ "--memory-allocation-trace", "calls that allocate are recorded without an option" },
	{ "--scratch-memory-trace", "it is --scratch here" },
	{ "--marker-trace", "markers are recorded without an option" },
	{ "--roctx-trace", "markers are recorded without an option" },
	{ "--rccl-trace", "RCCL's calls are recorded where RCCL is loaded" },
	{ "--timestamp", "times are recorded without an option" },
	{ "--kernel-include-regex", "it is --kernels here" },
	{ "--kernel-exclude-regex", "it is --not-kernels here" },
	{ "--kernel-iteration-range", "it is --pmc-iterations here" },
	{ "--collection-period", "it is --period here" },
	{ "-P", "it is --period here" },
	{ "--selected-regions", "it is --trace-start off here" },
	{ "-c", "it is --range NAME or --trace-start off here" },
	{ "--capture-range*", "it is --range NAME or --trace-start off here" },
	{ "-i", "it is --pmc-file here" },
	{ "--input", "it is --pmc-file here" },
	{ "-e",
	  "hardware counters are chosen with --pmc; variables are set in front: NAME=VALUE rtl trace ..." },
	{ "--event", "hardware counters are chosen with --pmc" },
	{ "--env-var", "variables are set in front: NAME=VALUE rtl trace ..." },
	{ "--gpu-metrics-*", "hardware counters are chosen with --pmc" },
	{ "-d", "it is -o FILE here; nsys: --duration" },
	{ "--output-directory", "it is -o FILE here" },
	{ "--output-file", "it is -o FILE here" },
	{ "--output-format", "'rtl convert FILE -f FORMAT' writes other formats afterwards" },
	{ "--output-config", "'rtl info FILE' shows how a trace was made" },
	{ "--export", "'rtl convert FILE -f FORMAT' writes other formats afterwards" },
	{ "-f", "it is --force here; other formats are written by 'rtl convert FILE -f FORMAT'" },
	{ "--force-overwrite", "it is --force here" },
	{ "-y", "it is --delay here" },
	{ "-x", "rtl trace ends with its program; --duration limits what is recorded" },
	{ "-w", "output of the program is always shown" },
	{ "--show-output", "output of the program is always shown" },
	{ "-p", "'rtl start PID' records a running process that has librtl" },
	{ "--pid", "'rtl start PID' records a running process that has librtl" },
	{ "--attach*", "'rtl start PID' records a running process that has librtl" },
	{ "-a", "rtl traces a program and its children, not the whole system" },
	{ "--all-cpus", "rtl traces a program and its children, not the whole system" },
	{ "-g", "calls have no stacks; roctx ranges group them ('rtl summary FILE --by range')" },
	{ "--call-graph",
	  "calls have no stacks; roctx ranges group them ('rtl summary FILE --by range')" },
	{ "-L", "'rtl list-counters' lists hardware counters" },
	{ "--list-*", "'rtl list-counters' lists hardware counters" },
};

/* Formats of `rtl convert`. */
static const struct row formats_of_others[] = {
	{ "report", "'rtl report FILE' writes a page" },
	{ "html", "'rtl report FILE' writes a page" },
	{ "text", "'rtl summary FILE' prints tables" },
	{ "table", "'rtl summary FILE' prints tables" },
	{ "json", "'chrome', 'jsonl' and 'rocprofv3-json' are JSON" },
	{ "arrow*", "'parquet' has columns" },
	{ "sqlite", "'rpd' and 'rocpd3' are SQLite's" },
	{ "rocpd", "'rpd' and 'rocpd3' are SQLite's" },
};

#define NR(rows) (sizeof(rows) / sizeof((rows)[0]))

static const char *find(const struct row *rows, size_t nr, const char *word)
{
	for (size_t i = 0; i < nr; i++)
		if (fnmatch(rows[i].word, word, 0) == 0)
			return rows[i].ours;
	return NULL;
}

static const char *find_option(const char *word)
{
	char name[64];
	bool is_long = strncmp(word, "--", 2) == 0;
	size_t n = is_long ? strcspn(word, "=") : 2;
	const char *found;

	if (n >= sizeof(name) || strlen(word) < 2)
		return NULL;
	memcpy(name, word, n);
	name[n] = 0;
	found = find(options_of_others, NR(options_of_others), name);
	if (is_long || !word[2])
		return found;
	/* -stats is no -s with a value, but -thip may be -t hip */
	n = (size_t)snprintf(name, sizeof(name), "-%s", word);
	if (n < sizeof(name) && find(options_of_others, NR(options_of_others), name))
		return find(options_of_others, NR(options_of_others), name);
	return strlen(word) <= 5 || word[1] == 't' ? found : NULL;
}

const char *others_command(const char *word)
{
	if (word[0] == '-' && find_option(word))
		return "'rtl trace PROGRAM' records a program, and options go behind the command";
	return find(commands_of_others, NR(commands_of_others), word);
}

const char *others_format(const char *word)
{
	return find(formats_of_others, NR(formats_of_others), word);
}

const char *others_option(const struct command *cmd, const char *word)
{
	return strcmp(cmd->name, "trace") == 0 ? find_option(word) : NULL;
}

/* A value of an option that other programs have too: --mode hip. */
static bool is_our_value(const char *name, const char *text)
{
	return text && strcmp(name, "mode") == 0 &&
	       (strcmp(text, "lite") == 0 || strcmp(text, "standard") == 0 ||
		strcmp(text, "hip") == 0);
}

/* An option of few programs: several words, or a word of this trade. */
static bool is_peculiar(const char *name)
{
	static const char *const names[] = { "kernels", "pmc", "hsa", "barriers", "ranks" };

	for (size_t i = 0; i < NR(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strchr(name, '-') != NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

const char *others_behind(const struct command *cmd, char **argv)
{
	for (char **word = argv + 1; *argv && *word; word++) {
		if (strcmp(*word, "--") == 0)
			return NULL;
		if (strcmp(*word, "-o") == 0 && word[1] && ends_with(word[1], ".db"))
			return *word;
		if (strncmp(*word, "--", 2) != 0)
			continue;
		for (size_t i = 0; i < cmd->nr_opts; i++) {
			const char *name = cmd->opts[i].name;
			size_t n = strlen(name);

			if (strncmp(*word + 2, name, n) == 0 &&
			    ((*word)[n + 2] == 0 || (*word)[n + 2] == '=') &&
			    (is_peculiar(name) || ends_with(*word, ".db") ||
			     is_our_value(name, (*word)[n + 2] ? *word + n + 3 : word[1]) ||
			     (word[1] && ends_with(word[1], ".db"))))
				return *word;
		}
	}
	return NULL;
}
