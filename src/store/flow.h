/* SPDX-License-Identifier: MIT */
/* flow.h - whether as many operations were recorded as were submitted
 *
 * Counts, for each queue and for the copies, the records of operations, and compares them with the
 * numbers of REC_SUBMITTED, which the traced process counts where it submits. Counts the records of
 * each type, and compares them with those of REC_WRITTEN, which it counts where it writes.
 */
#ifndef RTL_STORE_FLOW_H
#define RTL_STORE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"
#include "store/map.h"

struct flow_row {
	uint32_t queue; /* SPOOL_NO_QUEUE: the copies */
	bool is_known;	/* the trace has the number of submitted operations */
	uint64_t submitted, recorded;
};

/* A zeroed flow is an empty one. */
struct flow {
	struct flow_row *rows;
	size_t nr, cap;
	struct map map; /* from queues to rows */
	size_t last;	/* row of the last record: most records repeat the queue */
	uint64_t written[SPOOL_WRITTEN_TYPES], read[SPOOL_WRITTEN_TYPES]; /* by type */
};

void flow_fini(struct flow *flow);

/* `count` records of operations of a queue, or of copies. 0 or -ENOMEM. */
int flow_recorded(struct flow *flow, uint32_t queue, uint64_t count);
int flow_submitted(struct flow *flow, const struct rec_submitted *rec);

/* A record of any type, in a chunk of the traced process. */
static inline void flow_read(struct flow *flow, uint8_t type)
{
	if (type < SPOOL_WRITTEN_TYPES)
		flow->read[type]++;
}

/* Adds the counts of `from`. 0 or -ENOMEM. */
int flow_add(struct flow *flow, const struct flow *from);

void flow_written(struct flow *flow, const struct rec_written *rec);

/* Records of a type (below SPOOL_WRITTEN_TYPES) that were written and are not in the trace. */
uint64_t flow_missing_records(const struct flow *flow, uint32_t type);

/* Operations of that row that are neither recorded nor in flight at the process's end. */
uint64_t flow_missing(const struct flow_row *row);

#endif
