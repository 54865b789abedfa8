/* SPDX-License-Identifier: MIT */
/* ranges.c - libroctx64.so.1: the open ranges of all threads
 *
 * Owns:     a list of threads, each with a stack of its open ranges' messages; a thread's is freed
 *           when the thread ends.
 * Threads:  any, one lock. roctx 1.0 takes one for each call as well.
 * Fails:    without memory a range is not in the list. Levels come from the core and stay right.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../face/fork_guard.h"
#include "../librtl/core.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "roctracer/roctracer_roctx.h"
#include "roctx.h"

struct open_range {
	struct open_range *outer;
	char *message;
};

struct thread_ranges {
	struct thread_ranges *next;
	struct open_range *innermost;
	uint32_t tid;
	uint32_t nr_missed; /* innermost ranges that are not in the list: there was no memory */
};

GUARDED_LOCK(lock, LOCK_RANGES);
static pthread_key_t key;
static struct thread_ranges *threads RTL_GUARDED_BY(lock);

static void pop(struct thread_ranges *o)
{
	struct open_range *r = o->innermost;

	if (o->nr_missed) {
		o->nr_missed--;
	} else if (r) {
		o->innermost = r->outer;
		alloc_free(r->message);
		alloc_free(r);
	}
}

static void thread_ends(void *arg)
{
	struct thread_ranges *o = arg, **at = &threads;

	lock_take(&lock);
	while (*at && *at != o)
		at = &(*at)->next;
	if (*at)
		*at = o->next;
	lock_drop(&lock);
	o->nr_missed = 0;
	while (o->innermost)
		pop(o);
	alloc_free(o);
}

static struct thread_ranges *get_ranges(void)
{
	struct thread_ranges *o = pthread_getspecific(key);

	if (o)
		return o;
	o = alloc_zero(1, sizeof(*o));
	if (!o)
		return NULL;
	o->tid = (uint32_t)syscall(SYS_gettid);
	if (pthread_setspecific(key, o) != 0) {
		alloc_free(o);
		return NULL;
	}
	lock_take(&lock);
	o->next = threads;
	threads = o;
	lock_drop(&lock);
	return o;
}

RTL_REQUIRES(lock) static void push(struct thread_ranges *o, const char *message)
{
	struct open_range *r = o->nr_missed ? NULL : alloc_heap(sizeof(*r));

	if (r && !(r->message = alloc_string(message ? message : ""))) {
		alloc_free(r);
		r = NULL;
	}
	if (!r) {
		o->nr_missed++;
		return;
	}
	r->outer = o->innermost;
	o->innermost = r;
}

static void on_call(enum range_call call, const char *message, uint64_t id)
{
	struct thread_ranges *o;

	(void)id;
	if ((call != RANGE_PUSH && call != RANGE_POP) || !(o = get_ranges()))
		return;
	lock_take(&lock);
	if (call == RANGE_PUSH)
		push(o, message);
	else
		pop(o);
	lock_drop(&lock);
}

void ranges_start(const struct rtl_core *core)
{
	if (core && pthread_key_create(&key, thread_ends) == 0)
		core->range_listen(on_call);
}

struct iteration {
	void (*callback)(const roctx_range_data_t *range, void *arg);
	void *arg;
};

RTL_NO_TSA static void call_for_each(void *arg)
{
	const struct iteration *i = arg;

	for (const struct thread_ranges *o = threads; o; o = o->next) {
		for (const struct open_range *r = o->innermost; r; r = r->outer) {
			roctx_range_data_t data = { .message = r->message, .tid = o->tid };

			i->callback(&data, i->arg);
		}
	}
}

RTL_NO_TSA static void end_iteration(void *arg)
{
	(void)arg;
	fork_guard_except(NULL);
	lock_drop(&lock);
}

EXPORT void RangeStackIterate(void (*callback)(const roctx_range_data_t *range, void *arg),
			      void *arg)
{
	struct iteration i = { callback, arg };

	lock_take(&lock);
	fork_guard_except(&lock);
	callout(call_for_each, end_iteration, &i);
	fork_guard_except(NULL);
	lock_drop(&lock);
}

EXPORT const char *roctracer_error_string(void);

/* roctx 1.0 exports it as well; nothing in this library fails. The caller frees it. */
EXPORT const char *roctracer_error_string(void)
{
	return alloc_string("");
}
