/* SPDX-License-Identifier: MIT */
/* left_out.c - counts of the calls that the user leaves out
 *
 * Owns:     the counters.
 * Threads:  left_out_init() before threads, the rest any.
 * Fails:    without a free counter a thread's calls take the ordinary way, which counts them.
 */
#include "event/left_out.h"

#include <stdatomic.h>

#include "event/bus.h"
#include "event/pause.h"

struct counter {
	_Alignas(64) int64_t calls; /* of all threads that had it, one after the other */
	_Atomic int64_t flushed;
	_Atomic bool is_taken;
};

/* atomic; of a counter's calls the owner alone writes them */
static struct counter counters[LEFT_OUT_MAX_THREADS];
static _Atomic uint32_t nr_used; /* from the first one on */

/* Far below 0, however often threads without a counter add to it. */
_Alignas(64) int64_t left_out_none = INT64_MIN;

void left_out_begin(void)
{
	struct thread *t = thread_get();

	if (t->left_out != &left_out_none)
		return;
	for (uint32_t i = 0; i < LEFT_OUT_MAX_THREADS; i++) {
		uint32_t used = atomic_load_explicit(&nr_used, memory_order_relaxed);

		/* acquire: pairs with the release of the thread that had it */
		if (atomic_exchange_explicit(&counters[i].is_taken, true, memory_order_acquire))
			continue;
		/* relaxed: a flush that misses a new counter leaves it to the next one */
		while (used <= i && !atomic_compare_exchange_weak(&nr_used, &used, i + 1))
			;
		t->left_out = &counters[i].calls;
		t->submitter |= THREAD_LEFT_OUT;
		return;
	}
}

static void thread_ends(struct thread *t)
{
	struct counter *c = RTL_CONTAINER_OF(t->left_out, struct counter, calls);

	if (t->left_out == &left_out_none)
		return;
	t->left_out = &left_out_none;
	/* release: the next owner adds to what this one has counted */
	atomic_store_explicit(&c->is_taken, false, memory_order_release);
}

void left_out_flush(void)
{
	uint32_t nr = atomic_load_explicit(&nr_used, memory_order_relaxed);
	int64_t total = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct counter *c = &counters[i];
		int64_t old = atomic_load_explicit(&c->flushed, memory_order_relaxed), calls;

		do
			calls = __atomic_load_n(&c->calls, __ATOMIC_RELAXED);
		while (calls > old && !atomic_compare_exchange_weak(&c->flushed, &old, calls));
		total += calls > old ? calls - old : 0;
	}
	if (total)
		bus_loss(pause_is_on() ? SPOOL_REASON_paused : SPOOL_REASON_filtered_call,
			 (uint64_t)total);
}

void left_out_init(void)
{
	thread_at_exit(THREAD_EXIT_LEFT_OUT, thread_ends);
}
