/* SPDX-License-Identifier: MIT */
/* reduce.h - rocprofiler-sdk's expressions as those of expression.h
 *
 *	reduce(NAME,sum|avr|avg|min|max)   of a counter: over the instances of its block; of a
 *					   metric: the metric
 *	select(NAME,[DIMENSION_INSTANCE=[3]])  one instance of a counter; of a GPU of one die
 *					   DIMENSION_XCC=[0] may be there, too
 *	accumulate(NAME,HIGH_RES|LOW_RES)  of a counter of the block SQ: its sum over the cycles
 *
 * Threads:  any; nothing is kept.
 */
#ifndef RTL_COUNTER_REDUCE_H
#define RTL_COUNTER_REDUCE_H

#include "counter/gpus.h"

/* The expression without these functions. To be freed by alloc_free(). NULL: one is of another
 * form, or no memory. Other names are not looked up. */
char *reduce_translate(const struct counter_gpu *gpu, const char *expression);

#endif
