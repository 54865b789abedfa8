/* SPDX-License-Identifier: MIT */
/* log.h - VGPU_LOG: one JSON object on a line of its own for each packet processed
 *
 * Lines are collected in memory and written after 50 ms, when the engine becomes idle, when a queue
 * is destroyed and at exit. With VGPU_LOG_SYNC=1 a line is in the file before the packet's
 * completion is visible.
 */
#ifndef VGPU_LOG_H
#define VGPU_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct log_where {
	unsigned int gpu;
	uint64_t queue;	   /* hsa_queue_t.id; for a copy queue the same as queue_id */
	uint64_t queue_id; /* the driver's number of the queue, unique in a process */
};

struct gcn_counters;
struct gcn_stop;

struct log_copy {
	bool fill;
	uint64_t op, bytes, packets, src, dst, begin, end, signal;
};

void log_open(void);
bool log_enabled(void);

void log_clock(unsigned int gpu);
void log_queue(const struct log_where *where, bool create, const char *engine, uint64_t size);
/* counters: may be NULL */
void log_dispatch(const struct log_where *where, uint64_t index, const void *packet, uint64_t begin,
		  uint64_t end, const struct gcn_counters *counters);
/* kind is "barrier" or "vendor" */
void log_packet(const struct log_where *where, const char *kind, uint64_t index, uint64_t begin,
		uint64_t end, uint64_t signal);
void log_copied(const struct log_where *where, const struct log_copy *copy);
/* a thread trace was stopped: what a shader engine has written, and lost */
void log_thread_trace(unsigned int gpu, unsigned int se, uint64_t buffer, uint64_t tokens,
		      uint64_t lost);
/* an injected fault took effect; index is that of the packet, or of the call */
void log_fault(const struct log_where *where, const char *fault, uint64_t index);
/* the packet, or the SDMA operation, used `addr`, which is no memory of the device; injected,
 * too */
void log_memory_fault(const struct log_where *where, uint64_t index, uint64_t addr);

/* a kernel was stopped: the instruction, and why */
void log_stop(const struct log_where *where, const char *fault, uint64_t index, const char *kernel,
	      const struct gcn_stop *stop);

/* Writes lines older than 50 ms, or all if `idle`. */
void log_tick(uint64_t now_ns, bool idle);
void log_flush(void);

/* Around fork(): the child writes nothing. */
void log_lock(void);
void log_unlock(bool child);

#endif
