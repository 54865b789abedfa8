/* SPDX-License-Identifier: MIT */
/* coords.h - where on the GPU a sample of an event was counted
 *
 * Constant data; any thread.
 */
#ifndef VGPU_AQLPROFILE_COORDS_H
#define VGPU_AQLPROFILE_COORDS_H

#include "blocks.h"
#include "types.h"

enum { COORDS_NR = 6 }; /* dimensions, with numbers from 0 on */

typedef hsa_status_t coords_fn(int position, int id, int extent, int coordinate, const char *name,
			       void *arg);

/* The name of a dimension. */
const char *coords_name(int id);

/* Calls `fn` for each dimension of the event: its instance, then the shader engine if the block has
 * a sample for each, which is `sample`. Ends with the first status that is not success.
 * HSA_STATUS_ERROR: the GPU has no such event or sample. */
hsa_status_t coords_iterate(const struct blocks_gpu *gpu, const hsa_ven_amd_aqlprofile_event_t *e,
			    uint64_t sample, coords_fn *fn, void *arg);

#endif
