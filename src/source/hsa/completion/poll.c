/* SPDX-License-Identifier: MIT */
/* poll.c - reads completion and times of operations in flight from their signals
 *
 * Hot path: poll_completed().
 * Quirk:    the GPU writes begin, end, then the value. An owner may set the value again at once, so
 *           for an owner's signal nonzero end ticks mark completion; they are cleared when the
 *           packet is submitted.
 */
#include "source/hsa/completion/poll.h"

#include <time.h>

#include "base/sys.h"
#include "source/hsa/completion/copy_times.h"

/* A queue without profiling writes no times. A dropped value without times may also be a write in
 * progress; after this many polls it is not. */
#define LOOKS_WITHOUT_TIMES 3

static bool lock(struct inflight *e, uint32_t from)
{
	/* pairs with unlock(): makes the previous holder's writes visible */
	return atomic_compare_exchange_strong_explicit(&e->state, &from, INFLIGHT_BUSY,
						       memory_order_acquire, memory_order_relaxed);
}

static void unlock(struct inflight *e, uint32_t state)
{
	atomic_store_explicit(&e->state, state, memory_order_release);
}

/* `over`: the owner uses its signal anew, so it considers the operation completed. */
static enum inflight_result look(struct inflight *e, bool over, uint64_t *begin, uint64_t *end)
{
	const amd_signal_t *s = inflight_signal(e);

	if (e->kind == INFLIGHT_COPY)
		return copy_times_poll(e, over, begin, end);
	*end = signal_end_ticks(s);
	*begin = signal_begin_ticks(s);
	if (*end)
		/* Another operation on this signal may have written these times. */
		return atomic_load_explicit(&e->tainted, memory_order_relaxed) ? INFLIGHT_REPLACED :
										 INFLIGHT_TIMED;
	/* only a dispatch whose owner's signal has value 1 is timed by that signal */
	if (signal_value(s) < 1 && ++e->nr_looks > LOOKS_WITHOUT_TIMES)
		return INFLIGHT_UNTIMED;
	return INFLIGHT_PENDING;
}

/* Stores the result of look(). */
static void capture(struct inflight *e, enum inflight_result r, uint64_t begin, uint64_t end)
{
	e->result = (uint8_t)r;
	e->begin_ticks = r == INFLIGHT_TIMED ? begin : 0;
	e->end_ticks = r == INFLIGHT_TIMED ? end : 0;
	unlock(e, INFLIGHT_CAPTURED);
}

enum inflight_result poll_owners(struct inflight *e, uint64_t *begin, uint64_t *end)
{
	enum inflight_result r;

	if (!lock(e, INFLIGHT_ARMED)) {
		/* acquire: pairs with unlock() in capture() */
		if (atomic_load_explicit(&e->state, memory_order_acquire) != INFLIGHT_CAPTURED)
			return INFLIGHT_PENDING;
		*begin = e->begin_ticks;
		*end = e->end_ticks;
		return (enum inflight_result)e->result;
	}
	r = look(e, false, begin, end);
	if (r == INFLIGHT_PENDING)
		unlock(e, INFLIGHT_ARMED);
	else
		capture(e, r, *begin, *end);
	return r;
}

/* Waits while another thread polls the entry, which takes a few loads. Returns the state that was
 * locked, or the final state that can't be locked. */
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
		if (round % 1024 == 0) /* the other thread was preempted */
			sys_nap(&nap);
		else
			RTL_RELAX();
	}
}

enum poll_use poll_capture(struct inflight *e, amd_signal_t *s, bool destroyed)
{
	uint32_t state = lock_any(e);
	uint64_t begin = 0, end = 0;
	enum inflight_result r;

	switch (state) {
	case INFLIGHT_CAPTURED:
		return POLL_OVER;
	case INFLIGHT_OURS:
	case INFLIGHT_HELD:
	case INFLIGHT_DONE:
		return POLL_GONE;
	case INFLIGHT_FREE: /* being submitted, on this signal or on another */
		if (inflight_signal(e) != s)
			return POLL_GONE;
		atomic_store_explicit(&e->tainted, true, memory_order_relaxed);
		return destroyed ? POLL_OVER : POLL_IN_USE;
	default:
		break;
	}
	if (inflight_signal(e) != s) {
		unlock(e, state);
		return POLL_GONE;
	}
	r = look(e, true, &begin, &end);
	if (r == INFLIGHT_PENDING && !destroyed) {
		atomic_store_explicit(&e->tainted, true, memory_order_relaxed);
		unlock(e, state);
		return POLL_IN_USE;
	}
	capture(e, r == INFLIGHT_PENDING ? INFLIGHT_REPLACED : r, begin, end);
	return POLL_OVER;
}

bool poll_completed(struct inflight *e)
{
	/* acquire: pairs with inflight_done() */
	uint32_t state = atomic_load_explicit(&e->state, memory_order_acquire);
	bool yes;

	if (state == INFLIGHT_OURS)
		return signal_value(inflight_signal(e)) <= 0;
	if (state >= INFLIGHT_CAPTURED)
		return true; /* another operation may have its signal by now */
	if (!lock(e, INFLIGHT_ARMED))
		return false;
	yes = signal_end_ticks(inflight_signal(e)) != 0 || signal_value(inflight_signal(e)) < 1;
	unlock(e, INFLIGHT_ARMED);
	return yes;
}
