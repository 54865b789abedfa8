/* SPDX-License-Identifier: MIT */
/* copy_table.h - the copies in flight
 *
 *   operation           | copy_table_claim | copy_table_release / _next
 *   --------------------+------------------+---------------------------
 *   copy_table_claim    | any              | any
 *   copy_table_release  |                  | any: each entry by one thread, see enum copy_phase
 */
#ifndef RTL_SOURCE_HSA_COPY_TABLE_H
#define RTL_SOURCE_HSA_COPY_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "source/hsa/completion/copy_times.h"

/* Which thread releases an entry: the harvester after the call has returned. If the trace ends
 * while the call runs, the later of the two. */
enum copy_phase {
	COPY_IN_CALL,
	COPY_RETURNED, /* the harvester records it when it has completed */
	COPY_GIVEN_UP, /* the trace has ended: the harvester records it as unfinished */
	COPY_RECORDED, /* recorded as such: the call releases the entry */
	COPY_OVER /* the call returned during the harvester's access, which then releases the entry;
		   * or the call failed */
};

struct copy {
	struct copy_times times;	      /* must be first */
	_Atomic uint32_t phase;		      /* enum copy_phase */
	_Atomic(const amd_signal_t *) signal; /* NULL: free, or being filled */
	struct event_dispatch dispatch;	      /* by_kernel: the kernel that executed it */
	uint32_t index;			      /* in the table */
	uint64_t own[2];		      /* for copy_listen() */
};

/* The lowest free entry; NULL when all are used, or there is no memory. Any thread; takes a lock
 * when more entries are used at once than before. */
struct copy *copy_table_claim(void);

/* Counts a submitted copy on that SDMA engine (UINT32_MAX: unknown); count -1: its call failed. */
void copy_table_submitted(struct copy *c, uint32_t engine, int count);

/* Frees `c`. */
void copy_table_release(struct copy *c);

/* The next used entry at or after *i, which is advanced past it; NULL at the end. */
struct copy *copy_table_next(uint32_t *i);

/* Number of used entries, now. */
uint32_t copy_table_count(void);

/* Claims all entries of the groups without a used one (true), so that no thread uses them and their
 * blocks are `held`, or frees them again. One thread at a time. */
void copy_table_hold(bool on);

/* Whether `s` is the completion signal of a copy in flight. */
bool copy_table_has(const amd_signal_t *s);

#endif
