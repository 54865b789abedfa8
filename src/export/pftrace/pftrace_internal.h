/* SPDX-License-Identifier: MIT */
/* pftrace_internal.h - shared by the writers of Perfetto's format
 *
 *	pftrace.c		packets, tracks, interned names
 *	pftrace_note.c		annotations
 *	pftrace_host.c		markers and calls: a process with its threads
 *	pftrace_gpu.c		operations: a group for each GPU, a track for each strip of a queue
 *	pftrace_counter.c	samples of counters
 *	pftrace_collective.c	collectives of several GPUs
 *	pftrace_message.c	messages of MPI
 *	proto.c			the encoding
 *	perfetto.proto		the part of the format that is written
 */
#ifndef RTL_EXPORT_PFTRACE_INTERNAL_H
#define RTL_EXPORT_PFTRACE_INTERNAL_H

#include "export/json.h"
#include "export/pftrace/proto.h"
#include "export/texts.h"
#include "export/walk.h"
#include "store/map.h"

/* Field numbers of perfetto.proto. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	TRACK_UUID = 1,
	TRACK_TEXT = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_ORDERING = 11,
	TRACK_RANK = 12,
	COUNTER_UNIT = 3,
	COUNTER_MULTIPLIER = 4,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNTER = 44,
	EVENT_FLOW = 47,
	ANNOTATION_NAME = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_ENTRY = 11,
	ANNOTATION_TEXT_IID = 17,
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION = 3,
	INTERNED_TEXT = 29,
	NAMED_IID = 1,
	NAMED_TEXT = 2,
};

enum pftrace_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

#define PFTRACE_ORDER_EXPLICIT 3
#define PFTRACE_UNIT_BYTES 3
#define PFTRACE_BYTES 1024 /* a track of bytes counts these */

/* Names of annotations that only this format has; those of the walk are before them, under the
 * names of rocprofv3. An id is the position, from 1 on. */
#define PFTRACE_NAMES(X)                                                                           \
	X(GRID_SIZE, "grid_size")                                                                  \
	X(WORKGROUP_SIZE, "workgroup_size")                                                        \
	X(DELTA_NS, "delta_ns")                                                                    \
	X(OPERATION, "operation")                                                                  \
	X(VERDICT, "verdict")                                                                      \
	X(COMPLETE, "complete")                                                                    \
	X(TOOL, "tool")                                                                            \
	X(COUNT, "count")
#define PFTRACE_NAME_ID(id, text) A_##id,
enum pftrace_name { A_WALK = WALK_NR, PFTRACE_NAMES(PFTRACE_NAME_ID) A_NR };
#define PFTRACE_OF(key) ((enum pftrace_name)((key) + 1))

#define PFTRACE_CATEGORIES(X)                                                                      \
	X(KERNEL, "kernel")                                                                        \
	X(COPY, "copy")                                                                            \
	X(STREAM, "stream")                                                                        \
	X(RUNTIME, "runtime")                                                                      \
	X(BARRIER, "barrier")                                                                      \
	X(MARKER, "marker")                                                                        \
	X(HIP, "hip_api")                                                                          \
	X(HSA, "hsa_api")                                                                          \
	X(API, "api")                                                                              \
	X(COLLECTIVE, "collective")                                                                \
	X(LOSS, "loss")
#define PFTRACE_CATEGORY_ID(id, text) C_##id,
enum pftrace_category { C_NONE, PFTRACE_CATEGORIES(PFTRACE_CATEGORY_ID) C_NR };

struct pftrace {
	struct query *q;
	struct json *out;
	struct proto packet, fresh; /* fresh: interned data that the next packet brings */
	struct texts keys,
		texts; /* their numbers are iids; of keys, those of `enum pftrace_name` first */
	struct walk *walk;
	struct proto made; /* the part that was encoded last */
	struct pftrace_host *host;
	struct pftrace_gpu *gpu;
	struct pftrace_collectives *collectives;
	struct pftrace_messages *messages;
	char counter[512]; /* the track of the last sample */
	uint64_t counter_track;
	uint64_t nr_names, nr_tracks;
	size_t at_packet, at_event; /* of the open packet */
	uint64_t nr_events;
};

/* ---- packets of events ---- */

void pftrace_begin(struct pftrace *t, enum pftrace_type type, uint64_t track, int64_t ns);
/* 0 or the output's error. */
int pftrace_end(struct pftrace *t);
/* The whole packet that ends a slice; or its begin, for pftrace_end(). */
int pftrace_slice_end(struct pftrace *t, uint64_t track, int64_t ns);
void pftrace_slice_end_begin(struct pftrace *t, uint64_t track, int64_t ns);

/* ---- in an open packet ---- */

/* A new name of events, as a field of one. */
void pftrace_name(struct pftrace *t, struct proto *p, const char *text);
/* Annotations: into the open packet, or into any message that holds them. */
void pftrace_put_int(struct proto *p, enum pftrace_name name, int64_t value);
void pftrace_put_double(struct proto *p, enum pftrace_name name, double value);
void pftrace_put_text(struct proto *p, enum pftrace_name name, const char *text);
/* For texts that many events have. The event's packet, or a later one of an event that has it,
 * brings the text. */
void pftrace_put_interned(struct pftrace *t, struct proto *p, enum pftrace_name name,
			  const char *text);
/* The same in two steps: the text's number, and an annotation with it. */
uint64_t pftrace_text(struct pftrace *t, const char *text);
void pftrace_put_iid(struct proto *p, enum pftrace_name name, uint64_t iid);
/* The id of another annotation's name. */
uint64_t pftrace_key(struct pftrace *t, const char *text, size_t size);

/* ---- tracks ---- */

struct pftrace_track {
	const char *name; /* NULL: that of the process or the thread */
	uint64_t parent;  /* 0: none */
	int64_t rank;	  /* its position among those of the parent */
	int64_t pid, tid; /* of a process, and of a thread; -1: neither */
	const char *process, *thread;
	bool counter, is_bytes;
};
/* Describes a track and returns its id; errors come with the next event. */
uint64_t pftrace_track(struct pftrace *t, const struct pftrace_track *track);

/* ---- annotations of the walk ---- */

/* `interned`: texts are, since many events have them. */
void pftrace_put_notes(struct pftrace *t, struct proto *p, const struct walk_note *notes, size_t nr,
		       bool interned);
/* All of an event, into the open packet. */
void pftrace_put_all(struct pftrace *t, const struct walk_notes *notes);

/* ---- functions of struct walk_ops, and what is around them ---- */

int pftrace_gpu_begin(struct pftrace *t);
int pftrace_gpu_put(void *trace, const struct walk_operation *op);
void pftrace_gpu_end(struct pftrace *t);
int pftrace_host_begin(struct pftrace *t);
int pftrace_host_put(void *trace, const struct walk_call *call);
/* Ends the open slices. */
int pftrace_host_close(struct pftrace *t);
void pftrace_host_end(struct pftrace *t);
int pftrace_counter_put(void *trace, const struct walk_sample *sample);
/* Collectives, before the operations. 0 or -errno with q->res->error. */
int pftrace_collectives(struct pftrace *t);
/* Ids of flows: of calls those of their rows, which are positive; the two uppermost bits say what
 * others are of. */
#define PFTRACE_FLOW_OF_COLLECTIVE(op) (UINT64_C(1) << 63 | (uint64_t)(op))
#define PFTRACE_FLOW_OF_MESSAGE(number) (UINT64_C(1) << 62 | (uint64_t)(number))
/* Messages of MPI, before the calls: the first PFTRACE_MESSAGES are kept, 64 bytes each. 0 or
 * -errno with q->res->error. */
#define PFTRACE_MESSAGES 1048576u
int pftrace_messages_begin(struct pftrace *t);
void pftrace_messages_end(struct pftrace *t);
/* Flows of a call, in the open packet of its begin: of what it sends; and in that of its end: of
 * what it has received. */
void pftrace_sent(struct pftrace *t, int64_t call);
void pftrace_received(struct pftrace *t, int64_t call);
/* Flows of an operation, in the open packet of its begin or end: from the begin of the last rank's
 * kernel to the ends of those that waited for it. Readers lead a flow from its earlier packet to
 * its later one. */
void pftrace_flows_begin(struct pftrace *t, int64_t op);
void pftrace_flows_end(struct pftrace *t, int64_t op);

#endif
