/* SPDX-License-Identifier: MIT */
/* queues.c - queues of the program, the callbacks of the client
 *
 * Owns:     the queues, which are never freed; the callbacks.
 * Threads:  any. Callbacks are read under a sequence count (face/slot.h's way), changed under
 *           `lock`.
 */
#include "base/alloc.h"
#include "queues.h"

#include <stdlib.h>

typedef hsa_status_t (*create_fn)(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				  void (*callback)(hsa_status_t status, hsa_queue_t *source,
						   void *data),
				  void *data, uint32_t private_segment_size,
				  uint32_t group_segment_size, hsa_queue_t **queue);
typedef hsa_status_t (*destroy_fn)(hsa_queue_t *queue);

GUARDED_LOCK(lock, LOCK_V1_QUEUES);
static struct seen_queue *_Atomic queues; /* written under lock */
static uint32_t nr_queues RTL_GUARDED_BY(lock);
static create_fn next_create;
static destroy_fn next_destroy;
/* by rocprofiler_queue_create_profiled(), on this thread */
static _Thread_local bool is_profiled;

static _Atomic uint32_t sequence; /* odd: being changed */
static _Atomic(rocprofiler_callback_t) on_dispatch;
typedef hsa_status_t (*queue_fn)(hsa_queue_t *queue, void *data);
static _Atomic(queue_fn) on_create, on_destroy;
static _Atomic(void *) callback_data;
static _Atomic bool is_on;

/* ---- callbacks ------------------------------------------------------------------------------- */

RTL_REQUIRES(lock) static void store(rocprofiler_queue_callbacks_t c, void *data, bool on)
{
	uint32_t n = atomic_load_explicit(&sequence, memory_order_relaxed);

	atomic_store_explicit(&sequence, n + 1, memory_order_relaxed);
	/* release: the odd count comes first; pairs with load() */
	atomic_store_explicit(&on_dispatch, c.dispatch, memory_order_release);
	atomic_store_explicit(&on_create, c.create, memory_order_release);
	atomic_store_explicit(&on_destroy, c.destroy, memory_order_release);
	atomic_store_explicit(&callback_data, data, memory_order_release);
	atomic_store_explicit(&is_on, on, memory_order_release);
	/* release: pairs with the acquire of the count in load() */
	atomic_store_explicit(&sequence, n + 2, memory_order_release);
}

static void load(struct client_callbacks *c)
{
	uint32_t before;

	do {
		/* acquire, all: pair with store() */
		before = atomic_load_explicit(&sequence, memory_order_acquire);
		c->fn.dispatch = atomic_load_explicit(&on_dispatch, memory_order_acquire);
		c->fn.create = atomic_load_explicit(&on_create, memory_order_acquire);
		c->fn.destroy = atomic_load_explicit(&on_destroy, memory_order_acquire);
		c->data = atomic_load_explicit(&callback_data, memory_order_acquire);
		c->is_on = atomic_load_explicit(&is_on, memory_order_acquire);
	} while (before & 1 || before != atomic_load_explicit(&sequence, memory_order_relaxed));
}

bool queues_callbacks(struct client_callbacks *c)
{
	load(c);
	return c->is_on && c->fn.dispatch;
}

static bool has_any(const rocprofiler_queue_callbacks_t *c)
{
	return c->dispatch || c->create || c->destroy;
}

bool queues_set_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data)
{
	struct client_callbacks now;
	bool is_taken;

	lock_take(&lock);
	load(&now);
	is_taken = has_any(&now.fn) && now.data;
	if (!is_taken)
		store(callbacks, data, true);
	lock_drop(&lock);
	return !is_taken;
}

void queues_remove_callbacks(void)
{
	const rocprofiler_queue_callbacks_t none = { NULL, NULL, NULL };

	lock_take(&lock);
	store(none, NULL, false);
	lock_drop(&lock);
}

bool queues_switch_callbacks(bool on)
{
	struct client_callbacks now;

	lock_take(&lock);
	load(&now);
	store(now.fn, now.data, on);
	lock_drop(&lock);
	return on && now.fn.dispatch;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static struct seen_queue *find(const hsa_queue_t *queue)
{
	/* acquire: pairs with add(); entries are never freed */
	struct seen_queue *s = atomic_load_explicit(&queues, memory_order_acquire);

	while (s && atomic_load_explicit(&s->hsa, memory_order_acquire) != queue)
		s = s->next;
	return s;
}

static struct seen_queue *add(const hsa_queue_t *queue, bool has_times)
{
	struct seen_queue *s = alloc_zero(1, sizeof(*s));

	if (!s)
		return NULL;
	lock_take(&lock);
	s->next = atomic_load_explicit(&queues, memory_order_relaxed);
	s->id = nr_queues++;
	s->has_times = has_times;
	atomic_store_explicit(&s->hsa, queue, memory_order_relaxed);
	/* release: pairs with find() */
	atomic_store_explicit(&queues, s, memory_order_release);
	lock_drop(&lock);
	return s;
}

struct seen_queue *queues_find(const hsa_queue_t *queue)
{
	struct seen_queue *s = find(queue);

	return s ? s : add(queue, false);
}

static hsa_status_t
create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	     void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	     uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue)
{
	bool has_times = is_profiled;
	struct client_callbacks c;
	hsa_status_t status;

	is_profiled = false;
	status = next_create(agent, size, type, callback, data, private_segment_size,
			     group_segment_size, queue);
	/* the library's own are no queues of the program */
	if (status != HSA_STATUS_SUCCESS || runtime_is_quiet() || find(*queue))
		return status;
	add(*queue, has_times);
	load(&c);
	if (c.fn.create && (settings_intercepts() || has_times))
		c.fn.create(*queue, c.data);
	return status;
}

static hsa_status_t destroy_queue(hsa_queue_t *queue)
{
	struct seen_queue *s = find(queue);
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct client_callbacks c;

	load(&c);
	if (s && c.fn.destroy && (settings_intercepts() || s->has_times))
		status = c.fn.destroy(queue, c.data);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	/* first: another thread may get a queue at that address */
	if (s)
		atomic_store_explicit(&s->hsa, NULL, memory_order_release);
	return next_destroy(queue);
}

void queues_install(const struct hsa_mirror_root *root)
{
	void **create = hsa_table_core_slot(root->core, HSA_CORE_queue_create);
	void **destroy = hsa_table_core_slot(root->core, HSA_CORE_queue_destroy);

	if (!create || !*create || !destroy || !*destroy)
		return;
	*(void **)&next_create = *create;
	*(void **)&next_destroy = *destroy;
	*create = (void *)create_queue;
	*destroy = (void *)destroy_queue;
}

void queues_forget(void)
{
	for (struct seen_queue *s = atomic_load_explicit(&queues, memory_order_acquire); s;
	     s = s->next)
		atomic_store_explicit(&s->hsa, NULL, memory_order_relaxed);
}

EXPORT hsa_status_t rocprofiler_queue_create_profiled(
	hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue)
{
	hsa_status_t status = runtime_ready(__func__);

	NEED(queue);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!next_create)
		return FAIL("queue_create",
			    "HSA's runtime did not load this library: HSA_TOOLS_LIB names it");
	is_profiled = true;
	status = hsa.hsa_queue_create(agent, size, type, callback, data, private_segment_size,
				      group_segment_size, queue);
	is_profiled = false;
	if (status != HSA_STATUS_SUCCESS)
		error_set(status, __func__, "hsa_queue_create", "status 0x%x", (unsigned)status);
	return status;
}
