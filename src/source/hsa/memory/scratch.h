/* SPDX-License-Identifier: MIT */
/* scratch.h - scratch memory that the runtime allocates, frees and takes back for queues */
#ifndef RTL_SOURCE_HSA_SCRATCH_H
#define RTL_SOURCE_HSA_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "hsa_table_gen.h"
#include "source/hsa/queue/queue.h"

/* The runtime's events as hsa_amd_tool.h has them, which ROCm 5 lacks: this is the end of an
 * allocation; its begin has no more than the dispatch, the others no more than the flags. */
struct scratch_event {
	int kind; /* hsa_amd_tool_event_kind_t */
	const hsa_queue_t *queue;
	int flags;		/* hsa_amd_event_scratch_alloc_flag_t */
	uint64_t dispatch_id;	/* packet index */
	size_t size, num_slots; /* bytes; waves */
};
/* An entry of the runtime's table for tools; its own are NULL. The argument is a union of pointers,
 * by value. */
typedef hsa_status_t (*scratch_fn)(const struct scratch_event *event);

/* With RTL_SCRATCH puts functions into the table that record each event from its begin to its end.
 * A runtime before ROCm 6.1 has no such table: nothing is recorded, and a message says so. */
void scratch_install(const struct hsa_mirror_root *root);

/* The calling thread is about to destroy `q`, whose handle is not known any more, and the runtime
 * frees its scratch memory; NULL: it has done it. */
void scratch_queue_ends(const struct queue *q);

#endif
