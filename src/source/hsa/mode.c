/* SPDX-License-Identifier: MIT */
/* mode.c - which packets are traced, and how queues are made for that */
#define LOG_TOPIC "hsa"
#include "source/hsa/mode.h"

#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "base/rocr.h"
#include "source/hsa/table/real.h"

enum mode mode_packets = MODE_STANDARD;
bool mode_intercepts;

/* Interposition works on every runtime; intercept queues are used only on request. */
static bool wants_intercept(const struct hsa_mirror_root *root)
{
	uint32_t bytes = ((const struct hsa_mirror_version *)root->amd_ext)->minor_id;
	char build_id[ROCR_BUILD_ID_SIZE];
	const char *fault;

	if (strcmp(env_str(ENV_QUEUES), "intercept") != 0)
		return false;
	if (!real.hsa_amd_queue_intercept_create || !real.hsa_amd_queue_intercept_register) {
		log_warn("RTL_QUEUES=intercept: this runtime has no intercept queues; queues are "
			 "interposed");
		return false;
	}
	rocr_build_id_of((const void *)real.hsa_system_get_info, build_id);
	fault = rocr_intercept_fault(bytes, build_id);
	if (fault)
		log_warn(
			"RTL_QUEUES=intercept: not with this runtime (build id %s): %s; queues are "
			"interposed",
			build_id[0] ? build_id : "unknown", fault);
	return !fault;
}

void mode_choose(const struct hsa_mirror_root *root)
{
	const char *mode = env_str(ENV_MODE);

	mode_packets = strcmp(mode, "lite") == 0 ? MODE_LITE :
		       strcmp(mode, "full") == 0 ? MODE_FULL :
						   MODE_STANDARD;
	mode_intercepts = wants_intercept(root);
}
