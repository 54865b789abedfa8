/* SPDX-License-Identifier: MIT */
/* verdict.h - whether a trace is complete, and if not, what is missing
 *
 * A trace is incomplete as soon as one reason of class LOSS has a count. A sudden end alone is not
 * a loss: operations that the process saw completed are in the trace. `killed`, `sudden_exit`,
 * `executed`, `end_unknown` and `unfinished` are notes. Records that the user chose to skip are
 * counted, too, and do not change the verdict.
 */
#ifndef RTL_STORE_VERDICT_H
#define RTL_STORE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/index.h"
#include "store/load.h"

#define VERDICT_MAX 128

struct verdict_row {
	uint32_t pid;
	char reason[32]; /* name as in SPOOL_REASONS, or an end: see add_end() */
	enum load_class class;
	uint64_t count, first_ns, last_ns;
	char text[160]; /* the sentence */
};

struct verdict {
	bool complete;
	uint32_t nr_processes, nr_running, nr_continued;
	uint32_t nr_ended;	      /* without their exit handlers */
	char end[96];		      /* how the last of those ended, for `line` */
	uint64_t nr_lost, nr_skipped; /* sums of counts by class */
	size_t nr_rows, nr_more;      /* rows kept, and rows beyond VERDICT_MAX */
	struct verdict_row rows[VERDICT_MAX];
	char line
		/* "complete; 3 left out (paused 3)", or "incomplete: 17 lost (buffer_full 17)" */
		[512];
};

void verdict_init(struct verdict *v);
/* Adds one process: what it counted, how it ended, and whether all that was submitted is in the
 * trace. */
void verdict_add_trace(struct verdict *v, struct index *index);
/* The same for a part that is not the last one. */
void verdict_add_part(struct verdict *v, struct index *index);
/* `missing`: launches_missing(). More than the trace explains makes the verdict incomplete, as do
 * `submits`, calls that submitted work, in a process whose HSA runtime librtl did not see. After
 * verdict_add_trace(). */
void verdict_add_launches(struct verdict *v, struct index *index, uint64_t missing,
			  uint64_t submits);
void verdict_add(struct verdict *v, uint32_t pid, const char *reason, enum load_class class,
		 uint64_t count, uint64_t first_ns, uint64_t last_ns, const char *text);
/* Removes `nr` notes of that reason. */
void verdict_remove(struct verdict *v, const char *reason, uint32_t nr);
void verdict_finish(struct verdict *v);

/* The rows of all processes with the same reason and sentence. */
struct verdict_group {
	const struct verdict_row *row; /* the first of them */
	uint64_t count;		       /* the sum of theirs */
	char pids
		/* " (pid 17)", " (pids 17, 18, 19, 20 and 60 more)"; "": there is one process */
		[96];
};

/* The next group from row *at, which is advanced; the first call's is 0. false: there are no
 * more. */
bool verdict_next_group(const struct verdict *v, size_t *at, struct verdict_group *group);

/* Fills v from a database (views rtl_loss, rtl_process). 0 or -errno; -ENODATA: it has no rtl_
 * tables, so that the verdict is unknown (as `line` states; `complete` is false). */
int verdict_of_db(struct verdict *v, const char *path, struct load_error *err);

#endif
