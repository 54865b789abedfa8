/* SPDX-License-Identifier: MIT */
/* pmc.h - rtl trace --pmc: from names of counters and metrics to the events that librtl counts
 *
 * All of it ends the process with a message if something can't be had. Texts live as long as the
 * process.
 */
#ifndef RTL_CLI_PMC_PMC_H
#define RTL_CLI_PMC_PMC_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/pmc/pmc_metrics.h"

/* librtl's limit (source/hsa/counter/chosen.h) */
#define PMC_MAX_PASSES 32u

/* --metrics-file, an option of several commands. */
#define PMC_METRICS_OPTION                                                                                      \
	{                                                                                                       \
		0, "metrics-file", OPT_FILE,                                                                    \
			.arg = "FILE", .in_manual = true,                                                       \
			.help = "counters and metrics of one's own",                                            \
			.more = "XML as of rocprof's option -m: <gfx90a><metric name=A block=SQ event=4 "       \
				"/></gfx90a><global><metric name=B expr=100*A/GRBM_COUNT /></global>. Those "   \
				"of the GPU that have the same name are replaced. The attribute rules=v1 of a " \
				"metric chooses the rules of rocprofiler 5.2.3 for its expression."             \
	}

/* In the order of enum expression_rules. */
#define PMC_RULES_OPTION                                                                                      \
	{                                                                                                     \
		0, "metrics-rules", OPT_CHOICE,                                                               \
			.arg = "RULES", .choices = "ordinary|v1", .in_manual = true,                          \
			.unlisted = true, .help = "of its expressions: ordinary (default), v1",               \
			.more = "With v1 10-3-2 is 9, as in rocprofiler 5.2.3: what is behind + or - is the " \
				"right operand as a whole."                                                   \
	}

/* What is to be counted: one set of names for each run of rocprof. */
struct pmc_names {
	const char **sets; /* "SQ_WAVES,FETCH_SIZE" */
	uint32_t nr;
};

/* What librtl gets. */
struct pmc_variables {
	const char *pmc;     /* RTL_PMC */
	const char *metrics; /* RTL_PMC_METRICS, NULL: none are needed */
	uint32_t nr_passes;  /* of the kind of GPU that needs most */
};

/* For the names of all sets together, on this machine's GPUs or the virtual one. `is_replayed`:
 * dispatches of several passes are run once for each. */
struct pmc_variables pmc_variables(const struct pmc_names *names, struct pmc_metrics *metrics,
				   bool is_virtual, bool is_replayed);

/* The same names in sets that fit in one pass each. */
struct pmc_names pmc_passes(const struct pmc_names *names, struct pmc_metrics *metrics,
			    bool is_virtual);

#endif
