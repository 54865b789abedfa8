/* SPDX-License-Identifier: MIT */
/* operations.h - GPU operations on their way from their submission to the tools
 *
 *	operations.c    their agents and queues; the thread that shows their ends
 *	events.c        what the core tells of them
 *	op.c            an operation: its memory, its callbacks
 *	records.c       its records
 *	dispatch.c      kernel dispatches
 *	copies.c        memory copies
 *	effects.c       what calls do: memory, streams, graphs; these begin and end with the call
 *	marker_ranges.c ranges of roctx
 *	ompt.c          events of OpenMP
 *	scratch.c       scratch memory; begins and ends with the runtime's events
 *
 * The core tells of an operation when it is submitted, and by an event when it is over. The first
 * moment may be under a lock of the core's, and the second one is: the tools are called later. An
 * operation's begin is shown on the thread that has submitted it, as soon as no lock is held, a
 * dispatch's enter before it is submitted; its end on a thread of this library. It is over for the
 * tools when all of its parts are done, in whichever order.
 */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_OPERATIONS_H
#define RTL_LIB_LIBROCPROFILER_SDK_OPERATIONS_H

#include <stddef.h>

#include "../face/pending.h"
#include "../face/relay.h"
#include "context.h"

enum op_part {
	OP_BEGUN = 1,	 /* its begin was shown */
	OP_RETURNED = 2, /* the call that submits it has returned */
	OP_OVER = 4,	 /* the core's event has come */
	OP_ALL = OP_BEGUN | OP_RETURNED | OP_OVER,
};

#if ROCPROFILER_SDK_ABI > 0
/* A launch of a graph, and what its kernels were. Written by one thread at a time. */
struct op_launch {
	rocprofiler_callback_tracing_hip_graph_data_t data;
	_Atomic uint32_t nr_pending;  /* the call, and kernels that are not over */
	rocprofiler_agent_id_t agent; /* of the first kernel that is over */
	rocprofiler_queue_id_t queue;
	uint64_t nr, begin_ns, end_ns;
};
#endif

struct op {
	struct op *next;	       /* of one list at a time: unused ones, a thread's */
	struct relay_item sent;	       /* to be shown */
	struct pending_item in_flight; /* in its queue: of a dispatch */
	uint64_t key;		       /* of a range */
	uint64_t begin_mask, end_mask; /* contexts that get its callbacks */
	uint64_t records;	       /* those that get a record */
	uint64_t all;		       /* all of them */
	_Atomic uint32_t parts;	       /* enum op_part */
	uint32_t nr;		       /* of `of` */
	bool is_plain;		       /* of op_new_plain() */
	bool is_entered;	       /* a dispatch whose enter was shown */
	uint64_t number;	       /* a dispatch's id */
	struct op *launch;	       /* of the graph of which a dispatch is; else NULL */
	uint32_t kind, begin_operation, end_operation;
	rocprofiler_external_correlation_id_request_kind_t request;
	uint64_t tid;
	rocprofiler_correlation_id_t correlation;
	/* of the operation; its payload gets them when its end is shown */
	uint64_t begin_ns, end_ns;
	union {
		rocprofiler_callback_tracing_kernel_dispatch_data_t dispatch;
		rocprofiler_callback_tracing_memory_copy_data_t copy;
		rocprofiler_callback_tracing_scratch_memory_data_t scratch;
#if ROCPROFILER_SDK_ABI > 0
		rocprofiler_callback_tracing_memory_allocation_data_t memory;
		rocprofiler_callback_tracing_hip_stream_data_t stream;
		rocprofiler_callback_tracing_hip_graph_data_t graph;
		struct op_launch launch; /* begins with it */
		rocprofiler_callback_tracing_runtime_initialization_data_t runtime;
		rocprofiler_callback_tracing_marker_api_data_t marker;
		rocprofiler_callback_tracing_ompt_data_t ompt;
#endif
	} payload;
	/* by context */
	struct {
		rocprofiler_user_data_t external, user;
	} of[];
};

/* ---- op.c ---- */

/* HOT: an operation for the contexts in the masks; `payload` is zeroed. NULL: there is none in
 * them, or no memory: then records of `buffer_kind` are counted as dropped. Any thread. */
struct op *op_new(uint64_t begin_mask, uint64_t end_mask, uint64_t records, uint32_t buffer_kind);
/* HOT: the same, but the caller sets the whole payload. */
struct op *op_new_unset(uint64_t begin_mask, uint64_t end_mask, uint64_t records,
			uint32_t buffer_kind);
/* HOT: an operation of which tools get records alone, without ids of their own. Its payload is set
 * when it is over, on the thread that puts the records: the submitting one does not touch that
 * memory. With a launch of a graph, also if there are no records of its own. */
struct op *op_new_plain(uint64_t records, const struct op *launch);
/* HOT: zeroes the tools' ids of such an operation. */
void op_clear_ids(struct op *op);
/* HOT: any thread. */
void op_free(struct op *op);
/* Calls the tools of `begin_mask`: a dispatch is entered, and enqueued. */
void op_show_begin(struct op *op);
/* The two halves of that. */
void op_show_enter(struct op *op);
void op_show_entered(struct op *op);
/* Calls those of `end_mask`, and puts the records. */
void op_show_end(struct op *op);
/* The first of these alone. */
void op_show_exit(struct op *op);
/* An instant: calls the tools of `begin_mask` once, and puts the records. */
void op_show_now(struct op *op);
/* Whether this thread is in a callback of an operation: those that it submits now are not shown. */
bool op_is_in_callback(void);
/* This thread is the library's: a tool's function that ends it by pthread_exit() ends itself
 * alone. */
void op_thread_goes_on(void);

/* Of a queue. */
struct op_queue {
	struct pending in_flight;
	rocprofiler_agent_id_t agent;
	rocprofiler_queue_id_t queue;
	uint64_t handle;
	struct pending_item *announced; /* dispatch.c; under the queue's turn */
};

/* ---- records.c ---- */

/* HOT: of an operation that is over, for the contexts in `records`. */
void op_put_records(const struct op *op);
/* HOT: of a dispatch without an operation, for the contexts in `mask`. */
void records_put_dispatch(uint64_t mask, const struct event_dispatch *d, const struct op_queue *l,
			  uint64_t number);
/* HOT: all of it, its padding included: nothing has to be zeroed before. */
static inline void dispatch_info_fill(rocprofiler_kernel_dispatch_info_t *info,
				      const struct event_dispatch *d, const struct op_queue *l,
				      uint64_t number)
{
	info->size = offsetof(rocprofiler_kernel_dispatch_info_t, reserved_padding);
	info->agent_id = l->agent;
	info->queue_id = l->queue;
	info->kernel_id = d->kernel;
	info->dispatch_id = number;
	info->private_segment_size = d->private_size;
	info->group_segment_size = d->group_size;
	info->workgroup_size = (rocprofiler_dim3_t){ d->group[0], d->group[1], d->group[2] };
	info->grid_size = (rocprofiler_dim3_t){ d->grid[0], d->grid[1], d->grid[2] };
	for (size_t i = 0; i < sizeof(info->reserved_padding); i++)
		info->reserved_padding[i] = 0;
}

/* ---- operations.c ---- */

/* HOT: the part is done. With the last one, the operation's end will be shown. The caller does not
 * use it any more. */
void operations_done(struct op *op, enum op_part part);
/* HOT: the thread of this library shows its begin, too. */
void operations_send(struct op *op);
/* One that was added and not sent is not carried out. */
void operations_cancel(struct op *op);
/* HOT: one more operation that will end. */
void operations_add(void);
/* HOT: handle 0: not known. */
rocprofiler_agent_id_t operations_agent(uint32_t index);
bool operations_is_cpu(uint32_t index);
/* HOT: of a queue by its number in the trace; NULL: not known. */
struct op_queue *operations_queue(uint32_t queue);

/* The same by the address that the program has; of a queue that was destroyed, too. */
struct op_queue *operations_queue_of(uint64_t handle);

/* Of the core's events. */
void operations_keep_agent(const struct event_agent *a);
void operations_keep_queue(const struct event_queue *q);
/* The thread. false: there is none. */
bool operations_start(void);
bool operations_is_thread(void);
/* Those that have not ended. */
uint64_t operations_nr_open(void);
/* Waits, `ns` at most, until what was sent so far is shown. */
void operations_settle(uint64_t ns);

#endif
