/* SPDX-License-Identifier: MIT */
/* collective_events.c - packs collectives as differences from the one before of their channel
 *
 * An event is: 16 bits, which of its fields are not as expected, then these fields, 7 bits a byte,
 * the lowest ones first. An event lies in one block; 0 bits and the field END end the block.
 */
#include "analysis/collective_events.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/varint.h"

enum { BLOCK_BYTES = 16 << 10, KEPT_BYTES = 1 << 20 };

enum field {
	CHANNEL,
	BEGIN,
	DURATION,
	KERNEL,
	COPY,
	HOST,
	SINCE,
	OP,
	LONGEST,
	BYTES,
	TID,
	NAME,
	FLAGS,
	END, /* of the block */
	NR_FIELDS,
};

enum { MOST_BYTES = 2 + VARINT_BYTES * NR_FIELDS };

static uint64_t flags_of(const struct collective_event *e)
{
	return (uint64_t)(e->has_launch | e->has_before << 1 | e->is_untimed << 2 |
			  e->is_graph << 3 | e->is_call << 4);
}

static void set_flags(struct collective_event *e, uint64_t flags)
{
	e->has_launch = flags & 1;
	e->has_before = flags >> 1 & 1;
	e->is_untimed = flags >> 2 & 1;
	e->is_graph = flags >> 3 & 1;
	e->is_call = flags >> 4 & 1;
}

/* ---- adding ---- */

int collective_events_init(struct collective_events *c)
{
	int ret;

	*c = (struct collective_events){ 0 };
	ret = spill_init(&c->blocks, BLOCK_BYTES, KEPT_BYTES);
	c->block = alloc_zero(1, BLOCK_BYTES);
	return ret || !c->block ? -ENOMEM : 0;
}

void collective_events_fini(struct collective_events *c)
{
	spill_fini(&c->blocks);
	alloc_free(c->block);
	alloc_free(c->before);
	*c = (struct collective_events){ 0 };
}

void collective_events_clear(struct collective_events *c)
{
	spill_clear(&c->blocks);
	c->used = c->nr_before = 0;
	c->nr = 0;
}

/* The event before of its channel: of a new one all zero. NULL: no memory. */
static struct collective_event *before_of(struct collective_events *c, uint32_t channel)
{
	while (c->nr_before <= channel) {
		struct collective_event *before =
			alloc_grow(c->before, c->nr_before, &c->max_before, 16, sizeof(*before));

		if (!before)
			return NULL;
		c->before = before;
		before[c->nr_before++] = (struct collective_event){ 0 };
	}
	return &c->before[channel];
}

static int end_block(struct collective_events *c)
{
	const uint16_t end = 1 << END;
	int ret;

	memcpy(c->block + c->used, &end, sizeof(end));
	ret = spill_add(&c->blocks, c->block);
	c->used = 0;
	return ret;
}

int collective_events_add(struct collective_events *c, const struct collective_event *e)
{
	struct collective_event *before = before_of(c, e->channel);
	unsigned char *head, *at;
	uint16_t has = 0;
	int ret;

	if (!before)
		return -ENOMEM;
	/* behind it there is the end */
	if (c->used + MOST_BYTES + sizeof(has) > BLOCK_BYTES) {
		ret = end_block(c);
		if (ret)
			return ret;
	}
	head = c->block + c->used;
	at = head + sizeof(has);
#define PUT(field, value)                                                                          \
	do {                                                                                       \
		uint64_t number = (value);                                                         \
                                                                                                   \
		if (number) {                                                                      \
			has |= (uint16_t)(1 << (field));                                           \
			at = varint_put(at, number);                                               \
		}                                                                                  \
	} while (0)
#define DIFFERENCE(a, b) varint_difference((uint64_t)(a), (uint64_t)(b))
	PUT(CHANNEL, e->channel);
	PUT(BEGIN, DIFFERENCE(e->begin, before->begin));
	PUT(DURATION, DIFFERENCE(e->end, e->begin));
	PUT(KERNEL, DIFFERENCE(e->kernel_ns, 0));
	PUT(COPY, DIFFERENCE(e->copy_ns, 0));
	PUT(HOST, DIFFERENCE(e->host_ns, 0));
	PUT(SINCE, DIFFERENCE(e->since, before->end));
	PUT(OP, DIFFERENCE(e->op, (uint64_t)before->op + 1));
	PUT(LONGEST, DIFFERENCE(e->longest, before->longest));
	PUT(BYTES, DIFFERENCE(e->bytes, before->bytes));
	PUT(TID, DIFFERENCE(e->tid, before->tid));
	PUT(NAME, DIFFERENCE(e->name, before->name));
	PUT(FLAGS, flags_of(e) ^ flags_of(before));
#undef PUT
#undef DIFFERENCE
	memcpy(head, &has, sizeof(has));
	c->used = (size_t)(at - c->block);
	c->nr++;
	*before = *e;
	return 0;
}

/* ---- reading ---- */

int collective_events_begin(const struct collective_events *c, struct collective_events_reader *r)
{
	*r = (struct collective_events_reader){
		.events = c, .before = alloc_zero(c->nr_before + 1, sizeof(*r->before))
	};
	return r->before ? 0 : -ENOMEM;
}

void collective_events_end(struct collective_events_reader *r)
{
	spill_window_fini(&r->window);
	alloc_free(r->before);
}

/* The next block. 0 or -errno. */
static int open_block(struct collective_events_reader *r)
{
	const struct collective_events *c = r->events;
	const void *block = c->block;
	int ret = 0;

	if (r->block < spill_nr(&c->blocks))
		ret = spill_get(&c->blocks, &r->window, 1, r->block, &block);
	r->block++;
	r->at = block;
	return ret;
}

int collective_events_next(struct collective_events_reader *r, const struct collective_event **out)
{
	struct collective_event *e;
	uint16_t has;
	int ret;

	if (r->nr == r->events->nr)
		return 0;
	if (!r->at) {
		ret = open_block(r);
		if (ret)
			return ret;
	}
	memcpy(&has, r->at, sizeof(has));
	if (has == 1 << END) {
		ret = open_block(r);
		if (ret)
			return ret;
		memcpy(&has, r->at, sizeof(has));
	}
	r->at += sizeof(has);
#define TAKE(field) (has & 1 << (field) ? varint_take(&r->at) : 0)
#define DIFFERENCE(field, to) (int64_t) varint_sum((uint64_t)(to), TAKE(field))
	{
		uint64_t channel = TAKE(CHANNEL);
		int64_t end;

		e = &r->before[channel];
		e->channel = (uint32_t)channel;
		end = e->end;
		e->begin = DIFFERENCE(BEGIN, e->begin);
		e->end = DIFFERENCE(DURATION, e->begin);
		e->kernel_ns = DIFFERENCE(KERNEL, 0);
		e->copy_ns = DIFFERENCE(COPY, 0);
		e->host_ns = DIFFERENCE(HOST, 0);
		e->since = DIFFERENCE(SINCE, end);
	}
	e->op = DIFFERENCE(OP, (uint64_t)e->op + 1);
	e->longest = DIFFERENCE(LONGEST, e->longest);
	e->bytes = (uint64_t)DIFFERENCE(BYTES, e->bytes);
	e->tid = (int32_t)DIFFERENCE(TID, e->tid);
	e->name = (uint32_t)DIFFERENCE(NAME, e->name);
	if (has & 1 << FLAGS)
		set_flags(e, flags_of(e) ^ varint_take(&r->at));
#undef TAKE
#undef DIFFERENCE
	r->nr++;
	*out = e;
	return 1;
}
