/* SPDX-License-Identifier: MIT */
/* copy_times.h - when a copy has completed, and its times, whatever engine did it */
#ifndef RTL_SOURCE_HSA_COPY_TIMES_H
#define RTL_SOURCE_HSA_COPY_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/completion/inflight.h"

/* A copy in flight, as far as its times go; memory/copy_table.h has the rest. */
struct copy_times {
	struct inflight entry; /* kind INFLIGHT_COPY; must be first */
	/* a kernel did the work: its times are the signal's dispatch times */
	_Atomic bool by_kernel;
	uint64_t begin_ticks, end_ticks; /* as a kernel has written them to the signal, else 0 */
	uint32_t dst_agent, src_agent;	 /* indices, AGENT_NONE for unknown ones */
};

/* Whether the copy that `e` is part of has completed; begin and end are ns of system time. Who has locked `e`.
 * `over`: the owner uses the signal anew, whatever its value says. */
enum inflight_result copy_times_poll(struct inflight *e, bool over, uint64_t *begin_ns,
				     uint64_t *end_ns);

#endif
