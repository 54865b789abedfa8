/* SPDX-License-Identifier: MIT */
/* perf.c - performance counters of a GPU: registers that select, start and read them
 *
 * A counter is a register of a block that selects the event, and two registers with the result. A
 * block has several instances, in each of its shader engines or once; GRBM_GFX_INDEX selects among
 * them. A GPU of several dies has the same in each. Dispatches are counted as a whole, and a count
 * is divided evenly among the instances of all dies, so that the sum over all of them is exact.
 *
 *     CP_PERFMON_CNTL   0 stop and clear, 1 count, 2 stop; bit 10: copy the present counts to the
 *                       result registers
 *
 * Owns:     the registers and sums of each GPU.
 * Threads:  the engine's, under the engine's lock.
 */
#include "perf.h"

#include <stddef.h>
#include <string.h>

#include "../gcn/gcn.h"
#include "gpu.h"
#include "knobs.h"

enum {
	GRBM_GFX_INDEX = 0xc200,
	CP_PERFMON_CNTL = 0xd808,
	SQ_PERFCOUNTER_CTRL = 0xd9e0,
};

enum { ENGINES_MAX = 8, INSTANCES_MAX = 32, SLOTS_MAX = 8 };
enum { STATE_RESET, STATE_COUNT, STATE_STOP };

/* bits of SQ_PERFCOUNTER_CTRL: counts the waves of compute */
#define SQ_CTRL_CS (1u << 6)
#define CNTL_SAMPLE (1u << 10)

enum block_id { GRBM, SQ, TCC, TCP, NR_BLOCKS };

/* gfx90a has twice as many channels of the second-level cache, and a first-level cache in each of
 * the 14 compute units of an engine. gfx942 has 11 in each engine of a die, as AMD's AQLprofile
 * reads it. */
static unsigned int nr_instances(enum gcn_arch_id arch, enum block_id id, unsigned int of_gfx900)
{
	switch (arch) {
	case GCN_GFX90A:
		return id == TCC ? 32 : id == TCP ? 14 : of_gfx900;
	case GCN_GFX942:
		return id == TCP ? 11 : of_gfx900;
	default:
		return of_gfx900;
	}
}

static const struct block {
	unsigned int instances;
	bool per_se, waves; /* waves: only those of queues on which counting is on */
	uint32_t event_mask;
	unsigned int nr;
	struct {
		uint32_t select, lo, hi;
	} slot[SLOTS_MAX];
} blocks[NR_BLOCKS] = {
	[GRBM] = { 1,
		   false,
		   false,
		   0x3f,
		   2,
		   { { 0xd840, 0xd040, 0xd041 }, { 0xd841, 0xd043, 0xd044 } } },
	[SQ] = { 1,
		 true,
		 true,
		 0x1ff,
		 8,
		 { { 0xd9c0, 0xd1c0, 0xd1c1 },
		   { 0xd9c1, 0xd1c2, 0xd1c3 },
		   { 0xd9c2, 0xd1c4, 0xd1c5 },
		   { 0xd9c3, 0xd1c6, 0xd1c7 },
		   { 0xd9c4, 0xd1c8, 0xd1c9 },
		   { 0xd9c5, 0xd1ca, 0xd1cb },
		   { 0xd9c6, 0xd1cc, 0xd1cd },
		   { 0xd9c7, 0xd1ce, 0xd1cf } } },
	[TCC] = { 16,
		  false,
		  false,
		  0x3ff,
		  4,
		  { { 0xdb80, 0xd380, 0xd381 },
		    { 0xdb82, 0xd382, 0xd383 },
		    { 0xdb84, 0xd384, 0xd385 },
		    { 0xdb85, 0xd386, 0xd387 } } },
	[TCP] = { 16,
		  true,
		  true,
		  0x3ff,
		  4,
		  { { 0xdb40, 0xd340, 0xd341 },
		    { 0xdb42, 0xd342, 0xd343 },
		    { 0xdb44, 0xd344, 0xd345 },
		    { 0xdb45, 0xd346, 0xd347 } } },
};

#define AT(field) (offsetof(struct gcn_counters, field) + 1)

/* Events by their number in the select register: one member of the counters, or the sum of two. */
struct event {
	enum block_id block;
	uint32_t number;
	size_t a, b; /* 0: none */
};

static const struct event events_gfx900[] = {
	{ GRBM, 0, AT(gui_cycles), 0 },
	{ GRBM, 2, AT(gui_cycles), 0 },
	{ SQ, 2, AT(gui_cycles), 0 },
	{ SQ, 3, AT(busy_cycles), 0 },
	{ SQ, 4, AT(waves), 0 },
	{ SQ, 14, AT(items), 0 },
	{ SQ, 25, AT(insts), 0 },
	{ SQ, 26, AT(valu), 0 },
	{ SQ, 27, AT(vmem_wr), 0 },
	{ SQ, 28, AT(vmem_rd), 0 },
	{ SQ, 29, AT(vmem_rd), AT(vmem_wr) },
	{ SQ, 30, AT(salu), 0 },
	{ SQ, 31, AT(smem), 0 },
	{ SQ, 32, AT(flat), 0 },
	{ SQ, 34, AT(lds), 0 },
	{ SQ, 38, AT(branch), 0 },
	{ SQ, 39, AT(msg), 0 },
	{ SQ, 60, AT(wait_any), 0 },
	{ SQ, 61, AT(wait_vmem), 0 },
	{ SQ, 62, AT(wait_sca), 0 },
	{ SQ, 63, AT(wait_lds), 0 },
	{ SQ, 64, AT(wait_valu), 0 },
	{ SQ, 66, AT(wait_misc), 0 },
	{ SQ, 67, AT(wait_flat), 0 },
	/* in units of four cycles, which is what an instruction takes */
	{ SQ, 71, AT(valu), 0 },
	{ SQ, 84, AT(salu), 0 },
	{ TCC, 20, AT(tcc_hit), 0 },
	{ TCC, 22, AT(tcc_miss), 0 },
	{ TCC, 29, AT(ea_wr), AT(ea_wr_end) },
	/* a line is written as a whole */
	{ TCC, 30, AT(ea_wr), AT(ea_wr_end) },
	{ TCC, 41, AT(ea_rd), 0 },
	{ TCP, 23, AT(tcc_rd), 0 },
	{ TCP, 24, AT(tcc_wr), 0 },
	{ TCP, 126, AT(tcp_req), 0 },
	{ TCP, 127, AT(tcp_hit), AT(tcc_rd) },
	{ TCP, 128, AT(tcp_hit), 0 },
	{ TCP, 130, AT(tcc_rd), 0 },
	{ TCP, 133, AT(tcc_wr), 0 },
};

/* Those with the same numbers on gfx90a and gfx942. */
#define SINCE_GFX90A                                                                               \
	{ GRBM, 0, AT(gui_cycles), 0 }, { GRBM, 2, AT(gui_cycles), 0 },                            \
		{ SQ, 2, AT(gui_cycles), 0 }, { SQ, 3, AT(busy_cycles), 0 },                       \
		{ SQ, 4, AT(waves), 0 }, { SQ, 14, AT(items), 0 }, { SQ, 25, AT(insts), 0 },       \
		{ SQ, 26, AT(valu), 0 }, { SQ, 27, AT(valu_of[0]), 0 },                            \
		{ SQ, 28, AT(valu_of[1]), 0 }, { SQ, 29, AT(valu_of[2]), 0 },                      \
		{ SQ, 30, AT(valu_of[3]), 0 }, { SQ, 31, AT(valu_of[4]), 0 },                      \
		{ SQ, 32, AT(valu_of[5]), 0 }, { SQ, 33, AT(valu_of[6]), 0 },                      \
		{ SQ, 34, AT(valu_of[7]), 0 }, { SQ, 35, AT(valu_of[8]), 0 },                      \
		{ SQ, 36, AT(valu_of[9]), 0 }, { SQ, 37, AT(valu_of[10]), 0 },                     \
		{ SQ, 38, AT(valu_of[11]), 0 }, { SQ, 39, AT(valu_of[12]), 0 },                    \
		{ SQ, 40, AT(valu_of[13]), 0 }, { SQ, 41, AT(valu_of[14]), 0 },                    \
		{ SQ, 42, AT(mfma_of[MFMA_I8]), 0 }, { SQ, 43, AT(mfma_of[MFMA_F16]), 0 },         \
		{ SQ, 44, AT(mfma_of[MFMA_BF16]), 0 }, { SQ, 45, AT(mfma_of[MFMA_F32]), 0 },       \
		{ SQ, 46, AT(mfma_of[MFMA_F64]), 0 }, { TCC, 12, AT(tcc_rd), 0 },                  \
		{ TCC, 13, AT(tcc_wr), 0 }, { TCC, 17, AT(tcc_hit), 0 },                           \
		{ TCC, 19, AT(tcc_miss), 0 }, { TCC, 26, AT(ea_wr), AT(ea_wr_end) },               \
		{ TCC, 27, AT(ea_wr), AT(ea_wr_end) },                                             \
	{                                                                                          \
		TCC, 38, AT(ea_rd), 0                                                              \
	}

static const struct event events_gfx90a[] = {
	SINCE_GFX90A,
	{ SQ, 47, AT(mfma_mops[MFMA_I8]), 0 },
	{ SQ, 48, AT(mfma_mops[MFMA_F16]), 0 },
	{ SQ, 49, AT(mfma_mops[MFMA_BF16]), 0 },
	{ SQ, 50, AT(mfma_mops[MFMA_F32]), 0 },
	{ SQ, 51, AT(mfma_mops[MFMA_F64]), 0 },
	{ SQ, 52, AT(mfma), 0 },
	{ SQ, 53, AT(vmem_wr), 0 },
	{ SQ, 54, AT(vmem_rd), 0 },
	{ SQ, 55, AT(vmem_rd), AT(vmem_wr) },
	{ SQ, 56, AT(salu), 0 },
	{ SQ, 57, AT(smem), 0 },
	{ SQ, 58, AT(flat), 0 },
	{ SQ, 60, AT(lds), 0 },
	{ SQ, 64, AT(branch), 0 },
	{ SQ, 65, AT(msg), 0 },
	{ SQ, 72, AT(mfma_cycles), 0 },
	{ SQ, 88, AT(wait_any), 0 },
	{ SQ, 91, AT(wait_lds), 0 },
	{ SQ, 99, AT(valu), 0 },
	{ SQ, 112, AT(salu), 0 },
	{ TCP, 29, AT(tcp_req), 0 },
	{ TCP, 30, AT(tcp_hit), AT(tcc_rd) },
	{ TCP, 69, AT(tcc_rd), 0 },
	{ TCP, 70, AT(tcc_wr), 0 },
};

static const struct event events_gfx942[] = {
	SINCE_GFX90A,
	{ SQ, 47, AT(mfma_of[MFMA_F8]), 0 },
	{ SQ, 48, AT(mfma_of[MFMA_XF32]), 0 },
	{ SQ, 49, AT(mfma_mops[MFMA_I8]), 0 },
	{ SQ, 50, AT(mfma_mops[MFMA_F16]), 0 },
	{ SQ, 51, AT(mfma_mops[MFMA_BF16]), 0 },
	{ SQ, 52, AT(mfma_mops[MFMA_F32]), 0 },
	{ SQ, 53, AT(mfma_mops[MFMA_F64]), 0 },
	{ SQ, 54, AT(mfma_mops[MFMA_F8]), 0 },
	{ SQ, 55, AT(mfma_mops[MFMA_XF32]), 0 },
	{ SQ, 56, AT(mfma), 0 },
	{ SQ, 57, AT(vmem_wr), 0 },
	{ SQ, 58, AT(vmem_rd), 0 },
	{ SQ, 59, AT(vmem_rd), AT(vmem_wr) },
	{ SQ, 60, AT(salu), 0 },
	{ SQ, 61, AT(smem), 0 },
	{ SQ, 62, AT(flat), 0 },
	{ SQ, 65, AT(lds), 0 },
	{ SQ, 69, AT(branch), 0 },
	{ SQ, 70, AT(msg), 0 },
	{ SQ, 77, AT(mfma_cycles), 0 },
	{ SQ, 93, AT(wait_any), 0 },
	{ SQ, 96, AT(wait_lds), 0 },
	{ SQ, 104, AT(valu), 0 },
	{ SQ, 117, AT(salu), 0 },
	{ TCP, 27, AT(tcp_req), 0 },
	{ TCP, 60, AT(tcp_hit), AT(tcc_rd) },
	{ TCP, 65, AT(tcc_rd), 0 },
	{ TCP, 66, AT(tcc_wr), 0 },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define EVENTS(array)                                                                              \
	{                                                                                          \
		array, NR(array)                                                                   \
	}

static const struct {
	const struct event *events;
	size_t nr;
} events_of[GCN_ARCH_NR] = {
	[GCN_GFX900] = EVENTS(events_gfx900),
	[GCN_GFX90A] = EVENTS(events_gfx90a),
	[GCN_GFX942] = EVENTS(events_gfx942),
};

struct sums {
	struct gcn_counters all;
	struct gcn_counters waves; /* of queues on which counting is on */
};

static struct gpu {
	bool set_up, counting;
	unsigned int nr_dies, die;
	uint32_t index, cntl, sq_ctrl;
	struct sums now, shown;
	uint32_t select[NR_BLOCKS][SLOTS_MAX][ENGINES_MAX * INSTANCES_MAX];
	/* of a die; instances: of an engine, or of it */
	unsigned int engines, instances[NR_BLOCKS];
	const struct event *events;
	size_t nr_events;
} gpus[KNOBS_DEVICES_MAX];

static struct gpu *gpu_of(unsigned int gpu)
{
	struct gpu *g = &gpus[gpu];

	if (!g->set_up) {
		const enum gcn_arch_id arch = (enum gcn_arch_id)knobs.arch[gpu];

		g->set_up = true;
		g->index = 0xe0000000;
		g->nr_dies = gpu_kind(gpu)->nr_xccs;
		g->engines = gpu_kind(gpu)->shader_engines / g->nr_dies;
		for (enum block_id id = 0; id < NR_BLOCKS; id++)
			g->instances[id] = nr_instances(arch, id, blocks[id].instances);
		g->events = events_of[arch].events;
		g->nr_events = events_of[arch].nr;
	}
	return g;
}

#define NO_INSTANCE UINT32_MAX

/* The first instance that GRBM_GFX_INDEX selects, and whether it selects others too. NO_INSTANCE:
 * the block has none of that number; what is written goes nowhere, what is read is 0. */
static unsigned int chosen(const struct gpu *g, enum block_id id, bool *all_se, bool *all_inst)
{
	const struct block *b = &blocks[id];
	unsigned int se = g->index >> 16 & 0xff, inst = g->index & 0xff;

	*all_se = g->index >> 31 & 1;
	*all_inst = g->index >> 30 & 1;
	if (*all_se || !b->per_se)
		se = 0;
	if (*all_inst)
		inst = 0;
	if (se >= g->engines || inst >= g->instances[id])
		return NO_INSTANCE;
	return se * g->instances[id] + inst;
}

static void set_select(struct gpu *g, enum block_id id, unsigned int slot, uint32_t value)
{
	const struct block *b = &blocks[id];
	bool all_se, all_inst;
	unsigned int one = chosen(g, id, &all_se, &all_inst), nr = g->instances[id];

	if (one == NO_INSTANCE)
		return;
	for (unsigned int n = 0; n < nr * (b->per_se ? g->engines : 1); n++) {
		if ((all_se || !b->per_se || n / nr == one / nr) &&
		    (all_inst || n % nr == one % nr))
			g->select[id][slot][n] = value;
	}
}

static uint64_t member(const struct gcn_counters *c, size_t at)
{
	uint64_t v = 0;

	if (at)
		memcpy(&v, (const char *)c + at - 1, sizeof(v));
	return v;
}

static uint64_t result(const struct gpu *g, enum block_id id, unsigned int slot)
{
	const struct block *b = &blocks[id];
	const struct gcn_counters *c = b->waves ? &g->shown.waves : &g->shown.all;
	unsigned int nr = g->instances[id] * (b->per_se ? g->engines : 1);
	bool all_se, all_inst;
	unsigned int n = chosen(g, id, &all_se, &all_inst);
	uint32_t number;

	if (n == NO_INSTANCE || (id == SQ && !(g->sq_ctrl & SQ_CTRL_CS)))
		return 0;
	number = g->select[id][slot][n] & b->event_mask;
	for (const struct event *e = g->events; e < g->events + g->nr_events; e++) {
		uint64_t total;

		if (e->block != id || e->number != number)
			continue;
		total = member(c, e->a) + member(c, e->b);
		n += g->die * nr;
		nr *= g->nr_dies;
		return total / nr + (n < total % nr);
	}
	return 0;
}

static void control(struct gpu *g, uint32_t value)
{
	g->cntl = value;
	if (value & CNTL_SAMPLE)
		g->shown = g->now;
	g->counting = (value & 15) == STATE_COUNT;
	if ((value & 15) == STATE_RESET) {
		memset(&g->now, 0, sizeof(g->now));
		memset(&g->shown, 0, sizeof(g->shown));
	}
}

void perf_write(unsigned int gpu, uint32_t reg, uint32_t value)
{
	struct gpu *g = gpu_of(gpu);

	switch (reg) {
	case GRBM_GFX_INDEX:
		g->index = value;
		return;
	case CP_PERFMON_CNTL:
		control(g, value);
		return;
	case SQ_PERFCOUNTER_CTRL:
		g->sq_ctrl = value;
		return;
	}
	for (enum block_id id = 0; id < NR_BLOCKS; id++) {
		for (unsigned int slot = 0; slot < blocks[id].nr; slot++) {
			if (blocks[id].slot[slot].select == reg)
				set_select(g, id, slot, value);
		}
	}
}

uint32_t perf_read(unsigned int gpu, uint32_t reg)
{
	const struct gpu *g = gpu_of(gpu);

	switch (reg) {
	case GRBM_GFX_INDEX:
		return g->index;
	case CP_PERFMON_CNTL:
		return g->cntl;
	case SQ_PERFCOUNTER_CTRL:
		return g->sq_ctrl;
	}
	for (enum block_id id = 0; id < NR_BLOCKS; id++) {
		for (unsigned int slot = 0; slot < blocks[id].nr; slot++) {
			if (blocks[id].slot[slot].lo == reg)
				return (uint32_t)result(g, id, slot);
			if (blocks[id].slot[slot].hi == reg)
				return (uint32_t)(result(g, id, slot) >> 32);
		}
	}
	return 0;
}

void perf_die(unsigned int gpu, unsigned int die)
{
	gpu_of(gpu)->die = die;
}

uint32_t perf_index(unsigned int gpu)
{
	return gpu_of(gpu)->index;
}

void perf_sample(unsigned int gpu)
{
	struct gpu *g = gpu_of(gpu);

	g->shown = g->now;
}

bool perf_counting(unsigned int gpu)
{
	return gpus[gpu].counting;
}

static void add(struct gcn_counters *to, const struct gcn_counters *c)
{
	uint64_t sum[sizeof(*to) / sizeof(uint64_t)], more[sizeof(*to) / sizeof(uint64_t)];

	_Static_assert(sizeof(*to) % sizeof(uint64_t) == 0, "counters are numbers of 64 bits");
	memcpy(sum, to, sizeof(*to));
	memcpy(more, c, sizeof(*c));
	for (size_t n = 0; n < sizeof(sum) / sizeof(sum[0]); n++)
		sum[n] += more[n];
	memcpy(to, sum, sizeof(*to));
}

void perf_count(unsigned int gpu, bool waves, const struct gcn_counters *counters)
{
	struct gpu *g = gpu_of(gpu);

	if (!g->counting)
		return;
	add(&g->now.all, counters);
	if (waves)
		add(&g->now.waves, counters);
}
