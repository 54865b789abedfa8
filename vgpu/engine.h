/* SPDX-License-Identifier: MIT */
/* engine.h - the one thread that serves all queues of all GPUs
 *
 * synchronisation: every queue is touched under the engine's lock only; the thread gives it up between rounds.
 */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct queue;

/* Puts a queue in service, starting the thread when there is none; 0 or -errno. */
int engine_add(struct queue *q);

/* Takes the queue out of service: once it returns, nothing of the queue is touched. */
void engine_remove(struct queue *q);

struct queue *engine_find(uint64_t id);

/* Holds the engine still, from any thread. */
void engine_lock(void);
void engine_unlock(void);

/* Somebody waits for a result: look at the queues now. Cheap when the thread is awake. */
void engine_kick(void);

/* Around fork(): the child has no engine. */
void engine_forked(void);

#endif
