/* SPDX-License-Identifier: MIT */
/* block.c - memory for operations in flight that outlives the process
 *
 * Owns:     the area, and spool_header.blocks_used of the open trace.
 * Threads:  see block.h.
 * Locks:    LOCK_BLOCKS: appending and moving blocks.
 * Fails:    no address space, or no space in the memory half: blocks are in memory of the process
 *           alone.
 * Not here: what is read from them after the process's end (rest.c).
 *
 * A block at byte `at` of the area is at byte `at` of the blocks of every trace that it is in. A
 * trace maps its blocks
 * twice: in the area, where sources use them, and behind its slots, where its drainer reads them.
 */
#include "event/block.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "event/event.h"

#define AREA_SIZE (UINT64_C(256) << 20)

static struct lock lock = LOCK_INIT(LOCK_BLOCKS);
static char *area RTL_GUARDED_BY(lock);
static uint64_t area_used RTL_GUARDED_BY(lock); /* bytes of blocks */
/* the open trace */
static struct spool_header *header RTL_GUARDED_BY(lock); /* NULL: none with blocks */
static int header_fd RTL_GUARDED_BY(lock);
static block_populate_fn populate RTL_GUARDED_BY(lock);
static bool is_full RTL_GUARDED_BY(lock);
static uint64_t prepared RTL_GUARDED_BY(lock); /* bytes of the area that have space in the trace */
static _Atomic uint64_t nr_traces;	       /* opened so far: the number of the last one */
static _Atomic uint64_t open_trace;	       /* its number; 0: none is open */
/* set in init, constant afterwards */
static const struct block_owner *owner;

void block_set_owner(const struct block_owner *o)
{
	owner = o;
}

void block_hold(bool closing)
{
	if (owner)
		owner->hold(closing);
}

void block_release(void)
{
	if (owner)
		owner->release();
}

static uint64_t used_bytes(const struct spool_header *h)
{
	/* relaxed: written under the lock */
	return atomic_load_explicit(&h->blocks_used, memory_order_relaxed);
}

static struct spool_block *at_offset(void *base, uint64_t at)
{
	return (struct spool_block *)(void *)((char *)base + at);
}

/* The block as the drainer sees it. */
static struct spool_block *in_half(struct spool_header *h, uint64_t at)
{
	return at_offset(h, h->blocks_offset + at);
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

/* Address space without memory; it costs what is used of it. */
RTL_REQUIRES(lock)
static bool reserve(void)
{
	void *p;

	if (area)
		return true;
	p = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED)
		area = p;
	return area != NULL;
}

/* Puts pages of the open trace, or of no file (false), under a range of the area. */
RTL_REQUIRES(lock)
static bool map_range(uint64_t at, uint64_t bytes, bool of_trace)
{
	int flags = MAP_FIXED |
		    (of_trace ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	off_t offset = of_trace ? (off_t)(header->blocks_offset + at) : 0;

	return mmap(area + at, bytes, PROT_READ | PROT_WRITE, flags, of_trace ? header_fd : -1,
		    offset) != MAP_FAILED;
}

/* A plain copy: an entry that is not held may change meanwhile, and readers check what they
 * read. */
RTL_NO_TSAN static void copy_words(void *to, const void *from, uint64_t bytes)
{
	volatile uint64_t *out = to;
	const volatile uint64_t *in = from;

	for (uint64_t i = 0; i < bytes / sizeof(*out); i++)
		out[i] = in[i];
}

/* What is in flight was submitted before this trace: it is left out when it completes, and not
 * missed. */
static void restart(struct spool_block *b)
{
	uint64_t nr = 0;

	if (b->kind == SPOOL_BLOCK_COPIES)
		memset(b->copies, 0, sizeof(b->copies));
	for (uint32_t i = 0; b->kind == SPOOL_BLOCK_QUEUE && i < b->nr_items; i++) {
		struct spool_inflight *e =
			(struct spool_inflight *)(void *)at_offset(b + 1,
								   (uint64_t)i * b->item_size);
		uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

		if (state <= INFLIGHT_FREE || state > INFLIGHT_OURS)
			continue;
		e->correlation |= EVENT_LEFT_OUT;
		nr++;
	}
	if (b->kind == SPOOL_BLOCK_QUEUE)
		atomic_store_explicit(&b->first,
				      atomic_load_explicit(&b->pushed, memory_order_relaxed) - nr,
				      memory_order_relaxed);
}

/* The pages of the block become those of the open trace. No thread writes to it. */
RTL_REQUIRES(lock)
static bool move_in(uint64_t at)
{
	struct spool_block *b = at_offset(area, at), *to = in_half(header, at);

	copy_words(to, b, b->size);
	to->trace = nr_traces;
	/* counts of records begin with the trace */
	if (b->kind == SPOOL_BLOCK_WRITTEN)
		memset(to + 1, 0, (size_t)b->nr_items * b->item_size);
	if (map_range(at, b->size, true)) {
		restart(b);
		return true;
	}
	to->trace = 0;
	atomic_store_explicit(&to->queue, SPOOL_NO_QUEUE, memory_order_relaxed);
	memset(to->copies, 0, sizeof(to->copies));
	memset(to + 1, 0, (size_t)b->nr_items * b->item_size);
	return false;
}

/* All blocks get space in the trace; those that no thread writes to move there. */
RTL_REQUIRES(lock)
static void move_all(void)
{
	uint64_t at = 0;

	while (at < area_used) {
		struct spool_block *b = at_offset(area, at);

		if (b->size > header->blocks_size - at ||
		    populate(header->blocks_offset + at, b->size) != 0)
			break;
		describe(in_half(header, at), (enum spool_block_kind)b->kind, b->nr_items,
			 b->item_size, b->size);
		/* written by threads that record, and there is no trace to write to */
		if (b->kind == SPOOL_BLOCK_WRITTEN ||
		    atomic_load_explicit(&b->held, memory_order_relaxed))
			move_in(at);
		at += b->size;
	}
	is_full =
		at < area_used ||
		!map_range(at,
			   (header->blocks_size < AREA_SIZE ? header->blocks_size : AREA_SIZE) - at,
			   true);
	prepared = at;
	/* release: a reader that sees the end sees the blocks */
	atomic_store_explicit(&header->blocks_used, at, memory_order_release);
}

void block_open(struct spool_header *h, int fd, block_populate_fn fn)
{
	lock_take(&lock);
	nr_traces++;
	if (h->blocks_offset && reserve()) {
		header = h;
		header_fd = fd;
		populate = fn;
		move_all();
		atomic_store_explicit(&open_trace, nr_traces, memory_order_relaxed);
	}
	lock_drop(&lock);
}

/* A copy of the trace's blocks in memory of the process alone. NULL: no memory. */
RTL_REQUIRES(lock)
static char *copy_all(uint64_t used)
{
	char *copy = alloc_pages(used);
	uint64_t at = 0;

	while (copy && at < used) {
		struct spool_block *b = at_offset(area, at), *from = in_half(header, at);

		if (b->trace == nr_traces)
			from = b;
		copy_words(copy + at, from, b->size);
		at += b->size;
	}
	return copy;
}

void block_freeze(void)
{
	uint64_t used;
	char *copy;

	lock_take(&lock);
	used = header ? used_bytes(header) : 0;
	copy = used ? copy_all(used) : NULL;
	if (copy)
		mremap(copy, used, used, MREMAP_MAYMOVE | MREMAP_FIXED, in_half(header, 0));
	if (header)
		map_range(area_used, AREA_SIZE - area_used, false);
	header = NULL;
	atomic_store_explicit(&open_trace, 0, memory_order_relaxed);
	lock_drop(&lock);
}

void block_join(void *entries)
{
	struct spool_block *b = block_of(entries);
	uint64_t at;

	lock_take(&lock);
	at = (uint64_t)((char *)b - area);
	/* the other blocks are in memory that was allocated for them */
	if (header && area && (char *)b >= area && at < used_bytes(header) && b->trace != nr_traces)
		move_in(at);
	lock_drop(&lock);
}

bool block_is_traced(const void *entries)
{
	/* relaxed: a queue that ends while a trace is opened or closed is checked or not */
	uint64_t open = atomic_load_explicit(&open_trace, memory_order_relaxed);

	return open && block_of(entries)->trace == open;
}

/* The most bytes of blocks. */
RTL_REQUIRES(lock)
static uint64_t limit_of_area(void)
{
	return header && header->blocks_size < AREA_SIZE ? header->blocks_size : AREA_SIZE;
}

/* Space in the open trace up to `end`. */
RTL_REQUIRES(lock)
static bool prepare_to(uint64_t end)
{
	if (end <= prepared)
		return true;
	if (is_full || populate(header->blocks_offset + prepared, end - prepared) != 0)
		return false;
	prepared = end;
	return true;
}

bool block_wants_spare(uint64_t bytes)
{
	bool wants;

	if (!lock_try(&lock))
		return false; /* a block is being made: next time */
	wants = header && !is_full && prepared < area_used + bytes &&
		area_used + bytes <= limit_of_area();
	lock_drop(&lock);
	return wants;
}

void block_make_spare(uint64_t bytes)
{
	lock_take(&lock);
	if (header && area_used + bytes <= limit_of_area())
		prepare_to(area_used + bytes);
	lock_drop(&lock);
}

/* Memory for the next block, of the open trace. */
RTL_REQUIRES(lock)
static bool grow_trace(uint64_t size)
{
	return prepare_to(area_used + size);
}

/* The same without a trace. */
RTL_REQUIRES(lock)
static bool grow(uint64_t size)
{
	void *p = alloc_pages(size);

	return p &&
	       mremap(p, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, area + area_used) != MAP_FAILED;
}

/* NULL: there is no space. */
RTL_REQUIRES(lock)
static struct spool_block *append(enum spool_block_kind kind, uint32_t nr, uint32_t item_size,
				  uint64_t size)
{
	struct spool_block *b;

	if (!reserve() || area_used + size > limit_of_area() ||
	    !(header ? grow_trace(size) : grow(size)))
		return NULL;
	b = at_offset(area, area_used);
	describe(b, kind, nr, item_size, size);
	area_used += size;
	if (!header)
		return b;
	b->trace = nr_traces;
	/* release: a reader that sees the end sees the block */
	atomic_store_explicit(&header->blocks_used, area_used, memory_order_release);
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
	uint64_t used = area ? area_used : 0;
	char *copy;

	if (header)
		map_range(used, AREA_SIZE - used, false);
	header = NULL;
	if (!used)
		return;
	copy = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	memcpy(copy, area, used);
	mremap(copy, used, used, MREMAP_MAYMOVE | MREMAP_FIXED, area);
}
