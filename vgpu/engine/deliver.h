/* SPDX-License-Identifier: MIT */
/* deliver.h - when the completion of a packet becomes visible to the host
 *
 * Usually at once. In deterministic mode a signal that host threads can block on is delayed until
 * one does, or for VGPU_SETTLE_US. The reason: the HIP runtime checks whether an earlier
 * operation has completed, and if so does not submit the packet that would wait for it. The result
 * must not depend on the host's speed. The device itself sees the completion at once:
 * deliver_value().
 */
#ifndef VGPU_DELIVER_H
#define VGPU_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

struct queue;

/* Completes the signal for a packet of `q` that ended at virtual time `vns`. Under the engine's
 * lock. */
void deliver_signal(struct queue *q, uint64_t handle, uint64_t vns, bool lose_event);

/* Delivers completions whose delay is over; true if there were any. *wake_ns: when the next one is
 * due. */
bool deliver_serve(struct queue *q, uint64_t now, uint64_t *wake_ns);

/* Delivers all completions: the queue is being destroyed. */
void deliver_all(struct queue *q);

/* The signal's value as the device sees it. */
int64_t deliver_value(uint64_t handle);

#endif
