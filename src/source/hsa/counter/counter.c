/* SPDX-License-Identifier: MIT */
/* counter.c - counts hardware events for each dispatch (RTL_PMC)
 *
 * Owns:     for each GPU its lane: librtl's queue, the profiles, and how far the present dispatch is.
 * Threads:  lanes are opened by the thread that makes a GPU's first queue, under `open_lock`; the rest is the harvester's.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/counter.h"

#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "event/bus.h"
#include "source/hsa/agent.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/counter/chosen.h"
#include "source/hsa/counter/profile.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/table/real.h"

#define LANE_QUEUE_SIZE 64u
/* Steps within a tick: most take a few microseconds, less than a nap. */
#define STEPS 500u
#define ENABLE_ROUNDS 20000u /* of 50 us */
#define NR_TURNS 1024u
#define ISA_SIZE 64u /* of HSA_AGENT_INFO_NAME */

enum lane_state {
	LANE_UNKNOWN,
	LANE_REFUSED, /* this GPU is not counted */
	LANE_IDLE,
	LANE_STARTING,
	LANE_RUNNING,
	LANE_READING,
};

struct lane {
	_Atomic uint32_t state; /* enum lane_state; release: the rest is set before it */
	hsa_queue_t *hsa;
	hsa_signal_t done;
	uint32_t nr_profiles, shape;
	struct profile *profiles[CHOSEN_MAX_PASSES];
	uint64_t *values; /* of the largest profile */
	uint32_t most_values;
	/* the present dispatch */
	struct profile *profile;
	struct queue *queue;
	uint32_t queue_index; /* in the trace: `queue` may be used for another one when it ends */
	uint64_t packet, since_ns;
	uint32_t last_queue; /* where the search for the next one begins */
	/* Of each kernel the pass that is next; kernels may share one. */
	uint8_t turn[NR_TURNS];
};

static struct lock open_lock = LOCK_INIT(LOCK_COUNTER);
static struct lane *_Atomic lanes[AGENT_MAX];

static uint32_t state_of(const struct lane *l)
{
	return atomic_load_explicit(&l->state, memory_order_acquire);
}

static void set_state(struct lane *l, enum lane_state state)
{
	atomic_store_explicit(&l->state, state, memory_order_release);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Puts a packet into a queue that has no other producer. */
static void put(hsa_queue_t *hsa, const union packet *p, hsa_signal_t done)
{
	uint64_t index = real.hsa_queue_load_write_index_relaxed(hsa);
	union packet *slot = (union packet *)hsa->base_address + index % hsa->size;
	union packet copy = *p;

	copy.dispatch.completion_signal = done;
	copy.header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
	*slot = copy;
	/* the packet processor may take the packet as soon as its header is valid */
	__atomic_store_n(&slot->header, p->header, __ATOMIC_RELEASE);
	real.hsa_queue_store_write_index_screlease(hsa, index + 1);
	real.hsa_signal_store_screlease(hsa->doorbell_signal, (hsa_signal_value_t)index);
}

static hsa_signal_t new_signal(void)
{
	hsa_signal_t s = { 0 };

	return real.hsa_amd_signal_create(1, 0, NULL, 0, &s) == HSA_STATUS_SUCCESS ?
		       s :
		       (hsa_signal_t){ 0 };
}

static bool wait_done(hsa_signal_t done)
{
	const struct timespec nap = { .tv_nsec = 50000 };

	for (unsigned round = 0; round < ENABLE_ROUNDS; round++) {
		if (signal_value(signal_of(done)) == 0)
			return true;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
	return false;
}

/* Kernels of `hsa` count: a register that each queue has. */
static bool enable(hsa_agent_t agent, hsa_queue_t *hsa)
{
	hsa_signal_t done = new_signal();
	union packet packet;
	void *command;
	bool is_done;

	if (!done.handle)
		return false;
	if (!profile_enable(agent, &packet, &command)) {
		real.hsa_signal_destroy(done);
		return false;
	}
	put(hsa, &packet, done);
	is_done = wait_done(done);
	if (is_done) { /* else the GPU may still read both */
		profile_free_memory(command);
		real.hsa_signal_destroy(done);
	}
	return is_done;
}

/* ---- opening --------------------------------------------------------------------------------- */

static uint32_t shape_of(hsa_agent_t agent)
{
	uint32_t engines = 0, xccs = 0;

	real.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,
				&engines);
	/* HSA_AMD_AGENT_INFO_NUM_XCC, from ROCr 5.6 on */
	if (real.hsa_agent_get_info(agent, (hsa_agent_info_t)0xa111, &xccs) != HSA_STATUS_SUCCESS)
		xccs = 0;
	return engines | (xccs ? xccs : 1) << 16;
}

static bool make_profiles(struct lane *l, hsa_agent_t agent, const char *isa)
{
	uint32_t n = chosen_passes(isa);

	for (; l->nr_profiles < n; l->nr_profiles++) {
		struct profile *p = profile_make(agent, isa, l->nr_profiles);

		if (!p)
			return false;
		l->profiles[l->nr_profiles] = p;
		if (profile_nr_values(p) > l->most_values)
			l->most_values = profile_nr_values(p);
	}
	l->values = alloc_pages(l->most_values * sizeof(*l->values));
	return n && l->values;
}

static void free_profiles(struct lane *l)
{
	while (l->nr_profiles)
		profile_free(l->profiles[--l->nr_profiles]);
	if (l->values)
		alloc_pages_free(l->values, l->most_values * sizeof(*l->values));
	l->values = NULL;
	l->most_values = 0;
}

static bool read_isa(hsa_agent_t agent, char isa[ISA_SIZE])
{
	isa[0] = 0;
	return real.hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, isa) == HSA_STATUS_SUCCESS;
}

RTL_REQUIRES(open_lock) static bool fill_lane(struct lane *l, hsa_agent_t agent)
{
	char isa[ISA_SIZE];

	if (!read_isa(agent, isa) || !profile_available())
		return false;
	l->shape = shape_of(agent);
	l->done = new_signal();
	if (l->done.handle && make_profiles(l, agent, isa) &&
	    real.hsa_queue_create(agent, LANE_QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
				  UINT32_MAX, UINT32_MAX, &l->hsa) == HSA_STATUS_SUCCESS)
		return true;
	free_profiles(l);
	return false;
}

/* The lane of a GPU, opened when its first queue is made. NULL: not counted. */
static struct lane *open_lane(uint32_t agent)
{
	struct lane *l;

	lock_take(&open_lock);
	l = atomic_load_explicit(&lanes[agent], memory_order_relaxed);
	if (!l) {
		l = alloc_pages(sizeof(*l));
		atomic_store_explicit(&lanes[agent], l, memory_order_release);
	}
	if (l && state_of(l) == LANE_UNKNOWN)
		set_state(l, fill_lane(l, agent_handle(agent)) ? LANE_IDLE : LANE_REFUSED);
	lock_drop(&open_lock);
	return l && state_of(l) != LANE_REFUSED ? l : NULL;
}

static bool is_wanted(uint32_t agent)
{
	char isa[ISA_SIZE];

	return chosen_any() && agent < AGENT_MAX && agent_is_gpu(agent) &&
	       !agent_is_left_out(agent) && read_isa(agent_handle(agent), isa) &&
	       chosen_passes(isa);
}

void counter_prepare_queue(struct queue *q, hsa_queue_t *hsa)
{
	const char *why = NULL;

	if (!is_wanted(q->agent))
		return;
	if (q->intercepted)
		why = "it is an intercept queue (RTL_QUEUES=intercept)";
	else if (!open_lane(q->agent))
		why = "its GPU is not counted";
	else if (!enable(agent_handle(q->agent), hsa))
		why = "it does not execute the packet of AQLprofile";
	if (why) {
		log_warn("counters: the dispatches of queue %u are not counted: %s", q->index, why);
		atomic_store_explicit(&q->granted, UINT64_MAX, memory_order_relaxed);
	}
	atomic_store_explicit(&q->is_counted, true, memory_order_relaxed);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool is_of(const struct queue *q, uint32_t agent)
{
	return atomic_load_explicit(&q->live, memory_order_acquire) && q->agent == agent &&
	       atomic_load_explicit(&q->is_counted, memory_order_relaxed);
}

/* A queue of the GPU whose next dispatch waits; each queue in its turn. NULL: there is none. */
static struct queue *find_waiting(struct lane *l, uint32_t agent, uint64_t *kernel_object)
{
	uint32_t n = queue_count();

	for (uint32_t i = 1; i <= n; i++) {
		struct queue *q = queue_at((l->last_queue + i) % n);

		if (!is_of(q, agent) || !interpose_waits(q, &l->packet, kernel_object))
			continue;
		l->last_queue = (l->last_queue + i) % n;
		return q;
	}
	return NULL;
}

static void submit_part(struct lane *l, enum profile_part part, bool signals)
{
	put(l->hsa, profile_packet(l->profile, part), signals ? l->done : (hsa_signal_t){ 0 });
}

/* The passes of a kernel take turns. */
static struct profile *next_profile(struct lane *l, uint64_t kernel_object)
{
	uint8_t *turn = &l->turn[kernel_object * UINT64_C(0x9e3779b97f4a7c15) >> 54];

	*turn = (uint8_t)((*turn + 1) % l->nr_profiles);
	return l->profiles[(*turn + l->nr_profiles - 1) % l->nr_profiles];
}

static bool begin(struct lane *l, uint32_t agent, uint64_t now_ns)
{
	uint64_t kernel_object = 0;

	l->queue = find_waiting(l, agent, &kernel_object);
	if (!l->queue)
		return false;
	l->queue_index = l->queue->index;
	l->profile = next_profile(l, kernel_object);
	__atomic_store_n(&signal_of(l->done)->value, 1, __ATOMIC_RELEASE);
	submit_part(l, PROFILE_START, true);
	l->since_ns = now_ns;
	set_state(l, LANE_STARTING);
	return true;
}

static void stop(struct lane *l)
{
	submit_part(l, PROFILE_STOP, false);
	set_state(l, LANE_IDLE);
}

static bool grant(struct lane *l)
{
	if (signal_value(signal_of(l->done)) != 0)
		return false;
	if (interpose_grant(l->queue, l->packet))
		set_state(l, LANE_RUNNING);
	else
		stop(l);
	return true;
}

static bool read_counters(struct lane *l)
{
	struct queue *q = l->queue;
	uint64_t recorded;

	if (queue_try_lock(q)) {
		if (atomic_load_explicit(&q->live, memory_order_acquire))
			collect_queue(q, clock_now_ns());
		queue_unlock(q);
	}
	/* acquire: pairs with counter_recorded() */
	recorded = atomic_load_explicit(&q->recorded, memory_order_acquire);
	if (q->index != l->queue_index) { /* it ended */
		bus_loss(SPOOL_REASON_not_counted, 1);
		stop(l);
		return true;
	}
	if (recorded >> 1 != l->packet + 1)
		return false;
	if (recorded & 1) { /* the user leaves it out */
		stop(l);
		return true;
	}
	__atomic_store_n(&signal_of(l->done)->value, 1, __ATOMIC_RELEASE);
	submit_part(l, PROFILE_READ, false);
	submit_part(l, PROFILE_STOP, true);
	set_state(l, LANE_READING);
	return true;
}

static void emit(const struct lane *l, uint32_t events)
{
	uint32_t n = profile_nr_values(l->profile);
	struct event ev = { .kind = EVENT_COUNTERS };

	ev.counters.queue = l->queue_index;
	ev.counters.packet = l->packet;
	ev.counters.events = events;
	ev.counters.shape = l->shape;
	for (uint32_t at = 0; at < n; at += REC_COUNTERS_MAX) {
		ev.counters.first = at;
		ev.counters.nr = n - at < REC_COUNTERS_MAX ? n - at : REC_COUNTERS_MAX;
		ev.counters.values = l->values + at;
		bus_emit(&ev);
	}
}

static bool end(struct lane *l)
{
	uint32_t events;

	if (signal_value(signal_of(l->done)) != 0)
		return false;
	events = profile_description(l->profile);
	if (events && profile_read(l->profile, l->values))
		emit(l, events);
	else
		bus_loss(SPOOL_REASON_not_counted, 1);
	set_state(l, LANE_IDLE);
	return true;
}

void counter_saw_end(struct queue *q, uint64_t packet, bool is_left_out)
{
	if (atomic_load_explicit(&q->counting, memory_order_relaxed) == packet + 1)
		/* release: pairs with read_counters(): the event is emitted */
		atomic_store_explicit(&q->recorded, 2 * (packet + 1) + is_left_out,
				      memory_order_release);
	else if (!is_left_out)
		bus_loss(SPOOL_REASON_not_counted, 1);
}

/* Nothing is held back on this GPU from now on; its dispatches are recorded as not counted. */
static void give_up(struct lane *l, uint32_t agent, const char *why)
{
	uint32_t n = queue_count();

	if (why)
		log_warn("counters: the GPU of agent %u is not counted any more: %s", agent, why);
	if (state_of(l) >=
	    LANE_RUNNING) /* its dispatch is the one that counter_saw_end() does not count */
		bus_loss(SPOOL_REASON_not_counted, 1);
	set_state(l, LANE_REFUSED);
	for (uint32_t i = 0; i < n; i++)
		if (is_of(queue_at(i), agent))
			interpose_grant_all(queue_at(i));
}

static const char *why_late(const struct lane *l, uint32_t agent)
{
	uint32_t n = queue_count();
	uint64_t index, kernel;

	if (state_of(l) != LANE_RUNNING)
		return "its queue does not execute the packets of AQLprofile";
	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (q != l->queue && is_of(q, agent) && interpose_waits(q, &index, &kernel))
			return "a dispatch ran for longer than RTL_PMC_WAIT_MS while one of another queue waited";
	}
	return NULL; /* a long kernel, which nothing waits for */
}

static bool step(struct lane *l, uint32_t agent, uint64_t now_ns)
{
	const char *why;
	bool moved;

	switch (state_of(l)) {
	case LANE_IDLE:
		return begin(l, agent, now_ns);
	case LANE_STARTING:
		moved = grant(l);
		break;
	case LANE_RUNNING:
		moved = read_counters(l);
		break;
	case LANE_READING:
		moved = end(l);
		break;
	default:
		return false;
	}
	if (!moved && now_ns - l->since_ns > env_uint(ENV_PMC_WAIT_MS) * UINT64_C(1000000)) {
		l->since_ns = now_ns;
		why = why_late(l, agent);
		if (why)
			give_up(l, agent, why);
	}
	return moved;
}

/* One step of each GPU. *busy: something is being counted. */
static bool step_all(uint64_t now_ns, bool *busy)
{
	bool moved = false;

	*busy = false;
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		struct lane *l = atomic_load_explicit(&lanes[i], memory_order_acquire);

		if (!l)
			continue;
		moved |= step(l, i, now_ns);
		*busy |= state_of(l) > LANE_IDLE;
	}
	return moved;
}

/* Lanes are advanced by one thread at a time. */
static _Atomic bool stepping;

static bool step_enter(void)
{
	return !atomic_exchange_explicit(&stepping, true, memory_order_acquire);
}

static void step_leave(void)
{
	atomic_store_explicit(&stepping, false, memory_order_release);
}

bool counter_tick(uint64_t now_ns)
{
	bool busy = true;

	if (!chosen_any())
		return false;
	if (!step_enter())
		return true;
	for (unsigned i = 0; i < STEPS && busy; i++) {
		if (!step_all(now_ns, &busy) && busy)
			RTL_RELAX();
	}
	step_leave();
	return busy;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool any_waits(void)
{
	uint32_t n = queue_count();
	uint64_t index, kernel;

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire) &&
		    atomic_load_explicit(&q->is_counted, memory_order_relaxed) &&
		    interpose_waits(q, &index, &kernel))
			return true;
	}
	return false;
}

/* While the runtime takes calls: from 7.2 on it refuses them before it unloads tools. */
RTL_REQUIRES(open_lock) static void free_lane(struct lane *l)
{
	if (l->hsa)
		real.hsa_queue_destroy(l->hsa);
	l->hsa = NULL;
	free_profiles(l);
	if (l->done.handle)
		real.hsa_signal_destroy(l->done);
	l->done.handle = 0;
}

void counter_finish(uint64_t deadline_ns)
{
	if (!chosen_any())
		return;
	while (clock_now_ns() < deadline_ns && (counter_tick(clock_now_ns()) || any_waits()))
		;
	while (!step_enter())
		RTL_RELAX();
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		struct lane *l = atomic_load_explicit(&lanes[i], memory_order_acquire);

		if (!l)
			continue;
		if (state_of(l) >= LANE_IDLE)
			give_up(l, i, state_of(l) == LANE_IDLE ? NULL : "the process ends");
		lock_take(&open_lock);
		free_lane(l);
		lock_drop(&open_lock);
	}
	step_leave();
}

void counter_reset(void)
{
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		struct lane *l = atomic_load_explicit(&lanes[i], memory_order_acquire);

		if (l)
			set_state(l, LANE_UNKNOWN);
	}
	profile_forget();
}
