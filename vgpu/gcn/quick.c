/* SPDX-License-Identifier: MIT */
/* quick.c - loads and stores of whole dwords, of LDS and of global memory, as kernels make them most
 *
 * A handler here does what the general one of ds.c and flat.c does, for accesses that are all in range; it leaves all others,
 * and those that are counted by the model of caches, to the general one. It looks at the addresses of a row at once.
 *
 * Built for each kind of processor.
 */
#include <stddef.h>

#include "memory.h"
#include "rows.h"

#define PATCH 16

enum { SEG_FLAT, SEG_SCRATCH, SEG_GLOBAL, SADDR_NONE = 0x7f };

/* Where the lanes' data is; inactive lanes have the address of an active one. */
struct where {
	uint64_t addr[GCN_LANES];
	uint64_t exec;
	bool dense;   /* all lanes are active, a dword apart */
	bool uniform; /* all have one address */
};

static uint32_t get32(uint64_t addr)
{
	return memory_get32(memory_at(addr));
}

/* Kernels on two-dimensional tiles read a row of the tile by each 16 lanes, or one dword by all of them. */
#if defined(__AVX512F__)
/* Lane addresses as vectors, and results made in registers: rows that were stored by dwords can't be read at once as vectors. */
static inline void load_patch(uint32_t *to, const uint64_t *addr, uint64_t at)
{
	const __m512i first = _mm512_set1_epi64((long long)addr[0]);
	const __m512i four = _mm512_set1_epi64(4);
	const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	const __m512i lo = _mm512_loadu_si512(addr), hi = _mm512_loadu_si512(addr + 8);
	const __m512i in_row = _mm512_add_epi64(first, _mm512_mullo_epi64(lane, four));
	__m512i v;

	if (!_mm512_cmpneq_epi64_mask(lo, in_row) &&
	    !_mm512_cmpneq_epi64_mask(hi, _mm512_add_epi64(in_row, _mm512_set1_epi64(32))))
		v = _mm512_loadu_si512(memory_at(addr[0] + at));
	else if (!_mm512_cmpneq_epi64_mask(lo, first) && !_mm512_cmpneq_epi64_mask(hi, first))
		v = _mm512_set1_epi32((int)get32(addr[0] + at));
	else
		v = _mm512_inserti64x4(_mm512_castsi256_si512(
					       _mm512_i64gather_epi32(lo,
								      (const void *)(uintptr_t)at,
								      1)),
				       _mm512_i64gather_epi32(hi, (const void *)(uintptr_t)at, 1),
				       1);
	_mm512_storeu_si512(to, v);
}
#else
static inline void load_patch(uint32_t *to, const uint64_t *addr, uint64_t at)
{
	uint64_t apart = 0, differ = 0;

	for (unsigned int l = 0; l < PATCH; l++) {
		apart |= addr[l] ^ (addr[0] + l * 4);
		differ |= addr[l] ^ addr[0];
	}
	if (!apart) {
		memcpy(to, memory_at(addr[0] + at), PATCH * 4);
	} else if (!differ) {
		uint32_t v = get32(addr[0] + at);

		for (unsigned int l = 0; l < PATCH; l++)
			to[l] = v;
	} else {
		for (unsigned int l = 0; l < PATCH; l++)
			to[l] = get32(addr[l] + at);
	}
}
#endif

/* Dword n of all lanes, from `at` bytes behind their addresses on. */
static void load_row(struct gcn_wave *w, const struct where *p, unsigned int reg, uint64_t at)
{
	uint32_t *row = w->vgpr[reg];
	gcn_row got;

	if (p->exec != UINT64_MAX)
		row = got;
	for (unsigned int first = 0; first < GCN_LANES; first += PATCH)
		load_patch(row + first, p->addr + first, at);
	if (p->exec != UINT64_MAX)
		row_blend(w->vgpr[reg], got, p->exec);
}

/* Two dwords of all lanes: each pair by one access. */
static void load_pair(struct gcn_wave *w, const struct where *p, unsigned int reg, uint64_t at)
{
	gcn_row lo, hi;

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint64_t v = memory_get64(memory_at(p->addr[l] + at));

		lo[l] = (uint32_t)v;
		hi[l] = (uint32_t)(v >> 32);
	}
	row_blend(w->vgpr[reg], lo, p->exec);
	row_blend(w->vgpr[reg + 1], hi, p->exec);
}

/* Three dwords: the aligned pair of a lane's three by one access. */
static void load_three(struct gcn_wave *w, const struct where *p, unsigned int reg, uint64_t at)
{
	gcn_row got[3];

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint64_t addr = p->addr[l] + at, odd = addr >> 2 & 1;
		uint64_t v = memory_get64(memory_at(addr + 4 * odd));
		uint32_t one = get32(addr + 8 * !odd);

		got[0][l] = odd ? one : (uint32_t)v;
		got[1][l] = (uint32_t)(odd ? v : v >> 32);
		got[2][l] = odd ? (uint32_t)(v >> 32) : one;
	}
	for (unsigned int n = 0; n < 3; n++)
		row_blend(w->vgpr[reg + n], got[n], p->exec);
}

/* All lanes at one address. */
static void load_uniform(struct gcn_wave *w, const struct where *p, unsigned int reg,
			 unsigned int nr)
{
	uint32_t v[4];
	gcn_row row;

	memory_fetch(v, memory_at(p->addr[0]), nr * 4);
	for (unsigned int n = 0; n < nr; n++) {
		row_fill(row, v[n]);
		row_blend(w->vgpr[reg + n], row, p->exec);
	}
}

static inline void load(struct gcn_wave *w, const struct where *p, unsigned int reg,
			unsigned int nr)
{
	if (nr == 1 && p->dense) {
		memcpy(w->vgpr[reg], memory_at(p->addr[0]), sizeof(gcn_row));
		return;
	}
	if (p->uniform) {
		load_uniform(w, p, reg, nr);
		return;
	}
	if (nr == 3) {
		load_three(w, p, reg, 0);
		return;
	}
	for (unsigned int n = 0; n + 2 <= nr; n += 2)
		load_pair(w, p, reg + n, n * 4);
	if (nr & 1)
		load_row(w, p, reg + nr - 1, (nr - 1) * 4);
}

static inline void store_lane(const struct gcn_wave *w, uint64_t addr, unsigned int reg,
			      unsigned int l, unsigned int nr)
{
	const gcn_row *row = &w->vgpr[reg];
	unsigned char *to = memory_at(addr);

	for (unsigned int n = 0; n + 2 <= nr; n += 2)
		memory_put64(to + n * 4, row[n][l] | (uint64_t)row[n + 1][l] << 32);
	if (nr & 1)
		memory_put32(to + (nr - 1) * 4, row[nr - 1][l]);
}

/* In the order of lanes: of several that store to one address the last one wins. */
static inline void store(const struct gcn_wave *w, const struct where *p, unsigned int reg,
			 unsigned int nr)
{
	if (nr == 1 && p->dense) {
		memcpy(memory_at(p->addr[0]), w->vgpr[reg], sizeof(gcn_row));
		return;
	}
	for (uint64_t left = p->exec; left;) {
		unsigned int l = memory_next(&left);

		store_lane(w, p->addr[l], reg, l, nr);
	}
}

/* ---- LDS ----------------------------------------------------------------------------------------- */

/* false: some lane's access is not within LDS. */
static inline bool lds_where(const struct gcn_wave *w, const struct gcn_inst *i, uint32_t offset,
			     unsigned int bytes, struct where *p)
{
	const uint32_t *row = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	uint32_t size = w->run->lds_size, first, most = 0, apart = 0, differ = 0;
	uint64_t base = (uintptr_t)w->run->lds;
	uint32_t at[GCN_LANES];

	p->exec = gcn_exec(w);
	if (!p->exec || bytes > size)
		return false;
	first = row[__builtin_ctzll(p->exec)] + offset;
	if (p->exec == UINT64_MAX) {
		FOR_LANES
		{
			at[l] = row[l] + offset;
		}
	} else {
		row_of_bits(at, p->exec);
		FOR_LANES
		{
			at[l] = at[l] ? row[l] + offset : first;
		}
	}
	FOR_LANES
	{
		most = at[l] > most ? at[l] : most;
		apart |= at[l] ^ (first + l * 4);
		differ |= at[l] ^ first;
	}
	if (most > size - bytes)
		return false;
	p->dense = !apart && p->exec == UINT64_MAX;
	p->uniform = !differ;
	FOR_LANES
	{
		p->addr[l] = base + at[l];
	}
	return true;
}

#define LDS_LOAD(name, nr)                                                                         \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct where p;                                                                    \
                                                                                                   \
		if (!lds_where(w, i, (uint32_t)i->imm, (nr)*4, &p))                                \
			i->general(w, i);                                                          \
		else                                                                               \
			load(w, &p, i->dst, nr);                                                   \
	}
#define LDS_STORE(name, nr)                                                                        \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct where p;                                                                    \
                                                                                                   \
		if (!lds_where(w, i, (uint32_t)i->imm, (nr)*4, &p))                                \
			i->general(w, i);                                                          \
		else                                                                               \
			store(w, &p, i->src[1] - GCN_SRC_VGPR, nr);                                \
	}
#define LDS_LOAD2(name, nr, scale)                                                                 \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct where p, q;                                                                 \
                                                                                                   \
		if (!lds_where(w, i, ((uint32_t)i->imm & 255) * (scale), (nr)*4, &p) ||            \
		    !lds_where(w, i, ((uint32_t)i->imm >> 8 & 255) * (scale), (nr)*4, &q)) {       \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		load(w, &p, i->dst, nr);                                                           \
		load(w, &q, i->dst + (nr), nr);                                                    \
	}
/* both stores of a lane come before those of the next one */
#define LDS_STORE2(name, nr, scale)                                                                \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct where p, q;                                                                 \
                                                                                                   \
		if (!lds_where(w, i, ((uint32_t)i->imm & 255) * (scale), (nr)*4, &p) ||            \
		    !lds_where(w, i, ((uint32_t)i->imm >> 8 & 255) * (scale), (nr)*4, &q)) {       \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		for (uint64_t left = p.exec; left;) {                                              \
			unsigned int l = memory_next(&left);                                       \
                                                                                                   \
			store_lane(w, p.addr[l], i->src[1] - GCN_SRC_VGPR, l, nr);                 \
			store_lane(w, q.addr[l], i->src[2] - GCN_SRC_VGPR, l, nr);                 \
		}                                                                                  \
	}

LDS_LOAD(ds_read_b32, 1)
LDS_LOAD(ds_read_b64, 2)
LDS_LOAD(ds_read_b96, 3)
LDS_LOAD(ds_read_b128, 4)
LDS_STORE(ds_write_b32, 1)
LDS_STORE(ds_write_b64, 2)
LDS_STORE(ds_write_b96, 3)
LDS_STORE(ds_write_b128, 4)
LDS_LOAD2(ds_read2_b32, 1, 4)
LDS_LOAD2(ds_read2st64_b32, 1, 256)
LDS_LOAD2(ds_read2_b64, 2, 8)
LDS_LOAD2(ds_read2st64_b64, 2, 512)
LDS_STORE2(ds_write2_b32, 1, 4)
LDS_STORE2(ds_write2st64_b32, 1, 256)
LDS_STORE2(ds_write2_b64, 2, 8)
LDS_STORE2(ds_write2st64_b64, 2, 512)

/* ---- global memory ---------------------------------------------------------------------------------- */

/* What the addresses of a row have in common. */
struct span {
	uint64_t least, most, apart, low_bits;
};

/* Makes the addresses in one pass: low halves, and high ones unless all have the same base. */
static inline __attribute__((always_inline)) void make_addresses(struct where *p, struct span *s,
								 const uint32_t *lo,
								 const uint32_t *hi, uint64_t base,
								 uint64_t first, const uint32_t *on)
{
	uint64_t least = UINT64_MAX, most = 0, apart = 0, low_bits = 0;

	FOR_LANES
	{
		uint64_t a = (hi ? lo[l] | (uint64_t)hi[l] << 32 : lo[l]) + base;

		a = !on || on[l] ? a : first;
		p->addr[l] = a;
		least = a < least ? a : least;
		most = a > most ? a : most;
		apart |= a ^ (first + l * 4);
		low_bits |= a;
	}
	*s = (struct span){ least, most, apart, low_bits };
}

/* false: the lanes' addresses are not all in one allocation, or not all global, or misaligned for accesses by pairs. */
static inline bool global_where(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr,
				bool loads, struct where *p)
{
	const uint32_t *lo = w->vgpr[i->src[0] - GCN_SRC_VGPR], *hi = lo + GCN_LANES;
	uint64_t base = (uint64_t)(int64_t)i->imm, first;
	uint32_t on[GCN_LANES];
	struct span s;
	unsigned int leader;

	p->exec = gcn_exec(w);
	if (!p->exec || w->run->lead->cache.on)
		return false;
	leader = (unsigned int)__builtin_ctzll(p->exec);
	if (i->sdst == SEG_GLOBAL && i->src[2] != SADDR_NONE) {
		base += gcn_get64(w, i->src[2]);
		hi = NULL;
	}
	first = (hi ? lo[leader] | (uint64_t)hi[leader] << 32 : lo[leader]) + base;
	if (i->sdst == SEG_FLAT && (first >> 32 == GCN_LDS_HI || first >> 32 == GCN_SCRATCH_HI))
		return false;
	if (p->exec != UINT64_MAX) {
		row_of_bits(on, p->exec);
		if (hi)
			make_addresses(p, &s, lo, hi, base, first, on);
		else
			make_addresses(p, &s, lo, NULL, base, first, on);
	} else if (hi) {
		make_addresses(p, &s, lo, hi, base, first, NULL);
	} else {
		make_addresses(p, &s, lo, NULL, base, first, NULL);
	}
	p->dense = !s.apart && p->exec == UINT64_MAX;
	p->uniform = s.least == s.most;
	/* pairs of four, or of three to store, are those of the address */
	if (s.low_bits & 4 && (nr > 3 || (nr > 2 && !loads)))
		return false;
	/* a flat address in an aperture is in no allocation */
	return s.most - s.least <= UINT32_MAX - 64 &&
	       memory_valid(w->run, s.least, (uint32_t)(s.most - s.least) + nr * 4);
}

#define GLOBAL_LOAD(name, nr)                                                                      \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct where p;                                                                    \
                                                                                                   \
		if (!global_where(w, i, nr, true, &p)) {                                           \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		load(w, &p, i->dst, nr);                                                           \
		if (i->word[0] >> 16 & 1)                                                          \
			memory_polled(w, p.addr[__builtin_ctzll(p.exec)]);                         \
	}
#define GLOBAL_STORE(name, nr)                                                                     \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		struct where p;                                                                    \
                                                                                                   \
		if (!global_where(w, i, nr, false, &p)) {                                          \
			i->general(w, i);                                                          \
			return;                                                                    \
		}                                                                                  \
		memory_stored(w->run);                                                             \
		store(w, &p, i->src[1] - GCN_SRC_VGPR, nr);                                        \
	}

GLOBAL_LOAD(load_dword, 1)
GLOBAL_LOAD(load_dwordx2, 2)
GLOBAL_LOAD(load_dwordx3, 3)
GLOBAL_LOAD(load_dwordx4, 4)
GLOBAL_STORE(store_dword, 1)
GLOBAL_STORE(store_dwordx2, 2)
GLOBAL_STORE(store_dwordx3, 3)
GLOBAL_STORE(store_dwordx4, 4)

static gcn_fn *const of_ds[256] = {
	[13] = ds_write_b32,  [14] = ds_write2_b32,  [15] = ds_write2st64_b32,
	[54] = ds_read_b32,   [55] = ds_read2_b32,   [56] = ds_read2st64_b32,
	[77] = ds_write_b64,  [78] = ds_write2_b64,  [79] = ds_write2st64_b64,
	[118] = ds_read_b64,  [119] = ds_read2_b64,  [120] = ds_read2st64_b64,
	[222] = ds_write_b96, [223] = ds_write_b128, [254] = ds_read_b96,
	[255] = ds_read_b128,
};

static gcn_fn *const of_flat[128] = {
	[20] = load_dword,  [21] = load_dwordx2,  [22] = load_dwordx3,	[23] = load_dwordx4,
	[28] = store_dword, [29] = store_dwordx2, [30] = store_dwordx3, [31] = store_dwordx4,
};

gcn_fn *PASTE(quick_find, VALU_SUFFIX)(const struct gcn_inst *i)
{
	if (i->enc == GCN_DS)
		return i->op < 256 ? of_ds[i->op] : NULL;
	if (i->enc == GCN_FLAT && i->sdst != SEG_SCRATCH)
		return i->op < 128 ? of_flat[i->op] : NULL;
	return NULL;
}
