/* SPDX-License-Identifier: MIT */
/* pending.c - what a face keeps of each operation of a queue, from its submission to its end */
#include "pending.h"

#include <stddef.h>

#include "base/testpoint.h"

static _Atomic(struct pending_item *) *bucket_of(struct pending *p, uint64_t key)
{
	return &p->buckets[key % PENDING_BUCKETS];
}

void pending_put(struct pending *p, struct pending_item *item)
{
	_Atomic(struct pending_item *) *bucket = bucket_of(p, item->key);

	item->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* release: pairs with pending_take() */
	while (!atomic_compare_exchange_weak_explicit(bucket, &item->next, item,
						      memory_order_release, memory_order_relaxed))
		;
}

struct pending_item *pending_take(struct pending *p, uint64_t key)
{
	_Atomic(struct pending_item *) *bucket = bucket_of(p, key);
	/* acquire: pairs with pending_put() */
	struct pending_item *before = NULL,
			    *item = atomic_load_explicit(bucket, memory_order_acquire);
	struct pending_item *first = item;

	for (; item && item->key != key; item = item->next)
		before = item;
	if (!item || before) {
		if (item)
			before->next = item->next;
		return item;
	}
	RTL_TESTPOINT("pending_front");
	if (atomic_compare_exchange_strong_explicit(bucket, &first, item->next,
						    memory_order_acquire, memory_order_acquire))
		return item;
	/* others were put in front of it */
	for (before = first; before->next != item; before = before->next)
		;
	before->next = item->next;
	return item;
}
