/* SPDX-License-Identifier: MIT */
/* stats.h - durations gathered under names: count, sum, extremes and exact quantiles
 *
 * Every value is kept, so that quantiles are exact: up to a limit in memory (8 bytes each), beyond it
 * in a temporary file. Without memory, or without room for the file, the process ends.
 */
#ifndef RTL_CLI_STATS_H
#define RTL_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is measured of a row: its duration; of kernels also how long after the begin and after the end
 * of their call they began. */
enum stats_series { STATS_TIME, STATS_LAUNCH, STATS_DELAY, STATS_NR };

struct stats_values {
	uint64_t nr;
	int64_t total, min, max; /* 0 while nr is 0 */
	/* stats.c's own: what is in memory */
	int64_t *kept;
	size_t nr_kept, max_kept;
	bool sorted;
};

struct stats_group {
	char *name;
	uint64_t calls; /* all, with those that have no time */
	uint64_t bytes, errors;
	uint64_t extra_ns; /* of the caller's */
	uint64_t gpus;	   /* bit n: seen on GPU n; beyond 63 in bit 63 */
	uint64_t id;	   /* in the order of making, from 0 */
	struct stats_values values[STATS_NR];
};

struct stats;

/* max_kept: values in memory, all groups together; 0: 4 Mi, which is 32 MiB. */
struct stats *stats_create(size_t max_kept);
void stats_destroy(struct stats *stats);
/* The group of that name; made when it is new. Valid until stats_destroy(). */
struct stats_group *stats_group(struct stats *stats, const char *name);
/* As above with a number that stands for the name: the text is looked at once for each number. */
struct stats_group *stats_group_of(struct stats *stats, uint64_t key,
				   const char *(*name)(void *arg), void *arg);

/* A duration, which counts as a call. */
void stats_add(struct stats *stats, struct stats_group *group, uint64_t ns);
void stats_add_untimed(struct stats_group *group);
/* A value of another series; counts as no call. It may be negative. */
void stats_add_value(struct stats *stats, struct stats_group *group, enum stats_series series,
		     int64_t ns);

/* The smallest value that at least `share` (0..1) of them do not exceed; 0 when there are none. */
int64_t stats_quantile(struct stats *stats, struct stats_group *group, enum stats_series series,
		       double share);
/* Rounded to the nearest; 0 when there are none. */
int64_t stats_mean(const struct stats_group *group, enum stats_series series);

/* Groups by their total, the longest first; equal ones by calls, then by name. */
struct stats_group **stats_sorted(struct stats *stats, size_t *nr);
/* "0,2-5" */
const char *stats_gpus(char *buf, size_t size, uint64_t gpus);

#endif
