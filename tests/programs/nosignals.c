/* SPDX-License-Identifier: MIT */
/* nosignals.c - an HSA tool, loaded before librtl, that limits it to NOSIGNALS_AFTER signals
 *
 * librtl's signals have the attribute that the GPU alone uses them, the program's do not.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "hsa_table_gen.h"

static hsa_amd_signal_create_fn_t real_create;
static long left;

static hsa_status_t create(hsa_signal_value_t value, uint32_t nr, const hsa_agent_t *consumers,
			   uint64_t attributes, hsa_signal_t *signal)
{
	if ((attributes & HSA_AMD_SIGNAL_AMD_GPU_ONLY) &&
	    __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) <= 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	return real_create(value, nr, consumers, attributes, signal);
}

__attribute__((visibility("default"))) bool OnLoad(void *table, uint64_t version,
						   uint64_t nr_failed, const char *const *failed);
bool OnLoad(void *table, uint64_t version, uint64_t nr_failed, const char *const *failed)
{
	const struct hsa_mirror_root *root = table;
	void **slot = hsa_table_amd_slot(root->amd_ext, HSA_AMD_signal_create);
	const char *after = getenv("NOSIGNALS_AFTER");

	(void)version;
	(void)nr_failed;
	(void)failed;
	left = after ? strtol(after, NULL, 10) : 0;
	real_create = (hsa_amd_signal_create_fn_t)*slot;
	*slot = (void *)create;
	return true;
}
