/* SPDX-License-Identifier: MIT */
/* passthrough.c - an HSA tool that intercepts every queue and does nothing
 *
 * The floor for a tracing tool (bench/), and the defect that one has to avoid:
 * an intercepted queue accepts packets at once, so that the program no longer notices that the
 * hardware ring is full, and ROCr 5.2.3 aborts it (tests/scenario, "never overflows a queue").
 *
 *	HSA_TOOLS_LIB=.../libpassthrough.so program
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hsa_table_gen.h"

#define EXPORT __attribute__((visibility("default")))

static hsa_queue_create_fn_t plain_create;
static hsa_amd_queue_intercept_create_fn_t intercept_create;
static hsa_amd_queue_intercept_register_fn_t intercept_register;
static hsa_amd_profiling_set_profiler_enabled_fn_t set_profiler;

static void pass(const void *packets, uint64_t nr, uint64_t index, void *data,
		 hsa_amd_queue_intercept_packet_writer writer)
{
	(void)index;
	(void)data;
	writer(packets, nr);
}

static void intercept(hsa_queue_t *queue)
{
	set_profiler(queue, 1);
	intercept_register(queue, pass, NULL);
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			   void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
			   void *data, uint32_t private_segment_size, uint32_t group_segment_size,
			   hsa_queue_t **queue)
{
	hsa_status_t status = intercept_create(agent, size, type, callback, data,
					       private_segment_size, group_segment_size, queue);

	if (status != HSA_STATUS_SUCCESS)
		return plain_create(agent, size, type, callback, data, private_segment_size,
				    group_segment_size, queue);
	intercept(*queue);
	return status;
}

static void runtime_queue(const hsa_queue_t *queue, hsa_agent_t agent, void *data)
{
	(void)agent;
	(void)data;
	intercept((hsa_queue_t *)queue);
}

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed);
EXPORT void OnUnload(void);

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed)
{
	struct hsa_mirror_root *root = table;
	void **slot = hsa_table_core_slot(root->core, HSA_CORE_queue_create);
	void **amd_create = hsa_table_amd_slot(root->amd_ext, HSA_AMD_queue_intercept_create);
	void **amd_register = hsa_table_amd_slot(root->amd_ext, HSA_AMD_queue_intercept_register);
	void **profiler = hsa_table_amd_slot(root->amd_ext, HSA_AMD_profiling_set_profiler_enabled);
	void **announce = hsa_table_amd_slot(root->amd_ext, HSA_AMD_runtime_queue_create_register);

	(void)runtime_version;
	(void)nr_failed;
	(void)failed;
	if (!slot || !amd_create || !amd_register || !profiler)
		return false;
	plain_create = (hsa_queue_create_fn_t)*slot;
	intercept_create = (hsa_amd_queue_intercept_create_fn_t)*amd_create;
	intercept_register = (hsa_amd_queue_intercept_register_fn_t)*amd_register;
	set_profiler = (hsa_amd_profiling_set_profiler_enabled_fn_t)*profiler;
	if (announce)
		((hsa_amd_runtime_queue_create_register_fn_t)*announce)(runtime_queue, NULL);
	*slot = (void *)create;
	return true;
}

EXPORT void OnUnload(void)
{
}
