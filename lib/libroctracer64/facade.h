/* SPDX-License-Identifier: MIT */
/* facade.h - what the files of libroctracer64 share
 *
 *	api.c       the exported functions: what they are in roctracer.h
 *	error.c     errors: a text for each thread, a status for each generation
 *	names.c     operations by name and by number
 *	registry.c  who wants what: a callback and a pool for each operation
 *	pool.c      pools of records
 *	devices.c   what HIP calls a device, and what the KFD calls it
 *	stream.c    from the core's operations and ranges to callbacks and records; started and stopped
 *	calls.c     the same from its API calls
 *	hsa_ops.c   records of HSA's operations
 *	kernel_names.c  names of kernels that HIP does not give
 *	hsa_events.c, hsa_kernels.c  what happens in HSA, from those calls
 *
 * Locks, outermost first: registry.c's, hsa_events.c's, one pool's. None is held while the program's code runs.
 */
#ifndef RTL_LIB_LIBROCTRACER64_FACADE_H
#define RTL_LIB_LIBROCTRACER64_FACADE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../librtl/core.h"
#include "roctracer/ext/prof_protocol.h"
#include "roctracer/roctracer.h"
#include "roctracer/roctracer_ext.h"

/* ---- forks: the child must find every lock free (tools/check_forks.py). In this order, and hsa_events.h's before
 * pool.c's: a lock may be taken inside of those before it ---- */
void api_hold(bool on);
void registry_hold(bool on);
void pool_hold(bool on);

/* ---- error.c ---- */
enum error {
	ERROR_NONE,
	ERROR_GENERAL,
	ERROR_DOMAIN,
	ERROR_ARGUMENT,
	ERROR_NO_DEFAULT_POOL,
	ERROR_DEFAULT_POOL_SET,
	ERROR_MEMORY,
	ERROR_EMPTY_STACK,
	ERROR_HIP_API_OP,
	ERROR_HIP_OPS_OP,
	ERROR_HSA_OP,
	ERROR_ROCTX_OP,
	ERROR_NR
};

/* What went wrong becomes the thread's error text: "outer(), inner(), text". Returns `e`. */
enum error error_set(enum error e, const char *outer, const char *inner, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The status of this library's generation. */
roctracer_status_t error_status(enum error e);
/* A copy of the thread's text, never NULL. */
const char *error_text(void);

/* ---- what a thread has; NULL without memory ---- */
struct per_thread {
	char error[256];
	uint64_t *external; /* stack of ids */
	uint32_t nr_external, external_size;
};
struct per_thread *thread_own(void);

/* ---- names.c ---- */
const char *names_op(uint32_t domain, uint32_t op, uint32_t kind);
enum error names_code(uint32_t domain, const char *name, uint32_t *op, uint32_t *kind);
/* One more than the largest number of an operation; 0 for a domain that has none. */
uint32_t names_nr_ops(uint32_t domain);

/* ---- pool.c ---- */
struct pool;

enum error pool_open(const roctracer_properties_t *properties, struct pool **out);
/* Delivers what is there, ends the thread. Not on the pool's own thread: ERROR_GENERAL. *nr_lost: as pool_take_lost(). */
enum error pool_close(struct pool *p, uint64_t *nr_lost);
/* Records that there was no memory for, since the last time that it was asked for. */
uint64_t pool_take_lost(struct pool *p);
/* On the pool's own thread: nothing to wait for. */
void pool_flush(struct pool *p);
/* This is the thread of a pool, in the program's callback. */
bool pool_is_delivering(void);
/* Writes `nr` records together; the last one's kernel_name is copied if it is a dispatch. Blocks while
 * both halves are full. Dropped if the pool is closed. */
void pool_write(struct pool *p, const activity_record_t *records, uint32_t nr);

/* ---- registry.c ---- */
#define REGISTRY_MAX_OPS 1024u

enum error registry_callback(const char *outer, uint32_t domain, uint32_t op,
			     activity_rtapi_callback_t fn, void *arg);
/* `pool` NULL: disable. */
enum error registry_activity(const char *outer, uint32_t domain, uint32_t op, struct pool *pool);
/* The same for all operations of a domain. */
enum error registry_domain_callback(const char *outer, uint32_t domain,
				    activity_rtapi_callback_t fn, void *arg);
enum error registry_domain_activity(const char *outer, uint32_t domain, struct pool *pool);
/* No operation writes to the pool any more. */
void registry_forget_pool(const struct pool *pool);

/* What is wanted now; NULL: nothing. HOT */
activity_rtapi_callback_t registry_get_callback(uint32_t domain, uint32_t op, void **arg);
struct pool *registry_get_pool(uint32_t domain, uint32_t op);

/* ---- devices.c ---- */
/* What this generation's clients expect of a device that HIP's record names so: its node (4) or its index (1). Once
 * HIP and HSA are up. */
int devices_id(int given);

/* ---- kernel_names.c ---- */
/* HIP's operations are wanted: from now on the kernels of packets are kept. Once. */
void kernel_names_start(void);
/* A kernel was loaded. `name` stays. */
void kernel_names_add(uint64_t object, const char *name);
/* HOT: of the kernel for whose times this thread last got these; NULL: not known. */
const char *kernel_names_find(uint64_t begin_ns, uint64_t end_ns);

/* ---- hsa_ops.c ---- */
/* Hears of kernels, agents and queues from now on: before they are made, so that records can name them. Any number of
 * times. false: no room among the core's sinks. */
bool hsa_ops_listen(void);
/* HSA's runtime has loaded this library as a tool, under ROCr's init lock: records are written where they are wanted. */
void hsa_ops_start(void);
/* Whether any are wanted. */
bool hsa_ops_any(void);

/* ---- stream.c ---- */
/* The name of a kernel that has none: clients take it for a text. */
#define UNKNOWN_KERNEL "unknown kernel"

/* NULL: librtl is of another build; then nothing is traced. */
const struct rtl_core *stream_core(void);
/* Something of the operation is wanted, or nothing. Under registry.c's lock. */
void stream_want(uint32_t domain, uint32_t op, bool on);
bool stream_is_stopped(void);
/* The record of a call that this thread has made, and before it that of the thread's external id. */
void stream_write_call(struct pool *pool, uint32_t domain, uint32_t op, uint64_t correlation,
		       uint64_t begin_ns, uint64_t end_ns);
/* Waits until the records of operations that calls have waited for are written. */
void stream_settle(void);
/* HSA's runtime offers its tables. */
bool stream_on_load(void *table);
/* Tracing goes on or pauses; true when that is a change. */
bool stream_switch(bool on);

#endif
