/* SPDX-License-Identifier: MIT */
/* smem.c - scalar memory */
#include <stddef.h>

#include "memory.h"

static uint64_t offset_of(const struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t offset = (uint64_t)(int64_t)i->imm;

	if (i->src[1] != GCN_SRC_NONE)
		offset += w->sgpr[i->src[1]];
	return offset;
}

/* `limit`: readable bytes from `addr` on; bytes behind them read 0. */
static void load_limited(struct gcn_wave *w, const struct gcn_inst *i, uint64_t addr,
			 unsigned int nr, uint64_t limit)
{
	unsigned int dst = i->dst;

	addr &= ~3ull;
	for (unsigned int n = 0; n < nr; n++) {
		bool in = (n + 1) * 4ull <= limit;
		const void *at = in ? memory_host(w->run, addr + n * 4, 4) : NULL;

		if (in && !at) {
			gcn_stop(w, GCN_MEMORY_FAULT, addr + n * 4);
			if (!w->run->stopped_at)
				w->run->stopped_at = i;
			return;
		}
		w->sgpr[dst + n] = in ? memory_get32(at) : 0;
	}
}

static inline uint64_t load_address(const struct gcn_wave *w, const struct gcn_inst *i)
{
	return (gcn_get64(w, i->src[0]) + offset_of(w, i)) & ~3ull;
}

static void load(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr)
{
	uint64_t addr = load_address(w, i);
	const void *at = memory_host(w->run, addr, nr * 4);

	if (!at)
		load_limited(w, i, addr, nr, UINT64_MAX);
	else
		/* the base may be among the destinations: it was read before */
		memory_fetch(&w->sgpr[i->dst], at, nr * 4);
	w->run->hits[gcn_hit_of(i)] = (uint8_t)w->run->hit;
}

/* The same for one dword or aligned pairs of them, in the allocation of this instruction's access
 * before; or false. */
static inline bool load_quick(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr)
{
	const unsigned char *at =
		memory_same(w->run, w->run->hits[gcn_hit_of(i)], load_address(w, i), nr * 4);
	uint32_t *to = &w->sgpr[i->dst];

	if (!at || (nr > 1 && (uintptr_t)at & 4))
		return false;
	if (nr == 1)
		*to = memory_get32(at);
	for (unsigned int n = 0; n + 2 <= nr; n += 2)
		memory_put64(to + n, memory_get64(at + n * 4));
	return true;
}

/* The source is a buffer resource: base 47:0, stride 61:48, number of records in the third
 * dword. */
static void load_buffer(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr)
{
	const uint32_t *v = &w->sgpr[i->src[0]];
	uint64_t base = v[0] | (uint64_t)(v[1] & 0xffff) << 32, offset = offset_of(w, i) & ~3ull;
	uint32_t stride = v[1] >> 16 & 0x3fff;
	uint64_t size = stride ? (uint64_t)stride * v[2] : v[2];

	load_limited(w, i, base + offset, nr, offset < size ? size - offset : 0);
}

static void store(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr)
{
	uint64_t addr = (gcn_get64(w, i->src[0]) + offset_of(w, i)) & ~3ull;
	void *at = memory_host(w->run, addr, nr * 4);

	if (!at) {
		gcn_stop(w, GCN_MEMORY_FAULT, addr);
		return;
	}
	memory_stored(w->run);
	memory_put(at, &w->sgpr[i->dst], nr * 4);
}

#define LOAD(name, nr)                                                                             \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		load(w, i, nr);                                                                    \
	}                                                                                          \
	static void name##_step(struct gcn_wave *w, const struct gcn_step *step)                   \
	{                                                                                          \
		if (__builtin_expect(!load_quick(w, step->i, nr), 0)) {                            \
			gcn_any_step(w, step);                                                     \
			return;                                                                    \
		}                                                                                  \
		step++;                                                                            \
		step->run(w, step);                                                                \
	}
#define LOAD_BUFFER(name, nr)                                                                      \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		load_buffer(w, i, nr);                                                             \
	}
#define STORE(name, nr)                                                                            \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		store(w, i, nr);                                                                   \
	}

LOAD(s_load_dword, 1)
LOAD(s_load_dwordx2, 2)
LOAD(s_load_dwordx4, 4)
LOAD(s_load_dwordx8, 8)
LOAD(s_load_dwordx16, 16)
LOAD_BUFFER(s_buffer_load_dword, 1)
LOAD_BUFFER(s_buffer_load_dwordx2, 2)
LOAD_BUFFER(s_buffer_load_dwordx4, 4)
LOAD_BUFFER(s_buffer_load_dwordx8, 8)
LOAD_BUFFER(s_buffer_load_dwordx16, 16)
STORE(s_store_dword, 1)
STORE(s_store_dwordx2, 2)
STORE(s_store_dwordx4, 4)

static void nothing(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)w;
	(void)i;
}

/* Core clock cycles: four for each instruction that the dispatch has executed. */
static void s_memtime(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t steps = w->run->clock_base + gcn_executed(w->run);

	gcn_set64(w, i->dst, steps * 4);
}

static void s_memrealtime(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t ticks = w->run->host->ticks ? w->run->host->ticks(w->run->launch.gpu) :
					       w->run->steps / 16;

	gcn_set64(w, i->dst, ticks);
}

#define E(name)                                                                                    \
	{                                                                                          \
#name, name, GCN_SMEM_CLASS, .only = 0                                             \
	}
#define STEP(name)                                                                                 \
	{                                                                                          \
#name, name, GCN_SMEM_CLASS, .step = name##_step                                   \
	}
#define NOP(name)                                                                                  \
	{                                                                                          \
#name, nothing, GCN_SMEM_CLASS, .only = 0                                          \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_SMEM_CLASS, .only = 0                                             \
	}
#define MISSING_ATOMICS(at, name, end)                                                             \
	[(at)] = MISSING(name##_swap##end), [(at) + 1] = MISSING(name##_cmpswap##end),             \
	[(at) + 2] = MISSING(name##_add##end), [(at) + 3] = MISSING(name##_sub##end),              \
	[(at) + 4] = MISSING(name##_smin##end), [(at) + 5] = MISSING(name##_umin##end),            \
	[(at) + 6] = MISSING(name##_smax##end), [(at) + 7] = MISSING(name##_umax##end),            \
	[(at) + 8] = MISSING(name##_and##end), [(at) + 9] = MISSING(name##_or##end),               \
	[(at) + 10] = MISSING(name##_xor##end), [(at) + 11] = MISSING(name##_inc##end),            \
	[(at) + 12] = MISSING(name##_dec##end)

const struct gcn_entry gcn_smem[256] = {
	[0] = STEP(s_load_dword),
	[1] = STEP(s_load_dwordx2),
	[2] = STEP(s_load_dwordx4),
	[3] = STEP(s_load_dwordx8),
	[4] = STEP(s_load_dwordx16),
	[5] = MISSING(s_scratch_load_dword),
	[6] = MISSING(s_scratch_load_dwordx2),
	[7] = MISSING(s_scratch_load_dwordx4),
	[8] = E(s_buffer_load_dword),
	[9] = E(s_buffer_load_dwordx2),
	[10] = E(s_buffer_load_dwordx4),
	[11] = E(s_buffer_load_dwordx8),
	[12] = E(s_buffer_load_dwordx16),
	[16] = E(s_store_dword),
	[17] = E(s_store_dwordx2),
	[18] = E(s_store_dwordx4),
	[21] = MISSING(s_scratch_store_dword),
	[22] = MISSING(s_scratch_store_dwordx2),
	[23] = MISSING(s_scratch_store_dwordx4),
	[24] = MISSING(s_buffer_store_dword),
	[25] = MISSING(s_buffer_store_dwordx2),
	[26] = MISSING(s_buffer_store_dwordx4),
	[32] = NOP(s_dcache_inv),
	[33] = NOP(s_dcache_wb),
	[34] = NOP(s_dcache_inv_vol),
	[35] = NOP(s_dcache_wb_vol),
	[36] = E(s_memtime),
	[37] = E(s_memrealtime),
	[38] = MISSING(s_atc_probe),
	[39] = MISSING(s_atc_probe_buffer),
	[40] = NOP(s_dcache_discard),
	[41] = NOP(s_dcache_discard_x2),
	MISSING_ATOMICS(64, s_buffer_atomic, ),
	MISSING_ATOMICS(96, s_buffer_atomic, _x2),
	MISSING_ATOMICS(128, s_atomic, ),
	MISSING_ATOMICS(160, s_atomic, _x2),
};
