/* SPDX-License-Identifier: MIT */
/* mfma_math.c - products of matrices */
#include <math.h>

#include "mfma.h"

#ifndef VALU_SUFFIX
#define VALU_SUFFIX base
#endif
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

#define FMA_f32(x, y, z) fmaf(x, y, z)
#define FMA_f64(x, y, z) fma(x, y, z)
#define FMA_i32(x, y, z) ((int32_t)((uint32_t)(x) * (uint32_t)(y) + (uint32_t)(z)))

/* `size` is a constant in each call, so that a row is a few vectors */
#define MULTIPLY(type, name)                                                                       \
	static inline                                                                              \
		__attribute__((always_inline)) void rows_##name(const struct gcn_mfma *m,          \
								unsigned int size, const type *a,  \
								const type *b, type *d)            \
	{                                                                                          \
		for (unsigned int n = 0; n < m->blocks; n++) {                                     \
			for (unsigned int row = 0; row < size; row++, d += size) {                 \
				for (unsigned int k = 0; k < m->k; k++) {                          \
					type x = a[k * size + row];                                \
					for (unsigned int l = 0; l < size; l++)                    \
						d[l] = FMA_##name(x, b[k * size + l], d[l]);       \
				}                                                                  \
			}                                                                          \
			a += m->k * size;                                                          \
			b += m->k * size;                                                          \
		}                                                                                  \
	}                                                                                          \
	static void multiply_##name(const struct gcn_mfma *m, const type *a, const type *b,        \
				    type *d)                                                       \
	{                                                                                          \
		if (m->size == 32)                                                                 \
			rows_##name(m, 32, a, b, d);                                               \
		else if (m->size == 16)                                                            \
			rows_##name(m, 16, a, b, d);                                               \
		else                                                                               \
			rows_##name(m, 4, a, b, d);                                                \
	}

MULTIPLY(float, f32)
MULTIPLY(double, f64)
MULTIPLY(int32_t, i32)

#define MULTIPLY_SPARSE(type, name)                                                                \
	static void sparse_##name(const struct gcn_mfma *m, const type *a, const uint8_t *at,      \
				  const type *b, type *d)                                          \
	{                                                                                          \
		for (unsigned int row = 0; row < m->size; row++, d += m->size) {                   \
			for (unsigned int k = 0; k < m->k / 2u; k++) {                             \
				type x = a[k * m->size + row];                                     \
				const type *of_b = b + at[k * m->size + row] * m->size;            \
				for (unsigned int l = 0; l < m->size; l++)                         \
					d[l] = FMA_##name(x, of_b[l], d[l]);                       \
			}                                                                          \
		}                                                                                  \
	}

MULTIPLY_SPARSE(float, f32)
MULTIPLY_SPARSE(int32_t, i32)

const struct mfma_math PASTE(mfma_math, VALU_SUFFIX) = {
	multiply_f32, multiply_f64, multiply_i32, sparse_f32, sparse_i32,
};
