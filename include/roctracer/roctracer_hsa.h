/* SPDX-License-Identifier: MIT */
/* roctracer_hsa.h - HSA's calls and operations in callbacks and records */
#ifndef ROCTRACER_HSA_H_
#define ROCTRACER_HSA_H_

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa_ostream_ops.h"
#include "hsa_prof_str.h"
#include "roctracer.h"

/* The `op` of records of ACTIVITY_DOMAIN_HSA_OPS, whose `kind` is 0. */
enum hsa_op_id_t {
	HSA_OP_ID_DISPATCH = 0,
	HSA_OP_ID_COPY = 1,
	HSA_OP_ID_BARRIER = 2,
	HSA_OP_ID_RESERVED1 = 3,
	HSA_OP_ID_NUMBER = 4
};

enum hsa_evt_id_t {
	HSA_EVT_ID_ALLOCATE = 0,
	HSA_EVT_ID_DEVICE = 1,
	HSA_EVT_ID_MEMCOPY = 2,
	HSA_EVT_ID_SUBMIT = 3,
	HSA_EVT_ID_KSYMBOL = 4,
	HSA_EVT_ID_CODEOBJ = 5,
	HSA_EVT_ID_NUMBER
};
#ifndef __cplusplus
typedef enum hsa_op_id_t hsa_op_id_t;
typedef enum hsa_evt_id_t hsa_evt_id_t;
#endif

typedef struct {
	union {
		struct {
			const void *ptr;
			size_t size; /* 0: freed */
			hsa_amd_segment_t segment;
			hsa_amd_memory_pool_global_flag_t global_flag;
			int is_code;
		} allocate;
		struct {
			hsa_device_type_t type;
			uint32_t id;
			hsa_agent_t agent;
			const void *ptr;
		} device;
		struct {
			const void *dst;
			const void *src;
			size_t size;
		} memcopy;
		struct {
			const void *packet;
			const char *kernel_name;
			hsa_queue_t *queue;
			uint32_t device_type;
			uint32_t device_id;
		} submit;
		struct {
			uint64_t object;
			const char *name;
			uint32_t name_length;
			int unload;
		} ksymbol;
		struct {
			uint32_t storage_type;
			int storage_file;
			uint64_t memory_base;
			uint64_t memory_size;
			uint64_t load_base;
			uint64_t load_size;
			uint64_t load_delta;
			uint32_t uri_length;
			const char *uri;
			int unload;
		} codeobj;
	};
} hsa_evt_data_t;

/* Accepted by roctracer_set_properties() and ignored. */
#ifdef __cplusplus
namespace roctracer
{
#endif
typedef struct {
	void *reserved1[4];
} hsa_ops_properties_t;
#ifdef __cplusplus
}
using roctracer::hsa_ops_properties_t;
#endif

#endif
