/* SPDX-License-Identifier: MIT */
/* otf2_rma.h - copies as accesses to remote memory
 */
#ifndef RTL_EXPORT_OTF2_OTF2_RMA_H
#define RTL_EXPORT_OTF2_OTF2_RMA_H

#include "export/otf2/otf2_internal.h"

/* What is recorded when a copy ends; nr 0: nothing. */
struct otf2_rma_op {
	bool is_put;
	uint64_t remote; /* its slot in the window */
	uint64_t nr;	 /* the copy's, from 1 */
};

struct otf2_rma;
/* Of a trace of ours; all live on. 0 or -errno. */
int otf2_rma_begin(struct otf2_rma **out, struct otf2_archive *a, struct query *q,
		   const struct otf2_trace *trace);
/* Accepts NULL. */
void otf2_rma_end(struct otf2_rma *r);
/* A thread has this location. */
int otf2_rma_thread(struct otf2_rma *r, int64_t pid, int64_t tid, size_t location);
/* Records at the begin of a copy (enum rows_op), whose region was entered; `cause` may be NULL. */
int otf2_rma_enter(struct otf2_rma *r, size_t location, const struct rows_op *row,
		   const struct walk_cause *cause, struct otf2_rma_op *op);
/* At its end, before the region is left. */
int otf2_rma_leave(struct otf2_rma *r, size_t location, const struct rows_op *row,
		   const struct otf2_rma_op *op);
/* When all operations of the trace are written. */
int otf2_rma_finish(struct otf2_rma *r);

/* Defines the windows of an archive with their communicators and groups, of which `group` and
 * `comm` are the first references that are free. */
int otf2_rma_define(struct otf2_archive *a, uint32_t group, uint32_t comm);

#endif
