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

/* HOT, all on the calling thread, from activity_begin() to activity_end(). They preserve errno. */

/* A call begins. `height`: the address of the runtime's stack frame; `data`: the runtime's
 * structure for the arguments,
 * NULL: it uses the one that is returned. Returns NULL if no subscriber wants the call. */
struct hip_data *activity_begin(uint32_t id, uintptr_t height, void *data);
/* The arguments have been written; the real function has returned: data->phase says which. */
void activity_args_are_there(uint32_t id, const void *data);
/* The call has ended. */
void activity_end(uint32_t id);

/* The data of the call that this thread is in; NULL: it is not in a call that is seen. */
void *activity_current_data(void);

/* Whether a subscriber or join.h wants operations. */
bool activity_wants_ops(void);
/* The subscribers, a bit each, that want an operation that is submitted now. */
uint32_t activity_wanted_now(void);
/* An operation has completed; its number is the correlation id in its call's data. */
void activity_join_op(const struct hip_record *r);
/* `wanted`: the subscribers that wanted the operation when it was submitted. */
void activity_report_op(const struct activity_op *op, uint32_t wanted);

/* hipRegisterTracerCallback() of HIP 5.4 and later. Returns the largest number of a function; 0:
 * there is no such callback, or it is of a release whose structures are not known. */
uint32_t tracer_turn_on(void);
/* activity_settle(): with the callbacks of 5.3 and before there is nothing to wait for. */
void tracer_settle(void);

#endif
