/* SPDX-License-Identifier: MIT */
/* pmc_trace.h - the options of rtl trace that are about counters */
#ifndef RTL_CLI_PMC_PMC_TRACE_H
#define RTL_CLI_PMC_PMC_TRACE_H

#include "cli/pmc/pmc.h"
#include "cli/pmc/pmc_file.h"
#include "cli/pmc/pmc_limit.h"

/* Rows of the table of options; X(index) names those of the command. */
#define PMC_TRACE_OPTIONS(X)                                                                                           \
	[X(PMC)] = { 0,                                                                                                \
		     "pmc",                                                                                            \
		     OPT_TEXT,                                                                                         \
		     .arg = "NAMES",                                                                                   \
		     .help = "count hardware events for each dispatch: SQ_WAVES,TCC_HIT_sum",                          \
		     .more = "Counters and metrics, separated by commas; rtl list-counters shows those of a "          \
			     "GPU, and what fits in one pass. compute, memory and roofline stand for what rtl "        \
			     "summary --metrics needs. Counted dispatches of a GPU run one at a time. "                \
			     "Values are in the views rtl_counter and rtl_counter_sample of the database.",            \
		     .in_manual = true },                                                                              \
	[X(PMC_FILE)] = { 0,                                                                                           \
			  "pmc-file",                                                                                  \
			  OPT_FILE,                                                                                    \
			  .arg = "FILE",                                                                               \
			  .help = "the same from an input file (text, XML, JSON, YAML)",                               \
			  .more = "rocprof's text: lines 'pmc : NAMES', 'range : FROM:TO', 'gpu : NUMBERS' and "       \
				  "'kernel : PARTS OF NAMES', a '#' begins a comment; its XML: the element "           \
				  "metric with name, range, gpu_index, kernel; rocprofv3's JSON and YAML: jobs "       \
				  "with pmc, kernel_include_regex, kernel_exclude_regex and "                          \
				  "kernel_iteration_range. gpu and kernel are as --gpus and --kernels, which "         \
				  "can't be given besides. With --passes=rerun each line pmc and each job is a "       \
				  "run, as with rocprof.",                                                             \
			  .in_manual = true },                                                                         \
	[X(METRICS)] = PMC_METRICS_OPTION, [X(RULES)] = PMC_RULES_OPTION,                                              \
	[X(PASSES)] = { 0,                                                                                             \
			"passes",                                                                                      \
			OPT_CHOICE,                                                                                    \
			.arg = "HOW",                                                                                  \
			.choices = "multiplexed|rerun|replay",                                                         \
			.help = "counters of several passes: multiplexed, rerun, replay",                              \
			.more = "multiplexed, the default: the program runs once, and each dispatch of a kernel "      \
				"is counted in one pass; the passes take turns. rerun: the program runs once "         \
				"for each pass, and each dispatch gets the counters of all runs. Dispatches "          \
				"are the same if process, queue, kernel, how often it was launched and grid "          \
				"are; those without a partner are counted, and the trace is incomplete. The "          \
				"program has to do the same each time. Its output appears, and its input is "          \
				"read, in each run. replay: the program runs once, and each dispatch as often "        \
				"as there are passes; the memory of its GPU is saved before and restored in "          \
				"between. A dispatch that can't be run again is counted in one pass; the trace "       \
				"has the reason and the number of them.",                                              \
			.in_manual = true },                                                                           \
	[X(DISPATCHES)] = { 0,                                                                                         \
			    "pmc-dispatches",                                                                          \
			    OPT_TEXT,                                                                                  \
			    .arg = "FROM:TO",                                                                          \
			    .why_not = pmc_limit_check_dispatches,                                                     \
			    .help = "count these dispatches only: 10:20",                                              \
			    .more = "Of each process, from 0 on, in the order in which they were launched; TO is not " \
				    "one of them. FROM: is all from there on, a number alone one dispatch. As "        \
				    "rocprof's range. The others are recorded without counters, and run as they "      \
				    "come, unless one is being counted.",                                              \
			    .in_manual = true,                                                                         \
			    .unlisted = true },                                                                        \
	[X(ITERATIONS)] = { 0,                                                                                         \
			    "pmc-iterations",                                                                          \
			    OPT_TEXT,                                                                                  \
			    .arg = "LIST",                                                                             \
			    .why_not = pmc_limit_check_iterations,                                                     \
			    .help = "and of these launches of each kernel: 1-3,5",                                     \
			    .more = "From 1 on; [1-3],[5] is the same. As rocprofv3's kernel_iteration_range.",        \
			    .in_manual = true,                                                                         \
			    .unlisted = true },                                                                        \
	[X(PMC_RUN)] = { 0,                                                                                            \
			 "pmc-run",                                                                                    \
			 OPT_UINT,                                                                                     \
			 .arg = "N",                                                                                   \
			 .choices = "1..32",                                                                           \
			 .help = "the pass of --passes=rerun",                                                         \
			 .in_manual = true,                                                                            \
			 .unlisted = true }

/* As given on the command line; NULL or 0: not. */
struct pmc_given {
	const char *names, *file, *metrics, *dispatches, *iterations;
	const char *kernels, *not_kernels, *gpus;
	bool rerun, replay, is_virtual;
	enum expression_rules rules;
	uint32_t run; /* --pmc-run */
};

/* What is to be done; kernels, not_kernels and gpus are those of the command line, or of the
 * file. */
struct pmc_chosen {
	struct pmc_variables variables; /* pmc is NULL: nothing is counted here */
	const char *kernels, *not_kernels, *gpus;
	const char *dispatches, *iterations;
	uint32_t nr_runs; /* 0: one */
	bool is_replayed;
};

/* Ends the process with a message if it can't be done. */
void pmc_choose(const struct pmc_given *given, struct pmc_chosen *chosen);

#endif
