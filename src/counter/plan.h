/* SPDX-License-Identifier: MIT */
/* plan.h - passes: which counters can be counted at the same time
 *
 * An instance of a block has a few counters. A metric is counted in one pass, so that its parts are
 * of the same kernels. Within a pass events stand in the order in which the metrics were named:
 * SQ_ACCUM_PREV counts what the counter before it counts. That of a metric is put behind its own
 * one; where that can't be, the metric has another pass.
 *
 * Threads:  any.
 */
#ifndef RTL_COUNTER_PLAN_H
#define RTL_COUNTER_PLAN_H

#include "counter/metric.h"

struct plan_pass {
	uint32_t *metrics; /* their indexes in `names` */
	uint32_t nr_metrics;
	struct metric_events events;
};

struct plan {
	struct plan_pass *passes;
	uint32_t nr;
	/* there is no plan with fewer passes: known for small sets, and where a block's counters
	 * demand it */
	bool is_least;
};

/* False: a name is unknown, a metric does not fit in a pass of its own, or no memory: `error`, of
 * METRIC_ERROR_SIZE bytes, says so. */
bool plan_make(const struct counter_gpu *gpu, const char *const *names, uint32_t nr,
	       struct plan *plan, char *error);
void plan_free(struct plan *plan);

#endif
