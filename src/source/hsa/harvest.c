/* SPDX-License-Identifier: MIT */
/* harvest.c - records what the GPU has completed
 *
 * Nobody waits for the harvester's result, so it never waits for a signal: it looks at what is in
 * flight in batches, seldom enough to cost next to nothing and often enough that a ring does not
 * fill up and a kill loses little (at most MAX_NAP_NS, plus what the recorder holds back).
 *
 * Threads: the life thread; the packet callback when a ring is full; whoever destroys a queue or ends the
 *          process. The queue's harvest lock excludes.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/harvest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/testpoint.h"
#include "event/bus.h"
#include "event/join.h"
#include "source/hsa/agent.h"
#include "source/hsa/codeobj.h"
#include "source/hsa/copy.h"
#include "source/hsa/queue.h"
#include "source/hsa/rtqueue.h"
#include "source/hsa/table.h"
#include "source/hsa/watch.h"

#define MIN_NAP_NS UINT64_C(100000)
#define MAX_NAP_NS UINT64_C(10000000)
#define IDLE_NAP_NS UINT64_C(100000000)
#define IDLE_AFTER_NS UINT64_C(50000000)
#define BATCH_GOAL 256u
/* Packets of a queue without barrier bits may complete out of order. Looking past the first that
 * has not is cheap for a few, and done for all now and then. */
#define LOOK_AHEAD 64u
#define FULL_SCAN_NS UINT64_C(20000000)
#define TRIM_AFTER_NS UINT64_C(1000000000)
#define CLOCK_EVERY_NS UINT64_C(1000000000)
#define GIVE_UP_ROUNDS 500u /* of 0.1 ms */

/* Times of dispatches whose owner's signal was completed by a barrier packet of ours: that signal
 * holds the barrier's times, so the owner's question is answered from here. The oldest makes room. */
#define NR_SHARED 4096u
#define SHARED_WAYS 4u
struct shared {
	_Atomic uint64_t signal; /* 0: free */
	/* under shared_lock */
	uint64_t begin_ns, end_ns, stamp;
};
static struct shared shared[NR_SHARED];
static _Atomic bool any_shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t next_stamp; /* under shared_lock */

static uint64_t nap_ns = MIN_NAP_NS; /* life thread only */
static uint64_t last_work_ns, last_clock_ns;
static uint32_t nr_live; /* queues, at the last tick */
static _Atomic bool ticking;

static struct shared *first_shared(uint64_t signal)
{
	uint64_t h = (signal >> 6) * UINT64_C(0x9e3779b97f4a7c15);

	return &shared[(uint32_t)(h >> 40) & (NR_SHARED - SHARED_WAYS)];
}

/* Under shared_lock: the place that `self` has, else a free one, else the oldest. */
static struct shared *place_of(uint64_t self)
{
	struct shared *s = first_shared(self), *best = NULL;

	for (struct shared *end = s + SHARED_WAYS; s < end; s++) {
		/* relaxed: only harvest_forget() changes it without the lock, to 0 */
		uint64_t its = atomic_load_explicit(&s->signal, memory_order_relaxed);

		if (its == self)
			return s;
		if (its == 0)
			s->stamp = 0;
		if (!best || s->stamp < best->stamp)
			best = s;
	}
	return best;
}

static void remember_shared(const struct inflight *e, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t self = (uint64_t)(uintptr_t)e->owner;
	struct shared *s;

	pthread_mutex_lock(&shared_lock);
	s = place_of(self);
	s->begin_ns = begin_ns;
	s->end_ns = end_ns;
	s->stamp = ++next_stamp;
	atomic_store_explicit(&s->signal, self, memory_order_relaxed);
	pthread_mutex_unlock(&shared_lock);
}

static bool recall_shared(uint64_t signal, hsa_amd_profiling_dispatch_time_t *time)
{
	struct shared *s = first_shared(signal);
	bool found = false;

	pthread_mutex_lock(&shared_lock);
	for (uint32_t i = 0; i < SHARED_WAYS && !found; i++) {
		if (atomic_load_explicit(&s[i].signal, memory_order_relaxed) != signal)
			continue;
		time->start = s[i].begin_ns;
		time->end = s[i].end_ns;
		found = true;
	}
	pthread_mutex_unlock(&shared_lock);
	return found;
}

void harvest_forget(const amd_signal_t *s)
{
	struct shared *places = first_shared((uint64_t)(uintptr_t)s);

	/* relaxed: the thread that uses the signal knows what happened to it before */
	if (!atomic_load_explicit(&any_shared, memory_order_relaxed))
		return;
	for (uint32_t i = 0; i < SHARED_WAYS; i++) {
		uint64_t self = (uint64_t)(uintptr_t)s;

		atomic_compare_exchange_strong_explicit(&places[i].signal, &self, 0,
							memory_order_relaxed, memory_order_relaxed);
	}
}

void harvest_will_share(const amd_signal_t *s)
{
	if (!atomic_load_explicit(&any_shared, memory_order_relaxed))
		atomic_store_explicit(&any_shared, true, memory_order_relaxed);
	harvest_forget(s);
}

/* ROCr converts the end first as well (GpuAgent::TranslateTime): a clock update in between then
 * does not lengthen the dispatch. */
static void convert(uint32_t agent, uint64_t begin, uint64_t end, uint64_t *begin_ns,
		    uint64_t *end_ns)
{
	hsa_agent_t a = agent_handle(agent);

	*begin_ns = *end_ns = 0;
	real.hsa_amd_profiling_convert_tick_to_system_domain(a, end, end_ns);
	real.hsa_amd_profiling_convert_tick_to_system_domain(a, begin, begin_ns);
	agent_saw_tick(agent, end);
}

static void emit_dispatch(const struct queue *q, const struct inflight *e, uint64_t begin,
			  uint64_t end, uint64_t begin_ns, uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_DISPATCH };
	struct event_dispatch *d = &ev.dispatch;

	d->begin_ticks = begin;
	d->end_ticks = end;
	d->begin_ns = begin_ns;
	d->end_ns = end_ns;
	d->packet = e->packet;
	d->correlation = e->correlation;
	d->marker = e->marker;
	d->kernel = codeobj_kernel(e->object, e->epoch, q->agent, false);
	d->queue = q->index;
	d->tid = e->tid;
	for (int i = 0; i < 3; i++) {
		d->grid[i] = e->grid[i];
		d->group[i] = e->group[i];
	}
	d->private_size = e->private_size;
	d->group_size = e->group_size;
	d->flags = flags;
	bus_emit(&ev);
}

static void emit_barrier(const struct queue *q, const struct inflight *e, uint64_t begin_ns,
			 uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_BARRIER };

	ev.barrier.begin_ns = begin_ns;
	ev.barrier.end_ns = end_ns;
	ev.barrier.packet = e->packet;
	ev.barrier.correlation = e->correlation;
	ev.barrier.queue = q->index;
	ev.barrier.kind = (uint32_t)e->object;
	ev.barrier.tid = e->tid;
	ev.barrier.flags = flags;
	bus_emit(&ev);
}

static void record(struct queue *q, struct inflight *e, enum inflight_result r, uint64_t begin,
		   uint64_t end)
{
	uint64_t begin_ns = 0, end_ns = 0;
	uint16_t flags = e->flags;

	if (r == INFLIGHT_TIMED) {
		convert(q->agent, begin, end, &begin_ns, &end_ns);
		if (end < begin) {
			flags |= REC_F_INVERTED;
			bus_loss_of(e->correlation, SPOOL_REASON_inverted);
		}
	} else if (r == INFLIGHT_PENDING) {
		flags |= REC_F_UNFINISHED;
		bus_loss_of(e->correlation, SPOOL_REASON_unfinished);
	} else {
		flags |= REC_F_NO_TIME;
		bus_loss_of(e->correlation, r == INFLIGHT_UNTIMED ? SPOOL_REASON_no_timestamps :
								    SPOOL_REASON_signal_reused);
	}
	if (e->kind == INFLIGHT_BARRIER)
		emit_barrier(q, e, begin_ns, end_ns, flags);
	else
		emit_dispatch(q, e, begin, end, begin_ns, end_ns, flags);
	if (flags & REC_F_SHARED) {
		bus_loss_of(e->correlation, SPOOL_REASON_shared_signal);
		if (r == INFLIGHT_TIMED)
			remember_shared(e, begin_ns, end_ns);
	}
}

/* Signals whose barrier packet the hardware has passed may be used again. */
static void release_held(struct queue *q)
{
	uint64_t passed = atomic_load_explicit(&q->passed, memory_order_relaxed);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < q->nr_held; i++) {
		if (q->held[i].hw < passed)
			signal_put(&q->pool, q->held[i].signal);
		else
			q->held[kept++] = q->held[i];
	}
	q->nr_held = kept;
}

static void give_back(struct queue *q, const struct inflight *e, bool completed)
{
	amd_signal_t *s = inflight_signal(e);

	if (!e->owned) {
		return; /* see watch.c */
	} else if (!completed) {
		/* The GPU may still write to it: it is left alone for ever. pairs with look() in
		 * room.c: its place comes before it */
		atomic_store_explicit(&q->orphan_hw, e->hw, memory_order_relaxed);
		atomic_store_explicit(&q->orphan, (uint64_t)(uintptr_t)s, memory_order_release);
	} else if (!(e->flags & REC_F_SHARED)) {
		signal_put(&q->pool, s);
	} else {
		if (q->nr_held == QUEUE_NR_HELD)
			release_held(q);
		if (q->nr_held < QUEUE_NR_HELD)
			q->held[q->nr_held++] = (struct queue_held){ s, e->hw + 1 };
		/* else: as above; bounded by how far the barriers can lag, one ring */
	}
}

static void advance(struct queue *q, uint64_t head)
{
	uint64_t tail = atomic_load_explicit(&q->ring.tail, memory_order_relaxed); /* owner */

	while (tail < head) {
		struct inflight *e = &q->ring.entry[tail & q->ring.mask];

		if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_DONE)
			break;
		tail++;
	}
	/* pairs with the acquire in inflight_next(): the entries are free before tail is past them */
	atomic_store_explicit(&q->ring.tail, tail, memory_order_release);
}

static void settle(struct queue *q, struct inflight *e, enum inflight_result r, uint64_t begin,
		   uint64_t end)
{
	uint64_t passed = atomic_load_explicit(&q->passed, memory_order_relaxed);

	record(q, e, r, begin, end);
	if (r != INFLIGHT_PENDING && e->hw > passed)
		atomic_store_explicit(&q->passed, e->hw, memory_order_relaxed);
	give_back(q, e, r != INFLIGHT_PENDING);
	inflight_done(e);
}

uint32_t harvest_queue(struct queue *q, uint64_t now_ns)
{
	uint64_t i = atomic_load_explicit(&q->ring.tail, memory_order_relaxed);
	/* pairs with the release in inflight_push() */
	uint64_t head = atomic_load_explicit(&q->ring.head, memory_order_acquire);
	uint64_t ahead = 0, limit = LOOK_AHEAD;
	uint32_t n = 0;

	if (head - i > q->high_water)
		q->high_water = head - i;
	if (now_ns - q->stuck_scan_ns > FULL_SCAN_NS) {
		q->stuck_scan_ns = now_ns;
		limit = UINT64_MAX;
	}
	for (; i < head && ahead < limit; i++) {
		struct inflight *e = &q->ring.entry[i & q->ring.mask];
		uint64_t begin = 0, end = 0;
		enum inflight_result r;

		if (atomic_load_explicit(&e->state, memory_order_relaxed) == INFLIGHT_DONE)
			continue;
		r = inflight_poll(e, &begin, &end);
		if (r == INFLIGHT_PENDING) {
			ahead++;
			continue;
		}
		if (r != INFLIGHT_TIMED) /* what was read is not this operation's */
			begin = end = 0;
		settle(q, e, r, begin, end);
		n++;
	}
	if (n) {
		advance(q, head);
		if (q->nr_held)
			release_held(q);
	}
	return n;
}

void harvest_give_up(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 100000 };

	/* its holder harvests one queue; a thread that is itself inside of that must not wait for ever */
	for (unsigned i = 0; i < GIVE_UP_ROUNDS; i++) {
		if (queue_try_lock(q)) {
			harvest_finish(q, clock_now_ns());
			queue_unlock(q);
			return;
		}
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
}

void harvest_finish(struct queue *q, uint64_t now_ns)
{
	uint64_t head;

	q->stuck_scan_ns = 0;
	harvest_queue(q, now_ns);
	head = atomic_load_explicit(&q->ring.head, memory_order_acquire);
	for (uint64_t i = atomic_load_explicit(&q->ring.tail, memory_order_relaxed); i < head;
	     i++) {
		struct inflight *e = &q->ring.entry[i & q->ring.mask];

		if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_DONE)
			settle(q, e, INFLIGHT_PENDING, 0, 0);
	}
	advance(q, head);
}

/* Makes signals ahead of need; gives most back after a quiet second. */
static void tend_pool(struct queue *q, uint64_t now_ns)
{
	uint64_t in_flight = inflight_count(&q->ring);

	if (in_flight) {
		q->idle_since_ns = now_ns;
		signal_grow(&q->pool, in_flight);
	} else if (q->high_water > SIGNAL_START && now_ns - q->idle_since_ns > TRIM_AFTER_NS) {
		signal_trim(&q->pool, SIGNAL_KEEP_IDLE / (nr_live ? nr_live : 1));
		q->high_water = 0;
	}
}

static uint64_t choose_nap(uint32_t harvested, uint64_t in_flight, uint64_t now_ns)
{
	if (harvested > BATCH_GOAL && nap_ns > MIN_NAP_NS)
		nap_ns /= 2;
	else if (harvested < BATCH_GOAL / 4 && nap_ns < MAX_NAP_NS)
		nap_ns = nap_ns * 5 / 4;
	if (harvested || in_flight)
		last_work_ns = now_ns;
	else if (now_ns - last_work_ns > IDLE_AFTER_NS)
		return IDLE_NAP_NS;
	return nap_ns;
}

/* Returns how many operations are in flight. */
static uint64_t harvest_queues(uint64_t now_ns, uint32_t *harvested)
{
	uint32_t n = queue_count(), live = 0;
	uint64_t in_flight = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		live++;
		if (!queue_try_lock(q))
			continue;
		if (atomic_load_explicit(&q->live, memory_order_acquire)) {
			*harvested += harvest_queue(q, now_ns);
			in_flight += inflight_count(&q->ring);
			tend_pool(q, now_ns);
		}
		queue_unlock(q);
	}
	nr_live = live;
	return in_flight;
}

static uint64_t tick(uint64_t now_ns)
{
	uint64_t next = LIFE_IDLE, in_flight;
	uint32_t harvested = 0;

	/* seq_cst: pairs with harvest_wait_tick(), after table_ready() has turned false */
	atomic_store(&ticking, true);
	if (table_ready()) {
		RTL_TESTPOINT("harvest");
		in_flight = harvest_queues(now_ns, &harvested);
		in_flight += copy_harvest(false);
		rtqueue_tick();
		if (now_ns - last_clock_ns > CLOCK_EVERY_NS) {
			last_clock_ns = now_ns;
			agent_emit_clocks();
		}
		next = choose_nap(harvested, in_flight, now_ns);
	}
	atomic_store_explicit(&ticking, false, memory_order_release);
	return next;
}

void harvest_wait_tick(void)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	while (atomic_load(&ticking))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static uint64_t look_once(void)
{
	uint32_t n = queue_count();
	uint64_t in_flight = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		queue_lock(q);
		q->stuck_scan_ns = 0;
		harvest_queue(q, clock_now_ns());
		in_flight += inflight_count(&q->ring);
		queue_unlock(q);
	}
	rtqueue_tick();
	return in_flight + copy_harvest(false);
}

hsa_status_t harvest_on_fault(const hsa_amd_event_t *event, void *data)
{
	uint32_t n = queue_count();

	(void)event;
	(void)data;
	for (uint32_t i = 0; i < n && table_ready(); i++) {
		struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire))
			harvest_give_up(q);
	}
	return HSA_STATUS_ERROR;
}

void harvest_stop(uint64_t deadline_ns)
{
	const struct timespec nap = { .tv_nsec = 500000 };
	uint32_t n = queue_count();

	if (!table_ready())
		return;
	while (look_once() && clock_now_ns() < deadline_ns)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		queue_lock(q);
		harvest_finish(q, clock_now_ns());
		queue_unlock(q);
	}
	copy_harvest(true);
	join_finish();
	agent_emit_clocks();
}

hsa_status_t harvest_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
				   hsa_amd_profiling_dispatch_time_t *time)
{
	hsa_status_t status = real.hsa_amd_profiling_get_dispatch_time(agent, signal, time);
	struct thread *t;

	if (status != HSA_STATUS_SUCCESS || !table_ready() ||
	    atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return status;
	if (atomic_load_explicit(&any_shared, memory_order_relaxed)) {
		if (life_enter(&t)) {
			look_once(); /* the answer may not have been harvested yet */
			life_leave(t);
		}
		recall_shared(signal.handle, time);
	}
	if (join_is_on())
		join_asked(signal.handle, time->start, time->end);
	return status;
}

const struct source harvest_source = {
	.name = "hsa",
	.tick = tick,
	.stop = harvest_stop,
};
