/* SPDX-License-Identifier: MIT */
/* walk.h - a trace as events with their annotations, for the writers of viewers' formats
 *
 * The walk reads the rows (query/rows.h), finds what they refer to, and calls the writer's
 * functions. What an event is annotated with is decided here, in walk_op.c and walk_call.c, for all
 * formats; a writer decides how an annotation is written.
 *
 * Annotations of what many events share (a shape of a kernel, a function, a text of arguments) are
 * a part: the writer encodes a part once, and gets its bytes with each event. Memory: the parts
 * that kept.h keeps of each kind, and tracks. One thread.
 */
#ifndef RTL_EXPORT_WALK_H
#define RTL_EXPORT_WALK_H

#include "analysis/collective_tracks.h"
#include "analysis/mpi_messages.h"
#include "export/kept.h"
#include "export/tracks.h"
#include "query/rows.h"

/* ---- annotations ---- */

/* X(id, name, name in the formats of rocprofv3). One that is not known of an event is not among its
 * annotations. */
#define WALK_KEYS(X)                                                                               \
	X(KERNEL, "kernel", "kernel") /* with its parameters */                                    \
	X(MANGLED, "mangled", "mangled")                                                           \
	X(GRID, "grid", "grid") /* in work-items */                                                \
	X(WORKGROUP, "workgroup", "workgroup")                                                     \
	X(KERNEL_ID, "kernel_id", "kernel_id")                                                     \
	X(LDS, "lds_bytes", "LDS_Block_Size")                                                      \
	X(SCRATCH, "scratch_bytes", "Scratch_Size") /* of a work-item */                           \
	X(VGPR, "vgprs", "VGPR_Count")                                                             \
	X(ACCUM_VGPR, "accum_vgprs", "Accum_VGPR_Count")                                           \
	X(SGPR, "sgprs", "SGPR_Count")                                                             \
	X(TYPE, "type", "type") /* of an operation of RPD */                                       \
	X(BYTES, "bytes", "bytes")                                                                 \
	X(RATE, "gb_per_s", "gb_per_s")                                                            \
	X(SRC, "src", "src")                                                                       \
	X(DST, "dst", "dst")                                                                       \
	X(AGENT, "agent", "agent") /* "GPU 0" */                                                   \
	X(PID, "pid", "pid")                                                                       \
	X(RANK, "rank", "rank")                                                                    \
	X(QUEUE, "queue", "queue")                                                                 \
	X(PACKET, "packet", "packet")                                                              \
	X(STREAM_ID, "stream_id", "stream_ID") /* from 1, of a process */                          \
	X(STREAM, "stream", "stream")	       /* its handle */                                    \
	X(CORR_ID, "corr_id", "corr_id")                                                           \
	X(API_ID, "api_id", "api_id")                                                              \
	X(MARKER, "marker", "marker")                                                              \
	X(GRAPH_EXEC, "graph_exec", "graph_exec")                                                  \
	X(GRAPH_REPLAY, "graph_replay", "graph_replay")                                            \
	X(GRAPH_NODE, "graph_node", "graph_node")                                                  \
	X(COUNTER, "counter", "counter") /* under the name of the counter */                       \
	X(BEGIN_NS, "begin_ns", "begin_ns")                                                        \
	X(END_NS, "end_ns", "end_ns")                                                              \
	X(FLAGS, "flags", "flags") /* track_flags */                                               \
	X(OP, "op", "op")	   /* the operation that is shown once more */                     \
	X(ARGS, "args", "args")	   /* as in call_args.h */                                         \
	X(STATUS, "status", "status")                                                              \
	X(ERROR, "error", "error")                                                                 \
	X(TID, "tid", "tid")                                                                       \
	X(PARENT_ID, "parent_id", "parent_id")                                                     \
	X(UNCLOSED, "unclosed", "unclosed")                                                        \
	X(NUMBER, "number", "number") /* in the channel of the collective, from 1 */               \
	X(CLASS, "class", "class")                                                                 \
	X(SKEW_NS, "skew_ns", "skew_ns")                                                           \
	X(TRANSFER_NS, "transfer_ns", "transfer_ns")

enum walk_key {
#define WALK_KEY_ID(id, name, rocprofv3) WALK_##id,
	WALK_KEYS(WALK_KEY_ID) WALK_NR
};

/* How its value is written. */
enum walk_type { WALK_INT, WALK_REAL, WALK_TEXT, WALK_XYZ, WALK_BITS, WALK_TRUE, WALK_ARGUMENTS };

struct walk_note {
	enum walk_key key;
	enum walk_type type;
	int64_t number; /* WALK_INT; WALK_BITS */
	double real;
	const char *text; /* WALK_TEXT, WALK_ARGUMENTS; the name of a counter */
	int64_t xyz[3];
};

/* ---- events ---- */

/* What has a name. */
enum walk_what { WALK_KERNEL_NAME, WALK_COPY_NAME, WALK_BARRIER_NAME, WALK_FUNCTION_NAME };

#define WALK_PARTS 8

/* The annotations of an event; valid until its function returns. */
struct walk_notes {
	struct kept_part parts[WALK_PARTS];
	size_t nr_parts;
	struct walk_note *own;
	size_t nr, max;
};

struct walk_operation {
	const struct rows_op *row;
	enum rows_order kind; /* ROWS_BY_STREAM: shown once more, by its stream */
	bool timed;	      /* a slice, otherwise an instant */
	int64_t begin, end; /* for viewers: never before the first event; of an instant the same */
	int64_t first;	    /* id 0 of its process: what annotations count from */
	struct kept_part name;
	struct walk_notes notes;
};

struct walk_call {
	const struct rows_call *row; /* a call or a marker */
	const char *domain;	     /* label_domain(); of a marker NULL */
	const char *message;	     /* of a marker */
	int64_t first;
	struct kept_part name; /* of a call */
	struct walk_notes notes;
};

/* A value of a counter of a GPU from an instant on. */
struct walk_sample {
	int64_t gpu, ns;
	const char *counter;
	double value;
	const char *track; /* the name of its track; NULL: the writer has its own */
	bool is_bytes;
};

/* A collective of several GPUs. */
struct walk_collective {
	const struct collective_slices *slices;
	struct walk_notes notes;
};

/* Functions return 0, or -errno, which ends the walk. */
struct walk_ops {
	int (*operation)(void *w, const struct walk_operation *op);
	int (*call)(void *w, const struct walk_call *call);
	int (*sample)(void *w, const struct walk_sample *sample);
	/* Encode a name, and annotations; bytes are valid until the next call. */
	int (*name)(void *w, enum walk_what what, const char *text, struct kept_part *to);
	int (*encode)(void *w, const struct walk_note *notes, size_t nr, struct kept_part *to);
};

/* ---- the walk ---- */

struct walk;

/* After rows_prepare(). `w` is passed to the functions; all live until walk_end(). 0 or -errno with
 * q->res->error. */
int walk_begin(struct walk **out, struct query *q, const struct walk_ops *ops, void *w);
void walk_end(struct walk *walk);

/* Markers and calls, as rows_calls() orders them. */
int walk_calls(struct walk *walk);
/* Operations nearly by their begin, each also by its stream where it has one; then those of the
 * runtime, and barriers. */
int walk_operations(struct walk *walk);
/* Operations of one order alone. */
int walk_operations_by(struct walk *walk, enum rows_order order);
/* Counters of each GPU, one after the other, by time. A counter of dispatches is 0 between them.
 * With q->names_agents also the bytes that are being copied to each agent, and those of scratch
 * memory. */
int walk_samples(struct walk *walk);

/* Collectives, for which `put` is called, by their tracks' channels in the order of time. None of a
 * part of the processes. Before walk_operations(): the walk keeps the kernels of the first
 * WALK_JOINT ranks, 32 bytes each, for walk_joint(). */
typedef int (*walk_collective_fn)(void *w, const struct walk_collective *collective);
int walk_collectives(struct walk *walk, walk_collective_fn put);

#define WALK_JOINT 262144u

/* The kernels of a collective that are joined by arrows: from that of the last rank, at its begin,
 * to those that run then, which waited for it. */
struct walk_joint {
	int64_t begin;	    /* of the last rank's kernel */
	const int64_t *ops; /* ids; the last rank's is the first */
	size_t nr, first;   /* `first`: number of ops[0] among all kernels that are joined */
};
/* False: the operation is not of one. *number: which one of `ops`. */
bool walk_joint(const struct walk *walk, int64_t op, struct walk_joint *joint, size_t *number);
/* All of them, one after the other: begin with *at = 0. False: there is no further one. */
bool walk_joint_next(const struct walk *walk, size_t *at, struct walk_joint *joint);

/* Messages of MPI, by channels (analysis/mpi_messages.h). None of a part of the processes. Those
 * that can't be paired are counted in a warning. */
int walk_messages(struct walk *walk, mpi_messages_fn put);

/* What caused an operation: a call; else a range, which has no correlation id. */
struct walk_cause {
	int64_t id, pid, tid, begin, end, correlation;
	bool is_call;
};
/* False: it is not known, or is a range that no thread's track has. */
bool walk_cause(struct walk *walk, const struct rows_op *op, struct walk_cause *cause);

#endif
