/* SPDX-License-Identifier: MIT */
/* live_told.h - what the two kinds of HIP's callbacks have in common */
#ifndef RTL_SOURCE_HIP_LIVE_TOLD_H
#define RTL_SOURCE_HIP_LIVE_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hip/live.h"

/* hip_api_data_t, as far as it is the same in all releases. */
struct told_data {
	uint64_t correlation;
	uint32_t phase, reserved;
	uint64_t args[];
};

/* activity_record_t: the head of the runtime's record of an operation. */
struct told_op {
	uint32_t domain, kind, op, reserved;
	uint64_t number, begin_ns, end_ns;
	int32_t device;
	uint32_t reserved2;
	uint64_t queue, bytes;
};

/* HOT, all on the calling thread, from live_told_begin() to live_told_end(). */

/* A call begins; `height`: the address of the runtime's stack frame. `data`: where the runtime has its
 * arguments, NULL: in the structure that is returned. NULL: nobody wants to be told of it. */
struct told_data *live_told_begin(uint32_t id, uintptr_t height, void *data);
/* Its arguments are there; the real function has returned. */
void live_told_args(uint32_t id, void *data);
/* It is over. */
void live_told_end(uint32_t id);

/* The data of the call that this thread is in, NULL: in none that was told of. */
void *live_told_data(void);

/* Whether anyone wants operations; one is over, whose number is the correlation id that its call's data had. */
bool live_told_wants_ops(void);
/* The listeners, a bit each, that want to be told of what is submitted now. */
uint32_t live_told_wanted(void);
void live_told_join(const struct told_op *told);
/* `wanted`: the listeners that wanted it when it was submitted. */
void live_told_op(const struct live_op *op, uint32_t wanted);

/* The other kind: hipRegisterTracerCallback() of HIP 5.4 and later. The largest number of a function; 0: there
 * is no such callback, or it is of a release whose structures are not known. */
uint32_t tracer_turn_on(void);
/* live_settle(); nothing to wait for with the callbacks of 5.3 and before. */
void tracer_settle(void);

#endif
