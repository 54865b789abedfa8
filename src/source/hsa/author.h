/* SPDX-License-Identifier: MIT */
/* author.h - which thread, call and range each packet comes from
 *
 * The packet callback runs on whatever thread rings the doorbell, and that thread may find packets
 * of others in the ring: HIP's streams share hardware queues. So a packet's origin is noted when its
 * place in the ring is reserved, which every thread does for itself, and looked up by its index.
 *
 *  operation   | author_note             | author_of
 *  ------------+-------------------------+---------------------------------------
 *  author_note | any: places are apart   | the packet's header is stored after the note and loaded
 *              |                         | before the callback
 */
#ifndef RTL_SOURCE_HSA_AUTHOR_H
#define RTL_SOURCE_HSA_AUTHOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/corr.h"
#include "event/thread.h"
#include "hsa_table_gen.h"
#include "source/hsa/queue.h"

struct author {
	_Atomic uint64_t key; /* of queue and packet, 0: none */
	_Atomic uint64_t correlation, marker;
	_Atomic uint32_t tid;
	uint32_t reserved;
};
_Static_assert(sizeof(struct author) == 32, "two in a cache line");

struct origin {
	uint64_t correlation, marker;
	uint32_t tid;
	bool in_call; /* else the correlation id is the packet's own */
};

/* Room for `entries` notes, a power of two, and always the same for the same `q`. More than the queue has
 * packets: HIP reserves a place first and waits for it to be free after that, so at times as many more are
 * reserved as threads wait. Without memory there are none, and the thread of the callback is taken. */
void author_init(struct queue *q, uint32_t entries);

/* Never 0, and never that of a queue which had this memory before. */
static inline uint64_t author_key(const struct queue *q, uint64_t index)
{
	return (uint64_t)q->index << 40 ^ (index + 1);
}

/* HOT: the note of packet `index`; NULL: nobody noted it. */
static inline const struct author *author_find(const struct queue *q, uint64_t index)
{
	const struct author *a = q->author ? &q->author[index & q->author_mask] : NULL;

	/* acquire: pairs with the release of who notes it */
	if (!a || atomic_load_explicit(&a->key, memory_order_acquire) != author_key(q, index))
		return NULL;
	return a;
}

/* Where an operation of `t` comes from that nobody noted. */
struct origin author_of_runner(struct thread *t);

/* HOT: where packet `index` comes from; from `t`, which runs the callback, where nobody noted it. */
static inline struct origin author_of(const struct queue *q, uint64_t index, struct thread *t)
{
	const struct author *a = author_find(q, index);
	struct origin o;

	if (RTL_UNLIKELY(!a))
		return author_of_runner(t);
	o.correlation = atomic_load_explicit(&a->correlation, memory_order_relaxed);
	o.marker = atomic_load_explicit(&a->marker, memory_order_relaxed);
	o.tid = atomic_load_explicit(&a->tid, memory_order_relaxed);
	o.in_call = o.correlation != 0;
	if (!o.in_call)
		o.correlation = corr_orphaned(t);
	return o;
}

/* HOT: its thread alone, 0 where nobody noted it. */
uint32_t author_tid(const struct queue *q, uint64_t index);

/* Puts our functions that reserve places into the table, behind those in `real`. */
void author_install(const struct hsa_mirror_root *root);

#endif
