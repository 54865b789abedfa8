/* SPDX-License-Identifier: MIT */
/* imbalance_calls.c - packs calls as differences from the one before (imbalance_calls.h)
 *
 * A call is three numbers of varint.h: how much its number has risen, which is not 0, the
 * difference of the begins, and its duration. A byte of 0 ends a chunk.
 */
#include "analysis/imbalance_calls.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/varint.h"

enum { FIRST_BYTES = 64, CALL_BYTES = 3 * VARINT_BYTES };

/* Space for a call and the end. */
static int make_space(struct imbalance_calls *c, struct spill *chunks)
{
	unsigned char *tail;
	uint64_t *grown;
	int ret;

	if (c->used + CALL_BYTES < c->max)
		return 0;
	if (c->max < IMBALANCE_CHUNK) {
		/* most names of ranges have a few calls */
		tail = alloc_resize(c->tail, c->max ? IMBALANCE_CHUNK : FIRST_BYTES, 1);
		if (!tail)
			return -ENOMEM;
		c->tail = tail;
		c->max = c->max ? IMBALANCE_CHUNK : FIRST_BYTES;
		return 0;
	}
	grown = alloc_grow(c->chunks, c->nr_chunks, &c->max_chunks, 4, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->chunks = grown;
	memset(c->tail + c->used, 0, IMBALANCE_CHUNK - c->used);
	ret = spill_add(chunks, c->tail);
	if (ret)
		return ret;
	c->chunks[c->nr_chunks++] = spill_nr(chunks) - 1;
	c->used = 0;
	return 0;
}

int imbalance_calls_add(struct imbalance_calls *c, struct spill *chunks,
			const struct imbalance_call *call)
{
	int ret = make_space(c, chunks);
	unsigned char *at;

	if (ret)
		return ret;
	at = varint_put(c->tail + c->used, call->number - c->last.number);
	at = varint_put(at, varint_difference((uint64_t)call->begin, (uint64_t)c->last.begin));
	at = varint_put(at, (uint64_t)call->ns);
	*at = 0;
	c->used = (size_t)(at - c->tail);
	c->last = *call;
	return 0;
}

int imbalance_calls_next(struct imbalance_calls_reader *r)
{
	const struct imbalance_calls *c = r->calls;

	while (!r->at || !*r->at) {
		const void *chunk = c->tail;
		int ret = 0;

		if (r->next > c->nr_chunks || (r->next == c->nr_chunks && !c->tail))
			return 0;
		if (r->next < c->nr_chunks)
			ret = spill_get(r->chunks, &r->window, 1, c->chunks[r->next], &chunk);
		if (ret)
			return ret;
		r->next++;
		r->at = chunk;
	}
	r->call.number += varint_take(&r->at);
	r->call.begin = (int64_t)varint_sum((uint64_t)r->call.begin, varint_take(&r->at));
	r->call.ns = (int64_t)varint_take(&r->at);
	return 1;
}

void imbalance_calls_end(struct imbalance_calls_reader *r)
{
	spill_window_fini(&r->window);
}

void imbalance_calls_fini(struct imbalance_calls *c)
{
	alloc_free(c->chunks);
	alloc_free(c->tail);
	*c = (struct imbalance_calls){ 0 };
}
