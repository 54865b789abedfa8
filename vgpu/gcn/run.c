/* SPDX-License-Identifier: MIT */
/* run.c - a dispatch: set-up, workgroups, waves of a workgroup in turns; parts.c has the workgroups
 * that run at the same time
 *
 * A wave runs until it ends, waits at a barrier, yields, or has used up a quantum. When all
 * live waves wait at the barrier, all continue. The kernel object is a descriptor of code object v3
 * and later or an amd_kernel_code_t: the members read here have the same offsets in both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <hsa/hsa.h>

#include "code.h"
#include "memory.h"
#include "parts.h"
#include "rows.h"
#include "valu.h"

/* instructions that a wave may run before the next one's turn */
#define QUANTUM 20000
/* between two looks whether another thread has ended the slice: it waits meanwhile */
#define LOOK 200

enum {
	OBJECT_ENTRY = 16,
	OBJECT_RSRC3 = 44,
	OBJECT_RSRC1 = 48,
	OBJECT_RSRC2 = 52,
	OBJECT_PROPERTIES = 56,
	OBJECT_PRELOAD = 58, /* dwords of arguments in bits 6:0, the first one's index in 15:7 */
	OBJECT_SIZE = 64,
};

/* Code for a firmware that does not preload arguments: it loads them itself, or traps. The others
 * begin behind it. */
#define PRELOAD_PROLOGUE 256

enum {
	PROP_SCRATCH_SRD = 1,
	PROP_DISPATCH_PTR = 2,
	PROP_QUEUE_PTR = 4,
	PROP_KERNARG_PTR = 8,
	PROP_DISPATCH_ID = 16,
	PROP_FLAT_SCRATCH = 32,
	PROP_PRIVATE_SIZE = 64,
	PROP_GRID_GROUPS = 128, /* and the two that follow */
};

struct gcn_run *gcn_run_create(void)
{
	struct gcn_run *r = aligned_alloc(64, (sizeof(*r) + 63) & ~(size_t)63);
	size_t size = (size_t)GCN_WAVES_MAX * GCN_VGPR_ROWS * sizeof(gcn_row);

	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	/* touched only as far as kernels use it */
	r->rows = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	r->lds = aligned_alloc(64, GCN_LDS_SIZE);
	if (r->rows == MAP_FAILED || !r->lds) {
		if (r->rows != MAP_FAILED)
			munmap(r->rows, size);
		free(r->lds);
		free(r);
		return NULL;
	}
	for (unsigned int n = 0; n < GCN_WAVES_MAX; n++) {
		r->wave[n].run = r;
		r->wave[n].number = n;
		r->wave[n].vgpr = r->rows + n * GCN_VGPR_ROWS;
		/* mask[] is all zeros, which is right for that EXEC */
		r->wave[n].mask_of = 0;
	}
	r->status = r->outcome = GCN_DONE;
	r->lead = r->last_part = r;
	r->nr_parts = 1;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void gcn_run_destroy(struct gcn_run *r)
{
	if (!r)
		return;
	/* the lead's parts */
	while (r->next_part) {
		struct gcn_run *part = r->next_part;

		r->next_part = part->next_part;
		part->next_part = NULL;
		gcn_run_destroy(part);
	}
	pthread_mutex_destroy(&r->lock);
	munmap(r->rows, (size_t)GCN_WAVES_MAX * GCN_VGPR_ROWS * sizeof(gcn_row));
	free(r->lds);
	cache_fini(&r->cache);
	free(r);
}

static const hsa_kernel_dispatch_packet_t *packet_of(const struct gcn_run *r)
{
	return (const void *)r->lead->packet;
}

/* Takes the arguments that waves have in registers, once for the dispatch as the firmware does: it
 * writes them behind the other user data. `spec`: the descriptor's field (LLVM's AMDGPUUsage,
 * "Preloaded Kernel Arguments"). */
static enum gcn_status read_preload(struct gcn_run *r, uint32_t spec)
{
	uint64_t from = (uintptr_t)packet_of(r)->kernarg_address + (uint64_t)(spec >> 7 & 511) * 4;
	const unsigned char *p;

	r->nr_preload = r->arch->preloads ? spec & 127 : 0;
	if (r->nr_preload)
		r->start += PRELOAD_PROLOGUE;
	r->nr_preload = r->nr_preload < GCN_USER_SGPRS ? r->nr_preload : GCN_USER_SGPRS;
	p = r->nr_preload ? memory_host(r, from, r->nr_preload * 4) : NULL;
	if (!p && r->nr_preload) {
		r->stop.addr = from;
		return GCN_MEMORY_FAULT;
	}
	for (uint32_t n = 0; n < r->nr_preload; n++)
		r->preload[n] = memory_get32(p + (size_t)n * 4);
	return memory_host(r, r->start, 4) ? GCN_RUNNING : GCN_BAD_CODE;
}

static enum gcn_status read_object(struct gcn_run *r)
{
	uint64_t object = packet_of(r)->kernel_object;
	const unsigned char *p = object & 63 ? NULL : memory_host(r, object, OBJECT_SIZE);
	uint64_t offset;
	uint32_t rsrc1;

	if (!p)
		return GCN_BAD_CODE;
	memcpy(&offset, p + OBJECT_ENTRY, sizeof(offset));
	rsrc1 = memory_get32(p + OBJECT_RSRC1);
	r->rsrc2 = memory_get32(p + OBJECT_RSRC2);
	r->props = memory_get32(p + OBJECT_PROPERTIES) & 0xffff;
	r->entry = r->start = object + offset;
	r->nr_vgprs = ((rsrc1 & 63) + 1) * r->arch->vgpr_granule;
	r->nr_agprs = 0;
	if (r->arch->agprs) {
		/* the accumulation registers begin behind so many vector registers */
		uint32_t vgprs = ((memory_get32(p + OBJECT_RSRC3) & 63) + 1) * 4;

		r->nr_agprs = r->nr_vgprs > vgprs ? r->nr_vgprs - vgprs : 0;
		r->nr_agprs = r->nr_agprs < 256 ? r->nr_agprs : 256;
	}
	r->nr_vgprs = r->nr_vgprs < 256 ? r->nr_vgprs : 256;
	r->mode = (rsrc1 >> 12 & 255) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 |
		  (rsrc1 >> 26 & 1) << 23;
	return read_preload(r, memory_get32(p + OBJECT_PROPERTIES) >> 16);
}

static enum gcn_status read_packet(struct gcn_run *r)
{
	const hsa_kernel_dispatch_packet_t *p = packet_of(r);
	uint64_t items;

	r->size[0] = p->grid_size_x;
	r->size[1] = p->grid_size_y;
	r->size[2] = p->grid_size_z;
	r->group[0] = p->workgroup_size_x;
	r->group[1] = p->workgroup_size_y;
	r->group[2] = p->workgroup_size_z;
	for (unsigned int n = 0; n < 3; n++) {
		if (!r->size[n] || !r->group[n])
			return GCN_BAD_DIMS;
		r->nr_groups[n] =
			(uint32_t)(((uint64_t)r->size[n] + r->group[n] - 1) / r->group[n]);
	}
	items = (uint64_t)r->group[0] * r->group[1] * r->group[2];
	if (items > GCN_WAVES_MAX * GCN_LANES)
		return GCN_BAD_GROUP;
	if (p->group_segment_size > GCN_LDS_SIZE)
		return GCN_BAD_LDS;
	r->lds_size = (p->group_segment_size + 511) & ~511u;
	r->wave_stride = (p->private_segment_size * 64 + 1023) & ~1023u;
	if (p->private_segment_size > r->launch.scratch_lane_bytes ||
	    (uint64_t)r->wave_stride * ((items + 63) / 64) > r->launch.scratch_size)
		return r->wave_stride ? GCN_NEEDS_SCRATCH : GCN_RUNNING;
	return GCN_RUNNING;
}

enum gcn_status gcn_run_start(struct gcn_run *r, const struct gcn_launch *launch)
{
	r->launch = *launch;
	r->host = launch->host;
	r->arch = &gcn_archs[launch->arch];
	memcpy(r->packet, launch->packet, sizeof(r->packet));
	gcn_part_reset(r);
	code_check(r);
	r->status = read_packet(r);
	if (r->status == GCN_RUNNING)
		r->status = read_object(r);
	if (r->status == GCN_RUNNING)
		cache_reset(&r->cache, launch->cache_model);
	r->has_cache = r->cache.on;
	gcn_parts_start(r);
	return r->status;
}

/* Work-item ids of each wave's lanes; the same for all workgroups of one size. */
static void make_ids(struct gcn_run *r, const uint32_t *size)
{
	uint32_t items = size[0] * size[1] * size[2], x = 0, y = 0, z = 0;

	if (r->ids_waves && !memcmp(r->ids_for, size, sizeof(r->ids_for)))
		return;
	memcpy(r->ids_for, size, sizeof(r->ids_for));
	r->ids_waves = (items + GCN_LANES - 1) / GCN_LANES;
	for (uint32_t n = 0; n < r->ids_waves * GCN_LANES; n++) {
		uint32_t wave = n / GCN_LANES, lane = n % GCN_LANES;

		r->ids[wave][0][lane] = x;
		r->ids[wave][1][lane] = y;
		r->ids[wave][2][lane] = z;
		if (++x == size[0]) {
			x = 0;
			if (++y == size[1]) {
				y = 0;
				z++;
			}
		}
	}
	for (uint32_t n = 0; n < r->ids_waves; n++) {
		uint32_t left = items - n * GCN_LANES;

		r->ids_exec[n] = left >= GCN_LANES ? UINT64_MAX : (1ull << left) - 1;
	}
}

/* User registers first, in the order of the properties' bits: the same for all waves. */
static void set_user_sgprs(const struct gcn_run *r, struct gcn_wave *w)
{
	unsigned int at = 0, nr_user = r->rsrc2 >> 1 & 31;

	if (r->props & PROP_SCRATCH_SRD) {
		memcpy(&w->sgpr[at], r->launch.scratch_srd, 16);
		at += 4;
	}
	if (r->props & PROP_DISPATCH_PTR) {
		gcn_set64(w, at, (uintptr_t)r->lead->packet);
		at += 2;
	}
	if (r->props & PROP_QUEUE_PTR) {
		gcn_set64(w, at, r->launch.queue);
		at += 2;
	}
	if (r->props & PROP_KERNARG_PTR) {
		gcn_set64(w, at, (uintptr_t)packet_of(r)->kernarg_address);
		at += 2;
	}
	if (r->props & PROP_DISPATCH_ID) {
		gcn_set64(w, at, r->launch.dispatch_id);
		at += 2;
	}
	if (r->props & PROP_FLAT_SCRATCH) {
		gcn_set64(w, at, r->launch.scratch_base);
		at += 2;
	}
	if (r->props & PROP_PRIVATE_SIZE)
		w->sgpr[at++] = packet_of(r)->private_segment_size;
	for (unsigned int n = 0; n < 3; n++) {
		if (r->props & PROP_GRID_GROUPS << n)
			w->sgpr[at++] = r->nr_groups[n];
	}
	for (uint32_t n = 0; n < r->nr_preload && at < nr_user; n++)
		w->sgpr[at++] = r->preload[n];
}

/* What the hardware adds: of the workgroup and of the wave. */
static void set_own_sgprs(const struct gcn_run *r, struct gcn_wave *w)
{
	unsigned int at = r->rsrc2 >> 1 & 31;
	uint64_t wave_scratch = 0;

	if (r->wave_stride)
		wave_scratch = ((uint64_t)r->slot * gcn_waves_of(r) + w->number) * r->wave_stride;

	for (unsigned int n = 0; n < 3; n++) {
		if (r->rsrc2 >> (7 + n) & 1)
			w->sgpr[at++] = r->at[n];
	}
	if (r->rsrc2 >> 10 & 1)
		w->sgpr[at++] = r->nr_waves | (uint32_t)(w->number == 0) << 31;
	if (r->arch->own_scratch)
		gcn_set64(w, GCN_REG_FLAT_SCRATCH, r->launch.scratch_base + wave_scratch);
	else if (r->rsrc2 & 1)
		w->sgpr[at++] = (uint32_t)wave_scratch;
}

/* The library's functions are called: for sizes that it knows nearly, GCC makes `rep stos` and `rep
 * movs`, which take several times as long. */
static size_t hidden(size_t size)
{
	__asm__("" : "+r"(size));
	return size;
}

/* Returns the number of registers that it sets. */
static unsigned int set_ids(const struct gcn_run *r, struct gcn_wave *w, uint32_t wave)
{
	unsigned int nr_ids = (r->rsrc2 >> 11 & 3) + 1, nr_rows;

	nr_ids = nr_ids < 3 ? nr_ids : 3;
	nr_rows = r->arch->packed_ids ? 1 : nr_ids;
	memcpy(w->vgpr, r->ids[wave], hidden(nr_rows * sizeof(gcn_row)));
	for (unsigned int n = 1; n < nr_ids && r->arch->packed_ids; n++) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			w->vgpr[0][l] |= r->ids[wave][n][l] << (10 * n);
	}
	return nr_rows;
}

static void start_group(struct gcn_run *r)
{
	void (*clear)(uint32_t * row, size_t nr) = rows_kind()->clear;
	uint32_t size[3];

	for (unsigned int n = 0; n < 3; n++) {
		uint32_t left = r->size[n] - r->at[n] * r->group[n];

		/* at the edge of the grid a workgroup is smaller */
		size[n] = left < r->group[n] ? left : r->group[n];
	}
	make_ids(r, size);
	r->nr_waves = r->nr_live = r->ids_waves;
	r->next_wave = 0;
	r->turn = QUANTUM;
	if (r->lds_size)
		memset(r->lds, 0, r->lds_size);
	for (uint32_t n = 0; n < r->nr_waves; n++) {
		struct gcn_wave *w = &r->wave[n];
		unsigned int nr_ids = set_ids(r, w, n);

		if (n) {
			memcpy(w->sgpr, r->wave[0].sgpr, hidden(sizeof(w->sgpr)));
		} else {
			memset(w->sgpr, 0, hidden(sizeof(w->sgpr)));
			set_user_sgprs(r, w);
		}
		set_own_sgprs(r, w);
		clear(w->vgpr[nr_ids], r->nr_vgprs > nr_ids ? r->nr_vgprs - nr_ids : 0);
		clear(w->vgpr[GCN_AGPR_ROW], r->nr_agprs);
		gcn_set64(w, GCN_REG_EXEC, r->ids_exec[n]);
		w->pc = r->start;
		w->scc = 0;
		w->gws_waits = false;
		w->idx_mode = 0;
		gcn_set_mode(w, r->mode);
		w->state = GCN_WAVE_RUN;
		r->wave_steps[n] = 0;
	}
	r->resident = true;
	r->counters.waves += r->nr_waves;
	r->counters.items += (uint64_t)size[0] * size[1] * size[2];
}

static void describe(struct gcn_run *r, const struct gcn_wave *w, uint64_t pc,
		     const struct gcn_inst *i)
{
	struct gcn_stop *s = &r->stop;

	s->pc = pc;
	s->offset = pc - r->entry;
	s->wave = w->number;
	memcpy(s->group, r->at, sizeof(s->group));
	if (!i) {
		snprintf(s->text, sizeof(s->text), "no code");
		return;
	}
	s->word[0] = i->word[0];
	s->word[1] = i->nr_words > 1 ? i->word[1] : 0;
	gcn_disassemble(i, s->text, sizeof(s->text));
}

/* The first `nr` of a block's instructions, which is more than are left of the wave's turn. */
static void run_some(struct gcn_run *r, struct gcn_wave *w, const struct gcn_inst *i, int64_t nr)
{
	for (; nr && w->state == GCN_WAVE_RUN; nr--) {
		r->executed[i->class]++;
		i->run(w, i);
		w->pc += i->nr_words * 4u;
		i += i->nr_words;
	}
}

/* A block by the handlers of its instructions: in modes that steps don't know, which no instruction
 * of a step changes. */
static void run_each(struct gcn_wave *w, const struct gcn_block *b, const struct gcn_inst *last)
{
	for (const struct gcn_inst *i = last - b->last; i < last; i += i->nr_words) {
		/* waits were counted with the block */
		if (!gcn_is_wait(i))
			i->run(w, i);
	}
	if (w->state != GCN_WAVE_RUN)
		return;
	w->pc += (b->last + last->nr_words) * 4u;
	last->run(w, last);
}

/* All of a block, and again while it branches to itself and more than `until` instructions of the
 * wave's turn are left. The last instruction may change w->pc, and stop the wave. */
static const struct gcn_inst *run_block(struct gcn_wave *w, struct gcn_tally *t,
					const struct gcn_inst *first, int64_t *left, int64_t until)
{
	const struct gcn_block *b = t->block;
	const struct gcn_inst *last = first + b->last;
	int64_t enough = until < b->nr ? b->nr : until + 1, now = *left - b->nr;
	uint64_t pc = w->pc, again = 0;

	/* before it runs: its last instruction may add the tallies up */
	t->nr++;
	if (b->waits && w->run->stored)
		gcn_run_fence(w->run);
	if (__builtin_expect(!b->step || !w->fp_plain || w->idx_on, 0)) {
		run_each(w, b, last);
	} else {
		b->step->run(w, b->step);
		/* a branch changes none of what was looked at */
		while (b->branches && w->pc == pc && now >= enough && w->state == GCN_WAVE_RUN) {
			again++;
			now -= b->nr;
			b->step->run(w, b->step);
		}
		t->nr += again;
	}
	*left = now;
	return last;
}

static void add_tally(struct gcn_run *r, struct gcn_tally *t)
{
	for (unsigned int n = 0; n < t->block->nr_classes; n++)
		r->executed[t->block->class[n]] += t->nr * t->block->count[n];
	r->counters.wait += t->nr * t->block->nr_waits;
}

void gcn_tally_up(struct gcn_run *r)
{
	while (r->nr_tallied) {
		struct gcn_tally *t = &r->tally[r->tallied[--r->nr_tallied]];

		add_tally(r, t);
		t->block = NULL;
	}
}

/* The page of the block at w->pc, which is what memory has and gets a tally, without a run yet.
 * NULL: no code can be read there. */
static const struct gcn_page *enter(struct gcn_run *r, const struct gcn_wave *w)
{
	const struct gcn_page *page = code_enter(r, w->pc);
	struct gcn_tally *t;
	unsigned int n;

	if (!page)
		return NULL;
	n = (unsigned int)(w->pc - page->base) / 4 % GCN_TALLIES;
	t = &r->tally[n];
	if (t->block)
		add_tally(r, t);
	else
		r->tallied[r->nr_tallied++] = (uint8_t)n;
	t->block = &page->block[(w->pc - page->base) / 4];
	t->nr = 0;
	return page;
}

/* Takes instructions behind `i`, which stopped the wave within a block, out of the counts; returns
 * their number. */
static int64_t uncount(struct gcn_run *r, const struct gcn_inst *i, const struct gcn_inst *last)
{
	int64_t nr = 0;

	while (i < last) {
		i += i->nr_words;
		r->executed[i->class]--;
		r->counters.wait -= i < last && gcn_is_wait(i);
		nr++;
	}
	return nr;
}

/* With other threads it returns after LOOK instructions, at the end of a block: not a turn of the
 * wave's. */
static void run_wave(struct gcn_run *r, struct gcn_wave *w)
{
	int64_t left = r->budget < r->turn ? r->budget : r->turn, before = left;
	int64_t until = r->halt && left > LOOK ? left - LOOK : 0;
	const struct gcn_page *page = r->page;
	const struct gcn_inst *i = NULL;

	r->yield = false;
	r->stopped_at = NULL;
	while (left > until && w->state == GCN_WAVE_RUN && !r->yield) {
		uint64_t pc = w->pc;
		struct gcn_tally *t = &r->tally[pc / 4 % GCN_TALLIES];
		uint32_t at = page ? (uint32_t)(pc - page->base) / 4 : 0;

		/* a page's blocks are not another's: this one is of this page, and its first word
		 * is at `pc` */
		if (!page || pc - page->base >= CODE_PAGE || pc & 3 ||
		    t->block != &page->block[at]) {
			page = enter(r, w);
			if (!page) {
				gcn_stop(w, GCN_MEMORY_FAULT, pc);
				i = NULL;
				break;
			}
			at = (uint32_t)(pc - page->base) / 4;
		}
		i = &page->inst[at];
		if (t->block->nr > left) {
			run_some(r, w, i, left);
			left = 0;
			break;
		}
		i = run_block(w, t, i, &left, until);
	}
	if (r->stopped_at)
		left += uncount(r, r->stopped_at, i);
	r->steps += (uint64_t)(before - left);
	r->wave_steps[w->number] += (uint64_t)(before - left);
	r->budget -= before - left;
	r->turn -= before - left;
	if (r->stopped_at)
		i = r->stopped_at;
	if (r->status != GCN_RUNNING)
		describe(r, w, i ? page->base + (uint64_t)(i - page->inst) * 4 : w->pc, i);
	if (w->state == GCN_WAVE_END)
		r->nr_live--;
}

static uint32_t nr_running(const struct gcn_run *r)
{
	uint32_t nr = 0;

	for (uint32_t n = 0; n < r->nr_waves; n++)
		nr += r->wave[n].state == GCN_WAVE_RUN;
	return nr;
}

static void release_barrier(struct gcn_run *r)
{
	for (uint32_t n = 0; n < r->nr_waves; n++) {
		if (r->wave[n].state == GCN_WAVE_RUN)
			return;
	}
	for (uint32_t n = 0; n < r->nr_waves; n++) {
		if (r->wave[n].state == GCN_WAVE_BARRIER)
			r->wave[n].state = GCN_WAVE_RUN;
	}
}

/* When all waves want to wait, it is for something outside of the workgroup. */
static void give_way(struct gcn_run *r)
{
	if (!r->yield) {
		r->yields = 0;
	} else if (++r->yields >= nr_running(r)) {
		r->yields = 0;
		r->budget = 0;
		r->waits = true;
	}
}

/* Another thread has ended the slice for all. */
static bool halted(const struct gcn_run *r)
{
	return r->halt && __atomic_load_n(r->halt, __ATOMIC_RELAXED);
}

/* Runs the resident workgroup; true: it is done. */
static bool run_group(struct gcn_run *r)
{
	while (r->nr_live && r->budget > 0 && r->status == GCN_RUNNING && !halted(r)) {
		struct gcn_wave *w = &r->wave[r->next_wave];

		if (w->state == GCN_WAVE_RUN) {
			run_wave(r, w);
			give_way(r);
		}
		/* a turn may take several slices: waves wait for each other without s_sleep, too */
		if (w->state != GCN_WAVE_RUN || r->yield || r->turn <= 0) {
			r->next_wave = (r->next_wave + 1) % r->nr_waves;
			r->turn = QUANTUM;
		}
		if (w->state != GCN_WAVE_RUN)
			release_barrier(r);
	}
	return !r->nr_live;
}

/* Whether workgroups at the grid's edges are smaller. */
static bool has_edges(const struct gcn_run *r)
{
	return r->nr_groups[0] * r->group[0] != r->size[0] ||
	       r->nr_groups[1] * r->group[1] != r->size[1] ||
	       r->nr_groups[2] * r->group[2] != r->size[2];
}

/* Workgroups of one size are counted together, when the part runs no other: each time, blocks are
 * looked up again. */
static void end_group(struct gcn_run *r)
{
	if (has_edges(r))
		gcn_count_group(r);
	if (r->launch.group_end)
		r->launch.group_end(r->launch.group_arg, r->number, r->wave_steps, r->nr_waves);
	r->resident = false;
	r->ended++;
}

/* Begins the next workgroup; false: all have begun. */
static bool begin_group(struct gcn_run *r)
{
	uint64_t n;

	if (r->next == r->until && !gcn_part_deal(r))
		return false;
	n = r->next++;
	r->number = n;
	r->at[0] = (uint32_t)(n % r->nr_groups[0]);
	r->at[1] = (uint32_t)(n / r->nr_groups[0] % r->nr_groups[1]);
	r->at[2] = (uint32_t)(n / r->nr_groups[0] / r->nr_groups[1]);
	start_group(r);
	return true;
}

void gcn_run_groups(struct gcn_run *r)
{
	r->waits = false;
	while (r->budget > 0 && r->status == GCN_RUNNING && !halted(r)) {
		if (!r->resident && !begin_group(r))
			break;
		if (run_group(r) && r->status == GCN_RUNNING)
			end_group(r);
	}
	if (!r->resident)
		gcn_count_group(r);
}

const struct gcn_stop *gcn_run_stop(const struct gcn_run *r)
{
	return &r->stop;
}
