/* SPDX-License-Identifier: MIT */
/* inflight.c - operations that were submitted to the GPU and have not been recorded yet
 *
 * Owns:     the entries of each queue and their signals. The signals are GPU-only: completing one
 *           raises no interrupt.
 * Fails:    no signal can be made: NULL; the caller submits the packet untimed and counts it.
 * Not here: reading completion from signals (poll.c).
 */
#include "source/hsa/completion/inflight.h"

#include <errno.h>
#include <stddef.h>

#include <hsa/hsa_ext_amd.h>

#include "base/sys.h"
#include "event/block.h"
#include "source/hsa/table/real.h"

_Static_assert(offsetof(amd_signal_t, value) == 8 && offsetof(amd_signal_t, start_ts) == 32 &&
		       offsetof(amd_signal_t, end_ts) == 40,
	       "amd_signal_t as the GPU writes it");

#define PREPARE_MOST 256u /* signals that are made per call */
/* What a thread launches while the harvester waits for a processor, some milliseconds. A signal
 * that the launching thread makes may cost system calls: ROCr's pool grows. */
#define PREPARE_AHEAD 1024u

/* The block of `ring` counts what is pushed from now on. */
static void give_to_queue(const struct inflight_ring *ring, uint32_t queue)
{
	struct spool_block *b = block_of(ring->entry);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* made before the trace, or in an earlier one */
	if (queue != SPOOL_NO_QUEUE)
		block_join(ring->entry);
	atomic_store_explicit(&b->pushed, head, memory_order_relaxed);
	atomic_store_explicit(&b->first, head, memory_order_relaxed);
	/* release: a reader that sees the queue sees its counts */
	atomic_store_explicit(&b->queue, queue, memory_order_release);
}

static bool make_ring(struct inflight_ring *ring, uint32_t queue)
{
	if (ring->entry)
		return true;
	ring->entry = block_alloc(SPOOL_BLOCK_QUEUE, ring->mask + 1, sizeof(*ring->entry));
	if (ring->entry)
		give_to_queue(ring, queue);
	return ring->entry != NULL;
}

static void reset(struct inflight_ring *ring, uint32_t size, uint32_t queue)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	ring->mask = size - 1;
	ring->prepared = 0;
	ring->peek = head;
	ring->free_end = head + size;
	/* an entry that was given up keeps its state */
	atomic_store_explicit(&ring->tail, head, memory_order_relaxed);
	if (ring->entry)
		give_to_queue(ring, queue);
}

int inflight_init(struct inflight_rings *r, uint32_t most, uint32_t queue)
{
	uint32_t size = most < INFLIGHT_FIRST ? most : INFLIGHT_FIRST;

	r->most = most;
	r->queue = queue;
	for (r->nr = 0; size <= most && r->nr < INFLIGHT_MAX_RINGS; size *= 2)
		reset(&r->ring[r->nr++], size, queue);
	atomic_store_explicit(&r->current, r->ring, memory_order_release);
	if (!make_ring(r->ring, queue))
		return -ENOMEM;
	inflight_prepare(r);
	return 0;
}

RTL_NOINLINE bool inflight_find_free(struct inflight_ring *r)
{
	/* pairs with the release in collect.c's advance(): the entry is free before tail passes
	 * it */
	r->free_end = atomic_load_explicit(&r->tail, memory_order_acquire) + r->mask + 1;
	return r->free_end != atomic_load_explicit(&r->head, memory_order_relaxed);
}

bool inflight_grow(struct inflight_rings *r)
{
	struct inflight_ring *next = inflight_current(r) + 1;

	if (next == &r->ring[r->nr] || !make_ring(next, r->queue))
		return false;
	/* release: pairs with the acquire in inflight_prepare() and collect_queue() */
	atomic_store_explicit(&r->current, next, memory_order_release);
	return true;
}

uint64_t inflight_pushed(const struct inflight_rings *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		const struct spool_block *b = r->ring[i].entry ? block_of(r->ring[i].entry) : NULL;

		if (b && block_is_traced(r->ring[i].entry))
			n += atomic_load_explicit(&b->pushed, memory_order_relaxed) -
			     atomic_load_explicit(&b->first, memory_order_relaxed);
	}
	return n;
}

void inflight_close(struct inflight_rings *r)
{
	r->queue = SPOOL_NO_QUEUE;
	for (uint32_t i = 0; i < r->nr; i++)
		if (r->ring[i].entry)
			give_to_queue(&r->ring[i], SPOOL_NO_QUEUE);
}

uint64_t inflight_count(const struct inflight_rings *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->nr; i++)
		n += atomic_load_explicit(&r->ring[i].head, memory_order_relaxed) -
		     atomic_load_explicit(&r->ring[i].tail, memory_order_relaxed);
	return n;
}

/* ---- signals --------------------------------------------------------------------------------- */

static amd_signal_t *make(void)
{
	hsa_signal_t s = { .handle = 0 };
	hsa_status_t status;

	sys_cancel_off(); /* under the turn of a queue */
	status = real.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s);
	sys_cancel_on();
	if (status != HSA_STATUS_SUCCESS)
		return NULL;
	/* 0 means that the GPU wrote no times */
	signal_clear_ticks(signal_of(s));
	return signal_of(s);
}

RTL_COLD amd_signal_t *inflight_make_signal(struct inflight *e)
{
	amd_signal_t *s = make(), *none = NULL;

	/* The harvester may make one at the same time. */
	if (s && !atomic_compare_exchange_strong_explicit(&e->ours, &none, s, memory_order_acq_rel,
							  memory_order_acquire)) {
		real.hsa_signal_destroy(signal_handle(s));
		s = none;
	}
	return s;
}

void inflight_prepare(struct inflight_rings *r)
{
	/* acquire: pairs with inflight_grow() */
	struct inflight_ring *ring = atomic_load_explicit(&r->current, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t nr = head - atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t want = (head & ring->mask) + nr + PREPARE_AHEAD;

	for (uint32_t n = 0;
	     n < PREPARE_MOST && ring->prepared < want && ring->prepared <= ring->mask;
	     n++, ring->prepared++)
		if (!inflight_own_signal(&ring->entry[ring->prepared]))
			return;
}

/* Destroys all signals of `ring` but the first `keep`. Returns how many it kept. */
static uint32_t trim_ring(struct inflight_ring *ring, uint32_t keep)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; ring->entry && i <= ring->mask; i++) {
		struct inflight *e = &ring->entry[i];
		amd_signal_t *s = atomic_load_explicit(&e->ours, memory_order_relaxed);

		if (!s || kept++ < keep)
			continue;
		atomic_store_explicit(&e->ours, NULL, memory_order_relaxed);
		real.hsa_signal_destroy(signal_handle(s));
	}
	ring->prepared = 0;
	return kept < keep ? kept : keep;
}

void inflight_trim(struct inflight_rings *r, uint32_t keep)
{
	for (struct inflight_ring *ring = r->ring; ring < &r->ring[r->nr]; ring++)
		keep -= trim_ring(ring, keep);
	/* release: pairs with the acquire in inflight_prepare() and collect_queue() */
	atomic_store_explicit(&r->current, r->ring, memory_order_release);
}

/* ---- owners' signals ------------------------------------------------------------------------- */

bool inflight_uses(const struct inflight *e, const amd_signal_t *s)
{
	/* acquire: pairs with the release store of the state, which follows the signal's */
	return atomic_load_explicit(&e->state, memory_order_acquire) < INFLIGHT_CAPTURED &&
	       inflight_signal(e) == s;
}

void inflight_done_owners(struct inflight *e)
{
	uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

	/* BUSY: a thread polls a signal that this entry had in an earlier use */
	do {
		if (state == INFLIGHT_BUSY)
			state = INFLIGHT_ARMED;
	} while (!atomic_compare_exchange_weak_explicit(&e->state, &state, INFLIGHT_DONE,
							memory_order_acq_rel,
							memory_order_relaxed));
}

bool inflight_has_running(const struct inflight_rings *rings, uint64_t taken, uint64_t from,
			  uint64_t end, uint64_t *later)
{
	const struct inflight_ring *last = inflight_current(rings);

	for (const struct inflight_ring *r = rings->ring; r <= last; r++) {
		/* relaxed, both: this thread has both locks */
		uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
		uint64_t i = atomic_load_explicit(&r->tail, memory_order_relaxed);

		for (; i < head; i++) {
			const struct inflight *e = &r->entry[i & r->mask];
			uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

			if (e->kind != INFLIGHT_DISPATCH || state == INFLIGHT_DONE ||
			    state == INFLIGHT_FREE || state == INFLIGHT_HELD)
				continue;
			if (e->packet < taken || (e->packet >= from && e->packet < end))
				return true;
			++*later;
		}
	}
	return false;
}
