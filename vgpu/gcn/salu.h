/* SPDX-License-Identifier: MIT */
/* salu.h - what the files of scalar instructions share */
#ifndef VGPU_GCN_SALU_H
#define VGPU_GCN_SALU_H

#include "wave.h"

/* The value of hardware register `id`, and writing to one; registers that mean nothing here read 0. */
uint32_t hwreg_read(const struct gcn_wave *w, unsigned int id);
void hwreg_write(struct gcn_wave *w, unsigned int id, uint32_t value);

#endif
