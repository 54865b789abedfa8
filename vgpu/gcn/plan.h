/* SPDX-License-Identifier: MIT */
/* plan.h - the steps of a block */
#ifndef VGPU_GCN_PLAN_H
#define VGPU_GCN_PLAN_H

#include "inst.h"

/* instructions of a block before its last one, at most */
#define PLAN_MAX 64

/* Makes the steps of `nr` instructions from `i` on, which lie one behind the other; returns how
 * many there are. */
unsigned int plan_steps(struct gcn_step *step, const struct gcn_inst *i, unsigned int nr);

#endif
