/* SPDX-License-Identifier: MIT */
/* pass.h - one pass over the operations of a trace for all the tables that are made of them
 *
 * One thread calls the readers; two others may read the file meanwhile, so that readers may not use
 * q->db.
 */
#ifndef RTL_ANALYSIS_PASS_H
#define RTL_ANALYSIS_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/kinds.h"

struct pass_op {
	int64_t id, begin, end; /* in the trace's clock, ns */
	int64_t gpu;		/* -1: none */
	int64_t name, type;	/* ids in rocpd_string */
	int64_t marker;		/* row of the innermost range, 0: none */
	int64_t call_begin, call_end;
	bool has_call; /* the call is known; only if a reader wants calls */
	bool timed;    /* the times are measured */
	enum kinds_op kind;
	uint32_t process; /* index in q->processes; 0 if the file has none */
};

struct pass_reader {
	/* 0, or -errno, which ends the pass. HOT. */
	int (*take)(void *arg, const struct pass_op *op);
	/* Forgets all operations so far: they come again. Needed with `ordered`. */
	void (*reset)(void *arg);
	void *arg;
	bool ordered; /* operations are wanted in the order of their begin */
	/* they are wanted in the order of the file: with `ordered` ones it takes two passes */
	bool as_filed;
	bool calls; /* call_begin and call_end are wanted */
};

/* Reads all operations of the part that slice_apply() left. 0 or -errno with q->res->error. */
int pass_read(struct query *q, struct kinds *kinds, const struct pass_reader *const *readers,
	      size_t nr);

#endif
