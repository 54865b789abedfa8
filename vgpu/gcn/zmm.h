/* SPDX-License-Identifier: MIT */
/* zmm.h - rows of 64 lanes in registers of AVX-512, 16 lanes in each, for the handlers of what
 * kernels use most
 *
 * A handler reads, computes and writes 16 lanes before the next 16: so operands may be the same
 * registers. Values of 64 bits, whose halves are in two rows, are put together in an order that
 * needs no move across the parts of a register: lanes 0, 1, 4, 5, 8, 9, 12 and 13 first, then the
 * others.
 */
#ifndef VGPU_GCN_ZMM_H
#define VGPU_GCN_ZMM_H

#include "rows.h"
#include "valu.h"
#include "valu_plain.h"

#if defined(__AVX512F__)

#define ZMM static inline __attribute__((always_inline))
#define FOR_PARTS _Pragma("GCC unroll 4") for (unsigned int k = 0; k < 4; k++)

/* A source of 32 bits is a row, or one value in all lanes. Which of them is a constant of the
 * handler: bit n of `scalars` for source n. Single variables rather than a struct: compilers keep
 * them in registers. */
#define ZMM_SOURCE(n, scalars)                                                                     \
	const uint32_t *const row##n = zmm_row(w, i, n, scalars);                                  \
	const __m512i all##n = zmm_all(w, i, n, scalars)

/* Part k of source n. */
#define ZMM_GET(n, scalars) ((scalars) >> (n)&1 ? all##n : _mm512_loadu_si512((row##n) + k * 16))

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

ZMM __m512i zmm_all(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
		    unsigned int scalars)
{
	return scalars >> n & 1 ? _mm512_set1_epi32((int)gcn_src32(w, i, i->src[n])) :
				  _mm512_setzero_si512();
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

/* The general handler has executed the instruction: for modes that these here don't know. */
ZMM bool zmm_leaves(struct gcn_wave *w, const struct gcn_inst *i)
{
	if (__builtin_expect(w->fp_plain && !w->idx_on, 1))
		return false;
	PASTE(valu_run_any, VALU_SUFFIX)(w, i);
	return true;
}

/* Where the mask that an instruction reads is; of a constant: false, and the general handler has
 * executed the instruction. */
ZMM bool zmm_mask_at(struct gcn_wave *w, const struct gcn_inst *i, unsigned int *at)
{
	*at = i->src[2] < GCN_SRC_VGPR ? i->src[2] : GCN_REG_VCC;
	if (__builtin_expect(*at < 128, 1))
		return true;
	PASTE(valu_run_any, VALU_SUFFIX)(w, i);
	return false;
}

ZMM uint64_t zmm_mask(const struct gcn_wave *w, unsigned int at)
{
	uint64_t mask;

	memcpy(&mask, &w->sgpr[at], sizeof(mask));
	return mask;
}

/* Stores a row of four parts. */
ZMM void zmm_put(uint32_t *row, const __m512i *part, uint64_t exec)
{
	if (__builtin_expect(exec == UINT64_MAX, 1)) {
		FOR_PARTS
		{
			_mm512_storeu_si512(row + k * 16, part[k]);
		}
	} else {
		FOR_PARTS
		{
			row_put16(row + k * 16, part[k], exec >> k * 16);
		}
	}
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

/* Stores part k of a pair of rows. */
ZMM void zmm_put_pair(uint32_t *lo, unsigned int k, struct zmm_pair v, uint64_t exec)
{
	__m512i low = zmm_low(v), high = zmm_high(v);

	if (__builtin_expect(exec == UINT64_MAX, 1)) {
		_mm512_storeu_si512(lo + k * 16, low);
		_mm512_storeu_si512(lo + GCN_LANES + k * 16, high);
	} else {
		row_put16(lo + k * 16, low, exec >> k * 16);
		row_put16(lo + GCN_LANES + k * 16, high, exec >> k * 16);
	}
}

/* A source of 64 bits with its sign, the same way. `real`: a constant is a double. */
#define ZMM_SOURCE64(n, scalars, real)                                                             \
	const uint32_t *const row##n = zmm_row(w, i, n, scalars);                                  \
	const __m512i keep##n = _mm512_set1_epi64(i->abs >> (n)&1 ? INT64_MAX : -1);               \
	const __m512i flip##n = _mm512_set1_epi64(i->neg >> (n)&1 ? INT64_MIN : 0);                \
	const __m512i all##n = zmm_all64(w, i, n, scalars, real)
#define ZMM_GET64(n, scalars)                                                                      \
	zmm_get64((scalars) >> (n)&1 ? NULL : (row##n) + k * 16, all##n, keep##n, flip##n,         \
		  (scalars) >> (n)&1)

ZMM __m512i zmm_all64(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
		      unsigned int scalars, bool real)
{
	if (!(scalars >> n & 1))
		return _mm512_setzero_si512();
	return _mm512_set1_epi64((int64_t)(real && i->src[n] == GCN_SRC_LITERAL ?
						   (uint64_t)i->literal << 32 :
						   gcn_src64(w, i, i->src[n])));
}

ZMM struct zmm_pair zmm_get64(const uint32_t *row, __m512i all, __m512i keep, __m512i flip,
			      bool scalar)
{
	struct zmm_pair v = { all, all };

	if (!scalar)
		v = zmm_join(_mm512_loadu_si512(row), _mm512_loadu_si512(row + GCN_LANES));
	v.a = _mm512_ternarylogic_epi64(v.a, keep, flip, 0x6a);
	v.b = _mm512_ternarylogic_epi64(v.b, keep, flip, 0x6a);
	return v;
}

#endif
#endif
