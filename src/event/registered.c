/* SPDX-License-Identifier: MIT */
/* registered.c - functions of the host that stand for kernels
 *
 * Owns:     the functions, in the order of their registration; never freed.
 * Threads:  any.
 */
#include "event/registered.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

#define NR_BUCKETS 4096u

struct registered {
	_Atomic(struct registered *) next;
	uint64_t name; /* its hash */
	uint64_t function;
};

static _Atomic(struct registered *) buckets[NR_BUCKETS];

static uint64_t hash(const char *name, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return h;
}

void registered_add(const char *name, const void *function)
{
	uint64_t h = hash(name, strlen(name));
	_Atomic(struct registered *) *at = &buckets[h % NR_BUCKETS];
	struct registered *r = alloc_heap(sizeof(*r)), *there = NULL;

	if (!r)
		return;
	atomic_init(&r->next, NULL);
	r->name = h;
	r->function = (uintptr_t)function;
	/* release: pairs with registered_find() */
	while (!atomic_compare_exchange_weak_explicit(at, &there, r, memory_order_acq_rel,
						      memory_order_acquire)) {
		if (there && there->name == h && there->function == r->function) {
			alloc_free(r);
			return;
		}
		if (there)
			at = &there->next;
		there = NULL;
	}
}

size_t registered_find(const char *name, size_t size, uint64_t *functions, size_t max)
{
	uint64_t h = hash(name, size);
	/* acquire: pairs with registered_add() */
	const struct registered *r =
		atomic_load_explicit(&buckets[h % NR_BUCKETS], memory_order_acquire);
	size_t nr = 0;

	for (; r && nr < max; r = atomic_load_explicit(&r->next, memory_order_acquire))
		if (r->name == h)
			functions[nr++] = r->function;
	return nr;
}
