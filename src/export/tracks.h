/* SPDX-License-Identifier: MIT */
/* tracks.h - which track of a viewer an event goes to
 *
 * Viewers drop slices of one track that overlap without nesting. So operations of one queue go to
 * as many strips as it has at once, and rows of a thread that do not nest go to strips beside it.
 * Plain structures of the caller; one thread.
 */
#ifndef RTL_EXPORT_TRACKS_H
#define RTL_EXPORT_TRACKS_H

#include "query/rows.h"
#include "store/map.h"

/* ---- strips: at any time at most one event each ---- */

struct track_strips {
	struct track_strip {
		int64_t end_ns;
		uint64_t id; /* the caller's */
	} * strips;
	size_t nr, max;
};

/* The first strip that is free at `begin`; it is taken until `end`. A new one has the id 0, and is
 * the last. NULL: out of memory. Rows come by their begin. */
struct track_strip *tracks_find_strip(struct track_strips *l, int64_t begin, int64_t end);
void tracks_fini_strips(struct track_strips *l);

/* ---- the track of an operation ---- */

/* The track of an operation: a queue, a stream, ... of one process. */
struct track {
	enum rows_order kind;
	int64_t gpu, queue, block;
	bool copies, open;
	struct track_strips strips;
	uint64_t group; /* the caller's */
};

/* All of them, for operations by time. */
struct tracks {
	struct map index; /* hash of kind, GPU, queue and process -> number */
	struct track **all;
	size_t nr, max;
	struct track *last;
};

/* The operation's, valid until tracks_fini(); *fresh: it is new, and has no strips yet. NULL: out
 * of memory. */
struct track *tracks_of(struct tracks *t, const struct rows_op *op, enum rows_order kind,
			bool *fresh);
void tracks_fini(struct tracks *t);
/* Shows an operation on its queue, and where it has a stream on that, with *order set for each. 0
 * or -errno. */
int tracks_show(const struct rows_op *op, enum rows_order *order,
		int (*show)(void *arg, const struct rows_op *op), void *arg);

/* Whether the operation begins a new track, which has no strips yet. */
bool tracks_begins(struct track *t, const struct rows_op *op, enum rows_order kind);

#define TRACK_NAME 192
/* Of a strip: "queue 2", "stream 1 (0x5581ab30) (pid 12) #2". `stream` is a statement of
 * ROWS_STREAM_NAME. */
void tracks_name(const struct query *q, const struct track *t, const struct rows_op *op,
		 size_t strip, sqlite3_stmt *stream, char name[TRACK_NAME]);
/* Names of enum rec_flags, as viewers show them. */
struct track_flag {
	int64_t bit;
	const char *name;
};
#define TRACK_FLAGS 7
extern const struct track_flag track_flags[TRACK_FLAGS];
#define TRACK_FLAG_MASK 0x7f
/* 10^9 bytes a second, with three digits; 0: unknown. */
double tracks_rate(const struct rows_op *op);
/* Of its GPU: "GPU 0", "GPU 0 by stream". */
void tracks_group(const struct track *t, char name[TRACK_NAME]);

/* ---- a thread's calls and ranges, which nest ---- */

#define NEST_DEPTH 512

struct nest {
	size_t depth;
	struct {
		int64_t end_ns;
		int64_t id; /* the caller's */
	} open[NEST_DEPTH];
};

/* Called for each slice that ends, the innermost first. 0 or -errno, which ends it. */
typedef int (*nest_end_fn)(void *arg, int64_t end_ns, int64_t id);
/* Ends what has ended by `begin`: INT64_MAX ends all. */
int tracks_until(struct nest *n, int64_t begin, nest_end_fn end, void *arg);
/* Opens a slice. False: it does not nest, or is too deep, and is not opened. */
bool tracks_open(struct nest *n, int64_t begin, int64_t end, int64_t id);
/* The id of the innermost open slice; 0: none. */
int64_t tracks_top(const struct nest *n);

/* How a row of enum rows_call is shown, from rows_prepare()'s first time on. */
enum track_shape { TRACK_INSTANT, TRACK_SLICE, TRACK_APART };
enum track_shape tracks_shape_of(const struct query *q, const struct rows_call *row,
				 int64_t *begin);

#endif
