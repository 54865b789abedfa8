/* SPDX-License-Identifier: MIT */
/* old_tool.c - a tool of ROCm 5.2's: HSA's runtime loads it, and it hands the tables over */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roctracer/roctracer.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed);
EXPORT void OnUnload(void);

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed)
{
	(void)runtime_version;
	(void)nr_failed;
	(void)failed;
	return roctracer_set_properties(ACTIVITY_DOMAIN_HSA_API, table) == ROCTRACER_STATUS_SUCCESS;
}

EXPORT void OnUnload(void)
{
}
