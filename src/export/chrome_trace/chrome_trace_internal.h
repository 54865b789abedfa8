/* SPDX-License-Identifier: MIT */
/* chrome_trace_internal.h - shared by the writer of Perfetto's dialect of Chrome's JSON
 *
 *	chrome_trace.c		header, order of events, names and annotations, arrows between calls
 *	chrome_trace_gpu.c	operations: one process for each GPU, one thread for each strip of a
 *				queue
 *	chrome_trace_host.c	markers and calls: one process for each traced process, with its
 *				threads
 *	chrome_trace_collective.c	collectives of several GPUs, and arrows between their
 *					kernels
 */
#ifndef RTL_EXPORT_CHROME_TRACE_INTERNAL_H
#define RTL_EXPORT_CHROME_TRACE_INTERNAL_H

#include "export/trace_event.h"
#include "export/walk.h"

/* Process ids of GPU tracks: above any pid of a host, below 2^31. */
#define CHROME_TRACE_GPU_PID INT64_C(2000000000)
#define CHROME_TRACE_STREAM_PID INT64_C(2100000000)
#define CHROME_TRACE_COLLECTIVE_PID INT64_C(2140000000)

/* A file being written. */
struct chrome_trace {
	struct trace_events events;
	struct walk *walk;
	struct trace_event_maker *maker;
	/* of GPUs */
	struct tracks tracks;
	int64_t next_tid;
	int64_t *pids; /* processes with metadata events so far */
	size_t nr_pids;
	sqlite3_stmt *stream;
	/* of threads */
	int64_t nr_processes; /* with metadata events so far */
	int64_t nr_messages;  /* so far */
	struct trace_event_thread thread;
	struct chrome_trace_collectives *collectives;
};

/* A function of struct walk_ops. */
int chrome_trace_gpu_put(void *trace, const struct walk_operation *op);
int chrome_trace_gpu_sample(void *trace, const struct walk_sample *sample);
int chrome_trace_host_put(void *trace, const struct walk_call *call);

/* Metadata events of all processes and threads. */
int chrome_trace_host_begin(struct chrome_trace *t);
int chrome_trace_gpu_begin(struct chrome_trace *t);
void chrome_trace_gpu_end(struct chrome_trace *t);
/* Before the operations. 0 or -errno with q->res->error. */
int chrome_trace_collectives(struct chrome_trace *t);
void chrome_trace_collectives_end(struct chrome_trace *t);
/* An arrow between two slices. `what`: its category and name; `id`: unique in it. */
struct chrome_trace_point {
	int64_t pid, tid, ns;
};
int chrome_trace_arrow(struct chrome_trace *t, const char *what, int64_t id,
		       const struct chrome_trace_point *from, const struct chrome_trace_point *to);
/* Notes the track of an operation that an arrow may join. */
int chrome_trace_locate(struct chrome_trace *t, int64_t op, int64_t pid, int64_t tid);
/* Arrows of collectives, after the operations. */
int chrome_trace_arrows(struct chrome_trace *t);

#endif
