/* SPDX-License-Identifier: MIT */
/* prof_protocol.h - domains, records and callback types, shared by users of roctracer and runtimes
 *
 * Values, sizes and offsets are those of roctracer 4.1 and never change: a record is 64 bytes.
 */
#ifndef EXT_PROF_PROTOCOL_H_
#define EXT_PROF_PROTOCOL_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Tracing domains. */
typedef enum {
	ACTIVITY_DOMAIN_HSA_API = 0,
	ACTIVITY_DOMAIN_HSA_OPS = 1,
	ACTIVITY_DOMAIN_HIP_OPS = 2, /* kernels, copies, barriers of HIP */
	ACTIVITY_DOMAIN_HCC_OPS = ACTIVITY_DOMAIN_HIP_OPS,
	ACTIVITY_DOMAIN_HIP_VDI = ACTIVITY_DOMAIN_HIP_OPS,
	ACTIVITY_DOMAIN_HIP_API = 3,
	ACTIVITY_DOMAIN_KFD_API = 4, /* never had any operations */
	ACTIVITY_DOMAIN_EXT_API = 5, /* external correlation ids */
	ACTIVITY_DOMAIN_ROCTX = 6,
	ACTIVITY_DOMAIN_HSA_EVT = 7,
	ACTIVITY_DOMAIN_NUMBER
} activity_domain_t;

/* Operations of ACTIVITY_DOMAIN_EXT_API. */
typedef enum { ACTIVITY_EXT_OP_MARK = 0, ACTIVITY_EXT_OP_EXTERN_ID = 1 } activity_ext_op_t;

typedef enum { ACTIVITY_API_PHASE_ENTER = 0, ACTIVITY_API_PHASE_EXIT = 1 } activity_api_phase_t;

typedef uint32_t activity_kind_t;
typedef uint32_t activity_op_t;
typedef uint64_t activity_correlation_id_t;

/* AMD's tag is activity_record_s, the specification's activity_record_t: in C++ a tag and a typedef
 * of the same name must be the same type. */
#define activity_record_s activity_record_t
typedef struct activity_record_t {
	uint32_t domain;
	activity_kind_t kind;
	activity_op_t op;
	union {
		struct {
			activity_correlation_id_t correlation_id;
			uint64_t begin_ns;
			uint64_t end_ns;
		};
		struct {
			uint32_t se;
			uint64_t cycle;
			uint64_t pc;
		} pc_sample;
	};
	union {
		struct {
			int device_id;
			uint64_t queue_id;
		};
		struct {
			uint32_t process_id;
			uint32_t thread_id;
		};
		struct {
			activity_correlation_id_t external_id;
		};
	};
	union {
		size_t bytes;		  /* of a copy */
		const char *kernel_name;  /* of a dispatch; may be NULL */
		const char *mark_message; /* of a mark */
	};
} activity_record_t;

/* The program's callback for calls and markers. `data` is borrowed for the call. */
typedef void (*activity_rtapi_callback_t)(uint32_t domain, uint32_t cid, const void *data,
					  void *arg);

/* Between a runtime and the tracer. */
typedef void (*activity_sync_callback_t)(uint32_t cid, activity_record_t *record, const void *data,
					 void *arg);
typedef void (*activity_async_callback_t)(uint32_t op, void *record, void *arg);
typedef void (*activity_id_callback_t)(activity_correlation_id_t id);

#endif
