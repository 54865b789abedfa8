/* SPDX-License-Identifier: MIT */
/* sidequeue.c - an HSA tool, loaded before librtl, that creates the program's queues past librtl
 *
 * Like a runtime whose HIP creates queues by another function: from the first hsa_iterate_agents()
 * on, hsa_queue_create() is the runtime's own again.
 */
#include <stdbool.h>
#include <stdint.h>

#include "hsa_table_gen.h"

static hsa_iterate_agents_fn_t real_iterate;
static void *real_create, **create_slot;

static hsa_status_t iterate(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
	*create_slot = real_create;
	return real_iterate(callback, data);
}

__attribute__((visibility("default"))) bool OnLoad(void *table, uint64_t version,
						   uint64_t nr_failed, const char *const *failed);
bool OnLoad(void *table, uint64_t version, uint64_t nr_failed, const char *const *failed)
{
	const struct hsa_mirror_root *root = table;
	void **slot = hsa_table_core_slot(root->core, HSA_CORE_iterate_agents);

	(void)version;
	(void)nr_failed;
	(void)failed;
	create_slot = hsa_table_core_slot(root->core, HSA_CORE_queue_create);
	real_create = *create_slot;
	real_iterate = (hsa_iterate_agents_fn_t)*slot;
	*slot = (void *)iterate;
	return true;
}
