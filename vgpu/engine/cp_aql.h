/* SPDX-License-Identifier: MIT */
/* cp_aql.h - command processor: AQL packets */
#ifndef VGPU_CP_AQL_H
#define VGPU_CP_AQL_H

#include "queue.h"

/* Processes the packets that can be processed now; never blocks. Under the engine's lock. */
struct queue_visit cp_aql_serve(struct queue *q);

#endif
