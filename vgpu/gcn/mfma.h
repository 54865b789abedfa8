/* SPDX-License-Identifier: MIT */
/* mfma.h - matrix instructions of gfx90a and gfx942: D = A x B + C, for one or more blocks at once
 *
 * A block's A has `size` rows and `k` columns, its B `k` rows and `size` columns, C and D have
 * `size` of both. A lane holds some consecutive elements of a row of A and of a column of B.
 *
 * A sparse A has two of each four columns; which ones they are is in a register of indices.
 */
#ifndef VGPU_GCN_MFMA_H
#define VGPU_GCN_MFMA_H

#include "wave.h"

struct gcn_mfma {
	const char *name;
	uint8_t op;
	uint8_t type; /* enum mfma_type: of A and B */
	uint8_t size, k, blocks;
	uint8_t per_lane; /* elements of A and of B */
	uint8_t cycles;	  /* that it occupies a matrix unit */
	uint8_t bf8;	  /* MFMA_F8: 1: A is of BF8, 2: B is, else of FP8 */
	bool sparse;	  /* per_lane: elements of A; of B there are twice as many */
};

/* Those of an architecture. */
struct mfma_table {
	const struct gcn_mfma *ops;
	unsigned int nr;
};

extern const struct mfma_table mfma_gfx90a, mfma_gfx942;

/* Sets mfma and run. */
void mfma_bind(struct gcn_inst *i);

/* Whether the opcode is a sparse one of its architecture. */
bool mfma_is_sparse(const struct gcn_inst *i);

/* A whole instruction's matrices: a[block][k][row], b[block][k][column], d[block][row][column]. */
union mfma_in {
	float f32[64 * 16];
	int32_t i32[64 * 16];
	double f64[64];
};

union mfma_out {
	float f32[64 * 32];
	int32_t i32[64 * 32];
	double f64[64 * 4];
};

/* D += A x B, from the first k to the last; floating point is fused, and rounded to nearest at each
 * step. */
struct mfma_math {
	void (*f32)(const struct gcn_mfma *m, const float *a, const float *b, float *d);
	void (*f64)(const struct gcn_mfma *m, const double *a, const double *b, double *d);
	void (*i32)(const struct gcn_mfma *m, const int32_t *a, const int32_t *b, int32_t *d);
	/* of a sparse A, a[k of the half that there is][row]; at: the same, the row of B */
	void (*sparse_f32)(const struct gcn_mfma *m, const float *a, const uint8_t *at,
			   const float *b, float *d);
	void (*sparse_i32)(const struct gcn_mfma *m, const int32_t *a, const uint8_t *at,
			   const int32_t *b, int32_t *d);
};

/* As with the rows of vector instructions: for any x86-64, and for one with AVX2 and FMA. */
extern const struct mfma_math mfma_math_base, mfma_math_v3;

#endif
