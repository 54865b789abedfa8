/* SPDX-License-Identifier: MIT */
/* valu_operand.h - modifiers of the operands and of the result of a vector instruction */
#ifndef VGPU_GCN_VALU_OPERAND_H
#define VGPU_GCN_VALU_OPERAND_H

#include "valu.h"

union valu_scratch {
	uint32_t u32[GCN_LANES];
	uint64_t u64[GCN_LANES];
};

/* Fetches source n with all its modifiers; bits is its width. */
void valu_source(struct gcn_wave *w, const struct gcn_inst *i, unsigned int n, unsigned int type,
		 unsigned int bits, union valu_scratch *out);

/* Output modifier, clamp, denormals. */
void valu_result(struct gcn_wave *w, const struct gcn_inst *i, void *row, unsigned int bits);

/* SDWA: inserts the result into its part of the register, whose old value is `old`. */
void valu_sdwa_result(const struct gcn_inst *i, uint32_t *row, const uint32_t *old);

/* DPP: lanes without a source keep their old value. */
void valu_dpp_keep(const struct gcn_wave *w, const struct gcn_inst *i, uint32_t *row,
		   const uint32_t *old);
uint64_t valu_dpp_mask(const struct gcn_wave *w, const struct gcn_inst *i, uint64_t mask);

#endif
