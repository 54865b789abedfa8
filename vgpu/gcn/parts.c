/* SPDX-License-Identifier: MIT */
/* parts.c - the workgroups of a dispatch that run at the same time
 *
 * A part runs one workgroup after the other, and one thread at a time runs a part: a slice of the
 * dispatch, by one or several threads, is a sequence of parts that each of them takes, runs and
 * gives back. There are as many as threads, but while all workgroups that have begun wait for
 * something outside of them: then more begin, up to what fits on a GPU.
 *
 * Threads:  gcn_run_work() any; all others the one that owns the dispatch, while no other works on
 *           it.
 * Locks:    `lock` of the lead, innermost: for taking and giving, not while instructions run.
 */
#include "parts.h"

#include <stddef.h>

#include "code.h"
enum { UNITS = 64, SIMDS_OF_UNIT = 4, WAVES_OF_SIMD = 10 };

/* before a workgroup that waits for another one is tried again: about two microseconds */
#define PAUSES 50

/* Workgroups, one behind the other, that are dealt to a thread: neighbours use the same memory, and
 * the next dispatch's workgroups of the same numbers often do, too, which then need not move
 * between processors. */
#define CHUNK 16

/* parts that stay for the next dispatch */
#define PARTS_KEPT 16

void gcn_part_reset(struct gcn_run *r)
{
	r->resident = false;
	memset(&r->counters, 0, sizeof(r->counters));
	memset(r->executed, 0, sizeof(r->executed));
	memset(r->executed_before, 0, sizeof(r->executed_before));
	memset(r->wait, 0, sizeof(r->wait));
	memset(r->mfma, 0, sizeof(r->mfma));
	memset(r->mfma_mops, 0, sizeof(r->mfma_mops));
	r->mfma_cycles = 0;
	memset(&r->stop, 0, sizeof(r->stop));
	r->steps = 0;
	r->next = r->until = r->ended = 0;
	r->thread = 0;
	r->yields = r->polls = 0;
	r->poll_pc = 0;
	r->ids_waves = 0;
	r->taken = r->waited = false;
	r->clock_base = r->done_before = 0;
	r->status = GCN_RUNNING;
}

uint32_t gcn_waves_of(const struct gcn_run *r)
{
	return (r->group[0] * r->group[1] * r->group[2] + GCN_LANES - 1) / GCN_LANES;
}

/* As many as fit on the GPU, and into the queue's scratch memory. */
static unsigned int most_parts(const struct gcn_run *r)
{
	uint64_t waves = gcn_waves_of(r);
	uint64_t of_unit = SIMDS_OF_UNIT * WAVES_OF_SIMD / waves, nr;

	if (r->lds_size && GCN_LDS_SIZE / r->lds_size < of_unit)
		of_unit = GCN_LDS_SIZE / r->lds_size;
	nr = of_unit * UNITS;
	if (r->wave_stride && r->launch.scratch_size / (r->wave_stride * waves) < nr)
		nr = r->launch.scratch_size / (r->wave_stride * waves);
	return nr ? (unsigned int)nr : 1;
}

/* One thread alone needs no lock: most dispatches are small. */
static void lock(struct gcn_run *lead)
{
	if (lead->nr_threads > 1)
		pthread_mutex_lock(&lead->lock);
}

static void unlock(struct gcn_run *lead)
{
	if (lead->nr_threads > 1)
		pthread_mutex_unlock(&lead->lock);
}

static void drop_parts(struct gcn_run *lead, unsigned int keep)
{
	struct gcn_run *last = lead;

	for (unsigned int n = 1; n < keep && last->next_part; n++)
		last = last->next_part;
	while (last->next_part) {
		struct gcn_run *part = last->next_part;

		last->next_part = part->next_part;
		part->next_part = NULL;
		gcn_run_destroy(part);
		lead->nr_parts--;
	}
	lead->last_part = last;
}

/* Gives a part what is constant during the dispatch. */
static void join(struct gcn_run *lead, struct gcn_run *part)
{
	memcpy(part, lead, offsetof(struct gcn_run, lead));
	part->lead = lead;
	gcn_part_reset(part);
}

void gcn_parts_start(struct gcn_run *lead)
{
	uint64_t nr = 1;
	bool huge = false;

	lead->outcome = lead->status;
	lead->failed = NULL;
	lead->deal[0] = lead->nr_dealt = lead->nr_kept = lead->nr_ended = lead->done = 0;
	lead->nr_deals = 1;
	lead->in_turn = false;
	lead->gws_arrived = lead->gws_passed = 0;
	lead->nr_resident = lead->nr_waited = lead->nr_working = 0;
	lead->waits = false;
	if (lead->status != GCN_RUNNING)
		return;
	for (unsigned int n = 0; n < 3; n++)
		huge |= __builtin_mul_overflow(nr, lead->nr_groups[n], &nr);
	lead->nr_all = huge ? UINT64_MAX : nr;
	lead->parts_max = most_parts(lead);
	lead->cursor = lead;
	drop_parts(lead, lead->parts_max < PARTS_KEPT ? lead->parts_max : PARTS_KEPT);
	for (struct gcn_run *part = lead->next_part; part; part = part->next_part)
		join(lead, part);
}

/* Workgroups that have not begun, but for those that running parts have. */
static uint64_t nr_left(const struct gcn_run *r)
{
	return r->nr_all - r->nr_dealt + r->nr_kept;
}

bool gcn_run_several(const struct gcn_run *r)
{
	return !r->launch.cache_model && !r->launch.group_end && nr_left(r) + r->nr_resident > 1;
}

static struct gcn_run *after(struct gcn_run *lead, struct gcn_run *part)
{
	return part->next_part ? part->next_part : lead;
}

/* The next part, round-robin from the cursor, with a workgroup that no thread runs; that which the
 * thread ran before comes first. */
static struct gcn_run *find_begun(struct gcn_run *lead, unsigned int thread, bool waited,
				  bool again)
{
	struct gcn_run *part = lead->cursor, *found = NULL;

	for (unsigned int n = 0; n < lead->nr_parts; n++, part = after(lead, part)) {
		if (part->taken || !part->resident || part->status != GCN_RUNNING)
			continue;
		if (part->waited != waited || (waited && !again && part->tried == lead->slice))
			continue;
		if (waited || part->thread == thread)
			return part;
		if (!found)
			found = part;
	}
	return found;
}

/* A part without a workgroup; those that have some to begin come first. */
static struct gcn_run *find_idle(struct gcn_run *lead)
{
	struct gcn_run *found = NULL;

	for (struct gcn_run *part = lead; part; part = part->next_part) {
		if (part->taken || part->resident || part->status != GCN_RUNNING)
			continue;
		if (part->next != part->until)
			return part;
		if (!found)
			found = part;
	}
	return found;
}

/* Gives a part that is to begin the workgroups of one that can't begin them, because its own
 * waits. */
static void inherit(struct gcn_run *lead, struct gcn_run *part)
{
	struct gcn_run *from = lead;

	if (part->next != part->until || !lead->nr_kept)
		return;
	while (from && (from->taken || from->next == from->until))
		from = from->next_part;
	if (from) {
		part->next = from->next;
		part->until = from->until;
		from->next = from->until;
	}
}

static struct gcn_run *add_part(struct gcn_run *lead)
{
	struct gcn_run *part = lead->nr_parts < lead->parts_max ? gcn_run_create() : NULL;

	if (!part)
		return NULL;
	join(lead, part);
	part->slot = lead->nr_parts++;
	lead->last_part->next_part = part;
	lead->last_part = part;
	return part;
}

/* Workgroups that go on come first, then those that begin, then those that wait, each of these once
 * in a slice unless `again`. */
static struct gcn_run *take(struct gcn_run *lead, unsigned int thread, bool again)
{
	struct gcn_run *part;
	bool may_begin;

	lock(lead);
	part = find_begun(lead, thread, false, false);
	may_begin = nr_left(lead) &&
		    (lead->nr_resident < lead->nr_threads || lead->nr_waited == lead->nr_resident);
	if (!part && may_begin) {
		part = find_idle(lead);
		if (!part)
			part = add_part(lead);
		if (part)
			inherit(lead, part);
	}
	if (!part)
		part = find_begun(lead, thread, true, again);
	if (part) {
		lead->nr_kept -= part->until - part->next;
		part->taken = true;
		part->thread = thread;
		lead->nr_working += !part->waited;
		if (!part->resident)
			lead->nr_resident++; /* it will be */
		part->clock_base = lead->done - part->done_before;
		lead->cursor = after(lead, part);
	}
	unlock(lead);
	if (part)
		part->page = NULL;
	return part;
}

static void give(struct gcn_run *lead, struct gcn_run *part)
{
	uint64_t done = gcn_executed(part);

	lock(lead);
	part->taken = false;
	lead->nr_working -= !part->waited;
	lead->nr_kept += part->until - part->next;
	lead->nr_ended += part->ended;
	part->ended = 0;
	lead->done += done - part->done_before;
	part->done_before = done;
	if (part->status != GCN_RUNNING) {
		/* of several that failed the first workgroup counts */
		if (!lead->failed || part->number < lead->failed->number)
			lead->failed = part;
	}
	lead->nr_resident -= !part->resident;
	lead->nr_waited -= part->waited;
	part->waited = part->resident && part->waits;
	lead->nr_waited += part->waited;
	lead->in_turn |= part->waited;
	part->tried = lead->slice;
	lead->works |= part->resident && !part->waits;
	unlock(lead);
}

/* Whether a workgroup that waits may wait for one that another thread runs now. */
static bool others_work(struct gcn_run *lead)
{
	bool work;

	lock(lead);
	work = lead->nr_working && lead->nr_waited && !lead->failed;
	unlock(lead);
	return work;
}

/* Deals the workgroups that are left. */
static void deal(struct gcn_run *lead, unsigned int nr)
{
	uint64_t begin = lead->deal[0], chunk = begin / CHUNK;

	nr = nr < GCN_DEALS_MAX ? nr : GCN_DEALS_MAX;
	for (unsigned int n = 0; n < nr; n++) {
		uint64_t first = (chunk + (n + nr - chunk % nr) % nr) * CHUNK;

		lead->deal[n] = first > begin ? first : begin;
	}
	lead->nr_deals = nr;
}

bool gcn_part_deal(struct gcn_run *part)
{
	struct gcn_run *lead = part->lead;
	unsigned int from = part->thread % lead->nr_deals;
	uint64_t nr = 1;

	lock(lead);
	if (lead->in_turn || lead->deal[from] >= lead->nr_all) {
		for (unsigned int n = 0; n < lead->nr_deals; n++)
			from = lead->deal[n] < lead->deal[from] ? n : from;
	}
	part->next = part->until = lead->deal[from];
	if (part->next < lead->nr_all) {
		/* towards the end of the dispatch they are fewer, so that all threads end at the
		 * same time */
		if (lead->nr_threads > 1 && !lead->in_turn)
			nr = (lead->nr_all - lead->nr_dealt) / (4ull * lead->nr_threads);
		if (nr > CHUNK - part->next % CHUNK)
			nr = CHUNK - part->next % CHUNK;
		nr = nr ? nr : 1;
		nr = nr < lead->nr_all - part->next ? nr : lead->nr_all - part->next;
		part->until += nr;
		lead->nr_dealt += nr;
		lead->deal[from] = part->until;
		/* over the other threads' chunks */
		if (part->until % CHUNK == 0)
			lead->deal[from] += (uint64_t)(lead->nr_deals - 1) * CHUNK;
	}
	unlock(lead);
	return part->next != part->until;
}

void gcn_run_open(struct gcn_run *r, unsigned int nr_threads)
{
	if (nr_threads > 1 && r->nr_deals == 1)
		deal(r, nr_threads);
	code_check(r);
	r->nr_threads = nr_threads;
	r->slice++;
	r->works = false;
	r->failed = NULL;
}

/* Whether the thread is to end its share of the slice. */
static bool stopped(const bool *stop)
{
	return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Runs a part until its workgroup waits, none is left or the thread's share of the slice is over;
 * what is left of the budget. */
static int64_t run_part(struct gcn_run *part, int64_t budget, const bool *stop)
{
	uint64_t before = part->steps;

	part->halt = stop;
	part->budget = budget;
	gcn_run_groups(part);
	/* a workgroup that waits has a price, too: there may be many */
	return budget - (int64_t)(part->steps - before) - part->waits;
}

void gcn_run_work(struct gcn_run *r, unsigned int thread, int64_t budget, const bool *stop)
{
	bool again = false;

	while (budget > 0 && !stopped(stop)) {
		struct gcn_run *part = take(r, thread, again);

		again = false;
		if (part) {
			budget = run_part(part, budget, stop);
			give(r, part);
			if (part->status != GCN_RUNNING ||
			    (!stop && !r->nr_resident && !nr_left(r)))
				return;
		} else if (stop && others_work(r)) {
			for (unsigned int n = 0; n < PAUSES; n++)
				__builtin_ia32_pause();
			budget -= PAUSES;
			again = true;
		} else {
			return;
		}
	}
}

enum gcn_status gcn_run_close(struct gcn_run *r)
{
	if (r->failed) {
		r->outcome = r->failed->status;
		if (r->failed != r)
			r->stop = r->failed->stop;
	} else if (r->nr_ended == r->nr_all) {
		r->outcome = GCN_DONE;
	}
	return r->outcome;
}

enum gcn_status gcn_run_slice(struct gcn_run *r, int64_t budget)
{
	if (r->outcome != GCN_RUNNING)
		return r->outcome;
	gcn_run_open(r, 1);
	gcn_run_work(r, 0, budget, NULL);
	return gcn_run_close(r);
}

bool gcn_run_waits(const struct gcn_run *r)
{
	return !r->works && r->nr_resident;
}
