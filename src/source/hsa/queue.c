/* SPDX-License-Identifier: MIT */
/* queue.c - intercepted queues: made, found, locked, ended
 *
 * Owns:     all struct queue; they and their memory are reused and never freed, since the
 *           runtime may still call back from an exit handler (seen in HIP 6.4).
 * Threads:  create and destroy any, under `lock`; the packets of a queue: submit.c.
 * Hot path: queue_unseen(), for packets of queues that are not ours; else none.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "event/bus.h"
#include "event/life.h"
#include "source/hsa/agent.h"
#include "source/hsa/author.h"
#include "source/hsa/harvest.h"
#include "source/hsa/room.h"
#include "source/hsa/submit.h"
#include "source/hsa/table.h"

#include <hsa/hsa_ext_amd.h>

#define MAX_RING 65536u
/* Free slots that ROCr wants for its own retry packet, and one for the packet that runs. */
#define RING_RESERVE 3u
#define MIN_ENTRIES 1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *_Atomic queues[QUEUE_MAX];
static _Atomic uint32_t nr_queues; /* places of queues[] ever used */
static uint32_t next_index;	   /* under lock */

uint32_t queue_count(void)
{
	return atomic_load_explicit(&nr_queues, memory_order_acquire);
}

struct queue *queue_at(uint32_t i)
{
	return atomic_load_explicit(&queues[i], memory_order_acquire);
}

bool queue_try_lock(struct queue *q)
{
	return !atomic_load_explicit(&q->harvest_lock, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&q->harvest_lock, true, memory_order_acquire);
}

void queue_lock(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	while (!queue_try_lock(q))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

void queue_unlock(struct queue *q)
{
	atomic_store_explicit(&q->harvest_lock, false, memory_order_release);
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 64;

	while (p < n && p < MAX_RING)
		p *= 2;
	return p;
}

/* Under lock: a dead queue whose memory fits, or a new one. NULL: no memory, or QUEUE_MAX live. */
static struct queue *find_room(uint32_t entries)
{
	uint32_t n = atomic_load_explicit(&nr_queues, memory_order_relaxed);
	struct queue *q;

	for (uint32_t i = 0; i < n; i++) {
		q = queue_at(i);
		/* pairs with the release in abandon() */
		if (!atomic_load_explicit(&q->live, memory_order_acquire) &&
		    (!q->ring.entry || q->ring.mask + 1 == entries))
			return q;
	}
	if (n == QUEUE_MAX)
		return NULL;
	q = alloc_pages(sizeof(*q));
	if (!q)
		return NULL;
	atomic_store_explicit(&queues[n], q, memory_order_release);
	atomic_store_explicit(&nr_queues, n + 1, memory_order_release);
	return q;
}

/* A thread that waits for room in the ring of a dead queue comes out of it. */
static void fail(struct queue *q)
{
	/* seq_cst: pairs with room_make(): it sees this, or we see it wait */
	atomic_store(&q->failed, true);
}

/* What hsa_queue_create() puts in place of a missing callback, and hsa_amd_queue_intercept_create()
 * does not (5.2.3): Queue::DefaultErrorHandler, which ends the program unless it is told to be quiet.
 * A program that would have died untraced must not hang instead. */
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
	if (n < 0 || write(STDERR_FILENO, text, strnlen(text, sizeof(text))) < 0)
		n = 0; /* as the runtime: it dies anyway */
	harvest_on_fault(NULL, NULL);
	abort();
}

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	struct queue *q = data;

	fail(q);
	/* HIP's callback aborts */
	harvest_give_up(q);
	if (q->user_callback)
		q->user_callback(status, source, q->user_data);
	else
		default_error(status, source);
}

static void emit_queue(uint32_t index, uint32_t agent, const hsa_queue_t *hsa, uint32_t flags)
{
	struct event ev = { .kind = EVENT_QUEUE };

	ev.queue.index = index;
	ev.queue.flags = flags;
	ev.queue.agent = agent;
	ev.queue.size = hsa->size;
	ev.queue.tid = thread_get()->tid;
	ev.queue.queue_type = hsa->type;
	ev.queue.hsa_id = hsa->id;
	ev.queue.handle = (uint64_t)(uintptr_t)hsa;
	ev.queue.time_ns = clock_now_ns();
	bus_emit(&ev);
}

/* ---- queues that are none of ours ------------------------------------------------------------ */

#define NR_TOLD 1024u
#define TOLD_WAYS 8u
/* Their addresses. When a window is full, one of them is told of again later rather than another never. */
static const hsa_queue_t *_Atomic told[NR_TOLD];

static const hsa_queue_t *_Atomic *told_window(const hsa_queue_t *hsa)
{
	uint64_t h = (uint64_t)(uintptr_t)hsa * UINT64_C(0x9e3779b97f4a7c15);

	return &told[(uint32_t)(h >> 40) & (NR_TOLD - TOLD_WAYS)];
}

/* false: it was told of before. */
static bool tell(const hsa_queue_t *hsa)
{
	const hsa_queue_t *_Atomic *window = told_window(hsa);
	const hsa_queue_t *was;

	/* relaxed, here and below: the address is all there is. The whole window first: a place before its own
	 * may have become free. */
	for (uint32_t i = 0; i < TOLD_WAYS; i++)
		if (atomic_load_explicit(&window[i], memory_order_relaxed) == hsa)
			return false;
	for (uint32_t i = 0; i < TOLD_WAYS; i++) {
		was = NULL;
		if (atomic_compare_exchange_strong_explicit(&window[i], &was, hsa,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return true;
		if (was == hsa) /* another thread's packet, just now */
			return false;
	}
	atomic_store_explicit(&window[hsa->id % TOLD_WAYS], hsa, memory_order_relaxed);
	return true;
}

/* Its address may be another queue's from now on. */
static void forget(const hsa_queue_t *hsa)
{
	const hsa_queue_t *_Atomic *window = told_window(hsa);

	for (uint32_t i = 0; i < TOLD_WAYS; i++) {
		const hsa_queue_t *was = hsa;

		atomic_compare_exchange_strong_explicit(&window[i], &was, NULL,
							memory_order_relaxed, memory_order_relaxed);
	}
}

void queue_unseen(const hsa_queue_t *hsa)
{
	/* a host's own queue, for agent dispatches, does not concern us */
	if (!(hsa->features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH) || !tell(hsa))
		return;
	bus_loss(SPOOL_REASON_queue_unseen, 1);
	log_warn("queue %llu was not made by hsa_queue_create(); its dispatches are not traced",
		 (unsigned long long)hsa->id);
}

uint32_t queue_announce(const hsa_queue_t *hsa, uint32_t agent, uint32_t flags)
{
	uint32_t index;

	pthread_mutex_lock(&lock);
	index = next_index++;
	pthread_mutex_unlock(&lock);
	emit_queue(index, agent, hsa, flags);
	tell(hsa);
	return index;
}

/* ---- create and destroy ---------------------------------------------------------------------- */

/* Under its harvest lock, or not yet live. */
static void abandon(struct queue *q)
{
	signal_fini(&q->pool);
	for (uint32_t g = 0; g < QUEUE_NR_GATES; g++) {
		if (q->gate[g].signal)
			real.hsa_signal_destroy(signal_handle(q->gate[g].signal));
		q->gate[g] = (struct queue_gate){ 0 };
	}
	atomic_store_explicit(&q->orphan, 0, memory_order_relaxed);
	atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
	atomic_store_explicit(&q->live, false, memory_order_release);
}

/* Prepares a queue for packets of `agent`; it is not live yet. */
static struct queue *prepare(hsa_agent_t agent, uint32_t size)
{
	uint32_t entries = power_of_two(size) * 2 < MIN_ENTRIES ? MIN_ENTRIES :
								  power_of_two(size) * 2;
	struct queue *q;

	pthread_mutex_lock(&lock);
	q = find_room(entries);
	if (q) {
		q->index = next_index++;
		q->agent = agent_index(agent);
		q->written = q->consumed = q->last_seen = q->gave_up = 0;
		q->user_callback = NULL;
		q->nr_held = 0;
		q->high_water = 0;
		q->idle_since_ns = q->stuck_scan_ns = 0;
		atomic_store_explicit(&q->passed, 0, memory_order_relaxed);
		atomic_store_explicit(&q->orphan, 0, memory_order_relaxed);
		atomic_store_explicit(&q->failed, false, memory_order_relaxed);
		/* one gate at least: without any the ring may overflow */
		if (inflight_init(&q->ring, entries) != 0 || !room_make_gate(&q->gate[0]) ||
		    signal_init(&q->pool, entries) != 0) {
			abandon(q);
			q = NULL;
		} else {
			author_init(q, entries);
			atomic_store_explicit(&q->live, true, memory_order_release);
		}
	}
	pthread_mutex_unlock(&lock);
	return q;
}

/* After the hsa_queue_t exists: sizes, profiling, the callback. */
static hsa_status_t attach(struct queue *q, hsa_queue_t *hsa)
{
	hsa_status_t status;

	atomic_store_explicit(&q->hsa, hsa, memory_order_relaxed);
	q->size = hsa->size;
	q->limit = hsa->size > 2 * RING_RESERVE ? hsa->size - RING_RESERVE : 1;
	if (table_mode == TABLE_MODE_FULL && !q->batch)
		q->batch = alloc_pages(((size_t)q->ring.mask + 1) * sizeof(union packet));
	real.hsa_amd_profiling_set_profiler_enabled(hsa, 1);
	status = real.hsa_amd_queue_intercept_register(hsa, submit_packets, q);
	if (status == HSA_STATUS_SUCCESS)
		emit_queue(q->index, q->agent, hsa, 0);
	return status;
}

static hsa_status_t create_plain(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_size, uint32_t group_size, hsa_queue_t **queue,
				 hsa_status_t why)
{
	hsa_status_t status = real.hsa_queue_create(agent, size, type, callback, data, private_size,
						    group_size, queue);

	if (status == HSA_STATUS_SUCCESS) {
		queue_announce(*queue, agent_index(agent), REC_QUEUE_PLAIN);
		bus_loss(SPOOL_REASON_queue_plain, 1);
		log_warn("queue %llu: not intercepted (status 0x%x); its dispatches are not traced",
			 (unsigned long long)(*queue)->id, (unsigned)why);
	}
	return status;
}

hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
			  void *data, uint32_t private_segment_size, uint32_t group_segment_size,
			  hsa_queue_t **queue)
{
	struct queue *q;
	hsa_status_t status;

	if (!life_on())
		return real.hsa_queue_create(agent, size, type, callback, data,
					     private_segment_size, group_segment_size, queue);
	q = size <= table_max_queue ? prepare(agent, size) : NULL;
	if (!q)
		return create_plain(agent, size, type, callback, data, private_segment_size,
				    group_segment_size, queue, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	q->user_callback = callback;
	q->user_data = data;
	status = real.hsa_amd_queue_intercept_create(agent, size, type, on_error, q,
						     private_segment_size, group_segment_size,
						     queue);
	if (status == HSA_STATUS_SUCCESS) {
		status = attach(q, *queue);
		if (status == HSA_STATUS_SUCCESS)
			return status;
		real.hsa_queue_destroy(*queue);
	}
	queue_lock(q);
	abandon(q);
	queue_unlock(q);
	return create_plain(agent, size, type, callback, data, private_segment_size,
			    group_segment_size, queue, status);
}

struct queue *queue_find(const hsa_queue_t *hsa)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		/* relaxed: the caller knows of `hsa` since it was made */
		if (atomic_load_explicit(&q->hsa, memory_order_relaxed) == hsa &&
		    atomic_load_explicit(&q->live, memory_order_acquire))
			return q;
	}
	return NULL;
}

/* Everything that completed is recorded, the rest as unfinished. After fail(). */
static void finish(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	struct event ev = { .kind = EVENT_QUEUE_END };

	while (atomic_load(&q->waiting))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	queue_lock(q);
	harvest_finish(q, clock_now_ns());
	for (uint32_t i = 0; i < q->nr_held; i++)
		real.hsa_signal_destroy(signal_handle(q->held[i].signal));
	q->nr_held = 0;
	ev.end.id = q->index;
	ev.end.time_ns = clock_now_ns();
	bus_emit(&ev);
	abandon(q);
	queue_unlock(q);
}

static bool forked(void)
{
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED;
}

hsa_status_t queue_destroy(hsa_queue_t *queue)
{
	struct queue *q = forked() ? NULL : queue_find(queue);
	hsa_status_t status;

	if (q) {
		fail(q);
		/* its address may be another queue's as soon as the runtime has destroyed it */
		atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
	} else {
		forget(queue);
	}
	status = real.hsa_queue_destroy(queue);
	if (q && status == HSA_STATUS_SUCCESS) {
		finish(q);
	} else if (q) {
		atomic_store_explicit(&q->hsa, queue, memory_order_relaxed);
		atomic_store_explicit(&q->failed, false, memory_order_relaxed);
	}
	return status;
}

hsa_status_t queue_inactivate(hsa_queue_t *queue)
{
	struct queue *q = queue_find(queue);

	if (q)
		fail(q);
	return real.hsa_queue_inactivate(queue);
}

hsa_status_t queue_set_profiler(hsa_queue_t *queue, int enable)
{
	/* Switched off, our dispatches would have no times. Times in its signals don't disturb a
	 * program that did not ask for them. */
	return real.hsa_amd_profiling_set_profiler_enabled(queue, queue_find(queue) ? 1 : enable);
}

void queue_reset(void)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		fail(q);
		finish(q);
	}
}
