/* SPDX-License-Identifier: MIT */
/* copy_table.h - the copies that are in flight
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

/* Who releases an entry: the harvester once the call has returned. When the trace ends while the call goes on, the
 * later of the two. */
enum copy_phase {
	COPY_IN_CALL,
	COPY_RETURNED, /* the harvester takes it when it has completed */
	COPY_GIVEN_UP, /* the trace has ended: the harvester records it as unfinished */
	COPY_RECORDED, /* it has: the call releases the entry */
	COPY_OVER /* the call has returned while the harvester was at it, which releases the entry; or it failed */
};

struct copy {
	struct copy_times times;	      /* must be first */
	_Atomic uint32_t phase;		      /* enum copy_phase */
	_Atomic(const amd_signal_t *) signal; /* NULL: free, or being filled */
	struct event_dispatch dispatch;	      /* by_kernel: the kernel that did it */
	uint64_t bytes, dst, src;
	uint32_t kind, engine;
};

/* The lowest free entry, NULL when all are used. Any thread, no lock. */
struct copy *copy_table_claim(void);

/* `c` may be claimed again. */
void copy_table_release(struct copy *c);

/* The next used entry at or behind *i, which is advanced past it; NULL at the end. */
struct copy *copy_table_next(uint32_t *i);

/* How many are used, now. */
uint32_t copy_table_count(void);

/* Whether a copy that is in flight was given `s` by the program. */
bool copy_table_has(const amd_signal_t *s);

#endif
