/* SPDX-License-Identifier: MIT */
/* record.h - records of calls and operations, into the client's pools */
#ifndef RTL_LIB_LIBROCTRACER64_RECORD_H
#define RTL_LIB_LIBROCTRACER64_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../face/buffer.h"
#include "base/compiler.h"
#include "roctracer/ext/prof_protocol.h"
#include "roctracer/roctracer.h"
#include "source/api/live.h"

/* Instead of an unknown name: clients read it as a string. */
#define UNKNOWN_KERNEL "unknown kernel"

extern RTL_HIDDEN _Atomic bool record_stopped;
/* HOT */
static inline bool record_is_stopped(void)
{
	/* relaxed: a call that runs while it is switched is seen or not */
	return atomic_load_explicit(&record_stopped, memory_order_relaxed);
}

/* Once, before the first record. */
void record_start(void);
/* HOT: writes the record of a call of this thread, after one with the thread's external id.
 * Preserves errno. */
void record_write_call(struct buffer *pool, uint32_t domain, uint32_t op,
		       const struct live_call *call);
/* HOT: writes the record of an operation, with a copy of its kernel's name. */
void record_write_op(struct buffer *pool, const activity_record_t *r);

#endif
