/* SPDX-License-Identifier: MIT */
/* context.h - contexts: what they want, which of them are active */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_CONTEXT_H
#define RTL_LIB_LIBROCPROFILER_SDK_CONTEXT_H

#include "sdk.h"

struct buffer;
struct sdk_buffer;
struct buffer_thread;

struct service {
	rocprofiler_callback_tracing_cb_t fn;
	void *arg;
};

struct context {
	rocprofiler_context_id_t id;
	int client;
	/* its bit in masks; -1: none, it has no service that needs one; set once, under the lock */
	_Atomic int slot;
	_Atomic bool is_active;
	_Atomic bool samples;		       /* a GPU: it has device counting */
	struct service services[SDK_NR_KINDS]; /* fn NULL: none; written within initialize */
	_Atomic(struct sdk_buffer *) buffers[SDK_NR_BUFFER_KINDS]; /* NULL: none; each set once */
	/* external.c: set once; `request` last */
	void *request_arg;
	uint32_t request_kinds; /* bits by rocprofiler_external_correlation_id_request_kind_t */
	_Atomic(rocprofiler_external_correlation_id_request_cb_t) request;
};

/* A bit for each context: those that want an operation, those that are active. */
extern RTL_HIDDEN _Atomic uint64_t context_wanted[SDK_NR_KINDS][SDK_MAX_OPERATIONS];
extern RTL_HIDDEN _Atomic uint64_t context_active;

/* HOT: the active contexts that want the operation. */
static inline uint64_t context_mask(uint32_t kind, uint32_t operation)
{
	/* acquire, both: pair with activation.c: the service */
	return atomic_load_explicit(&context_wanted[kind][operation], memory_order_acquire) &
	       atomic_load_explicit(&context_active, memory_order_acquire);
}
extern RTL_HIDDEN struct context *context_by_slot[SDK_MAX_SLOTS];
/* HOT: by its bit. It exists. */
static inline struct context *context_at(unsigned int index)
{
	return context_by_slot[index];
}
/* NULL: there is no such context. */
struct context *context_find(rocprofiler_context_id_t id);
/* A bit for each kind of callbacks for which some context has a service. */
extern RTL_HIDDEN _Atomic uint64_t context_kinds;
/* Whether any context has a service of what calls do: memory, streams, graphs; of callbacks or of
 * records. */
extern RTL_HIDDEN _Atomic bool context_effects;
/* Some context has a service of the kind. */
void context_note_kind(uint32_t callback_kind, uint32_t buffer_kind);
/* Whether any context has a callback service of the kind. */
static inline bool context_has(rocprofiler_callback_tracing_kind_t kind)
{
	return atomic_load(&context_kinds) & UINT64_C(1) << kind;
}
/* Whether their numbers may be those of operations. */
bool context_are_operations(const rocprofiler_tracing_operation_t *operations, size_t nr);
/* The context wants the operations, none: all, of the kind with this row of masks. */
void context_want(const struct context *c, _Atomic uint64_t row[SDK_MAX_OPERATIONS],
		  const rocprofiler_tracing_operation_t *operations, size_t nr);
/* A bit for each context of a client. */
uint64_t context_of_client(int client);
/* Gives the context a bit, if it has none. False: all are taken. */
bool context_take_slot(struct context *c);
/* Its index in arrays by context. It has one. */
static inline unsigned int context_index(const struct context *c)
{
	/* acquire: pairs with context_take_slot() */
	return (unsigned int)atomic_load_explicit(&c->slot, memory_order_acquire);
}
/* The bit of a context; 0: it has none. */
static inline uint64_t context_bit(const struct context *c)
{
	/* acquire: pairs with context_take_slot() */
	int slot = atomic_load_explicit(&c->slot, memory_order_acquire);

	return slot < 0 ? 0 : UINT64_C(1) << slot;
}
/* The context is active from now on, or no longer. */
void context_switch(struct context *c, bool on);
/* Calls `fn` for each context of a client. */
void context_each(int client, void (*fn)(struct context *c));
/* One more context of the client. NULL: there are too many. */
struct context *context_make(int client);
/* The client's contexts get no more callbacks, not even those of operations that began before they
 * were stopped. */
void context_end_client(int client);
extern RTL_HIDDEN _Atomic uint64_t context_ended;
/* HOT: the contexts for which that is so. */
static inline uint64_t context_over(void)
{
	return atomic_load_explicit(&context_ended, memory_order_acquire);
}

/* ---- services with buffers ---- */

/* By rocprofiler_buffer_tracing_kind_t: a bit for each context that wants records of an
 * operation. */
extern RTL_HIDDEN _Atomic uint64_t context_records_wanted[SDK_NR_BUFFER_KINDS][SDK_MAX_OPERATIONS];

/* HOT: the active contexts that want a record of the operation. */
static inline uint64_t context_buffered_mask(uint32_t kind, uint32_t operation)
{
	/* acquire, both: pair with buffered.c: the buffer; and with activation.c */
	return atomic_load_explicit(&context_records_wanted[kind][operation],
				    memory_order_acquire) &
	       atomic_load_explicit(&context_active, memory_order_acquire);
}
/* A bit for each kind of records for which some context has a buffer. */
extern RTL_HIDDEN _Atomic uint64_t context_record_kinds;
/* Whether any context has a buffer for the kind. */
static inline bool context_has_records(uint32_t kind)
{
	return atomic_load(&context_record_kinds) & UINT64_C(1) << kind;
}

/* HOT: the kind of records with arguments, of a kind of calls; 0: none. */
static inline uint32_t context_ext_of(uint32_t kind)
{
#if ROCPROFILER_SDK_ABI > 0
	if (kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API)
		return ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT;
	if (kind == ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API)
		return ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT;
#endif
	(void)kind;
	return 0;
}

/* HOT: the kind of records of a kind of calls. But for RCCL's in 0.x they have the same number. */
static inline uint32_t context_record_kind_of(uint32_t kind)
{
#if ROCPROFILER_SDK_ABI == 0
	if (kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API)
		return ROCPROFILER_BUFFER_TRACING_RCCL_API;
#endif
	return kind;
}

#endif
