/* SPDX-License-Identifier: MIT */
/* inflight.c - operations that were handed to the GPU and have not been recorded yet
 *
 * Hot path: inflight_completed().
 * Quirk:    the GPU writes begin, end, then the value. An owner may set the value again at once, so
 *           for an owner's signal "end ticks are there" is what tells completion; they are cleared
 *           when the packet is submitted.
 */
#include "source/hsa/inflight.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "source/hsa/copy.h"

/* A queue without profiling writes no times. After this many looks at a dropped value that is
 * what it was, not a write that is still under way. */
#define LOOKS_WITHOUT_TIMES 3

int inflight_init(struct inflight_ring *r, uint32_t size)
{
	if (!r->entry) {
		r->entry = alloc_pages(size * sizeof(*r->entry));
		if (!r->entry)
			return -ENOMEM;
		r->mask = size - 1;
	}
	atomic_store_explicit(&r->tail, atomic_load_explicit(&r->head, memory_order_relaxed),
			      memory_order_relaxed);
	r->peek = atomic_load_explicit(&r->head, memory_order_relaxed);
	return 0;
}

static enum inflight_result take(const struct inflight *e, uint64_t *begin, uint64_t *end)
{
	*end = signal_end_ticks(inflight_signal(e));
	*begin = signal_begin_ticks(inflight_signal(e));
	return *end ? INFLIGHT_TIMED : INFLIGHT_UNTIMED;
}

static bool lock(struct inflight *e, uint32_t from)
{
	/* pairs with unlock(): what another looker wrote is seen */
	return atomic_compare_exchange_strong_explicit(&e->state, &from, INFLIGHT_BUSY,
						       memory_order_acquire, memory_order_relaxed);
}

static void unlock(struct inflight *e, uint32_t state)
{
	atomic_store_explicit(&e->state, state, memory_order_release);
}

/* `over`: the owner uses its signal anew, so it takes the operation for completed. */
static enum inflight_result poll_owner(struct inflight *e, bool over, uint64_t *begin,
				       uint64_t *end)
{
	enum inflight_result r = INFLIGHT_PENDING;

	if (e->kind == INFLIGHT_COPY)
		return copy_poll(e, over, begin, end);
	if (signal_end_ticks(inflight_signal(e))) {
		r = take(e, begin, end);
		/* A barrier packet behind another dispatch writes its own times to this signal. */
		if (atomic_load_explicit(&e->tainted, memory_order_relaxed))
			r = INFLIGHT_LOST;
	} else if (signal_value(inflight_signal(e)) < e->start_value &&
		   ++e->nr_looks > LOOKS_WITHOUT_TIMES) {
		r = INFLIGHT_UNTIMED;
	}
	return r;
}

/* Takes what poll_owner() said. */
static void capture(struct inflight *e, enum inflight_result r, uint64_t begin, uint64_t end)
{
	e->result = (uint8_t)r;
	e->begin_ticks = r == INFLIGHT_TIMED ? begin : 0;
	e->end_ticks = r == INFLIGHT_TIMED ? end : 0;
	unlock(e, INFLIGHT_CAPTURED);
}

enum inflight_result inflight_poll(struct inflight *e, uint64_t *begin, uint64_t *end)
{
	enum inflight_result r;

	if (e->owned)
		return signal_value(inflight_signal(e)) > 0 ? INFLIGHT_PENDING :
							      take(e, begin, end);
	if (!lock(e, INFLIGHT_ARMED)) {
		/* acquire: pairs with unlock() in capture() */
		if (atomic_load_explicit(&e->state, memory_order_acquire) != INFLIGHT_CAPTURED)
			return INFLIGHT_PENDING;
		*begin = e->begin_ticks;
		*end = e->end_ticks;
		return (enum inflight_result)e->result;
	}
	r = poll_owner(e, false, begin, end);
	if (r == INFLIGHT_PENDING)
		unlock(e, INFLIGHT_ARMED);
	else
		capture(e, r, *begin, *end);
	return r;
}

/* Waits for another looker, whose look takes a few loads. Returns the state that was locked, or
 * the one that can't be. */
static uint32_t lock_any(struct inflight *e)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	for (unsigned round = 1;; round++) {
		/* acquire: pairs with unlock() */
		uint32_t state = atomic_load_explicit(&e->state, memory_order_acquire);

		if (state != INFLIGHT_BUSY && state != INFLIGHT_ARMED && state != INFLIGHT_CALLING)
			return state;
		if (state != INFLIGHT_BUSY && lock(e, state))
			return state;
		if (round % 1024 == 0) /* it was preempted */
			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		else
			__builtin_ia32_pause();
	}
}

enum inflight_use inflight_capture(struct inflight *e, amd_signal_t *s, bool destroyed)
{
	uint32_t state = lock_any(e);
	uint64_t begin = 0, end = 0;
	enum inflight_result r;

	switch (state) {
	case INFLIGHT_CAPTURED:
		return INFLIGHT_OVER;
	case INFLIGHT_DONE:
		return INFLIGHT_GONE;
	case INFLIGHT_FREE: /* on its way to the GPU, on this signal or on another */
		if (inflight_signal(e) != s)
			return INFLIGHT_GONE;
		atomic_store_explicit(&e->tainted, true, memory_order_relaxed);
		return destroyed ? INFLIGHT_OVER : INFLIGHT_IN_USE;
	default:
		break;
	}
	if (inflight_signal(e) != s) {
		unlock(e, state);
		return INFLIGHT_GONE;
	}
	r = poll_owner(e, true, &begin, &end);
	if (r == INFLIGHT_PENDING && !destroyed) {
		atomic_store_explicit(&e->tainted, true, memory_order_relaxed);
		unlock(e, state);
		return INFLIGHT_IN_USE;
	}
	capture(e, r == INFLIGHT_PENDING ? INFLIGHT_LOST : r, begin, end);
	return INFLIGHT_OVER;
}

bool inflight_uses(const struct inflight *e, const amd_signal_t *s)
{
	/* acquire: pairs with the release of the state FREE: the signal was set before it */
	return atomic_load_explicit(&e->state, memory_order_acquire) < INFLIGHT_CAPTURED &&
	       inflight_signal(e) == s;
}

void inflight_done(struct inflight *e)
{
	uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

	/* Both cache lines are written to, not only read. One that was written here moves to the processor that
	 * fills the entry next while that goes on with other things; one that both have for reading stops
	 * it for as long as a line takes there and back (seen on Zen; bench/README.md). */
	e->correlation = 0;
	/* BUSY: somebody who came from a signal that this entry had before */
	do {
		if (state == INFLIGHT_BUSY)
			state = INFLIGHT_ARMED;
	} while (!atomic_compare_exchange_weak_explicit(&e->state, &state, INFLIGHT_DONE,
							memory_order_acq_rel,
							memory_order_relaxed));
}

bool inflight_completed(struct inflight *e)
{
	/* acquire: pairs with inflight_done() */
	uint32_t state = atomic_load_explicit(&e->state, memory_order_acquire);
	bool yes;

	if (state >= INFLIGHT_CAPTURED)
		return true; /* its signal may be another's by now */
	if (e->owned)
		return signal_value(inflight_signal(e)) <= 0;
	if (!lock(e, INFLIGHT_ARMED))
		return false;
	yes = signal_end_ticks(inflight_signal(e)) != 0 ||
	      signal_value(inflight_signal(e)) < e->start_value;
	unlock(e, INFLIGHT_ARMED);
	return yes;
}
