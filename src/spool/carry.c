/* SPDX-License-Identifier: MIT */
/* carry.c - definitions, open ranges and counts of chunks that are removed
 *
 * Owns:     the table and the chunk buffer of each struct carry.
 * Threads:  one for each struct carry.
 * Fails:    no memory, or the file can't be read: nothing is removed then. A damaged chunk is
 *           counted.
 * Not here: writing the chunks and removing the others (drain.c), reading the counts
 * (store/index_evicted.c).
 *
 * Two passes over the same chunks, those carried before and then those that are removed: the first
 * counts, and finds out what ended; the second copies the records that stay.
 */
#include "spool/carry.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "base/fd.h"
#include "spool/pack.h"

#define FIRST_CAP 256u
#define MAX_SHAPES (SLOT_SIZE / (uint32_t)sizeof(struct rec_shape))
#define HEAD ((uint32_t)sizeof(struct chunk_header))

enum item_kind { ITEM_QUEUE = 1, ITEM_OBJECT, ITEM_THREAD, ITEM_CLOCK, ITEM_MARKER };

#define MARKER_BEGUN 1u
#define MARKER_ENDED 2u

struct carry_item {
	uint64_t key; /* kind << 56 | id; 0: empty */
	/* queue: operations removed; thread and clock: records, of which the last one stays;
	 * marker: bits */
	uint64_t count;
	uint64_t submitted; /* of a queue */
	uint64_t end_ns;    /* of a queue or a code object; 0: it lives */
};

enum step { STEP_TOTAL, STEP_TYPES, STEP_QUEUES, STEP_RECORDS, STEP_END };

static uint64_t key_of(enum item_kind kind, uint64_t id)
{
	return (uint64_t)kind << 56 | (id & ((UINT64_C(1) << 56) - 1));
}

static struct carry_item *slot_of(const struct carry *c, uint64_t key)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	while (c->items[at & (c->cap - 1)].key && c->items[at & (c->cap - 1)].key != key)
		at++;
	return &c->items[at & (c->cap - 1)];
}

static int grow(struct carry *c)
{
	struct carry old = *c;

	c->cap = old.cap ? old.cap * 2 : FIRST_CAP;
	c->items = alloc_pages(c->cap * sizeof(*c->items));
	if (!c->items) {
		*c = old;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.items[i].key)
			*slot_of(c, old.items[i].key) = old.items[i];
	if (old.items)
		alloc_pages_free(old.items, old.cap * sizeof(*old.items));
	return 0;
}

/* The item, made if it did not exist; NULL: no memory. */
static struct carry_item *item_of(struct carry *c, enum item_kind kind, uint64_t id)
{
	struct carry_item *item;

	if (c->nr * 2 >= c->cap && grow(c) != 0)
		return NULL;
	item = slot_of(c, key_of(kind, id));
	c->nr += !item->key;
	item->key = key_of(kind, id);
	return item;
}

/* The bytes on disk of the chunk with that head, its head included; 0: there is no chunk. */
static uint32_t size_of(const struct chunk_header *head)
{
	uint32_t size = atomic_load_explicit(&head->committed, memory_order_relaxed);
	uint32_t stored = pack_stored(head);

	if (head->magic != CHUNK_MAGIC || !head->seq || size % 8 || size > CHUNK_PAYLOAD ||
	    stored % 8 || stored > CHUNK_PAYLOAD)
		return 0;
	return HEAD + stored;
}

/* The chunk at or behind `at`, which ends at `upto` at the latest: its size, 0 if there is none, or
 * -errno. Behind damage it is the next one that has a chunk's head. */
static int64_t find_chunk(int fd, uint64_t *at, uint64_t upto, struct chunk_header *head)
{
	for (; *at + HEAD <= upto; *at += 8) {
		int err = fd_pread(fd, head, HEAD, *at);
		uint32_t size = err ? 0 : size_of(head);

		if (err)
			return err;
		if (size && *at + size <= upto)
			return size;
	}
	return 0;
}

int64_t carry_limit(int fd, uint64_t from, uint64_t upto, uint64_t most)
{
	struct chunk_header head;
	uint64_t limit = from;

	for (uint64_t at = from;;) {
		int64_t size = find_chunk(fd, &at, upto, &head);

		if (size < 0)
			return size;
		if (!size || (limit > from && at + (uint64_t)size - from > most))
			return (int64_t)limit;
		at += (uint64_t)size;
		limit = at;
	}
}

static void note_time(struct carry *c, uint64_t ns)
{
	if (!ns || c->in_old)
		return;
	if (!c->total.first_ns || ns < c->total.first_ns)
		c->total.first_ns = ns;
	if (ns > c->total.last_ns)
		c->total.last_ns = ns;
}

static void note_span(struct carry *c, const struct rec_head *rec, uint64_t begin, uint64_t end)
{
	if (rec->flags & (REC_F_NO_TIME | REC_F_INVERTED))
		return;
	note_time(c, begin);
	if (!(rec->flags & REC_F_UNFINISHED))
		note_time(c, end);
}

/* Counts an operation as flow.h does. */
static int note_op(struct carry *c, const struct rec_head *rec)
{
	const struct rec_dispatch *d = (const struct rec_dispatch *)rec;
	const struct rec_dispatch_wide *w = (const struct rec_dispatch_wide *)rec;
	const struct rec_copy *y = (const struct rec_copy *)rec;
	const struct rec_barrier *b = (const struct rec_barrier *)rec;
	uint32_t queue = SPOOL_NO_QUEUE, shape = 0;
	struct carry_item *item;

	if (rec->type == REC_DISPATCH) {
		shape = d->shape;
		note_span(c, rec, d->begin_ns, d->begin_ns + d->ns);
	} else if (rec->type == REC_DISPATCH_WIDE) {
		shape = w->shape;
		note_span(c, rec, w->begin_ns, w->end_ns);
	} else if (rec->type == REC_BARRIER) {
		queue = b->queue;
		note_span(c, rec, b->begin_ns, b->end_ns);
	} else {
		note_span(c, rec, y->begin_ns, y->end_ns);
		if (rec->flags & REC_F_HOST_TIME)
			return 0;
	}
	if (rec->type == REC_DISPATCH || rec->type == REC_DISPATCH_WIDE) {
		if (shape >= c->nr_shapes)
			return 0; /* damaged: a reader leaves it out, too */
		queue = c->queues[shape];
	}
	item = item_of(c, ITEM_QUEUE, queue);
	if (!item)
		return -ENOMEM;
	item->count++;
	return 0;
}

static int note_item(struct carry *c, enum item_kind kind, uint64_t id, uint64_t count,
		     uint64_t submitted, uint64_t end_ns)
{
	struct carry_item *item = item_of(c, kind, id);

	if (!item)
		return -ENOMEM;
	item->count += count;
	item->submitted += submitted;
	if (end_ns)
		item->end_ns = end_ns;
	return 0;
}

static int note_marker(struct carry *c, uint64_t marker, uint32_t bit)
{
	struct carry_item *item = item_of(c, ITEM_MARKER, marker);

	if (!item)
		return -ENOMEM;
	item->count |= bit;
	return 0;
}

/* The counts of what was removed before. */
static int note_carried(struct carry *c, const struct rec_head *rec)
{
	const struct rec_written *w = (const struct rec_written *)rec;

	switch (rec->type) {
	case REC_EVICTED:
		c->total = *(const struct rec_evicted *)rec;
		c->total.earlier_ns = c->total.last_ns;
		return 0;
	case REC_EVICTED_TYPE:
		if (rec->id < SPOOL_WRITTEN_TYPES)
			c->types[rec->id] += w->count;
		return 0;
	case REC_EVICTED_OPS:
		return note_item(c, ITEM_QUEUE, rec->id, w->count, 0, 0);
	default:
		return 0;
	}
}

static void note_shape(struct carry *c, const struct rec_shape *shape)
{
	if (shape->h.id == c->nr_shapes && c->nr_shapes < MAX_SHAPES)
		c->queues[c->nr_shapes++] = shape->queue;
}

/* Pass 1. 0 or -ENOMEM. */
static int note(struct carry *c, const struct rec_head *rec)
{
	const struct rec_end *end = (const struct rec_end *)rec;
	const struct rec_marker *marker = (const struct rec_marker *)rec;
	const struct rec_api *api = (const struct rec_api *)rec;
	const struct rec_scratch *scratch = (const struct rec_scratch *)rec;

	if (!c->in_old && rec->type < SPOOL_WRITTEN_TYPES)
		c->types[rec->type]++;
	switch (rec->type) {
	case REC_SHAPE:
		note_shape(c, (const struct rec_shape *)rec);
		return 0;
	case REC_DISPATCH:
	case REC_DISPATCH_WIDE:
	case REC_COPY:
	case REC_BARRIER:
		return note_op(c, rec);
	case REC_API:
		note_span(c, rec, api->begin_ns, api->end_ns);
		return 0;
	case REC_SCRATCH:
		note_span(c, rec, scratch->begin_ns, scratch->end_ns);
		return 0;
	case REC_MARKER:
		note_time(c, marker->time_ns);
		return marker->kind == REC_MARKER_MARK ?
			       0 :
			       note_marker(c, marker->marker, MARKER_BEGUN);
	case REC_MARKER_END:
		note_time(c, end->time_ns);
		return note_marker(c, end->marker, MARKER_ENDED);
	case REC_QUEUE_END:
		return note_item(c, ITEM_QUEUE, rec->id, 0, 0, end->time_ns);
	case REC_CODE_OBJECT_END:
		return note_item(c, ITEM_OBJECT, rec->id, 0, 0, end->time_ns);
	case REC_SUBMITTED:
		return note_item(c, ITEM_QUEUE, rec->id, 0,
				 ((const struct rec_submitted *)rec)->count, 0);
	case REC_THREAD:
		return note_item(c, ITEM_THREAD, rec->id, 1, 0, 0);
	case REC_CLOCK:
		return note_item(c, ITEM_CLOCK, rec->id, 1, 0, 0);
	default:
		return c->in_old ? note_carried(c, rec) : 0;
	}
}

/* Nothing that is in the trace uses the object any more: it ended before the last but one removal,
 * and of a queue all operations are removed. */
static bool is_over(const struct carry *c, enum item_kind kind, uint64_t id)
{
	const struct carry_item *item = c->cap ? slot_of(c, key_of(kind, id)) : NULL;

	return item && item->key && item->end_ns && item->end_ns <= c->total.earlier_ns &&
	       (kind != ITEM_QUEUE || item->count == item->submitted);
}

/* The last of several. */
static bool is_last(struct carry *c, enum item_kind kind, uint32_t id)
{
	return --slot_of(c, key_of(kind, id))->count == 0;
}

static bool is_marker(const struct carry *c, uint64_t marker, uint32_t bit)
{
	return slot_of(c, key_of(ITEM_MARKER, marker))->count & bit;
}

/* Pass 2: whether the record stays. */
static bool stays(struct carry *c, const struct rec_head *rec)
{
	const struct rec_marker *marker = (const struct rec_marker *)rec;

	switch (rec->type) {
	case REC_STRING:
	case REC_INFO:
	case REC_AGENT:
	case REC_OP:
		return true;
	case REC_CLOCK:
		return is_last(c, ITEM_CLOCK, rec->id);
	case REC_THREAD:
		return is_last(c, ITEM_THREAD, rec->id);
	case REC_QUEUE:
	case REC_QUEUE_END:
	case REC_SUBMITTED:
		return !is_over(c, ITEM_QUEUE, rec->id);
	case REC_CODE_OBJECT:
	case REC_CODE_OBJECT_END:
		return !is_over(c, ITEM_OBJECT, rec->id);
	case REC_KERNEL:
		return !is_over(c, ITEM_OBJECT, ((const struct rec_kernel *)rec)->code_object);
	case REC_MARKER:
		return marker->kind != REC_MARKER_MARK &&
		       !is_marker(c, marker->marker, MARKER_ENDED);
	case REC_MARKER_END:
		return !is_marker(c, ((const struct rec_end *)rec)->marker, MARKER_BEGUN);
	default:
		return false;
	}
}

/* The least size of a record whose fields are read here; 0: of any other. */
static uint32_t least_of(uint8_t type)
{
	switch (type) {
	case REC_SHAPE:
		return sizeof(struct rec_shape);
	case REC_DISPATCH:
		return sizeof(struct rec_dispatch);
	case REC_DISPATCH_WIDE:
		return sizeof(struct rec_dispatch_wide);
	case REC_COPY:
		return sizeof(struct rec_copy);
	case REC_BARRIER:
		return sizeof(struct rec_barrier);
	case REC_API:
		return offsetof(struct rec_api, words);
	case REC_MARKER:
		return offsetof(struct rec_marker, text);
	case REC_MARKER_END:
	case REC_QUEUE_END:
	case REC_CODE_OBJECT_END:
		return sizeof(struct rec_end);
	case REC_SUBMITTED:
		return sizeof(struct rec_submitted);
	case REC_SCRATCH:
		return sizeof(struct rec_scratch);
	case REC_KERNEL:
		return sizeof(struct rec_kernel);
	case REC_EVICTED:
		return sizeof(struct rec_evicted);
	case REC_EVICTED_TYPE:
	case REC_EVICTED_OPS:
		return sizeof(struct rec_written);
	default:
		return sizeof(struct rec_head);
	}
}

static void set_chunk(struct carry *c, uint32_t size)
{
	c->pos = HEAD;
	c->size = size;
	c->nr_shapes = 0;
}

/* Reads the next of the chunks that were carried before: 1, 0 after the last one, or -errno. */
static int next_old(struct carry *c)
{
	struct chunk_header head;
	uint32_t size;
	int err;

	if (!c->old || c->at + HEAD > c->end)
		return 0;
	err = fd_pread(c->fd, &head, HEAD, c->at);
	size = err ? 0 : size_of(&head);
	if (err)
		return err;
	if (!size || head.seq != CHUNK_CARRIED(c->from, c->index) || c->at + size > c->end)
		return 0;
	c->index++;
	err = fd_pread(c->fd, c->chunk, size, c->at);
	c->at += size;
	set_chunk(c, size);
	return err ? err : 1;
}

/* The chunk of `size` bytes at c->disk, unpacked at c->chunk. Its size there, 0: it is damaged. */
static uint32_t take_chunk(struct carry *c, uint32_t size)
{
	struct chunk_header *head = (struct chunk_header *)(void *)c->disk;
	uint32_t committed = atomic_load_explicit(&head->committed, memory_order_relaxed);
	uint32_t crc = head->crc;

	head->crc = 0;
	if (crc_add(0, c->disk, size) != crc)
		return 0;
	memcpy(c->chunk, c->disk, head->stored ? HEAD : size);
	if (head->stored && !pack_restore(c->chunk + HEAD, committed, c->disk + HEAD, head->stored))
		return 0;
	return HEAD + committed;
}

/* Reads the next chunk that is removed: 1, 0 after the last one, or -errno. Carried ones are
 * superseded. */
static int next_new(struct carry *c)
{
	struct chunk_header head;

	for (;;) {
		uint64_t at = c->at;
		int64_t size = find_chunk(c->fd, &c->at, c->upto, &head);
		int err;

		if (size < 0)
			return (int)size;
		if (c->at != at && c->step == STEP_TOTAL)
			c->total.h.id++; /* damage */
		if (!size)
			return 0;
		at = c->at;
		c->at += (uint64_t)size;
		if (head.seq & CHUNK_IS_CARRIED)
			continue;
		err = fd_pread(c->fd, c->disk, (size_t)size, at);
		if (err)
			return err;
		set_chunk(c, take_chunk(c, (uint32_t)size));
		if (c->size)
			return 1;
		if (c->step == STEP_TOTAL)
			c->total.h.id++;
	}
}

/* The next record of a pass: 1, 0 at the end, or -errno. */
static int next_record(struct carry *c, const struct rec_head **out)
{
	for (;;) {
		const struct rec_head *rec =
			(const struct rec_head *)(const void *)(c->chunk + c->pos);
		int ret;

		if (c->pos < c->size && rec->size8 && rec->size8 * 8u <= c->size - c->pos &&
		    rec->size8 * 8u >= least_of(rec->type)) {
			c->pos += rec->size8 * 8u;
			*out = rec;
			return 1;
		}
		if (c->pos < c->size && c->step == STEP_TOTAL)
			c->total.h.id++; /* the rest of the chunk is damaged */
		ret = c->in_old ? next_old(c) : next_new(c);
		if (ret == 0 && c->in_old) {
			c->in_old = false;
			c->at = c->from;
			c->pos = c->size = 0;
			continue;
		}
		if (ret <= 0)
			return ret;
	}
}

static void rewind_pass(struct carry *c)
{
	c->in_old = true;
	c->at = c->old;
	c->index = 0;
	c->pos = c->size = c->nr_shapes = 0;
}

int carry_begin(struct carry *c, int fd, uint64_t from, uint64_t upto, uint64_t old, uint64_t end)
{
	const struct rec_head *rec;
	int ret;

	*c = (struct carry){ .fd = fd, .from = from, .upto = upto, .old = old, .end = end };
	c->chunk = alloc_pages(SLOT_SIZE);
	c->disk = alloc_pages(SLOT_SIZE);
	c->queues = alloc_pages(MAX_SHAPES * sizeof(*c->queues));
	if (!c->chunk || !c->disk || !c->queues || grow(c) != 0)
		return -ENOMEM;
	rewind_pass(c);
	while ((ret = next_record(c, &rec)) == 1) {
		ret = note(c, rec);
		if (ret < 0)
			break;
	}
	rewind_pass(c);
	c->total.h.type = REC_EVICTED;
	c->total.h.size8 = sizeof(c->total) / 8;
	return ret;
}

/* The next count: its bytes in *r, 0: there are no more. */
static uint32_t next_count(struct carry *c, struct rec_written *r)
{
	while (c->step == STEP_TYPES && c->next < SPOOL_WRITTEN_TYPES) {
		uint32_t type = c->next++;

		*r = (struct rec_written){ .h = { REC_EVICTED_TYPE, sizeof(*r) / 8, 0, type },
					   .count = c->types[type] };
		if (r->count)
			return sizeof(*r);
	}
	if (c->step == STEP_TYPES) {
		c->step = STEP_QUEUES;
		c->next = 0;
	}
	while (c->next < c->cap) {
		const struct carry_item *item = &c->items[c->next++];
		uint32_t queue = (uint32_t)item->key;

		*r = (struct rec_written){ .h = { REC_EVICTED_OPS, sizeof(*r) / 8, 0, queue },
					   .count = item->count };
		if (item->key >> 56 == ITEM_QUEUE && item->count && !is_over(c, ITEM_QUEUE, queue))
			return sizeof(*r);
	}
	c->step = STEP_RECORDS;
	return 0;
}

int64_t carry_next(struct carry *c, uint8_t *out, uint32_t space, uint32_t *nr)
{
	const struct rec_head *rec;
	struct rec_written count;
	uint32_t used = 0, size;
	int ret = 1;

	*nr = 0;
	if (c->step == STEP_TOTAL) {
		memcpy(out, &c->total, sizeof(c->total));
		used = sizeof(c->total);
		++*nr;
		c->step = STEP_TYPES;
	}
	while (c->step < STEP_RECORDS && space - used >= sizeof(count)) {
		size = next_count(c, &count);
		memcpy(out + used, &count, size);
		used += size;
		*nr += size > 0;
	}
	while (c->step == STEP_RECORDS && (ret = next_record(c, &rec)) == 1) {
		size = rec->size8 * 8u;
		if (space - used < size) {
			c->pos -= size; /* for the next chunk */
			break;
		}
		if (!stays(c, rec))
			continue;
		memcpy(out + used, rec, size);
		used += size;
		++*nr;
	}
	if (ret == 0)
		c->step = STEP_END;
	return ret < 0 ? ret : (int64_t)used;
}

void carry_end(struct carry *c)
{
	if (c->items)
		alloc_pages_free(c->items, c->cap * sizeof(*c->items));
	if (c->chunk)
		alloc_pages_free(c->chunk, SLOT_SIZE);
	if (c->disk)
		alloc_pages_free(c->disk, SLOT_SIZE);
	if (c->queues)
		alloc_pages_free(c->queues, MAX_SHAPES * sizeof(*c->queues));
	c->items = NULL;
	c->chunk = c->disk = NULL;
	c->queues = NULL;
}
