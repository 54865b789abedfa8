/* SPDX-License-Identifier: MIT */
/* stats.h - durations gathered under names: count, sum, extremes and exact quantiles
 *
 * Keeps every duration (8 bytes each), so that quantiles are exact. Without memory the process ends.
 */
#ifndef RTL_CLI_STATS_H
#define RTL_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats_group {
	char *name;
	uint64_t calls;			   /* all, with those that have no time */
	uint64_t total_ns, min_ns, max_ns; /* of those that have */
	uint64_t bytes;
	uint64_t extra_ns; /* of the caller's */
	uint64_t gpus;	   /* bit n: seen on GPU n; beyond 63 in bit 63 */
	uint64_t *times;
	size_t nr_times, max_times;
	bool sorted;
};

struct stats;

struct stats *stats_create(void);
void stats_destroy(struct stats *stats);
/* The group of that name; made when it is new. Valid until stats_destroy(). */
struct stats_group *stats_group(struct stats *stats, const char *name);
/* As above with a number that stands for the name: the text is looked at once for each number. */
struct stats_group *stats_group_of(struct stats *stats, uint64_t key,
				   const char *(*name)(void *arg), void *arg);

void stats_add(struct stats_group *group, uint64_t ns);
void stats_add_untimed(struct stats_group *group);

/* The smallest duration that at least `share` (0..1) of them do not exceed; 0 when there are none. */
uint64_t stats_quantile(struct stats_group *group, double share);

/* Groups by their total, the longest first; equal ones by calls, then by name. */
struct stats_group **stats_sorted(struct stats *stats, size_t *nr);
/* "0,2-5" */
const char *stats_gpus(char *buf, size_t size, uint64_t gpus);

#endif
