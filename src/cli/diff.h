/* SPDX-License-Identifier: MIT */
/* diff.h - shared by the files of `rtl diff`: cmd_diff.c compares, gate.c decides for --fail-if */
#ifndef RTL_CLI_DIFF_H
#define RTL_CLI_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/compare.h"
#include "store/map.h"

enum diff_kind { DIFF_KERNEL, DIFF_CALL, DIFF_COPY, DIFF_RANGE, DIFF_NR_KINDS };
#define DIFF_KINDS "kernel|call|copy|range" /* in the order of enum diff_kind */

/* In the order of the rows. */
enum diff_verdict {
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_ONLY_A,
	DIFF_ONLY_B,
	DIFF_NOISE,
	DIFF_TOO_FEW,
	DIFF_NR_VERDICTS
};

struct diff_side {
	double *values; /* ns: durations, or medians of runs */
	size_t nr;
	uint64_t count; /* of all calls */
	double total;	/* ns */
};

struct diff_item {
	enum diff_kind kind;
	char *name;
	struct diff_side sides[2];
	struct compare_result result; /* if both sides have values */
	enum diff_verdict verdict;
};

struct diff {
	struct diff_item *items;
	size_t nr, max;
	struct map by_name; /* hash -> index; colliding hashes are probed upwards */
	bool pooled;	    /* values are durations, not medians of runs */
	size_t nr_compared, nr_verdicts[DIFF_NR_VERDICTS];
};

/* ---- --fail-if ---- */

struct gate;

/* Parses conditions; a wrong one ends the process. `kinds`: names of enum diff_kind. */
struct gate *gate_parse(const char *text, const char *const *kinds);
/* Prints each item for which a condition holds. Whether there is one. A condition that matches no item ends the process. */
bool gate_check(const struct gate *gate, const struct diff *diff);
void gate_free(struct gate *gate);

#endif
