/* SPDX-License-Identifier: MIT */
/* spool_make.h - writes spools for tests, straight from spool/format.h
 *
 * It shares no code with the recorder or the drainer, so that it does not repeat their mistakes. A
 * test writes chunk by chunk with spool_make_*(), or uses the sample. Errors end the test (abort).
 * spool.py is the same writer for Python.
 */
#ifndef RTL_SUPPORT_SPOOL_MAKE_H
#define RTL_SUPPORT_SPOOL_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"

struct spool_make {
	struct spool_header header;
	int disk_fd, mem_fd; /* -1: that half is not written */
	char path[SPOOL_NAME_SIZE], mem_path[SPOOL_NAME_SIZE];
	uint64_t disk_end;
	uint64_t seq;
	uint32_t slot;	     /* next free slot */
	uint32_t next_shape; /* of the chunk being filled */
	bool open;
	struct chunk_header chunk;
	_Alignas(8) uint8_t payload[SLOT_SIZE];
	uint32_t used;
};

/* Begins a trace of `pid` at `path` (X.rtl). With `mem`, X.mem beside it holds its memory half. */
void spool_make_begin(struct spool_make *m, const char *path, uint32_t pid, bool mem);
/* The same on the heap, for spool.py; spool_make_free() after spool_make_end(). */
struct spool_make *spool_make_new(const char *path, uint32_t pid, bool mem);
void spool_make_free(struct spool_make *m);
/* Identity in the header: trace id, begin of the trace, begin of the process (field 22 of its
 * stat), boot id. */
void spool_make_process(struct spool_make *m, uint64_t trace_id, uint64_t start_ns,
			uint64_t start_ticks, const char *boot_id);
/* A chunk of thread tid; records go to it until spool_make_chunk_end(). */
void spool_make_chunk(struct spool_make *m, uint32_t tid);
/* To the disk half, or into a slot in that state of the memory half. */
void spool_make_chunk_end(struct spool_make *m);
void spool_make_chunk_slot(struct spool_make *m, enum slot_state state);
/* Any record, padded to a multiple of 8 bytes. */
void spool_make_raw(struct spool_make *m, const void *rec, size_t size);
/* Writes the headers and closes the files; closed: the trace is complete. */
void spool_make_end(struct spool_make *m, bool closed);
void spool_make_loss(struct spool_make *m, enum spool_reason reason, uint64_t count,
		     uint64_t first_ns, uint64_t last_ns);

/* Records. The caller checks spool_make_left(). */
uint32_t spool_make_left(const struct spool_make *m);
void spool_make_string(struct spool_make *m, uint32_t id, const char *text);
void spool_make_info(struct spool_make *m, uint32_t string_id, const char *key, const char *value);
void spool_make_clock(struct spool_make *m, uint32_t agent_plus_1, uint64_t ns, uint64_t ticks);
void spool_make_thread(struct spool_make *m, uint32_t tid, const char *name, uint64_t ns);
void spool_make_agent(struct spool_make *m, uint32_t id, enum rec_agent_type type, uint32_t gpu,
		      uint32_t name);
void spool_make_queue(struct spool_make *m, uint32_t id, uint32_t agent, uint32_t flags,
		      uint64_t ns);
void spool_make_code_object(struct spool_make *m, uint32_t id, uint32_t agent, uint32_t uri,
			    uint64_t ns);
void spool_make_kernel(struct spool_make *m, uint32_t id, uint32_t name, uint32_t agent,
		       uint32_t code_object);
void spool_make_end_of(struct spool_make *m, enum rec_type type, uint32_t id, uint64_t ns,
		       uint64_t marker);
uint32_t spool_make_shape(struct spool_make *m, uint32_t kernel, uint32_t queue, uint32_t grid_x,
			  uint16_t group_x);
struct spool_make_op {
	uint32_t tid, flags, correlation, marker, packet, shape;
	uint64_t begin_ns, end_ns, ticks;
};
void spool_make_dispatch(struct spool_make *m, const struct spool_make_op *op);
void spool_make_dispatch_wide(struct spool_make *m, const struct spool_make_op *op);
void spool_make_copy(struct spool_make *m, const struct spool_make_op *op, enum rec_copy_kind kind,
		     uint32_t src_agent, uint32_t dst_agent, uint64_t bytes);
void spool_make_barrier(struct spool_make *m, const struct spool_make_op *op, uint32_t queue);
void spool_make_marker(struct spool_make *m, enum rec_marker_kind kind, uint32_t tid, uint64_t id,
		       uint64_t parent, uint32_t level, uint64_t ns, const char *text);

/* The sample: host "nodeA", 1 CPU and 2 GPUs, 2 queues of the program and 1 internal, 3 kernels,
 * threads pid and pid + 1, 10 dispatches (1 internal, 1 wide and inverted, 1 unfinished, 1 without
 * times), 3 copies, 1 barrier, 5 markers (mark, nested push, start ended on another thread, push
 * never closed), clocks, code object, a string of three pieces. */
struct spool_make_sample {
	const char *host;
	uint32_t pid;
	bool mem; /* the last chunk stays in the memory half, not closed */
	bool closed;
	uint64_t base_ns;
};
void spool_make_sample(const char *path, const struct spool_make_sample *s);
#define SPOOL_SAMPLE_DISPATCHES 9 /* those of the program */

/* A trace of a process that died with operations in flight: queue 0, 1 copy engine, and of a kernel
 * object that was used twice, kernels 1 and 2. Recorded: dispatch 5 and a copy of 64 bytes. In
 * flight: dispatches 5 (a double) and 6, which were being recorded; 7; 8 of an unknown kernel
 * object without a correlation id; barrier packet 9; the copy of 64 bytes (a double); one of 128
 * bytes. `missing`: as many more dispatches and copies were submitted. */
void spool_make_rest(const char *path, uint64_t missing);

/* A trace whose first chunks were removed: 3 dispatches of queue 0, 2 copies, a call and 2 markers.
 * In it: a superseded carried chunk without its payload; dispatch 3 in open range 1; carried chunks
 * with the definitions, that range, and the counts. */
void spool_make_evicted(const char *path);

/* nr dispatches of 8 kernels on 4 queues by 4 threads in a closed trace, for speed and size. */
void spool_make_many(const char *path, uint64_t nr);

#endif
