/* SPDX-License-Identifier: MIT */
/* rows.h - operations on rows of 64 lanes, for the files that are built for several kinds of
 * processors
 *
 * What compilers don't make of loops: masks to lanes and back. The rest is loops, which they turn
 * into vector code.
 */
#ifndef VGPU_GCN_ROWS_H
#define VGPU_GCN_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "inst.h"

#define ROW_LANES 64

/* A kind of processor: the suffix of what is built for it. */
#ifndef VALU_SUFFIX
#define VALU_SUFFIX base
#endif
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

struct valu_direct;

/* What is built for each kind; the handlers of one are chosen when the first instruction is
 * decoded. */
struct row_kind {
	gcn_fn *plain, *wide, *shift_pair, *any;   /* vector instructions, valu_run.c */
	gcn_fn *(*quick)(const struct gcn_inst *); /* memory instructions, quick.c; NULL: none */
	/* the same, and what the step leaves */
	gcn_step_fn *(*quick_step)(const struct gcn_inst *, enum gcn_leaves *);
	void (*clear)(uint32_t *row, size_t nr); /* rows */
	/* handlers for the instructions that kernels use most, direct.h */
	const struct valu_direct *(*direct[3])(unsigned int n);
	/* one step for two instructions; NULL: there is none */
	gcn_step_fn *(*fuse)(const struct gcn_inst *i, const struct gcn_inst *second);
};

extern const struct row_kind rows_base, rows_v3, rows_v4;

/* That of this processor. */
const struct row_kind *rows_kind(void);

gcn_fn *PASTE(quick_find, VALU_SUFFIX)(const struct gcn_inst *i);
gcn_step_fn *PASTE(quick_step, VALU_SUFFIX)(const struct gcn_inst *i, enum gcn_leaves *what);
gcn_step_fn *PASTE(valu_fuse, VALU_SUFFIX)(const struct gcn_inst *i, const struct gcn_inst *second);

/* source and destination are the same row or different ones, never shifted against each other */
#ifdef __clang__
#define FOR_LANES                                                                                  \
	_Pragma("clang loop vectorize(assume_safety)") for (unsigned int l = 0; l < ROW_LANES; l++)
#else
#define FOR_LANES _Pragma("GCC ivdep") for (unsigned int l = 0; l < ROW_LANES; l++)
#endif

/* 1 in each lane whose bit is set, else 0. */
static inline void row_of_bits(uint32_t *row, uint64_t bits)
{
#if defined(__AVX512F__)
	for (unsigned int n = 0; n < 4; n++)
		_mm512_storeu_si512(row + n * 16,
				    _mm512_maskz_set1_epi32((__mmask16)(bits >> n * 16), 1));
#elif defined(__AVX2__)
	const __m256i by = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), one = _mm256_set1_epi32(1);

	for (unsigned int n = 0; n < 8; n++) {
		__m256i v = _mm256_set1_epi32((int)(bits >> n * 8 & 255));

		_mm256_storeu_si256((__m256i *)(void *)(row + n * 8),
				    _mm256_and_si256(_mm256_srlv_epi32(v, by), one));
	}
#else
	for (unsigned int l = 0; l < ROW_LANES; l++)
		row[l] = (uint32_t)(bits >> l) & 1;
#endif
}

/* The bits of lanes that are 1 rather than 0. */
static inline uint64_t row_to_bits(const uint32_t *row)
{
	uint64_t r = 0;

#if defined(__AVX512F__)
	for (unsigned int n = 0; n < 4; n++) {
		__m512i v = _mm512_loadu_si512(row + n * 16);

		r |= (uint64_t)_mm512_test_epi32_mask(v, v) << n * 16;
	}
#elif defined(__AVX2__)
	for (unsigned int n = 0; n < 8; n++) {
		__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(row + n * 8));
		int m = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(v, 31)));

		r |= (uint64_t)(unsigned int)m << n * 8;
	}
#else
	for (unsigned int l = 0; l < ROW_LANES; l++)
		r |= (uint64_t)(row[l] & 1) << l;
#endif
	return r;
}

#if defined(__AVX512F__)
/* Stores 16 lanes of those whose bits are set, and the old values of the others: what a store with
 * a mask leaves can't be loaded before it is in the cache. */
static inline void row_put16(uint32_t *to, __m512i v, uint64_t bits)
{
	_mm512_storeu_si512(to, _mm512_mask_mov_epi32(_mm512_loadu_si512(to), (__mmask16)bits, v));
}
#endif

/* Copies the lanes whose bits are set. */
static inline void row_blend(uint32_t *to, const uint32_t *from, uint64_t bits)
{
#if defined(__AVX512F__)
	for (unsigned int n = 0; n < 4; n++)
		row_put16(to + n * 16, _mm512_loadu_si512(from + n * 16), bits >> n * 16);
#else
	uint32_t m[ROW_LANES];

	row_of_bits(m, bits);
	for (unsigned int l = 0; l < ROW_LANES; l++)
		to[l] ^= (to[l] ^ from[l]) & (0 - m[l]);
#endif
}

static inline void row_fill(uint32_t *row, uint32_t v)
{
	for (unsigned int l = 0; l < ROW_LANES; l++)
		row[l] = v;
}

#endif
