/* SPDX-License-Identifier: MIT */
/* sqtt_waves.c - thread trace of a dispatch: where and when its waves would have run
 *
 * The interpreter runs workgroups one after the other. The trace shows them as a GPU runs them:
 * each workgroup begins on the compute unit that is free first, so many at once as its 10 wave
 * slots in each of 4 SIMDs and its 64 KiB of LDS allow. A wave takes a unit of time for each
 * instruction that it executed, and the whole dispatch is scaled to its begin and end.
 *
 * Owns:     one struct sqtt_waves for each dispatch that is traced.
 * Threads:  the engine's, under the engine's lock.
 */
#include <stdlib.h>

#include "sqtt.h"

enum { CUS = SQTT_SES * SQTT_CUS_OF_SE, LANES = 64, SITES_MAX = CUS * SQTT_SLOTS };
/* of a workgroup; of a dispatch that is not executed: a tenth of a second */
enum { WAVES_MAX = 16, GROUPS_MAX = 1 << 20 };

/* Where a workgroup may run: site n is on compute unit n % CUS. */
struct site {
	uint64_t free; /* from this time on */
	uint32_t number;
};

struct wave {
	uint64_t begin, end, insts;
	uint32_t group;
	uint16_t wave, site;
};

struct sqtt_waves {
	unsigned int gpu;
	uint64_t session;
	uint32_t slots; /* that a workgroup takes in each SIMD */
	uint32_t nr_sites;
	struct site heap[SITES_MAX]; /* the one that is free first, and lowest, is at the top */
	uint64_t length;	     /* of the dispatch */
	uint64_t kept[SQTT_SES], dropped[SQTT_SES]; /* waves */
	struct wave *waves;
	size_t nr, cap;
};

static uint32_t items_of(const hsa_kernel_dispatch_packet_t *p)
{
	return (uint32_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z;
}

struct sqtt_waves *sqtt_waves_begin(unsigned int gpu, const hsa_kernel_dispatch_packet_t *packet)
{
	uint64_t session = sqtt_session(gpu);
	struct sqtt_waves *w = session ? calloc(1, sizeof(*w)) : NULL;
	uint32_t nr_waves = (items_of(packet) + LANES - 1) / LANES, at_once;

	if (!w)
		return NULL;
	w->gpu = gpu;
	w->session = session;
	w->slots = (nr_waves + SQTT_SIMDS - 1) / SQTT_SIMDS;
	/* a packet that is refused has any sizes */
	w->slots = w->slots < 1 ? 1 : w->slots > SQTT_SLOTS ? SQTT_SLOTS : w->slots;
	at_once = SQTT_SLOTS / w->slots;
	if (packet->group_segment_size && 65536 / packet->group_segment_size < at_once)
		at_once = 65536 / packet->group_segment_size;
	w->nr_sites = CUS * (at_once ? at_once : 1);
	for (uint32_t n = 0; n < w->nr_sites; n++)
		w->heap[n].number = n;
	return w;
}

static bool before(const struct site *a, const struct site *b)
{
	return a->free < b->free || (a->free == b->free && a->number < b->number);
}

/* The top is free later than it was: moves it down. */
static void sift(struct sqtt_waves *w)
{
	for (uint32_t at = 0, next; (next = 2 * at + 1) < w->nr_sites; at = next) {
		struct site p = w->heap[at];

		if (next + 1 < w->nr_sites && before(&w->heap[next + 1], &w->heap[next]))
			next++;
		if (!before(&w->heap[next], &p))
			return;
		w->heap[at] = w->heap[next];
		w->heap[next] = p;
	}
}

static unsigned int se_of(uint32_t site)
{
	return site % SQTT_SES;
}

static bool grow(struct sqtt_waves *w)
{
	size_t cap = w->cap ? w->cap * 2 : 256;
	struct wave *more = realloc(w->waves, cap * sizeof(*more));

	if (!more)
		return false;
	w->waves = more;
	w->cap = cap;
	return true;
}

/* Waves come in the order of their begin, so those that are dropped would not fit in the buffer. */
static void keep(struct sqtt_waves *w, const struct wave *wave)
{
	unsigned int se = se_of(wave->site);

	if (w->kept[se] >= sqtt_space(w->gpu, se) || (w->nr == w->cap && !grow(w))) {
		w->dropped[se]++;
		return;
	}
	w->kept[se]++;
	w->waves[w->nr++] = *wave;
}

void sqtt_waves_group(void *waves, uint64_t group, const uint64_t *insts, unsigned int nr)
{
	struct sqtt_waves *w = waves;
	uint64_t begin = w->heap[0].free, length = 0;

	for (unsigned int n = 0; n < nr; n++) {
		struct wave wave = {
			.begin = begin,
			.end = begin + insts[n],
			.insts = insts[n],
			.group = (uint32_t)group,
			.wave = (uint16_t)n,
			.site = (uint16_t)w->heap[0].number,
		};

		keep(w, &wave);
		length = insts[n] > length ? insts[n] : length;
	}
	w->heap[0].free = begin + length;
	if (begin + length > w->length)
		w->length = begin + length;
	sift(w);
}

/* Groups beyond those that sqtt_waves_all() looks at, as if each were whole. */
static void drop_rest(struct sqtt_waves *w, uint64_t groups, uint32_t items)
{
	uint64_t waves = groups * ((items + LANES - 1) / LANES);

	for (unsigned int se = 0; se < SQTT_SES; se++)
		w->dropped[se] += waves / SQTT_SES + (se < waves % SQTT_SES);
}

void sqtt_waves_all(struct sqtt_waves *w, const hsa_kernel_dispatch_packet_t *packet)
{
	const uint32_t grid[3] = { packet->grid_size_x, packet->grid_size_y, packet->grid_size_z };
	const uint16_t size[3] = { packet->workgroup_size_x, packet->workgroup_size_y,
				   packet->workgroup_size_z };
	uint64_t nr[3], alike[WAVES_MAX];

	for (unsigned int n = 0; n < WAVES_MAX; n++)
		alike[n] = 1;
	for (unsigned int d = 0; d < 3; d++) {
		if (!size[d])
			return;
		nr[d] = ((uint64_t)grid[d] + size[d] - 1) / size[d];
	}
	for (uint64_t group = 0; group < nr[0] * nr[1] * nr[2]; group++) {
		uint64_t at[3] = { group % nr[0], group / nr[0] % nr[1], group / nr[0] / nr[1] };
		uint64_t items = 1, waves;

		if (group == GROUPS_MAX) {
			drop_rest(w, nr[0] * nr[1] * nr[2] - group, items_of(packet));
			return;
		}
		for (unsigned int d = 0; d < 3; d++) {
			uint64_t left = grid[d] - at[d] * size[d];

			items *= left < size[d] ? left : size[d];
		}
		waves = (items + LANES - 1) / LANES;
		sqtt_waves_group(w, group, alike,
				 waves < WAVES_MAX ? (unsigned int)waves : WAVES_MAX);
	}
}

/* ---- tokens ---------------------------------------------------------------------------------- */

struct entry {
	uint64_t time;
	uint32_t wave; /* its number in waves[] */
	uint8_t rank;  /* in types[] */
};

static const uint8_t types[] = { SQTT_WAVE_START, SQTT_INST, SQTT_WAVE_END };

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	/* of one instant: a wave ends before a later one takes its slot */
	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint64_t scaled(const struct sqtt_waves *w, const struct sqtt_dispatch *d, uint64_t at)
{
	uint64_t ticks = d->end > d->begin ? d->end - d->begin : 0;

	if (!w->length)
		return d->begin;
	return d->begin + (uint64_t)((unsigned __int128)ticks * at / w->length);
}

static void put(const struct sqtt_waves *w, const struct sqtt_dispatch *d, const struct entry *e)
{
	const struct wave *v = &w->waves[e->wave];
	struct sqtt_token t = {
		.type = types[e->rank],
		.se = (uint8_t)se_of(v->site),
		.cu = (uint8_t)(v->site % CUS / SQTT_SES),
		.simd = (uint8_t)(v->wave % SQTT_SIMDS),
		.slot = (uint8_t)(v->site / CUS * w->slots + v->wave / SQTT_SIMDS),
		.gpu = (uint8_t)w->gpu,
		.wave = v->wave,
		.time = scaled(w, d, e->time),
		.group = v->group,
		.value = (uint32_t)d->queue,
		.packet = d->packet,
	};

	if (t.type == SQTT_INST) {
		if (!sqtt_chosen(w->gpu, &t))
			return;
		t.value = v->insts < UINT32_MAX ? (uint32_t)v->insts : UINT32_MAX;
	}
	sqtt_put(w->gpu, &t);
}

static void put_all(const struct sqtt_waves *w, const struct sqtt_dispatch *d)
{
	struct entry *list = malloc((w->nr * 3 + 1) * sizeof(*list));
	uint64_t nr = 0;

	for (unsigned int n = 0; n < 3; n++) {
		if (!sqtt_wants(w->gpu, types[n]))
			continue;
		for (unsigned int se = 0; se < SQTT_SES && types[n] != SQTT_INST; se++)
			sqtt_lost(w->gpu, se, w->dropped[se] + (list ? 0 : w->kept[se]));
		for (size_t v = 0; v < w->nr && list; v++)
			list[nr++] = (struct entry){
				.time = n ? w->waves[v].end : w->waves[v].begin,
				.wave = (uint32_t)v,
				.rank = (uint8_t)n,
			};
	}
	if (!list)
		return;
	qsort(list, nr, sizeof(*list), by_time);
	for (uint64_t n = 0; n < nr; n++)
		put(w, d, &list[n]);
	free(list);
}

void sqtt_waves_end(struct sqtt_waves *w, const struct sqtt_dispatch *d)
{
	if (!w)
		return;
	if (w->session == sqtt_session(w->gpu))
		put_all(w, d);
	sqtt_waves_free(w);
}

void sqtt_waves_free(struct sqtt_waves *w)
{
	if (!w)
		return;
	free(w->waves);
	free(w);
}
