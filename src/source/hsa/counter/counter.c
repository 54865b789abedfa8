/* SPDX-License-Identifier: MIT */
/* counter.c - counts hardware events for each dispatch: for the faces' clients, and for the user
 * (RTL_PMC)
 *
 * Owns:     how the GPU of each GPU (pmc_gpu.h) advances.
 * Threads:  see counter.h; one at a time has `stepping`.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/counter.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/bus.h"
#include "event/life.h"
#include "event/filter.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/counter/pmc_gpu.h"
#include "source/hsa/memory/copy_held.h"
#include "source/hsa/queue/counted.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/table/real.h"

/* The harvester looks without a pause for so long after a step; then its naps grow with the time
 * since. */
#define SPIN_NS UINT64_C(30000)
#define MIN_NAP_NS UINT64_C(20000)
#define MAX_NAP_NS UINT64_C(1000000)
/* A thread of the program helps for so long at once; the harvester leaves GPUs to one that did
 * within the second time. */
#define HELP_MAX_NS UINT64_C(200000)
#define HELPED_NS UINT64_C(100000)
/* In a doorbell it waits for so long for a packet of librtl's. */
#define HELP_WAIT_NS UINT64_C(20000)

_Atomic uint32_t counter_work;
static _Atomic bool reserved[AGENT_MAX];
static _Atomic uint32_t held_off[AGENT_MAX]; /* threads between counter_hold_off() and its end */

static bool is_wanted(uint32_t agent)
{
	char isa[ISA_SIZE];

	return chosen_any() && agent < AGENT_MAX && agent_is_gpu(agent) &&
	       !agent_is_left_out(agent) && pmc_gpu_isa(agent_handle(agent), isa) &&
	       chosen_passes(isa);
}

void counter_prepare_queue(struct queue *q, hsa_queue_t *hsa)
{
	bool faces = client_is_registered() && q->agent < AGENT_MAX && agent_is_gpu(q->agent);
	const struct pmc_gpu *l = NULL;
	const char *why = NULL;

	q->user_counts = is_wanted(q->agent);
	if (!q->user_counts && !faces)
		return;
	if (q->intercepted)
		why = "it is an intercept queue (RTL_QUEUES=intercept)";
	else if (!(l = pmc_gpu_open(q->agent)))
		why = "its GPU is not counted";
	else if (!client_prepare(q, hsa->size))
		why = "there is no memory";
	else if (!profile_enable_queue(agent_handle(q->agent), hsa))
		why = "it does not execute the packet of AQLprofile";
	if (why) {
		log_warn("counters: the dispatches of queue %u are not counted: %s", q->index, why);
		q->not_counted = why;
		client_unprepare(q);
		atomic_store_explicit(&q->granted, UINT64_MAX, memory_order_relaxed);
	} else if (q->user_counts && l->nr_profiles && !chosen_is_over()) {
		client_switch(CLIENT_USER, q->agent, true);
	}
	atomic_store_explicit(&q->is_counted, true, memory_order_relaxed);
}

/* As pmc_gpu_set(); keeps counter_work. */
static void move_to(struct pmc_gpu *l, enum pmc_state state)
{
	bool was = pmc_state(l) > PMC_IDLE, is = state > PMC_IDLE;

	if (is && !was)
		atomic_fetch_add_explicit(&counter_work, 1, memory_order_relaxed);
	pmc_gpu_set(l, state);
	if (was && !is)
		atomic_fetch_sub_explicit(&counter_work, 1, memory_order_relaxed);
}

/* Lanes are advanced by one thread at a time. */
static _Atomic bool stepping;
static _Atomic uint64_t moved_ns; /* the last step */
static _Atomic uint64_t helped_ns;

static bool step_enter(void)
{
	return !atomic_exchange_explicit(&stepping, true, memory_order_acquire);
}

static void step_leave(void)
{
	atomic_store_explicit(&stepping, false, memory_order_release);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Where it matters, what is called for the queue looks at its GPU again, under the turn. */
static bool is_of(const struct queue *q, uint32_t agent)
{
	return atomic_load_explicit(&q->live, memory_order_acquire) && queue_agent(q) == agent &&
	       atomic_load_explicit(&q->is_counted, memory_order_relaxed);
}

/* A queue of the GPU whose next dispatch waits; each queue in its turn. The answers for it are the
 * GPU's then. NULL: there is none. */
static struct queue *find_waiting(struct pmc_gpu *l, uint32_t agent)
{
	uint32_t n = queue_count();

	for (uint32_t i = 1; i <= n; i++) {
		struct queue *q = queue_at((l->last_queue + i) % n);

		if (!is_of(q, agent) || !counted_waits(q, agent, &l->packet, &l->answers))
			continue;
		l->last_queue = (l->last_queue + i) % n;
		l->queue_index = l->answers.queue_index;
		return q;
	}
	return NULL;
}

/* Those of the parts that the profile has, at least one; l->done is 0 when they have completed. */
static void submit_parts(struct pmc_gpu *l, const enum profile_part *parts, uint32_t nr)
{
	const union packet *last = NULL;

	__atomic_store_n(&signal_of(l->done)->value, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < nr; i++) {
		const union packet *p = profile_packet(l->profile, parts[i]);

		if (p && last)
			profile_put(l->hsa, last, (hsa_signal_t){ 0 });
		if (p)
			last = p;
	}
	profile_put(l->hsa, last, l->done);
}

static const enum profile_part to_start[] = { PROFILE_BEFORE, PROFILE_START };
static const enum profile_part to_read[] = { PROFILE_READ, PROFILE_STOP, PROFILE_AFTER };
#define SUBMIT(l, parts) submit_parts(l, parts, sizeof(parts) / sizeof((parts)[0]))

static const char unrecorded[] = "it is not recorded";

/* ---- results --------------------------------------------------------------------------------- */

static void emit(const struct pmc_gpu *l, struct profile *p, const uint64_t *values,
		 uint32_t events)
{
	uint32_t n = profile_nr_values(p);
	struct event ev = { .kind = EVENT_COUNTERS };

	ev.counters.queue = l->queue_index;
	ev.counters.packet = l->packet;
	ev.counters.events = events;
	ev.counters.shape = l->shape;
	for (uint32_t at = 0; at < n; at += REC_COUNTERS_MAX) {
		ev.counters.first = at;
		ev.counters.nr = n - at < REC_COUNTERS_MAX ? n - at : REC_COUNTERS_MAX;
		ev.counters.values = values + at;
		bus_emit(&ev);
	}
}

/* Whether the dispatch was recorded, and the user leaves it out. */
static bool is_left_out(const struct pmc_gpu *l)
{
	return atomic_load_explicit(&l->queue->recorded, memory_order_relaxed) ==
	       2 * (l->packet + 1) + 1;
}

static void give_user(const struct pmc_gpu *l, struct profile *p, const char *why)
{
	uint32_t events = why ? 0 : profile_description(p);

	if (why == unrecorded || is_left_out(l))
		return;
	if (!events) {
		log_info("counters: packet %llu of queue %u is not counted: %s",
			 (unsigned long long)l->packet, l->queue_index,
			 why ? why : "there is no memory");
		bus_loss(SPOOL_REASON_not_counted, 1);
		return;
	}
	for (uint32_t i = 0; l->is_replayed && i + !l->with_last < l->nr_profiles; i++)
		emit(l, l->profiles[i], replay_values(l->replay, i),
		     profile_description(l->profiles[i]));
	if (!l->with_last)
		emit(l, p, l->values + l->most_values, events);
	if (l->refusal.why)
		bus_loss(l->refusal.reason, 1);
}

/* Gives the result of the present dispatch to who wanted it. `why`: it was not counted. */
static void give(struct pmc_gpu *l, uint32_t agent, const char *why)
{
	for (uint32_t i = 0; i < l->answers.nr; i++) {
		const struct client_want *w = &l->answers.wants[i];
		struct client_result r = {
			.queue = l->queue_index,
			.agent = agent,
			.packet = l->packet,
			.user = w->user,
			.why = why,
			.begin_ns = l->begin_ns,
			.end_ns = l->end_ns,
		};

		/* all passes of it ran before */
		if (l->with_last && w->client == CLIENT_USER) {
			give_user(l, l->profiles[l->nr_profiles - 1], why);
			continue;
		}
		if (!why && l->only != UINT32_MAX && l->only != i)
			r.why = "its events do not fit in one pass with those of another client";
		else if (!why && !profile_project(l->profile, l->values, w->profile,
						  l->values + l->most_values))
			r.why = "AQLprofile has other samples for its events";
		if (!r.why) {
			r.values = l->values + l->most_values;
			r.nr_values = profile_nr_values(w->profile);
		}
		if (w->client == CLIENT_USER)
			give_user(l, w->profile, r.why);
		else
			client_give(w->client, &r);
	}
}

/* The present dispatch is over for the GPU. */
static void release(struct pmc_gpu *l, uint32_t agent)
{
	client_drop(&l->answers);
	l->begin_ns = l->end_ns = 0;
	if (l->profile)
		profile_free(l->profile);
	l->profile = NULL;
	client_hold(agent, false);
}

/* ---- which events ---------------------------------------------------------------------------- */

/* The passes of a kernel take turns, unless the others were counted already. */
static struct profile *next_profile(struct pmc_gpu *l, uint64_t kernel_object)
{
	uint8_t *turn = &l->turn[kernel_object * UINT64_C(0x9e3779b97f4a7c15) >> 54];

	if (l->is_replayed)
		return l->profiles[l->nr_profiles - 1];
	*turn = (uint8_t)((*turn + 1) % l->nr_profiles);
	return l->profiles[(*turn + l->nr_profiles - 1) % l->nr_profiles];
}

/* The profiles of the faces' wants, and the user's if it is not NULL, as one, of which the caller
 * gets no user. NULL: they do not fit together. */
static struct profile *unite(struct pmc_gpu *l, struct profile *users)
{
	struct profile *all[CLIENT_MAX + 1];
	struct united key = { .nr = 0 }, *u;
	char why[PROFILE_WHY_SIZE];

	for (uint32_t i = 0; i < l->answers.nr; i++) {
		const struct client_want *w = &l->answers.wants[i];
		struct profile *p = w->client == CLIENT_USER ? users : w->profile;

		if (!p)
			continue;
		all[key.nr] = p;
		key.serials[key.nr++] = profile_serial(p);
	}
	if (key.nr == 1)
		return all[0];
	for (u = l->united; u < l->united + NR_UNITED; u++)
		if (u->nr == key.nr && !memcmp(u->serials, key.serials, sizeof(key.serials)))
			return u->profile;
	u = &l->united[l->next_united++ % NR_UNITED];
	if (u->profile)
		profile_free(u->profile);
	*u = key;
	if (profile_unite(all, key.nr, why, &u->profile) != 0)
		log_info("counters: %u clients are not counted together: %s", key.nr, why);
	return u->profile;
}

/* Sets what is counted for the present dispatch, which at least one client wants. */
static bool choose(struct pmc_gpu *l)
{
	struct client_want *wants = l->answers.wants;
	struct profile *users = NULL;

	for (uint32_t i = 0; i < l->answers.nr; i++) {
		if (wants[i].client != CLIENT_USER || l->with_last)
			continue;
		users = next_profile(l, l->answers.packet.kernel_object);
		wants[i].profile = users;
		profile_get(users);
	}
	l->only = UINT32_MAX;
	l->profile = unite(l, users);
	while (!l->profile) { /* the user's, which was counted before, has none */
		l->only = l->last_only++ % l->answers.nr;
		l->profile = wants[l->only].profile;
	}
	profile_get(l->profile);
	return pmc_gpu_make_space(l, l->profile);
}

/* ---- one dispatch ---------------------------------------------------------------------------- */

/* The GPU reads the profile until its packet has completed: a client may free it when it is
 * released. */
static void stop(struct pmc_gpu *l)
{
	SUBMIT(l, to_read);
	move_to(l, PMC_STOPPING);
}

static bool stopped(struct pmc_gpu *l, uint32_t agent)
{
	if (signal_value(signal_of(l->done)) != 0)
		return false;
	release(l, agent);
	move_to(l, PMC_IDLE);
	return true;
}

/* Where a client that was called meanwhile did not return, the dispatch was submitted
 * (interpose_leave()), and the GPU's next step goes on from there. */
static enum counted_granted grant_once(struct pmc_gpu *l, bool waits)
{
	enum counted_granted granted = GRANT_RECORDED;

	if (!l->is_granting) {
		l->is_granting = true;
		granted = counted_grant(l->queue, l->queue_index, l->packet, waits);
	}
	l->is_granting = false;
	return granted;
}

/* A dispatch that is not counted is submitted. False: not now. */
static bool pass(struct pmc_gpu *l, uint32_t agent, const char *why, bool helps)
{
	enum counted_granted granted = grant_once(l, !helps);

	if (granted == GRANT_BUSY)
		return false;
	if (granted != GRANT_GONE && why)
		give(l, agent, why);
	release(l, agent);
	move_to(l, PMC_IDLE);
	return true;
}

static bool begin(struct pmc_gpu *l, uint32_t agent, uint64_t now_ns, bool helps)
{
	if (!client_nr_waiting())
		return false;
	l->queue = find_waiting(l, agent);
	if (!l->queue)
		return false;
	if (!l->answers.nr)
		return pass(l, agent, NULL, helps);
	l->since_ns = now_ns;
	client_hold(agent, true);
	move_to(l, PMC_WAITING);
	return true;
}

/* Whether no dispatch runs on the GPU's queues, none of which are granted any. *later: see struct
 * pmc_gpu. */
static bool is_quiet(uint32_t agent, uint64_t *later)
{
	uint32_t n = queue_count();

	*later = 0;
	for (uint32_t i = 0; i < n; i++)
		if (is_of(queue_at(i), agent) && !counted_is_quiet(queue_at(i), later))
			return false;
	return true;
}

/* The program's own dispatch is next: starts the counters for it. */
static bool start_counters(struct pmc_gpu *l, uint32_t agent)
{
	if (!choose(l))
		return pass(l, agent, "there is no memory", false);
	l->releases = atomic_load_explicit(&client_releases[agent], memory_order_acquire);
	move_to(l, PMC_STARTING);
	SUBMIT(l, to_start);
	return true;
}

/* Whether the user wants the dispatch in all passes. */
static bool is_to_replay(const struct pmc_gpu *l)
{
	if (!env_bool(ENV_PMC_REPLAY) || l->nr_profiles < 2 ||
	    (filter_has_kernels && code_object_is_not_counted(l->answers.packet.kernel_object)))
		return false;
	for (uint32_t i = 0; i < l->answers.nr; i++)
		if (l->answers.wants[i].client == CLIENT_USER)
			return true;
	return false;
}

/* It is counted in one pass. */
static bool refuse_replay(struct pmc_gpu *l, uint32_t agent, struct replay_refusal refusal)
{
	l->refusal = refusal;
	l->with_last = false;
	replay_warn(&l->warned, refusal.why, &l->answers.packet, l->packet, l->queue_index);
	return start_counters(l, agent);
}

static bool begin_replay(struct pmc_gpu *l, uint32_t agent)
{
	struct replay_refusal no = { NULL, SPOOL_REASON_replay_beside };

	/* the program's packet counts for the faces alone, if their events do not fit beside those
	 * of the last pass */
	l->with_last = l->answers.nr > 1 && !unite(l, l->profiles[l->nr_profiles - 1]);
	/* seq_cst, both: pairs with counter_hold_off() */
	atomic_store(&l->state, PMC_REPLAYING);
	if (atomic_load(&held_off[agent])) {
		move_to(l, PMC_WAITING);
		return false;
	}
	if (!l->replay)
		no = (struct replay_refusal){ "it can't be run again",
					      SPOOL_REASON_replay_refused };
	else if (l->later)
		no.why = "dispatches that were submitted before counting began may run beside it";
	else if (queue_any_unheld(agent))
		no.why = "dispatches of a queue that is not counted may run beside it";
	else
		no = replay_begin(l->replay, &l->answers.packet, l->answers.queue_type,
				  l->with_last, clock_now_ns());
	return no.why ? refuse_replay(l, agent, no) : true;
}

static bool replaying(struct pmc_gpu *l, uint32_t agent, uint64_t now_ns)
{
	switch (replay_step(l->replay, now_ns)) {
	case REPLAY_WAITS:
		return false;
	case REPLAY_FAILED:
		return refuse_replay(l, agent, replay_failure(l->replay));
	case REPLAY_DONE:
		l->is_replayed = true;
		start_counters(l, agent);
		break;
	default:
		break;
	}
	l->since_ns = now_ns;
	return true;
}

static bool start(struct pmc_gpu *l, uint32_t agent, bool helps)
{
	if (!is_quiet(agent, &l->later))
		return false;
	/* seq_cst, both: pairs with counter_reserve() */
	atomic_store(&l->state, PMC_STARTING);
	if (atomic_load(&reserved[agent])) {
		if (pass(l, agent, "the counters of its GPU are sampled", helps))
			return true;
		move_to(l, PMC_WAITING);
		return false;
	}
	l->is_replayed = l->with_last = false;
	l->refusal.why = NULL;
	return is_to_replay(l) ? begin_replay(l, agent) : start_counters(l, agent);
}

static bool grant(struct pmc_gpu *l, uint32_t agent, bool helps)
{
	enum counted_granted granted;

	if (signal_value(signal_of(l->done)) != 0)
		return false;
	granted = grant_once(l, !helps);
	if (granted == GRANT_BUSY)
		return false;
	if (granted == GRANT_RECORDED) {
		move_to(l, PMC_RUNNING);
		return true;
	}
	if (granted == GRANT_UNRECORDED)
		give(l, agent, unrecorded);
	stop(l);
	return true;
}

/* Whether the user alone wants the dispatch, and leaves it out. */
static bool is_unwanted(const struct pmc_gpu *l)
{
	return is_left_out(l) && l->answers.nr == 1 && l->answers.wants[0].client == CLIENT_USER;
}

static bool read_counters(struct pmc_gpu *l, uint32_t agent)
{
	struct queue *q = l->queue;
	uint64_t recorded;

	if (queue_try_lock(q)) {
		if (atomic_load_explicit(&q->live, memory_order_acquire))
			collect_queue(q, clock_now_ns());
		queue_unlock(q);
	}
	/* acquire: pairs with counter_saw_end(): if `recorded` is of the slot's next queue, so is
	 * the index that is loaded after it */
	recorded = atomic_load_explicit(&q->recorded, memory_order_acquire);
	if (queue_index(q) != l->queue_index) { /* it ended */
		give(l, agent, "its queue was destroyed");
		stop(l);
		return true;
	}
	if (recorded >> 1 != l->packet + 1)
		return false;
	/* the queue may be another one's before its result is given */
	l->begin_ns = q->counted_begin_ns;
	l->end_ns = q->counted_end_ns;
	if (is_unwanted(l)) {
		stop(l);
		return true;
	}
	SUBMIT(l, to_read);
	move_to(l, PMC_READING);
	return true;
}

static bool end(struct pmc_gpu *l, uint32_t agent)
{
	const char *why = NULL;
	uint64_t later;

	if (signal_value(signal_of(l->done)) != 0 || (l->later && !is_quiet(agent, &later)))
		return false;
	if (!profile_read(l->profile, l->values))
		why = "AQLprofile does not read the counters";
	else if (l->later && later != l->later)
		why = "dispatches that were submitted before counting began ran beside it";
	else if (atomic_load_explicit(&client_releases[agent], memory_order_acquire) != l->releases)
		why = "dispatches of a queue that was destroyed ran beside it";
	give(l, agent, why);
	release(l, agent);
	move_to(l, PMC_IDLE);
	return true;
}

/* Whether a dispatch of the queue that was not counted is a loss. Where the user chose dispatches,
 * those that clients were asked for are a loss at once: client.c. */
static bool is_loss(const struct queue *q, const struct inflight *e)
{
	union packet p;

	if (!q->user_counts || e->kind != INFLIGHT_DISPATCH)
		return false;
	packet_of_head(&p, &e->head);
	if (filter_has_kernels && code_object_is_not_counted(p.dispatch.kernel_object))
		return false;
	return !chosen_is_limited() ||
	       (!q->answers && chosen_dispatch(p.dispatch.kernel_object, q->agent));
}

void counter_saw_end(struct queue *q, const struct inflight *e, uint64_t begin_ns, uint64_t end_ns)
{
	bool is_left_out = e->correlation & EVENT_LEFT_OUT;
	uint64_t packet = e->packet;

	if (atomic_load_explicit(&q->counting, memory_order_relaxed) == packet + 1) {
		q->counted_begin_ns = begin_ns;
		q->counted_end_ns = end_ns;
		/* release: pairs with read_counters(): the event is emitted */
		atomic_store_explicit(&q->recorded, 2 * (packet + 1) + is_left_out,
				      memory_order_release);
	} else if (is_loss(q, e) && !is_left_out) {
		bus_loss(SPOOL_REASON_not_counted, 1);
	}
}

/* Nothing is held back on this GPU from now on; its dispatches are recorded as not counted. */
static void give_up(struct pmc_gpu *l, uint32_t agent, const char *why)
{
	const char *reason = why ? why : "the process or the runtime ends";
	uint32_t n = queue_count();

	if (why)
		log_warn("counters: the GPU of agent %u is not counted any more: %s", agent, why);
	if (pmc_state(l) == PMC_REPLAYING)
		replay_abort(l->replay, reason);
	if (pmc_state(l) >= PMC_RUNNING) /* it is the GPU's alone */
		give(l, agent, reason);
	if (pmc_state(l) > PMC_IDLE)
		release(l, agent);
	move_to(l, PMC_REFUSED);
	for (uint32_t i = 0; i < n; i++)
		if (is_of(queue_at(i), agent))
			counted_grant_all(queue_at(i), agent, reason);
}

static const char *why_late(const struct pmc_gpu *l, uint32_t agent)
{
	uint32_t n = queue_count();
	uint64_t index;

	if (pmc_state(l) == PMC_WAITING)
		return "a dispatch ran for longer than RTL_PMC_WAIT_MS while one that is to be counted waited";
	if (pmc_state(l) == PMC_REPLAYING && !replay_runs_kernel(l->replay))
		return "its memory is not copied";
	if (pmc_state(l) != PMC_RUNNING && pmc_state(l) != PMC_REPLAYING)
		return "its queue does not execute the packets of AQLprofile";
	if (atomic_load_explicit(&held_off[agent], memory_order_relaxed))
		return "a dispatch ran for longer than RTL_PMC_WAIT_MS while a queue was to be destroyed";
	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (q != l->queue && is_of(q, agent) && counted_waits(q, agent, &index, NULL))
			return "a dispatch ran for longer than RTL_PMC_WAIT_MS while one of another queue waited";
	}
	return NULL; /* a long kernel, which nothing waits for */
}

/* `helps`: not on the harvester, to which what takes long is left. */
static bool step(struct pmc_gpu *l, uint32_t agent, uint64_t now_ns, bool helps)
{
	const char *why;
	bool moved;

	switch (pmc_state(l)) {
	case PMC_IDLE:
		return begin(l, agent, now_ns, helps);
	case PMC_WAITING:
		moved = start(l, agent, helps);
		break;
	case PMC_REPLAYING:
		moved = replaying(l, agent, now_ns);
		break;
	case PMC_STARTING:
		moved = grant(l, agent, helps);
		break;
	case PMC_STOPPING:
		moved = stopped(l, agent);
		break;
	case PMC_RUNNING:
		moved = read_counters(l, agent);
		break;
	case PMC_READING:
		moved = end(l, agent);
		break;
	default:
		return false;
	}
	if (!moved && !helps &&
	    now_ns - l->since_ns > env_uint(ENV_PMC_WAIT_MS) * UINT64_C(1000000)) {
		l->since_ns = now_ns;
		why = why_late(l, agent);
		if (why)
			give_up(l, agent, why);
	}
	return moved;
}

/* Whether the GPU waits for packets of librtl's alone: for microseconds. */
static bool is_short(const struct pmc_gpu *l)
{
	uint32_t state = pmc_state(l);

	return state == PMC_STARTING || state == PMC_STOPPING ||
	       (state == PMC_READING && !l->later);
}

/* One step of each GPU. *soon: one of them waits for packets of librtl's. */
static bool step_all(uint64_t now_ns, bool helps, bool *soon)
{
	bool moved = false;

	*soon = false;
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		struct pmc_gpu *l = pmc_gpu_of(i);

		if (!l)
			continue;
		moved |= step(l, i, now_ns, helps);
		*soon |= is_short(l);
	}
	if (moved)
		atomic_store_explicit(&moved_ns, now_ns, memory_order_relaxed);
	return moved;
}

void counter_hold_off(uint32_t agent)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	uint64_t deadline_ns = clock_now_ns() + 2 * env_uint(ENV_PMC_WAIT_MS) * UINT64_C(1000000);
	const struct pmc_gpu *l;

	if (!env_bool(ENV_PMC_REPLAY) || agent >= AGENT_MAX)
		return;
	/* seq_cst, both: pairs with begin_replay() */
	atomic_fetch_add(&held_off[agent], 1);
	l = pmc_gpu_of(agent);
	while (l && atomic_load(&l->state) == PMC_REPLAYING && clock_now_ns() < deadline_ns) {
		life_kick();
		sys_nap(&nap);
	}
}

void counter_let_go(uint32_t agent)
{
	if (env_bool(ENV_PMC_REPLAY) && agent < AGENT_MAX)
		atomic_fetch_sub(&held_off[agent], 1);
}

int counter_reserve(uint32_t agent, uint64_t wait_ns)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	uint64_t deadline_ns = clock_now_ns() + wait_ns;
	const struct pmc_gpu *l;
	bool free = false;

	/* seq_cst: pairs with start() */
	if (agent >= AGENT_MAX || !atomic_compare_exchange_strong(&reserved[agent], &free, true))
		return -EBUSY;
	l = pmc_gpu_of(agent);
	while (l && atomic_load(&l->state) > PMC_WAITING && clock_now_ns() < deadline_ns)
		sys_nap(&nap);
	if (!l || atomic_load(&l->state) <= PMC_WAITING)
		return 0;
	atomic_store(&reserved[agent], false);
	return -EBUSY;
}

void counter_unreserve(uint32_t agent)
{
	if (agent < AGENT_MAX)
		atomic_store(&reserved[agent], false);
}

/* Whether the last step is so long ago. */
static bool has_waited(uint64_t now_ns, uint64_t ns)
{
	/* relaxed, as below: otherwise two threads try */
	return (int64_t)(now_ns - atomic_load_explicit(&moved_ns, memory_order_relaxed)) >
	       (int64_t)ns;
}

/* Whether another thread advances the counting, with success. */
static bool is_helped(uint64_t now_ns)
{
	uint64_t helped = atomic_load_explicit(&helped_ns, memory_order_relaxed);

	return (int64_t)(now_ns - helped) < (int64_t)HELPED_NS && !has_waited(now_ns, HELP_MAX_NS);
}

static bool help(uint64_t now_ns, bool in_doorbell)
{
	uint64_t from_ns = now_ns;
	bool any = false, moved, soon;

	do {
		moved = step_all(now_ns, true, &soon);
		any |= moved;
		if (!moved)
			RTL_RELAX();
		now_ns = clock_now_ns();
		/* what others submit meanwhile must not keep this thread */
	} while (counter_is_busy() && now_ns - from_ns < HELP_MAX_NS &&
		 (moved || (in_doorbell && soon && !has_waited(now_ns, HELP_WAIT_NS))));
	return any;
}

struct helping {
	struct thread *t;
	uint64_t now_ns;
	bool in_doorbell, any;
};

static void help_out(void *arg)
{
	struct helping *h = arg;

	h->any = help(h->now_ns, h->in_doorbell);
}

/* By a client that was asked in help(). */
static void stop_helping(void *arg)
{
	const struct helping *h = arg;

	step_leave();
	h->t->must_not_ask_clients = false;
}

bool counter_help(bool in_doorbell)
{
	uint64_t now_ns = clock_now_ns();
	struct helping h = { NULL, now_ns, in_doorbell, false };
	struct thread *t;

	if (env_bool(ENV_PMC_REPLAY) || !life_enter(&t))
		return false;
	atomic_store_explicit(&helped_ns, now_ns, memory_order_relaxed);
	t->must_not_ask_clients = !in_doorbell;
	h.t = t;
	if (step_enter()) {
		life_callout(help_out, stop_helping, &h);
		step_leave();
	}
	t->must_not_ask_clients = false;
	life_leave(t);
	return h.any;
}

void counter_hand_over(void)
{
	if (!counter_is_busy())
		return;
	atomic_store_explicit(&helped_ns, 0, memory_order_relaxed);
	life_kick();
}

/* Advances the counting on all GPUs until they wait for longer than SPIN_NS, or another thread
 * helps. */
static void advance(void)
{
	uint64_t now_ns;
	bool soon;

	do {
		now_ns = clock_now_ns();

		if (!step_all(now_ns, false, &soon)) {
			if (has_waited(now_ns, SPIN_NS))
				return;
			/* the GPU, where it is virtual, may need this processor */
			sched_yield();
		}
	} while (counter_is_busy() && !is_helped(now_ns));
}

uint64_t counter_tick(void)
{
	uint64_t idle_ns;
	bool held;

	if (!chosen_any() && !client_is_registered())
		return UINT64_MAX;
	if (is_helped(clock_now_ns()))
		return counter_is_busy() ? HELPED_NS : UINT64_MAX;
	if (!step_enter())
		return MIN_NAP_NS;
	held = copy_held_tick();
	if (counter_is_busy())
		advance();
	held = held && copy_held_tick();
	idle_ns = clock_now_ns() - atomic_load_explicit(&moved_ns, memory_order_relaxed);
	step_leave();
	if (!counter_is_busy() && !held)
		return UINT64_MAX;
	if (held || idle_ns / 8 < MIN_NAP_NS)
		return MIN_NAP_NS;
	return idle_ns / 8 < MAX_NAP_NS ? idle_ns / 8 : MAX_NAP_NS;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool any_waits(void)
{
	uint32_t n = queue_count();
	uint64_t index;

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (atomic_load_explicit(&q->live, memory_order_acquire) &&
		    atomic_load_explicit(&q->is_counted, memory_order_relaxed) &&
		    counted_waits(q, queue_agent(q), &index, NULL))
			return true;
	}
	return false;
}

void counter_settle(uint64_t wait_ns)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	uint64_t deadline_ns = clock_now_ns() + wait_ns;

	while (counter_is_busy() && clock_now_ns() < deadline_ns) {
		counter_hand_over();
		sys_nap(&nap);
	}
}

void counter_finish(uint64_t deadline_ns)
{
	if (!chosen_any() && !client_is_registered())
		return;
	while (clock_now_ns() < deadline_ns && (counter_tick() != UINT64_MAX || any_waits()))
		;
	while (!step_enter())
		RTL_RELAX();
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		struct pmc_gpu *l = pmc_gpu_of(i);

		if (!l)
			continue;
		if (pmc_state(l) >= PMC_IDLE)
			give_up(l, i, pmc_state(l) == PMC_IDLE ? NULL : "the process ends");
		pmc_gpu_close(l);
	}
	profile_free_spares();
	copy_held_finish();
	step_leave();
}

void counter_reset(void)
{
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		struct pmc_gpu *l = pmc_gpu_of(i);

		if (l)
			move_to(l, PMC_UNKNOWN);
	}
	profile_forget();
}
