/* SPDX-License-Identifier: MIT */
/* lane.h - records that a source writes into its thread's open chunk itself
 *
 * The usual way of a record: the source emits an event on the bus, and the recorder encodes it. While the recorder
 * is the only sink, the source may write the record itself, into the chunk that the recorder keeps open for the
 * thread. That takes half as many instructions. The recorder gives a thread its lane after the thread's first API
 * event, which also wrote the record of the thread, and takes it away when the thread ends.
 *
 *  operation    | lane_begin, lane_end | drain, buf_reclaim()
 *  -------------+----------------------+---------------------
 *  lane_begin   | the thread alone     | any, see sink/recorder/buf.h
 */
#ifndef RTL_EVENT_LANE_H
#define RTL_EVENT_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/format.h"
#include "event/special.h"
#include "event/thread.h"

struct lane {
	/* owner thread only */
	uint8_t *pos; /* next free byte of the chunk's payload */
	uint8_t *end;
	struct chunk_header *chunk; /* NULL: none is open */
	uint32_t nr_records;
	/* atomic */
	_Atomic uint32_t busy;	  /* the owner is in the middle of a record */
	_Atomic uint32_t revoked; /* buf_reclaim() looks at the chunk: the owner must not write */
	/* Whether to record. On a page that the kernel clears in the child of any fork. */
	const _Atomic int *gate;
};

#define LANE_OPEN 1 /* *gate */

/* HOT: room for a record of `size` bytes in the lane of `t`; NULL: emit an event instead. Followed by lane_end(). */
static RTL_INLINE void *lane_begin(const struct thread *t, uint32_t size)
{
	struct lane *l = t->lane;

	/* relaxed: only a signal handler on this thread can see `busy` set here */
	if (RTL_UNLIKELY(!l || special_any(SPECIAL_FOR_CALLS) ||
			 atomic_load_explicit(&l->busy, memory_order_relaxed)))
		return NULL;
	/* relaxed and no fence: barrier_all() of who waits for it stands in for it */
	atomic_store_explicit(&l->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* acquire: pairs with the release in buf_reclaim(), which may have closed the chunk */
	if (RTL_UNLIKELY(atomic_load_explicit(&l->revoked, memory_order_acquire) ||
			 (size_t)(l->end - l->pos) < size ||
			 atomic_load_explicit(l->gate, memory_order_relaxed) != LANE_OPEN)) {
		atomic_store_explicit(&l->busy, 0, memory_order_release);
		return NULL;
	}
	return l->pos;
}

/* HOT: the record of lane_begin() is whole. */
static RTL_INLINE void lane_end(const struct thread *t, uint32_t size)
{
	struct lane *l = t->lane;

	l->pos += size;
	l->nr_records++;
	/* pairs with the acquire in drain.c and in readers: the record comes before its count */
	atomic_store_explicit(&l->chunk->committed, (uint32_t)(l->pos - (uint8_t *)(l->chunk + 1)),
			      memory_order_release);
	/* release: pairs with buf_any_busy() and buf_reclaim() */
	atomic_store_explicit(&l->busy, 0, memory_order_release);
}

#endif
