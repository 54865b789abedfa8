/* SPDX-License-Identifier: MIT */
/* diff.h - two sides of runs compared: how long, how often, and the runs as a whole
 *
 * A row is one measure of one name: the median of its durations, their total in a run, their number
 * in a run; or a measure of whole runs. Its values are those of the runs of each side. Where a side
 * has one run, medians are replaced by all durations (`pooled`). Numbers of operations that are the
 * same in all runs of each side are no samples of anything random: they are equal or differ, with
 * any number of runs. All else is decided by compare.h. One thread; errors are -errno, nothing is
 * printed.
 */
#ifndef RTL_ANALYSIS_DIFF_H
#define RTL_ANALYSIS_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/compare.h"
#include "store/map.h"

enum diff_kind {
	DIFF_KERNEL,
	DIFF_CALL,
	DIFF_COPY,
	DIFF_RANGE,
	DIFF_COLLECTIVE, /* of several GPUs; the name has the communicator or queue */
	DIFF_RUN,
	DIFF_NR_KINDS
};
#define DIFF_KINDS "kernel|call|copy|range|collective|run" /* in the order of enum diff_kind */
extern const char *const diff_kinds[DIFF_NR_KINDS];

/* MEDIAN is of names; WALL and BUSY are of runs: the wall time, and the time in which a GPU worked;
 * TOTAL and COUNT are of both, those of a run of its operations on GPUs. SKEW, TRANSFER and what
 * follows are of collectives: the medians of what is before and after the last arrival; what all
 * ranks waited in a run; by how much a rank, which is in the name, was late in a run. All but COUNT
 * are in ns. */
enum diff_measure {
	DIFF_MEDIAN,
	DIFF_TOTAL,
	DIFF_COUNT,
	DIFF_WALL,
	DIFF_BUSY,
	DIFF_SKEW,
	DIFF_TRANSFER,
	DIFF_WAIT,
	DIFF_LATE,
	DIFF_NR_MEASURES
};
extern const char *const diff_measures[DIFF_NR_MEASURES];

/* In the order of the rows. */
enum diff_verdict {
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_MORE, /* COUNT */
	DIFF_LESS,
	DIFF_ONLY_A,
	DIFF_ONLY_B,
	DIFF_NOISE,
	DIFF_EQUAL, /* COUNT */
	DIFF_TOO_FEW,
	DIFF_NR_VERDICTS
};
extern const char *const diff_verdicts[DIFF_NR_VERDICTS];

struct diff_side {
	int64_t *values; /* sorted, after diff_compare() */
	size_t nr, max;
	int64_t median;	       /* of the values, if there are any */
	uint64_t count, total; /* of the name, all runs together; total in ns */
};

struct diff_row {
	enum diff_kind kind;
	enum diff_measure measure;
	char *name; /* of DIFF_RUN: "all" */
	struct diff_side sides[2];
	bool is_exact;		      /* decided without statistics */
	struct compare_result result; /* if diff_is_compared() */
	enum diff_verdict verdict;
};

struct diff {
	struct diff_row *rows;
	size_t nr, max;
	struct map by_name; /* hash -> index; colliding hashes are probed upwards */
	bool pooled;
	size_t nr_runs[2];
	size_t nr_verdicts[DIFF_NR_VERDICTS];
	size_t runs_needed; /* on each side, to find a difference among all rows */
};

/* Begins with a zeroed structure of which pooled and nr_runs are set. Adds values of a run to a
 * side (0: A, 1: B). 0 or -ENOMEM. */
int diff_add(struct diff *d, int side, enum diff_kind kind, enum diff_measure measure,
	     const char *name, const int64_t *values, size_t nr);
struct query;
/* Adds the collectives of several GPUs of a run. 0 or -errno with q->res->error. */
int diff_add_collectives(struct diff *d, int side, struct query *q);
/* After all runs were added: compares, decides, and sorts the rows: what differs first, then what
 * takes longest. `seed`: of the intervals. 0 or -ENOMEM. */
int diff_compare(struct diff *d, uint64_t seed);
void diff_fini(struct diff *d);

/* Whether a measure is a median of single ones, which a run without any does not have: no sum,
 * which is 0 then. */
bool diff_is_median(enum diff_measure measure);
/* Whether both sides have values, so that there is a change. */
bool diff_is_compared(const struct diff_row *row);
/* Whether the row has an interval of the change. */
bool diff_has_interval(const struct diff_row *row);
/* Whether a verdict is a difference of values. */
bool diff_is_change(enum diff_verdict verdict);
/* Whether the row tells a reader something: totals and numbers that don't differ are left out of
 * what is read by people. */
bool diff_is_news(const struct diff_row *row);

/* The verdicts of some rows (indices in `rows`), as one family of tests of which any gives a false
 * alarm in 5 % at most. A family of few rows needs fewer runs than all. *needed: runs on each side
 * that suffice to find a difference in any of them. 0 or -ENOMEM. */
int diff_judge(const struct diff *d, const size_t *rows, size_t nr, enum diff_verdict *verdicts,
	       size_t *needed);

#endif
