/* SPDX-License-Identifier: MIT */
/* intercept.h - queues that the runtime itself intercepts (RTL_QUEUES=intercept): the packet callback
 *
 * The program gets a queue of the runtime's own making in front of the hardware's; each packet comes by here before it is copied
 * there, and packets may be added around it. For what needs that, and where interposition is not wanted.
 */
#ifndef RTL_SOURCE_HSA_INTERCEPT_H
#define RTL_SOURCE_HSA_INTERCEPT_H

#include <stdint.h>

#include "hsa_table_gen.h"
#include "source/hsa/queue/queue.h"

/* `q`, which queue_open() gave, is about to become an intercepted queue of `size` packets. 0 or -ENOMEM. */
int intercept_prepare(struct queue *q, uint32_t size);

/* It exists, as `hsa`; from here on its packets come by. */
hsa_status_t intercept_attach(struct queue *q, hsa_queue_t *hsa);

#endif
