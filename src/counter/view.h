/* SPDX-License-Identifier: MIT */
/* view.h - sets of metrics that answer a question about a kernel, each with the most that a GPU can
 * do
 *
 * The rows are made from data/views.csv, the peaks of GPUs from data/peaks.csv. Expressions are
 *	over metrics and TIME_NS (of the kernel), CU_NUM, CLOCK_MHZ, WAVES_PER_CU (of the GPU),
 *	LANES, FP16, FP32, FP64 (operations of a compute unit in a cycle), DRAM_GBS.
 *
 * Threads:  any; nothing is kept.
 */
#ifndef RTL_COUNTER_VIEW_H
#define RTL_COUNTER_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "counter/gpus.h"

/* peak: the least of the expressions between ';'. */
struct counter_view_row {
	const char *view, *name, *expression, *unit, *peak, *meaning;
};

/* 0: not known. */
struct counter_peaks {
	const char *gpu;
	double lanes, fp16, fp32, fp64, dram_gbs;
	const char *dram_of; /* the product whose data sheet has dram_gbs */
};

extern const struct counter_view_row counter_view_rows[];
extern const uint32_t counter_nr_view_rows;
extern const struct counter_peaks counter_all_peaks[];
extern const uint32_t counter_nr_peaks;

#define VIEW_CHOICES "compute|memory|roofline"

/* Whether there is a view of that name. */
bool view_exists(const char *view);
/* Of a GPU by the name of its list (struct counter_gpu); NULL: there are none. */
const struct counter_peaks *view_peaks(const char *gpu);

/* The value of a row, and the most that it can be. False: `fn` had no value for a name, or it is 0
 * (view_peak()). */
bool view_value(const struct counter_view_row *row, expression_value_fn fn, void *arg,
		double *value);
bool view_peak(const struct counter_view_row *row, expression_value_fn fn, void *arg,
	       double *value);

/* Stores the metrics of that GPU that a view needs, each once; their number, at most `size`. The
 * names live as long as the process. */
uint32_t view_metrics(const struct counter_gpu *gpu, const char *view, const char **names,
		      uint32_t size);

#endif
