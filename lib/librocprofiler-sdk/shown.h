/* SPDX-License-Identifier: MIT */
/* shown.h - what callbacks and records of calls share */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_SHOWN_H
#define RTL_LIB_LIBROCPROFILER_SDK_SHOWN_H

#include "context.h"

/* Contexts that get a call: its callbacks, its record, its record with arguments. */
struct shown_wish {
	uint64_t callbacks, recorded, with_arguments;
};

static inline bool shown_wish_any(const struct shown_wish *w)
{
	return (w->callbacks | w->recorded | w->with_arguments) != 0;
}

/* HOT: of one reading of the active contexts: one that wants callbacks and records gets both or
 * neither. */
static inline struct shown_wish shown_wish_of(uint32_t kind, uint32_t operation)
{
	/* acquire, all: pair with activation.c, buffered.c: the services */
	uint64_t active = atomic_load_explicit(&context_active, memory_order_acquire);
	uint32_t ext = context_ext_of(kind);
	struct shown_wish w = {
		.callbacks = active & atomic_load_explicit(&context_wanted[kind][operation],
							   memory_order_acquire),
		.recorded = active &
			    atomic_load_explicit(&context_records_wanted[context_record_kind_of(
							 kind)][operation],
						 memory_order_acquire),
	};

	if (ext)
		w.with_arguments = active &
				   atomic_load_explicit(&context_records_wanted[ext][operation],
							memory_order_acquire);
	return w;
}

/* A call that begins to be shown. The thread keeps it for its next call. */
struct shown_call {
	struct shown_call *next;   /* of the thread's */
	const void *owner;	   /* what it was made for */
	struct shown_wish wish;	   /* contexts that get its end */
	uint64_t begin_ns, end_ns; /* for records */
	rocprofiler_correlation_id_t correlation;
	union {
		struct {
			uint32_t kind, operation;
		};
		uint64_t kind_and_operation; /* written and read as one word */
	};
	uint64_t tid;
	union {
		rocprofiler_callback_tracing_hip_api_data_t hip;
		rocprofiler_callback_tracing_hsa_api_data_t hsa;
		rocprofiler_callback_tracing_marker_api_data_t marker;
		rocprofiler_callback_tracing_rccl_api_data_t rccl;
	} payload;
	struct {
		rocprofiler_user_data_t external, user;
	} of[SDK_MAX_SLOTS];
};

/* This thread's, the newest first. */
extern RTL_HIDDEN _Thread_local struct shown_call *shown_calls;
/* HOT: the one for which shown_call_get() was called; NULL: none. */
static inline struct shown_call *shown_call_find(const void *owner)
{
	struct shown_call *s = shown_calls;

	while (s && s->owner != owner)
		s = s->next;
	return s;
}
struct shown_call *shown_call_make(const void *owner);
/* HOT: sets what the call is. */
static inline void shown_call_is(struct shown_call *s, uint32_t kind, uint32_t operation)
{
	const uint32_t both[2] = { kind, operation };

	memcpy(&s->kind_and_operation, both, sizeof(both));
}
/* HOT: this thread's block for `owner`, a call in progress: the one that it had before, or another
 * one. NULL: no memory. */
static inline struct shown_call *shown_call_get(const void *owner)
{
	struct shown_call *s = shown_call_find(owner);

	return RTL_LIKELY(s != NULL) ? s : shown_call_make(owner);
}
/* HOT: calls the tools of `wish`. correlation.external is set for each of them. */
void shown_call_begin(struct shown_call *s,
		      rocprofiler_external_correlation_id_request_kind_t request);
/* HOT: the same, and puts the records. */
void shown_call_end(struct shown_call *s);

#endif
