/* SPDX-License-Identifier: MIT */
/* rocprof_list.c - the lists of counters and metrics in the form of rocprof --list-basic and
 * --list-derived */
#include "cli/cmd/rocprof_list.h"

#include "cli/cmd/commands.h"
#include "cli/machine.h"
#include "cli/pmc/pmc.h"
#include "cli/trace/vgpu.h"
#include "cli/ui.h"

static void put_basic(size_t gpu, const struct counter_basic *b)
{
	ui_putf("\n  gpu-agent%zu : %s", gpu, b->name);
	if (b->block->instances > 1)
		ui_putf("[0-%u]", b->block->instances - 1);
	ui_putf(" : %s\n", b->description);
	ui_putf("      block %s has %u counters\n", b->block->name, b->block->counters);
}

static void put_gpu(size_t i, const struct counter_gpu *gpu, bool derived)
{
	for (uint32_t k = 0; !derived && k < gpu->nr_basics; k++)
		put_basic(i, &gpu->basics[k]);
	for (uint32_t k = 0; derived && k < gpu->nr_deriveds; k++)
		ui_putf("\n  gpu-agent%zu : %s : %s\n      %s = %s\n", i, gpu->deriveds[k].name,
			gpu->deriveds[k].description, gpu->deriveds[k].name,
			gpu->deriveds[k].expression);
}

void rocprof_list_print(bool derived, struct pmc_metrics *metrics, bool is_virtual)
{
	struct machine_gpu gpus[MACHINE_GPUS_MAX];
	size_t nr = is_virtual ? vgpu_gpus(gpus) : machine_gpus(gpus), known = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct counter_gpu *gpu =
			pmc_metrics_gpu(metrics, gpus[i].name, STATUS_TRACE, NULL);

		if (!gpu)
			continue;
		if (!known)
			ui_put(derived ? "Derived metrics:\n" : "Basic HW counters:\n");
		put_gpu(i, gpu, derived);
		known++;
	}
	if (!known)
		ui_die(STATUS_TRACE, "%s; rtl list-counters --gpu NAME shows those of any",
		       nr ? "the counters of this machine's GPUs are not known" :
			    "this machine has no GPU that ROCm's driver knows");
}
