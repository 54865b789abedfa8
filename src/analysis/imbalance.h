/* SPDX-License-Identifier: MIT */
/* imbalance.h - which rank is slower than the others in a kernel or range, and when
 *
 * A party is a GPU of a process, for kernels, or the host of a process, for ranges. The calls of a
 * name on a party are divided into blocks by their number: block b of each party has the same part
 * of its calls, so that parties are compared in the same work, and clocks of hosts don't matter. In
 * each block a party is slow if all of these hold:
 *
 *  - its median is at least IMBALANCE_LEAST of that of the other parties' medians;
 *  - the confidence intervals of these medians don't overlap. They are of order statistics, so that
 *    nothing is assumed but independence, at a chance of IMBALANCE_CHANCE for all
 *    blocks of all parties and names together;
 *  - it is IMBALANCE_SPREADS times as far from the others as these commonly are from each other, by
 *    a quantile of all their blocks: what varies with its data is no finding.
 *
 * Blocks in a row are a finding, also with one block between them that is not slow. Names are
 * judged that at least 3 parties have, with at least IMBALANCE_CALLS calls each: of two it can't be
 * said which one differs. Kernels that are collectives are left out, since those that wait take
 * longer. Reads the kernels and ranges once; calls are in a file beyond what fits into memory,
 * which grows with names times parties. One thread.
 */
#ifndef RTL_ANALYSIS_IMBALANCE_H
#define RTL_ANALYSIS_IMBALANCE_H

#include <regex.h>

#include "analysis/collective.h"
#include "query/kinds.h"

#define IMBALANCE_CALLS 64   /* of a block, at least */
#define IMBALANCE_BLOCKS 32u /* at most */
#define IMBALANCE_LEAST 1.10
#define IMBALANCE_SPREADS 6
#define IMBALANCE_CHANCE 1e-3

/* A party that is slow in some blocks. */
struct imbalance_slow {
	size_t party;
	uint32_t first, last, nr_blocks; /* blocks, from 0, and those that there are */
	int64_t begin, end;		 /* ns: the begin of its first call in them, the last end */
	uint64_t calls;			 /* in them */
	int64_t median_ns, others_ns;	 /* in the middle one of them, by the median */
	uint64_t lost_ns;		 /* calls times the distance of the medians, in all */
	double ratio;			 /* geometric mean of those of the medians */
};

/* A kernel or a range. */
struct imbalance_name {
	char *name;
	bool is_range, is_judged;
	size_t nr_parties; /* that have it */
	uint64_t calls, total_ns;
	size_t slowest; /* party with the largest total */
	uint64_t slowest_ns;
	struct imbalance_slow *slow;
	size_t nr_slow;
};

struct imbalance {
	struct collective_party *parties;
	size_t nr_parties;
	struct imbalance_name *names; /* those that at least 2 parties have */
	size_t nr_names;
};

/* Reads a trace. 0 or -errno with q->res->error; imbalance_fini() in both cases. */
int imbalance_read(struct query *q, struct kinds *kinds, struct imbalance *out);
/* The same in a pass of the caller's: sets `ops`, which takes the operations; imbalance_end() then
 * makes the result. `more`: names of kernels that are collectives, too; may be NULL. 0 or -errno
 * with q->res->error; imbalance_free() and imbalance_fini() in all cases. */
struct imbalance_reader;
struct pass_reader;
int imbalance_begin(struct query *q, struct imbalance *out, struct imbalance_reader **r,
		    struct pass_reader *ops);
int imbalance_end(struct imbalance_reader *r, const regex_t *more);
void imbalance_free(struct imbalance_reader *r);
void imbalance_fini(struct imbalance *i);

/* ---- within the module ---- */

/* What is known of a party in a block. */
struct imbalance_cell {
	uint64_t nr; /* calls; 0: the party is not judged */
	int64_t median, low, high;
	int64_t begin, end; /* ns */
};

/* The number of values below the confidence interval of the median of `nr` values, and above it, at
 * a chance on each side; nr / 2 or more: there is none. */
uint64_t imbalance_outside(uint64_t nr, double chance);
/* Finds the slow parties of a name: cells of block 0, one for each party, then those of block 1,
 * .... 0 or -ENOMEM. */
int imbalance_judge(const struct imbalance_cell *cells, uint32_t nr_blocks, size_t nr_parties,
		    struct imbalance_name *name);

#endif
