/* SPDX-License-Identifier: MIT */
/* pending.h - what a face keeps of each operation of a queue, from its submission to its end, by a
 * key: the packet's index
 *
 * One thread at a time puts, another one takes. Neither waits.
 */
#ifndef RTL_LIB_FACE_PENDING_H
#define RTL_LIB_FACE_PENDING_H

#include <stdatomic.h>
#include <stdint.h>

#define PENDING_BUCKETS 256u

struct pending_item {
	struct pending_item *next;
	uint64_t key;
};

/* Zeroed: empty. */
struct pending {
	_Atomic(struct pending_item *) buckets[PENDING_BUCKETS];
};

/* HOT */
void pending_put(struct pending *p, struct pending_item *item);
/* HOT: NULL: there is none with this key. */
struct pending_item *pending_take(struct pending *p, uint64_t key);

#endif
