/* SPDX-License-Identifier: MIT */
/* parts.c - the workgroups of a dispatch that run at the same time
 *
 * A part runs one workgroup after the other, and one thread at a time runs a part: a slice of the dispatch, by one or several
 * threads, is a sequence of parts that each of them takes, runs and gives back. There are as many as threads, but while all
 * workgroups that have begun wait for something outside of them: then more begin, up to what fits on a GPU.
 *
 * Threads:  gcn_run_work() any; all others the one that owns the dispatch, while no other works on it.
 * Locks:    `lock` of the lead, innermost: for taking and giving, not while instructions run.
 */
#include "parts.h"

#include <stddef.h>

#include "code.h"
enum { UNITS = 64, SIMDS_OF_UNIT = 4, WAVES_OF_SIMD = 10 };

/* before a workgroup that waits for another one is tried again: about two microseconds */
#define PAUSES 50

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
	lead->next_group = lead->nr_ended = lead->done = 0;
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

/* Workgroups that have not begun. */
static uint64_t nr_left(const struct gcn_run *r)
{
	uint64_t begun = __atomic_load_n(&r->next_group, __ATOMIC_RELAXED);

	return begun < r->nr_all ? r->nr_all - begun : 0;
}

bool gcn_run_several(const struct gcn_run *r)
{
	return !r->launch.cache_model && !r->launch.group_end && nr_left(r) + r->nr_resident > 1;
}

static struct gcn_run *after(struct gcn_run *lead, struct gcn_run *part)
{
	return part->next_part ? part->next_part : lead;
}

/* The next part, round-robin from the cursor, that no thread runs. */
static struct gcn_run *find_part(struct gcn_run *lead, bool resident, bool waited, bool again)
{
	struct gcn_run *part = lead->cursor;

	for (unsigned int n = 0; n < lead->nr_parts; n++, part = after(lead, part)) {
		if (part->taken || part->resident != resident || part->status != GCN_RUNNING)
			continue;
		if (!resident)
			return part;
		if (part->waited == waited && (!waited || again || part->tried != lead->slice))
			return part;
	}
	return NULL;
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

/* Workgroups that go on come first, then those that begin, then those that wait, each of these once in a slice unless `again`. */
static struct gcn_run *take(struct gcn_run *lead, bool again)
{
	struct gcn_run *part;
	bool may_begin;

	lock(lead);
	part = find_part(lead, true, false, false);
	may_begin = nr_left(lead) &&
		    (lead->nr_resident < lead->nr_threads || lead->nr_waited == lead->nr_resident);
	if (!part && may_begin) {
		part = find_part(lead, false, false, false);
		if (!part)
			part = add_part(lead);
	}
	if (!part)
		part = find_part(lead, true, true, again);
	if (part) {
		part->taken = true;
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

void gcn_run_open(struct gcn_run *r, unsigned int nr_threads)
{
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

/* Runs a part until its workgroup waits, none is left or the thread's share of the slice is over; what is left of the budget. */
static int64_t run_part(struct gcn_run *part, int64_t budget, const bool *stop)
{
	uint64_t before = part->steps;

	part->halt = stop;
	part->budget = budget;
	gcn_run_groups(part);
	/* a workgroup that waits has a price, too: there may be many */
	return budget - (int64_t)(part->steps - before) - part->waits;
}

void gcn_run_work(struct gcn_run *r, int64_t budget, const bool *stop)
{
	bool again = false;

	while (budget > 0 && !stopped(stop)) {
		struct gcn_run *part = take(r, again);

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
	} else if (__atomic_load_n(&r->nr_ended, __ATOMIC_RELAXED) == r->nr_all) {
		r->outcome = GCN_DONE;
	}
	return r->outcome;
}

enum gcn_status gcn_run_slice(struct gcn_run *r, int64_t budget)
{
	if (r->outcome != GCN_RUNNING)
		return r->outcome;
	gcn_run_open(r, 1);
	gcn_run_work(r, budget, NULL);
	return gcn_run_close(r);
}

bool gcn_run_waits(const struct gcn_run *r)
{
	return !r->works && r->nr_resident;
}
