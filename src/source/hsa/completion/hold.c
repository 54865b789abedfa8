/* SPDX-License-Identifier: MIT */
/* hold.c - keeps threads from writing to entries in flight while their blocks move (event/block.h)
 *
 * Holds the turn and the harvest lock of each queue: packets that are announced meanwhile are
 * submitted when it gives the turn back. Threads that capture the times of an owner's signal need
 * neither: the entries of such signals are locked one by one (poll.h). Copies: all entries of a
 * group that is not in use.
 *
 * Threads:  one at a time, in a hook.
 * Fails:    a lock is not free within about a second: the queue stays as it is, and its blocks
 *           where they are. Its holder may wait for a lock of the runtime that this thread has.
 */
#include "source/hsa/completion/hold.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/sys.h"
#include "event/block.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/memory/copy_table.h"
#include "source/hsa/queue/announce.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/real.h"

#define SPINS 2000u
#define NAP_NS 50000
#define MOST_NS UINT64_C(1000000000)

/* At least SPINS rounds, and until `deadline_ns` of CLOCK_MONOTONIC: on a busy machine the holder
 * is preempted. */
static bool wait_for(struct queue *q, bool (*try_fn)(struct queue *q), uint64_t deadline_ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (unsigned round = 0;; round++) {
		if (try_fn(q))
			return true;
		/* relaxed: a queue that ends does not come back */
		if (atomic_load_explicit(&q->turn, memory_order_relaxed) >= QUEUE_ENDING)
			return false;
		if (round < SPINS)
			RTL_RELAX();
		else if (clock_read_ns(CLOCK_MONOTONIC) < deadline_ns)
			sys_nap(&nap);
		else
			return false;
	}
}

/* Another thread may capture the times of an ARMED entry: locks it as that thread would. */
static void hold_entry(struct inflight *e)
{
	for (;;) {
		/* acquire: pairs with the release in poll.c */
		uint32_t state = atomic_load_explicit(&e->state, memory_order_acquire);

		if (state != INFLIGHT_ARMED && state != INFLIGHT_BUSY)
			return;
		if (state == INFLIGHT_ARMED &&
		    atomic_compare_exchange_strong_explicit(&e->state, &state, INFLIGHT_BUSY,
							    memory_order_acquire,
							    memory_order_relaxed))
			return;
		RTL_RELAX(); /* the other thread has it for a few loads */
	}
}

/* Of a ring that is held, all BUSY entries are this thread's. */
static void release_entry(struct inflight *e)
{
	if (atomic_load_explicit(&e->state, memory_order_relaxed) == INFLIGHT_BUSY)
		atomic_store_explicit(&e->state, INFLIGHT_ARMED, memory_order_release);
}

static void hold_ring(struct inflight_ring *r, bool on)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t i = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (!r->entry)
		return;
	for (; i < head; i++) {
		if (on)
			hold_entry(&r->entry[i & r->mask]);
		else
			release_entry(&r->entry[i & r->mask]);
	}
	/* relaxed: read by this thread */
	atomic_store_explicit(&block_of(r->entry)->held, on, memory_order_relaxed);
}

static void hold_queue(struct queue *q, bool closing, uint64_t deadline_ns)
{
	if (!wait_for(q, queue_turn_try, deadline_ns))
		return;
	if (atomic_load_explicit(&q->live, memory_order_acquire) && !q->intercepted) {
		interpose_submit_announced(q);
		if (closing)
			announce_waiting(q);
	}
	if (!atomic_load_explicit(&q->live, memory_order_acquire) ||
	    !wait_for(q, queue_try_lock, deadline_ns)) {
		interpose_end_turn(q);
		return;
	}
	collect_completed(q);
	if (closing)
		collect_untraced(q);
	for (uint32_t i = 0; i < q->inflight.nr; i++)
		hold_ring(&q->inflight.ring[i], true);
	q->is_held = true;
}

static void release_queue(struct queue *q)
{
	for (uint32_t i = 0; i < q->inflight.nr; i++)
		hold_ring(&q->inflight.ring[i], false);
	q->is_held = false;
	queue_unlock(q);
	interpose_end_turn(q);
}

static void hold(bool closing)
{
	uint64_t deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + MOST_NS;
	uint32_t n = queue_count();

	harvest_completed();
	for (uint32_t i = 0; i < n && real_ready(); i++) {
		if (atomic_load_explicit(&queue_at(i)->live, memory_order_acquire))
			hold_queue(queue_at(i), closing, deadline_ns);
	}
	copy_table_hold(true);
}

static void release(void)
{
	uint32_t n = queue_count();

	copy_table_hold(false);
	for (uint32_t i = 0; i < n; i++) {
		/* only this thread sets it */
		if (queue_at(i)->is_held)
			release_queue(queue_at(i));
	}
}

void hold_init(void)
{
	static const struct block_owner owner = { .hold = hold, .release = release };

	block_set_owner(&owner);
}
