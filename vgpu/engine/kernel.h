/* SPDX-License-Identifier: MIT */
/* kernel.h - what a kernel does and how long it takes
 *
 * The interface between the command processor and the interpreter (gcn/). A kernel is executed in
 * slices, short enough for threads that wait for the engine's lock.
 */
#ifndef VGPU_KERNEL_H
#define VGPU_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

struct gcn_run;
struct queue;
struct queue_flight;

enum kernel_state {
	KERNEL_OVER,	/* executed, or timed only */
	KERNEL_RUNNING, /* there is more to do */
	KERNEL_WAITS,	/* the same, but its waves wait for something that others do */
	KERNEL_FAILED,	/* the queue was stopped */
};

/* How long the kernel occupies its queue, in ns; `insts`: instructions that its waves executed. */
uint64_t kernel_duration_ns(const hsa_kernel_dispatch_packet_t *packet, uint64_t insts);

/* Whether the queue has less scratch memory than the packet's kernel needs. Then the runtime has to
 * allocate more. */
bool kernel_wants_scratch(const struct queue *q, const void *packet);

/* Whether another kernel uses the queue's scratch memory. All kernels of a queue use the same
 * memory. */
bool kernel_waits_for_scratch(const struct queue *q, const void *packet);

/* Begins to execute a flight's packet, and runs its first slice. */
enum kernel_state kernel_begin(struct queue *q, struct queue_flight *f);
/* Runs the next slice. */
enum kernel_state kernel_continue(struct queue *q, struct queue_flight *f);
/* Releases the flight's resources; may be called again. */
void kernel_end(struct queue_flight *f);

/* Drops decoded code: memory may have new code. */
void kernel_code_changed(void);

/* Stops the queue for good with an error code of queue_inactive_signal (cp_aql.c). */
void cp_aql_error(struct queue *q, uint64_t code, uint64_t index);

#endif
