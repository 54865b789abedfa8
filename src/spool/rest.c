/* SPDX-License-Identifier: MIT */
/* rest.c - what was in flight when a process ended, as records
 *
 * Owns:     nothing.
 * Threads:  one for each struct rest. The process is over: no thread writes to the blocks.
 * Format:   spool/format.h, IN FLIGHT.
 */
#include "spool/rest.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define PACKET_DISPATCH 2u   /* HSA_PACKET_TYPE_KERNEL_DISPATCH */
#define PACKET_EXT_FORMAT 3u /* PACKET_AMD_EXT_DISPATCH, of a vendor-specific packet */

_Static_assert(sizeof(struct rec_copy) <= REST_MAX_SIZE &&
		       sizeof(struct rec_inflight) <= REST_MAX_SIZE &&
		       sizeof(struct rec_barrier) <= REST_MAX_SIZE,
	       "records fit");

/* relaxed, all: the process is over */
#define GET(field) atomic_load_explicit(&(field), memory_order_relaxed)

void rest_begin(struct rest *r, const struct spool_header *h, size_t size)
{
	uint64_t used = GET(h->blocks_used);

	*r = (struct rest){ .header = h };
	if (h->blocks_offset < SPOOL_HEADER_SIZE || h->blocks_offset % SPOOL_PAGE ||
	    h->blocks_offset > size || used > size - h->blocks_offset)
		return;
	r->at = h->blocks_offset;
	r->end = r->at + used;
}

/* The next block; NULL: the end, or damage. */
static const struct spool_block *next_block(struct rest *r)
{
	const struct spool_block *b =
		(const struct spool_block *)(const void *)((const char *)r->header + r->at);
	uint32_t least = sizeof(struct spool_inflight);

	if (r->end - r->at < sizeof(*b) || b->magic != SPOOL_BLOCK_MAGIC || b->size < sizeof(*b) ||
	    b->size % SPOOL_PAGE || b->size > r->end - r->at)
		return NULL;
	if (b->kind == SPOOL_BLOCK_COPIES)
		least = sizeof(struct spool_copy);
	else if (b->kind == SPOOL_BLOCK_WRITTEN)
		least = sizeof(struct spool_written);
	if (b->item_size < least || b->item_size % 8 ||
	    b->nr_items > (b->size - sizeof(*b)) / b->item_size)
		return NULL;
	r->at += b->size;
	return b;
}

static const struct spool_inflight *item(const struct spool_block *b, uint32_t i)
{
	return (const struct spool_inflight *)(const void *)((const char *)(b + 1) +
							     (uint64_t)i * b->item_size);
}

static bool is_in_flight(const struct spool_inflight *e)
{
	uint32_t state = GET(e->state);

	return state > INFLIGHT_FREE && state <= INFLIGHT_OURS;
}

/* Submitted for another sink than the recorder: recording was paused, or the user leaves the
 * operation out. */
static bool is_left_out(const struct spool_inflight *e)
{
	return (e->correlation & EVENT_LEFT_OUT) != 0;
}

static struct rec_head head_of(enum rec_type type, uint32_t size, const struct spool_inflight *e)
{
	struct rec_head h = { (uint8_t)type, (uint8_t)(size / 8), e->flags | REC_F_UNFINISHED,
			      (uint32_t)e->submitter };

	if (e->nr_looks == INFLIGHT_RECORDING)
		h.flags |= REC_F_MAYBE;
	return h;
}

static uint64_t correlation_of(const struct spool_inflight *e)
{
	return e->correlation & EVENT_ID;
}

static uint32_t put_barrier(const struct spool_block *b, const struct spool_inflight *e,
			    uint8_t *out)
{
	struct rec_barrier r = { .h = head_of(REC_BARRIER, sizeof(r), e),
				 .packet = e->packet,
				 .correlation = correlation_of(e),
				 .queue = GET(b->queue),
				 .kind = e->head.type };

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static uint32_t put_copy(const struct spool_inflight *e, uint8_t *out)
{
	const struct spool_copy *c = (const struct spool_copy *)(const void *)e;
	struct rec_copy r = { .h = head_of(REC_COPY, sizeof(r), e),
			      .bytes = c->what.bytes,
			      .correlation = correlation_of(e),
			      .marker = e->marker,
			      .dst = c->what.dst,
			      .src = c->what.src,
			      .dst_agent = c->what.dst_agent,
			      .src_agent = c->what.src_agent,
			      .kind = c->what.kind,
			      .engine = c->what.engine };

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

/* gfx1250's form: clusters of workgroups. */
static void describe_clusters(struct rec_inflight *r, const struct spool_packet *p)
{
	uint32_t nr[3] = { p->grid[0], p->grid[1] & 0xffff, p->grid[1] >> 16 };

	for (int i = 0; i < 3; i++)
		r->grid[i] = nr[i] * (p->grid[2] >> 8 * i & 0xff) * p->group[i];
}

static uint32_t put_dispatch(const struct spool_block *b, const struct spool_inflight *e,
			     uint8_t *out)
{
	struct rec_inflight r = { .h = head_of(REC_INFLIGHT, sizeof(r), e),
				  .packet = e->packet,
				  .correlation = correlation_of(e),
				  .marker = e->marker,
				  .object = e->head.object,
				  .queue = GET(b->queue),
				  .private_size = e->head.private_size,
				  .group_size = e->head.group_size };

	memcpy(r.group, e->head.group, sizeof(r.group));
	memcpy(r.grid, e->head.grid, sizeof(r.grid));
	if (e->head.type != PACKET_DISPATCH && e->head.format == PACKET_EXT_FORMAT)
		describe_clusters(&r, &e->head);
	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static uint32_t put_item(const struct spool_block *b, const struct spool_inflight *e, uint8_t *out)
{
	if (b->kind == SPOOL_BLOCK_WRITTEN || !is_in_flight(e) || is_left_out(e))
		return 0;
	if (b->kind == SPOOL_BLOCK_COPIES)
		return put_copy(e, out);
	if (GET(b->queue) == SPOOL_NO_QUEUE)
		return 0;
	return e->kind == INFLIGHT_BARRIER ? put_barrier(b, e, out) : put_dispatch(b, e, out);
}

static uint64_t nr_left_out(const struct spool_block *b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->nr_items; i++)
		n += is_in_flight(item(b, i)) && is_left_out(item(b, i));
	return n;
}

static uint32_t put_count(uint32_t queue, uint32_t engine, uint64_t count, uint8_t *out)
{
	struct rec_submitted r = { .h = { REC_SUBMITTED, sizeof(r) / 8, 0, queue },
				   .count = count,
				   .engine = engine };

	if (!count)
		return 0;
	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

/* The next count of the block. */
static uint32_t put_next_count(const struct spool_block *b, uint32_t i, uint8_t *out)
{
	uint64_t n;

	if (b->kind == SPOOL_BLOCK_COPIES) {
		n = GET(b->copies[i]);
		n -= i == SPOOL_MAX_ENGINES ? nr_left_out(b) : 0;
		return put_count(SPOOL_NO_QUEUE, i == SPOOL_MAX_ENGINES ? UINT32_MAX : i, n, out);
	}
	if (i || b->kind != SPOOL_BLOCK_QUEUE || GET(b->queue) == SPOOL_NO_QUEUE)
		return 0;
	return put_count(GET(b->queue), 0, GET(b->pushed) - GET(b->first) - nr_left_out(b), out);
}

static void add_written(struct rest *r)
{
	const struct spool_block *b = r->block;

	for (uint32_t i = 0; b->kind == SPOOL_BLOCK_WRITTEN && i < b->nr_items; i++) {
		const struct spool_written *w =
			(const struct spool_written *)(const void *)item(b, i);

		for (uint32_t type = 0; type < SPOOL_WRITTEN_TYPES; type++)
			r->written[type] += GET(w->count[type]);
	}
}

/* After all blocks. */
static uint32_t put_next_written(struct rest *r, uint8_t *out)
{
	while (r->type < SPOOL_WRITTEN_TYPES) {
		struct rec_written w = { .h = { REC_WRITTEN, sizeof(w) / 8, 0, r->type },
					 .count = r->written[r->type] };

		r->type++;
		if (!w.count)
			continue;
		memcpy(out, &w, sizeof(w));
		return sizeof(w);
	}
	return 0;
}

uint32_t rest_next(struct rest *r, uint8_t *out)
{
	uint32_t size;

	for (;;) {
		while (r->block && r->count <= SPOOL_MAX_ENGINES) {
			size = put_next_count(r->block, r->count++, out);
			if (size)
				return size;
		}
		while (r->block && r->item < r->block->nr_items) {
			size = put_item(r->block, item(r->block, r->item++), out);
			if (size)
				return size;
		}
		r->block = next_block(r);
		if (!r->block)
			return put_next_written(r, out);
		add_written(r);
		r->item = r->count = 0;
	}
}

void rest_written(const struct spool_header *header, uint64_t out[SPOOL_WRITTEN_TYPES])
{
	struct rest r;

	rest_begin(&r, header, header->blocks_offset + header->blocks_size);
	while ((r.block = next_block(&r)))
		add_written(&r);
	memcpy(out, r.written, sizeof(r.written));
}
