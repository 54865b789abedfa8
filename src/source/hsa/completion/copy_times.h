/* SPDX-License-Identifier: MIT */
/* copy_times.h - whether a copy has completed, and its times, for every copy engine */
#ifndef RTL_SOURCE_HSA_COPY_TIMES_H
#define RTL_SOURCE_HSA_COPY_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/hsa/completion/inflight.h"

/* The part of a copy in flight that its times need; memory/copy_table.h has the rest. */
struct copy_times {
	struct inflight entry; /* kind INFLIGHT_COPY; must be first */
	struct spool_copy_what what;
	/* a kernel copied: the copy's times are the signal's dispatch times */
	_Atomic bool by_kernel;
	uint64_t begin_ticks, end_ticks; /* that a kernel wrote to the signal, else 0 */
};
_Static_assert(offsetof(struct copy_times, what) == offsetof(struct spool_copy, what),
	       "as in format.h");

/* Whether the copy that contains `e` has completed; begin and end are ns of system time. The caller
 * has locked `e`. `over`: the owner uses the signal anew, so its value may already belong to the
 * next use. */
enum inflight_result copy_times_poll(struct inflight *e, bool over, uint64_t *begin_ns,
				     uint64_t *end_ns);

#endif
