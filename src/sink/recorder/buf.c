/* SPDX-License-Identifier: MIT */
/* buf.c - threads' chunks: opened, sealed, released
 *
 * Owns:     the bufs.
 * Threads:  buf_take() any; the rest the owner of the buf.
 * Hot path: buf_reserve(), buf_commit(), in buf.h; buf_next() once in a chunk.
 * Fails:    no free slot: false, the caller counts.
 * Not here: the layout of records (encode.c), emptying chunks (spool/drain.c).
 */
#include "sink/recorder/buf.h"

#include <errno.h>
#include <time.h>

#include "base/alloc.h"
#include "base/barrier.h"
#include "base/sys.h"
#include "base/testpoint.h"
#include "event/block.h"
#include "event/life.h"
#include "spool/slot.h"

#define ABANDONED 2 /* lane.revoked: the owner forgets its chunk */
#define CLOSE_WAIT_NS 1000000
#define CLOSE_TRIES 2000
#define PASS_TRIES 500

/* set in init */
static struct spool_header *header; /* of the open trace */
static struct buf *bufs;	    /* constant */
/* atomic */
static _Atomic uint64_t free_bufs; /* tag << 32 | index + 1 */
static _Atomic uint32_t nr_used;   /* bufs [0, nr_used) were taken at least once */
static _Atomic uint64_t nr_sealed;

/* Counts of the records that each buf has written, in blocks of four pages. */
#define COUNTS_GROUP 62u
static void *_Atomic counts[BUF_MAX / COUNTS_GROUP + 1];

static struct spool_written *written_of(uint32_t i)
{
	struct spool_written *group = block_get(&counts[i / COUNTS_GROUP], SPOOL_BLOCK_WRITTEN,
						COUNTS_GROUP, sizeof(*group));

	return group ? &group[i % COUNTS_GROUP] : NULL;
}

int buf_init(struct spool_header *h)
{
	/* kept from trace to trace */
	if (!bufs)
		bufs = alloc_pages(BUF_MAX * sizeof(*bufs));
	if (!bufs)
		return -ENOMEM;
	header = h;
	return 0;
}

static struct buf *pop(void)
{
	/* acquire: pairs with push() */
	uint64_t head = atomic_load_explicit(&free_bufs, memory_order_acquire);

	while ((uint32_t)head) {
		struct buf *b = &bufs[(uint32_t)head - 1];
		uint64_t next = atomic_load_explicit(&b->next, memory_order_relaxed);

		next |= (head & ~UINT64_C(0xffffffff)) + (UINT64_C(1) << 32);
		if (atomic_compare_exchange_weak_explicit(&free_bufs, &head, next,
							  memory_order_acquire,
							  memory_order_acquire))
			return b;
	}
	return NULL;
}

static void push(struct buf *b)
{
	uint64_t head = atomic_load_explicit(&free_bufs, memory_order_relaxed);
	uint64_t mine;

	do {
		atomic_store_explicit(&b->next, (uint32_t)head, memory_order_relaxed);
		mine = (head & ~UINT64_C(0xffffffff)) + (UINT64_C(1) << 32) + (uint64_t)(b - bufs) +
		       1;
		/* release: pairs with pop() */
	} while (!atomic_compare_exchange_weak_explicit(&free_bufs, &head, mine,
							memory_order_release,
							memory_order_relaxed));
}

struct buf *buf_take(uint32_t tid)
{
	struct buf *b = pop();
	uint32_t used;

	if (!b) {
		used = atomic_load_explicit(&nr_used, memory_order_relaxed);
		do {
			if (used >= BUF_MAX)
				return NULL;
			/* relaxed: only an index; the memory behind it was never used */
		} while (!atomic_compare_exchange_weak_explicit(&nr_used, &used, used + 1,
								memory_order_relaxed,
								memory_order_relaxed));
		b = &bufs[used];
	}
	b->lane.written = written_of((uint32_t)(b - bufs));
	if (!b->lane.written) {
		push(b);
		return NULL;
	}
	b->tid = tid;
	b->known = NULL;
	return b;
}

void buf_give(struct buf *b)
{
	push(b);
}

static void forget_chunk(struct buf *b)
{
	b->lane.chunk = NULL;
	b->last_shape = NULL;
	b->lane.pos = b->lane.end = NULL;
}

void buf_seal(struct buf *b)
{
	uint32_t open = SLOT_OPEN;
	struct slot_desc *desc;

	if (!b->lane.chunk)
		return;
	desc = slot_desc(header, b->slot);
	if (b->lane.pos == (uint8_t *)(b->lane.chunk + 1)) {
		/* the state decides: a final drain may have taken the slot */
		if (atomic_compare_exchange_strong_explicit(&desc->state, &open, SLOT_FREE,
							    memory_order_acq_rel,
							    memory_order_relaxed))
			slot_push(header, b->slot);
	} else {
		b->lane.chunk->nr_records = b->lane.nr_records;
		RTL_TESTPOINT("buf_seal");
		/* release: pairs with the acquire in drain.c; fails if a final drain has taken the
		 * slot */
		atomic_compare_exchange_strong_explicit(&desc->state, &open, SLOT_SEALED,
							memory_order_release, memory_order_relaxed);
		/* relaxed: a count that the life thread reads */
		atomic_fetch_add_explicit(&nr_sealed, 1, memory_order_relaxed);
		life_wake();
	}
	forget_chunk(b);
}

bool buf_next(struct buf *b)
{
	/* relaxed: a hint, which decides only the order of attempts */
	uint32_t nr_free = atomic_load_explicit(&header->nr_free, memory_order_relaxed);
	struct chunk_header *chunk;
	uint32_t slot;

	if (buf_wants_slots(header) || buf_is_low(header))
		life_kick();
	if (nr_free <= BUF_RESERVE && !b->is_meta)
		return false;
	slot = slot_pop(header);
	if (slot == SLOT_NONE)
		return false;
	buf_seal(b);
	chunk = slot_chunk(header, slot);
	/* relaxed: no thread reads a slot that is not open; the number need only be unique */
	b->seq = atomic_fetch_add_explicit(&header->next_seq, 1, memory_order_relaxed) + 1;
	atomic_store_explicit(&chunk->committed, 0, memory_order_relaxed);
	chunk->magic = CHUNK_MAGIC;
	chunk->crc = 0;
	chunk->seq = b->seq;
	chunk->tid = b->tid;
	chunk->nr_records = 0;
	chunk->stored = 0;
	RTL_TESTPOINT("buf_open");
	/* release: pairs with the acquire in drain.c: the chunk's header is complete */
	atomic_store_explicit(&slot_desc(header, slot)->state, SLOT_OPEN, memory_order_release);
	b->slot = slot;
	b->lane.chunk = chunk;
	b->lane.pos = (uint8_t *)(chunk + 1);
	b->lane.end = b->lane.pos + CHUNK_PAYLOAD;
	b->lane.nr_records = 0;
	b->nr_shapes = 0;
	b->last_shape = NULL;
	return true;
}

/* A buf that is revoked and not busy: this thread has it exclusively. */
static void reclaim_one(struct buf *b)
{
	if (!b->lane.chunk || b->is_meta)
		return;
	if (b->idle_seq == b->seq && b->idle_records == b->lane.nr_records) {
		buf_seal(b);
		return;
	}
	b->idle_seq = b->seq;
	b->idle_records = b->lane.nr_records;
}

void buf_reclaim(void)
{
	uint32_t used = atomic_load_explicit(&nr_used, memory_order_acquire);

	for (uint32_t i = 0; i < used; i++)
		atomic_store_explicit(&bufs[i].lane.revoked, 1, memory_order_relaxed);
	RTL_TESTPOINT("buf_reclaim");
	/* an owner seen as not busy after this sees `revoked` before it writes */
	if (barrier_all()) {
		for (uint32_t i = 0; i < used; i++) {
			/* acquire: pairs with the release that ends a record */
			if (!atomic_load_explicit(&bufs[i].lane.busy, memory_order_acquire))
				reclaim_one(&bufs[i]);
		}
	}
	for (uint32_t i = 0; i < used; i++) {
		/* pairs with the acquire of the owner, in record() and buf_wait() */
		atomic_store_explicit(&bufs[i].lane.revoked, 0, memory_order_release);
	}
}

/* Seals the chunks of the bufs whose owner is not busy. Returns how many are. `last`: gives those
 * up. */
static uint32_t close_idle(bool last)
{
	const struct timespec pause = { 0, CLOSE_WAIT_NS };
	uint32_t used = atomic_load_explicit(&nr_used, memory_order_acquire), nr_busy = 0;

	for (uint32_t i = 0; i < used; i++)
		atomic_store_explicit(&bufs[i].lane.revoked, 1, memory_order_relaxed);
	/* an owner seen as not busy after this sees `revoked` before it looks at its chunk */
	if (!barrier_all())
		sys_nap(&pause);
	for (uint32_t i = 0; i < used; i++) {
		struct buf *b = &bufs[i];
		/* acquire: pairs with the release that ends a record. A busy owner may be waiting
		 * for this thread */
		bool busy = atomic_load_explicit(&b->lane.busy, memory_order_acquire);

		if (!busy) {
			buf_seal(b);
			b->was_closed = true;
		}
		nr_busy += busy;
		/* release: pairs with the acquire of the owner */
		atomic_store_explicit(&b->lane.revoked, busy && last ? ABANDONED : 0,
				      memory_order_release);
	}
	/* a buf that was taken meanwhile; its owner has not seen the end of the trace, or leaves it
	 * alone */
	return nr_busy + (atomic_load_explicit(&nr_used, memory_order_acquire) - used);
}

void buf_pass_all(void)
{
	const struct timespec pause = { 0, CLOSE_WAIT_NS };
	uint32_t used = atomic_load_explicit(&nr_used, memory_order_acquire), i = 0;

	/* a record that begins after this is written by an owner that has seen it */
	if (!barrier_all())
		sys_nap(&pause);
	for (int tries = 0; i < used && tries < PASS_TRIES; tries++) {
		/* acquire: pairs with the release that ends a record */
		while (i < used && !atomic_load_explicit(&bufs[i].lane.busy, memory_order_acquire))
			i++;
		if (i < used)
			sys_nap(&pause);
	}
}

bool buf_close_all(void)
{
	const struct timespec pause = { 0, CLOSE_WAIT_NS };

	for (int i = 0; close_idle(i == CLOSE_TRIES) > 0; i++) {
		RTL_TESTPOINT("buf_close");
		if (i == CLOSE_TRIES)
			return false;
		sys_nap(&pause);
	}
	return true;
}

void buf_wait(struct buf *b)
{
	struct timespec pause = { 0, 20000 };
	uint32_t why;

	for (int i = 0; (why = atomic_load_explicit(&b->lane.revoked, memory_order_acquire)) != 0;
	     i++) {
		if (why == ABANDONED) {
			/* a record took so long that its trace was closed meanwhile */
			forget_chunk(b);
			b->was_closed = true;
			atomic_store_explicit(&b->lane.revoked, 0, memory_order_release);
			return;
		}
		/* the other thread may have been preempted */
		if (i < 200)
			RTL_RELAX();
		else
			sys_nap(&pause);
	}
}

bool buf_any_busy(void)
{
	uint32_t used = atomic_load_explicit(&nr_used, memory_order_acquire);

	for (uint32_t i = 0; i < used; i++) {
		/* acquire: pairs with the release that ends a record */
		if (atomic_load_explicit(&bufs[i].lane.busy, memory_order_acquire))
			return true;
	}
	return false;
}

uint64_t buf_nr_written(enum rec_type type)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		/* acquire: pairs with block_get() */
		struct spool_written *group =
			atomic_load_explicit(&counts[i], memory_order_acquire);

		for (uint32_t k = 0; group && k < COUNTS_GROUP; k++)
			n += atomic_load_explicit(&group[k].count[type], memory_order_relaxed);
	}
	return n;
}

uint64_t buf_nr_sealed(void)
{
	return atomic_load_explicit(&nr_sealed, memory_order_relaxed);
}
