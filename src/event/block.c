/* SPDX-License-Identifier: MIT */
/* block.c - memory for operations in flight that outlives the process
 *
 * Owns:     the end of the blocks, spool_header.blocks_used.
 * Threads:  see block.h.
 * Locks:    LOCK_BLOCKS: appending a block.
 * Not here: what is read from them after the process's end (rest.c).
 */
#include "event/block.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/lock.h"

static struct lock lock = LOCK_INIT(LOCK_BLOCKS);
static struct spool_header *header RTL_GUARDED_BY(lock); /* NULL: no memory half */
static block_populate_fn populate RTL_GUARDED_BY(lock);

void block_offer(struct spool_header *h, block_populate_fn fn)
{
	lock_take(&lock);
	header = h && h->blocks_offset ? h : NULL;
	populate = fn;
	lock_drop(&lock);
}

static uint64_t used_bytes(const struct spool_header *h)
{
	/* relaxed: written under the lock */
	return atomic_load_explicit(&h->blocks_used, memory_order_relaxed);
}

/* Fills in the identity of a block in zeroed memory. */
static void describe(struct spool_block *b, enum spool_block_kind kind, uint32_t nr,
		     uint32_t item_size, uint64_t size)
{
	b->magic = SPOOL_BLOCK_MAGIC;
	b->kind = kind;
	b->nr_items = nr;
	b->item_size = item_size;
	b->size = size;
	atomic_store_explicit(&b->queue, SPOOL_NO_QUEUE, memory_order_relaxed);
}

/* NULL: there is no memory half, or no space in it. */
RTL_REQUIRES(lock)
static struct spool_block *append(enum spool_block_kind kind, uint32_t nr, uint32_t item_size,
				  uint64_t size)
{
	uint64_t used = header ? used_bytes(header) : 0;
	struct spool_block *b;

	if (!header || size > header->blocks_size - used ||
	    populate(header->blocks_offset + used, size) != 0)
		return NULL;
	b = (struct spool_block *)(void *)((char *)header + header->blocks_offset + used);
	describe(b, kind, nr, item_size, size);
	/* release: a reader that sees the end sees the block */
	atomic_store_explicit(&header->blocks_used, used + size, memory_order_release);
	return b;
}

void *block_alloc(enum spool_block_kind kind, uint32_t nr, uint32_t item_size)
{
	uint64_t size = sizeof(struct spool_block) + (uint64_t)nr * item_size;
	struct spool_block *b;

	size = (size + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
	lock_take(&lock);
	b = append(kind, nr, item_size, size);
	lock_drop(&lock);
	if (b)
		return b + 1;
	b = alloc_pages(size);
	if (!b)
		return NULL;
	describe(b, kind, nr, item_size, size);
	return b + 1;
}

void *block_get(void *_Atomic *at, enum spool_block_kind kind, uint32_t nr, uint32_t item_size)
{
	/* acquire, here and below: pairs with the exchange of another thread */
	void *entries = atomic_load_explicit(at, memory_order_acquire), *none = NULL;

	if (entries)
		return entries;
	entries = block_alloc(kind, nr, item_size);
	if (entries &&
	    !atomic_compare_exchange_strong_explicit(at, &none, entries, memory_order_acq_rel,
						     memory_order_acquire))
		return none;
	return entries;
}

RTL_NO_TSA void block_forked(void)
{
	/* no lock: a thread that exists only in the parent may hold it */
	struct spool_header *h = header;
	size_t used = h ? used_bytes(h) : 0;
	void *copy;

	header = NULL;
	if (!used)
		return;
	copy = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	memcpy(copy, (char *)h + h->blocks_offset, used);
	mremap(copy, used, used, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)h + h->blocks_offset);
}
