/* SPDX-License-Identifier: MIT */
/* stats.h - durations grouped by name: count, sum, extremes and exact quantiles
 *
 * Every value is kept, so that quantiles are exact: up to a limit in memory (8 bytes each), beyond it
 * in a temporary file. Out of memory or disk space ends the process.
 */
#ifndef RTL_CLI_READ_STATS_H
#define RTL_CLI_READ_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Series of values: the duration; for kernels also the time from the begin (LAUNCH) and from the end (DELAY) of their
 * call to their own begin. */
enum stats_series { STATS_TIME, STATS_LAUNCH, STATS_DELAY, STATS_NR };

struct stats_values {
	uint64_t nr;
	int64_t total, min, max; /* 0 while nr is 0 */
	/* private to stats.c: the values in memory, those in the file */
	struct stats_run {
		uint64_t at, nr;
	} * runs;
	size_t nr_runs;
	int64_t *kept;
	size_t nr_kept, max_kept;
	bool sorted;
};

struct stats_group {
	char *name;
	uint64_t calls; /* all, also those without a time */
	uint64_t bytes, errors;
	uint64_t extra_ns; /* the caller's */
	uint64_t gpus;	   /* bit n: seen on GPU n; beyond 63 in bit 63 */
	uint64_t id;	   /* in the order of creation, from 0 */
	struct stats_values values[STATS_NR];
};

struct stats;

/* max_kept: limit of values in memory, all groups together; 0: 2 Mi, which is 16 MiB. */
struct stats *stats_create(size_t max_kept);
void stats_destroy(struct stats *stats);
/* The group of that name; created if it does not exist. Valid until stats_destroy(). */
struct stats_group *stats_group(struct stats *stats, const char *name);
/* The same by a number that stands for the name: text_of() is called once for each number. */
struct stats_group *stats_group_of(struct stats *stats, uint64_t key,
				   const char *(*name)(void *arg), void *arg);
/* The numbers so far mean nothing more: others follow, which may be the same. */
void stats_forget_keys(struct stats *stats);

/* Adds a duration and counts a call. */
void stats_add(struct stats *stats, struct stats_group *group, uint64_t ns);
void stats_add_untimed(struct stats_group *group);
/* Adds a value, which may be negative, to another series; does not count a call. */
void stats_add_value(struct stats *stats, struct stats_group *group, enum stats_series series,
		     int64_t ns);

/* The smallest value that at least `share` (0..1) of the values do not exceed; 0 without values. */
int64_t stats_quantile(struct stats *stats, struct stats_group *group, enum stats_series series,
		       double share);
/* The values of a series, sorted; *nr is their number. NULL: there are none, or they are not in memory (see stats_create()). Valid
 * until the next value is added. */
const int64_t *stats_values(struct stats *stats, struct stats_group *group,
			    enum stats_series series, size_t *nr);
/* Rounded to the nearest integer; 0 without values. */
int64_t stats_mean(const struct stats_group *group, enum stats_series series);

/* Groups by their total, the longest first; equal ones by calls, then by name. */
struct stats_group **stats_sorted(struct stats *stats, size_t *nr);
/* "0,2-5" */
const char *stats_gpus(char *buf, size_t size, uint64_t gpus);

#endif
