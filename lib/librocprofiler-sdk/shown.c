/* SPDX-License-Identifier: MIT */
/* shown.c - librocprofiler-sdk: calls that tools have seen begin, or get records of
 *
 * The payload and each tool's user data live from a call's begin to its end, and until the thread's
 * next call at that depth: a tool may read arguments later. A call that is left by longjmp() leaves
 * its block to the next one with the same owner.
 *
 * Owns:     the thread's blocks, freed when it ends.
 * Threads:  each its own.
 */
#include "shown.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "buffered.h"
#include "context.h"
#include "external.h"
#include "retire.h"

_Thread_local struct shown_call *shown_calls;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void on_thread_exit(void *first)
{
	struct shown_call *s = first, *next;

	shown_calls = NULL;
	for (; s; s = next) {
		next = s->next;
		alloc_free(s);
	}
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, on_thread_exit) == 0;
}

struct shown_call *shown_call_make(const void *owner)
{
	struct shown_call *s = alloc_zero(1, sizeof(*s));

	pthread_once(&key_once, make_key);
	if (!s)
		return NULL;
	s->owner = owner;
	s->next = shown_calls;
	shown_calls = s;
	if (has_key)
		pthread_setspecific(key, s);
	return s;
}

typedef rocprofiler_callback_tracing_record_t record_t;

/* By value, as the tool gets it. Its words were stored just now: with general registers they are
 * copied as they were stored, while a load of a vector would wait until two of them have left the
 * store buffer, which takes longer than all the rest. */
RTL_NO_VECTORS static RTL_NOINLINE void
call_tool(const record_t *record, rocprofiler_user_data_t *user, const struct service *service)
{
	service->fn(*record, user, service->arg);
}

static RTL_INLINE void show(struct shown_call *s, unsigned int index,
			    rocprofiler_callback_phase_t phase)
{
	const struct context *c = context_at(index);
	union {
		record_t record;
		uint64_t words[sizeof(record_t) / sizeof(uint64_t)];
	} to;
	uint64_t *w = to.words;

	*w++ = c->id.handle;
	*w++ = s->tid;
	*w++ = s->correlation.internal;
	*w++ = s->of[index].external.value;
#if ROCPROFILER_SDK_ABI > 0
	*w++ = s->correlation.ancestor;
#endif
	*w++ = s->kind_and_operation;
	*w++ = (uint64_t)phase;
	*w = (uintptr_t)&s->payload;
	call_tool(&to.record, &s->of[index].user, &c->services[s->kind]);
}

#define WORD_OF(member) (offsetof(record_t, member) / sizeof(uint64_t))
_Static_assert(WORD_OF(context_id) == 0 && WORD_OF(thread_id) == 1 &&
		       WORD_OF(correlation_id.internal) == 2 &&
		       WORD_OF(correlation_id.external) == 3,
	       "the words of a record");
_Static_assert(offsetof(record_t, operation) == offsetof(record_t, kind) + sizeof(uint32_t) &&
		       offsetof(record_t, kind) % sizeof(uint64_t) == 0 &&
		       WORD_OF(phase) == WORD_OF(kind) + 1 &&
		       WORD_OF(payload) == WORD_OF(phase) + 1 &&
		       sizeof(record_t) == (WORD_OF(payload) + 1) * sizeof(uint64_t),
	       "the words of a record");

/* Of all that get the call, also as a record. */
static RTL_NOINLINE void ask_for_external(struct shown_call *s, uint64_t rest,
					  rocprofiler_external_correlation_id_request_kind_t kind)
{
	for (; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		s->of[i].external = external_of(context_at(i), s->tid, kind, s->operation,
						s->correlation.internal);
	}
}

static RTL_NOINLINE void
ask_for_external_again(struct shown_call *s, uint64_t rest,
		       rocprofiler_external_correlation_id_request_kind_t kind)
{
	for (; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		external_again(context_at(i), s->tid, kind, &s->of[i].external);
	}
}

void shown_call_begin(struct shown_call *s, rocprofiler_external_correlation_id_request_kind_t kind)
{
	uint64_t all = s->wish.callbacks | s->wish.recorded | s->wish.with_arguments;

	retire_begin(s->correlation.internal);
	for (uint64_t rest = all; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		s->of[i].user.value = 0;
		s->of[i].external.value = 0;
	}
	if (RTL_UNLIKELY(external_any()))
		ask_for_external(s, all, kind);
	if (!s->wish.callbacks)
		return;
	for (uint64_t rest = s->wish.callbacks; rest; rest &= rest - 1)
		show(s, (unsigned int)__builtin_ctzll(rest), ROCPROFILER_CALLBACK_PHASE_ENTER);
	/* a tool may have pushed one meanwhile */
	if (RTL_UNLIKELY(external_any()))
		ask_for_external_again(s, all, kind);
}

void shown_call_end(struct shown_call *s)
{
	for (uint64_t rest = s->wish.callbacks; rest; rest &= rest - 1)
		show(s, (unsigned int)__builtin_ctzll(rest), ROCPROFILER_CALLBACK_PHASE_EXIT);
	if (s->wish.recorded | s->wish.with_arguments)
		buffered_put_call(s);
	s->wish = (struct shown_wish){ 0 };
	retire_drop(s->correlation.internal);
}
