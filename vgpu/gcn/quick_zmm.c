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
};

ZMM __m512i lane_steps(int by)
{
	return _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
						    14, 15),
				  _mm512_set1_epi32(by));
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
	const __m512i first = _mm512_set1_epi32((int)p->first);
	__mmask16 differ = 0;

	FOR_PARTS
	{
		differ |= _mm512_cmpneq_epi32_mask(rel[k], first);
	}
	return !differ;
}

/* The address of lane 0, if all lie one behind the other: it may be inactive, and in no
 * allocation. */
ZMM uint64_t start_of(const struct location *p, unsigned int by)
{
	return p->base + p->first - (uint64_t)p->leader * by;
}

/* ---- loads ----------------------------------------------------------------------------------- */

ZMM __m256i load_eight(uint64_t base, const uint32_t *off)
{
	__m128i lo = _mm_cvtsi32_si128((int)memory_get32(memory_at(base + off[0])));
	__m128i hi = _mm_cvtsi32_si128((int)memory_get32(memory_at(base + off[4])));

	lo = _mm_insert_epi32(lo, (int)memory_get32(memory_at(base + off[1])), 1);
	hi = _mm_insert_epi32(hi, (int)memory_get32(memory_at(base + off[5])), 1);
	lo = _mm_insert_epi32(lo, (int)memory_get32(memory_at(base + off[2])), 2);
	hi = _mm_insert_epi32(hi, (int)memory_get32(memory_at(base + off[6])), 2);
	lo = _mm_insert_epi32(lo, (int)memory_get32(memory_at(base + off[3])), 3);
	hi = _mm_insert_epi32(hi, (int)memory_get32(memory_at(base + off[7])), 3);
	return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}

ZMM __m256i load_four_pairs(uint64_t base, const uint32_t *off)
{
	__m128i lo = _mm_cvtsi64_si128((long long)memory_get64(memory_at(base + off[0])));
	__m128i hi = _mm_cvtsi64_si128((long long)memory_get64(memory_at(base + off[2])));

	lo = _mm_insert_epi64(lo, (long long)memory_get64(memory_at(base + off[1])), 1);
	hi = _mm_insert_epi64(hi, (long long)memory_get64(memory_at(base + off[3])), 1);
	return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}

ZMM void put_part(struct gcn_wave *w, unsigned int reg, unsigned int k, __m512i v, uint64_t exec)
{
	uint32_t *to = w->vgpr[reg] + k * 16;

	if (__builtin_expect(exec == UINT64_MAX, 1))
		_mm512_storeu_si512(to, v);
	else
		row_put16(to, v, exec >> k * 16);
}

/* One dword of 16 lanes of any addresses. */
static __attribute__((noinline)) __m512i load_each(uint64_t base, __m512i rel)
{
	uint32_t off[16];

	_mm512_storeu_si512(off, rel);
	return _mm512_inserti64x4(_mm512_castsi256_si512(load_eight(base, off)),
				  load_eight(base, off + 8), 1);
}

/* Kernels on two-dimensional tiles read a row of the tile by each 16 lanes, or one dword by all of
 * them. */
ZMM __m512i load_part(uint64_t base, __m512i rel)
{
	uint32_t first = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(rel));
	const __m512i all = _mm512_set1_epi32((int)first);

	if (!_mm512_cmpneq_epi32_mask(rel, _mm512_add_epi32(all, lane_steps(4))))
		return _mm512_loadu_si512(memory_at(base + first));
	if (!_mm512_cmpneq_epi32_mask(rel, all))
		return _mm512_set1_epi32((int)memory_get32(memory_at(base + first)));
	return load_each(base, rel);
}

/* Dword n of all lanes. */
ZMM void load_one(struct gcn_wave *w, const struct location *p, const __m512i *rel,
		  unsigned int reg)
{
	if (in_sequence(p, rel, 4)) {
		const uint32_t *from = memory_at(start_of(p, 4));

		if (__builtin_expect(p->exec == UINT64_MAX, 1)) {
			FOR_PARTS
			{
				_mm512_storeu_si512(w->vgpr[reg] + k * 16,
						    _mm512_loadu_si512(from + k * 16));
			}
			return;
		}
		FOR_PARTS
		{
			__mmask16 on = (__mmask16)(p->exec >> k * 16);

			put_part(w, reg, k, _mm512_maskz_loadu_epi32(on, from + k * 16), p->exec);
		}
		return;
	}
	FOR_PARTS
	{
		put_part(w, reg, k, load_part(p->base, rel[k]), p->exec);
	}
}

/* Two dwords of all lanes: each pair by one access. */
ZMM void load_two(struct gcn_wave *w, const struct location *p, const __m512i *rel,
		  unsigned int reg)
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
		put_part(w, reg, k, _mm512_permutex2var_epi32(a, even, b), p->exec);
		put_part(w, reg + 1, k, _mm512_permutex2var_epi32(a, odd, b), p->exec);
	}
}

/* Three dwords: the aligned pair of a lane's three by one access. */
static void load_three(struct gcn_wave *w, const struct location *p, const __m512i *rel,
		       unsigned int reg)
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
		uint32_t first = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(rel[k]));
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
		      unsigned int nr)
{
	uint32_t v[4];

	memory_fetch(v, memory_at(p->base + p->first), nr * 4);
	for (unsigned int n = 0; n < nr; n++) {
		const __m512i all = _mm512_set1_epi32((int)v[n]);

		FOR_PARTS
		{
			put_part(w, reg + n, k, all, p->exec);
		}
	}
}

ZMM void load(struct gcn_wave *w, const struct location *p, const __m512i *rel, unsigned int reg,
	      unsigned int nr)
{
	if (all_at_one(p, rel))
		load_uniform(w, p, reg, nr);
	else if (nr == 1)
		load_one(w, p, rel, reg);
	else if (nr == 2)
		load_two(w, p, rel, reg);
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

ZMM void spread(uint32_t *off, const __m512i *rel)
{
	FOR_PARTS
	{
		_mm512_storeu_si512(off + k * 16, rel[k]);
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

	if (nr == 1 && in_sequence(p, rel, 4)) {
		uint32_t *to = memory_at(start_of(p, 4));

		FOR_PARTS
		{
			__m512i v = _mm512_loadu_si512(w->vgpr[reg] + k * 16);

			_mm512_mask_storeu_epi32(to + k * 16, (__mmask16)(p->exec >> k * 16), v);
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
		      unsigned int bytes, struct location *p, __m512i *rel)
{
	const uint32_t *row = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	const __m512i add = _mm512_set1_epi32((int)more);
	uint32_t size = w->run->lds_size;
	__mmask16 bad = 0;

	p->exec = gcn_exec(w);
	if (__builtin_expect(!p->exec || bytes > size, 0))
		return false;
	p->base = (uintptr_t)w->run->lds;
	p->leader = (uint32_t)__builtin_ctzll(p->exec);
	p->first = row[p->leader] + more;
	FOR_PARTS
	{
		__m512i v = _mm512_loadu_si512(row + k * 16);

		rel[k] = _mm512_mask_add_epi32(_mm512_set1_epi32((int)p->first),
					       (__mmask16)(p->exec >> k * 16), v, add);
		bad |= _mm512_cmpgt_epu32_mask(rel[k], _mm512_set1_epi32((int)(size - bytes)));
	}
	return !bad;
}

#define LDS_LOAD(name, nr)                                                                         \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct location p;                                                                 \
		__m512i rel[4];                                                                    \
                                                                                                   \
		if (!lds_location(w, i, (uint32_t)i->imm, (nr)*4, &p, rel))                        \
			i->general(w, i);                                                          \
		else                                                                               \
			load(w, &p, rel, i->dst, nr);                                              \
	}                                                                                          \
	GCN_STEP(name)
#define LDS_STORE(name, nr)                                                                        \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct location p;                                                                 \
		__m512i rel[4];                                                                    \
                                                                                                   \
		if (!lds_location(w, i, (uint32_t)i->imm, (nr)*4, &p, rel))                        \
			i->general(w, i);                                                          \
		else                                                                               \
			store(w, &p, rel, i->src[1] - GCN_SRC_VGPR, nr);                           \
	}                                                                                          \
	GCN_STEP(name)
#define OFFSET(n, scale) (((uint32_t)i->imm >> 8 * (n)&255) * (scale))
#define LDS_LOAD2(name, nr, scale)                                                                 \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct location p, q;                                                              \
		__m512i rel[4], other[4];                                                          \
                                                                                                   \
		if (!lds_location(w, i, OFFSET(0, scale), (nr)*4, &p, rel) ||                      \
		    !lds_location(w, i, OFFSET(1, scale), (nr)*4, &q, other)) {                    \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		load(w, &p, rel, i->dst, nr);                                                      \
		load(w, &q, other, i->dst + (nr), nr);                                             \
	}                                                                                          \
	GCN_STEP(name)
/* both stores of a lane come before those of the next one */
#define LDS_STORE2(name, nr, scale)                                                                \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		uint32_t off[GCN_LANES], off2[GCN_LANES];                                          \
		struct location p, q;                                                              \
		__m512i rel[4], other[4];                                                          \
                                                                                                   \
		if (!lds_location(w, i, OFFSET(0, scale), (nr)*4, &p, rel) ||                      \
		    !lds_location(w, i, OFFSET(1, scale), (nr)*4, &q, other)) {                    \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		spread(off, rel);                                                                  \
		spread(off2, other);                                                               \
		for (uint64_t left = p.exec; left;) {                                              \
			unsigned int l = memory_next(&left);                                       \
                                                                                                   \
			store_lane(w, p.base + off[l], i->src[1] - GCN_SRC_VGPR, l, nr);           \
			store_lane(w, q.base + off2[l], i->src[2] - GCN_SRC_VGPR, l, nr);          \
		}                                                                                  \
	}                                                                                          \
	GCN_STEP(name)

/* What histograms do, in the order of lanes; a misaligned address is out of range. */
static void ds_add_u32(struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *data = w->vgpr[i->src[1] - GCN_SRC_VGPR];
	uint32_t off[GCN_LANES];
	__mmask16 odd = 0;
	struct location p;
	__m512i rel[4];
	bool inside = lds_location(w, i, (uint32_t)i->imm, 4, &p, rel);

	for (unsigned int k = 0; k < 4 && inside; k++)
		odd |= _mm512_test_epi32_mask(rel[k], _mm512_set1_epi32(3));
	if (!inside || odd) {
		i->general(w, i);
		return;
	}
	spread(off, rel);
	if (p.exec == UINT64_MAX) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			*(uint32_t *)memory_at(p.base + off[l]) += data[l];
		return;
	}
	for (uint64_t left = p.exec; left;) {
		unsigned int l = memory_next(&left);

		*(uint32_t *)memory_at(p.base + off[l]) += data[l];
	}
}

/* Each active lane reads the value of a lane; an inactive one gives 0. */
static void ds_bpermute_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *at = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	const uint32_t *from = w->vgpr[i->src[1] - GCN_SRC_VGPR];
	uint64_t exec = gcn_exec(w);
	__m512i v[4], part[4];

	FOR_PARTS
	{
		v[k] = _mm512_maskz_loadu_epi32((__mmask16)(exec >> k * 16), from + k * 16);
	}
	FOR_PARTS
	{
		__m512i lane = _mm512_srli_epi32(_mm512_add_epi32(_mm512_loadu_si512(at + k * 16),
								  _mm512_set1_epi32(i->imm)),
						 2);
		__m512i low = _mm512_permutex2var_epi32(v[0], lane, v[1]);
		__m512i high = _mm512_permutex2var_epi32(v[2], lane, v[3]);

		part[k] = _mm512_mask_mov_epi32(low,
						_mm512_test_epi32_mask(lane, _mm512_set1_epi32(32)),
						high);
	}
	zmm_put(w->vgpr[i->dst], part, exec);
}

/* ---- global memory --------------------------------------------------------------------------- */

/* false: the lanes' addresses are not all in one allocation and one range of 4 GiB, or not all
 * global, or misaligned for accesses by pairs. */
ZMM bool global_location(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr, bool loads,
			 struct location *p, __m512i *rel)
{
	const uint32_t *lo = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	bool scalar = i->sdst == SEG_GLOBAL && i->src[2] != SADDR_NONE;
	uint64_t addr = (uint64_t)(int64_t)i->imm, before, after;
	uint32_t first, high = 0, least, most;
	struct gcn_run *r = w->run;
	const struct gcn_range *range;
	__mmask16 bad = 0;

	p->exec = gcn_exec(w);
	if (__builtin_expect(!p->exec || r->has_cache, 0))
		return false;
	p->leader = (uint32_t)__builtin_ctzll(p->exec);
	first = lo[p->leader];
	if (scalar) {
		addr += gcn_get64(w, i->src[2]);
	} else {
		high = lo[GCN_LANES + p->leader];
		addr += (uint64_t)high << 32;
	}
	addr += first;
	/* a flat address in an aperture is in no allocation */
	if (i->sdst == SEG_FLAT && (addr >> 32 == GCN_LDS_HI || addr >> 32 == GCN_SCRATCH_HI))
		return false;
	if (!memory_host(r, addr, nr * 4))
		return false;
	range = &r->range[r->hit];
	before = addr - range->lo;
	/* the dispatch's packet is valid, and no allocation */
	if (before >= range->hi - range->lo)
		return false;
	after = range->hi - addr - nr * 4;
	/* what the register of a lane may be */
	least = before < first ? first - (uint32_t)before : 0;
	most = after < ~first ? first + (uint32_t)after : UINT32_MAX;
	p->first = first - least;
	p->base = addr - p->first + range->shift;
	FOR_PARTS
	{
		__mmask16 on = (__mmask16)(p->exec >> k * 16);
		__m512i v = _mm512_loadu_si512(lo + k * 16);

		rel[k] = _mm512_mask_sub_epi32(_mm512_set1_epi32((int)p->first), on, v,
					       _mm512_set1_epi32((int)least));
		bad |= _mm512_cmpgt_epu32_mask(rel[k], _mm512_set1_epi32((int)(most - least)));
		if (!scalar)
			bad |= _mm512_mask_cmpneq_epi32_mask(on,
							     _mm512_loadu_si512(lo + GCN_LANES +
										k * 16),
							     _mm512_set1_epi32((int)high));
		/* pairs of four, or of three to store, are those of the address */
		if (nr > 3 || (nr > 2 && !loads))
			bad |= _mm512_test_epi32_mask(_mm512_add_epi32(rel[k],
								       _mm512_set1_epi32(
									       (int)p->base)),
						      _mm512_set1_epi32(4));
	}
	return !bad;
}

#define GLOBAL_LOAD(name, nr)                                                                      \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct location p;                                                                 \
		__m512i rel[4];                                                                    \
                                                                                                   \
		if (!global_location(w, i, nr, true, &p, rel)) {                                   \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		load(w, &p, rel, i->dst, nr);                                                      \
		if (memory_may_poll(i))                                                            \
			memory_polled(w, p.base + p.first);                                        \
	}                                                                                          \
	GCN_STEP(name)
#define GLOBAL_STORE(name, nr)                                                                     \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct location p;                                                                 \
		__m512i rel[4];                                                                    \
                                                                                                   \
		if (!global_location(w, i, nr, false, &p, rel)) {                                  \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		memory_stored(w->run);                                                             \
		store(w, &p, rel, i->src[1] - GCN_SRC_VGPR, nr);                                   \
	}                                                                                          \
	GCN_STEP(name)

GCN_STEP(ds_add_u32)
GCN_STEP(ds_bpermute_b32)

#define QUICK(name) GCN_BOTH(name)
#define QUICK_MORE [0] = GCN_BOTH(ds_add_u32), [63] = GCN_BOTH(ds_bpermute_b32),
#include "quick_ops.inc"

#endif
