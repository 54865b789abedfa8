/* SPDX-License-Identifier: MIT */
/* live.h - API calls while they run: providers, subscribers, and the frame of a call
 *
 * The recorder takes a call when it is over. A subscriber (a compat library's client behind it) is
 * called when the call begins, with its arguments, and when it ends. Providers see the calls: the
 * generated wrappers of HSA's and HIP's functions (hsa_wrap_gen.c, hip_wrap_gen.c), and HIP's own
 * callbacks (source/hip/activity.c, source/hip/tracer.c).
 *
 * Each operation of a domain has a mask: API_RECORDED for the recorder, and for each subscriber a
 * bit if it wants the calls as they run, and a bit if it wants their records. A call whose mask is
 * 0 costs its provider one load. A provider that finds a bit set does
 *
 *	frame = live_push(thread, domain, operation, mask, address of its stack frame);
 *	fills frame->call
 *	live_notify(frame, LIVE_ENTER);
 *	... the real function ...
 *	live_notify(frame, LIVE_EXIT);
 *	live_pop(thread, frame);
 *	live_notify(frame, LIVE_RECORD);
 *
 * If nothing but records is wanted of a call, it may instead do live_begin_alone() and
 * live_end_alone(), and leaves out the rest.
 *
 *  operation      | a call in progress
 *  ---------------+--------------------------------------------------------------------------
 *  live_want      | any thread: the call keeps the mask that it began with
 *  live_pause     | the same
 *  live_subscribe | any thread, for ever
 */
#ifndef RTL_SOURCE_API_LIVE_H
#define RTL_SOURCE_API_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/corr.h"
#include "event/special.h"
#include "event/thread.h"
#include "source/api/call.h"
#include "spool/format.h"

#define LIVE_MAX_SUBSCRIBERS 7
_Static_assert((((1u << LIVE_MAX_SUBSCRIBERS) - 1) & ~API_SUBSCRIBERS) == 0,
	       "a bit for each beside the recorder's");

/* In a mask: who wants calls as they run, from bit 0 on; who wants their records, from this bit
 * on. */
#define LIVE_RECORDS_SHIFT 8
#define LIVE_ALL_RECORDS (((1u << LIVE_MAX_SUBSCRIBERS) - 1) << LIVE_RECORDS_SHIFT)

/* A call on the thread that makes it. Valid from LIVE_ENTER to LIVE_RECORD. */
struct live_call {
	uint64_t correlation;
	/* from LIVE_EXIT on, if a subscriber wants the record; otherwise 0. Time spent in
	 * subscribers is not included */
	uint64_t begin_ns, end_ns;
	uint32_t operation; /* of the domain */
	uint32_t tid;
	uint8_t domain; /* enum api_domain */
	/* enter() and exit() alone. API_HSA: a struct hsa_args_NAME of hsa_wrap_gen.h; API_HIP: a
	 * struct hip_args_NAME of hip_args_gen.h; API_RCCL: of rccl_ops_gen.h; NULL: the function
	 * has none. API_HIP_CALLBACKS: the runtime's hip_api_data_t */
	void *args;
	/* the same. API_HIP, API_HSA, API_RCCL, from LIVE_EXIT on: what the function returned;
	 * NULL: nothing, or not known */
	const void *result;
	/* exit() alone, if live_want_words() was called: the words of the call's record, and its
	 * status */
	const uint64_t *words;
	uint32_t nr_words;
	int32_t status;
	/* enter() and exit() alone */
	uint64_t own[LIVE_MAX_SUBSCRIBERS]; /* each subscriber's, 0 at first */
};

struct live_subscriber {
	/* On the calling thread, with no lock held, in the order of the subscribers' numbers. The
	 * provider preserves errno for enter() and exit(). Any may be NULL. */
	void (*enter)(struct live_call *call);
	/* The function has returned. In the reverse order. */
	void (*exit)(struct live_call *call);
	/* After every exit(). Operations that are submitted now are not the call's. Must not call
	 * HIP or HSA: their frame may be this one. Must preserve errno. */
	void (*record)(const struct live_call *call);
};

/* Returns the subscriber's number, the same for the same subscriber; -ENOSPC: there are
 * LIVE_MAX_SUBSCRIBERS. `s` lives for ever. */
int live_subscribe(const struct live_subscriber *s);

enum live_wish {
	LIVE_NOTHING,
	LIVE_CALLS = 1,	  /* enter() and exit() */
	LIVE_RECORDS = 2, /* record() */
};
/* What the subscriber wants of the operation's calls from now on: a sum of wishes. Ignores numbers
 * beyond API_MAX_OPERATIONS. */
void live_want(int index, enum api_domain domain, uint32_t operation, unsigned int what);
/* The subscriber gets no calls that begin from now on, or gets again what it wants. One store. */
void live_pause(int index, bool paused);

/* Calls get their words for exit() from now on. Any thread. */
void live_want_words(void);

#define LIVE_SCRATCH_SIZE 256u

/* ---- for providers ---- */

enum live_moment { LIVE_ENTER, LIVE_EXIT, LIVE_RECORD };

/* HIP's runtime writes its hip_api_data_t here: 1520 bytes in 7.2. */
#define LIVE_ARGS_SIZE 2064u

struct hip_callback;
struct live_frame {
	struct live_frame *outer, *inner; /* inner: memory for the next one, kept */
	uintptr_t height;		  /* address of the provider's stack frame */
	uint64_t outer_correlation;
	uint64_t begin_ticks; /* RTL_TICKS(); 0: begin_ns is set */
	uint32_t mask;
	bool is_alone;	  /* of live_begin_alone() */
	bool is_recorded; /* `record` has been entered */
	bool is_joined;	  /* source/hip: join_begins() was called for it */
	bool has_status;  /* source/hip: `status` is the call's */
	int32_t status;
	struct live_frame
		*in_hip; /* source/hip: the frame of the same call in API_HIP; NULL: none */
	const struct hip_callback *shown_by; /* source/hip: of the runtime's release, with in_hip */
	struct api_call record;		     /* if is_recorded */
	struct live_call call;
	/* not cleared */
	_Alignas(16)
		uint8_t args[LIVE_ARGS_SIZE]; /* for providers without a structure of their own */
	_Alignas(16) uint8_t scratch[LIVE_MAX_SUBSCRIBERS][LIVE_SCRATCH_SIZE];
};

/* For subscribers. HOT: the subscriber's own memory in the call's frame, from LIVE_ENTER to
 * LIVE_EXIT. Not cleared. */
static inline void *live_scratch(struct live_call *call, int index)
{
	struct live_frame *f =
		(struct live_frame *)(void *)((char *)call - offsetof(struct live_frame, call));

	return f->scratch[index];
}

/* From librtl's constructor. */
void live_init(void);

/* HOT: a call begins on `t`, within the one that runs. Calls that never returned, whose stack
 * frames lie at `height` or below, are forgotten. The caller sets call.correlation, call.args and
 * t->corr_current. NULL: no memory. */
struct live_frame *live_push(struct thread *t, enum api_domain domain, uint32_t operation,
			     uint32_t mask, uintptr_t height);
/* HOT: the frame `f`, which the thread has, becomes that of a call within `outer`. `mask`: of
 * live_unpaused(). The caller sets t->live_top. */
static RTL_INLINE void live_fill(struct live_frame *f, const struct thread *t,
				 struct live_frame *outer, enum api_domain domain,
				 uint32_t operation, uint32_t mask, uintptr_t height)
{
	f->outer = outer;
	f->height = height;
	f->outer_correlation = t->corr_current;
	f->mask = mask;
	f->is_alone = f->is_recorded = f->is_joined = f->has_status = false;
	f->in_hip = NULL;
	/* member by member: gcc clears a structure of this size by a string instruction, which
	 * takes longer than all the rest */
	f->call.correlation = 0;
	f->call.begin_ns = f->call.end_ns = 0;
	f->call.operation = operation;
	f->call.tid = t->tid;
	f->call.domain = (uint8_t)domain;
	f->call.args = NULL;
	f->call.result = NULL;
	f->call.words = NULL;
	f->call.nr_words = 0;
	f->call.status = 0;
	for (int i = 0; i < LIVE_MAX_SUBSCRIBERS; i++)
		f->call.own[i] = 0;
}
/* HOT: the innermost call that runs on the thread; NULL: none. */
static inline struct live_frame *live_top(const struct thread *t)
{
	return t->live_top;
}
/* HOT: calls the subscribers. Preserves errno. Not for frames of live_begin_alone(). */
void live_enter(struct live_frame *f);
void live_exit(struct live_frame *f);
void live_record(struct live_frame *f);
static RTL_INLINE void live_notify(struct live_frame *f, enum live_moment moment)
{
	if (moment == LIVE_ENTER)
		live_enter(f);
	else if (moment == LIVE_EXIT)
		live_exit(f);
	else
		live_record(f);
}
/* HOT: the call has ended: `t` is as before live_push(). LIVE_RECORD may follow, before the next
 * live_push(). */
void live_pop(struct thread *t, struct live_frame *f);

extern RTL_HIDDEN _Atomic uint32_t live_paused;
/* HOT: a mask of api_wanted() without the bits of subscribers that pause. */
static inline uint32_t live_unpaused(uint32_t mask)
{
	/* relaxed: a call that runs while it changes is seen or not */
	return mask & ~atomic_load_explicit(&live_paused, memory_order_relaxed);
}

/* HOT: whether only records are wanted of a call: the provider may try live_begin_alone(). */
static RTL_INLINE bool live_is_for_records(uint32_t mask)
{
	return mask && !(mask & ~LIVE_ALL_RECORDS) && !special_any(SPECIAL_FOR_ALONE);
}

/* HOT: such a call begins. If no other one is seen or recorded on the thread, this replaces
 * live_push(), the correlation ids and LIVE_ENTER. NULL: there is one, or the thread has no frame
 * yet; nothing was changed.
 *
 * Invariants: the frame is the thread's outermost one, so that its end leaves the thread without
 * any. Within the call it is like every other frame: calls nest in it, and forget it after
 * longjmp(). What only enter() and exit() may use is not set. */
static RTL_INLINE struct live_frame *live_begin_alone(struct thread *t, enum api_domain domain,
						      uint32_t operation, uint32_t mask,
						      uintptr_t height)
{
	struct live_frame *f = t->live_first;
	uint64_t id;

	/* calls that never returned are forgotten by live_push() */
	if (RTL_UNLIKELY(!f || t->live_top || (t->corr_current | t->kept_out)))
		return NULL;
	id = corr_new(t);
	f->outer = NULL;
	f->height = height;
	f->outer_correlation = 0;
	f->mask = mask;
	f->is_alone = true;
	f->in_hip = NULL;
	f->call.correlation = t->corr_current = id;
	f->call.operation = operation;
	f->call.tid = t->tid;
	f->call.domain = (uint8_t)domain;
	t->live_top = f;
	f->begin_ticks = RTL_TICKS();
	return f;
}
/* HOT: that call has ended. Instead of LIVE_EXIT, live_pop(), LIVE_RECORD. */
void live_end_alone(struct thread *t, struct live_frame *f);

/* HOT: for a wrapper, around the real function: all of the above, and the call's record. NULL: the
 * call is neither seen nor recorded, and live_wrapper_end() must not be called. `frame`: the
 * address of the wrapper's stack frame. */
struct live_frame *live_wrapper_begin(enum api_domain domain, uint32_t operation, void *args,
				      uintptr_t frame);
/* `recorded_op`: of the record, where the same function has several (source/hip/release.h). */
void live_wrapper_end(struct live_frame *f, const void *result, uint32_t recorded_op,
		      int32_t status, const uint64_t *words, uint32_t nr_words);
/* HOT: whether a provider in front of the caller has shown this call to subscribers: the innermost
 * call is of the same function, and runs. `frame`: the address of the caller's stack frame. */
static inline bool live_is_seen(const struct thread *t, enum api_domain domain, uint32_t operation,
				uintptr_t frame)
{
	const struct live_frame *f = t->live_top;

	return f && f->call.domain == domain && f->call.operation == operation && f->height > frame;
}

/* HOT: the call around `call` on its thread that some subscriber sees as it runs; NULL: none. */
static inline const struct live_call *live_outer(const struct live_call *call)
{
	const struct live_frame *f =
		(const struct live_frame *)(const void *)((const char *)call -
							  offsetof(struct live_frame, call));

	do
		f = f->outer;
	while (f && f->is_alone);
	return f ? &f->call : NULL;
}

/* HOT: the innermost call of the thread that some subscriber sees as it runs; NULL: none. */
static inline const struct live_call *live_innermost(const struct thread *t)
{
	const struct live_frame *f = t->live_top;

	while (f && f->is_alone)
		f = f->outer;
	return f ? &f->call : NULL;
}

extern RTL_HIDDEN _Atomic bool live_words_wanted;

/* Whether the wrapper's words are needed. */
static inline bool live_wants_words(const struct live_frame *f)
{
	/* relaxed: a call that runs meanwhile has none */
	return f &&
	       (f->is_recorded || atomic_load_explicit(&live_words_wanted, memory_order_relaxed)) &&
	       api_args;
}

#endif
