/* SPDX-License-Identifier: MIT */
/* metric.h - what a GPU can count, by name
 *
 *	SQ_WAVES      a counter        TCC_HIT[3]    one instance of a counter; TCC_HIT: all of them
 *	FETCH_SIZE    a metric         CU_NUM        a constant of the GPU
 *	SQ:4          event 4 of a block, TCC[2]:4 of one of its instances
 *
 * Threads:  any; nothing is kept.
 */
#ifndef RTL_COUNTER_METRIC_H
#define RTL_COUNTER_METRIC_H

#include "counter/gpus.h"

enum metric_kind { METRIC_BASIC, METRIC_DERIVED, METRIC_CONSTANT };

/* METRIC_BASIC has a block and an event, METRIC_DERIVED an expression. */
struct metric {
	enum metric_kind kind;
	const char *name, *description, *unit; /* "" where there is none */
	const struct counter_block *block;
	uint32_t event;
	int32_t instance; /* -1: all */
	const char *expression;
	enum expression_rules rules; /* of the expression */
};

/* What is counted: an event of an instance of a block. */
struct metric_event {
	const struct counter_block *block;
	uint32_t instance, event;
};

/* A list of events without repetitions. Zeroed at first; freed by metric_events_free(). */
struct metric_events {
	struct metric_event *all;
	uint32_t nr, size;
};

#define METRIC_ERROR_SIZE 320u

/* The metric of that name, by which it is stored in *m: strings are the GPU's and `name`. False:
 * there is none; `error` says why, and names the one that is meant, if one is near. */
bool metric_find(const struct counter_gpu *gpu, const char *name, struct metric *m, char *error);

/* Adds the events that the metric needs. False: a name in its expression is unknown, or no
 * memory. */
bool metric_add_events(const struct counter_gpu *gpu, const char *name, struct metric_events *to,
		       char *error);
/* Adds one event of the hardware to a list that has none: constants have values of a dispatch that
 * is counted, whatever is counted of it. False: no memory, or the GPU has no such event. */
bool metric_add_any_event(const struct counter_gpu *gpu, struct metric_events *to);
/* Adds the events of another list. False: no memory. */
bool metric_events_add(struct metric_events *to, const struct metric_events *from);
void metric_events_free(struct metric_events *e);

/* The metric's value. `count` gives that of an event, summed over its samples; `constant` that of a
 * constant of the GPU: CU_NUM, SIMD_NUM, SE_NUM, XCC_NUM, MAX_WAVE_SIZE. False: they don't have
 * one, or there is no such metric. */
struct metric_values {
	bool (*count)(const struct metric_event *event, void *arg, double *value);
	bool (*constant)(const char *name, void *arg, double *value);
	void *arg;
};
bool metric_value(const struct counter_gpu *gpu, const char *name, const struct metric_values *from,
		  double *value, char *error);

#endif
