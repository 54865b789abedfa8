/* SPDX-License-Identifier: MIT */
/* shown.c - librocprofiler-sdk: calls that tools have seen begin, or get records of
 *
 * The payload and each tool's user data live from a call's begin to its end, and until the thread's next call at that depth: a tool may read
 * arguments later. A call that is left by longjmp() leaves its block to the next one with the same owner.
 *
 * Owns:     the thread's blocks, freed when it ends.
 * Threads:  each its own.
 */
#include <pthread.h>
#include <stdlib.h>

#include "sdk.h"

static _Thread_local struct shown_call *blocks;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void on_thread_exit(void *first)
{
	struct shown_call *s = first, *next;

	blocks = NULL;
	for (; s; s = next) {
		next = s->next;
		free(s);
	}
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, on_thread_exit) == 0;
}

static struct shown_call *make(const void *owner)
{
	struct shown_call *s = calloc(1, sizeof(*s));

	pthread_once(&key_once, make_key);
	if (!s)
		return NULL;
	s->owner = owner;
	s->next = blocks;
	blocks = s;
	if (has_key)
		pthread_setspecific(key, s);
	return s;
}

struct shown_call *shown_call_find(const void *owner)
{
	struct shown_call *s = blocks;

	while (s && s->owner != owner)
		s = s->next;
	return s;
}

struct shown_call *shown_call_get(const void *owner)
{
	struct shown_call *s = shown_call_find(owner);

	return RTL_LIKELY(s != NULL) ? s : make(owner);
}

static void show(struct shown_call *s, struct context *c, unsigned int index,
		 rocprofiler_callback_phase_t phase)
{
	const struct service *service = &c->services[s->kind];
	rocprofiler_callback_tracing_record_t record = {
		.context_id = c->id,
		.thread_id = s->tid,
		.correlation_id = s->correlation,
		.kind = (rocprofiler_callback_tracing_kind_t)s->kind,
		.operation = s->operation,
		.phase = phase,
		.payload = &s->payload,
	};

	record.correlation_id.external = s->of[index].external;
	service->fn(record, &s->of[index].user, service->arg);
}

/* Of all that get the call, also as a record. */
static void ask_for_external(struct shown_call *s,
			     rocprofiler_external_correlation_id_request_kind_t kind)
{
	uint64_t rest = s->wish.callbacks | s->wish.recorded | s->wish.with_arguments;
	bool any = external_any();

	for (; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		s->of[i].user.value = 0;
		s->of[i].external.value = 0;
		if (RTL_UNLIKELY(any))
			s->of[i].external = external_of(context_at(i), s->tid, kind, s->operation,
							s->correlation.internal);
	}
}

void shown_call_begin(struct shown_call *s, rocprofiler_external_correlation_id_request_kind_t kind)
{
	uint64_t all = s->wish.callbacks | s->wish.recorded | s->wish.with_arguments;

	retire_begin(s->correlation.internal);
	ask_for_external(s, kind);
	if (!s->wish.callbacks)
		return;
	for (uint64_t rest = s->wish.callbacks; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		show(s, context_at(i), i, ROCPROFILER_CALLBACK_PHASE_ENTER);
	}
	/* a tool may have pushed one meanwhile */
	if (RTL_LIKELY(!external_any()))
		return;
	for (uint64_t rest = all; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		external_again(context_at(i), s->tid, kind, &s->of[i].external);
	}
}

void shown_call_end(struct shown_call *s)
{
	for (uint64_t rest = s->wish.callbacks; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		show(s, context_at(i), i, ROCPROFILER_CALLBACK_PHASE_EXIT);
	}
	buffered_put_call(s);
	s->wish = (struct shown_wish){ 0 };
	retire_drop(s->correlation.internal);
}
