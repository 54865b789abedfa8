/* SPDX-License-Identifier: MIT */
/* queue_calls.h - the calls that make and destroy queues, as patched into the tables */
#ifndef RTL_SOURCE_HSA_QUEUE_CALLS_H
#define RTL_SOURCE_HSA_QUEUE_CALLS_H

#include <stdint.h>

#include <hsa/hsa.h>

hsa_status_t queue_calls_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				void (*callback)(hsa_status_t status, hsa_queue_t *source,
						 void *data),
				void *data, uint32_t private_segment_size,
				uint32_t group_segment_size, hsa_queue_t **queue);
/* hsa_amd_queue_create(), ROCm 10: `descs` is an array of hsa_amd_queue_create_desc_t. */
hsa_status_t queue_calls_create_described(hsa_agent_t agent, void *descs, uint32_t num_descs);
/* hsa_amd_counted_queue_acquire() and _release(): handles that share hardware queues. */
hsa_status_t queue_calls_acquire(hsa_agent_t agent, hsa_queue_type32_t type, int priority,
				 void (*callback)(hsa_status_t status, hsa_queue_t *source,
						  void *data),
				 void *data, uint64_t flags, hsa_queue_t **queue);
hsa_status_t queue_calls_release(hsa_queue_t *queue);
hsa_status_t queue_calls_destroy(hsa_queue_t *queue);
hsa_status_t queue_calls_inactivate(hsa_queue_t *queue);
hsa_status_t queue_calls_set_profiler(hsa_queue_t *queue, int enable);

/* The runtime went away: all queues are gone. */
void queue_calls_reset(void);

#endif
