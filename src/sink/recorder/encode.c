/* SPDX-License-Identifier: MIT */
/* encode.c - encodes events as records, see spool/format.h
 *
 * Most encoders are generated from the description of records. Written by hand are those of
 * dispatches, which share a shape and have two forms, of strings, which are split, and of markers,
 * whose long messages are strings.
 *
 * Owns:     the shape caches: the shapes that the chunk of a buf contains.
 * Threads:  the owner of the buf.
 * Hot path: all of it; no lock, no allocation, no system call.
 * Format:   spool/format.h.
 */
#include "sink/recorder/encode.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/event.h"
#include "sink/recorder/buf.h"

#define NR_CACHES 4 /* the life thread, the one that stops, and two for tests */
/* Twice the maximum number of shapes in a chunk: a free entry is found near the first one tried,
 * and none is ever evicted. A power of two. */
#define CACHE_SIZE 2048u
_Static_assert(CACHE_SIZE >= 2 * (CHUNK_PAYLOAD /
				  (sizeof(struct rec_shape) + sizeof(struct rec_dispatch))),
	       "a shape cache that is at most half full");

/* Four in a cache line. The shape itself is in the chunk. */
struct shape_entry {
	uint64_t seq;  /* the chunk that contains it; another one, or 0: free */
	uint32_t hash; /* of the shape */
	uint32_t at;   /* bytes from the chunk's header to its record */
};

struct shape_cache {
	_Atomic uint32_t taken;
	struct shape_entry entry[CACHE_SIZE];
};

static struct shape_cache caches[NR_CACHES];

static uint32_t pad8(uint32_t size)
{
	return (size + 7) & ~7u;
}

static struct rec_head head(enum rec_type type, uint32_t size, uint32_t flags, uint32_t id)
{
	struct rec_head h = { (uint8_t)type, (uint8_t)(size / 8), (uint16_t)flags, id };

	return h;
}

/* Copies text behind a record and clears the rest of the last 8 bytes. */
static void put_text(char *to, const char *text, uint32_t size)
{
	uint32_t padded = pad8(size);

	if (padded)
		memset(to + padded - 8, 0, 8);
	memcpy(to, text, size);
}

static bool put_pieces(struct buf *b, uint32_t id, const char *text, uint32_t total)
{
	uint32_t offset = 0;

	do {
		uint32_t piece = total - offset < REC_STRING_PIECE ? total - offset :
								     REC_STRING_PIECE;
		uint32_t size = (uint32_t)sizeof(struct rec_string) + pad8(piece);
		struct rec_string *r = buf_reserve(b, size);

		if (!r)
			return false;
		r->h = head(REC_STRING, size, 0, id);
		r->total = total;
		r->offset = offset;
		put_text(r->bytes, text + offset, piece);
		buf_commit(b, size, 1, REC_STRING);
		offset += piece;
	} while (offset < total);
	return true;
}

static RTL_COLD void put_thread(struct buf *b, struct thread_known *k, uint32_t tid)
{
	struct rec_thread *r;
	uint32_t recorded = 0;
	uint64_t name[2];

	/* relaxed: of concurrent threads one writes the record */
	if (!atomic_compare_exchange_strong_explicit(&k->recorded, &recorded, 1,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	r = buf_reserve(b, sizeof(*r));
	if (!r) {
		atomic_store_explicit(&k->recorded, 0, memory_order_relaxed);
		return;
	}
	name[0] = atomic_load_explicit(&k->name[0], memory_order_relaxed);
	name[1] = atomic_load_explicit(&k->name[1], memory_order_relaxed);
	r->h = head(REC_THREAD, sizeof(*r), 0, tid);
	r->first_ns = atomic_load_explicit(&k->first_ns, memory_order_relaxed);
	memcpy(r->name, name, sizeof(r->name));
	buf_commit(b, sizeof(*r), 1, REC_THREAD);
}

/* Writes the record of a thread unless there is one. */
static RTL_NOINLINE void put_new_thread(struct buf *b, uint32_t tid)
{
	struct thread_known *k = thread_find(tid);

	if (!k)
		return;
	b->known = k;
	if (!atomic_load_explicit(&k->recorded, memory_order_relaxed))
		put_thread(b, k, tid);
}

static inline void put_thread_once(struct buf *b, uint32_t tid)
{
	const struct thread_known *k = b->known;

	/* relaxed: the kernel may give the tid to another thread; that clears `recorded`, which
	 * becomes visible here eventually */
	if (RTL_UNLIKELY(!k || atomic_load_explicit(&k->tid, memory_order_relaxed) != tid ||
			 !atomic_load_explicit(&k->recorded, memory_order_relaxed)))
		put_new_thread(b, tid);
}

static void take_cache(struct buf *b)
{
	for (int i = 0; i < NR_CACHES && !b->shapes; i++) {
		/* acquire: pairs with encode_done() */
		if (!atomic_exchange_explicit(&caches[i].taken, 1, memory_order_acquire))
			b->shapes = &caches[i];
	}
}

void encode_done(struct buf *b)
{
	struct shape_cache *c = b->shapes;

	b->shapes = NULL;
	/* release: pairs with take_cache(); old entries stay valid, chunk numbers are unique */
	if (c)
		atomic_store_explicit(&c->taken, 0, memory_order_release);
}

void encode_restart(void)
{
	for (int i = 0; i < NR_CACHES; i++)
		memset(caches[i].entry, 0, sizeof(caches[i].entry));
}

#define SHAPE_FROM(type) offsetof(struct type, kernel)
#define SHAPE_SIZE (offsetof(struct rec_shape, reserved2) - SHAPE_FROM(rec_shape))
#define SHAPE_ALIKE(member)                                                                        \
	_Static_assert(offsetof(struct rec_shape, member) - SHAPE_FROM(rec_shape) ==               \
			       offsetof(struct event_dispatch, member) -                           \
				       SHAPE_FROM(event_dispatch),                                 \
		       #member)
SHAPE_ALIKE(queue);
SHAPE_ALIKE(grid);
SHAPE_ALIKE(group);
SHAPE_ALIKE(reserved);
SHAPE_ALIKE(private_size);
SHAPE_ALIKE(group_size);

/* HOT: compares words without a branch each: consecutive dispatches mostly have the same shape. */
static RTL_INLINE bool is_shape(const struct rec_shape *s, const struct event_dispatch *d)
{
	uint64_t a[SHAPE_SIZE / 8], b[SHAPE_SIZE / 8], differs;
	uint32_t last_a, last_b;

	_Static_assert(SHAPE_SIZE == sizeof(a) + sizeof(last_a), "words");
	memcpy(a, &s->kernel, sizeof(a));
	memcpy(b, &d->kernel, sizeof(b));
	last_a = s->group_size;
	last_b = d->group_size;
	differs = last_a ^ last_b;
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

static uint32_t hash_shape(const struct event_dispatch *d)
{
	uint64_t h = d->kernel + ((uint64_t)d->queue << 32);

	h = (h ^ d->grid[0] ^ (uint64_t)d->grid[1] << 20 ^ (uint64_t)d->grid[2] << 40) *
	    UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ d->group[0] ^ d->group_size ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

/* The cache entry of the shape, or the free entry for it. NULL: neither. */
static struct shape_entry *find_shape(struct buf *b, const struct event_dispatch *d, uint32_t hash,
				      const struct rec_shape **found)
{
	uint32_t i = hash % CACHE_SIZE;

	*found = NULL;
	if (RTL_UNLIKELY(!b->shapes)) {
		take_cache(b);
		if (!b->shapes)
			return NULL;
	}
	if (!b->lane.chunk)
		return &b->shapes->entry[i]; /* the next chunk will be empty */
	for (;; i = (i + 1) % CACHE_SIZE) {
		struct shape_entry *e = &b->shapes->entry[i];
		const struct rec_shape *s;

		if (e->seq != b->seq)
			return e;
		s = (const void *)((const uint8_t *)b->lane.chunk + e->at);
		if (e->hash == hash && is_shape(s, d)) {
			*found = s;
			return e;
		}
	}
}

/* Reserves space for a dispatch of `size` bytes, and for its shape before it if the chunk lacks
 * that. Returns the dispatch's address; *used: total bytes, *nr: records. */
static uint8_t *reserve_dispatch(struct buf *b, const struct event_dispatch *d, uint32_t size,
				 uint32_t *shape, uint32_t *used, uint32_t *nr)
{
	const struct rec_shape *found = b->last_shape;
	struct shape_entry *e;
	struct rec_shape *s;
	uint32_t hash;

	*nr = 1;
	*used = size;
	if (RTL_LIKELY(found && buf_space(b) >= size && is_shape(found, d))) {
		*shape = found->h.id;
		return b->lane.pos;
	}
	hash = hash_shape(d);
	e = find_shape(b, d, hash, &found);
	if (found && buf_space(b) >= size) {
		b->last_shape = found;
		*shape = found->h.id;
		return b->lane.pos;
	}
	/* a new chunk has no shapes: both are written, and fit */
	s = buf_reserve(b, size + (uint32_t)sizeof(*s));
	if (!s)
		return NULL;
	s->h = head(REC_SHAPE, sizeof(*s), 0, b->nr_shapes);
	s->kernel = d->kernel;
	s->queue = d->queue;
	memcpy(s->grid, d->grid, sizeof(s->grid));
	memcpy(s->group, d->group, sizeof(s->group));
	s->reserved = 0;
	s->private_size = d->private_size;
	s->group_size = d->group_size;
	s->reserved2 = 0;
	if (e) {
		if (!b->nr_shapes)
			e = &b->shapes->entry[hash % CACHE_SIZE];
		e->seq = b->seq;
		e->hash = hash;
		e->at = (uint32_t)((uint8_t *)s - (uint8_t *)b->lane.chunk);
	}
	b->last_shape = s;
	*shape = b->nr_shapes++;
	*used = size + (uint32_t)sizeof(*s);
	*nr = 2;
	return b->lane.pos + sizeof(*s);
}

static bool is_compact(const struct event_dispatch *d)
{
	return d->end_ticks >= d->begin_ticks && d->end_ticks - d->begin_ticks <= UINT32_MAX &&
	       d->end_ns >= d->begin_ns && d->end_ns - d->begin_ns <= UINT32_MAX &&
	       (d->packet | d->correlation | d->marker) <= UINT32_MAX;
}

/* The flag of an end before its begin. */
static uint32_t time_flags(uint32_t flags, uint64_t begin, uint64_t end)
{
	if (end < begin && !(flags & (REC_F_NO_TIME | REC_F_UNFINISHED)))
		flags |= REC_F_INVERTED;
	return flags;
}

/* Submitted while recording was paused, or not wanted by the user; other sinks do want it. */
static RTL_COLD bool leave_out(uint64_t correlation)
{
	bus_loss(corr_why_left_out(correlation), 1);
	return true;
}

static bool put_dispatch(struct buf *b, const struct event_dispatch *d)
{
	bool compact = is_compact(d);
	uint32_t flags = time_flags(d->flags, d->begin_ns, d->end_ns);
	uint32_t size = compact ? sizeof(struct rec_dispatch) : sizeof(struct rec_dispatch_wide);
	uint64_t correlation = d->correlation;
	uint32_t shape, used, nr;
	uint8_t *at_dispatch;

	if (RTL_UNLIKELY(correlation & EVENT_LEFT_OUT))
		return leave_out(correlation);
	if (!(d->flags & REC_F_INTERNAL) && RTL_TESTPOINT_SWALLOWS(TESTPOINT_CORRELATION))
		correlation = 0;
	put_thread_once(b, d->tid);
	at_dispatch = reserve_dispatch(b, d, size, &shape, &used, &nr);
	if (RTL_UNLIKELY(!at_dispatch))
		return false;
	if (compact) {
		struct rec_dispatch *r = (struct rec_dispatch *)(void *)at_dispatch;

		r->h = head(REC_DISPATCH, size, flags, d->tid);
		r->begin_ticks = d->begin_ticks;
		r->begin_ns = d->begin_ns;
		r->ticks = (uint32_t)(d->end_ticks - d->begin_ticks);
		r->ns = (uint32_t)(d->end_ns - d->begin_ns);
		r->shape = shape;
		r->packet = (uint32_t)d->packet;
		r->correlation = (uint32_t)correlation;
		r->marker = (uint32_t)d->marker;
	} else {
		struct rec_dispatch_wide *r = (struct rec_dispatch_wide *)(void *)at_dispatch;

		r->h = head(REC_DISPATCH_WIDE, size, flags, d->tid);
		r->begin_ticks = d->begin_ticks;
		r->end_ticks = d->end_ticks;
		r->begin_ns = d->begin_ns;
		r->end_ns = d->end_ns;
		r->packet = d->packet;
		r->correlation = correlation;
		r->marker = d->marker;
		r->shape = shape;
		r->reserved = 0;
	}
	buf_commit(b, used, nr, compact ? REC_DISPATCH : REC_DISPATCH_WIDE);
	return true;
}

static bool put_string(struct buf *b, const struct event_string *e)
{
	return put_pieces(b, e->id, e->text, e->size);
}

static bool put_marker(struct buf *b, const struct event_marker *m)
{
	bool inlined = m->size <= REC_MARKER_TEXT_MAX;
	uint32_t size = (uint32_t)sizeof(struct rec_marker) + (inlined ? pad8(m->size) : 0);
	uint32_t text = m->size;
	struct rec_marker *r;

	put_thread_once(b, m->tid);
	if (!inlined) {
		text = bus_string_id();
		if (!put_pieces(b, text, m->text, m->size))
			return false;
	}
	r = buf_reserve(b, size);
	if (RTL_UNLIKELY(!r))
		return false;
	r->h = head(REC_MARKER, size, inlined ? REC_F_TEXT : 0, m->tid);
	r->time_ns = m->time_ns;
	r->marker = m->marker;
	r->parent = m->parent;
	r->kind = m->kind;
	r->level = m->level;
	r->text_size = text;
	r->reserved = 0;
	if (inlined)
		put_text(r->text, m->text, m->size);
	buf_commit(b, size, 1, REC_MARKER);
	return true;
}

#include "records_encode_gen.h"
