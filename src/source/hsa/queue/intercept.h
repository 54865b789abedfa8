/* SPDX-License-Identifier: MIT */
/* intercept.h - intercept queues (RTL_QUEUES=intercept): the packet callback
 *
 * The program gets a software queue of the runtime's in front of the hardware's. The callback sees
 * each packet before the runtime copies it to the hardware's ring, and may add packets around it.
 * For programs that need this mechanism, or where interposition is not wanted.
 */
#ifndef RTL_SOURCE_HSA_INTERCEPT_H
#define RTL_SOURCE_HSA_INTERCEPT_H

#include <stdint.h>

#include "hsa_table_gen.h"
#include "source/hsa/queue/queue.h"

/* `q`, from queue_open(), is about to become an intercept queue of `size` packets. 0 or -ENOMEM. */
int intercept_prepare(struct queue *q, uint32_t size);

/* The runtime made it, as `hsa`; registers the packet callback. */
hsa_status_t intercept_attach(struct queue *q, hsa_queue_t *hsa);

#endif
