/* SPDX-License-Identifier: MIT */
/* quick_zmm.c - loads and stores of whole dwords, of LDS and of global memory, on AVX-512
 *
 * The handlers do what those of quick.c do for other processors. The lanes' addresses stay in
 * registers, and lanes whose dwords lie one behind the other are moved at once.
 */
#include <stddef.h>

#include "memory.h"
#include "zmm.h"

#if defined(__AVX512F__)

enum { SEG_FLAT, SEG_SCRATCH, SEG_GLOBAL, SADDR_NONE = 0x7f };

/* Where the lanes' data is: `rel[k]` has the distances of 16 lanes from `base`; inactive lanes have
 * that of the first active one. */
struct location {
	uint64_t base;
	uint64_t exec;
	uint32_t first; /* of the first active lane */
	uint32_t leader;
	bool near; /* all lanes are active, one behind the other: rel[] is not set */
};

ZMM __m512i lane_steps(int by)
{
	return _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
						    14, 15),
				  _mm512_set1_epi32(by));
}

/* Bits that are set where some lanes have another value. */
ZMM __m512i differ(const __m512i *part, uint32_t value)
{
	const __m512i all = _mm512_set1_epi32((int)value);
	__m512i r = _mm512_xor_si512(part[0], all);

	for (unsigned int k = 1; k < 4; k++)
		r = _mm512_ternarylogic_epi32(r, part[k], all, 0xf6);
	return r;
}

/* The same, of what lanes four bytes apart would have. */
ZMM __m512i apart(const __m512i *part, uint32_t value)
{
	__m512i v[4];

	FOR_PARTS
	{
		v[k] = _mm512_sub_epi32(part[k], _mm512_add_epi32(lane_steps(4),
								  _mm512_set1_epi32(64 * (int)k)));
	}
	return differ(v, value);
}

ZMM bool any(__m512i v)
{
	return _mm512_test_epi32_mask(v, v);
}

/* The greatest of all lanes is beyond it. */
ZMM bool beyond(const __m512i *part, uint32_t most)
{
	return _mm512_cmpgt_epu32_mask(_mm512_max_epu32(_mm512_max_epu32(part[0], part[1]),
							_mm512_max_epu32(part[2], part[3])),
				       _mm512_set1_epi32((int)most));
}

/* Whether all active lanes lie one behind the other, `by` bytes apart. */
ZMM bool in_sequence(const struct location *p, const __m512i *rel, unsigned int by)
{
	const __m512i steps = lane_steps((int)by);
	uint32_t start = p->first - p->leader * by;
	__mmask16 apart = 0;

	FOR_PARTS
	{
		__m512i want =
			_mm512_add_epi32(_mm512_set1_epi32((int)(start + 16 * by * k)), steps);

		apart |=
			_mm512_mask_cmpneq_epi32_mask((__mmask16)(p->exec >> k * 16), rel[k], want);
	}
	return !apart;
}

ZMM bool all_at_one(const struct location *p, const __m512i *rel)
{
	return !any(differ(rel, p->first));
}

/* The first lane's of a part. */
ZMM uint32_t first_of(__m512i rel)
{
	return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(rel));
}

/* Whether the lanes of each part lie `steps` behind its first. */
ZMM bool parts_are(const __m512i *rel, __m512i steps)
{
	__m512i other = _mm512_setzero_si512();

	FOR_PARTS
	{
		__m512i first = _mm512_broadcastd_epi32(_mm512_castsi512_si128(rel[k]));

		/* other | (rel[k] ^ what it would be) */
		other = _mm512_ternarylogic_epi32(other, rel[k], _mm512_add_epi32(first, steps),
						  0xf6);
	}
	return !any(other);
}

/* One behind the other, or all at one address. */
ZMM bool parts_near(const __m512i *rel)
{
	return parts_are(rel, lane_steps(4));
}

ZMM bool parts_same(const __m512i *rel)
{
	return parts_are(rel, _mm512_setzero_si512());
}

/* The address of lane 0, if all lie one behind the other: it may be inactive, and in no
 * allocation. */
ZMM uint64_t start_of(const struct location *p, unsigned int by)
{
	return p->base + p->first - (uint64_t)p->leader * by;
}

/* ---- loads ----------------------------------------------------------------------------------- */

ZMM __m256i load_four_pairs(uint64_t base, const uint32_t *off)
{
	__m128i lo = _mm_cvtsi64_si128((long long)memory_get64(memory_at(base + off[0])));
	__m128i hi = _mm_cvtsi64_si128((long long)memory_get64(memory_at(base + off[2])));

	lo = _mm_insert_epi64(lo, (long long)memory_get64(memory_at(base + off[1])), 1);
	hi = _mm_insert_epi64(hi, (long long)memory_get64(memory_at(base + off[3])), 1);
	return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}

ZMM __m512i put_part(struct gcn_wave *w, unsigned int reg, unsigned int k, __m512i v, uint64_t exec)
{
	return zmm_put_part(w->vgpr[reg], k, v, exec);
}

/* One dword of 16 lanes of any addresses; the instruction takes signed distances. */
ZMM __m512i load_each(uint64_t base, __m512i rel)
{
	return _mm512_i32gather_epi32(_mm512_xor_si512(rel, _mm512_set1_epi32(INT32_MIN)),
				      memory_at(base + (1u << 31)), 1);
}

/* Kernels on two-dimensional tiles read a row of the tile by each 16 lanes, or one dword by all of
 * them. `at`: bytes behind the addresses of each of `nr` rows. */
ZMM void load_part(uint64_t base, __m512i rel, const int32_t *at, unsigned int nr, __m512i *v)
{
	uint32_t first = first_of(rel);
	const __m512i all = _mm512_broadcastd_epi32(_mm512_castsi512_si128(rel));

	if (!_mm512_cmpneq_epi32_mask(rel, _mm512_add_epi32(all, lane_steps(4)))) {
		for (unsigned int n = 0; n < nr; n++)
			v[n] = _mm512_loadu_si512(memory_at(base + first + (uint64_t)at[n]));
	} else if (!_mm512_cmpneq_epi32_mask(rel, all)) {
		for (unsigned int n = 0; n < nr; n++)
			v[n] = _mm512_set1_epi32(
				(int)memory_get32(memory_at(base + first + (uint64_t)at[n])));
	} else {
		for (unsigned int n = 0; n < nr; n++)
			v[n] = load_each(base + (uint64_t)at[n], rel);
	}
}

/* Dword n of all lanes, which lie one behind the other. */
ZMM void load_near(struct gcn_wave *w, const uint32_t *from, unsigned int reg, uint64_t exec,
		   struct zmm_rows *rows)
{
	if (__builtin_expect(exec == UINT64_MAX, 1)) {
		FOR_PARTS
		{
			rows->a[k] =
				put_part(w, reg, k, _mm512_loadu_si512(from + k * 16), UINT64_MAX);
		}
		return;
	}
	FOR_PARTS
	{
		__mmask16 on = (__mmask16)(exec >> k * 16);

		rows->a[k] = put_part(w, reg, k, _mm512_maskz_loadu_epi32(on, from + k * 16), exec);
	}
}

ZMM void load_one(struct gcn_wave *w, const struct location *p, const __m512i *rel,
		  unsigned int reg, struct zmm_rows *rows)
{
	static const int32_t here = 0;

	if (p->near || (p->exec != UINT64_MAX && in_sequence(p, rel, 4))) {
		load_near(w, memory_at(start_of(p, 4)), reg, p->exec, rows);
		return;
	}
	if (parts_near(rel)) {
		FOR_PARTS
		{
			const void *from = memory_at(p->base + first_of(rel[k]));

			rows->a[k] = put_part(w, reg, k, _mm512_loadu_si512(from), p->exec);
		}
		return;
	}
	if (parts_same(rel)) {
		FOR_PARTS
		{
			uint32_t v = memory_get32(memory_at(p->base + first_of(rel[k])));

			rows->a[k] = put_part(w, reg, k, _mm512_set1_epi32((int)v), p->exec);
		}
		return;
	}
	FOR_PARTS
	{
		__m512i v;

		load_part(p->base, rel[k], &here, 1, &v);
		rows->a[k] = put_part(w, reg, k, v, p->exec);
	}
}

/* Two dwords of all lanes: each pair by one access. */
ZMM void load_two(struct gcn_wave *w, const struct location *p, const __m512i *rel,
		  unsigned int reg, struct zmm_rows *rows)
{
	const __m512i even =
		_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
	bool near = p->exec == UINT64_MAX && in_sequence(p, rel, 8);
	uint32_t off[16];

	FOR_PARTS
	{
		__m512i a, b;

		if (near) {
			const uint32_t *from = memory_at(p->base + p->first + k * 128);

			a = _mm512_loadu_si512(from);
			b = _mm512_loadu_si512(from + 16);
		} else {
			_mm512_storeu_si512(off, rel[k]);
			a = _mm512_castsi256_si512(load_four_pairs(p->base, off));
			b = _mm512_castsi256_si512(load_four_pairs(p->base, off + 8));
			a = _mm512_inserti64x4(a, load_four_pairs(p->base, off + 4), 1);
			b = _mm512_inserti64x4(b, load_four_pairs(p->base, off + 12), 1);
		}
		rows->a[k] = put_part(w, reg, k, _mm512_permutex2var_epi32(a, even, b), p->exec);
		rows->b[k] = put_part(w, reg + 1, k, _mm512_permutex2var_epi32(a, odd, b), p->exec);
	}
}

/* Three dwords: the aligned pair of a lane's three by one access. */
static __attribute__((noinline)) void load_three(struct gcn_wave *w, const struct location *p,
						 const __m512i *rel, unsigned int reg)
{
	uint32_t off[GCN_LANES];
	gcn_row got[3];

	FOR_PARTS
	{
		_mm512_storeu_si512(off + k * 16, rel[k]);
	}
	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint64_t addr = p->base + off[l], odd = addr >> 2 & 1;
		uint64_t v = memory_get64(memory_at(addr + 4 * odd));
		uint32_t one = memory_get32(memory_at(addr + 8 * !odd));

		got[0][l] = odd ? one : (uint32_t)v;
		got[1][l] = (uint32_t)(odd ? v : v >> 32);
		got[2][l] = odd ? (uint32_t)(v >> 32) : one;
	}
	for (unsigned int n = 0; n < 3; n++)
		row_blend(w->vgpr[reg + n], got[n], p->exec);
}

/* As stencils do: the three dwords of neighbours overlap. */
ZMM void load_near_three(struct gcn_wave *w, const struct location *p, const __m512i *rel,
			 unsigned int reg)
{
	FOR_PARTS
	{
		uint32_t first = first_of(rel[k]);

		for (unsigned int n = 0; n < 3; n++)
			put_part(w, reg + n, k,
				 _mm512_loadu_si512(memory_at(p->base + first + 4 * n)), p->exec);
	}
}

ZMM __m128i load_four_at(uint64_t base, const uint32_t *off, unsigned int l)
{
	return _mm_loadu_si128(memory_at(base + off[l]));
}

/* Lanes l, l + 4, l + 8 and l + 12. */
ZMM __m512i load_quarter(uint64_t base, const uint32_t *off, unsigned int l)
{
	__m512i v = _mm512_castsi128_si512(load_four_at(base, off, l));

	v = _mm512_inserti32x4(v, load_four_at(base, off, l + 4), 1);
	v = _mm512_inserti32x4(v, load_four_at(base, off, l + 8), 2);
	return _mm512_inserti32x4(v, load_four_at(base, off, l + 12), 3);
}

/* Rows of a matrix of four become its columns, in each quarter of the registers. */
ZMM void transpose(__m512i *v)
{
	__m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
	__m512i c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);

	v[0] = _mm512_unpacklo_epi64(a, c);
	v[1] = _mm512_unpackhi_epi64(a, c);
	v[2] = _mm512_unpacklo_epi64(b, d);
	v[3] = _mm512_unpackhi_epi64(b, d);
}

/* Four dwords, as two aligned pairs. */
ZMM void load_four(struct gcn_wave *w, const struct location *p, const __m512i *rel,
		   unsigned int reg)
{
	FOR_PARTS
	{
		uint32_t first = first_of(rel[k]);
		uint32_t off[16];
		__m512i v[4];

		if (!_mm512_cmpneq_epi32_mask(rel[k], _mm512_set1_epi32((int)first))) {
			v[0] = _mm512_broadcast_i32x4(_mm_loadu_si128(memory_at(p->base + first)));
			v[1] = _mm512_shuffle_epi32(v[0], 0x55);
			v[2] = _mm512_shuffle_epi32(v[0], 0xaa);
			v[3] = _mm512_shuffle_epi32(v[0], 0xff);
			v[0] = _mm512_shuffle_epi32(v[0], 0);
		} else {
			_mm512_storeu_si512(off, rel[k]);
			for (unsigned int n = 0; n < 4; n++)
				v[n] = load_quarter(p->base, off, n);
			transpose(v);
		}
		for (unsigned int n = 0; n < 4; n++)
			put_part(w, reg + n, k, v[n], p->exec);
	}
}

/* All lanes at one address. */
ZMM void load_uniform(struct gcn_wave *w, const struct location *p, unsigned int reg,
		      unsigned int nr, struct zmm_rows *rows)
{
	uint32_t v[4];

	memory_fetch(v, memory_at(p->base + p->first), nr * 4);
	for (unsigned int n = 0; n < nr; n++) {
		const __m512i all = _mm512_set1_epi32((int)v[n]);

		FOR_PARTS
		{
			const __m512i now = put_part(w, reg + n, k, all, p->exec);

			if (n < 2)
				*(n ? &rows->b[k] : &rows->a[k]) = now;
		}
	}
}

ZMM void load(struct gcn_wave *w, const struct location *p, const __m512i *rel, unsigned int reg,
	      unsigned int nr, struct zmm_rows *rows)
{
	if (nr == 1)
		load_one(w, p, rel, reg, rows);
	else if (all_at_one(p, rel))
		load_uniform(w, p, reg, nr, rows);
	else if (nr == 2)
		load_two(w, p, rel, reg, rows);
	else if (nr == 3 && parts_near(rel))
		load_near_three(w, p, rel, reg);
	else if (nr == 3)
		load_three(w, p, rel, reg);
	else
		load_four(w, p, rel, reg);
}

/* ---- stores ---------------------------------------------------------------------------------- */

ZMM void store_lane(const struct gcn_wave *w, uint64_t addr, unsigned int reg, unsigned int l,
		    unsigned int nr)
{
	const gcn_row *row = &w->vgpr[reg];
	unsigned char *to = memory_at(addr);

	for (unsigned int n = 0; n + 2 <= nr; n += 2)
		memory_put64(to + n * 4, row[n][l] | (uint64_t)row[n + 1][l] << 32);
	if (nr & 1)
		memory_put32(to + (nr - 1) * 4, row[nr - 1][l]);
}

/* By halves: single dwords of a whole register's store take long to be loaded. */
ZMM void spread(uint32_t *off, const __m512i *rel)
{
	FOR_PARTS
	{
		__m256i *to = (__m256i *)(void *)(off + k * 16);

		_mm256_storeu_si256(to, _mm512_castsi512_si256(rel[k]));
		_mm256_storeu_si256(to + 1, _mm512_extracti64x4_epi64(rel[k], 1));
	}
}

/* All lanes' four dwords, lane by lane. */
ZMM void store_four(const struct gcn_wave *w, const struct location *p, const uint32_t *off,
		    unsigned int reg)
{
	FOR_PARTS
	{
		__m512i v[4];

		for (unsigned int n = 0; n < 4; n++)
			v[n] = _mm512_loadu_si512(w->vgpr[reg + n] + k * 16);
		transpose(v);
#define QUARTER(q)                                                                                 \
	for (unsigned int n = 0; n < 4; n++)                                                       \
	_mm_storeu_si128(memory_at(p->base + off[k * 16 + (q)*4 + n]),                             \
			 _mm512_extracti32x4_epi32(v[n], q))
		QUARTER(0);
		QUARTER(1);
		QUARTER(2);
		QUARTER(3);
#undef QUARTER
	}
}

/* In the order of lanes: of several that store to one address the last one wins. */
ZMM void store(const struct gcn_wave *w, const struct location *p, const __m512i *rel,
	       unsigned int reg, unsigned int nr)
{
	uint32_t off[GCN_LANES];

	if (nr == 1 && (p->near || in_sequence(p, rel, 4))) {
		uint32_t *to = memory_at(start_of(p, 4));

		FOR_PARTS
		{
			__m512i v = _mm512_loadu_si512(w->vgpr[reg] + k * 16);

			if (__builtin_expect(p->exec == UINT64_MAX, 1))
				_mm512_storeu_si512(to + k * 16, v);
			else
				_mm512_mask_storeu_epi32(to + k * 16,
							 (__mmask16)(p->exec >> k * 16), v);
		}
		return;
	}
	if (nr == 1 && p->exec == UINT64_MAX && parts_near(rel)) {
		FOR_PARTS
		{
			__m512i v = _mm512_loadu_si512(w->vgpr[reg] + k * 16);

			_mm512_storeu_si512(memory_at(p->base + first_of(rel[k])), v);
		}
		return;
	}
	spread(off, rel);
	if (nr == 4 && p->exec == UINT64_MAX) {
		store_four(w, p, off, reg);
		return;
	}
	for (uint64_t left = p->exec; left;) {
		unsigned int l = memory_next(&left);

		store_lane(w, p->base + off[l], reg, l, nr);
	}
}

/* ---- LDS ------------------------------------------------------------------------------------- */

/* The lanes' offsets in LDS, `more` behind those of the registers; false: some lane's access is not
 * within it. */
ZMM bool lds_location(const struct gcn_wave *w, const struct gcn_inst *i, uint32_t more,
		      unsigned int bytes, const struct zmm_rows *rows, struct location *p,
		      __m512i *rel)
{
	uint32_t size = w->run->lds_size;

	ZMM_SOURCE(0, 0);
	p->exec = gcn_exec(w);
	if (__builtin_expect(!p->exec || bytes > size, 0))
		return false;
	p->base = (uintptr_t)w->run->lds;
	p->leader = (uint32_t)__builtin_ctzll(p->exec);
	p->first = zmm_lane(src0, p->leader) + more;
	p->near = false;
	FOR_PARTS
	{
		rel[k] = _mm512_add_epi32(src0[k], _mm512_set1_epi32((int)more));
	}
	if (__builtin_expect(p->exec != UINT64_MAX, 0)) {
		FOR_PARTS
		{
			rel[k] = _mm512_mask_mov_epi32(_mm512_set1_epi32((int)p->first),
						       (__mmask16)(p->exec >> k * 16), rel[k]);
		}
	}
	return !beyond(rel, size - bytes);
}

/* The handler and step of a memory instruction, of an expression that is false where the general
 * handler has to execute it; then it has done nothing. */
#define HANDLER(name, call)                                                                        \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct zmm_rows rows_ = { .last = 0 }, *rows = &rows_;                             \
                                                                                                   \
		if (!(call))                                                                       \
			by_general(w, i);                                                          \
	}                                                                                          \
	static __attribute__((flatten)) void name##_step(struct gcn_wave *w,                       \
							 const struct gcn_step *step,              \
							 ZMM_ROWS_ARGS)                            \
	{                                                                                          \
		const struct gcn_inst *i = step->i;                                                \
		struct zmm_rows rows_ = ZMM_ROWS(step), *rows = &rows_;                            \
                                                                                                   \
		if (__builtin_expect(!(call), 0)) {                                                \
			general_step(w, step, a0, a1, a2, a3, b0, b1, b2, b3);                     \
			return;                                                                    \
		}                                                                                  \
		ZMM_NEXT(w, step, rows);                                                           \
	}

static __attribute__((noinline)) void by_general(struct gcn_wave *w, const struct gcn_inst *i)
{
	i->general(w, i);
	w->run->hits[gcn_hit_of(i)] = (uint8_t)w->run->hit;
}

static __attribute__((noinline)) void general_step(struct gcn_wave *w, const struct gcn_step *step,
						   ZMM_ROWS_ARGS)
{
	const uint32_t *row = w->vgpr[step->i->dst];
	struct zmm_rows rows = ZMM_ROWS(step);
	enum gcn_leaves what;

	zmm_spill_sources(w, step->i, &rows);
	by_general(w, step->i);
	PASTE(quick_step, VALU_SUFFIX)(step->i, &what);
	FOR_PARTS
	{
		rows.a[k] = _mm512_loadu_si512(row + k * 16);
		/* or row b is still that of a step before */
		if (what == GCN_LEAVES_PAIR)
			rows.b[k] = _mm512_loadu_si512(row + GCN_LANES + k * 16);
	}
	ZMM_NEXT(w, step, &rows);
}

ZMM bool lds_load(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		  unsigned int nr)
{
	struct location p;
	__m512i rel[4];

	if (!lds_location(w, i, (uint32_t)i->imm, nr * 4, rows, &p, rel))
		return false;
	load(w, &p, rel, i->dst, nr, rows);
	return true;
}

ZMM bool lds_store(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		   unsigned int nr)
{
	struct location p;
	__m512i rel[4];

	if (!lds_location(w, i, (uint32_t)i->imm, nr * 4, rows, &p, rel))
		return false;
	store(w, &p, rel, i->src[1] - GCN_SRC_VGPR, nr);
	return true;
}

#define OFFSET(n, scale) (((uint32_t)i->imm >> 8 * (n)&255) * (scale))

ZMM bool lds_load2(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		   unsigned int nr, unsigned int scale)
{
	struct location p, q;
	__m512i rel[4], other[4];

	if (!lds_location(w, i, OFFSET(0, scale), nr * 4, rows, &p, rel) ||
	    !lds_location(w, i, OFFSET(1, scale), nr * 4, rows, &q, other))
		return false;
	if (nr == 1) {
		const int32_t at[2] = { 0, (int32_t)(q.first - p.first) };

		FOR_PARTS
		{
			__m512i v[2];

			load_part(p.base, rel[k], at, 2, v);
			rows->a[k] = put_part(w, i->dst, k, v[0], p.exec);
			rows->b[k] = put_part(w, i->dst + 1, k, v[1], p.exec);
		}
		return true;
	}
	load(w, &p, rel, i->dst, nr, rows);
	load(w, &q, other, i->dst + nr, nr, rows);
	return true;
}

/* both stores of a lane come before those of the next one */
ZMM bool lds_store2(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		    unsigned int nr, unsigned int scale)
{
	uint32_t off[GCN_LANES], off2[GCN_LANES];
	struct location p, q;
	__m512i rel[4], other[4];

	if (!lds_location(w, i, OFFSET(0, scale), nr * 4, rows, &p, rel) ||
	    !lds_location(w, i, OFFSET(1, scale), nr * 4, rows, &q, other))
		return false;
	spread(off, rel);
	spread(off2, other);
	for (uint64_t left = p.exec; left;) {
		unsigned int l = memory_next(&left);

		store_lane(w, p.base + off[l], i->src[1] - GCN_SRC_VGPR, l, nr);
		store_lane(w, q.base + off2[l], i->src[2] - GCN_SRC_VGPR, l, nr);
	}
	return true;
}

#define LDS_LOAD(name, nr) HANDLER(name, lds_load(w, i, rows, nr))
#define LDS_STORE(name, nr) HANDLER(name, lds_store(w, i, rows, nr))
#define LDS_LOAD2(name, nr, scale) HANDLER(name, lds_load2(w, i, rows, nr, scale))
#define LDS_STORE2(name, nr, scale) HANDLER(name, lds_store2(w, i, rows, nr, scale))

/* What histograms do, in the order of lanes; a misaligned address is out of range. */
ZMM bool lds_add(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows)
{
	const uint32_t *data = w->vgpr[i->src[1] - GCN_SRC_VGPR];
	uint32_t off[GCN_LANES];
	struct location p;
	__m512i rel[4];

	if (!lds_location(w, i, (uint32_t)i->imm, 4, rows, &p, rel))
		return false;
	if (_mm512_test_epi32_mask(_mm512_or_si512(_mm512_or_si512(rel[0], rel[1]),
						   _mm512_or_si512(rel[2], rel[3])),
				   _mm512_set1_epi32(3)))
		return false;
	spread(off, rel);
	if (p.exec == UINT64_MAX) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			*(uint32_t *)memory_at(p.base + off[l]) += data[l];
		return true;
	}
	for (uint64_t left = p.exec; left;) {
		unsigned int l = memory_next(&left);

		*(uint32_t *)memory_at(p.base + off[l]) += data[l];
	}
	return true;
}

/* Each active lane reads the value of a lane; an inactive one gives 0. */
ZMM bool lds_permute(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows)
{
	uint64_t exec = gcn_exec(w);
	__m512i v[4], part[4];

	ZMM_SOURCE(0, 0);
	ZMM_SOURCE(1, 0);
	FOR_PARTS
	{
		v[k] = _mm512_maskz_mov_epi32((__mmask16)(exec >> k * 16), src1[k]);
	}
	FOR_PARTS
	{
		__m512i lane =
			_mm512_srli_epi32(_mm512_add_epi32(src0[k], _mm512_set1_epi32(i->imm)), 2);
		__m512i low = _mm512_permutex2var_epi32(v[0], lane, v[1]);
		__m512i high = _mm512_permutex2var_epi32(v[2], lane, v[3]);

		part[k] = _mm512_mask_mov_epi32(low,
						_mm512_test_epi32_mask(lane, _mm512_set1_epi32(32)),
						high);
	}
	zmm_put(w->vgpr[i->dst], part, exec, rows);
	return true;
}

/* ---- global memory --------------------------------------------------------------------------- */

/* The allocation of an address that this instruction's accesses were in before; NULL: it is
 * another one. */
ZMM const struct gcn_range *range_of(const struct gcn_run *r, const struct gcn_inst *i,
				     uint64_t addr, uint32_t bytes)
{
	const struct gcn_range *range = &r->range[r->hits[gcn_hit_of(i)]];

	if (addr >= range->lo && addr < range->hi && bytes <= range->hi - addr &&
	    r->generation == __atomic_load_n(r->host->generation, __ATOMIC_ACQUIRE))
		return range;
	return NULL;
}

/* false: the lanes' addresses are not all in one allocation and one range of 4 GiB, or not all
 * global, or misaligned for accesses by pairs. */
ZMM bool global_location(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr,
			 bool loads, const struct zmm_rows *rows, struct location *p, __m512i *rel)
{
	const bool left = rows->last & GCN_LAST;
	const uint32_t *row = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	bool scalar = i->sdst == SEG_GLOBAL && i->src[2] != SADDR_NONE;
	uint64_t addr = (uint64_t)(int64_t)i->imm, before, after;
	uint32_t first, high = 0, least, most;
	const struct gcn_range *range;
	__m512i lo[4], hi[4], other;

	p->exec = gcn_exec(w);
	if (__builtin_expect(!p->exec || w->run->has_cache, 0))
		return false;
	p->leader = (uint32_t)__builtin_ctzll(p->exec);
	FOR_PARTS
	{
		lo[k] = left ? rows->a[k] : _mm512_loadu_si512(row + k * 16);
	}
	first = zmm_lane(lo, p->leader);
	if (scalar) {
		addr += gcn_get64(w, i->src[2]);
		hi[0] = hi[1] = hi[2] = hi[3] = _mm512_setzero_si512();
	} else {
		FOR_PARTS
		{
			hi[k] = left ? rows->b[k] : _mm512_loadu_si512(row + GCN_LANES + k * 16);
		}
		high = zmm_lane(hi, p->leader);
		addr += (uint64_t)high << 32;
	}
	addr += first;
	/* a flat address in an aperture is in no allocation */
	if (i->sdst == SEG_FLAT && (addr >> 32 == GCN_LDS_HI || addr >> 32 == GCN_SCRATCH_HI))
		return false;
	range = range_of(w->run, i, addr, nr * 4);
	if (__builtin_expect(!range, 0))
		return false;
	before = addr - range->lo;
	after = range->hi - addr - nr * 4;
	/* what the register of a lane may be */
	least = before < first ? first - (uint32_t)before : 0;
	most = after < ~first ? first + (uint32_t)after : UINT32_MAX;
	p->first = first - least;
	p->base = addr - p->first + range->shift;
	if (__builtin_expect(p->exec != UINT64_MAX, 0)) {
		FOR_PARTS
		{
			__mmask16 off = (__mmask16) ~(p->exec >> k * 16);

			lo[k] = _mm512_mask_set1_epi32(lo[k], off, (int)first);
			hi[k] = _mm512_mask_set1_epi32(hi[k], off, (int)high);
		}
	}
	other = differ(hi, high);
	p->near = nr == 1 && p->exec == UINT64_MAX && most - first >= 252 && most >= first &&
		  !any(_mm512_or_si512(apart(lo, first), other));
	if (p->near)
		return true;
	FOR_PARTS
	{
		rel[k] = _mm512_sub_epi32(lo[k], _mm512_set1_epi32((int)least));
	}
	/* pairs of four, or of three to store, are those of the address */
	if (nr > 3 || (nr > 2 && !loads)) {
		const __m512i base = _mm512_set1_epi32((int)p->base);
		__mmask16 odd = 0;

		FOR_PARTS
		{
			odd |= _mm512_test_epi32_mask(_mm512_add_epi32(rel[k], base),
						      _mm512_set1_epi32(4));
		}
		if (odd)
			return false;
	}
	return !beyond(rel, most - least) && !any(other);
}

ZMM bool global_load(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		     unsigned int nr)
{
	struct location p;
	__m512i rel[4];

	if (memory_may_poll(i) || !global_location(w, i, nr, true, rows, &p, rel))
		return false;
	load(w, &p, rel, i->dst, nr, rows);
	return true;
}

ZMM bool global_store(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		      unsigned int nr)
{
	struct location p;
	__m512i rel[4];

	if (!global_location(w, i, nr, false, rows, &p, rel))
		return false;
	memory_stored(w->run);
	store(w, &p, rel, i->src[1] - GCN_SRC_VGPR, nr);
	return true;
}

#define GLOBAL_LOAD(name, nr) HANDLER(name, global_load(w, i, rows, nr))
#define GLOBAL_STORE(name, nr) HANDLER(name, global_store(w, i, rows, nr))

HANDLER(ds_add_u32, lds_add(w, i, rows))
HANDLER(ds_bpermute_b32, lds_permute(w, i, rows))

#define QUICK(name, leaves)                                                                        \
	{                                                                                          \
		ZMM_BOTH(name), leaves                                                             \
	}
#define QUICK_MORE                                                                                 \
	[0] = QUICK(ds_add_u32, GCN_LEAVES_NOTHING), [63] = QUICK(ds_bpermute_b32, GCN_LEAVES_ROW),
#include "quick_ops.inc"

#endif
