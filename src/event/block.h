/* SPDX-License-Identifier: MIT */
/* block.h - memory for operations in flight that outlives the process
 *
 * Sources keep their operations in flight in blocks (format.h, IN FLIGHT). A block has one address
 * for ever: it is in an area of address space of which an open trace maps its memory half, which
 * survives every end of the process. When a trace is opened, the pages of each block are replaced
 * by the trace's, with the same content; block_owner keeps other threads from writing meanwhile.
 * Without a trace, or when its memory half is full, a block is in memory of the process alone.
 * Blocks are never freed: sources use them again.
 *
 *  operation   | block_alloc | block_open, block_freeze  | block_forked
 *  ------------+-------------+---------------------------+--------------
 *  block_alloc | any         | any                       | the only thread
 */
#ifndef RTL_EVENT_BLOCK_H
#define RTL_EVENT_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/format.h"

/* Allocates the pages of a range of the memory half, offset and size in bytes, so that no access to
 * it fails. 0 or -errno. */
typedef int (*block_populate_fn)(uint64_t offset, uint64_t bytes);

/* What keeps the entries of blocks: it stops its own threads while blocks move. */
struct block_owner {
	/* No thread writes to a block with `held` set from now on. Submits what was announced and
	 * records what has completed.
	 * Bounded: blocks that it can't have by then stay without `held`. `closing`: the open trace
	 * is about to be closed; what is in flight in blocks that are not in it is recorded,
	 * too. */
	void (*hold)(bool closing);
	void (*release)(void);
};
/* Once, before threads. */
void block_set_owner(const struct block_owner *owner);

/* Stops and continues the writing to blocks. The caller is in a hook (life.h) and holds no lock. */
void block_hold(bool closing);
void block_release(void);

/* A trace with the memory half `header`, which is the file `fd`: blocks move there. What is in
 * flight in them does not belong to this trace: it gets EVENT_LEFT_OUT. Between block_hold() and
 * block_release(), if there are blocks. */
void block_open(struct spool_header *header, int fd, block_populate_fn populate);

/* The trace is about to be closed, but not the process: its drainer reads a copy of the blocks as
 * they are now. New blocks belong to no trace. Between block_hold() and block_release(). */
void block_freeze(void);

/* Space for that many bytes of further blocks is made ahead, so that the threads that need them
 * make no system call. Whether there is less; makes it. The life thread. */
bool block_wants_spare(uint64_t bytes);
void block_make_spare(uint64_t bytes);

/* The block of `entries`, of block_alloc(), moves to the open trace unless it is there. The caller
 * alone uses it, and nothing is in flight in it. */
void block_join(void *entries);

/* A new block with `nr` zeroed entries of item_size bytes, for no queue. Returns the first entry,
 * at a multiple of 128 bytes; NULL: no memory. Takes a lock; makes system calls. */
void *block_alloc(enum spool_block_kind kind, uint32_t nr, uint32_t item_size);

/* The entries in *at, which are made by block_alloc() if it is NULL. NULL: no memory. Any thread;
 * of threads that make them at once one succeeds, and the others' block stays unused. */
void *block_get(void *_Atomic *at, enum spool_block_kind kind, uint32_t nr, uint32_t item_size);

/* Whether the block of `entries` is in the open trace, which therefore counts what is pushed. Any
 * thread. */
bool block_is_traced(const void *entries);

/* The block of entries that block_alloc() returned. */
static inline struct spool_block *block_of(const void *entries)
{
	return (struct spool_block *)(uintptr_t)entries - 1;
}

/* In the child of a fork: replaces the blocks, which are shared with the parent, by a copy of their
 * present content. */
void block_forked(void);

#endif
