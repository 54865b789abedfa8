/* SPDX-License-Identifier: MIT */
/* lane.h - lets a source write records directly into its thread's open chunk
 *
 * Usually a source emits an event on the bus, and the recorder encodes it. While the recorder is
 * the only sink that wants calls, the source may write the record itself, into the chunk that the
 * recorder keeps open for the thread. That takes half as many instructions. The recorder gives a
 * thread its lane after the thread's first API event, which also wrote the record of the thread,
 * and removes it when the thread ends.
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
#include "base/testpoint.h"
#include "spool/format.h"

struct lane {
	/* owner thread only */
	uint8_t *pos; /* next free byte of the chunk's payload */
	uint8_t *end;
	struct chunk_header *chunk; /* NULL: none is open */
	uint32_t nr_records;
	struct spool_written *written; /* counts of this buf's records */
	/* atomic */
	_Atomic uint32_t busy;	  /* the owner is writing a record */
	_Atomic uint32_t revoked; /* buf_reclaim() examines the chunk: the owner must not write */
	/* Whether to record. On a page that the kernel clears in every forked child. */
	const _Atomic int *gate;
};

#define LANE_OPEN 1 /* *gate */

/* The lane of threads without one: always busy. */
extern RTL_HIDDEN struct lane lane_none;

/* HOT: begins a record of `size` bytes at l->pos, in the caller's own lane. false: not enough
 * space; emit an event instead. Followed by lane_end(). For calls that began while no bit of
 * SPECIAL_FOR_CALLS was set; a sink attached in between does not get them. */
static RTL_INLINE bool lane_begin(struct lane *l, uint32_t size)
{
	/* relaxed: only this thread writes it. Set if a signal handler interrupted lane_begin(),
	 * and always in lane_none */
	if (RTL_UNLIKELY(atomic_load_explicit(&l->busy, memory_order_relaxed)))
		return false;
	/* relaxed and no fence: the barrier_all() of the waiting thread replaces it */
	atomic_store_explicit(&l->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* acquire: pairs with the release in buf_reclaim(), which may have closed the chunk */
	if (RTL_UNLIKELY(atomic_load_explicit(&l->revoked, memory_order_acquire) ||
			 (size_t)(l->end - l->pos) < size ||
			 atomic_load_explicit(l->gate, memory_order_relaxed) != LANE_OPEN)) {
		atomic_store_explicit(&l->busy, 0, memory_order_release);
		return false;
	}
	return true;
}

/* HOT: counts a record of `type` that has been written: a reader misses it if it gets lost after
 * that (store/flow.h). After `committed`, so that a process which dies between the two misses none.
 * Owner thread. */
static RTL_INLINE void lane_count(struct spool_written *w, enum rec_type type)
{
	uint64_t n = atomic_load_explicit(&w->count[type], memory_order_relaxed); /* owner */

	atomic_store_explicit(&w->count[type], n + 1, memory_order_relaxed);
}

/* HOT: completes the record of lane_begin(); `end`: where it ends. */
static RTL_INLINE void lane_end(struct lane *l, uint8_t *end)
{
	if (RTL_TESTPOINT_SWALLOWS(REC_API)) {
		lane_count(l->written, REC_API);
		atomic_store_explicit(&l->busy, 0, memory_order_release);
		return;
	}
	RTL_TESTPOINT_TID(&((struct rec_head *)(void *)l->pos)->id);
	l->pos = end;
	l->nr_records++;
	/* pairs with the acquire in drain.c and in readers: the record comes before its count */
	atomic_store_explicit(&l->chunk->committed, (uint32_t)(end - (uint8_t *)(l->chunk + 1)),
			      memory_order_release);
	lane_count(l->written, REC_API);
	/* release: pairs with buf_any_busy() and buf_reclaim() */
	atomic_store_explicit(&l->busy, 0, memory_order_release);
}

#endif
