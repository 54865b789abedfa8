/* SPDX-License-Identifier: MIT */
/* kernel.c - what a kernel does and how long it takes
 *
 * Threads:  the engine's.
 */
#include "kernel.h"

#include "knobs.h"

static uint64_t groups(uint32_t grid, uint16_t group)
{
	return group ? ((uint64_t)grid + group - 1) / group : 1;
}

uint64_t kernel_duration_ns(const hsa_kernel_dispatch_packet_t *packet)
{
	double items, nr_groups, ns;

	if (knobs.model == KNOBS_MODEL_FIXED)
		return knobs.kernel_ns;

	items = (double)packet->grid_size_x * packet->grid_size_y * packet->grid_size_z;
	nr_groups = (double)groups(packet->grid_size_x, packet->workgroup_size_x) *
		    (double)groups(packet->grid_size_y, packet->workgroup_size_y) *
		    (double)groups(packet->grid_size_z, packet->workgroup_size_z);
	ns = (double)knobs.kernel_ns + items * knobs.ns_per_item + nr_groups * knobs.ns_per_group;
	/* about 11 days: beyond that it is a hang */
	return ns < 1e15 ? (uint64_t)ns : (uint64_t)1e15;
}
