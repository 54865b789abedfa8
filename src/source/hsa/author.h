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

#include "event/thread.h"
#include "hsa_table_gen.h"

struct queue;

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

/* HOT: where packet `index` comes from; from `t`, which runs the callback, where nobody noted it. */
struct origin author_of(struct queue *q, uint64_t index, struct thread *t);

/* HOT: its thread alone, 0 where nobody noted it. */
uint32_t author_tid(const struct queue *q, uint64_t index);

/* Puts our functions that reserve places into the table, behind those in `real`. */
void author_install(const struct hsa_mirror_root *root);

#endif
