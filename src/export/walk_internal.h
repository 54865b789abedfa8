/* SPDX-License-Identifier: MIT */
/* walk_internal.h - shared by the files of the walk
 *
 *	walk.c		parts, names, samples
 *	walk_op.c	operations, and their annotations
 *	walk_call.c	calls and markers, and theirs
 *	walk_collective.c	collectives, and which of their kernels are joined
 */
#ifndef RTL_EXPORT_WALK_INTERNAL_H
#define RTL_EXPORT_WALK_INTERNAL_H

#include "export/walk.h"

/* What is known of the name of a call, by its id. */
struct walk_function {
	const char *domain;
	const char *status_type; /* label_status_type() */
};

struct walk {
	struct query *q;
	const struct walk_ops *ops;
	void *w; /* of the writer */
	enum rows_order kind;
	/* parts */
	struct kept kernels, symbols, types, shapes, kinds, sources, targets, streams, gpus, flags,
		functions, args, barrier;
	sqlite3_stmt *string, *symbol, *type, *kernel, *agent, *stream, *graph, *counter, *cause,
		*call;
	struct query_texts shape, texts;
	int64_t kernel_id;		     /* of the statement's row; 0: none */
	const struct query_process *process; /* of the last operation */
	struct walk_counter {
		int64_t id;
		char *name;
	} * counters;
	size_t nr_counters;
	int64_t function_id; /* of the last call, and where it is in `all` */
	size_t function;
	struct map function_index;
	struct walk_function *all;
	size_t nr_functions, max_functions;
	struct walk_joints {
		int64_t *ops; /* of each collective one after the other, the last rank's first */
		size_t nr, max;
		struct walk_joint_set {
			int64_t begin;
			size_t first; /* in `ops` */
		} * sets;
		size_t nr_sets, max_sets;
		struct map sets_by_op;
	} joints;
	struct walk_cause last; /* the cause that was found last */
	bool last_good;
	/* of an event; large, and most of it is not written */
	struct walk_operation op;
	struct walk_call event;
	struct walk_collective collective;
	walk_collective_fn put_collective;
};

/* ---- annotations of the event ---- */

/* An event has fewer annotations of its own, but for counters, of which there may be any number. */
#define WALK_NOTES 32

static inline void walk_add(struct walk_notes *n, struct walk_note note)
{
	n->own[n->nr++] = note;
}

static inline void walk_add_int(struct walk_notes *n, enum walk_key key, int64_t number)
{
	struct walk_note *note = &n->own[n->nr++];

	note->key = key;
	note->type = WALK_INT;
	note->number = number;
}

#define walk_int(k, v) ((struct walk_note){ .key = (k), .type = WALK_INT, .number = (v) })
#define walk_text(k, v) ((struct walk_note){ .key = (k), .type = WALK_TEXT, .text = (v) })

void walk_joints_fini(struct walk_joints *joints);

/* Encodes a part, keeps it and adds it to the event's. */
int walk_keep(struct walk *walk, struct kept *kept, uint64_t key, const struct walk_note *notes,
	      size_t nr, struct walk_notes *to);
/* Adds a part that is kept; false: it has to be made. */
static inline bool walk_has(struct kept *kept, uint64_t key, struct walk_notes *to)
{
	if (!kept_get(kept, key, &to->parts[to->nr_parts]))
		return false;
	to->nr_parts++;
	return true;
}
/* The encoded name of a kind of names, which is the first column of the statement's row. */
int walk_name(struct walk *walk, struct kept *kept, int64_t id, enum walk_what what,
	      sqlite3_stmt *stmt, struct kept_part *name);

#endif
