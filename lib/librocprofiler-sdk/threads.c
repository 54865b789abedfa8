/* SPDX-License-Identifier: MIT */
/* threads.c - librocprofiler-sdk: the threads that call tools' functions for buffers
 *
 * Owns:     the threads, which live until the process ends; the functions that are called when one
 *           is made.
 * Threads:  any.
 */
#include "threads.h"

#include "../face/buffer_thread.h"
#include "state.h"

#define MAX_THREADS 256u
#define MAX_LISTENERS 64u

struct listener {
	rocprofiler_internal_thread_library_cb_t before, after;
	int libraries; /* 0: all */
	void *data;
	_Atomic bool is_set;
};

static struct listener listeners[MAX_LISTENERS];
static _Atomic uint32_t nr_listeners;
/* by handle; 0 is the one that all buffers have at first */
static _Atomic(struct buffer_thread *) threads[MAX_THREADS];
static _Atomic uint32_t nr_threads = 1;

static void notify(bool is_after)
{
	for (uint32_t i = 0; i < MAX_LISTENERS; i++) {
		const struct listener *l = &listeners[i];
		rocprofiler_internal_thread_library_cb_t fn;

		/* acquire: pairs with rocprofiler_at_internal_thread_create() */
		if (!atomic_load_explicit(&l->is_set, memory_order_acquire))
			continue;
		fn = is_after ? l->after : l->before;
		if (fn && (!l->libraries || l->libraries & ROCPROFILER_LIBRARY))
			fn(ROCPROFILER_LIBRARY, l->data);
	}
}

/* NULL: no memory or no thread. */
static struct buffer_thread *start(void)
{
	struct buffer_thread *t;

	notify(false);
	buffer_thread_start(state_core(), &t);
	notify(true);
	return t;
}

struct buffer_thread *threads_default(void)
{
	struct buffer_thread *t = atomic_load(&threads[0]), *mine;

	if (t)
		return t;
	mine = start();
	if (!mine || atomic_compare_exchange_strong(&threads[0], &t, mine))
		return mine;
	buffer_thread_end(mine);
	return t;
}

struct buffer_thread *threads_find(rocprofiler_callback_thread_t id)
{
	if (id.handle == 0)
		return threads_default();
	return id.handle < MAX_THREADS ? atomic_load(&threads[id.handle]) : NULL;
}

EXPORT rocprofiler_status_t
rocprofiler_create_callback_thread(rocprofiler_callback_thread_t *cb_thread_id)
{
	struct buffer_thread *t;
	uint32_t index;

	if (!cb_thread_id)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (state_phase() == 1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	index = atomic_fetch_add(&nr_threads, 1);
	t = index < MAX_THREADS ? start() : NULL;
	if (!t)
		return ROCPROFILER_STATUS_ERROR;
	atomic_store(&threads[index], t);
	cb_thread_id->handle = index;
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_at_internal_thread_create(
	rocprofiler_internal_thread_library_cb_t precreate,
	rocprofiler_internal_thread_library_cb_t postcreate, int libs, void *data)
{
	uint32_t index = atomic_fetch_add(&nr_listeners, 1);
	struct listener *l = &listeners[index % MAX_LISTENERS];

	if (index >= MAX_LISTENERS)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	l->before = precreate;
	l->after = postcreate;
	l->libraries = libs;
	l->data = data;
	/* release: pairs with notify() */
	atomic_store_explicit(&l->is_set, true, memory_order_release);
	return ROCPROFILER_STATUS_SUCCESS;
}
