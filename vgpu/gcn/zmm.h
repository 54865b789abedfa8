/* SPDX-License-Identifier: MIT */
/* zmm.h - rows of 64 lanes in registers of AVX-512, 16 lanes in each, for the handlers of what
 * kernels use most
 *
 * A handler reads its sources before it writes: so operands may be the same registers. Values of 64
 * bits, whose halves are in two rows, are put together in an order that needs no move across the
 * parts of a register: lanes 0, 1, 4, 5, 8, 9, 12 and 13 first, then the others.
 */
#ifndef VGPU_GCN_ZMM_H
#define VGPU_GCN_ZMM_H

#include "rows.h"
#include "valu.h"
#include "valu_plain.h"

#if defined(__AVX512F__)

#define ZMM static inline __attribute__((always_inline))
#define FOR_PARTS _Pragma("GCC unroll 4") for (unsigned int k = 0; k < 4; k++)

/* What a step leaves in registers for the next one: the row that it wrote, or the two of a pair. A
 * row that is stored and loaded again takes several times as long as the instruction. */
struct zmm_rows {
	__m512i a[4], b[4];
	unsigned int last; /* which of them the step reads: GCN_LAST */
};

typedef void zmm_step_fn(struct gcn_wave *w, const struct gcn_step *step, __m512i a0, __m512i a1,
			 __m512i a2, __m512i a3, __m512i b0, __m512i b1, __m512i b2, __m512i b3);
#define ZMM_ROWS_ARGS                                                                              \
	__m512i a0, __m512i a1, __m512i a2, __m512i a3, __m512i b0, __m512i b1, __m512i b2,        \
		__m512i b3

/* Of a step's arguments. */
#define ZMM_ROWS(step)                                                                             \
	{                                                                                          \
		{ a0, a1, a2, a3 }, { b0, b1, b2, b3 }, (step)->last                               \
	}

/* The step behind one: of those that leave no rows, other arguments are not read, and those that
 * don't read rows ignore the arguments, which are registers of the host. */
#define ZMM_NEXT(w, step, rows)                                                                    \
	((zmm_step_fn *)(void (*)(void))(step)[1].run)(w, (step) + 1, (rows)->a[0], (rows)->a[1],  \
						       (rows)->a[2], (rows)->a[3], (rows)->b[0],   \
						       (rows)->b[1], (rows)->b[2], (rows)->b[3])

#define ZMM_BOTH(name)                                                                             \
	{                                                                                          \
		name, (gcn_step_fn *)(void (*)(void))name##_step                                   \
	}

/* A source of 32 bits is a row, or one value in all lanes. Which of them is a constant of the
 * handler: bit n of `scalars` for source n. A row is the one that the step before left if bit n of
 * rows->last is set. */
#define ZMM_SOURCE(n, scalars)                                                                     \
	__m512i src##n[4];                                                                         \
	zmm_source(w, i, n, scalars, rows, src##n)

ZMM const uint32_t *zmm_row(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
			    unsigned int scalars)
{
	const uint32_t *row = NULL;

	if (!(scalars >> n & 1)) {
		row = w->vgpr[i->src[n] - GCN_SRC_VGPR];
		/* or each access has the difference as a displacement of four bytes */
		__asm__("" : "+r"(row));
	}
	return row;
}

ZMM void zmm_source(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
		    unsigned int scalars, const struct zmm_rows *rows, __m512i *part)
{
	if (scalars >> n & 1) {
		const __m512i all = _mm512_set1_epi32((int)gcn_src32(w, i, i->src[n]));

		FOR_PARTS
		{
			part[k] = all;
		}
	} else if (rows->last >> n & 1) {
		FOR_PARTS
		{
			part[k] = rows->a[k];
		}
	} else {
		const uint32_t *row = zmm_row(w, i, n, scalars);

		FOR_PARTS
		{
			part[k] = _mm512_loadu_si512(row + k * 16);
		}
	}
}

/* zmm_classes32() and zmm_classes64(): which lanes of a part are of the classes of `set`, as
 * v_cmp_class has them; see class_bit() in valu_math.h. */
#define ZMM_CLASS(mask, test, minus, plus)                                                         \
	if (set & ((minus) | (plus))) {                                                            \
		is = (mask)(test);                                                                 \
		m |= (set & (minus) ? is & negative : 0) |                                         \
		     (set & (plus) ? is & (mask)~negative : 0);                                    \
	}
#define ZMM_CLASSES(bits, mask, infinite, least_normal, quiet_bit)                                 \
	ZMM mask zmm_classes##bits(__m512i v, uint32_t set)                                        \
	{                                                                                          \
		const __m512i abs = _mm512_and_si512(v, ZMM_ALL##bits(INT##bits##_MAX));           \
		const __m512i infinity = ZMM_ALL##bits(infinite);                                  \
		const __m512i least = ZMM_ALL##bits(least_normal);                                 \
		mask negative = _mm512_movepi##bits##_mask(v), m = 0, is;                          \
                                                                                                   \
		ZMM_CLASS(mask, _mm512_cmpeq_epi##bits##_mask(abs, infinity), 4, 0x200)            \
		ZMM_CLASS(mask,                                                                    \
			  _mm512_cmpge_epu##bits##_mask(abs, least) &                              \
				  _mm512_cmplt_epu##bits##_mask(abs, infinity),                    \
			  8, 0x100)                                                                \
		ZMM_CLASS(mask,                                                                    \
			  _mm512_cmplt_epu##bits##_mask(abs, least) &                              \
				  _mm512_test_epi##bits##_mask(abs, abs),                          \
			  0x10, 0x80)                                                              \
		ZMM_CLASS(mask, _mm512_testn_epi##bits##_mask(abs, abs), 0x20, 0x40)               \
		if (set & 3) {                                                                     \
			is = _mm512_cmpgt_epu##bits##_mask(abs, infinity);                         \
			negative = _mm512_test_epi##bits##_mask(v, ZMM_ALL##bits(quiet_bit));      \
			m |= (set & 1 ? is & (mask)~negative : 0) | (set & 2 ? is & negative : 0); \
		}                                                                                  \
		return m;                                                                          \
	}
#define ZMM_ALL32(value) _mm512_set1_epi32((int)(value))
#define ZMM_ALL64(value) _mm512_set1_epi64((long long)(value))

/* The handler of an instruction and its step, of an expression that executes it. Where it is false
 * it has changed nothing, and the general handler executes the instruction; that also does in modes
 * which steps don't know: no step runs then (run.c). */
#define ZMM_HANDLER(name, call)                                                                    \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct zmm_rows rows_, *rows = &rows_;                                             \
                                                                                                   \
		rows->last = 0;                                                                    \
		if (!w->fp_plain || w->idx_on || !(call))                                          \
			PASTE(valu_run_any, VALU_SUFFIX)(w, i);                                    \
	}                                                                                          \
	static __attribute__((flatten)) void name##_step(struct gcn_wave *w,                       \
							 const struct gcn_step *step,              \
							 ZMM_ROWS_ARGS)                            \
	{                                                                                          \
		const struct gcn_inst *i = step->i;                                                \
		struct zmm_rows rows_ = ZMM_ROWS(step), *rows = &rows_;                            \
                                                                                                   \
		if (__builtin_expect(!(call), 0)) {                                                \
			zmm_general_step(w, step, a0, a1, a2, a3, b0, b1, b2, b3);                 \
			return;                                                                    \
		}                                                                                  \
		ZMM_NEXT(w, step, rows);                                                           \
	}

/* Stores a row that the step before left, which it may not have done. */
ZMM void zmm_spill(struct gcn_wave *w, const __m512i *part, unsigned int source)
{
	uint32_t *row = w->vgpr[source - GCN_SRC_VGPR];

	FOR_PARTS
	{
		_mm512_storeu_si512(row + k * 16, part[k]);
	}
}

/* The same of all sources of an instruction, which a general handler executes. */
ZMM void zmm_spill_sources(struct gcn_wave *w, const struct gcn_inst *i,
			   const struct zmm_rows *rows)
{
	for (unsigned int n = 0; n < 3; n++) {
		if (rows->last >> n & 1)
			zmm_spill(w, rows->a, i->src[n]);
		if (rows->last >> n & 1 && (i->reads & GCN_READS_64 << n || i->enc == GCN_FLAT))
			zmm_spill(w, rows->b, i->src[n] + 1u);
	}
}

/* Not inlined: steps that jump to it need no frame. */
static __attribute__((noinline, unused)) void
zmm_general_step(struct gcn_wave *w, const struct gcn_step *step, ZMM_ROWS_ARGS)
{
	const uint32_t *row = w->vgpr[step->i->dst];
	struct zmm_rows rows = ZMM_ROWS(step);

	zmm_spill_sources(w, step->i, &rows);
	PASTE(valu_run_any, VALU_SUFFIX)(w, step->i);
	FOR_PARTS
	{
		rows.a[k] = _mm512_loadu_si512(row + k * 16);
		if (step->i->reads & GCN_WRITES_64)
			rows.b[k] = _mm512_loadu_si512(row + GCN_LANES + k * 16);
	}
	ZMM_NEXT(w, step, &rows);
}

/* Where the mask that an instruction reads is; false: it is a constant. */
ZMM bool zmm_mask_at(const struct gcn_inst *i, unsigned int *at)
{
	*at = i->src[2] < GCN_SRC_VGPR ? i->src[2] : GCN_REG_VCC;
	return __builtin_expect(*at < 128, 1);
}

ZMM uint64_t zmm_mask(const struct gcn_wave *w, unsigned int at)
{
	uint64_t mask;

	memcpy(&mask, &w->sgpr[at], sizeof(mask));
	return mask;
}

/* What part k of a row has when the active lanes get new values. */
ZMM __m512i zmm_blend(const uint32_t *row, unsigned int k, __m512i v, uint64_t exec)
{
	if (__builtin_expect(exec == UINT64_MAX, 1))
		return v;
	return _mm512_mask_mov_epi32(_mm512_loadu_si512(row + k * 16), (__mmask16)(exec >> k * 16),
				     v);
}

/* Stores part k of a row; what the row has now. */
ZMM __m512i zmm_put_part(uint32_t *row, unsigned int k, __m512i v, uint64_t exec)
{
	v = zmm_blend(row, k, v, exec);
	_mm512_storeu_si512(row + k * 16, v);
	return v;
}

/* Stores a row, unless the step has this bit of `last`: no step reads the row from memory. */
ZMM void zmm_store(uint32_t *row, const __m512i *part, const struct zmm_rows *rows,
		   unsigned int dead)
{
	if (!(rows->last & dead)) {
		FOR_PARTS
		{
			_mm512_storeu_si512(row + k * 16, part[k]);
		}
	}
}

/* Stores a row of four parts, and leaves it for the next step. */
ZMM void zmm_put(uint32_t *row, const __m512i *part, uint64_t exec, struct zmm_rows *rows)
{
	if (__builtin_expect(exec == UINT64_MAX, 1)) {
		FOR_PARTS
		{
			rows->a[k] = part[k];
		}
	} else {
		FOR_PARTS
		{
			rows->a[k] = zmm_blend(row, k, part[k], exec);
		}
	}
	zmm_store(row, rows->a, rows, GCN_DEAD_A);
}

/* A lane of a source. It is not loaded as a dword, which would wait for the store of the whole
 * row. */
ZMM uint32_t zmm_lane(const __m512i *part, unsigned int lane)
{
	__m512i v = part[0];

	if (__builtin_expect(lane, 0)) {
		v = lane < 32 ? lane < 16 ? part[0] : part[1] : lane < 48 ? part[2] : part[3];
		v = _mm512_permutexvar_epi32(_mm512_set1_epi32((int)lane), v);
	}
	return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(v));
}

/* The masks of four parts as one. */
ZMM uint64_t zmm_bits(__mmask16 a, __mmask16 b, __mmask16 c, __mmask16 d)
{
	__mmask32 lo = _mm512_kunpackw(b, a), hi = _mm512_kunpackw(d, c);

	return _mm512_kunpackd(hi, lo);
}

/* ---- 64 bits --------------------------------------------------------------------------------- */

/* 16 lanes in the order of the file's head. */
struct zmm_pair {
	__m512i a, b;
};

#define ZMM_FIRST 0x3333333333333333u
#define ZMM_SECOND 0xccccccccccccccccu

ZMM struct zmm_pair zmm_join(__m512i lo, __m512i hi)
{
	return (struct zmm_pair){ _mm512_unpacklo_epi32(lo, hi), _mm512_unpackhi_epi32(lo, hi) };
}

ZMM __m512i zmm_low(struct zmm_pair v)
{
	return _mm512_castps_si512(
		_mm512_shuffle_ps(_mm512_castsi512_ps(v.a), _mm512_castsi512_ps(v.b), 0x88));
}

ZMM __m512i zmm_high(struct zmm_pair v)
{
	return _mm512_castps_si512(
		_mm512_shuffle_ps(_mm512_castsi512_ps(v.a), _mm512_castsi512_ps(v.b), 0xdd));
}

/* Leaves part k of a pair of rows for the next step; zmm_put_rows() stores them all. */
ZMM void zmm_put_pair(const uint32_t *lo, unsigned int k, struct zmm_pair v, uint64_t exec,
		      struct zmm_rows *rows)
{
	rows->a[k] = zmm_blend(lo, k, zmm_low(v), exec);
	rows->b[k] = zmm_blend(lo + GCN_LANES, k, zmm_high(v), exec);
}

ZMM void zmm_put_rows(uint32_t *lo, uint32_t *hi, const struct zmm_rows *rows)
{
	zmm_store(lo, rows->a, rows, GCN_DEAD_A);
	zmm_store(hi, rows->b, rows, GCN_DEAD_B);
}

/* A source of 64 bits, the same way. `real`: a constant is a double. */
ZMM void zmm_source_pair(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
			 unsigned int scalars, bool real, const struct zmm_rows *rows,
			 struct zmm_pair *part)
{
	if (scalars >> n & 1) {
		uint64_t v = real && i->src[n] == GCN_SRC_LITERAL ? (uint64_t)i->literal << 32 :
								    gcn_src64(w, i, i->src[n]);

		FOR_PARTS
		{
			part[k].a = part[k].b = _mm512_set1_epi64((int64_t)v);
		}
	} else if (rows->last >> n & 1) {
		FOR_PARTS
		{
			part[k] = zmm_join(rows->a[k], rows->b[k]);
		}
	} else {
		const uint32_t *row = zmm_row(w, i, n, scalars);

		FOR_PARTS
		{
			part[k] = zmm_join(_mm512_loadu_si512(row + k * 16),
					   _mm512_loadu_si512(row + GCN_LANES + k * 16));
		}
	}
}

/* The same with its sign. */
#define ZMM_SOURCE64(n, scalars, real)                                                             \
	struct zmm_pair src##n[4];                                                                 \
	zmm_source64(w, i, n, scalars, real, rows, src##n)

ZMM void zmm_source64(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
		      unsigned int scalars, bool real, const struct zmm_rows *rows,
		      struct zmm_pair *part)
{
	const __m512i keep = _mm512_set1_epi64(i->abs >> n & 1 ? INT64_MAX : -1);
	const __m512i flip = _mm512_set1_epi64(i->neg >> n & 1 ? INT64_MIN : 0);

	zmm_source_pair(w, i, n, scalars, real, rows, part);
	FOR_PARTS
	{
		part[k].a = _mm512_ternarylogic_epi64(part[k].a, keep, flip, 0x6a);
		part[k].b = _mm512_ternarylogic_epi64(part[k].b, keep, flip, 0x6a);
	}
}

#endif
#endif
