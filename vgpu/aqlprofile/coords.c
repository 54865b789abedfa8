/* SPDX-License-Identifier: MIT */
/* coords.c - dimensions of the samples of an event: numbers, names and order are AMD's */
#include "coords.h"

enum dimension { XCD, AID, SE, SA, WGP, INSTANCE };

const char *coords_name(int id)
{
	static const char *const names[COORDS_NR] = {
		[XCD] = "XCD", [AID] = "AID", [SE] = "SE",
		[SA] = "SA",   [WGP] = "WGP", [INSTANCE] = "INSTANCE",
	};

	return names[id];
}

hsa_status_t coords_iterate(const struct blocks_gpu *gpu, const hsa_ven_amd_aqlprofile_event_t *e,
			    uint64_t sample, coords_fn *fn, void *arg)
{
	const uint32_t id = (uint32_t)e->block_name;
	const struct block *b = blocks_find(id);
	const uint32_t samples = blocks_samples(gpu, id), instances = blocks_extent(gpu, id);
	const uint32_t engines = samples / gpu->dies; /* or 1 */
	hsa_status_t status = HSA_STATUS_SUCCESS;
	int at = 0;

	if (!b || e->block_index >= instances || sample >= samples)
		return HSA_STATUS_ERROR;
	if (gpu->dies > 1)
		status = fn(at++, XCD, (int)gpu->dies, (int)(sample / engines), coords_name(XCD),
			    arg);
	if (status == HSA_STATUS_SUCCESS)
		status = fn(at++, INSTANCE, (int)instances, (int)e->block_index,
			    coords_name(INSTANCE), arg);
	if (status == HSA_STATUS_SUCCESS && b->per_se)
		status = fn(at, SE, (int)engines, (int)(sample % engines), coords_name(SE), arg);
	return status;
}
