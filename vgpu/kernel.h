/* SPDX-License-Identifier: MIT */
/* kernel.h - what a kernel does and how long it takes
 *
 * The seam between the command processor and what runs kernels (gcn/). A kernel that is executed runs in slices,
 * each as long as the engine can do without its lock being asked for.
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
	KERNEL_OVER,	/* executed, or only timed */
	KERNEL_RUNNING, /* there is more to do */
	KERNEL_FAILED,	/* the queue was stopped */
};

/* How long the kernel occupies its queue, in ns; `insts`: instructions that its waves executed. */
uint64_t kernel_duration_ns(const hsa_kernel_dispatch_packet_t *packet, uint64_t insts);

/* Has the queue less scratch memory than this packet's kernel wants? The runtime has to be asked then. */
bool kernel_wants_scratch(const struct queue *q, const void *packet);

/* Is another kernel of the queue using its scratch memory, of which each takes the same part? */
bool kernel_waits_for_scratch(const struct queue *q, const void *packet);

/* Begins to execute a flight's packet, and does a slice. */
enum kernel_state kernel_begin(struct queue *q, struct queue_flight *f);
/* Does another slice. */
enum kernel_state kernel_continue(struct queue *q, struct queue_flight *f);
/* Gives back what a flight holds; any number of times. */
void kernel_end(struct queue_flight *f);

/* Code may have changed in memory. */
void kernel_code_changed(void);

/* Stops the queue for good with an error code of queue_inactive_signal (cp_aql.c). */
void cp_aql_error(struct queue *q, uint64_t code, uint64_t index);

#endif
