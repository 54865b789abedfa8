/* SPDX-License-Identifier: MIT */
/* author.c - which thread, call and range each packet comes from
 *
 * Owns:     the notes of each queue; queues by their hsa_queue_t, the recent ones.
 * Threads:  any.
 * Hot path: all but author_init() and author_install(): no lock, no allocation, no system call.
 */
#include "source/hsa/author.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "event/corr.h"
#include "event/join.h"
#include "event/life.h"
#include "source/hsa/queue.h"
#include "source/hsa/table.h"

#define NR_RECENT 64u

/* Hints: each is compared with what the queue says of itself. */
static struct queue *_Atomic recent[NR_RECENT];

static inline struct queue *_Atomic *place_of(const hsa_queue_t *hsa)
{
	return &recent[(uint64_t)(uintptr_t)hsa * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

static inline bool is(const struct queue *q, const hsa_queue_t *hsa)
{
	/* relaxed: the caller knows of `hsa` since it was made */
	return q && atomic_load_explicit(&q->hsa, memory_order_relaxed) == hsa;
}

static struct queue *find(const hsa_queue_t *hsa)
{
	struct queue *_Atomic *place = place_of(hsa);
	/* acquire: pairs with the release below; queues are never freed */
	struct queue *q = atomic_load_explicit(place, memory_order_acquire);

	if (is(q, hsa))
		return q;
	q = queue_find(hsa);
	if (q)
		atomic_store_explicit(place, q, memory_order_release);
	return q;
}

void author_init(struct queue *q, uint32_t entries)
{
	if (!q->author)
		q->author = alloc_pages(entries * sizeof(*q->author));
	q->author_mask = q->author ? entries - 1 : 0;
}

/* Packet `index` of `q` is that of thread `t`. */
static inline void put(struct queue *q, const struct thread *t, uint64_t index)
{
	struct author *a = &q->author[index & q->author_mask];

	/* relaxed: the packet's header publishes it; see the header. 0: no call; it may be a barrier that
	 * nobody asks about. */
	atomic_store_explicit(&a->correlation, t->corr_current, memory_order_relaxed);
	atomic_store_explicit(&a->marker, t->marker, memory_order_relaxed);
	atomic_store_explicit(&a->tid, t->tid, memory_order_relaxed);
	atomic_store_explicit(&a->key, author_key(q, index), memory_order_release);
}

/* As note(), for all that is not one packet of a queue that was seen lately. */
static RTL_NOINLINE void note_any(const hsa_queue_t *hsa, uint64_t index, uint64_t end)
{
	struct queue *q;
	struct thread *t;

	if (!life_enter(&t))
		return;
	if (RTL_UNLIKELY(join_is_on()))
		join_submits(t->tid);
	q = find(hsa);
	if (RTL_UNLIKELY(!q))
		queue_unseen(hsa);
	if (q && q->author && end - index <= q->author_mask + 1)
		for (; index != end; index++)
			put(q, t, index);
	life_leave(t);
}

/* Packets [index, end) of `hsa` are this thread's. One packet calls nothing: nothing can come back here. */
static inline void note(const hsa_queue_t *hsa, uint64_t index, uint64_t end)
{
	struct queue *q = atomic_load_explicit(place_of(hsa), memory_order_acquire);
	struct thread *t = life_glance();

	if (RTL_LIKELY(t && end - index == 1 && is(q, hsa) && q->author && !join_is_on()))
		put(q, t, index);
	else
		note_any(hsa, index, end);
}

struct origin author_of_runner(struct thread *t)
{
	return (struct origin){ .in_call = t->corr_current != 0,
				.correlation = corr_take(t),
				.marker = t->marker,
				.tid = t->tid };
}

uint32_t author_tid(const struct queue *q, uint64_t index)
{
	const struct author *a = author_find(q, index);

	return a ? atomic_load_explicit(&a->tid, memory_order_relaxed) : 0;
}

/* ---- the functions that reserve places: one of each for every memory order ------------------ */

#define RESERVE(order)                                                                             \
	static uint64_t add_##order(const hsa_queue_t *queue, uint64_t value)                      \
	{                                                                                          \
		uint64_t index = real.hsa_queue_add_write_index_##order(queue, value);             \
                                                                                                   \
		note(queue, index, index + value);                                                 \
		return index;                                                                      \
	}                                                                                          \
	static uint64_t cas_##order(const hsa_queue_t *queue, uint64_t expected, uint64_t value)   \
	{                                                                                          \
		uint64_t index = real.hsa_queue_cas_write_index_##order(queue, expected, value);   \
                                                                                                   \
		if (index == expected)                                                             \
			note(queue, index, value);                                                 \
		return index;                                                                      \
	}
RESERVE(relaxed)
RESERVE(scacquire)
RESERVE(screlease)
RESERVE(scacq_screl)
#undef RESERVE

/* A queue with one producer: what lies between the old index and the new one is its. */
static void store_relaxed(const hsa_queue_t *queue, uint64_t value)
{
	note(queue, real.hsa_queue_load_write_index_relaxed(queue), value);
	real.hsa_queue_store_write_index_relaxed(queue, value);
}

static void store_screlease(const hsa_queue_t *queue, uint64_t value)
{
	note(queue, real.hsa_queue_load_write_index_relaxed(queue), value);
	real.hsa_queue_store_write_index_screlease(queue, value);
}

void author_install(const struct hsa_mirror_root *root)
{
#define PUT(what, order)                                                                           \
	table_replace_core(root, HSA_CORE_queue_##what##_write_index_##order,                      \
			   (void *)what##_##order)
	PUT(add, relaxed);
	PUT(add, scacquire);
	PUT(add, screlease);
	PUT(add, scacq_screl);
	PUT(cas, relaxed);
	PUT(cas, scacquire);
	PUT(cas, screlease);
	PUT(cas, scacq_screl);
	PUT(store, relaxed);
	PUT(store, screlease);
#undef PUT
}
