/* SPDX-License-Identifier: MIT */
/* copy_held.h - copies that wait in librtl while a kernel is replayed (counter/replay.h)
 *
 * A replay saves and restores memory of a GPU: a copy that writes to it in between would be undone,
 * one that reads it would get values of a half-done kernel. And the engine that executes the
 * program's copies in order executes those of the replay, too: they would wait behind a copy that
 * waits for the replayed kernel. So with RTL_PMC_REPLAY an asynchronous copy is given to the
 * runtime when its signals have completed and no replay runs: by its call if that is so already,
 * else later, by the harvester. Its completion signal behaves as always. Copies in one direction of
 * one GPU, which one engine executes, stay in order: HIP relies on that. A copy that the runtime
 * refuses then sets its signal to -1, as the runtime does where a copy fails.
 *
 * Calls that copy before they return wait for the end of the replay, 2 * RTL_PMC_WAIT_MS at most.
 *
 *   operation            | copy_held_hold | _enter, _leave | copy_held_tick | copy_held_close
 *   ---------------------+----------------+----------------+----------------+----------------
 *   copy_held_hold       | any            | any            | any            | any
 *   copy_held_enter      |                | any            | any            | any
 *   copy_held_tick       |                |                | one thread     | the same thread
 */
#ifndef RTL_SOURCE_HSA_COPY_HELD_H
#define RTL_SOURCE_HSA_COPY_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "base/env.h"
#include "event/event.h"
#include "source/hsa/queue/internal_queue.h"

struct copy;

/* A copy call in progress. */
struct copy_call {
	struct internal_queue_call internal;
	struct copy *info;
	bool is_wanted;	  /* join_wanted() was called for it */
	bool is_notified; /* `notified`: what listeners got */
	struct event_copy notified;
};

/* The arguments of a call, but for the signals that it waits for. Each copy makes one: a rect's are
 * where the program has them. */
struct copy_args {
	enum { COPY_LINEAR, COPY_ON_ENGINE, COPY_RECT } how;
	hsa_signal_t completion;
	uint32_t order; /* copies of the same one stay in the order of their calls */
	/* linear */
	void *dst;
	const void *src;
	hsa_agent_t dst_agent, src_agent;
	size_t size;
	int engine;
	bool force_sdma;
	/* rect */
	const hsa_pitched_ptr_t *dst_pitched, *src_pitched;
	const hsa_dim3_t *dst_offset, *src_offset, *range;
	hsa_agent_t agent;
	hsa_amd_copy_direction_t direction;
};

/* The runtime's function. */
hsa_status_t copy_call_real(const struct copy_args *a, uint32_t nr, const hsa_signal_t *signals);

/* Whether copies may be held. */
static inline bool copy_held_is_on(void)
{
	return env_bool(ENV_PMC_REPLAY);
}

/* Holds the copy if it has to wait; `end` is called then, on the harvester, with what the runtime
 * returned for it. The call's entry, if it has one, is in the table of copies. False: it does not
 * have to wait, or there is no memory. */
typedef void (*copy_end_fn)(struct copy_call *call, hsa_status_t status);
bool copy_held_hold(const struct copy_args *a, uint32_t nr, const hsa_signal_t *signals,
		    const struct copy_call *call, copy_end_fn end);

/* Around a call that copies before it returns. */
void copy_held_enter(void);
void copy_held_leave(void);

/* Copies that are not in the table of copies were given to the runtime: nothing is replayed from
 * now on. */
void copy_held_untracked(void);

/* Gives the runtime the copies that need not wait any longer. True: others wait. */
bool copy_held_tick(void);

/* A replay begins, unless copies run: then false, and nothing has changed. `ever`: gets whether it
 * may be true later. */
bool copy_held_close(bool *ever);
/* It is over. */
void copy_held_open(void);

/* Nothing is held from now on. */
void copy_held_finish(void);

#endif
