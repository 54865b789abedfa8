/* SPDX-License-Identifier: MIT */
/* life.h - the life cycle of the core in the process: start, upkeep thread, fork, exit
 *
 * States only advance: OFF -> STARTING -> ON -> STOPPING -> STOPPED, and any -> FORKED in a forked
 * child, permanently. Hooks act only in ON; otherwise they only call the program's real function.
 * Nothing is ever freed: HIP 6.4 sends packets from exit handlers.
 *
 * librtl has one thread for upkeep, "rtl-harvest", with all signals blocked: it calls the sources'
 * and sinks' ticks.
 */
#ifndef RTL_EVENT_LIFE_H
#define RTL_EVENT_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/callout.h"
#include "base/compiler.h"
#include "event/thread.h"

struct sink;

enum life_state { LIFE_OFF, LIFE_STARTING, LIFE_ON, LIFE_STOPPING, LIFE_STOPPED, LIFE_FORKED };
extern RTL_HIDDEN _Atomic int life_state;

struct source {
	const char *name;
	/* Upkeep on the life thread. Returns ns until the next call; LIFE_IDLE = only when
	 * woken. */
	uint64_t (*tick)(uint64_t now_ns);
	/* The trace starts: on the thread that starts it. is_ready(): whether what begin() has left
	 * to another thread is done: the program goes on when it is, so that a filter of system
	 * calls which the program installs later does not meet it. Or NULL, both. */
	void (*begin)(void);
	bool (*is_ready)(void);
	/* The life thread ends, before stop(), as struct sink's (bus.h). Or NULL. */
	void (*leave)(void);
	/* The process ends: finish operations in flight until deadline_ns, then record the others
	 * as unfinished. On the thread that ends the process; the life thread has stopped by then.
	 */
	void (*stop)(uint64_t deadline_ns);
};

#define LIFE_IDLE UINT64_MAX

/* For life.c, and for tests of a certain state. */
void life_set_state(enum life_state state);

/* Called from lib/librtl/entry.c before anything else: this library's sources and sinks.
 * NULL-terminated, static arrays. */
void life_init(const struct source *const *sources, const struct sink *const *sinks);

/* Does not attach the sinks of life_init(): no recording was requested. The trace then starts only
 * for sinks that are attached to the bus by others. No effect on a started trace. Any thread. */
void life_leave_sinks_out(void);

/* As life_leave_sinks_out(), but the sources start without a sink, paused: sinks are attached and
 * detached while the process runs. */
void life_attach_sinks_later(void);
/* Whether it was called. */
bool life_sinks_come_later(void);

/* A detached thread of librtl's, which inherits the caller's blocked signals: all. 0 or -errno. */
int life_spawn(void *(*thread_main)(void *arg));

/* The user wants nothing recorded until rtl start (RTL_IDLE): the sinks of life_init() are not
 * attached. */
bool life_is_idle(void);

/* Starts the trace if it is OFF: sinks, process facts, the thread. Any thread; returns true if the
 * state is ON afterwards. A failure is counted and logged once, and the state becomes STOPPED. */
bool life_start(void);

/* Ends the trace within RTL_DRAIN_MS. Called from the exit handler that life_start() registers, and
 * from librtl's ELF destructor for processes that end without handlers. Later launches, by handlers
 * registered before the first use of the GPU, are counted as `late`. */
void life_stop(void);

/* clock_tick() on behalf of the process, where there may be no life thread: by threads of faces.
 * Returns ns until the next call is due, UINT64_MAX: none. Any thread. */
uint64_t life_keep_clock(void);

static inline bool life_on(void)
{
	/* relaxed: a stale value costs one event at start or end, which is counted */
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_ON;
}

enum life_sleep { LIFE_AWAKE, LIFE_NAP /* under 50 ms */, LIFE_DEEP };
extern RTL_HIDDEN _Atomic uint32_t life_sleeping; /* enum life_sleep */
void life_wake_slow(void);

/* Whether the life thread has to be woken, by life_wake_slow(), for what the caller has stored.
 * HOT: one relaxed load. */
static inline bool life_sleeps(void)
{
	/* Pairs with membarrier() in life.c, which is between announcing the sleep and running the
	 * ticks again: either those ticks see what the caller stored, or this load sees the
	 * announcement. */
	atomic_signal_fence(memory_order_seq_cst);
	return RTL_UNLIKELY(atomic_load_explicit(&life_sleeping, memory_order_relaxed) ==
			    LIFE_DEEP);
}

/* Wakes the life thread if it sleeps deeply. HOT. */
static inline void life_wake(void)
{
	if (life_sleeps())
		life_wake_slow();
}

/* Wakes the life thread, also from a nap. */
static inline void life_kick(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&life_sleeping, memory_order_relaxed) != LIFE_AWAKE)
		life_wake_slow();
}

/* HOT: enters a hook. false: not ON, or inside another hook of this thread, or on the life thread;
 * then the caller only calls the real function. Every true is paired with life_leave(). */
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

/* callout() within a hook: if fn(arg) is left, so are the hooks of this thread that were entered
 * since the program was called last. */
void life_callout(callout_fn fn, callout_fn left, void *arg);

#endif
