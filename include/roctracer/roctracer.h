/* SPDX-License-Identifier: MIT */
/* roctracer.h - callbacks and records of runtime calls and GPU operations
 *
 * The API of AMD's roctracer 4.1 over the core of rocm-trace-lite. Link with -lroctracer64. Every
 * function may be called from any thread; callbacks run with no lock of the library's held and may call
 * back, but must not flush or close the pool whose buffer callback they are.
 *
 * Functions return ROCTRACER_STATUS_SUCCESS or what went wrong, which roctracer_error_string() tells in
 * words. Values are those of the library that a program is linked to: libroctracer64.so.4 has the
 * negative ones below, libroctracer64.so.1 answers with 1 and 4 to 8, as ROCm up to 5.2 did.
 */
#ifndef ROCTRACER_H_
#define ROCTRACER_H_

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

#include "ext/prof_protocol.h"

#define ROCTRACER_VERSION_MAJOR 4
#define ROCTRACER_VERSION_MINOR 1

/* Empty, as in AMD's headers. */
#define ROCTRACER_VERSION_4_1
#if defined(__GNUC__)
#define ROCTRACER_EXPORT_DECORATOR __attribute__((visibility("default")))
#else
#define ROCTRACER_EXPORT_DECORATOR
#endif
#define ROCTRACER_IMPORT_DECORATOR
/* There is no ROCTRACER_CALL here: clients call macros of their own so. */
#define ROCTRACER_EXPORT ROCTRACER_EXPORT_DECORATOR
#define ROCTRACER_IMPORT ROCTRACER_IMPORT_DECORATOR
#define ROCTRACER_API ROCTRACER_IMPORT

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version. */
ROCTRACER_API uint32_t roctracer_version_major(void);
ROCTRACER_API uint32_t roctracer_version_minor(void);

typedef enum {
	ROCTRACER_STATUS_SUCCESS = 0,
	ROCTRACER_STATUS_ERROR = -1,
	ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID = -2,
	ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT = -3,
	ROCTRACER_STATUS_ERROR_DEFAULT_POOL_UNDEFINED = -4,
	ROCTRACER_STATUS_ERROR_DEFAULT_POOL_ALREADY_DEFINED = -5,
	ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION = -6,
	ROCTRACER_STATUS_ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID = -7,
	ROCTRACER_STATUS_ERROR_NOT_IMPLEMENTED = -8,
	ROCTRACER_STATUS_UNINIT = 2,
	ROCTRACER_STATUS_BREAK = 3,
	ROCTRACER_STATUS_BAD_DOMAIN = ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID,
	ROCTRACER_STATUS_BAD_PARAMETER = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
	ROCTRACER_STATUS_HIP_API_ERR = 6,
	ROCTRACER_STATUS_HIP_OPS_ERR = 7,
	ROCTRACER_STATUS_HCC_OPS_ERR = ROCTRACER_STATUS_HIP_OPS_ERR,
	ROCTRACER_STATUS_HSA_ERR = 7,
	ROCTRACER_STATUS_ROCTX_ERR = 8
} roctracer_status_t;

/* The newest error of the calling thread, "" before any. A copy, the caller's to free(). */
ROCTRACER_API const char *roctracer_error_string(void);

typedef activity_domain_t roctracer_domain_t;

/* The name of an operation; static.
 *
 *	domain           | what it is the name of | if there is no such operation
 *	-----------------+------------------------+-------------------------------
 *	HIP_API, HSA_API | op                     | "unknown"
 *	HIP_OPS          | kind                   | what HIP calls it: "Unknown command type", later "Unknown command kind"
 *	HSA_OPS, HSA_EVT | op                     | NULL
 *	EXT_API          | nothing: "EXT_API"     |
 *	any other        |                        | NULL
 *
 * `kind` is that of the record, record->kind. It matters for HIP_OPS alone, whose `op` only tells kernels, copies and
 * barriers apart: with kind 0 every operation is an "InternalMarker". For the other domains pass 0. NULL comes with an
 * error text. */
ROCTRACER_API const char *roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind);
/* The operation of that name, as roctracer_op_string() gives it; for ROCTX the name of the function. `kind` may be NULL:
 * for HIP_OPS it is the operation's, for the others 0. ROCTRACER_STATUS_BAD_PARAMETER for a name that is not known: *op is
 * then 0 for HIP_API and the number of operations for the others, *kind is left alone. ROCTRACER_STATUS_BAD_DOMAIN for
 * KFD_API and what is no domain: both are left alone. */
ROCTRACER_API roctracer_status_t roctracer_op_code(uint32_t domain, const char *str, uint32_t *op,
						   uint32_t *kind);

/* Never needed. EXT_API takes a roctracer_ext_properties_t, HIP_API the handler of
 * roctracer_mark() or NULL; others are ignored. */
ROCTRACER_API roctracer_status_t roctracer_set_properties(roctracer_domain_t domain,
							  void *properties);

/* Callbacks: on the thread that makes the call, when it begins and when it ends. Registering for an op
 * takes the place of what was registered; NULL is no callback. Disabling what is not enabled is
 * success. All three forms of disabling may be used inside of a callback. */
typedef activity_rtapi_callback_t roctracer_rtapi_callback_t;

/* As `op` of a HIP call: every call, as with the form for a domain. */
#define ROCTRACER_OP_ANY UINT32_MAX

ROCTRACER_API roctracer_status_t roctracer_enable_op_callback(activity_domain_t domain, uint32_t op,
							      activity_rtapi_callback_t callback,
							      void *arg);
ROCTRACER_API roctracer_status_t roctracer_enable_domain_callback(
	activity_domain_t domain, activity_rtapi_callback_t callback, void *arg);
ROCTRACER_API roctracer_status_t roctracer_enable_callback(activity_rtapi_callback_t callback,
							   void *arg);
ROCTRACER_API roctracer_status_t roctracer_disable_op_callback(activity_domain_t domain,
							       uint32_t op);
ROCTRACER_API roctracer_status_t roctracer_disable_domain_callback(activity_domain_t domain);
ROCTRACER_API roctracer_status_t roctracer_disable_callback(void);

/* Records, in pools. */
typedef activity_record_t roctracer_record_t;
typedef void roctracer_pool_t;

/* *ptr NULL: allocate `size` bytes; *ptr set and size 0: free, and set it to NULL. */
typedef void (*roctracer_allocator_t)(char **ptr, size_t size, void *arg);
/* Whole records, at least one, valid during the call; always on the pool's own thread. */
typedef void (*roctracer_buffer_callback_t)(const char *begin, const char *end, void *arg);

typedef struct {
	uint32_t mode;	    /* ignored */
	size_t buffer_size; /* bytes of each of two halves; any size will do */
	roctracer_allocator_t alloc_fun;
	void *alloc_arg;
	roctracer_buffer_callback_t buffer_callback_fun; /* NULL: records are dropped */
	void *buffer_callback_arg;
} roctracer_properties_t;

/* `pool` NULL: the default pool. */
ROCTRACER_API roctracer_status_t roctracer_open_pool_expl(const roctracer_properties_t *properties,
							  roctracer_pool_t **pool);
ROCTRACER_API roctracer_status_t roctracer_open_pool(const roctracer_properties_t *properties);
/* Delivers what is in the pool first. ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION: the pool is closed, and some of its records
 * were lost: what the pool's own callback causes waits in memory that grows, and there was none. The error text says how
 * many. */
ROCTRACER_API roctracer_status_t roctracer_close_pool_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_close_pool(void);
/* The default pool until now; `pool` becomes the new one unless it is NULL. */
ROCTRACER_API roctracer_pool_t *roctracer_default_pool_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_pool_t *roctracer_default_pool(void);

/* `pool` NULL: the default pool of this moment. */
ROCTRACER_API roctracer_status_t roctracer_enable_op_activity_expl(activity_domain_t domain,
								   uint32_t op,
								   roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_enable_op_activity(activity_domain_t domain,
							      uint32_t op);
ROCTRACER_API roctracer_status_t roctracer_enable_domain_activity_expl(activity_domain_t domain,
								       roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_enable_domain_activity(activity_domain_t domain);
ROCTRACER_API roctracer_status_t roctracer_enable_activity_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_enable_activity(void);
ROCTRACER_API roctracer_status_t roctracer_disable_op_activity(activity_domain_t domain,
							       uint32_t op);
ROCTRACER_API roctracer_status_t roctracer_disable_domain_activity(activity_domain_t domain);
ROCTRACER_API roctracer_status_t roctracer_disable_activity(void);

/* Returns when the callback has returned for all that was written to the pool before. Does not wait for
 * the GPU. ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION: as for closing, of what was lost since the last flush. */
ROCTRACER_API roctracer_status_t roctracer_flush_activity_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_flush_activity(void);

ROCTRACER_API roctracer_status_t roctracer_next_record(const activity_record_t *record,
						       const activity_record_t **next);

typedef uint64_t roctracer_timestamp_t;
/* Now, in ns of the clock that records have. */
ROCTRACER_API roctracer_status_t roctracer_get_timestamp(roctracer_timestamp_t *timestamp);

/* What AMD's headers leave out and its library has. */
ROCTRACER_API void roctracer_mark(const char *text);
ROCTRACER_API int roctracer_load(void);
ROCTRACER_API void roctracer_unload(void);
ROCTRACER_API void roctracer_flush_buf(void);

/* Other names of the above: the specification's, which AMD's library does not have. They are here alone, so that a program
 * that uses them runs with AMD's library, too. */
typedef activity_api_phase_t roctracer_api_phase_t;
#define ROCTRACER_API_PHASE_ENTER ACTIVITY_API_PHASE_ENTER
#define ROCTRACER_API_PHASE_EXIT ACTIVITY_API_PHASE_EXIT

static inline uint32_t roctracer_major_version(void)
{
	return roctracer_version_major();
}

static inline uint32_t roctracer_minor_version(void)
{
	return roctracer_version_minor();
}

/* With kind 0: for calls, and operations of HSA's. */
static inline const char *roctracer_id_string(uint32_t domain, uint32_t op)
{
	return roctracer_op_string(domain, op, 0);
}

static inline roctracer_status_t roctracer_disable_api_callback(void)
{
	return roctracer_disable_callback();
}

static inline roctracer_status_t roctracer_disable_api_activity(void)
{
	return roctracer_disable_activity();
}

#ifdef __cplusplus
}
#endif

#endif
