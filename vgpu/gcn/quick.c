/* SPDX-License-Identifier: MIT */
/* quick.c - loads and stores of whole dwords, of LDS and of global memory, as kernels make them
 * most
 *
 * A handler here does what the general one of ds.c and flat.c does, for accesses that are all in
 * range; it leaves all others, and those that are counted by the model of caches, to the general
 * one. It looks at the addresses of a row at once.
 *
 * Built for each kind of processor but those with AVX-512, for which there is quick_zmm.c.
 */
#include <stddef.h>

#include "memory.h"
#include "rows.h"

#if !defined(__AVX512F__)

#define PATCH 16

enum { SEG_FLAT, SEG_SCRATCH, SEG_GLOBAL, SADDR_NONE = 0x7f };

/* Where the lanes' data is; inactive lanes have the offset of an active one. */
struct where {
	uint64_t base;
	uint32_t off[GCN_LANES];
	uint64_t exec;
	bool dense;   /* all lanes are active, a dword apart */
	bool uniform; /* all have one address */
};

static inline const void *lane_at(const struct where *p, unsigned int l)
{
	return memory_at(p->base + p->off[l]);
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* Rows that were stored by dwords can't be read at once as vectors: what lanes load one by one is
 * put together in registers. */
#if defined(__AVX2__)
static inline __m256i load_eight(uint64_t base, const uint32_t *off)
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

static inline __m256i load_four_pairs(uint64_t base, const uint32_t *off)
{
	__m128i lo = _mm_cvtsi64_si128((long long)memory_get64(memory_at(base + off[0])));
	__m128i hi = _mm_cvtsi64_si128((long long)memory_get64(memory_at(base + off[2])));

	lo = _mm_insert_epi64(lo, (long long)memory_get64(memory_at(base + off[1])), 1);
	hi = _mm_insert_epi64(hi, (long long)memory_get64(memory_at(base + off[3])), 1);
	return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}
#endif

/* Kernels on two-dimensional tiles read a row of the tile by each 16 lanes, or one dword by all of
 * them. */
static inline void load_patch(uint32_t *to, uint64_t base, const uint32_t *off)
{
	uint32_t apart = 0, differ = 0;

	for (unsigned int l = 0; l < PATCH; l++) {
		apart |= off[l] ^ (off[0] + l * 4);
		differ |= off[l] ^ off[0];
	}
	if (!apart) {
		memcpy(to, memory_at(base + off[0]), PATCH * 4);
	} else if (!differ) {
		uint32_t v = memory_get32(memory_at(base + off[0]));

		for (unsigned int l = 0; l < PATCH; l++)
			to[l] = v;
	} else {
#if defined(__AVX2__)
		_mm256_storeu_si256((__m256i *)(void *)to, load_eight(base, off));
		_mm256_storeu_si256((__m256i *)(void *)(to + 8), load_eight(base, off + 8));
#else
		for (unsigned int l = 0; l < PATCH; l++)
			to[l] = memory_get32(memory_at(base + off[l]));
#endif
	}
}

/* Dword n of all lanes, from `at` bytes behind their addresses on. */
static void load_row(struct gcn_wave *w, const struct where *p, unsigned int reg, uint64_t at)
{
	uint32_t *row = w->vgpr[reg];
	gcn_row got;

	if (p->exec != UINT64_MAX)
		row = got;
	for (unsigned int first = 0; first < GCN_LANES; first += PATCH)
		load_patch(row + first, p->base + at, p->off + first);
	if (p->exec != UINT64_MAX)
		row_blend(w->vgpr[reg], got, p->exec);
}

/* Two dwords of all lanes: each pair by one access. */
static void load_pair(struct gcn_wave *w, const struct where *p, unsigned int reg, uint64_t at)
{
	gcn_row lo, hi;

#if defined(__AVX2__)
	for (unsigned int l = 0; l < GCN_LANES; l += 8) {
		__m256 a = _mm256_castsi256_ps(load_four_pairs(p->base + at, p->off + l));
		__m256 b = _mm256_castsi256_ps(load_four_pairs(p->base + at, p->off + l + 4));
		__m256d even = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
		__m256d odd = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));

		/* a shuffle works within the halves of the registers */
		_mm256_storeu_pd((double *)(void *)(lo + l), _mm256_permute4x64_pd(even, 0xd8));
		_mm256_storeu_pd((double *)(void *)(hi + l), _mm256_permute4x64_pd(odd, 0xd8));
	}
#else
	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint64_t v = memory_get64(memory_at(p->base + p->off[l] + at));

		lo[l] = (uint32_t)v;
		hi[l] = (uint32_t)(v >> 32);
	}
#endif
	row_blend(w->vgpr[reg], lo, p->exec);
	row_blend(w->vgpr[reg + 1], hi, p->exec);
}

/* Three dwords: the aligned pair of a lane's three by one access. */
static void load_three(struct gcn_wave *w, const struct where *p, unsigned int reg, uint64_t at)
{
	gcn_row got[3];

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint64_t addr = p->base + p->off[l] + at, odd = addr >> 2 & 1;
		uint64_t v = memory_get64(memory_at(addr + 4 * odd));
		uint32_t one = memory_get32(memory_at(addr + 8 * !odd));

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

	memory_fetch(v, lane_at(p, 0), nr * 4);
	for (unsigned int n = 0; n < nr; n++) {
		row_fill(row, v[n]);
		row_blend(w->vgpr[reg + n], row, p->exec);
	}
}

static inline void load(struct gcn_wave *w, const struct where *p, unsigned int reg,
			unsigned int nr)
{
	if (nr == 1 && p->dense) {
		memcpy(w->vgpr[reg], lane_at(p, 0), sizeof(gcn_row));
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
		memcpy(memory_at(p->base + p->off[0]), w->vgpr[reg], sizeof(gcn_row));
		return;
	}
	for (uint64_t left = p->exec; left;) {
		unsigned int l = memory_next(&left);

		store_lane(w, p->base + p->off[l], reg, l, nr);
	}
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* The addresses that lanes may have: those from `base` on, up to `last` bytes behind it. */
struct window {
	uint64_t base, from;  /* `from` is the value of a lane's registers that means `base` */
	uint64_t shift;	      /* from the GPU's addresses to the host's */
	uint32_t last, first; /* the offset of an active lane */
	uint32_t zero;	      /* bits that must be 0 in addresses */
};

/* What a lane's address is made of. */
enum registers { ONE_REGISTER, ONE_OF_64_BITS, TWO_REGISTERS };

/* false: a lane has an address outside of the window. */
static inline __attribute__((always_inline)) bool
make_offsets_of(struct where *p, const uint32_t *lo, enum registers regs, const struct window *win,
		const uint32_t *on)
{
	const uint32_t from = (uint32_t)win->from, from_hi = (uint32_t)(win->from >> 32);
	const uint32_t first = win->first, last = win->last, zero = win->zero;
	const uint32_t base = (uint32_t)win->base;
	uint32_t bad = 0, differ = 0, apart = 0;

	FOR_LANES
	{
		uint32_t at = lo[l] - from, wrong = 0;

		if (regs != ONE_REGISTER)
			wrong = (regs == TWO_REGISTERS ? lo[GCN_LANES + l] : 0) - from_hi -
				(lo[l] < from);
		at = !on || on[l] ? at : first;
		wrong = !on || on[l] ? wrong : 0;
		p->off[l] = at;
		bad |= wrong | (at > last) | ((at + base) & zero);
		differ |= at ^ first;
		apart |= at ^ (first + l * 4);
	}
	p->base = win->base + win->shift;
	p->dense = !apart && p->exec == UINT64_MAX;
	p->uniform = !differ;
	return !bad;
}

static inline __attribute__((always_inline)) bool
make_offsets(struct where *p, const uint32_t *lo, enum registers regs, const struct window *win)
{
	uint32_t on[GCN_LANES];

	if (p->exec == UINT64_MAX)
		return make_offsets_of(p, lo, regs, win, NULL);
	row_of_bits(on, p->exec);
	return make_offsets_of(p, lo, regs, win, on);
}

/* ---- LDS ------------------------------------------------------------------------------------- */

/* false: some lane's access is not within LDS. */
static inline bool lds_where(const struct gcn_wave *w, const struct gcn_inst *i, uint32_t offset,
			     unsigned int bytes, struct where *p)
{
	const uint32_t *row = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	uint32_t size = w->run->lds_size;
	struct window win = { .base = (uintptr_t)w->run->lds, .from = 0 - (uint64_t)offset };

	p->exec = gcn_exec(w);
	if (!p->exec || bytes > size)
		return false;
	win.last = size - bytes;
	win.first = row[__builtin_ctzll(p->exec)] + offset;
	return make_offsets(p, row, ONE_REGISTER, &win);
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
			store_lane(w, p.base + p.off[l], i->src[1] - GCN_SRC_VGPR, l, nr);         \
			store_lane(w, q.base + q.off[l], i->src[2] - GCN_SRC_VGPR, l, nr);         \
		}                                                                                  \
	}

/* ---- global memory --------------------------------------------------------------------------- */

/* The allocation of the address, as far as offsets of 32 bits go; false: it is in none. */
static inline bool find_window(struct gcn_run *r, uint64_t addr, uint32_t bytes, struct window *win)
{
	const struct gcn_range *range;
	uint64_t before, left;

	if (!memory_host(r, addr, bytes))
		return false;
	range = &r->range[r->hit];
	before = addr - range->lo;
	/* the dispatch's packet is valid, and no allocation */
	if (before >= range->hi - range->lo)
		return false;
	win->first = before < 1u << 31 ? (uint32_t)before : 1u << 31;
	win->base = addr - win->first;
	win->shift = range->shift;
	left = range->hi - win->base - bytes;
	/* no dense row goes round the end */
	win->last = left < UINT32_MAX - 256 ? (uint32_t)left : UINT32_MAX - 256;
	return true;
}

/* false: the lanes' addresses are not all in one allocation, or not all global, or misaligned for
 * accesses by pairs. */
static inline bool global_where(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr,
				bool loads, struct where *p)
{
	const uint32_t *lo = w->vgpr[i->src[0] - GCN_SRC_VGPR];
	uint64_t base = (uint64_t)(int64_t)i->imm, first;
	bool scalar = i->sdst == SEG_GLOBAL && i->src[2] != SADDR_NONE;
	unsigned int leader;
	struct window win;

	p->exec = gcn_exec(w);
	if (!p->exec || w->run->has_cache)
		return false;
	leader = (unsigned int)__builtin_ctzll(p->exec);
	first = lo[leader];
	if (scalar)
		base += gcn_get64(w, i->src[2]);
	else
		first |= (uint64_t)lo[GCN_LANES + leader] << 32;
	first += base;
	/* a flat address in an aperture is in no allocation */
	if (i->sdst == SEG_FLAT && (first >> 32 == GCN_LDS_HI || first >> 32 == GCN_SCRATCH_HI))
		return false;
	if (!find_window(w->run, first, nr * 4, &win))
		return false;
	win.from = win.base - base;
	/* pairs of four, or of three to store, are those of the address */
	win.zero = nr > 3 || (nr > 2 && !loads) ? 4 : 0;
	return scalar ? make_offsets(p, lo, ONE_OF_64_BITS, &win) :
			make_offsets(p, lo, TWO_REGISTERS, &win);
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
		if (memory_may_poll(i))                                                            \
			memory_polled(w, p.base + p.off[__builtin_ctzll(p.exec)]);                 \
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

#define QUICK(name, leaves)                                                                        \
	{                                                                                          \
		{ name, NULL }, GCN_LEAVES_NOTHING                                                 \
	}
#define QUICK_MORE
#include "quick_ops.inc"

#endif
