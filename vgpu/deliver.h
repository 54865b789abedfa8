/* SPDX-License-Identifier: MIT */
/* deliver.h - when the completion of a packet becomes visible to the host
 *
 * At once, as a rule. In deterministic mode a signal that host threads can block on is kept back until one
 * does (hsaKmtWaitOnEvent), or for VGPU_SETTLE_US. The reason: the HIP runtime looks whether an earlier
 * operation has completed, and leaves the packet out that would wait for it if so. What it looks at must not
 * depend on how fast the host is. The device itself sees the completion at once: deliver_value().
 */
#ifndef VGPU_DELIVER_H
#define VGPU_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

struct queue;

/* A packet of `q` that completes the signal is over, at virtual time `vns`. Under the engine's lock. */
void deliver_signal(struct queue *q, uint64_t handle, uint64_t vns, bool lose_event);

/* Hands out what has been kept back long enough; true if anything. *wake_ns: when there is more to do. */
bool deliver_serve(struct queue *q, uint64_t now, uint64_t *wake_ns);

/* Hands out everything: the queue goes away. */
void deliver_all(struct queue *q);

/* The signal's value as the device sees it. */
int64_t deliver_value(uint64_t handle);

#endif
