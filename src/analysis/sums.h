/* SPDX-License-Identifier: MIT */
/* sums.h - durations by name: count, sum, extremes and exact quantiles
 *
 * Every value is kept, so that quantiles are exact: up to a limit in memory (8 bytes each), beyond
 * it in a temporary file. What can't be kept, for want of memory or disk space, is remembered:
 * sums_check() at the end says so, and the sums are wrong then. One thread at a time.
 */
#ifndef RTL_ANALYSIS_SUMS_H
#define RTL_ANALYSIS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/query.h"

/* Series of values: the duration; for kernels also the time from the begin (LAUNCH) and from the
 * end (DELAY) of their call to their own begin. */
enum sums_series { SUMS_TIME, SUMS_LAUNCH, SUMS_DELAY, SUMS_NR };

struct sums_values {
	uint64_t nr;
	int64_t total, min, max; /* 0 while nr is 0 */
	/* private to sums.c: the values in memory, those in the file */
	struct sums_run {
		uint64_t at, nr;
	} * runs;
	size_t nr_runs;
	int64_t *kept;
	size_t nr_kept, max_kept;
	bool sorted;
};

struct sums_group {
	char *name;
	uint32_t part;	/* of the trace: what a second key of a table divides it into */
	uint64_t calls; /* all, also those without a time */
	uint64_t bytes; /* 0: not known */
	uint64_t errors;
	uint64_t extra_ns; /* the caller's */
	uint64_t gpus;	   /* bit n: seen on GPU n; beyond 63 in bit 63 */
	uint64_t key;	   /* private: of sums_group_of(), while there is no name */
	struct sums_values values[SUMS_NR];
};

struct sums;

/* max_kept: limit of values in memory, all groups together; 0: 2 Mi, which is 16 MiB. NULL: out of
 * memory. */
struct sums *sums_create(size_t max_kept);
/* NULL is ignored. */
void sums_destroy(struct sums *sums);
/* 0, or -errno with q->res->error: what was added since sums_create() is not complete. */
int sums_check(const struct sums *sums, struct query *q);
/* The group of that name and part; created if it does not exist. Valid until sums_destroy(). */
struct sums_group *sums_group(struct sums *sums, const char *name, uint32_t part);
/* The same by a number that stands for the name, which sums_name() sets later. HOT where the last
 * number comes again. */
struct sums_group *sums_group_of(struct sums *sums, uint64_t key, uint32_t part);
/* Names the groups that were made by numbers, and joins those of the same name and part. The
 * numbers mean nothing more: others may follow. name() returns a text that is valid until it is
 * called again. */
void sums_name(struct sums *sums, const char *(*name)(void *arg, uint64_t key), void *arg);
/* Forgets all groups and values. */
void sums_clear(struct sums *sums);

/* Adds a duration and counts a call. HOT. */
void sums_add(struct sums *sums, struct sums_group *group, uint64_t ns);
void sums_add_untimed(struct sums_group *group);
/* Adds a value, which may be negative, to another series; does not count a call. */
void sums_add_value(struct sums *sums, struct sums_group *group, enum sums_series series,
		    int64_t ns);

/* The smallest value that at least `share` (0..1) of the values do not exceed; 0 without values. */
int64_t sums_quantile(struct sums *sums, struct sums_group *group, enum sums_series series,
		      double share);
/* The values of a series, sorted; *nr is their number. NULL: there are none, or they are not in
 * memory (see sums_create()). Valid until the next value is added. */
const int64_t *sums_values(struct sums *sums, struct sums_group *group, enum sums_series series,
			   size_t *nr);
/* Rounded to the nearest integer; 0 without values. */
int64_t sums_mean(const struct sums_group *group, enum sums_series series);

/* Groups by their total, the longest first; equal ones by calls, then by name. No group can be
 * added any more. */
struct sums_group **sums_sorted(struct sums *sums, size_t *nr);
/* "0,2-5" of bits. */
const char *sums_gpus(char *buf, size_t size, uint64_t gpus);

#endif
