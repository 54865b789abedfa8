/* SPDX-License-Identifier: MIT */
/* tables.h - the tables that a trace amounts to: what rtl summary, rtl tui and rtl diff show
 *
 * Tables that are asked for together are made in one pass over the operations. Prints nothing, ends
 * no process; one thread at a time.
 *
 *	tables.c	    which there are, and the pass
 *	table_names.c	    kernels, calls, copies and markers, by name
 *	table_busy.c	    GPUs and streams: how busy they were
 *	table_ranges.c	    ranges as a tree (ranges.h)
 *	table_processes.c   processes and ranks
 *	table_counters.c    hardware counters of kernels
 *	table_metrics.c	    how near kernels came to the peaks of their GPU
 *	table_collectives.c collectives, and who is late
 *	table_clocks.c      the clocks of hosts
 *	table_mpi.c	    calls of MPI, and what they do on the GPU
 *	table_imbalance.c   kernels and ranges that are slow on a rank
 *	table_path.c	    the critical path
 *	table_more.c	    graphs, failed calls, gaps
 */
#ifndef RTL_ANALYSIS_TABLES_H
#define RTL_ANALYSIS_TABLES_H

#include "analysis/digest.h"
#include "analysis/findings.h"
#include "analysis/sums.h"
#include "analysis/sheet.h"

enum tables_kind {
	TABLES_KERNEL,
	TABLES_API,
	TABLES_COPY,
	TABLES_MARKER,
	TABLES_STREAM,
	TABLES_GPU,
	TABLES_COUNTER,
	TABLES_RANGE,
	TABLES_RANGE_NAME, /* its time and operations by name, wherever that is in the tree */
	TABLES_PROCESS,
	TABLES_RANK,
	TABLES_GRAPH,
	TABLES_ERROR,
	TABLES_GAP,
	TABLES_PATH,
	TABLES_COLLECTIVE,
	TABLES_CLOCK,
	TABLES_IMBALANCE,
	TABLES_MPI_CALLS,
	TABLES_METRICS,
	TABLES_NR
};

/* What divides each row of a table into several. */
enum tables_split { TABLES_WHOLE, TABLES_BY_RANK, TABLES_BY_PROCESS };
/* Whether the table can be divided: kernels, calls, copies, markers, ranges,
 * calls of MPI. */
bool tables_can_split(enum tables_kind kind);

/* The domain of calls to count; from 1 in the order of the choices of --domain. */
enum tables_domain { TABLES_ANY, TABLES_HIP, TABLES_HSA, TABLES_RCCL, TABLES_MPI };

/* Begins zeroed, but for q and what is wanted. */
struct tables {
	struct query *q;
	struct slice filter; /* after slice_apply() */
	enum tables_domain domain;
	bool internal;	     /* kernels of the runtimes; the means of copies */
	bool mangled;	     /* names of kernels */
	const char *metrics; /* of TABLES_METRICS: a view of counter/view.h */
	const char *
		/* a regular expression: kernels that are collectives, too; NULL: none */
		collectives;
	/* Rows of a table that are kept, 0: all. is_sorted: all are kept, since the caller sorts
	 * them. */
	uint64_t most;
	bool is_sorted;
	/* The digest has busy times in so many parts of `bin_ns` from `bins_begin` on; 0: none. */
	size_t nr_bins;
	int64_t bins_begin, bin_ns;

	/* private */
	struct digest *digest;
	struct findings findings;
	struct collectives *matched;
	bool has_findings, has_rows;
	struct kinds kinds;
	sqlite3_stmt *occupancy;
};

void tables_fini(struct tables *t);

struct tables_want {
	enum tables_kind kind;
	enum tables_split split;
};

/* Makes the tables, in the zeroed structures `out`; sheet_fini() of each, in all cases. 0 or -errno
 * with q->res->error. */
int tables_read(struct tables *t, const struct tables_want *want, size_t nr, struct sheet *out);
/* All values of kernels, calls, copies or markers by their name, in memory. 0 or -errno with
 * q->res->error; sums_destroy() in both cases. */
int table_names_sums(struct tables *t, enum tables_kind kind, struct sums **out);

/* The digest and the findings of the trace, read when they are first asked for. 0 or -errno with
 * q->res->error. */
int tables_digest(struct tables *t, struct digest **out);
int tables_findings(struct tables *t, const struct findings **out);

/* The error's name, or "error N" in buf. */
const char *tables_error_name(const struct digest_error *e, char buf[32]);

#endif
