/* SPDX-License-Identifier: MIT */
/* trigger.h - records that a user wants a snapshot for, seen where they are: in the memory half of
 * a running process
 *
 * The process does nothing for it. Each record is looked at once: in its chunk while that is being
 * filled, or when it is drained. One thread.
 */
#ifndef RTL_CLI_TRACE_TRIGGER_H
#define RTL_CLI_TRACE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/drain.h"

struct trigger_options {
	uint64_t longer_ns; /* operations that take longer; 0: none */
	bool errors;	    /* calls that fail */
	const char *mark;   /* markers with this text, see capture_like(); NULL: none */
};

#define TRIGGER_TEXT_SIZE 160

/* Of one trace. */
struct trigger {
	const struct trigger_options *options;
	struct trigger_slot {
		uint64_t seq; /* of its chunk */
		uint32_t at;  /* bytes of it that were looked at */
	} * slots;
	uint32_t nr_slots;
	uint64_t nr;		      /* records that matched since the last trigger_take() */
	char text[TRIGGER_TEXT_SIZE]; /* what the first of them is */
};

bool trigger_is_used(const struct trigger_options *options);
/* 0 or -ENOMEM. Sets d->see; drain_look() then finds records in chunks that are being filled.
 * `options` and `d` must live until trigger_fini(). */
int trigger_init(struct trigger *t, const struct trigger_options *options, struct drain *d);
void trigger_fini(struct trigger *t);
/* How many matched since the last call; t->text says what the first was. */
uint64_t trigger_take(struct trigger *t);

#endif
