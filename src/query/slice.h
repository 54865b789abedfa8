/* SPDX-License-Identifier: MIT */
/* slice.h - a part of a trace: a window of time, a range, some kernels, GPUs or ranks
 *
 * slice_apply() puts temporary views in front of the tables rocpd_op and rocpd_api, under the same
 * names: every query of this connection that names them reads the part alone. Views of the database
 * itself (rtl_dispatch) still read all. The part of rtl_op_runtime is the view query_runtime, since
 * what did a copy is looked up in all of it. One thread. Errors are in q->res.
 */
#ifndef RTL_QUERY_SLICE_H
#define RTL_QUERY_SLICE_H

#include "query/query.h"

struct slice {
	bool has_time;
	int64_t from_ns,
		to_ns; /* in the trace's clock; operations and calls that overlap it are kept */
	const char *
		/* a pattern, as of rtl trace --range: what was called while such a range was
		 * open */
		range;
	const char *kernels; /* a regular expression; copies and fills are kept */
	/* kernels of the runtimes, too: of the copies and fills that kernels did, only those by
	 * these */
	bool internal;
	const char *gpus;  /* a list, 0,2-3; operations without a GPU are kept */
	const char *ranks; /* a list; of a trace with such a rank, processes without one are kept */
	/* results: the windows of time of `range`, sorted, disjoint */
	struct slice_span {
		int64_t begin, end;
	} * spans;
	size_t nr_spans;
};

/* Checked values; `f` is in use until query_close(). 0 or -errno with q->res->error; -ENOENT: no
 * such range, kernel, GPU or rank. */
int slice_apply(struct query *q, struct slice *f);
bool slice_is_set(const struct slice *f);
/* The part of an operation that counts as busy time: a window of time ends that, too; ranges do
 * not, their work may end later. False: it is outside. */
bool slice_clip(const struct slice *f, int64_t *begin, int64_t *end);
/* Its options, for messages: "--time, --gpus". Returns buf. */
#define SLICE_OPTIONS_SIZE 64
const char *slice_options(const struct slice *f, char buf[SLICE_OPTIONS_SIZE]);
void slice_fini(struct slice *f);

#endif
