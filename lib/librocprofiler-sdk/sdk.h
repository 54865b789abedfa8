/* SPDX-License-Identifier: MIT */
/* sdk.h - what the files of librocprofiler-sdk share
 *
 *	basic.c         versions, statuses, time
 *	names.c         kinds and operations by name
 *	registration.c  tools: found, configured, initialised, finalised; the way in
 *	context.c       contexts and their callback services
 *	buffer.c        buffers of records
 *	buffered.c      services with buffers; records of calls
 *	threads.c       the threads that call tools' functions for buffers
 *	retire.c        the end of calls' ids
 *	intercept.c     tables for tools' own functions
 *	external.c      ids of the tool's own
 *	calls.c         HIP's and HSA's calls become callbacks and records
 *	rccl.c          the numbers of RCCL's functions
 *	markers.c       roctx's calls do; marker_ranges.c: its ranges as one
 *	shown.c         what callbacks and records of calls share
 *	code_object.c   code objects and their kernels
 *	host_functions.c functions of the host that stand for kernels
 *	agents.c        processors; topology.c, agents_hsa.c and products.c tell of them
 *	operations.h    GPU operations: kernel dispatches, memory copies
 *	count.h         counters of dispatches and of GPUs
 *	args.c          arguments of calls, with their texts
 *	tables.h        kinds, operations, arguments, from codegen/models/sdk
 *
 * Each source is compiled for either ABI of the library (defines.h). No lock is held while a tool's code runs.
 */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_SDK_H
#define RTL_LIB_LIBROCPROFILER_SDK_SDK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../librtl/core.h"
#include "base/compiler.h"
#include "rocprofiler-sdk/registration.h"
#include "rocprofiler-sdk/rocprofiler.h"
#include "tables.h"

#define SDK_NR_KINDS ((uint32_t)ROCPROFILER_CALLBACK_TRACING_LAST)
#define SDK_NR_BUFFER_KINDS ((uint32_t)ROCPROFILER_BUFFER_TRACING_LAST)
#define SDK_MAX_OPERATIONS 1024u
#define SDK_MAX_CONTEXTS 64u
#define SDK_MAX_CLIENTS 64u
/* ids of agents are the driver's nodes from here on; 0 is none */
#define SDK_FIRST_AGENT UINT64_C(2048)

/* ---- registration.c ---- */

/* NULL: librtl is of another build, and nothing is traced. */
const struct rtl_core *sdk_core(void);

/* As rocprofiler_is_initialized() has it. */
int registration_phase(void);
extern RTL_HIDDEN _Atomic int registration_end; /* as rocprofiler_is_finalized() has it */
/* HOT */
static inline bool registration_is_over(void)
{
	/* relaxed: a call that runs while tools are finalised is shown or not */
	return atomic_load_explicit(&registration_end, memory_order_relaxed) != 0;
}
/* The client whose initialize function runs; -1: none. */
int registration_current(void);
/* Whether HSA's runtime is initialising itself on this thread: it can't be asked then. */
bool registration_is_in_runtime(void);
/* Whether HSA's runtime was started before librtl could get its tables; the first time a message says so. */
bool registration_is_too_late(void);

extern RTL_HIDDEN _Atomic bool registration_is_done;
/* Whether a tool is named, or is among the libraries that are loaded. */
bool registration_has_tool(void);
/* The first use of a runtime: finds and initialises tools. A thread that comes meanwhile waits for that, 10 s at most; the one that
 * does it passes. */
void registration_start(void);
/* HOT */
static inline void registration_first_use(void)
{
	/* acquire: pairs with registration_start() */
	if (RTL_UNLIKELY(!atomic_load_explicit(&registration_is_done, memory_order_acquire)))
		registration_start();
}

/* ---- context.c ---- */

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
	/* acquire, both: pair with context.c: the service */
	return atomic_load_explicit(&context_wanted[kind][operation], memory_order_acquire) &
	       atomic_load_explicit(&context_active, memory_order_acquire);
}
extern RTL_HIDDEN struct context context_all[SDK_MAX_CONTEXTS];
/* HOT: by its bit. It exists. */
static inline struct context *context_at(unsigned int index)
{
	return &context_all[index];
}
/* NULL: there is no such context. */
struct context *context_find(rocprofiler_context_id_t id);
/* A bit for each kind of callbacks for which some context has a service. */
extern RTL_HIDDEN _Atomic uint64_t context_kinds;
/* Whether any context has a service of what calls do: memory, streams, graphs; of callbacks or of records. */
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
/* Stops all contexts of a client. */
void context_stop_client(int client);
/* The client's contexts get no more callbacks, not even those of operations that began before they were stopped. */
void context_end_client(int client);
extern RTL_HIDDEN _Atomic uint64_t context_ended;
/* HOT: the contexts for which that is so. */
static inline uint64_t context_over(void)
{
	return atomic_load_explicit(&context_ended, memory_order_acquire);
}

/* ---- buffer.c ---- */

/* NULL: there is none, or it was destroyed. */
struct sdk_buffer *buffer_find(rocprofiler_buffer_id_t id);
/* HOT: appends a record of category TRACING to the buffer that the context has for this rocprofiler_buffer_tracing_kind_t, by the buffer's
 * policy. Any thread. Of a call: may wait, 200 ms at most, with no lock held. Of an operation: never waits, under any lock. The tool's
 * function is called on the buffer's callback thread alone. Preserves errno. */
void buffer_put(struct context *c, uint32_t kind, const void *record, uint32_t size);
/* HOT: where buffer_put() appends them; NULL: nowhere. For records that are made in the buffer itself. Any thread; valid for ever, but it may close. */
struct buffer *buffer_of(const struct context *c, uint32_t kind);
/* Without memory a record of each context in the mask can't be made: it counts as dropped. Any thread. */
void buffer_lose_for(uint64_t mask, uint32_t kind);
/* Appends a record of category COUNTERS, of this rocprofiler_counter_record_kind_t. Any thread; never waits. */
void buffer_put_counter(struct sdk_buffer *b, uint32_t kind, const void *record, uint32_t size);
/* Delivers what the client's buffers contain; -1: all clients'. Waits, 10 s for each at most. */
void buffer_flush_client(int client);
/* The client's buffers deliver nothing more. */
void buffer_end_client(int client);

/* ---- buffered.c ---- */

/* By rocprofiler_buffer_tracing_kind_t: a bit for each context that wants records of an operation. */
extern RTL_HIDDEN _Atomic uint64_t buffered_wanted[SDK_NR_BUFFER_KINDS][SDK_MAX_OPERATIONS];

/* HOT: the active contexts that want a record of the operation. */
static inline uint64_t context_buffered_mask(uint32_t kind, uint32_t operation)
{
	/* acquire, both: pair with configure(): the buffer; and with context.c */
	return atomic_load_explicit(&buffered_wanted[kind][operation], memory_order_acquire) &
	       atomic_load_explicit(&context_active, memory_order_acquire);
}
/* A bit for each kind of records for which some context has a buffer. */
extern RTL_HIDDEN _Atomic uint64_t buffered_kinds;
/* Whether any context has a buffer for the kind. */
static inline bool buffered_has(uint32_t kind)
{
	return atomic_load(&buffered_kinds) & UINT64_C(1) << kind;
}

/* HOT: the kind of records with arguments, of a kind of calls; 0: none. */
static inline uint32_t buffered_ext_of(uint32_t kind)
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
static inline uint32_t buffered_kind_of(uint32_t kind)
{
#if ROCPROFILER_SDK_ABI == 0
	if (kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API)
		return ROCPROFILER_BUFFER_TRACING_RCCL_API;
#endif
	return kind;
}

struct shown_call;
/* HOT: the records of a call that is over. */
void buffered_put_call(const struct shown_call *s);

/* ---- retire.c ---- */

void retire_begin_for(uint64_t id, uint64_t contexts);
/* HOT: a call with this id begins. */
static inline void retire_begin(uint64_t id)
{
	uint64_t contexts =
		context_buffered_mask(ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, 0);

	if (RTL_UNLIKELY(contexts != 0))
		retire_begin_for(id, contexts);
}
extern RTL_HIDDEN _Atomic uint64_t retire_nr_held;
/* HOT: whether any id is noted. relaxed: a thread that holds an id has seen it noted, on this thread or by what passed it on */
static inline bool retire_any(void)
{
	return atomic_load_explicit(&retire_nr_held, memory_order_relaxed) != 0;
}
/* HOT: an operation that carries the id of a call in progress is submitted: each retire_hold() has its retire_drop(), on any thread, under any
 * lock. An id that is not noted is ignored. */
void retire_hold_noted(uint64_t id);
static inline void retire_hold(uint64_t id)
{
	if (RTL_UNLIKELY(retire_any()))
		retire_hold_noted(id);
}
/* HOT: the call is over, or the operation has completed. */
void retire_drop_noted(uint64_t id);
static inline void retire_drop(uint64_t id)
{
	if (RTL_UNLIKELY(retire_any()))
		retire_drop_noted(id);
}
/* All ids: calls that never returned, operations that did not complete. */
void retire_end(void);

/* ---- intercept.c ---- */

/* HSA's runtime has given this version with its table. */
void intercept_note_hsa(uint64_t version, uint64_t instance);
/* HSA's table, from its layer. */
void intercept_hsa(const struct hsa_mirror_root *root);
/* The tables of other runtimes, as rocprofiler-register names them. */
void intercept_tables(const char *name, uint64_t version, uint64_t instance, void **tables,
		      uint64_t nr);

/* ---- threads.c ---- */

/* The thread of buffers that have no other; NULL: no memory or no thread. */
struct buffer_thread *threads_default(void);
/* NULL: there is none. */
struct buffer_thread *threads_find(rocprofiler_callback_thread_t id);

/* ---- external.c ---- */

/* A tool has pushed an id, or configured a request for ids. */
extern RTL_HIDDEN _Atomic bool external_is_used;
/* HOT: false: every id is 0. */
static inline bool external_any(void)
{
	/* relaxed: a thread sees its own push */
	return atomic_load_explicit(&external_is_used, memory_order_relaxed);
}
/* HOT: the id of the context's own for a call or operation of thread `tid`. */
rocprofiler_user_data_t external_of(struct context *c, uint64_t tid,
				    rocprofiler_external_correlation_id_request_kind_t kind,
				    uint32_t operation, uint64_t internal);
/* HOT: the same again, but for an id that was asked for. */
void external_again(struct context *c, uint64_t tid,
		    rocprofiler_external_correlation_id_request_kind_t kind,
		    rocprofiler_user_data_t *value);

/* ---- calls.c ---- */

/* Subscribes to the core's calls; all of HIP's at first, so that the first one is the first use. -ENOSPC: too many subscribers. */
int calls_start(const struct rtl_core *core);
#if ROCPROFILER_SDK_ABI > 0
/* The ids of what a call does: those of the innermost call that is shown, itself or one around it; its own if none is. */
void calls_correlate(const struct live_call *call, rocprofiler_correlation_id_t *id);
#endif
/* Subscribes to what active contexts want, from the first use on. */
void calls_update(void);
/* HSA's runtime is being loaded: now is the time to turn HIP's own callbacks on, where no wrapper shows its calls. */
void calls_on_runtime(void);

/* ---- markers.c ---- */
void markers_start(const struct rtl_core *core);

/* ---- rccl.c ---- */
void rccl_start(const struct rtl_core *core);
/* TABLES_RCCL...: by the library that is loaded; the first set while there is none. */
uint32_t rccl_numbers(void);
bool rccl_is_decided(void);
/* A call of RCCL begins. */
void rccl_first_call(void);
/* RCCL has offered its table, before the core takes it. */
void rccl_take_table(const void *table, uint64_t version, uint64_t instance);
/* The kinds, with the functions of the RCCL that is there. They exist. */
const struct tables_kind *rccl_callback_kind(uint32_t kind);
const struct tables_kind *rccl_buffer_kind(uint32_t kind);

/* ---- code_object.c ---- */

/* The core's code objects are noted from now on; those that are loaded already as well. May be called again. */
void code_object_listen(void);
/* From the table's layer. */
void code_object_install(const struct hsa_mirror_root *root);
/* Shows what is loaded to active contexts that have not got it. */
void code_object_show(void);
/* Shows the end of all that was shown. */
void code_object_end(void);

/* ---- count.h ---- */

/* Whether any context has a service that counts. */
bool count_is_configured(void);
/* The context becomes active: what it counts is counted from now on. An error: it does not become active. */
rocprofiler_status_t count_start(struct context *c);
/* Whether the context counts dispatches. */
bool count_has(const struct context *c);
void count_stop(struct context *c);
/* Waits, 1 s at most each, until the dispatches that are being counted have their results, and these are shown. */
void count_settle(void);
/* HOT: the id that the dispatch got before it was submitted; 0: none. Holder of the queue's turn. */
uint64_t count_id_of(uint32_t queue, uint64_t packet);
/* From the table's layer. */
void count_install(const struct hsa_mirror_root *root);
/* The runtime is going away. */
void count_remove(void);

/* ---- host_functions.c ---- */

/* A function of the host that stands for a kernel: registered once, stays for the process. */
struct sdk_host_function {
	struct sdk_host_function *next; /* host_functions.c's */
	uint64_t function, modules;
	uint32_t thread_limit, workgroup_size;
	rocprofiler_dim3_t thread_ids, block_ids, block_dims, grid_dims; /* 0: not given */
	char name[];							 /* the kernel's, mangled */
};

/* Registrations from now on are kept. */
void host_functions_listen(const struct rtl_core *core);
/* The newest one that was registered under the name, before `after` if that is not NULL. NULL: there is none. Any thread, no lock. */
const struct sdk_host_function *host_functions_find(const char *name,
						    const struct sdk_host_function *after);

/* ---- operations.h ---- */

/* Operations are shown from now on if a context wants some. May be called again. */
void operations_start(void);
/* Waits, 10 s at most, until the operations that have been shown have ended and their ends are shown, too; 1 s if none ends. */
void operations_settle(void);
/* Puts the records of what has completed into the buffers. Waits, 1 s at most, for callbacks of operations before them. */
void operations_flush(void);
/* Other contexts are active, or tools use ids of their own, from now on. */
void dispatch_update(void);
/* From the table's layer. */
void dispatch_install(const struct hsa_mirror_root *root);
void scratch_install(const struct hsa_mirror_root *root);

/* ---- shown.c ---- */

/* Contexts that get a call: its callbacks, its record, its record with arguments. */
struct shown_wish {
	uint64_t callbacks, recorded, with_arguments;
};

static inline bool shown_wish_any(const struct shown_wish *w)
{
	return (w->callbacks | w->recorded | w->with_arguments) != 0;
}

/* HOT: of one reading of the active contexts: one that wants callbacks and records gets both or neither. */
static inline struct shown_wish shown_wish_of(uint32_t kind, uint32_t operation)
{
	/* acquire, all: pair with context.c, buffered.c: the services */
	uint64_t active = atomic_load_explicit(&context_active, memory_order_acquire);
	uint32_t ext = buffered_ext_of(kind);
	struct shown_wish w = {
		.callbacks = active & atomic_load_explicit(&context_wanted[kind][operation],
							   memory_order_acquire),
		.recorded =
			active &
			atomic_load_explicit(&buffered_wanted[buffered_kind_of(kind)][operation],
					     memory_order_acquire),
	};

	if (ext)
		w.with_arguments = active & atomic_load_explicit(&buffered_wanted[ext][operation],
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
	} of[SDK_MAX_CONTEXTS];
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
/* HOT: this thread's block for `owner`, a call in progress: the one that it had before, or another one. NULL: no memory. */
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
