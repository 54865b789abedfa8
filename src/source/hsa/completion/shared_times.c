/* SPDX-License-Identifier: MIT */
/* shared_times.c - times of dispatches whose owner's signal was completed by librtl's barrier
 * packet
 *
 * Owns:     a fixed table, by signal.
 * Threads:  any; `lock`, except in shared_times_forget().
 * Hot path: shared_times_any(), shared_times_forget().
 */
#include "source/hsa/completion/shared_times.h"

#include <stdatomic.h>

#include "base/lock.h"

#define NR_KEPT 4096u
#define WAYS 4u

struct kept {
	_Atomic uint64_t signal; /* 0: free */
	/* under lock */
	uint64_t begin_ns, end_ns, stamp;
};

static struct kept table[NR_KEPT];
static _Atomic bool any;
static struct lock lock = LOCK_INIT(LOCK_SHARED_TIMES);
static uint64_t next_stamp RTL_GUARDED_BY(lock);

bool shared_times_any(void)
{
	/* relaxed: the calling thread is ordered after earlier uses of its signal */
	return atomic_load_explicit(&any, memory_order_relaxed);
}

static struct kept *first_of(uint64_t signal)
{
	uint64_t h = (signal >> 6) * UINT64_C(0x9e3779b97f4a7c15);

	return &table[(uint32_t)(h >> 40) & (NR_KEPT - WAYS)];
}

/* The entry of `self`, else a free one, else the oldest. */
RTL_REQUIRES(lock) static struct kept *choose(uint64_t self)
{
	struct kept *k = first_of(self), *best = NULL;

	for (struct kept *end = k + WAYS; k < end; k++) {
		/* relaxed: only shared_times_forget() writes it without the lock, and writes 0 */
		uint64_t its = atomic_load_explicit(&k->signal, memory_order_relaxed);

		if (its == self)
			return k;
		if (its == 0)
			k->stamp = 0;
		if (!best || k->stamp < best->stamp)
			best = k;
	}
	return best;
}

void shared_times_keep(const amd_signal_t *s, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t self = (uint64_t)(uintptr_t)s;
	struct kept *k;

	lock_take(&lock);
	k = choose(self);
	k->begin_ns = begin_ns;
	k->end_ns = end_ns;
	k->stamp = ++next_stamp;
	atomic_store_explicit(&k->signal, self, memory_order_relaxed);
	lock_drop(&lock);
}

bool shared_times_find(const amd_signal_t *s, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint64_t self = (uint64_t)(uintptr_t)s;
	struct kept *k = first_of(self);
	bool found = false;

	lock_take(&lock);
	for (uint32_t i = 0; i < WAYS && !found; i++) {
		if (atomic_load_explicit(&k[i].signal, memory_order_relaxed) != self)
			continue;
		*begin_ns = k[i].begin_ns;
		*end_ns = k[i].end_ns;
		found = true;
	}
	lock_drop(&lock);
	return found;
}

void shared_times_forget(const amd_signal_t *s)
{
	struct kept *k = first_of((uint64_t)(uintptr_t)s);

	if (!shared_times_any())
		return;
	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t self = (uint64_t)(uintptr_t)s;

		atomic_compare_exchange_strong_explicit(&k[i].signal, &self, 0,
							memory_order_relaxed, memory_order_relaxed);
	}
}

void shared_times_expect(const amd_signal_t *s)
{
	if (!shared_times_any())
		atomic_store_explicit(&any, true, memory_order_relaxed);
	shared_times_forget(s);
}
