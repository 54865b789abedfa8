/* SPDX-License-Identifier: MIT */
/* salu.h - shared by the files of scalar instructions */
#ifndef VGPU_GCN_SALU_H
#define VGPU_GCN_SALU_H

#include "wave.h"

/* Reads and writes hardware register `id`; registers that are not modelled read 0. */
uint32_t hwreg_read(const struct gcn_wave *w, unsigned int id);
void hwreg_write(struct gcn_wave *w, unsigned int id, uint32_t value);

/* One step for two instructions; NULL: there is none. */
gcn_step_fn *salu_fuse(const struct gcn_inst *i, const struct gcn_inst *second);

#endif
