/* SPDX-License-Identifier: MIT */
/* dispatch_ids.c - librocprofiler-sdk: ids of dispatches
 *
 * Owns:     the last id; the ids of dispatches that are counted, until they are submitted.
 * Threads:  any.
 * Hot path: dispatch_ids_new(); dispatch_ids_take() where no dispatch was ever named: no lock.
 */
#include "dispatch_ids.h"

#include <stdlib.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"

#define NR_BUCKETS 1024u

/* The id of a dispatch that was asked for, until it is submitted. */
struct named {
	struct named *next;
	uint64_t packet, id;
	uint32_t queue;
};

GUARDED_LOCK(lock, LOCK_SDK_COUNT);
static struct named *names[NR_BUCKETS] RTL_GUARDED_BY(lock);
static _Atomic uint64_t last_id;
static _Atomic bool is_kept, is_used;

uint64_t dispatch_ids_new(void)
{
	return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

uint64_t dispatch_ids_count(void)
{
	return atomic_load_explicit(&last_id, memory_order_relaxed);
}

void dispatch_ids_keep(bool on)
{
	atomic_store(&is_kept, on);
}

RTL_REQUIRES(lock) static struct named **bucket_of(uint32_t queue, uint64_t packet)
{
	return &names[(queue * UINT64_C(31) + packet) % NR_BUCKETS];
}

uint64_t dispatch_ids_name(uint32_t queue, uint64_t packet)
{
	uint64_t id = dispatch_ids_new();
	struct named *n = atomic_load_explicit(&is_kept, memory_order_relaxed) ?
				  alloc_heap(sizeof(*n)) :
				  NULL;
	struct named **bucket;

	if (!n)
		return id;
	lock_take(&lock);
	atomic_store_explicit(&is_used, true, memory_order_relaxed);
	bucket = bucket_of(queue, packet);
	*n = (struct named){ .next = *bucket, .queue = queue, .packet = packet, .id = id };
	*bucket = n;
	lock_drop(&lock);
	return id;
}

uint64_t dispatch_ids_take(uint32_t queue, uint64_t packet)
{
	struct named *n, **at;
	uint64_t id = 0;

	/* relaxed: what was asked for was asked on a thread that had the queue's turn, as this one
	 * has */
	if (RTL_LIKELY(!atomic_load_explicit(&is_used, memory_order_relaxed)))
		return 0;
	lock_take(&lock);
	at = bucket_of(queue, packet);
	while (*at && ((*at)->queue != queue || (*at)->packet != packet))
		at = &(*at)->next;
	n = *at;
	if (n) {
		*at = n->next;
		id = n->id;
	}
	lock_drop(&lock);
	alloc_free(n);
	return id;
}
