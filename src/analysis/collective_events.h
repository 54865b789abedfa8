/* SPDX-License-Identifier: MIT */
/* collective_events.h - the collectives of all parties, in the order in which they came
 *
 * Most members of a collective are those of the channel's collective before, or follow from them:
 * what differs is kept, in some ten bytes instead of 120. They lie in blocks, beyond a MiB in a
 * file without a name in TMPDIR.
 */
#ifndef RTL_ANALYSIS_COLLECTIVE_EVENTS_H
#define RTL_ANALYSIS_COLLECTIVE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/spill.h"

/* A collective of a party. */
struct collective_event {
	int64_t begin, end;
	int64_t kernel_ns, copy_ns;
	int64_t host_ns; /* without an operation until the host launched the next one */
	int64_t since;	 /* end of the party's collective before */
	int64_t op, longest;
	uint64_t bytes;
	/* Set when it is read, 0 until then: the times above are by the reference clock, raw ones
	 * have `ahead` more. error: how far they may be off. */
	int64_t ahead, error;
	int32_t tid;	  /* of the launch; 0: unknown */
	uint32_t name;	  /* of collective_ops.names */
	uint32_t channel; /* of collective_ops.channels */
	/* has_launch: its call is known; is_call: of MPI */
	bool has_launch, has_before, is_untimed, is_graph, is_call;
};

/* One thread uses it: first it adds all events, then it reads them. */
struct collective_events {
	struct spill blocks;
	unsigned char *block; /* the one that is filled */
	size_t used;	      /* bytes of it */
	uint64_t nr;
	struct collective_event *before; /* of each channel, the last one that was added */
	size_t nr_before, max_before;
};

/* Reads them from the first one on. */
struct collective_events_reader {
	const struct collective_events *events;
	struct spill_window window;
	const unsigned char *at; /* in the block before `block` */
	uint64_t block, nr;	 /* the next ones */
	struct collective_event *before;
};

/* 0 or -ENOMEM; collective_events_fini() in both cases. */
int collective_events_init(struct collective_events *c);
/* Accepts a zeroed one. */
void collective_events_fini(struct collective_events *c);
/* Forgets all. */
void collective_events_clear(struct collective_events *c);
/* Its ahead and error are 0. 0 or -errno: of the file, or -ENOMEM. HOT. */
int collective_events_add(struct collective_events *c, const struct collective_event *e);

/* 0 or -ENOMEM; collective_events_end() in both cases. */
int collective_events_begin(const struct collective_events *c, struct collective_events_reader *r);
/* 1 with the next one, which stays until that of the same channel is read; 0 behind the last one;
 * or -errno. HOT. */
int collective_events_next(struct collective_events_reader *r, const struct collective_event **e);
void collective_events_end(struct collective_events_reader *r);

#endif
