/* SPDX-License-Identifier: MIT */
/* digest.h - what a trace amounts to: busy and idle time of GPUs, what the host did meanwhile, sums
 * by name
 *
 * Reads operations and calls once each, in the order of their begin. Memory grows with names and
 * GPUs, not with events: of gaps without work, the longest are kept.
 *
 *	digest.c	operations: sums, busy time, gaps
 *	digest_host.c	calls: sums, errors, what the host did in gaps; copies, streams, launches
 */
#ifndef RTL_ANALYSIS_DIGEST_H
#define RTL_ANALYSIS_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/wall.h"
#include "query/kinds.h"
#include "query/slice.h"
#include "store/map.h"

/* Of a kernel on a GPU, of a function, of a kind of copy, of a range. */
struct digest_sum {
	char *name;
	int64_t id, gpu; /* of the name */
	uint64_t calls, ns, errors;
	uint64_t bytes; /* of copies; 0: not known */
	uint64_t untimed;
	uint64_t
		/* of a function: the time in which it ran and no GPU worked; what threads did at
		 * once counts once */
		idle_ns;
	uint64_t max_ns;   /* of a function */
	uint64_t nr_waits; /* of a function: GPUs worked meanwhile, and none when it returned */
	uint64_t wait_ns;  /* of these calls, the same */
	int64_t idle_until, wait_until; /* private: what is counted so far */
	int64_t last_error;
};

struct digest_sums {
	struct digest_sum *sums;
	size_t nr, max;
	struct map index;
};

#define DIGEST_HOST 4 /* functions that are kept for a gap */

struct digest_host {
	int64_t name; /* of a function */
	uint64_t ns;
};

/* The operations that have a range as their innermost one. */
struct digest_marker {
	int64_t id;
	uint64_t ops, ns;
	int64_t first, last; /* begin of the first, end of the last one */
};

/* A time in which a GPU had nothing to do. */
struct digest_gap {
	int64_t begin, end;
	int64_t before, after;	  /* ids of names of the operations around it, -1: none */
	struct digest_host *host; /* DIGEST_HOST, the longest first; NULL: not explained */
};

/* A GPU; the first one is all GPUs: busy is a time in which one of them is. */
struct digest_gpu {
	int64_t gpu; /* -1: all */
	uint64_t kernels, copies, kernel_ns, copy_ns;
	uint64_t busy_ns, compute_ns, transfer_ns; /* unions */
	uint64_t idle_ns, nr_gaps;
	int64_t first, until, compute_until, transfer_until, before;
	uint64_t *bins;		 /* nr_bins: busy ns in each part of the time; NULL: none */
	struct digest_gap *gaps; /* while reading a heap, the shortest first; then by begin */
	size_t nr_kept, max_kept;
	uint64_t *idle_before; /* of all GPUs: idle time in front of each kept gap */
};

struct digest_error {
	char *function;
	int64_t status;
	const char *status_type; /* label_status_type() */
	uint64_t count;
	int64_t first_ns;
};

enum { DIGEST_RECENT = 512 };

struct digest {
	/* of the caller, before digest_read(): busy time of each GPU in so many parts of `bin_ns`
	 * from `bins_begin` on; 0: none */
	size_t nr_bins;
	int64_t bins_begin, bin_ns;

	struct query *q;
	const struct slice *filter;
	struct wall wall;
	bool has_begun; /* private: a timed operation was seen */
	const struct slice_span *spans;
	struct slice_span whole;
	size_t nr_spans;

	struct digest_gpu *gpus;
	size_t nr_gpus;
	struct digest_sums kernels; /* by kernel and GPU */
	struct digest_sums copies;  /* by kind */
	uint64_t copies_ns;	    /* of all of them */
	struct digest_sums calls;   /* by function */
	struct digest_error *errors;
	size_t nr_errors;
	struct digest_marker *markers; /* in the order of their first operation */
	size_t nr_markers;
	uint64_t nr_calls, nr_failed, nr_untimed;
	bool has_all_calls;	/* of HIP; else there are none, or --calls left some out */
	uint64_t outside_ns;	/* idle time of all GPUs without a recorded call of HIP */
	uint64_t small_kernels; /* shorter than DIGEST_SMALL_NS */

	/* of a sample of the kernels */
	uint64_t nr_sampled;
	int64_t launch_ns, queue_ns; /* medians: call to kernel; end of the call to kernel */
	uint64_t queue_full;	     /* kernels whose GPU worked when they were launched */
	uint64_t nr_streams;	     /* with launches */
	uint64_t nr_behind;	     /* kernels that waited for a kernel of another stream */
	uint64_t nr_order;	     /* kernels whose predecessor is of another stream */
	uint64_t unpinned_bytes, unpinned_calls, unpinned_ns, pinned_bytes;

	/* private to the readers */
	struct map odd; /* operations whose times are not measured; then: status of calls */
	struct kinds kinds;
	/* what is known of the last operations: names are few, their look-ups are not */
	struct digest_recent {
		int64_t name, type, gpu; /* type 0: none, which no operation has */
		enum kinds_op kind;
		size_t sum; /* of a kernel: in kernels.sums */
	} recent[DIGEST_RECENT];
	int64_t covered_until;
	struct map marker_index;
	struct map call_ids; /* of names: index in calls */
	size_t max_markers, last_marker;
	uint64_t max_gaps;
	sqlite3_stmt *name; /* of digest_name() */
	char *text;
};

#define DIGEST_SMALL_NS 10000

/* Reads the trace, or the part of it that slice_apply() left; `filter` is in use until
 * digest_fini(). The whole digest is in the caller's zeroed structure. 0 or -errno with
 * q->res->error; digest_fini() in both cases. One thread. */
int digest_read(struct digest *d, struct query *q, const struct slice *filter);
void digest_fini(struct digest *d);
/* Of the name; made if it does not exist. NULL: out of memory. */
struct digest_sum *digest_sum_of(struct digest_sums *s, uint64_t key);
/* Of the timed ones, rounded to the nearest; 0 without any. */
uint64_t digest_mean(const struct digest_sum *sum);
/* The longest total first. */
void digest_sort(struct digest_sums *s);
/* Joins sums of the same name: kernels of all GPUs and processes. The result's names are borrowed.
 * 0 or -ENOMEM. */
int digest_join(const struct digest_sums *s, struct digest_sums *out);
void digest_free_sums(struct digest_sums *s, bool names);
/* The gaps between operations of a GPU that are at least `least` ns long: the *nr longest of them,
 * in the order of time; *nr is how many there are. The caller's to free with alloc_free(); NULL:
 * out of memory. */
struct digest_gap *digest_longest(const struct digest_gpu *of, uint64_t least, size_t *nr);
/* What the host did in the listed gaps of a GPU: the `nr` longest ones, which become the first
 * ones. 0 or -errno with the job's error. */
int digest_explain(struct digest *d, struct digest_gpu *of, size_t nr);
/* The text of rocpd_string, "" if id is below 0. Valid until the next call; NULL: out of memory. */
const char *digest_name(struct digest *d, int64_t id);
/* Whether --calls left calls of HIP out of the recording. */
bool digest_lacks_calls(struct query *q);

/* Internal to the digest. */
int digest_read_calls(struct digest *d);
int digest_read_copies(struct digest *d);
int digest_sample(struct digest *d);
/* Of gaps: the longest first, of equal ones the first. For qsort(). */
int digest_compare_lengths(const void *a, const void *b);

#endif
