/* SPDX-License-Identifier: MIT */
/* diff.h - shared by the files of `rtl diff`: cmd_diff.c compares, gate.c decides for --fail-if, diff_html.c writes the page */
#ifndef RTL_CLI_READ_DIFF_H
#define RTL_CLI_READ_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/read/compare.h"
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
	char **files[2];    /* of the sides; borrowed */
	int nr_files[2];
	size_t nr_compared, nr_verdicts[DIFF_NR_VERDICTS];
};

/* ---- --fail-if ---- */

struct gate;

/* Parses conditions; a wrong one ends the process. `kinds`: names of enum diff_kind. */
struct gate *gate_parse(const char *text, const char *const *kinds);
/* Prints each item for which a condition holds. Whether there is one. A condition that matches no item ends the process. */
bool gate_check(const struct gate *gate, const struct diff *diff);
void gate_free(struct gate *gate);
size_t gate_nr(const struct gate *gate);
const char *gate_text(const struct gate *gate, size_t condition);
/* Whether the condition holds for the item, so that the gate fails. */
bool gate_holds(const struct gate *gate, size_t condition, const struct diff_item *item);

/* ---- --format html ---- */

/* Whether an item has an interval. */
static inline bool diff_has_interval(const struct diff_item *item)
{
	return item->sides[0].nr >= COMPARE_INTERVAL_MIN &&
	       item->sides[1].nr >= COMPARE_INTERVAL_MIN;
}

extern const char *const diff_kinds[DIFF_NR_KINDS], *const diff_verdicts[DIFF_NR_VERDICTS];
/* Writes the page to stdout, with at most `rows` items, 0: all. `gate` may be NULL. */
void diff_html_print(const struct diff *d, const struct gate *gate, uint64_t rows);

#endif
