/* SPDX-License-Identifier: MIT */
/* thread.h - the core's data of each thread: one small TLS block, initial-exec
 *
 * librtl.so is also loaded with dlopen, where initial-exec TLS uses the loader's small static
 * surplus: keep this structure under 256 bytes.
 */
#ifndef RTL_EVENT_THREAD_H
#define RTL_EVENT_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "spool/format.h"

struct buf; /* sink/recorder/buf.h: the thread's open chunk */
struct lane;
struct live_frame;
struct marker_stack; /* source/roctx */

struct thread {
	union {
		struct {
			bool in_hook; /* re-entry guard: life_enter() / life_leave() */
			bool is_ours; /* the life thread: hooks pass calls on */
			bool is_new;  /* thread_get() has not been called yet */
			bool is_zero;
			/* source/api: bit 1 << domain while a recorded call of it runs */
			uint32_t api_inside;
		};
		/* for one comparison on hot paths: the four flags; the flags and api_inside */
		uint32_t kept_out;
		uint64_t kept_out_or_inside;
	};
	uint32_t tid; /* 0 until thread_get() was called once */
	uint32_t stack_depth;
	/* source/hsa: the thread may submit only packets for which clients of counters were asked
	 * before (counter_help()) */
	bool must_not_ask_clients;
	/* life_callout(): in_hook when the innermost call of the program by it began */
	bool outside_in_hook;
	/* The submitter of operations: the tid, with THREAD_LEFT_OUT within a call that was left
	 * out, and while the thread has a counter of such calls: those don't say when they end. */
	uint64_t submitter;
	uint64_t corr_next, corr_end; /* ids taken ahead from the process counter, corr.c */
	uint64_t marker;	      /* innermost open push range, 0 = none */
	uint64_t corr_current;	      /* of the API call in progress, 0 = none: operations get it */
	uintptr_t call_left_out; /* frame of a call that began while recording was paused, or that a
				* filter left out; 0 = none */
	void *marker_stack;	 /* source/roctx's */
	struct buf *buf;	 /* sink/recorder's: open chunk of this thread */
	struct lane *lane;	 /* event/lane.h, never NULL */
	const void *name_key;	 /* source/hip: the last kernel whose name was looked up, */
	uint32_t name_id, name_generation; /* its name, and when */
	/* source/api: the domain of the call that call_left_out is the frame of, if a filter left
	 * it out; 0: a pause */
	uint32_t domain_left_out;
	/* source/hip: REC_F_CONFIGURED if the thread's last call popped a launch's configuration:
	 * the launch follows */
	uint32_t configured;
	int64_t *left_out; /* left_out.h: the thread's counter, or left_out_none; never NULL */
	/* source/hsa: when the runtime's event of scratch memory in progress began, by enum
	 * rec_scratch_kind; 0: none. Reclaiming includes freeing, an allocation may include both */
	uint64_t scratch_begin_ns[REC_SCRATCH_RECLAIM + 1];
	const void *queue_ending; /* source/hsa: the queue that the thread is about to destroy */
	struct live_frame *live_top, *live_first; /* source/api: the calls that subscribers see */
	/* source/api: by domain, the frame of that call's wrapper */
	uintptr_t api_frame[REC_API_NR_DOMAINS];
};
_Static_assert(sizeof(struct thread) <= 256, "static TLS is scarce");
_Static_assert(REC_API_NR_DOMAINS <= 32, "api_inside has a bit for each domain");

#define THREAD_LEFT_OUT (UINT64_C(1) << 32)

/* The counter of threads without one: negative. */
extern RTL_HIDDEN int64_t left_out_none;
extern RTL_HIDDEN _Thread_local struct thread thread_self;

/* HOT: hooks pass calls on for `t` now, or the thread is new. */
static inline bool thread_kept_out(const struct thread *t)
{
	return t->kept_out != 0;
}

/* Leaves a call of `t`, with this frame, out of the recording, with everything that it submits; 0:
 * ends that. */
static inline void thread_leave_out(struct thread *t, uintptr_t frame)
{
	t->call_left_out = frame;
	t->domain_left_out = 0;
	t->submitter = t->tid | (frame || t->left_out != &left_out_none ? THREAD_LEFT_OUT : 0);
}

/* HOT: the flag of the launch that begins, or 0. Takes it away. */
static inline uint16_t thread_take_configured(void);
/* HOT: this thread's block; a thread's first call gets its tid (one system call) and registers the
 * thread's end. */
static inline struct thread *thread_get(void);
struct thread *thread_get_slow(void);

static inline uint16_t thread_take_configured(void)
{
	uint32_t flag = thread_self.configured;

	thread_self.configured = 0;
	return (uint16_t)flag;
}

static inline struct thread *thread_get(void)
{
	return thread_self.tid ? &thread_self : thread_get_slow();
}

/* Data of a thread that was registered once, also after its end. Kept for THREAD_MAX_KNOWN threads;
 * NULL beyond that. The name is that at registration. */
#define THREAD_MAX_KNOWN 4096
struct thread_known {
	_Atomic uint32_t tid;
	_Atomic uint32_t recorded; /* for a sink: the record of this thread was written */
	_Atomic uint32_t over;	   /* the thread has ended: another may take the entry */
	_Atomic uint64_t first_ns;
	_Atomic uint64_t name[2]; /* 16 bytes of text */
};
struct thread_known *thread_find(uint32_t tid);
/* A new trace: no thread that still runs has been recorded in it. While no thread records. */
void thread_forget_recorded(void);

/* Functions that run at the end of each thread that called thread_get(), in this order. */
enum thread_exit {
	THREAD_EXIT_LIVE,     /* source/api/live.c: frames */
	THREAD_EXIT_RANGES,   /* source/roctx/range.c: open ranges */
	THREAD_EXIT_LEFT_OUT, /* left_out.c: the thread's counter */
	THREAD_EXIT_RECORDER, /* sink/recorder: the thread's chunk */
	THREAD_NR_EXITS
};
/* Before threads. */
void thread_at_exit(enum thread_exit which, void (*fn)(struct thread *t));

#endif
