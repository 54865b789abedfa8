/* SPDX-License-Identifier: MIT */
/* fault.h - injected faults
 *
 * A rule is a list of key=value separated by commas; rules are separated by semicolons. It selects
 * events: gpu=, queue= (number of the HSA queue), n= (the n-th matching event, from 1) and count=
 * (how many from there on; 0 = all), signal= (whether it has a completion signal). Further keys
 * depend on the kind: see docs/virtual-gpu.md.
 */
#ifndef VGPU_FAULT_H
#define VGPU_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_HANG,
	FAULT_SLOW,
	FAULT_QUEUE_ERROR,
	FAULT_MEMORY,
	FAULT_HOLD,
	FAULT_NO_TIMESTAMPS,
	FAULT_SWAP_TIMESTAMPS,
	FAULT_LOST_EVENT,
	FAULT_LOST_SIGNAL,
	FAULT_SHIFT_TIMESTAMPS,
	FAULT_STRETCH_TIMESTAMPS,
	FAULT_SKIP,
	FAULT_EXIT_ABORT,
	FAULT_WRONG_COPY,
	FAULT_ALLOC,
	FAULT_QUEUE_CREATE,
	FAULT_NR
};

struct fault_rule {
	enum fault_kind kind;
	int64_t gpu, queue;
	uint64_t n, count;
	double factor;
	uint64_t code;
	int64_t until;
	uint64_t done;
	uint64_t min_bytes;
	int64_t shift_ns;
	int64_t signal; /* 1: with a completion signal, 0: without, -1: either */
	uint64_t seen;	/* matching events so far; atomic */
};

/* Adds the rules in `text`; returns NULL, or an error message. Only before the first
 * fault_match(). */
const char *fault_parse(enum fault_kind kind, const char *text);

/* Whether any rule of this kind exists. Cheap. */
bool fault_any(enum fault_kind kind);

/* What a rule may select by. */
struct fault_event {
	int64_t gpu, queue; /* queue -1: it is not of a queue */
	uint64_t bytes;
	bool signal; /* of a dispatch: it has a completion signal */
};

/* Counts the event in every rule of its kind that selects it; returns a rule that fires, or
 * NULL. */
const struct fault_rule *fault_match(enum fault_kind kind, const struct fault_event *event);

/* The process ends by abort() when its libraries are unloaded. */
void fault_abort_at_exit(void);

const char *fault_name(enum fault_kind kind);

#endif
