/* SPDX-License-Identifier: MIT */
/* life.h - the life of the core in the process: start, upkeep thread, fork, exit
 *
 * States only go forward: OFF -> STARTING -> ON -> STOPPING -> STOPPED, and any -> FORKED in the
 * child of a fork, for ever. Hooks do their work in ON alone; otherwise the program's own call goes
 * through untouched. Nothing here is ever freed: HIP 6.4 sends packets from exit handlers.
 *
 * One thread of ours, "rtl-harvest", every signal blocked: it calls the sources' and sinks' ticks.
 */
#ifndef RTL_EVENT_LIFE_H
#define RTL_EVENT_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/thread.h"

struct sink;

enum life_state { LIFE_OFF, LIFE_STARTING, LIFE_ON, LIFE_STOPPING, LIFE_STOPPED, LIFE_FORKED };
extern RTL_HIDDEN _Atomic int life_state;

struct source {
	const char *name;
	/* Upkeep on the life thread. Returns ns until it wants the next call; LIFE_IDLE = only when
	 * woken. */
	uint64_t (*tick)(uint64_t now_ns);
	/* The process ends: finish what is in flight until deadline_ns, then write the rest down as
	 * unfinished. On the thread that ends the process; the life thread is stopped by then. */
	void (*stop)(uint64_t deadline_ns);
};

#define LIFE_IDLE UINT64_MAX

/* For life.c, and for tests of what happens in a state. */
void life_set_state(enum life_state state);

/* Called from lib/librtl/entry.c before anything else: the parts of this library. Arrays end in
 * NULL and live for ever. */
void life_init(const struct source *const *sources, const struct sink *const *sinks);

/* The sinks of life_init() stay out: nobody asked for a recording. The trace starts only for those
 * that attach themselves to the bus. No effect on a trace that has started. Any thread. */
void life_leave_sinks_out(void);

/* Starts the trace if it is OFF: sinks, process facts, the thread. Any thread; returns true when ON
 * afterwards. A failure is counted, warned of once, and leaves the state STOPPED. */
bool life_start(void);

/* Ends the trace: bounded by RTL_DRAIN_MS. From the exit handler that life_start() registers; from
 * librtl's ELF destructor for those who end without handlers. What is launched after it, by
 * handlers that were registered before the GPU was first used, is counted as `late`. */
void life_stop(void);

/* Registers that exit handler once more, so that it comes before what has registered itself by now:
 * for when a GPU runtime has been loaded after the trace was started. */
void life_arm_exit(void);

static inline bool life_on(void)
{
	/* relaxed: a stale value costs one event at start or end, which is counted */
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_ON;
}

enum life_sleep { LIFE_AWAKE, LIFE_NAP /* under 50 ms */, LIFE_DEEP };
extern RTL_HIDDEN _Atomic uint32_t life_sleeping; /* enum life_sleep */
void life_wake_slow(void);

/* Wakes the life thread if it sleeps deeply. HOT: one relaxed load in the usual case. */
static inline void life_wake(void)
{
	/* Pairs with membarrier() in life.c, which stands between announcing the sleep and looking
	 * again: what the caller stored before is seen then, or this load sees the announcement. */
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&life_sleeping, memory_order_relaxed) == LIFE_DEEP)
		life_wake_slow();
}

/* Wakes the life thread from a nap, too. */
static inline void life_kick(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&life_sleeping, memory_order_relaxed) != LIFE_AWAKE)
		life_wake_slow();
}

/* HOT: enters a hook. false: not ON, or inside of another hook of this thread, or on our own
 * thread; then the caller only passes the call on. Every true is paired with life_leave(). */
static inline bool life_enter(struct thread **out)
{
	struct thread *t;

	if (!life_on())
		return false;
	t = thread_get();
	if (thread_kept_out(t))
		return false;
	t->in_hook = true;
	*out = t;
	return true;
}

static inline void life_leave(struct thread *t)
{
	t->in_hook = false;
}

/* HOT: this thread, for a hook that calls nothing: nothing can come back into it, so it is neither entered nor
 * left. NULL: as life_enter(), or a thread that was not seen before. */
static inline struct thread *life_glance(void)
{
	struct thread *t = &thread_self;

	return life_on() && !thread_kept_out(t) ? t : NULL;
}

#endif
