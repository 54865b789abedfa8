/* SPDX-License-Identifier: MIT */
/* parts.h - the workgroups of a dispatch that run at the same time */
#ifndef VGPU_GCN_PARTS_H
#define VGPU_GCN_PARTS_H

#include "wave.h"

/* Sets what belongs to one dispatch to its beginning, in one part. */
void gcn_part_reset(struct gcn_run *r);

/* Prepares a dispatch that was read; its status becomes the dispatch's. */
void gcn_parts_start(struct gcn_run *lead);

/* Waves of a whole workgroup. */
uint32_t gcn_waves_of(const struct gcn_run *r);

#endif
