/* SPDX-License-Identifier: MIT */
/* sdk.h - what the files of librocprofiler-sdk share
 *
 *	basic.c         versions, statuses, time
 *	names.c         kinds and operations by name
 *	registration.c  tools: found, configured, initialised, finalised; the way in
 *	context.c       contexts and their services
 *	external.c      ids of the tool's own
 *	calls.c         HIP's and HSA's calls become callbacks
 *	markers.c       roctx's calls do
 *	shown.c         what callbacks of calls share
 *	code_object.c   code objects and their kernels
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

#include "../librtl/core.h"
#include "base/compiler.h"
#include "rocprofiler-sdk/registration.h"
#include "rocprofiler-sdk/rocprofiler.h"
#include "tables.h"

#define SDK_NR_KINDS ((uint32_t)ROCPROFILER_CALLBACK_TRACING_LAST)
#define SDK_MAX_OPERATIONS 1024u
#define SDK_MAX_CONTEXTS 64u
#define SDK_MAX_CLIENTS 64u

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

extern RTL_HIDDEN _Atomic bool registration_is_done;
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

struct service {
	rocprofiler_callback_tracing_cb_t fn;
	void *arg;
};

struct context {
	rocprofiler_context_id_t id;
	int client;
	struct service services[SDK_NR_KINDS]; /* fn NULL: none; written within initialize */
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
/* HOT: by its bit. It exists. */
struct context *context_at(unsigned int index);
/* NULL: there is no such context. */
struct context *context_find(rocprofiler_context_id_t id);
/* Whether any context has a service of the kind. */
bool context_has(rocprofiler_callback_tracing_kind_t kind);
/* Stops all contexts of a client. */
void context_stop_client(int client);

/* ---- external.c ---- */

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
/* Subscribes to what active contexts want, from the first use on. */
void calls_update(void);
/* HSA's runtime is being loaded: now is the time to turn HIP's own callbacks on, where no wrapper shows its calls. */
void calls_on_runtime(void);

/* ---- markers.c ---- */
void markers_start(const struct rtl_core *core);

/* ---- code_object.c ---- */

/* The core's code objects are noted from now on; those that are loaded already as well. May be called again. */
void code_object_listen(void);
/* From the table's layer. */
void code_object_install(const struct hsa_mirror_root *root);
/* Shows what is loaded to active contexts that have not got it. */
void code_object_show(void);
/* Shows the end of all that was shown. */
void code_object_end(void);

/* ---- shown.c ---- */

/* A call that callbacks have seen begin. The thread keeps it for its next call. */
struct shown_call {
	struct shown_call *next; /* of the thread's */
	const void *owner;	 /* what it was made for */
	uint64_t mask;		 /* contexts that get its end; 0: none */
	rocprofiler_correlation_id_t correlation;
	uint32_t kind, operation;
	uint64_t tid;
	union {
		rocprofiler_callback_tracing_hip_api_data_t hip;
		rocprofiler_callback_tracing_hsa_api_data_t hsa;
		rocprofiler_callback_tracing_marker_api_data_t marker;
	} payload;
	struct {
		rocprofiler_user_data_t external, user;
	} of[SDK_MAX_CONTEXTS];
};

/* HOT: this thread's block for `owner`, a call in progress: the one that it had before, or another one. NULL: no memory. */
struct shown_call *shown_call_get(const void *owner);
/* HOT: the one for which shown_call_get() was called; NULL: none. */
struct shown_call *shown_call_find(const void *owner);
/* HOT: calls the tools in `mask`. correlation.external is set for each of them. */
void shown_call_begin(struct shown_call *s,
		      rocprofiler_external_correlation_id_request_kind_t request);
void shown_call_end(struct shown_call *s);

#endif
