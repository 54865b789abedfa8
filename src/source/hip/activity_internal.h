/* SPDX-License-Identifier: MIT */
/* activity_internal.h - what the two kinds of HIP's callbacks have in common */
#ifndef RTL_SOURCE_HIP_ACTIVITY_INTERNAL_H
#define RTL_SOURCE_HIP_ACTIVITY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hip/activity.h"

/* hip_api_data_t, as far as it is the same in all releases. */
struct hip_data {
	uint64_t correlation;
	uint32_t phase, reserved;
	uint64_t args[];
};

/* activity_record_t: the head of the runtime's record of an operation. */
struct hip_record {
	uint32_t domain, kind, op, reserved;
	uint64_t number, begin_ns, end_ns;
	int32_t device;
	uint32_t reserved2;
	uint64_t queue, bytes;
};

/* HOT, all on the calling thread, from activity_begin() to activity_end(). */

/* A call begins; `height`: the address of the runtime's stack frame. `data`: where the runtime has its
 * arguments, NULL: in the structure that is returned. NULL: nobody wants the call. */
struct hip_data *activity_begin(uint32_t id, uintptr_t height, void *data);
/* Its arguments are there; the real function has returned. */
void activity_args_are_there(uint32_t id, void *data);
/* It is over. */
void activity_end(uint32_t id);

/* The data of the call that this thread is in, NULL: in none that is seen. */
void *activity_current_data(void);

/* Whether anyone wants operations; one is over, whose number is the correlation id that its call's data had. */
bool activity_wants_ops(void);
/* The subscribers, a bit each, that want what is submitted now. */
uint32_t activity_wanted_now(void);
void activity_join_op(const struct hip_record *r);
/* `wanted`: the subscribers that wanted it when it was submitted. */
void activity_report_op(const struct activity_op *op, uint32_t wanted);

/* The other kind: hipRegisterTracerCallback() of HIP 5.4 and later. The largest number of a function; 0: there
 * is no such callback, or it is of a release whose structures are not known. */
uint32_t tracer_turn_on(void);
/* activity_settle(); nothing to wait for with the callbacks of 5.3 and before. */
void tracer_settle(void);

#endif
