/* SPDX-License-Identifier: MIT */
/* sdma.h - copy engine: packets of a gfx9 SDMA user queue */
#ifndef VGPU_SDMA_H
#define VGPU_SDMA_H

#include "queue.h"

/* Processes the packets that can be processed now, copies in slices; never blocks. Under the
 * engine's lock. */
struct queue_visit sdma_serve(struct queue *q);

#endif
