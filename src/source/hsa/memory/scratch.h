/* SPDX-License-Identifier: MIT */
/* scratch.h - scratch memory that the runtime allocates, frees and takes back for queues */
#ifndef RTL_SOURCE_HSA_SCRATCH_H
#define RTL_SOURCE_HSA_SCRATCH_H

#include "hsa_table_gen.h"
#include "source/hsa/queue/queue.h"

/* With RTL_SCRATCH puts functions into the table that record each event from its begin to its end.
 * A runtime before ROCm 6.1 has no such table: nothing is recorded, and a message says so. */
void scratch_install(const struct hsa_mirror_root *root);

/* The calling thread is about to destroy `q`, whose handle is not known any more, and the runtime
 * frees its scratch memory; NULL: it has done it. */
void scratch_queue_ends(const struct queue *q);

#endif
