/* SPDX-License-Identifier: MIT */
/* hip_main.c - HIP's wrappers between the cases and the stand-in libamdhip64 */
#include "hip_ops_gen.h"
#include "run.h"
#include "source/hip/frame.h"
#include "source/hip/release.h"

const enum api_domain run_domain = API_HIP;
const struct api_op *const run_ops = hip_ops;
void (*const hip_boot)(void) = NULL;

void run_prepare(void)
{
	hip_agents_of = run_agents;
	api_define(API_HIP, hip_ops, hip_named, hip_entries, hip_ordinary, hip_nr_ops);
	atomic_store(&hip_started, true);
	/* looking up the first function finds the release: before the first case */
	hip_real(HIP_OP_hipInit);
}

void run_release(uint32_t index)
{
	atomic_store(&release_index, index);
}

void run_forget_names(void)
{
	hip_forget_names();
}
