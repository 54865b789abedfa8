/* SPDX-License-Identifier: MIT */
/* queue.c - the traced queues: storage, look-up, locks
 *
 * Owns:     all struct queue, which with their memory are reused and never freed: a program may
 *           still submit packets from an exit handler (seen in HIP 6.4), and a thread may visit a
 *           queue while it is destroyed. The handles by which the program names queues.
 * Threads:  any; changes under `lock`.
 * Hot path: queue_unseen(), for packets of queues that are not traced; the inline functions of
 *           queue.h.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue/queue.h"

#include <errno.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/bus.h"
#include "event/thread.h"

#define MAX_RING 65536u
#define MIN_ENTRIES 1024u
#define SOON_ROUNDS 4096u
#define MAX_HANDLES (2 * QUEUE_MAX)

/* A handle by which the program names a queue. Never freed, used again. */
struct handle {
	const hsa_queue_t *_Atomic hsa; /* NULL: free */
	_Atomic uint64_t doorbell;
	struct queue *queue;
	uint32_t refs; /* under lock: how often the program got it */
};

static struct lock lock = LOCK_INIT(LOCK_QUEUE);
static struct queue *_Atomic queues[QUEUE_MAX];
static _Atomic uint32_t nr_queues; /* entries of queues[] ever used */
static struct handle handles[MAX_HANDLES];
static _Atomic uint32_t nr_handles; /* entries of handles[] ever used */
static uint32_t next_index RTL_GUARDED_BY(lock);

uint32_t queue_count(void)
{
	return atomic_load_explicit(&nr_queues, memory_order_acquire);
}

struct queue *queue_at(uint32_t i)
{
	return atomic_load_explicit(&queues[i], memory_order_acquire);
}

void queue_lock(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	while (!queue_try_lock(q))
		sys_nap(&nap);
}

bool queue_turn_soon(struct queue *q)
{
	for (unsigned round = 0; round < SOON_ROUNDS; round++) {
		if (queue_turn_try(q))
			return true;
		RTL_RELAX();
	}
	return false;
}

bool queue_turn_wait(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	for (unsigned round = 1; !queue_turn_try(q); round++) {
		/* relaxed: nothing of the queue is read after that */
		if (atomic_load_explicit(&q->turn, memory_order_relaxed) >= QUEUE_ENDING)
			return false;
		if (round % 256 == 0)
			sys_nap(&nap);
		else
			RTL_RELAX();
	}
	return true;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 64;

	while (p < n && p < MAX_RING)
		p *= 2;
	return p;
}

/* A dead queue whose memory fits, or a new one. NULL: no memory, or QUEUE_MAX live. */
RTL_REQUIRES(lock) static struct queue *find_memory(uint32_t entries)
{
	uint32_t n = atomic_load_explicit(&nr_queues, memory_order_relaxed);
	struct queue *q;

	for (uint32_t i = 0; i < n; i++) {
		q = queue_at(i);
		/* acquire: pairs with the release in queue_close() */
		if (atomic_load_explicit(&q->turn, memory_order_acquire) == QUEUE_DEAD &&
		    (!q->inflight.most || q->inflight.most == entries))
			return q;
	}
	if (n == QUEUE_MAX)
		return NULL;
	q = alloc_pages(sizeof(*q));
	if (!q)
		return NULL;
	atomic_store_explicit(&q->turn, QUEUE_DEAD, memory_order_relaxed);
	atomic_store_explicit(&queues[n], q, memory_order_release);
	atomic_store_explicit(&nr_queues, n + 1, memory_order_release);
	return q;
}

/* The initial state of a queue. */
RTL_REQUIRES(lock) static void reset(struct queue *q, uint32_t agent)
{
	/* relaxed: queue_index() and queue_agent() */
	__atomic_store_n(&q->index, next_index++, __ATOMIC_RELAXED);
	__atomic_store_n(&q->agent, agent, __ATOMIC_RELAXED);
	q->is_left_out = agent_is_left_out(agent);
	atomic_store_explicit(&q->is_counted, false, memory_order_relaxed);
	atomic_store_explicit(&q->granted, 0, memory_order_relaxed);
	atomic_store_explicit(&q->counting, 0, memory_order_relaxed);
	atomic_store_explicit(&q->recorded, 0, memory_order_relaxed);
	q->user_counts = false;
	q->asked = q->asked_from = q->barrier_end = 0;
	q->not_counted = NULL;
	q->filter_epoch = 0;
	q->intercepted = false;
	q->user_callback = NULL;
	q->user_data = NULL;
	atomic_store_explicit(&q->plain, NULL, memory_order_relaxed);
	queue_set_ring(q, NULL);
	q->write_index = q->read_index = NULL;
	atomic_store_explicit(&q->doorbell, 0, memory_order_relaxed);
	atomic_store_explicit(&q->direct_doorbell, 0, memory_order_relaxed);
	q->in_device_memory = false;
	q->gave_up = q->free_end = q->stuck_at = 0;
	q->stuck_looks = q->nr_stuck = 0;
	atomic_store_explicit(&q->nr_announcing, 0, memory_order_relaxed);
	q->nr_held = 0;
	q->idle_since_ns = q->stuck_scan_ns = 0;
	q->last_object = 0;
	q->clock = (struct gpu_clock_piece){ 0 };
	q->last_epoch = q->last_kernel = 0;
	atomic_store_explicit(&q->reserved, 0, memory_order_relaxed);
	atomic_store_explicit(&q->published, 0, memory_order_relaxed);
	atomic_store_explicit(&q->rung, 0, memory_order_relaxed);
	atomic_store_explicit(&q->bypassed, false, memory_order_relaxed);
	atomic_store_explicit(&q->failed, false, memory_order_relaxed);
}

struct queue *queue_open(uint32_t agent, uint32_t size)
{
	uint32_t entries = power_of_two(size) * 2 < MIN_ENTRIES ? MIN_ENTRIES :
								  power_of_two(size) * 2;
	struct queue *q;

	lock_take(&lock);
	q = find_memory(entries);
	if (q) {
		reset(q, agent);
		/* BUSY: owned by this thread, and find_memory() skips it */
		atomic_store_explicit(&q->turn, QUEUE_BUSY, memory_order_relaxed);
		if (inflight_init(&q->inflight, entries, q->index) != 0) {
			atomic_store_explicit(&q->turn, QUEUE_DEAD, memory_order_relaxed);
			q = NULL;
		}
	}
	lock_drop(&lock);
	return q;
}

/* How many operations must be in the trace. For a queue that lives at the process's end `rtl` reads
 * that from its blocks. */
static void emit_submitted(const struct queue *q)
{
	struct event ev = { .kind = EVENT_SUBMITTED };

	ev.submitted.queue = q->index;
	ev.submitted.count = inflight_pushed(&q->inflight);
	bus_emit(&ev);
}

void queue_close(struct queue *q)
{
	emit_submitted(q);
	inflight_close(&q->inflight);
	inflight_trim(&q->inflight, 0);
	/* cached look-ups of the previous queue must not match this one */
	atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
	atomic_store_explicit(&q->direct, NULL, memory_order_relaxed);
	atomic_store_explicit(&q->doorbell, 0, memory_order_relaxed);
	atomic_store_explicit(&q->direct_doorbell, 0, memory_order_relaxed);
	atomic_store_explicit(&q->live, false, memory_order_release);
	/* pairs with the acquire in find_memory() */
	atomic_store_explicit(&q->turn, QUEUE_DEAD, memory_order_release);
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

/* ---- handles --------------------------------------------------------------------------------- */

static struct handle *handle_of(const hsa_queue_t *hsa)
{
	uint32_t n = atomic_load_explicit(&nr_handles, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		/* acquire: pairs with the release in queue_attach() */
		if (atomic_load_explicit(&handles[i].hsa, memory_order_acquire) == hsa)
			return &handles[i];
	return NULL;
}

struct queue *queue_find(const hsa_queue_t *hsa)
{
	struct handle *h = hsa ? handle_of(hsa) : NULL;

	return h ? h->queue : NULL;
}

struct queue *queue_find_doorbell(uint64_t doorbell)
{
	uint32_t n = atomic_load_explicit(&nr_handles, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		/* acquire: pairs with the release in queue_attach() */
		if (atomic_load_explicit(&handles[i].hsa, memory_order_acquire) &&
		    atomic_load_explicit(&handles[i].doorbell, memory_order_relaxed) == doorbell)
			return handles[i].queue;
	return NULL;
}

struct queue *queue_find_ring(const void *packets)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		/* acquire: pairs with the release in queue_attach(), so that the ring of a live
		 * queue is found. Relaxed: if it is the ring of the next queue in that memory, it
		 * is not `packets`, which belong to a queue that is attached or that the caller
		 * attaches. An ending queue may have had them: its turn was stored before the
		 * runtime gave them to the caller's queue. */
		if (atomic_load_explicit(&q->live, memory_order_acquire) &&
		    queue_ring(q) == packets &&
		    atomic_load_explicit(&q->turn, memory_order_relaxed) < QUEUE_ENDING)
			return q;
	}
	return NULL;
}

RTL_REQUIRES(lock) static struct handle *find_free_handle(void)
{
	uint32_t n = atomic_load_explicit(&nr_handles, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++)
		if (!atomic_load_explicit(&handles[i].hsa, memory_order_relaxed))
			return &handles[i];
	if (n == MAX_HANDLES)
		return NULL;
	atomic_store_explicit(&nr_handles, n + 1, memory_order_release);
	return &handles[n];
}

int queue_attach(struct queue *q, hsa_queue_t *hsa)
{
	bool is_first = false;
	struct handle *h;

	lock_take(&lock);
	h = find_free_handle();
	if (h) {
		h->queue = q;
		h->refs = 1;
		is_first = !atomic_load_explicit(&q->live, memory_order_relaxed);
		if (is_first) {
			q->size = hsa->size;
			atomic_store_explicit(&q->hsa, hsa, memory_order_relaxed);
			atomic_store_explicit(&q->live, true, memory_order_release);
			atomic_store_explicit(&q->turn, QUEUE_IDLE, memory_order_release);
		} else if (!atomic_load_explicit(&q->hsa, memory_order_relaxed)) {
			atomic_store_explicit(&q->hsa, hsa, memory_order_relaxed);
		}
		atomic_store_explicit(&h->doorbell, hsa->doorbell_signal.handle,
				      memory_order_relaxed);
		atomic_store_explicit(&h->hsa, hsa, memory_order_release);
	}
	lock_drop(&lock);
	if (is_first)
		emit_queue(q->index, q->agent, hsa, 0);
	return h ? 0 : -ENOSPC;
}

void queue_get(const hsa_queue_t *hsa)
{
	struct handle *h;

	lock_take(&lock);
	h = handle_of(hsa);
	if (h)
		h->refs++;
	lock_drop(&lock);
}

/* Another handle of `q`, or NULL. */
RTL_REQUIRES(lock) static const hsa_queue_t *other_handle(const struct queue *q)
{
	uint32_t n = atomic_load_explicit(&nr_handles, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++) {
		const hsa_queue_t *hsa =
			atomic_load_explicit(&handles[i].hsa, memory_order_relaxed);

		if (hsa && handles[i].queue == q)
			return hsa;
	}
	return NULL;
}

bool queue_put(const hsa_queue_t *hsa, bool *again)
{
	const hsa_queue_t *other = NULL;
	struct handle *h;

	lock_take(&lock);
	h = handle_of(hsa);
	*again = h && --h->refs;
	if (h && !*again) {
		atomic_store_explicit(&h->hsa, NULL, memory_order_release);
		other = other_handle(h->queue);
		if (atomic_load_explicit(&h->queue->hsa, memory_order_relaxed) == hsa)
			atomic_store_explicit(&h->queue->hsa, (hsa_queue_t *)(uintptr_t)other,
					      memory_order_relaxed);
	}
	lock_drop(&lock);
	return h && !*again && !other;
}

void queue_drop_handles(void)
{
	uint32_t n = atomic_load_explicit(&nr_handles, memory_order_acquire);

	lock_take(&lock);
	for (uint32_t i = 0; i < n; i++)
		atomic_store_explicit(&handles[i].hsa, NULL, memory_order_release);
	lock_drop(&lock);
}

/* ---- queues that are not traced -------------------------------------------------------------- */

#define NR_COUNTED 1024u
#define COUNTED_WAYS 8u
/* Addresses of queues that were counted. If a window is full, an entry is replaced: a queue counted
 * twice is better than one never counted. */
static const hsa_queue_t *_Atomic counted[NR_COUNTED];

static const hsa_queue_t *_Atomic *counted_window(const hsa_queue_t *hsa)
{
	uint64_t h = (uint64_t)(uintptr_t)hsa * UINT64_C(0x9e3779b97f4a7c15);

	return &counted[(uint32_t)(h >> 40) & (NR_COUNTED - COUNTED_WAYS)];
}

/* false: it has been counted before. */
static bool mark_counted(const hsa_queue_t *hsa)
{
	const hsa_queue_t *_Atomic *window = counted_window(hsa);
	const hsa_queue_t *was;

	/* relaxed, here and below: the address is the only data. Scans the whole window first: an
	 * entry before the match may have become free. */
	for (uint32_t i = 0; i < COUNTED_WAYS; i++)
		if (atomic_load_explicit(&window[i], memory_order_relaxed) == hsa)
			return false;
	for (uint32_t i = 0; i < COUNTED_WAYS; i++) {
		was = NULL;
		if (atomic_compare_exchange_strong_explicit(&window[i], &was, hsa,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return true;
		if (was == hsa) /* another thread counted it just now */
			return false;
	}
	atomic_store_explicit(&window[hsa->id % COUNTED_WAYS], hsa, memory_order_relaxed);
	return true;
}

void queue_forget(const hsa_queue_t *hsa)
{
	const hsa_queue_t *_Atomic *window = counted_window(hsa);

	for (uint32_t i = 0; i < COUNTED_WAYS; i++) {
		const hsa_queue_t *was = hsa;

		atomic_compare_exchange_strong_explicit(&window[i], &was, NULL,
							memory_order_relaxed, memory_order_relaxed);
	}
}

void queue_unseen(const hsa_queue_t *hsa)
{
	/* a host queue for agent dispatches is not traced */
	if (!(hsa->features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH) || !mark_counted(hsa))
		return;
	bus_loss(SPOOL_REASON_queue_unseen, 1);
	log_warn("queue %llu: it was made by an unknown function; its dispatches "
		 "are not traced",
		 (unsigned long long)hsa->id);
}

uint32_t queue_announce(const hsa_queue_t *hsa, uint32_t agent, uint32_t flags)
{
	uint32_t index;

	lock_take(&lock);
	index = next_index++;
	lock_drop(&lock);
	emit_queue(index, agent, hsa, flags);
	mark_counted(hsa);
	return index;
}

bool queue_any_unheld(uint32_t agent)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		const struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire) &&
		    queue_agent(q) == agent &&
		    (!atomic_load_explicit(&q->is_counted, memory_order_relaxed) ||
		     atomic_load_explicit(&q->bypassed, memory_order_relaxed) ||
		     atomic_load_explicit(&q->granted, memory_order_relaxed) == UINT64_MAX))
			return true;
	}
	return false;
}
