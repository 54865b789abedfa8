/* SPDX-License-Identifier: MIT */
/* retire.c - librocprofiler-sdk: ids that nothing refers to any more, as records
 *
 * A call holds its id from its begin to its end, and each operation that carries it from its
 * submission to its completion; an operation outside of calls has an id of its own. Contexts that
 * wanted to know when the first of them began get a record when the last of them lets go.
 *
 * A call that no tool is shown, but that rtl trace records, gives its operations its id, and its
 * end is not seen here: the id is held until the thread has an operation of another such call.
 *
 * Owns:     the ids that are held; none unless a context wants to know.
 * Threads:  any, under any lock but those behind LOCK_SDK_RETIRE.
 * Fails:    without memory an id is not noted, and there is no record.
 */
#include "retire.h"

#include <stdlib.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "buffer.h"
#include "context.h"
#include "state.h"

#define NR_BUCKETS 4096u

struct held {
	struct held *next;
	uint64_t id;
	uint64_t mask; /* contexts */
	uint64_t nr;
};

GUARDED_LOCK(lock, LOCK_SDK_RETIRE);
static struct held *buckets[NR_BUCKETS] RTL_GUARDED_BY(lock);
static struct held *unused RTL_GUARDED_BY(lock);
_Atomic uint64_t retire_nr_held;
static _Thread_local uint64_t unshown; /* the id of a call that is not shown; 0: none */

RTL_REQUIRES(lock) static struct held **find(uint64_t id)
{
	struct held **h = &buckets[id % NR_BUCKETS];

	while (*h && (*h)->id != id)
		h = &(*h)->next;
	return h;
}

RTL_REQUIRES(lock) static void add(uint64_t id, uint64_t mask)
{
	struct held *h = unused;

	if (h)
		unused = h->next;
	else
		h = alloc_heap(sizeof(*h));
	if (!h) {
		buffer_lose_for(mask, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT);
		return;
	}
	*h = (struct held){ .next = buckets[id % NR_BUCKETS], .id = id, .mask = mask, .nr = 1 };
	buckets[id % NR_BUCKETS] = h;
	atomic_fetch_add_explicit(&retire_nr_held, 1, memory_order_relaxed);
}

/* The contexts that get a record. */
RTL_REQUIRES(lock) static uint64_t take_out(struct held **link)
{
	struct held *h = *link;

	*link = h->next;
	h->next = unused;
	unused = h;
	atomic_fetch_sub_explicit(&retire_nr_held, 1, memory_order_relaxed);
	return h->mask;
}

static void put(uint64_t id, uint64_t mask)
{
	const rocprofiler_buffer_tracing_correlation_id_retirement_record_t r = {
		.size = sizeof(r),
		.kind = ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT,
		.timestamp = mask ? state_core()->now_ns() : 0,
		.internal_correlation_id = id,
	};

	for (; mask; mask &= mask - 1)
		buffer_put(context_at((unsigned int)__builtin_ctzll(mask)),
			   ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, &r, sizeof(r));
}

void retire_begin_for(uint64_t id, uint64_t contexts)
{
	lock_take(&lock);
	add(id, contexts);
	lock_drop(&lock);
}

/* Whether it was noted before. */
static bool hold(uint64_t id, uint64_t contexts)
{
	struct held *h;

	lock_take(&lock);
	h = *find(id);
	if (h)
		h->nr++;
	else if (contexts && id)
		add(id, contexts);
	lock_drop(&lock);
	return h != NULL;
}

void retire_hold_noted(uint64_t id, uint64_t contexts, bool outlives_call)
{
	uint64_t before = unshown;

	if (hold(id, contexts) || !contexts || !outlives_call || state_core()->corr_call_id() != id)
		return;
	hold(id, 0);
	unshown = id;
	if (before)
		retire_drop(before);
}

void retire_drop_noted(uint64_t id)
{
	struct held **link;
	uint64_t mask = 0;

	lock_take(&lock);
	link = find(id);
	if (*link && --(*link)->nr == 0)
		mask = take_out(link);
	lock_drop(&lock);
	put(id, mask);
}

void retire_end(void)
{
	for (uint32_t i = 0; i < NR_BUCKETS && retire_any(); i++) {
		uint64_t id = 0, mask;

		do {
			mask = 0;
			lock_take(&lock);
			if (buckets[i]) {
				id = buckets[i]->id;
				mask = take_out(&buckets[i]);
			}
			lock_drop(&lock);
			put(id, mask);
		} while (mask);
	}
}
