/* SPDX-License-Identifier: MIT */
/* hsa_kernels.c - names of kernels by the address of their object, as packets have it
 *
 * Owns:     a hash table. Entries are never freed; one is used again when the same kernel is loaded
 *           at the same address.
 * Threads:  any. Look-ups take no lock: an entry is published after it is filled.
 * Hot path: hsa_kernels_name().
 * Fails:    without memory a kernel has no name.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "fork_guard.h"
#include "hsa_events.h"

#define NR_BUCKETS 4096u

struct kernel {
	/* set before it is published, constant after */
	struct kernel *next;
	uint64_t object;
	char *name; /* demangled; `symbol` itself where that changes nothing */
	/* atomic */
	_Atomic bool is_loaded;
	char symbol[];
};

GUARDED_LOCK(lock, LOCK_HSA_KERNELS);
static _Atomic(struct kernel *) buckets[NR_BUCKETS];

static _Atomic(struct kernel *) *bucket_of(uint64_t object)
{
	/* descriptors are 64 bytes large */
	return &buckets[(object >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}
_Static_assert(NR_BUCKETS == 1u << (64 - 52), "as many as the hash has values");

const char *hsa_kernels_name(uint64_t object)
{
	/* acquire: pairs with the release in publish() */
	const struct kernel *k = atomic_load_explicit(bucket_of(object), memory_order_acquire);

	/* relaxed: the program orders a dispatch after the loading of its kernel */
	while (k &&
	       (k->object != object || !atomic_load_explicit(&k->is_loaded, memory_order_relaxed)))
		k = k->next;
	return k ? k->name : NULL;
}

static struct kernel *new_kernel(uint64_t object, const char *symbol)
{
	size_t size = strlen(symbol) + 1;
	struct kernel *k = alloc_heap(sizeof(*k) + size);

	if (!k)
		return NULL;
	memcpy(k->symbol, symbol, size);
	k->object = object;
	/* runs in the program: a hostile name must not take its time or memory */
	k->name = demangle_whole(symbol);
	if (!k->name)
		k->name = k->symbol;
	return k;
}

RTL_REQUIRES(lock)
static struct kernel *publish(_Atomic(struct kernel *) *bucket, uint64_t object, const char *symbol)
{
	struct kernel *k = new_kernel(object, symbol);

	if (!k)
		return NULL;
	k->next = *bucket;
	atomic_store_explicit(&k->is_loaded, true, memory_order_relaxed);
	/* pairs with the acquire in hsa_kernels_name() */
	atomic_store_explicit(bucket, k, memory_order_release);
	return k;
}

const char *hsa_kernels_add(uint64_t object, const char *symbol)
{
	_Atomic(struct kernel *) *bucket = bucket_of(object);
	struct kernel *k, *its = NULL;

	lock_take(&lock);
	for (k = *bucket; k; k = k->next) {
		if (k->object != object)
			continue;
		if (strcmp(k->symbol, symbol) == 0)
			its = k;
		/* another kernel at this address is gone, reported or not */
		atomic_store_explicit(&k->is_loaded, its == k, memory_order_relaxed);
	}
	if (!its)
		its = publish(bucket, object, symbol);
	lock_drop(&lock);
	return its ? its->name : NULL;
}

void hsa_kernels_remove(uint64_t object)
{
	lock_take(&lock);
	for (struct kernel *k = *bucket_of(object); k; k = k->next) {
		if (k->object == object)
			atomic_store_explicit(&k->is_loaded, false, memory_order_relaxed);
	}
	lock_drop(&lock);
}
