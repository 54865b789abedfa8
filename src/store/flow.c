/* SPDX-License-Identifier: MIT */
/* flow.c - whether as many operations were recorded as were submitted */
#include "store/flow.h"

#include <errno.h>

#include "base/alloc.h"

void flow_fini(struct flow *flow)
{
	map_fini(&flow->map);
	alloc_free(flow->rows);
}

/* The row of `queue`, made if it did not exist. NULL: out of memory. */
static struct flow_row *row_of(struct flow *flow, uint32_t queue)
{
	struct flow_row *rows;
	uint64_t at;

	if (flow->nr && flow->rows[flow->last].queue == queue)
		return &flow->rows[flow->last];
	if (!map_get(&flow->map, queue, &at)) {
		at = flow->nr;
		rows = alloc_grow(flow->rows, flow->nr, &flow->cap, 16, sizeof(*rows));
		if (!rows)
			return NULL;
		flow->rows = rows;
		if (map_put(&flow->map, queue, at) < 0)
			return NULL;
		rows[flow->nr++] = (struct flow_row){ .queue = queue };
	}
	flow->last = (size_t)at;
	return &flow->rows[at];
}

int flow_recorded(struct flow *flow, uint32_t queue, uint64_t count)
{
	struct flow_row *row = row_of(flow, queue);

	if (!row)
		return -ENOMEM;
	row->recorded += count;
	return 0;
}

int flow_submitted(struct flow *flow, const struct rec_submitted *rec)
{
	struct flow_row *row = row_of(flow, rec->h.id);

	if (!row)
		return -ENOMEM;
	row->submitted += rec->count;
	row->is_known = true;
	return 0;
}

void flow_written(struct flow *flow, const struct rec_written *rec)
{
	if (rec->h.id < SPOOL_WRITTEN_TYPES)
		flow->written[rec->h.id] += rec->count;
}

int flow_add(struct flow *flow, const struct flow *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct flow_row *row = row_of(flow, from->rows[i].queue);

		if (!row)
			return -ENOMEM;
		row->submitted += from->rows[i].submitted;
		row->recorded += from->rows[i].recorded;
		row->is_known |= from->rows[i].is_known;
	}
	for (uint32_t i = 0; i < SPOOL_WRITTEN_TYPES; i++) {
		flow->written[i] += from->written[i];
		flow->read[i] += from->read[i];
	}
	return 0;
}

uint64_t flow_missing_records(const struct flow *flow, uint32_t type)
{
	return flow->written[type] > flow->read[type] ? flow->written[type] - flow->read[type] : 0;
}

uint64_t flow_missing(const struct flow_row *row)
{
	return row->is_known && row->submitted > row->recorded ? row->submitted - row->recorded : 0;
}
