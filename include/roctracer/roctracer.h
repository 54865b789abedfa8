/* SPDX-License-Identifier: MIT */
/* roctracer.h - callbacks and records of runtime calls and GPU operations
 *
 * The API of AMD's roctracer 4.1 over the core of rocm-trace-lite. Link with -lroctracer64. Every
 * function may be called from any thread. The library calls callbacks without holding a lock; they
 * may call its functions, but a buffer callback must not flush or close its own pool.
 *
 * Functions return ROCTRACER_STATUS_SUCCESS or an error status; roctracer_error_string() returns
 * its description. The values depend on the library that a program is linked to:
 * libroctracer64.so.4 returns the negative ones below, libroctracer64.so.1 returns 1 and 4 to 8, as
 * ROCm up to 5.2 did.
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
/* ROCTRACER_CALL is not defined: clients define macros of that name. */
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

/* The description of the calling thread's last error, "" before any. The caller frees it with
 * free(). */
ROCTRACER_API const char *roctracer_error_string(void);

typedef activity_domain_t roctracer_domain_t;

/* The name of an operation; a static string.
 *
 *	domain           | argument that is named | if the operation does not exist
 *	-----------------+------------------------+-------------------------------
 *	HIP_API, HSA_API | op                     | "unknown"
 *	HIP_OPS          | kind                   | HIP's text: "Unknown command type", later
 *						  "Unknown command kind"
 *	HSA_OPS, HSA_EVT | op                     | NULL
 *	EXT_API          | nothing: "EXT_API"     |
 *	any other        |                        | NULL
 *
 * `kind` is record->kind. Only HIP_OPS uses it, because its `op` only distinguishes kernels, copies
 * and
 * barriers: with kind 0 every operation is an "InternalMarker". Pass 0 for the other domains. When
 * the result is NULL, roctracer_error_string() has the reason. */
ROCTRACER_API const char *roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind);
/* Sets *op to the operation of that name, as returned by roctracer_op_string(); for ROCTX the name
 * of the function. `kind` may be
 * NULL: *kind is the operation's for HIP_OPS, 0 for the others. ROCTRACER_STATUS_BAD_PARAMETER for
 * an unknown name: *op is then 0 for HIP_API and the number of operations for the others, and *kind
 * is unchanged. ROCTRACER_STATUS_BAD_DOMAIN for KFD_API and invalid domains: both are unchanged. */
ROCTRACER_API roctracer_status_t roctracer_op_code(uint32_t domain, const char *str, uint32_t *op,
						   uint32_t *kind);

/* Programs need not call it. EXT_API takes a roctracer_ext_properties_t, HIP_API the handler of
 * roctracer_mark() or NULL; properties of other domains are ignored. */
ROCTRACER_API roctracer_status_t roctracer_set_properties(roctracer_domain_t domain,
							  void *properties);

/* Callbacks run on the thread that makes the call, at its begin and at its end. A new callback for
 * an op replaces the old one; NULL removes it. Disabling an op that is not enabled
 * succeeds. All three disable functions may be called within a callback. */
typedef activity_rtapi_callback_t roctracer_rtapi_callback_t;

/* In place of the `op` of a HIP call: every call, as with the functions for a whole domain. */
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

/* Activity records, collected in pools. */
typedef activity_record_t roctracer_record_t;
typedef void roctracer_pool_t;

/* *ptr NULL: allocate `size` bytes; *ptr set and size 0: free, and set it to NULL. */
typedef void (*roctracer_allocator_t)(char **ptr, size_t size, void *arg);
/* Gets whole records, at least one, which are valid during the call. Runs on the pool's own
 * thread. */
typedef void (*roctracer_buffer_callback_t)(const char *begin, const char *end, void *arg);

typedef struct {
	uint32_t mode;	    /* ignored */
	size_t buffer_size; /* bytes of each of the two halves; any size is valid */
	roctracer_allocator_t alloc_fun;
	void *alloc_arg;
	roctracer_buffer_callback_t buffer_callback_fun; /* NULL: records are dropped */
	void *buffer_callback_arg;
} roctracer_properties_t;

/* `pool` NULL: the default pool. */
ROCTRACER_API roctracer_status_t roctracer_open_pool_expl(const roctracer_properties_t *properties,
							  roctracer_pool_t **pool);
ROCTRACER_API roctracer_status_t roctracer_open_pool(const roctracer_properties_t *properties);
/* Delivers the pool's records, then closes it. ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION: the pool
 * is closed, but some records were lost: records that the pool's own callback causes wait in memory
 * that grows, which ran out. The error text has their number. */
ROCTRACER_API roctracer_status_t roctracer_close_pool_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_close_pool(void);
/* Returns the default pool; then `pool` becomes the default pool, unless it is NULL. */
ROCTRACER_API roctracer_pool_t *roctracer_default_pool_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_pool_t *roctracer_default_pool(void);

/* `pool` NULL: the present default pool. */
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

/* Returns when the callback has returned for all records that were in the pool. Does not wait for
 * the GPU. ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION: records were lost since the last flush, as for
 * closing. */
ROCTRACER_API roctracer_status_t roctracer_flush_activity_expl(roctracer_pool_t *pool);
ROCTRACER_API roctracer_status_t roctracer_flush_activity(void);

ROCTRACER_API roctracer_status_t roctracer_next_record(const activity_record_t *record,
						       const activity_record_t **next);

typedef uint64_t roctracer_timestamp_t;
/* The present time in ns, by the clock of records. */
ROCTRACER_API roctracer_status_t roctracer_get_timestamp(roctracer_timestamp_t *timestamp);

/* AMD's library exports these, but its headers do not declare them. */
ROCTRACER_API void roctracer_mark(const char *text);
ROCTRACER_API int roctracer_load(void);
ROCTRACER_API void roctracer_unload(void);
ROCTRACER_API void roctracer_flush_buf(void);

/* The specification's names for the above, which AMD's library does not export. They exist only in
 * this header, so that a program that uses them runs with AMD's library, too. */
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

/* With kind 0: for calls, and for operations of HSA. */
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
