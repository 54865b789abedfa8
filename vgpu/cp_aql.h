/* SPDX-License-Identifier: MIT */
/* cp_aql.h - command processor: AQL packets */
#ifndef VGPU_CP_AQL_H
#define VGPU_CP_AQL_H

#include "queue.h"

/* Does what can be done on the queue now; never blocks. Under the engine's lock. */
struct queue_visit cp_aql_serve(struct queue *q);

/* Where doorbells count and are no memory: everything below the write index is announced. Under the
 * engine's lock. */
void cp_aql_ring(struct queue *q);

#endif
