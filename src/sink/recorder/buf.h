/* SPDX-License-Identifier: MIT */
/* buf.h - the open chunk of a thread
 *
 *  operation   | buf_reserve, buf_commit | drain
 *  ------------+-------------------------+------------------------------------------
 *  buf_reserve | owner thread alone      | any: drains see committed records
 *
 * A thread takes a buf at its first event and releases it at its end. Each record contains its
 * thread. `busy` is set while the owner writes: it protects against signal handlers on the same
 * thread, and lets the end of the trace wait for threads that are writing a record.
 */
#ifndef RTL_RECORDER_BUF_H
#define RTL_RECORDER_BUF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/lane.h"
#include "event/thread.h"
#include "spool/format.h"

#define BUF_MAX 4096u /* threads that record at the same time */
#define BUF_RESERVE 4 /* slots reserved for records that name things: strings, kernels, queues */
/* Free slots, as long as more can be prepared: what threads fill until the life thread runs. */
#define BUF_AHEAD 8u

struct shape_cache;

struct buf {
	struct lane lane;
	/* owner thread only */
	uint32_t slot;
	uint32_t tid;
	uint32_t nr_shapes;		    /* in this chunk */
	const struct rec_shape *last_shape; /* of the last dispatch in this chunk; NULL: none */
	uint64_t seq;
	struct thread_known *known; /* the thread of the last record */
	struct shape_cache *shapes; /* NULL: none taken yet */
	bool is_meta;		    /* may use the reserve */
	bool was_closed;	    /* since its last record: buf_close_all() */
	/* written by the thread that has revoked it */
	uint64_t idle_seq; /* the chunk's state at the last buf_reclaim() */
	uint32_t idle_records;
	_Atomic uint32_t next; /* on the stack of free bufs: index + 1 */
};

/* Bufs take chunks of `h` from now on. Before threads record, or after buf_close_all(). 0 or
 * -ENOMEM. */
int buf_init(struct spool_header *h);

/* A buf for `tid`; NULL when BUF_MAX are in use. Any thread. */
struct buf *buf_take(uint32_t tid);

/* Releases the buf: the thread ends. The next thread continues its open chunk, so that short
 * threads don't take a slot each. Owner thread. */
void buf_give(struct buf *b);

/* Closes the open chunk and opens a new one. false: there is no free slot. */
bool buf_next(struct buf *b);

/* Closes the open chunk; the slot of an empty one becomes free. */
void buf_seal(struct buf *b);

/* Seals chunks without a new record since the last call, so that many threads with few records
 * don't use up the slots. Life thread; takes a few microseconds, in which owners wait. Does nothing
 * if the kernel has no barrier. */
void buf_reclaim(void);

/* Waits until each record that was being written is complete, or its owner has seen what the caller
 * stored before; half a second at most. */
void buf_pass_all(void);

/* Seals all chunks: no thread begins a record any more. Waits for those that are in one, with a
 * bound. false: some still are; what they write is lost, and they take new chunks after that. */
bool buf_close_all(void);

/* `b` is revoked: waits while buf_reclaim() or buf_close_all() examines it. Owner thread, busy. */
void buf_wait(struct buf *b);

/* Whether any thread is writing a record. Any thread. */
bool buf_any_busy(void);

/* Records of a type written to the open trace. Any thread. */
uint64_t buf_nr_written(enum rec_type type);

/* Chunks sealed so far by this process. Any thread. */
uint64_t buf_nr_sealed(void);

/* Whether more than half of the prepared slots are in use. */
static inline bool buf_is_low(const struct spool_header *h)
{
	/* relaxed: hints, here and below */
	return atomic_load_explicit(&h->nr_free, memory_order_relaxed) <
	       atomic_load_explicit(&h->nr_prepared, memory_order_relaxed) / 2;
}

/* Whether the life thread is to prepare slots. */
static inline bool buf_wants_slots(const struct spool_header *h)
{
	return atomic_load_explicit(&h->nr_prepared, memory_order_relaxed) < h->nr_slots &&
	       (atomic_load_explicit(&h->nr_free, memory_order_relaxed) < BUF_AHEAD ||
		buf_is_low(h));
}

static inline size_t buf_space(const struct buf *b)
{
	return (size_t)(b->lane.end - b->lane.pos);
}

/* HOT: space for `size` bytes (a multiple of 8, at most REC_MAX_SIZE * 2); NULL if there is none.
 */
static inline void *buf_reserve(struct buf *b, uint32_t size)
{
	if (RTL_UNLIKELY(buf_space(b) < size) && !buf_next(b))
		return NULL;
	return b->lane.pos;
}

/* HOT: the reserved bytes contain `nr` complete records, the last one of `type`. */
static inline void buf_commit(struct buf *b, uint32_t size, uint32_t nr, enum rec_type type)
{
	if (RTL_TESTPOINT_SWALLOWS(nr == 1 ? type : 0)) {
		lane_count(b->lane.written, type);
		return;
	}
	b->lane.pos += size;
	b->lane.nr_records += nr;
	/* pairs with the acquire in drain.c and in readers: the records come before their count */
	atomic_store_explicit(&b->lane.chunk->committed,
			      (uint32_t)(b->lane.pos - (uint8_t *)(b->lane.chunk + 1)),
			      memory_order_release);
	lane_count(b->lane.written, type);
}

#endif
