/* SPDX-License-Identifier: MIT */
/* block.h - memory for operations in flight that outlives the process
 *
 * Sources keep their operations in flight in blocks (format.h, IN FLIGHT). The recorder offers a part of the
 * memory half for them, which survives every end of the process; without it, or when it is full, a block is
 * in memory of the process alone. Blocks are never freed: sources use them again.
 *
 *  operation   | block_alloc | block_offer, block_forked
 *  ------------+-------------+--------------------------
 *  block_alloc | any         | block_offer: before the first block; block_forked: the only thread
 */
#ifndef RTL_EVENT_BLOCK_H
#define RTL_EVENT_BLOCK_H

#include <stdint.h>

#include "event/format.h"

/* Allocates the pages of a range of the memory half, offset and size in bytes, so that no access to it fails.
 * 0 or -errno. */
typedef int (*block_populate_fn)(uint64_t offset, uint64_t bytes);

/* The memory half of `header` has space for blocks: blocks_offset and blocks_size. NULL: no longer, for tests. */
void block_offer(struct spool_header *header, block_populate_fn populate);

/* A new block with `nr` zeroed entries of item_size bytes, for no queue. Returns the first entry, at a
 * multiple of 128 bytes; NULL: no memory. Takes a lock; makes system calls. */
void *block_alloc(enum spool_block_kind kind, uint32_t nr, uint32_t item_size);

/* The entries in *at, which are made by block_alloc() if it is NULL. NULL: no memory. Any thread; of threads that
 * make them at once one succeeds, and the others' block stays unused. */
void *block_get(void *_Atomic *at, enum spool_block_kind kind, uint32_t nr, uint32_t item_size);

/* The block of entries that block_alloc() returned. */
static inline struct spool_block *block_of(const void *entries)
{
	return (struct spool_block *)(uintptr_t)entries - 1;
}

/* In the child of a fork: replaces the blocks, which are shared with the parent, by a copy of their present
 * content. */
void block_forked(void);

#endif
