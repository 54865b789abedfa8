/* SPDX-License-Identifier: MIT */
/* engine.h - the one thread that serves all queues of all GPUs
 *
 * synchronisation: every queue is accessed only under the engine's lock; the thread releases it
 * between rounds.
 */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct queue;

/* Adds a queue; starts the thread if it does not run. 0 or -errno. */
int engine_add(struct queue *q);

/* Removes the queue: after it returns, the engine does not access the queue. */
void engine_remove(struct queue *q);

struct queue *engine_find(uint64_t id);

/* Stops the engine between rounds. Any thread. */
void engine_lock(void);
void engine_unlock(void);

/* Makes the engine serve the queues now, because a thread waits for a result. Cheap if the engine
 * is awake. */
void engine_kick(void);

/* Ends the queue: its packet (or SDMA operation) `index` used `addr`, which is no memory of the
 * device. Under the lock. */
void engine_memory_fault(struct queue *q, uint64_t index, uint64_t addr, unsigned int error_type);

/* Around fork(): the child has no engine. */
void engine_forked(void);

#endif
