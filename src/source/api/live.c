/* SPDX-License-Identifier: MIT */
/* live.c - API calls while they run
 *
 * Owns:     the subscribers; a stack of frames for each thread, which are reused.
 * Threads:  any.
 * Hot path: live_push(), live_enter() to live_record(), live_pop(), live_end_alone(),
 *           live_wrapper_*(): no lock, no allocation but for a call nested deeper than any before
 *           it on the thread.
 * Fails:    without memory for a frame subscribers don't see the call; a loss is counted if it was
 *           to be recorded.
 */
#include "source/api/live.h"

#include <errno.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/special.h"

#define FRAME_SIZE 4096u
_Static_assert(sizeof(struct live_frame) <= FRAME_SIZE, "a frame is a page");

/* atomic, each set once, for ever */
static _Atomic(const struct live_subscriber *) subscribers[LIVE_MAX_SUBSCRIBERS];
/* their functions: NULL where a subscriber has none, or is not there yet */
typedef void (*live_fn)(struct live_call *call);
static _Atomic live_fn functions[LIVE_EXIT + 1][LIVE_MAX_SUBSCRIBERS];
typedef void (*record_fn)(const struct live_call *call);
static _Atomic record_fn recorders[LIVE_MAX_SUBSCRIBERS];
/* bits of masks */
_Atomic bool live_words_wanted;
_Atomic uint32_t live_paused;

static void on_thread_exit(struct thread *t)
{
	struct live_frame *f = t->live_first, *inner;

	t->live_first = t->live_top = NULL;
	for (; f; f = inner) {
		inner = f->inner;
		alloc_pages_free(f, FRAME_SIZE);
	}
}

void live_init(void)
{
	thread_at_exit(THREAD_EXIT_LIVE, on_thread_exit);
}

int live_subscribe(const struct live_subscriber *s)
{
	for (int i = 0; i < LIVE_MAX_SUBSCRIBERS; i++) {
		const struct live_subscriber *there = NULL;

		if (!atomic_compare_exchange_strong(&subscribers[i], &there, s) && there != s)
			continue;
		/* release: pair with notify_one() and record() */
		atomic_store_explicit(&functions[LIVE_ENTER][i], s->enter, memory_order_release);
		atomic_store_explicit(&functions[LIVE_EXIT][i], s->exit, memory_order_release);
		atomic_store_explicit(&recorders[i], s->record, memory_order_release);
		return i;
	}
	return -ENOSPC;
}

static uint16_t bits_of(int index, unsigned int what)
{
	unsigned int bits = what & LIVE_CALLS ? 1u : 0;

	if (what & LIVE_RECORDS)
		bits |= 1u << LIVE_RECORDS_SHIFT;
	return (uint16_t)(bits << index);
}

void live_want(int index, enum api_domain domain, uint32_t operation, unsigned int what)
{
	if (domain == API_HIP && what)
		special_set(SPECIAL_HIP_SHOWN, true);
	if (what)
		api_want(domain, operation, bits_of(index, what), true);
	api_want(domain, operation, bits_of(index, ~what), false);
}

void live_pause(int index, bool paused)
{
	uint32_t bits = bits_of(index, LIVE_CALLS | LIVE_RECORDS);

	if (paused)
		atomic_fetch_or_explicit(&live_paused, bits, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&live_paused, ~bits, memory_order_relaxed);
}

struct live_frame *live_push(struct thread *t, enum api_domain domain, uint32_t operation,
			     uint32_t mask, uintptr_t height)
{
	struct live_frame *top = t->live_top, *f;

	while (top && top->height <= height) {
		t->corr_current = top->outer_correlation;
		top = top->outer;
	}
	t->live_top = top;
	f = top ? top->inner : t->live_first;
	if (RTL_UNLIKELY(!f)) {
		f = alloc_pages(FRAME_SIZE);
		if (!f)
			return NULL;
		if (top)
			top->inner = f;
		else
			t->live_first = f;
	}
	live_fill(f, t, top, domain, operation, live_unpaused(mask & API_SUBSCRIBERS), height);
	t->live_top = f;
	return f;
}

void live_pop(struct thread *t, struct live_frame *f)
{
	t->live_top = f->outer;
	t->corr_current = f->outer_correlation;
}

static RTL_INLINE void notify_one(struct live_frame *f, int index, enum live_moment moment)
{
	/* acquire: pairs with live_subscribe() */
	live_fn fn = atomic_load_explicit(&functions[moment][index], memory_order_acquire);

	if (fn)
		fn(&f->call);
}

static RTL_INLINE void end_ticks(struct live_frame *f)
{
	struct clock_span span = clock_span_inline_ns(f->begin_ticks, RTL_TICKS());

	f->call.begin_ns = span.begin_ns;
	f->call.end_ns = span.end_ns;
}

static void begin_times(struct live_frame *f)
{
	f->begin_ticks = RTL_UNLIKELY(special_any(SPECIAL_CLOCK)) ? 0 : RTL_TICKS();
	if (!f->begin_ticks)
		f->call.begin_ns = clock_now_ns();
}

static void end_times(struct live_frame *f)
{
	if (f->begin_ticks)
		end_ticks(f);
	else
		f->call.end_ns = clock_now_ns();
}

static RTL_INLINE void record(const struct live_frame *f)
{
	uint32_t rest = (f->mask & LIVE_ALL_RECORDS) >> LIVE_RECORDS_SHIFT;

	for (; rest; rest &= rest - 1) {
		/* acquire: pairs with live_subscribe() */
		record_fn fn =
			atomic_load_explicit(&recorders[__builtin_ctz(rest)], memory_order_acquire);

		if (fn)
			fn(&f->call);
	}
}

/* Usually one subscriber sees a call, and wants no record of it. */
static RTL_INLINE bool is_for_one(uint32_t mask)
{
	return !(mask & (LIVE_ALL_RECORDS | (mask - 1))) && mask;
}

static RTL_NOINLINE void enter_all(struct live_frame *f)
{
	for (uint32_t rest = f->mask & ~LIVE_ALL_RECORDS; rest; rest &= rest - 1)
		notify_one(f, __builtin_ctz(rest), LIVE_ENTER);
	if (f->mask & LIVE_ALL_RECORDS)
		begin_times(f);
}

void live_enter(struct live_frame *f)
{
	int *error = &errno, saved = *error;

	if (RTL_LIKELY(is_for_one(f->mask)))
		notify_one(f, __builtin_ctz(f->mask), LIVE_ENTER);
	else
		enter_all(f);
	*error = saved;
}

static RTL_NOINLINE void exit_all(struct live_frame *f)
{
	uint32_t rest = f->mask & ~LIVE_ALL_RECORDS;

	if (f->mask & LIVE_ALL_RECORDS && !f->call.end_ns)
		end_times(f);
	while (rest) {
		int index = 31 - __builtin_clz(rest);

		notify_one(f, index, LIVE_EXIT);
		rest &= ~(1u << index);
	}
}

void live_exit(struct live_frame *f)
{
	int *error = &errno, saved = *error;

	if (RTL_LIKELY(is_for_one(f->mask)))
		notify_one(f, __builtin_ctz(f->mask), LIVE_EXIT);
	else
		exit_all(f);
	*error = saved;
}

void live_record(struct live_frame *f)
{
	int *error = &errno, saved = *error;

	record(f);
	*error = saved;
}

void live_end_alone(struct thread *t, struct live_frame *f)
{
	end_ticks(f);
	live_pop(t, f);
	record(f);
}

/* Sets the call's correlation id, and the thread's: operations take the outermost call's. */
static void correlate(struct live_frame *f, struct thread *t)
{
	if (f->is_recorded) {
		f->call.correlation = f->record.correlation;
		return;
	}
	f->call.correlation = corr_new(t);
	if (!f->outer_correlation && !(1u << f->call.domain & API_AROUND))
		t->corr_current = corr_mark(f->call.correlation);
}

void live_want_words(void)
{
	atomic_store_explicit(&live_words_wanted, true, memory_order_relaxed);
}

struct live_frame *live_wrapper_begin(enum api_domain domain, uint32_t operation, void *args,
				      uintptr_t frame)
{
	uint32_t mask = api_wanted(domain, operation);
	struct thread *t = thread_get();
	struct live_frame *f;

	if (RTL_UNLIKELY(thread_kept_out(t)))
		return NULL;
	f = live_push(t, domain, operation, mask, frame);
	if (RTL_UNLIKELY(!f)) {
		if (mask & API_RECORDED)
			bus_loss(SPOOL_REASON_thread_slots, 1);
		return NULL;
	}
	if (mask & API_RECORDED)
		f->is_recorded = RTL_UNLIKELY(domain == API_RCCL) ?
					 api_enter_around(domain, &f->record, frame) :
					 api_enter_slow(domain, &f->record, frame);
	if (RTL_UNLIKELY(mask & API_LEFT_OUT))
		api_leave_out(domain, frame);
	correlate(f, t);
	f->call.args = args;
	live_notify(f, LIVE_ENTER);
	return f;
}

void live_wrapper_end(struct live_frame *f, const void *result, uint32_t recorded_op,
		      int32_t status, const uint64_t *words, uint32_t nr_words)
{
	struct thread *t = thread_get();

	/* without what recording takes */
	if (f->mask & LIVE_ALL_RECORDS)
		end_times(f);
	f->call.result = result;
	f->call.words = words;
	f->call.nr_words = nr_words;
	f->call.status = status;
	if (f->is_recorded)
		api_leave((enum api_domain)f->call.domain, recorded_op, &f->record, status, words,
			  nr_words);
	else
		api_pass_at(f->height);
	live_notify(f, LIVE_EXIT);
	live_pop(t, f);
	if (f->mask & LIVE_ALL_RECORDS)
		live_notify(f, LIVE_RECORD);
}
