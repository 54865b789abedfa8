/* SPDX-License-Identifier: MIT */
/* chrome_trace_internal.h - shared by the writer of Perfetto's dialect of Chrome's JSON
 *
 *	chrome_trace.c		header, order of events
 *	chrome_trace_gpu.c	operations: one process for each GPU, one thread for each lane of a queue
 *	chrome_trace_host.c	markers and calls: one process for each traced process, with its threads
 */
#ifndef RTL_EXPORT_CHROME_TRACE_INTERNAL_H
#define RTL_EXPORT_CHROME_TRACE_INTERNAL_H

#include "export/trace_event.h"

/* Process ids of GPU tracks: above any pid of a host, below 2^31. */
#define CHROME_TRACE_GPU_PID INT64_C(2000000000)
#define CHROME_TRACE_STREAM_PID INT64_C(2100000000)

/* ---- the parts of Perfetto's dialect ---- */

int chrome_trace_gpu_write(struct trace_events *t);
int chrome_trace_host_write(struct trace_events *t);

#endif
