/* SPDX-License-Identifier: MIT */
/* queue_calls.c - the calls that make and destroy queues
 *
 * Every queue for kernels that a program makes is interposed (interpose.h), for all functions and
 * properties; with RTL_QUEUES=intercept those of hsa_queue_create() are intercepted instead. A
 * queue that allows neither is not traced, and counted.
 *
 * Threads:  any.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue/queue_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hsa/hsa_ext_amd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/bus.h"
#include "event/life.h"
#include "source/hsa/agent.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/memory/scratch.h"
#include "source/hsa/mode.h"
#include "source/hsa/queue/back_pressure.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/intercept.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/queue/origin.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/real.h"

/* hsa_amd_queue_create_desc_t, version 1 (ROCm 10). */
struct desc {
	uint16_t version, flags; /* enum desc_flags */
	uint8_t engine_type, reserved_header[3];
	uint32_t queue_size_bytes, priority;
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *callback_data;
	hsa_queue_t *queue;
	uint64_t engine[4];
	uint32_t traffic_class, reserved[5];
};
_Static_assert(sizeof(struct desc) == 96, "as in hsa_ext_amd.h");
enum desc_flags { DESC_RING_IN_DEVICE = 1 };
enum { DESC_VERSION = 1, DESC_COMPUTE = 0, DESC_MAX = 16 };

/* The initial value of a descriptor's queue, to see whether the runtime wrote it. */
static hsa_queue_t not_written;
static struct lock acquire_lock = LOCK_INIT(LOCK_ACQUIRE);

/* ---- errors of queues ------------------------------------------------------------------------ */

/* The callback that hsa_queue_create() uses where the program passes none, and
 * hsa_amd_queue_intercept_create() does not (5.2.3): Queue::DefaultErrorHandler, which ends the
 * program, and prints unless disabled. A program that would have died untraced must not hang
 * instead. */
static void default_error(hsa_status_t status, const hsa_queue_t *source)
{
	const char *quiet = getenv("HSA_ENABLE_QUEUE_FAULT_MESSAGE"), *what = "UNKNOWN ERROR";
	char text[512];
	int n;

	if (quiet && strcmp(quiet, "0") == 0)
		return;
	if (real.hsa_status_string)
		real.hsa_status_string(status, &what);
	n = snprintf(text, sizeof(text), "Queue at %p inactivated due to async error:\n\t%s\n",
		     (const void *)source, what);
	if (n < 0 || sys_write(STDERR_FILENO, text, strnlen(text, sizeof(text))) < 0)
		n = 0; /* as the runtime does: the process ends anyway */
	harvest_on_fault(NULL, NULL);
	abort();
}

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	struct queue *q = data;

	if (q->intercepted)
		back_pressure_release(q);
	/* first, since HIP's callback aborts */
	collect_give_up(q);
	if (q->user_callback)
		q->user_callback(status, source, q->user_data);
	else
		default_error(status, source);
}

/* ---- making queues --------------------------------------------------------------------------- */

/* Under both locks of `q`, or not attached. */
static void close_queue(struct queue *q)
{
	back_pressure_fini(q);
	completer_destroy(q);
	queue_close(q);
}

/* Opens a queue. NULL: the limit is reached. */
static struct queue *open_queue(hsa_agent_t agent, uint32_t size,
				void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data)
{
	struct queue *q = queue_open(agent_index(agent), size);

	if (q && origin_init(q, q->inflight.most) != 0) {
		queue_close(q);
		q = NULL;
	}
	if (!q)
		return NULL;
	q->user_callback = callback;
	q->user_data = data;
	return q;
}

/* `hsa` is as the runtime made it, and is not traced. */
static void leave_plain(hsa_agent_t agent, const hsa_queue_t *hsa, const char *why)
{
	queue_announce(hsa, agent_index(agent), REC_QUEUE_PLAIN);
	bus_loss(SPOOL_REASON_queue_plain, 1);
	log_warn("queue %llu: %s; its dispatches are not traced", (unsigned long long)hsa->id, why);
}

/* Whether the memory belongs to a GPU: stores to it may be write-combined. */
static bool is_in_device_memory(const void *p)
{
	hsa_amd_pointer_info_t info = { .size = sizeof(info) };

	return real.hsa_amd_pointer_info &&
	       real.hsa_amd_pointer_info(p, &info, NULL, NULL, NULL) == HSA_STATUS_SUCCESS &&
	       info.type == HSA_EXT_POINTER_TYPE_HSA && agent_is_gpu(agent_index(info.agentOwner));
}

/* `hsa` was made with on_error() and `q`, and is not traced: `q` stays until `hsa` is destroyed. */
static void keep_plain(struct queue *q, const hsa_queue_t *hsa)
{
	inflight_trim(&q->inflight, 0);
	/* release: pairs with take_plain() */
	atomic_store_explicit(&q->plain, hsa, memory_order_release);
}

/* Removes and returns the queue kept for `hsa`, or for any untraced queue (NULL). NULL: there is
 * none. */
static struct queue *take_plain(const hsa_queue_t *hsa)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		const hsa_queue_t *its =
			atomic_load_explicit(&queue_at(i)->plain, memory_order_relaxed);

		if (its && (!hsa || its == hsa) &&
		    atomic_compare_exchange_strong_explicit(&queue_at(i)->plain, &its, NULL,
							    memory_order_acquire,
							    memory_order_relaxed))
			return queue_at(i);
	}
	return NULL;
}

/* `hsa`, for which `q` was opened (NULL: opening failed), is about to be returned to the program.
 * `by_functions`: as in interpose_attach(), and with the program's own error callback. */
static void attach_new(struct queue *q, hsa_agent_t agent, hsa_queue_t *hsa, bool by_functions)
{
	struct queue *known = queue_find(hsa);

	internal_queue_forget(hsa);
	if (known) { /* a cooperative queue: the runtime returns the same one each time */
		queue_get(hsa);
	} else if (!interpose_possible(hsa)) {
		leave_plain(agent, hsa, "it is no hardware queue with a doorbell");
	} else if (!q) {
		leave_plain(agent, hsa, "there are too many, or no memory for more");
	} else {
		queue_forget(hsa); /* an untraced queue may have had the same address */
		q->in_device_memory = is_in_device_memory(hsa->base_address);
		counter_prepare_queue(q, hsa);
		if (interpose_attach(q, hsa, by_functions) == 0) {
			real.hsa_amd_profiling_set_profiler_enabled(hsa, 1);
			return;
		}
		leave_plain(agent, hsa, "there are too many");
	}
	if (q && !known && !by_functions)
		keep_plain(q, hsa);
	else if (q)
		close_queue(q);
}

static void interpose_new(struct queue *q, hsa_agent_t agent, hsa_queue_t *hsa, bool by_functions)
{
	sys_cancel_off(); /* a queue is made and attached, or neither */
	attach_new(q, agent, hsa, by_functions);
	sys_cancel_on();
}

static hsa_status_t create_intercepted(struct queue *q, hsa_agent_t agent, uint32_t size,
				       hsa_queue_type32_t type, uint32_t private_segment_size,
				       uint32_t group_segment_size, hsa_queue_t **queue)
{
	hsa_status_t status;

	if (intercept_prepare(q, size) != 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	status = real.hsa_amd_queue_intercept_create(agent, size, type, on_error, q,
						     private_segment_size, group_segment_size,
						     queue);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	real.hsa_amd_profiling_set_profiler_enabled(*queue, 1);
	counter_prepare_queue(q, *queue);
	status = intercept_attach(q, *queue);
	if (status != HSA_STATUS_SUCCESS)
		real.hsa_queue_destroy(*queue);
	return status;
}

hsa_status_t queue_calls_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				void (*callback)(hsa_status_t status, hsa_queue_t *source,
						 void *data),
				void *data, uint32_t private_segment_size,
				uint32_t group_segment_size, hsa_queue_t **queue)
{
	struct queue *q;
	hsa_status_t status;

	if (!life_on())
		return real.hsa_queue_create(agent, size, type, callback, data,
					     private_segment_size, group_segment_size, queue);
	q = open_queue(agent, size, callback, data);
	if (q && mode_intercepts) {
		status = create_intercepted(q, agent, size, type, private_segment_size,
					    group_segment_size, queue);
		if (status == HSA_STATUS_SUCCESS)
			return status;
		q->intercepted = false; /* a type that can't be intercepted */
	}
	status = real.hsa_queue_create(agent, size, type, q ? on_error : callback, q ? q : data,
				       private_segment_size, group_segment_size, queue);
	if (status == HSA_STATUS_SUCCESS)
		interpose_new(q, agent, *queue, false);
	else if (q)
		close_queue(q);
	return status;
}

/* Whether all descriptors are of the version whose size and members are known. */
static bool are_known(const struct desc *descs, uint32_t n)
{
	if (!descs)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (descs[i].version != DESC_VERSION)
			return false;
	return true;
}

/* `ours` are copies of the program's descriptors, with librtl's error callback. */
static void open_described(hsa_agent_t agent, struct desc *ours, uint32_t n, struct queue **q)
{
	for (uint32_t i = 0; i < n; i++) {
		ours[i].queue = &not_written;
		if (ours[i].engine_type != DESC_COMPUTE)
			continue;
		q[i] = open_queue(agent, ours[i].queue_size_bytes / sizeof(union packet),
				  ours[i].callback, ours[i].callback_data);
		if (!q[i])
			continue;
		ours[i].callback = on_error;
		ours[i].callback_data = q[i];
	}
}

hsa_status_t queue_calls_create_described(hsa_agent_t agent, void *descs, uint32_t num_descs)
{
	struct desc *theirs = descs, ours[DESC_MAX];
	struct queue *q[DESC_MAX] = { NULL };
	hsa_status_t status;

	/* too many at once, or an unknown version: passed on as they are, and counted when used */
	if (!life_on() || num_descs > DESC_MAX || !are_known(theirs, num_descs))
		return real.hsa_amd_queue_create(agent, descs, num_descs);
	memcpy(ours, theirs, num_descs * sizeof(*ours));
	open_described(agent, ours, num_descs, q);
	status = real.hsa_amd_queue_create(agent, ours, num_descs);
	/* the runtime may have made some although it returns an error */
	for (uint32_t i = 0; i < num_descs; i++) {
		bool is_made = ours[i].queue && ours[i].queue != &not_written;

		if (ours[i].queue != &not_written)
			theirs[i].queue = ours[i].queue;
		if (is_made && ours[i].engine_type == DESC_COMPUTE)
			interpose_new(q[i], agent, ours[i].queue, false);
		else if (q[i])
			close_queue(q[i]);
	}
	return status;
}

/* If two threads acquire the same hardware queue, one of them attaches it. */
RTL_REQUIRES(acquire_lock)
static void attach_acquired(hsa_agent_t agent, hsa_queue_t *queue,
			    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
			    void *data)
{
	struct queue *q = queue_find_ring(queue->base_address);

	if (!q)
		interpose_new(open_queue(agent, queue->size, callback, data), agent, queue, true);
	else if (queue_attach(q, queue) != 0)
		leave_plain(agent, queue, "there are too many handles");
}

hsa_status_t queue_calls_acquire(hsa_agent_t agent, hsa_queue_type32_t type, int priority,
				 void (*callback)(hsa_status_t status, hsa_queue_t *source,
						  void *data),
				 void *data, uint64_t flags, hsa_queue_t **queue)
{
	/* The program's error callback stays: it is that of the thread that acquired the hardware
	 * queue first. */
	hsa_status_t status = real.hsa_amd_counted_queue_acquire(agent, type, priority, callback,
								 data, flags, queue);

	if (status != HSA_STATUS_SUCCESS || !life_on())
		return status;
	lock_take(&acquire_lock);
	attach_acquired(agent, *queue, callback, data);
	lock_drop(&acquire_lock);
	return status;
}

/* ---- destroying queues ----------------------------------------------------------------------- */

/* The real queue is destroyed: entries in flight are unfinished. The caller holds the turn. */
static void finish(struct queue *q)
{
	struct event ev = { .kind = EVENT_QUEUE_END };

	completer_settle(q);
	queue_lock(q);
	collect_finish(q, clock_now_ns());
	ev.end.id = q->index;
	ev.end.time_ns = clock_now_ns();
	bus_emit(&ev);
	close_queue(q);
	queue_unlock(q);
}

static void detach(struct queue *q)
{
	if (!q->intercepted) {
		interpose_detach(q);
		return;
	}
	back_pressure_release(q);
	queue_turn_wait(q);
	atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
}

/* Destroying it failed. */
static void reattach(struct queue *q, hsa_queue_t *hsa)
{
	if (!q->intercepted) {
		interpose_reattach(q, hsa);
		return;
	}
	atomic_store_explicit(&q->hsa, hsa, memory_order_relaxed);
	atomic_store_explicit(&q->failed, false, memory_order_relaxed);
	queue_turn_end(q);
}

static bool forked(void)
{
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED;
}

/* Destroys `queue` with the runtime's function `end`. */
static hsa_status_t end_queue(hsa_queue_t *queue, hsa_status_t (*end)(hsa_queue_t *queue))
{
	struct queue *q = forked() ? NULL : queue_find(queue);
	struct queue *plain = forked() || q ? NULL : take_plain(queue);
	bool again = false, last = false;
	hsa_status_t status;

	/* another queue may get its address as soon as the runtime has destroyed it */
	if (q)
		last = queue_put(queue, &again);
	else if (!forked())
		queue_forget(queue);
	if (last)
		detach(q);
	scratch_queue_ends(q);
	status = end(queue);
	scratch_queue_ends(NULL);
	if (status == HSA_STATUS_SUCCESS) {
		if (last)
			finish(q);
		if (plain)
			close_queue(plain);
		return status;
	}
	if (plain)
		keep_plain(plain, queue);
	if (last)
		reattach(q, queue);
	if (again)
		queue_get(queue);
	else if (q)
		queue_attach(q, queue);
	return status;
}

hsa_status_t queue_calls_destroy(hsa_queue_t *queue)
{
	return end_queue(queue, real.hsa_queue_destroy);
}

/* Other users keep the hardware queue. */
hsa_status_t queue_calls_release(hsa_queue_t *queue)
{
	struct queue *q = forked() ? NULL : queue_find(queue);
	hsa_status_t status;
	bool again;

	/* with the turn taken, no thread reads the indices by this handle */
	if (!q || !queue_turn_wait(q))
		return real.hsa_amd_counted_queue_release(queue);
	queue_put(queue, &again);
	status = real.hsa_amd_counted_queue_release(queue);
	if (status != HSA_STATUS_SUCCESS)
		queue_attach(q, queue);
	interpose_end_turn(q);
	return status;
}

hsa_status_t queue_calls_inactivate(hsa_queue_t *queue)
{
	struct queue *q = queue_find(queue);

	if (q && q->intercepted)
		atomic_store(&q->failed, true);
	return real.hsa_queue_inactivate(queue);
}

hsa_status_t queue_calls_set_profiler(hsa_queue_t *queue, int enable)
{
	/* With profiling off, librtl's dispatches would have no times. Times in its signals don't
	 * disturb a program that did not ask for them. */
	return real.hsa_amd_profiling_set_profiler_enabled(queue, queue_find(queue) ? 1 : enable);
}

void queue_calls_reset(void)
{
	uint32_t n = queue_count();
	struct queue *q;

	for (uint32_t i = 0; i < n; i++) {
		q = queue_at(i);
		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		detach(q);
		finish(q);
	}
	while ((q = take_plain(NULL)) != NULL)
		close_queue(q);
	queue_drop_handles();
}
