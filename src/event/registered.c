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
#define BLOCK_SIZE 16384u

struct registered {
	_Atomic(struct registered *) next;
	uint64_t name; /* its hash */
	uint64_t function;
};

/* Space for some of them: librtl does not use the program's heap. */
struct block {
	_Atomic uint32_t used;
	struct registered items[(BLOCK_SIZE - 8) / sizeof(struct registered)];
};
_Static_assert(sizeof(struct block) <= BLOCK_SIZE, "fits its pages");
#define BLOCK_ITEMS (sizeof(((struct block *)0)->items) / sizeof(struct registered))

static _Atomic(struct registered *) buckets[NR_BUCKETS];
static _Atomic(struct block *) newest;

static struct registered *take(void)
{
	for (;;) {
		/* acquire, and acq_rel below: the block's pages come before its address */
		struct block *b = atomic_load_explicit(&newest, memory_order_acquire), *more;
		uint32_t n = b ? atomic_fetch_add_explicit(&b->used, 1, memory_order_relaxed) : 0;

		if (b && n < BLOCK_ITEMS)
			return &b->items[n];
		more = alloc_pages(BLOCK_SIZE);
		if (!more)
			return NULL;
		if (!atomic_compare_exchange_strong_explicit(&newest, &b, more,
							     memory_order_acq_rel,
							     memory_order_relaxed))
			alloc_pages_free(more, BLOCK_SIZE);
	}
}

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
	struct registered *mine = NULL, *there;

	for (;;) {
		/* acquire: pairs with the release below */
		there = atomic_load_explicit(at, memory_order_acquire);
		if (!there && !mine) {
			mine = take();
			if (!mine)
				return;
			mine->name = h;
			mine->function = (uintptr_t)function;
		}
		/* release: pairs with registered_find(): the function comes before its entry */
		if (!there &&
		    atomic_compare_exchange_strong_explicit(at, &there, mine, memory_order_acq_rel,
							    memory_order_acquire))
			return;
		/* one that was taken in vain stays unused: two threads at once are rare */
		if (there->name == h && there->function == (uintptr_t)function)
			return;
		at = &there->next;
	}
}

size_t registered_find(const char *name, size_t size, uint64_t *functions, size_t max)
{
	uint64_t h = hash(name, size);
	/* acquire: pairs with registered_add() */
	const struct registered *r =
		atomic_load_explicit(&buckets[h % NR_BUCKETS], memory_order_acquire);
	size_t nr = 0;

	for (; r; r = atomic_load_explicit(&r->next, memory_order_acquire)) {
		if (r->name != h)
			continue;
		if (nr < max)
			functions[nr] = r->function;
		nr++;
	}
	return nr;
}
