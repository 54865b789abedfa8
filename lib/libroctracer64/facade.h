/* SPDX-License-Identifier: MIT */
/* facade.h - what the files of libroctracer64 share
 *
 *	api.c       the exported functions: what they are in roctracer.h
 *	error.c     errors: a text for each thread, a status for each generation
 *	names.c     operations by name and by number
 *	registry.c  the callback and the pool of each operation
 *	devices.c   HIP's index and the KFD's node of a device
 *	record.c    records of calls and operations
 *	stream.c    the core's operations and ranges become callbacks and records; start and stop
 *	calls.c     the core's API calls do
 *	hsa_ops.c   records of HSA's operations
 *	kernel_names.c  names of kernels that HIP does not report
 *
 * Events of HSA are the kit's (face/hsa_events.h).
 *
 * A pool is a buffer of the kit (face/buffer.h). No lock is held while the program's code runs.
 */
#ifndef RTL_LIB_LIBROCTRACER64_FACADE_H
#define RTL_LIB_LIBROCTRACER64_FACADE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../face/buffer.h"
#include "../face/link.h"
#include "../face/slot.h"
#include "roctracer/ext/prof_protocol.h"
#include "roctracer/roctracer.h"
#include "roctracer/roctracer_ext.h"

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

/* Sets the thread's error text to "outer(), inner(), text". Returns `e`. */
enum error error_set(enum error e, const char *outer, const char *inner, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The error as a status of this library's generation. */
roctracer_status_t error_status(enum error e);
/* A copy of the thread's text, never NULL. */
const char *error_text(void);

/* ---- names.c ---- */
const char *names_op(uint32_t domain, uint32_t op, uint32_t kind);
enum error names_code(uint32_t domain, const char *name, uint32_t *op, uint32_t *kind);
/* One more than the largest number of an operation; 0 for a domain that has none. */
uint32_t names_nr_ops(uint32_t domain);

/* ---- registry.c ---- */
#define REGISTRY_MAX_OPS 1024u

/* Subscribes to the operation, or ends that. Under registry.c's lock. */
typedef void (*registry_want_fn)(uint32_t domain, uint32_t op, bool on);
/* `want` is called for each change from now on. Once, before any other function. */
void registry_start(registry_want_fn want);

enum error registry_callback(const char *outer, uint32_t domain, uint32_t op,
			     activity_rtapi_callback_t fn, void *arg);
/* `pool` NULL: disable. */
enum error registry_activity(const char *outer, uint32_t domain, uint32_t op, struct buffer *pool);
/* For all operations of a domain. */
enum error registry_domain_callback(const char *outer, uint32_t domain,
				    activity_rtapi_callback_t fn, void *arg);
enum error registry_domain_activity(const char *outer, uint32_t domain, struct buffer *pool);
/* Disables every operation that writes to the pool. */
void registry_forget_pool(const struct buffer *pool);

struct registered {
	struct slot callback;
	_Atomic(struct buffer *) pool;
};
extern RTL_HIDDEN struct registered registry_table[ACTIVITY_DOMAIN_NUMBER][REGISTRY_MAX_OPS];

/* HOT: what is registered now; NULL: nothing. */
static inline activity_rtapi_callback_t registry_get_callback(uint32_t domain, uint32_t op,
							      void **arg)
{
	return slot_get(&registry_table[domain][op % REGISTRY_MAX_OPS].callback, arg);
}

static inline struct buffer *registry_get_pool(uint32_t domain, uint32_t op)
{
	/* acquire: pairs with the release in registry.c: the pool's making */
	return atomic_load_explicit(&registry_table[domain][op % REGISTRY_MAX_OPS].pool,
				    memory_order_acquire);
}

/* ---- devices.c ---- */
/* The device of HIP's record as this generation's clients expect it: node (4) or index (1). Once
 * HIP and HSA are initialised. */
int devices_id(int given);

/* ---- kernel_names.c ---- */
/* HIP reports no names of kernels in graphs. */
bool kernel_names_are_needed(void);
/* From now on kernels of packets are kept, for records of HIP's operations; kernel_names_add() has
 * those that are loaded. Called once. */
void kernel_names_start(void);
/* A kernel was loaded. `name` stays. */
void kernel_names_add(uint64_t object, const char *name);
/* HOT: the name of the kernel for which HSA's runtime gave this thread these times; NULL:
 * unknown. */
const char *kernel_names_find(uint64_t begin_ns, uint64_t end_ns);

/* ---- hsa_ops.c ---- */
/* Subscribes to kernels, agents and queues, before they are made, so that records can name them.
 * May be called again.
 * false: the core has no free sink. */
bool hsa_ops_listen(void);
/* HSA's runtime has loaded this library as a tool: enabled records are written from now on. Under
 * ROCr's init lock. */
void hsa_ops_start(void);
/* Whether records of any operation are enabled. */
bool hsa_ops_any(void);

/* ---- stream.c ---- */
/* Waits for the records of operations whose end the program has waited for. */
void stream_settle(void);
/* HSA's runtime offers its tables. */
bool stream_on_load(void *table);
/* Starts or stops tracing. true: that was a change. */
bool stream_switch(bool on);

#endif
