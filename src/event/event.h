/* SPDX-License-Identifier: MIT */
/* event.h - what sources tell sinks, as it is passed along in the process
 *
 * An event is borrowed for the call: a sink copies what it keeps. Times are ns of ROCr's system
 * clock (clock_now_ns() of base/clock.h), ticks are the GPU's. On-disk forms are in format.h.
 */
#ifndef RTL_EVENT_EVENT_H
#define RTL_EVENT_EVENT_H

#include <stdint.h>

#include "event/format.h"

/* In the correlation id of a dispatch, copy or barrier: it was submitted while recording was paused
 * (pause.h), and is for other sinks than the recorder. Never in a trace. */
#define EVENT_LEFT_OUT (UINT64_C(1) << 63)
/* In the same place: the HIP call that submitted it was not seen. bus_emit() takes it out and counts `api_missed`,
 * so that the count is that of the operations on record. No sink sees it. */
#define EVENT_MISSED (UINT64_C(1) << 62)

enum event_kind {
	EVENT_STRING,
	EVENT_INFO,
	EVENT_CLOCK,
	EVENT_AGENT,
	EVENT_QUEUE,
	EVENT_QUEUE_END,
	EVENT_CODE_OBJECT,
	EVENT_CODE_OBJECT_END,
	EVENT_KERNEL,
	EVENT_DISPATCH,
	EVENT_COPY,
	EVENT_BARRIER,
	EVENT_MARKER,
	EVENT_MARKER_END,
	EVENT_OP,
	EVENT_API,
	EVENT_LINK,
	EVENT_NR_KINDS
};

struct event_string {
	uint32_t id; /* unique in the process, from 1 */
	uint32_t size;
	const char *text; /* size bytes, need not end in NUL */
};

struct event_info {
	uint32_t key, value; /* string ids */
};

struct event_clock {
	uint32_t agent; /* index + 1, or 0 */
	uint64_t system_ns, monotonic_ns, boottime_ns, realtime_ns, ticks;
};

struct event_agent {
	uint32_t index;
	uint64_t handle;
	uint32_t name, product, vendor, uuid; /* string ids */
	uint32_t agent_type, gpu_index, node, nr_cu, simd_per_cu, wave_size, max_waves_per_cu,
		clock_mhz, bdf;
};

struct event_queue {
	uint32_t index, flags /* enum rec_queue_flags */, agent, size, tid, queue_type;
	uint64_t hsa_id, handle, time_ns;
};

struct event_end {   /* EVENT_QUEUE_END, EVENT_CODE_OBJECT_END, EVENT_MARKER_END */
	uint32_t id; /* the object's; for a marker the thread that ends it */
	uint64_t time_ns, marker;
};

struct event_code_object {
	uint32_t id, agent, uri;
	uint64_t load_base, load_size, load_delta, time_ns;
};

struct event_kernel {
	uint32_t id, name, code_object, agent, kernarg_size, group_size, private_size;
	uint32_t rsrc1, rsrc2, rsrc3;
	uint64_t object;
};

struct event_dispatch {
	uint64_t begin_ticks, end_ticks, begin_ns, end_ns;
	uint64_t packet, correlation, marker;
	/* its shape: from here to group_size as in struct rec_shape, with which it is compared at once; reserved is 0 */
	uint32_t kernel, queue;
	uint32_t grid[3];
	uint16_t group[3], reserved;
	uint32_t private_size, group_size;
	uint32_t tid;
	uint16_t flags; /* enum rec_flags */
};

struct event_copy {
	uint64_t begin_ns, end_ns, bytes, correlation, marker, dst, src;
	uint32_t dst_agent, src_agent, kind, engine, tid;
	uint16_t flags;
};

struct event_barrier {
	uint64_t begin_ns, end_ns, packet, correlation;
	uint32_t queue, kind, tid;
	uint16_t flags;
};

struct event_marker {
	uint64_t time_ns, marker, parent;
	uint32_t kind, level, tid, size;
	const char *text; /* size bytes */
};

struct event_op {
	uint32_t domain, op;	  /* enum rec_api_domain; number in it */
	uint32_t name, signature; /* string ids */
};

struct event_api {
	uint64_t begin_ns, end_ns, correlation, parent;
	uint32_t tid;
	int32_t status;
	uint16_t op;
	uint8_t domain, nr_words;
	const uint64_t *words;
};

struct event_link {
	uint64_t operation; /* the correlation id that it was given when it was submitted */
	uint64_t correlation, marker; /* of the call that it belongs to */
	uint32_t tid;
};

struct event {
	enum event_kind kind;
	union {
		struct event_string string;
		struct event_info info;
		struct event_clock clock;
		struct event_agent agent;
		struct event_queue queue;
		struct event_end end;
		struct event_code_object code_object;
		struct event_kernel kernel;
		struct event_dispatch dispatch;
		struct event_copy copy;
		struct event_barrier barrier;
		struct event_marker marker;
		struct event_op op;
		struct event_api api;
		struct event_link link;
	};
};

#endif
