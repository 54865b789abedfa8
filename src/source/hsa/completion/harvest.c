/* SPDX-License-Identifier: MIT */
/* harvest.c - the harvester: records what the GPU has completed, of all queues and copies
 *
 * The harvester never waits for a signal. It polls the entries in flight in batches: seldom enough
 * to cost next to nothing, often enough that no ring fills up. A call by which the program learns
 * that an operation has completed records it before it returns (harvest_completed()); so a kill
 * loses operations of at most the last MAX_NAP_NS, and none that the program has seen completed.
 *
 * Threads: the life thread; a thread that waits for an operation, ends the process or reads the
 * times of a shared signal.
 */
#include "source/hsa/completion/harvest.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/sys.h"
#include "base/testpoint.h"
#include "event/bus.h"
#include "event/join.h"
#include "source/hsa/agent.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/memory/copy_table.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/real.h"

#define MIN_NAP_NS UINT64_C(100000)
#define MAX_NAP_NS UINT64_C(10000000)
#define IDLE_NAP_NS UINT64_C(100000000)
/* Until then the harvester naps for MAX_NAP_NS, which needs no wake-up: a launch after a pause
 * costs its thread no system call. */
#define IDLE_AFTER_NS UINT64_C(5000000000)
#define BATCH_GOAL 256u
/* A doorbell announced packets before they were valid; hardware would poll them. */
#define POLL_NAP_NS UINT64_C(20000)
#define LOOK_PAST_NS                                                                               \
	UINT64_C(100000000) /* interval of the scan for packets that no doorbell
					  * announced */
#define TRIM_AFTER_NS UINT64_C(1000000000)
#define CLOCK_EVERY_NS UINT64_C(1000000000)
/* About 50 ms together. */
#define COMPLETED_SPINS 2000u
#define COMPLETED_NAPS 700u

static uint64_t nap_ns = MIN_NAP_NS; /* life thread only */
static uint64_t last_work_ns, last_clock_ns, last_look_ns;
static uint32_t nr_live; /* queues, at the last tick */
static _Atomic bool ticking;
static _Atomic harvest_times_fn times_listener;

/* Destroys most of the signals. Holding the turn keeps other threads from taking one meanwhile. */
static void trim(struct queue *q)
{
	if (!queue_turn_try(q))
		return;
	if (!inflight_count(&q->inflight)) /* still idle */
		inflight_trim(&q->inflight, INFLIGHT_KEEP_IDLE / (nr_live ? nr_live : 1));
	interpose_end_turn(q);
}

/* Makes signals ahead of need; destroys most of them after an idle second. */
static void tend_signals(struct queue *q, uint64_t now_ns)
{
	if (inflight_count(&q->inflight)) {
		q->idle_since_ns = now_ns;
		inflight_prepare(&q->inflight);
	} else if (inflight_current(&q->inflight) != q->inflight.ring &&
		   now_ns - q->idle_since_ns > TRIM_AFTER_NS) {
		trim(q);
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

struct look {
	uint64_t now_ns, in_flight;
	uint32_t harvested;
	bool all; /* scan for packets that no doorbell announced, too */
	bool poll;
};

static void harvest_queues(struct look *l)
{
	uint32_t n = queue_count(), live = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		live++;
		if (!q->intercepted)
			l->poll |= interpose_look(q, l->all);
		if (!queue_try_lock(q))
			continue;
		if (atomic_load_explicit(&q->live, memory_order_acquire)) {
			l->harvested += collect_queue(q, l->now_ns);
			l->in_flight += inflight_count(&q->inflight);
			tend_signals(q, l->now_ns);
		}
		queue_unlock(q);
	}
	nr_live = live;
}

static uint64_t tick(uint64_t now_ns)
{
	struct look l = { .now_ns = now_ns, .all = now_ns - last_look_ns > LOOK_PAST_NS };
	uint64_t next = LIFE_IDLE, wanted;

	/* seq_cst: pairs with harvest_wait_tick(), after real_ready() has turned false */
	atomic_store(&ticking, true);
	if (real_ready()) {
		RTL_TESTPOINT("harvest");
		wanted = counter_tick();
		harvest_queues(&l);
		if (l.all)
			last_look_ns = now_ns;
		l.in_flight += copy_harvest(false);
		internal_queue_tick();
		if (now_ns - last_clock_ns > CLOCK_EVERY_NS) {
			last_clock_ns = now_ns;
			agent_emit_clocks();
		}
		next = choose_nap(l.harvested, l.in_flight, now_ns);
		if (l.poll && next > POLL_NAP_NS)
			next = POLL_NAP_NS;
		next = wanted < next ? wanted : next;
	}
	atomic_store_explicit(&ticking, false, memory_order_release);
	return next;
}

void harvest_wait_tick(void)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	while (atomic_load(&ticking))
		sys_nap(&nap);
}

static uint64_t look_once(void)
{
	uint32_t n = queue_count();
	uint64_t in_flight = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		if (!q->intercepted)
			interpose_look(q, true);
		queue_lock(q);
		q->stuck_scan_ns = 0;
		collect_queue(q, clock_now_ns());
		in_flight += inflight_count(&q->inflight);
		queue_unlock(q);
	}
	internal_queue_tick();
	return in_flight + copy_harvest(false);
}

void harvest_now(void)
{
	/* seq_cst: as in tick() */
	atomic_store(&ticking, true);
	if (real_ready())
		look_once();
	atomic_store_explicit(&ticking, false, memory_order_release);
}

/* Takes the harvest lock of `q` within 50 ms: its holder may wait for a lock of the runtime that
 * this thread has. */
static bool lock_soon(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	for (unsigned round = 0; round < COMPLETED_SPINS + COMPLETED_NAPS; round++) {
		if (queue_try_lock(q))
			return true;
		if (round < COMPLETED_SPINS)
			RTL_RELAX();
		else
			sys_nap(&nap);
	}
	return false;
}

void harvest_flush(void)
{
	uint32_t n = queue_count();
	struct thread *t;

	if (!life_enter(&t))
		return;
	sys_cancel_off(); /* under harvest locks */
	for (uint32_t i = 0; i < n && real_ready(); i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire) ||
		    inflight_is_empty(&q->inflight) || !lock_soon(q))
			continue;
		if (atomic_load_explicit(&q->live, memory_order_acquire))
			collect_completed(q);
		queue_unlock(q);
	}
	if (real_ready())
		copy_harvest_completed(COMPLETED_NAPS);
	sys_cancel_on();
	life_leave(t);
}

static RTL_NOINLINE void collect_all(void)
{
	if (!bus_never_pauses())
		harvest_flush();
}

bool harvest_is_any_in_flight(void)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire) &&
		    !inflight_is_empty(&q->inflight))
			return true;
	}
	return copy_table_count() != 0;
}

void harvest_completed(void)
{
	if (harvest_is_any_in_flight())
		collect_all();
}

hsa_status_t harvest_on_fault(const hsa_amd_event_t *event, void *data)
{
	uint32_t n = queue_count();

	(void)event;
	(void)data;
	for (uint32_t i = 0; i < n && real_ready(); i++) {
		struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire))
			collect_give_up(q);
	}
	return HSA_STATUS_ERROR;
}

static void drain(uint64_t deadline_ns)
{
	const struct timespec nap = { .tv_nsec = 500000 };

	counter_finish(deadline_ns);
	while (look_once() && clock_now_ns() < deadline_ns)
		sys_nap(&nap);
}

/* Destroys the free signals and librtl's own queue: they are made again when needed. */
static void give_back(struct queue *q)
{
	if (!queue_turn_try(q))
		return;
	completer_settle(q);
	queue_lock(q);
	collect_queue(q, clock_now_ns());
	if (!inflight_count(&q->inflight)) {
		completer_destroy(q);
		inflight_trim(&q->inflight, 0);
	}
	queue_unlock(q);
	interpose_end_turn(q);
}

void harvest_before_close(uint64_t deadline_ns)
{
	uint32_t n = queue_count();

	sys_cancel_off();
	drain(deadline_ns);
	agent_emit_clocks();
	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire) && !q->intercepted)
			give_back(q);
	}
	sys_cancel_on();
}

void harvest_stop(uint64_t deadline_ns)
{
	uint32_t n = queue_count();

	if (!real_ready())
		return;
	drain(deadline_ns);
	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		queue_lock(q);
		collect_finish(q, clock_now_ns());
		queue_unlock(q);
	}
	copy_harvest(true);
	join_finish();
	agent_emit_clocks();
}

void harvest_listen_times(harvest_times_fn fn)
{
	/* release: pairs with the acquire in harvest_dispatch_time(): publishes the listener's
	 * data */
	atomic_store_explicit(&times_listener, fn, memory_order_release);
}

hsa_status_t harvest_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
				   hsa_amd_profiling_dispatch_time_t *time)
{
	hsa_status_t status = real.hsa_amd_profiling_get_dispatch_time(agent, signal, time);
	harvest_times_fn listener;
	struct thread *t;

	harvest_completed();
	if (status != HSA_STATUS_SUCCESS || !real_ready() ||
	    atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return status;
	if (shared_times_any()) {
		if (life_enter(&t)) {
			sys_cancel_off();
			look_once(); /* the operation may not have been harvested yet */
			sys_cancel_on();
			life_leave(t);
		}
		shared_times_find(signal_of(signal), &time->start, &time->end);
	}
	if (join_is_on())
		join_asked(signal.handle, time->start, time->end);
	listener = atomic_load_explicit(&times_listener, memory_order_acquire);
	if (listener)
		listener(signal.handle, time->start, time->end);
	return status;
}

const struct source harvest_source = {
	.name = "hsa",
	.tick = tick,
	.stop = harvest_stop,
};
