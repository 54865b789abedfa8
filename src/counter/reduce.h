/* SPDX-License-Identifier: MIT */
/* reduce.h - rocprofiler-sdk's expressions as those of expression.h
 *
 *	reduce(NAME,sum|avr|avg|min|max)   of a counter: over the instances of its block; of a
 *					   metric: the metric
 *
 * Threads:  any; nothing is kept.
 */
#ifndef RTL_COUNTER_REDUCE_H
#define RTL_COUNTER_REDUCE_H

#include "counter/gpus.h"

/* The expression without reduce(). To be freed by alloc_free(). NULL: a reduce() is of another
 * form, or no memory. Names are not looked up but for the instances of a counter. */
char *reduce_translate(const struct counter_gpu *gpu, const char *expression);

#endif
