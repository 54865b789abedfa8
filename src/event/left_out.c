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
};

/* atomic; of a counter's calls the owner alone writes them */
static struct counter counters[LEFT_OUT_MAX_THREADS];
static _Atomic uint32_t nr_used;			  /* from the first one on */
static _Atomic uint64_t taken[LEFT_OUT_MAX_THREADS / 64]; /* a bit for each */

/* Far below 0, however often threads without a counter add to it. */
_Alignas(64) int64_t left_out_none = INT64_MIN;

/* The number of a free counter, which the caller then has; LEFT_OUT_MAX_THREADS: none is free. */
static uint32_t take(void)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(taken); i++) {
		uint64_t old = atomic_load_explicit(&taken[i], memory_order_relaxed);

		while (~old) {
			uint64_t bit = ~old & (old + 1);

			/* acquire: pairs with the release of the thread that had it */
			old = atomic_fetch_or_explicit(&taken[i], bit, memory_order_acquire);
			if (!(old & bit))
				return i * 64 + (uint32_t)__builtin_ctzll(bit);
		}
	}
	return LEFT_OUT_MAX_THREADS;
}

void left_out_begin(void)
{
	struct thread *t = thread_get();
	uint32_t used = atomic_load_explicit(&nr_used, memory_order_relaxed), i;

	if (t->left_out != &left_out_none)
		return;
	i = take();
	if (i == LEFT_OUT_MAX_THREADS)
		return;
	/* a flush that misses a new counter leaves it to the next one */
	while (used <= i && !atomic_compare_exchange_weak(&nr_used, &used, i + 1))
		;
	t->left_out = &counters[i].calls;
	t->submitter |= THREAD_LEFT_OUT;
}

static void thread_ends(struct thread *t)
{
	struct counter *c = RTL_CONTAINER_OF(t->left_out, struct counter, calls);
	size_t i;

	if (t->left_out == &left_out_none)
		return;
	i = (size_t)(c - counters);
	t->left_out = &left_out_none;
	/* release: the next owner adds to what this one has counted */
	atomic_fetch_and_explicit(&taken[i / 64], ~(UINT64_C(1) << i % 64), memory_order_release);
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
