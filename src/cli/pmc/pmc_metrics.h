/* SPDX-License-Identifier: MIT */
/* pmc_metrics.h - what GPUs can count: their own counters and metrics, with the file of
 * --metrics-file, or those of a folder of ROCPROFILER_METRICS_PATH instead of their own */
#ifndef RTL_CLI_PMC_PMC_METRICS_H
#define RTL_CLI_PMC_PMC_METRICS_H

#include "counter/metrics_file.h"

struct pmc_metrics;

/* `path`: of --metrics-file; NULL: none. What can't be read ends the process with `status`; of the
 * variable it is said, and goes without effect. */
struct pmc_metrics *pmc_metrics_open(const char *path, enum expression_rules rules, int status);
/* What an agent, "gfx90a", can count; *file, unless it is NULL: what defines some of it,
 * NULL if nothing does. NULL: it is not known. */
const struct counter_gpu *pmc_metrics_gpu(struct pmc_metrics *m, const char *agent, int status,
					  struct metrics_file **file);

#endif
