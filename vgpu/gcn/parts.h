/* SPDX-License-Identifier: MIT */
/* parts.h - the workgroups of a dispatch that run at the same time */
#ifndef VGPU_GCN_PARTS_H
#define VGPU_GCN_PARTS_H

#include "wave.h"

/* Sets what belongs to one dispatch to its beginning, in one part. */
void gcn_part_reset(struct gcn_run *r);

/* Prepares a dispatch that was read; its status becomes the dispatch's. */
void gcn_parts_start(struct gcn_run *lead);

/* Gives a running part workgroups to begin, of those that its thread was dealt, or, if these have
 * begun, of another's; in the order of their numbers if one waited for another one. false: there
 * are none. */
bool gcn_part_deal(struct gcn_run *part);

/* Waves of a whole workgroup. */
uint32_t gcn_waves_of(const struct gcn_run *r);

#endif
