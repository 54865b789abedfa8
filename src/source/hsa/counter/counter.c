/* SPDX-License-Identifier: MIT */
/* counter.c - counts hardware events for each dispatch: for the faces' clients, and for the user (RTL_PMC)
 *
 * Owns:     for each GPU its lane: librtl's queue, the profiles, and how far the present dispatch is.
 * Threads:  lanes are opened by the thread that makes a GPU's first queue, under `open_lock`; the rest is the harvester's.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/counter.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "event/bus.h"
#include "event/life.h"
#include "event/filter.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/counter/chosen.h"
#include "source/hsa/counter/client.h"
#include "source/hsa/counter/profile.h"
#include "source/hsa/counter/replay.h"
#include "source/hsa/memory/copy_held.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/table/real.h"

#define LANE_QUEUE_SIZE 64u
/* Steps within a tick: most take a few microseconds, less than a nap. */
#define STEPS 500u
#define NR_TURNS 1024u
#define ISA_SIZE 64u /* of HSA_AGENT_INFO_NAME */
#define NR_UNITED 8u

enum lane_state {
	LANE_UNKNOWN,
	LANE_REFUSED, /* this GPU is not counted */
	LANE_IDLE,
	LANE_WAITING, /* for dispatches that run, of those that were submitted before counting began or are not counted */
	LANE_REPLAYING, /* the passes before the last */
	LANE_STARTING,
	LANE_STOPPING, /* a dispatch that is not counted after all: its clients have their results */
	LANE_RUNNING,
	LANE_READING,
};

/* Profiles of several clients as one. NULL: they do not fit together. */
struct united {
	uint64_t serials[CLIENT_MAX + 1];
	uint32_t nr;
	struct profile *profile;
};

struct lane {
	_Atomic uint32_t state; /* enum lane_state; release: the rest is set before it */
	hsa_queue_t *hsa;
	hsa_signal_t done;
	uint32_t nr_profiles, shape; /* of the user's profiles, RTL_PMC */
	struct profile *profiles[CHOSEN_MAX_PASSES];
	struct replay *replay; /* NULL: passes take turns */
	struct united united[NR_UNITED];
	uint32_t next_united;
	uint64_t *values; /* twice: of the profile, of one of its clients */
	uint32_t most_values;
	/* the present dispatch */
	struct client_answers answers;
	struct profile *profile; /* what is counted: a user of it */
	uint32_t only;		 /* index of the want that is counted alone; UINT32_MAX: all are */
	struct queue *queue;
	uint32_t queue_index; /* in the trace: `queue` may be used for another one when it ends */
	uint64_t packet, since_ns;
	uint64_t begin_ns, end_ns; /* 0: it was not recorded */
	/* dispatches, on other queues, that were submitted before counting began and do not run yet */
	uint64_t later;
	uint32_t releases;   /* client_releases when it began */
	uint32_t last_queue; /* where the search for the next one begins */
	uint32_t last_only;
	bool is_replayed;	       /* the replay has the values of the passes before the last */
	struct replay_refusal refusal; /* why it is not */
	struct replay_warned warned;
	/* Of each kernel the pass that is next; kernels may share one. */
	uint8_t turn[NR_TURNS];
};

static struct lock open_lock = LOCK_INIT(LOCK_COUNTER);
static struct lane *_Atomic lanes[AGENT_MAX];
static _Atomic bool reserved[AGENT_MAX];
static _Atomic uint32_t held_off[AGENT_MAX]; /* threads between counter_hold_off() and its end */

static uint32_t state_of(const struct lane *l)
{
	return atomic_load_explicit(&l->state, memory_order_acquire);
}

static void set_state(struct lane *l, enum lane_state state)
{
	atomic_store_explicit(&l->state, state, memory_order_release);
}

static hsa_signal_t new_signal(void)
{
	hsa_signal_t s = { 0 };

	return real.hsa_amd_signal_create(1, 0, NULL, 0, &s) == HSA_STATUS_SUCCESS ?
		       s :
		       (hsa_signal_t){ 0 };
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

static struct profile *make_profile(hsa_agent_t agent, const char *isa, uint32_t pass)
{
	struct profile_event *events = alloc_pages(PROFILE_MAX_EVENTS * sizeof(*events));
	struct profile *p = NULL;
	char why[PROFILE_WHY_SIZE] = "no memory";

	if (!events || profile_make(agent, events, chosen_events(isa, pass, events), why, &p) != 0)
		log_warn("counters: the events of pass %u are not counted on %s: %s", pass + 1, isa,
			 why);
	if (events)
		alloc_pages_free(events, PROFILE_MAX_EVENTS * sizeof(*events));
	return p;
}

/* The user's. False: they are not counted. */
static bool make_profiles(struct lane *l, hsa_agent_t agent, const char *isa)
{
	uint32_t n = chosen_any() ? chosen_passes(isa) : 0;

	for (; l->nr_profiles < n; l->nr_profiles++) {
		struct profile *p = make_profile(agent, isa, l->nr_profiles);

		if (!p)
			break;
		l->profiles[l->nr_profiles] = p;
	}
	if (l->nr_profiles == n)
		return n != 0;
	while (l->nr_profiles)
		profile_free(l->profiles[--l->nr_profiles]);
	return false;
}

static void free_profiles(struct lane *l)
{
	if (l->replay)
		replay_close(l->replay);
	l->replay = NULL;
	while (l->nr_profiles)
		profile_free(l->profiles[--l->nr_profiles]);
	for (uint32_t i = 0; i < NR_UNITED; i++) {
		if (l->united[i].profile)
			profile_free(l->united[i].profile);
		l->united[i] = (struct united){ .nr = 0 };
	}
	if (l->values)
		alloc_pages_free(l->values, 2 * l->most_values * sizeof(*l->values));
	l->values = NULL;
	l->most_values = 0;
}

/* Space for the values of the profile. */
static bool make_space(struct lane *l, const struct profile *p)
{
	uint32_t n = profile_nr_values(p) + 1; /* a trace has none */

	if (n <= l->most_values)
		return true;
	if (l->values)
		alloc_pages_free(l->values, 2 * l->most_values * sizeof(*l->values));
	l->most_values = 0;
	l->values = alloc_pages(2 * n * sizeof(*l->values));
	if (l->values)
		l->most_values = n;
	return l->values != NULL;
}

static bool read_isa(hsa_agent_t agent, char isa[ISA_SIZE])
{
	isa[0] = 0;
	return real.hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, isa) == HSA_STATUS_SUCCESS;
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

static void open_replay(struct lane *l, hsa_agent_t agent)
{
	if (!env_bool(ENV_PMC_REPLAY) || l->nr_profiles < 2)
		return;
	l->replay = replay_open(agent_index(agent), l->profiles, l->nr_profiles);
	if (!l->replay)
		log_warn(
			"counters: dispatches are counted in one pass each: the runtime or the memory "
			"of the host does not suffice to run them again");
}

RTL_REQUIRES(open_lock) static bool fill_lane(struct lane *l, hsa_agent_t agent)
{
	char isa[ISA_SIZE];

	if (!read_isa(agent, isa) || !profile_available())
		return false;
	l->shape = shape_of(agent);
	l->done = new_signal();
	if (l->done.handle &&
	    real.hsa_queue_create(agent, LANE_QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
				  UINT32_MAX, UINT32_MAX, &l->hsa) == HSA_STATUS_SUCCESS &&
	    (make_profiles(l, agent, isa) || client_is_registered())) {
		open_replay(l, agent);
		return true;
	}
	free_lane(l);
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
	bool faces = client_is_registered() && q->agent < AGENT_MAX && agent_is_gpu(q->agent);
	const struct lane *l = NULL;
	const char *why = NULL;

	q->user_counts = is_wanted(q->agent);
	if (!q->user_counts && !faces)
		return;
	if (q->intercepted)
		why = "it is an intercept queue (RTL_QUEUES=intercept)";
	else if (!(l = open_lane(q->agent)))
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

/* ---- counting -------------------------------------------------------------------------------- */

static bool is_of(const struct queue *q, uint32_t agent)
{
	return atomic_load_explicit(&q->live, memory_order_acquire) && q->agent == agent &&
	       atomic_load_explicit(&q->is_counted, memory_order_relaxed);
}

/* A queue of the GPU whose next dispatch waits; each queue in its turn. The answers for it are the lane's then. NULL: there is none. */
static struct queue *find_waiting(struct lane *l, uint32_t agent)
{
	uint32_t n = queue_count();

	for (uint32_t i = 1; i <= n; i++) {
		struct queue *q = queue_at((l->last_queue + i) % n);
		uint32_t index = q->index;

		if (!is_of(q, agent) || !interpose_waits(q, &l->packet, &l->answers))
			continue;
		l->last_queue = (l->last_queue + i) % n;
		l->queue_index = index;
		return q;
	}
	return NULL;
}

/* Those of the parts that the profile has, at least one; l->done is 0 when they have completed. */
static void submit_parts(struct lane *l, const enum profile_part *parts, uint32_t nr)
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

static void emit(const struct lane *l, struct profile *p, const uint64_t *values, uint32_t events)
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
static bool is_left_out(const struct lane *l)
{
	return atomic_load_explicit(&l->queue->recorded, memory_order_relaxed) ==
	       2 * (l->packet + 1) + 1;
}

static void give_user(const struct lane *l, struct profile *p, const char *why)
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
	for (uint32_t i = 0; l->is_replayed && i + 1 < l->nr_profiles; i++)
		emit(l, l->profiles[i], replay_values(l->replay, i),
		     profile_description(l->profiles[i]));
	emit(l, p, l->values + l->most_values, events);
	if (l->refusal.why)
		bus_loss(l->refusal.reason, 1);
}

/* Gives the result of the present dispatch to who wanted it. `why`: it was not counted. */
static void give(struct lane *l, uint32_t agent, const char *why)
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

/* The present dispatch is over for the lane. */
static void release(struct lane *l, uint32_t agent)
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
static struct profile *next_profile(struct lane *l, uint64_t kernel_object)
{
	uint8_t *turn = &l->turn[kernel_object * UINT64_C(0x9e3779b97f4a7c15) >> 54];

	if (l->is_replayed)
		return l->profiles[l->nr_profiles - 1];
	*turn = (uint8_t)((*turn + 1) % l->nr_profiles);
	return l->profiles[(*turn + l->nr_profiles - 1) % l->nr_profiles];
}

/* The profiles of all wants as one, of which the caller gets no user. NULL: they do not fit together. */
static struct profile *unite(struct lane *l)
{
	struct profile *all[CLIENT_MAX + 1];
	struct united key = { .nr = l->answers.nr }, *u;
	char why[PROFILE_WHY_SIZE];

	for (uint32_t i = 0; i < key.nr; i++) {
		all[i] = l->answers.wants[i].profile;
		key.serials[i] = profile_serial(all[i]);
	}
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
static bool choose(struct lane *l)
{
	struct client_want *wants = l->answers.wants;

	for (uint32_t i = 0; i < l->answers.nr; i++) {
		if (wants[i].client != CLIENT_USER)
			continue;
		wants[i].profile = next_profile(l, l->answers.packet.kernel_object);
		profile_get(wants[i].profile);
	}
	l->only = UINT32_MAX;
	l->profile = l->answers.nr == 1 ? wants[0].profile : unite(l);
	if (!l->profile) {
		l->only = l->last_only++ % l->answers.nr;
		l->profile = wants[l->only].profile;
	}
	profile_get(l->profile);
	return make_space(l, l->profile);
}

/* ---- one dispatch ---------------------------------------------------------------------------- */

/* The GPU reads the profile until its packet has completed: a client may free it when it is released. */
static void stop(struct lane *l)
{
	SUBMIT(l, to_read);
	set_state(l, LANE_STOPPING);
}

static bool stopped(struct lane *l, uint32_t agent)
{
	if (signal_value(signal_of(l->done)) != 0)
		return false;
	release(l, agent);
	set_state(l, LANE_IDLE);
	return true;
}

/* A dispatch that is not counted is submitted. */
static void pass(struct lane *l, uint32_t agent, const char *why)
{
	if (interpose_grant(l->queue, l->queue_index, l->packet) != GRANT_GONE && why)
		give(l, agent, why);
	release(l, agent);
	set_state(l, LANE_IDLE);
}

static bool begin(struct lane *l, uint32_t agent, uint64_t now_ns)
{
	if (!client_nr_waiting())
		return false;
	l->queue = find_waiting(l, agent);
	if (!l->queue)
		return false;
	if (!l->answers.nr) {
		pass(l, agent, NULL);
		return true;
	}
	l->since_ns = now_ns;
	client_hold(agent, true);
	set_state(l, LANE_WAITING);
	return true;
}

/* Whether no dispatch runs on the GPU's queues, none of which are granted any. *later: see struct lane. */
static bool is_quiet(uint32_t agent, uint64_t *later)
{
	uint32_t n = queue_count();

	*later = 0;
	for (uint32_t i = 0; i < n; i++)
		if (is_of(queue_at(i), agent) && !interpose_is_quiet(queue_at(i), later))
			return false;
	return true;
}

/* The program's own dispatch is next: starts the counters for it. */
static bool start_counters(struct lane *l, uint32_t agent)
{
	if (!choose(l)) {
		pass(l, agent, "there is no memory");
		return true;
	}
	l->releases = atomic_load_explicit(&client_releases[agent], memory_order_acquire);
	set_state(l, LANE_STARTING);
	SUBMIT(l, to_start);
	return true;
}

/* Whether the user wants the dispatch in all passes. */
static bool is_to_replay(const struct lane *l)
{
	if (!env_bool(ENV_PMC_REPLAY) || l->nr_profiles < 2 ||
	    (filter_has_kernels && code_object_is_left_out(l->answers.packet.kernel_object)))
		return false;
	for (uint32_t i = 0; i < l->answers.nr; i++)
		if (l->answers.wants[i].client == CLIENT_USER)
			return true;
	return false;
}

/* It is counted in one pass. */
static bool refuse_replay(struct lane *l, uint32_t agent, struct replay_refusal refusal)
{
	l->refusal = refusal;
	replay_warn(&l->warned, refusal.why, &l->answers.packet, l->packet, l->queue_index);
	return start_counters(l, agent);
}

static bool begin_replay(struct lane *l, uint32_t agent)
{
	struct replay_refusal no = { NULL, SPOOL_REASON_replay_beside };

	/* seq_cst, both: pairs with counter_hold_off() */
	atomic_store(&l->state, LANE_REPLAYING);
	if (atomic_load(&held_off[agent])) {
		set_state(l, LANE_WAITING);
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
				  clock_now_ns());
	return no.why ? refuse_replay(l, agent, no) : true;
}

static bool replaying(struct lane *l, uint32_t agent, uint64_t now_ns)
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

static bool start(struct lane *l, uint32_t agent)
{
	if (!is_quiet(agent, &l->later))
		return false;
	/* seq_cst, both: pairs with counter_reserve() */
	atomic_store(&l->state, LANE_STARTING);
	if (atomic_load(&reserved[agent])) {
		pass(l, agent, "the counters of its GPU are sampled");
		return true;
	}
	l->is_replayed = false;
	l->refusal.why = NULL;
	return is_to_replay(l) ? begin_replay(l, agent) : start_counters(l, agent);
}

static bool grant(struct lane *l, uint32_t agent)
{
	enum interpose_granted granted;

	if (signal_value(signal_of(l->done)) != 0)
		return false;
	granted = interpose_grant(l->queue, l->queue_index, l->packet);
	if (granted == GRANT_RECORDED) {
		set_state(l, LANE_RUNNING);
		return true;
	}
	if (granted == GRANT_UNRECORDED)
		give(l, agent, unrecorded);
	stop(l);
	return true;
}

/* Whether the user alone wants the dispatch, and leaves it out. */
static bool is_for_nobody(const struct lane *l)
{
	return is_left_out(l) && l->answers.nr == 1 && l->answers.wants[0].client == CLIENT_USER;
}

static bool read_counters(struct lane *l, uint32_t agent)
{
	struct queue *q = l->queue;
	uint64_t recorded;

	if (queue_try_lock(q)) {
		if (atomic_load_explicit(&q->live, memory_order_acquire))
			collect_queue(q, clock_now_ns());
		queue_unlock(q);
	}
	/* acquire: pairs with counter_saw_end() */
	recorded = atomic_load_explicit(&q->recorded, memory_order_acquire);
	if (q->index != l->queue_index) { /* it ended */
		give(l, agent, "its queue was destroyed");
		stop(l);
		return true;
	}
	if (recorded >> 1 != l->packet + 1)
		return false;
	/* the queue may be another one's before its result is given */
	l->begin_ns = q->counted_begin_ns;
	l->end_ns = q->counted_end_ns;
	if (is_for_nobody(l)) {
		stop(l);
		return true;
	}
	SUBMIT(l, to_read);
	set_state(l, LANE_READING);
	return true;
}

static bool end(struct lane *l, uint32_t agent)
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
	set_state(l, LANE_IDLE);
	return true;
}

/* Whether a dispatch of the queue that was not counted is a loss. Where the user chose dispatches, those that clients were asked for
 * are a loss at once: client.c. */
static bool is_loss(const struct queue *q, const struct inflight *e)
{
	union packet p;

	if (!q->user_counts || e->kind != INFLIGHT_DISPATCH || !chosen_is_limited())
		return q->user_counts && e->kind == INFLIGHT_DISPATCH;
	packet_of_head(&p, &e->head);
	return !q->answers && chosen_dispatch(p.dispatch.kernel_object, q->agent);
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
static void give_up(struct lane *l, uint32_t agent, const char *why)
{
	const char *reason = why ? why : "the process or the runtime ends";
	uint32_t n = queue_count();

	if (why)
		log_warn("counters: the GPU of agent %u is not counted any more: %s", agent, why);
	if (state_of(l) == LANE_REPLAYING)
		replay_abort(l->replay, reason);
	if (state_of(l) >= LANE_RUNNING) /* it is the lane's alone */
		give(l, agent, reason);
	if (state_of(l) > LANE_IDLE)
		release(l, agent);
	set_state(l, LANE_REFUSED);
	for (uint32_t i = 0; i < n; i++)
		if (is_of(queue_at(i), agent))
			interpose_grant_all(queue_at(i), reason);
}

static const char *why_late(const struct lane *l, uint32_t agent)
{
	uint32_t n = queue_count();
	uint64_t index;

	if (state_of(l) == LANE_WAITING)
		return "a dispatch ran for longer than RTL_PMC_WAIT_MS while one that is to be counted waited";
	if (state_of(l) == LANE_REPLAYING && !replay_runs_kernel(l->replay))
		return "its memory is not copied";
	if (state_of(l) != LANE_RUNNING && state_of(l) != LANE_REPLAYING)
		return "its queue does not execute the packets of AQLprofile";
	if (atomic_load_explicit(&held_off[agent], memory_order_relaxed))
		return "a dispatch ran for longer than RTL_PMC_WAIT_MS while a queue was to be destroyed";
	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (q != l->queue && is_of(q, agent) && interpose_waits(q, &index, NULL))
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
	case LANE_WAITING:
		moved = start(l, agent);
		break;
	case LANE_REPLAYING:
		moved = replaying(l, agent, now_ns);
		break;
	case LANE_STARTING:
		moved = grant(l, agent);
		break;
	case LANE_STOPPING:
		moved = stopped(l, agent);
		break;
	case LANE_RUNNING:
		moved = read_counters(l, agent);
		break;
	case LANE_READING:
		moved = end(l, agent);
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

void counter_hold_off(uint32_t agent)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	uint64_t deadline_ns = clock_now_ns() + 2 * env_uint(ENV_PMC_WAIT_MS) * UINT64_C(1000000);
	const struct lane *l;

	if (!env_bool(ENV_PMC_REPLAY) || agent >= AGENT_MAX)
		return;
	/* seq_cst, both: pairs with begin_replay() */
	atomic_fetch_add(&held_off[agent], 1);
	l = atomic_load_explicit(&lanes[agent], memory_order_acquire);
	while (l && atomic_load(&l->state) == LANE_REPLAYING && clock_now_ns() < deadline_ns) {
		life_kick();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
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
	const struct lane *l;
	bool free = false;

	/* seq_cst: pairs with start() */
	if (agent >= AGENT_MAX || !atomic_compare_exchange_strong(&reserved[agent], &free, true))
		return -EBUSY;
	l = atomic_load_explicit(&lanes[agent], memory_order_acquire);
	while (l && atomic_load(&l->state) > LANE_WAITING && clock_now_ns() < deadline_ns)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	if (!l || atomic_load(&l->state) <= LANE_WAITING)
		return 0;
	atomic_store(&reserved[agent], false);
	return -EBUSY;
}

void counter_unreserve(uint32_t agent)
{
	if (agent < AGENT_MAX)
		atomic_store(&reserved[agent], false);
}

bool counter_tick(uint64_t now_ns)
{
	bool busy = true, held;

	if (!chosen_any() && !client_is_registered())
		return false;
	if (!step_enter())
		return true;
	held = copy_held_tick();
	for (unsigned i = 0; i < STEPS && busy; i++) {
		if (!step_all(now_ns, &busy) && busy)
			RTL_RELAX();
	}
	held = held && copy_held_tick();
	step_leave();
	return busy || held;
}

static bool any_is_busy(void)
{
	if (client_nr_waiting())
		return true;
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		const struct lane *l = atomic_load_explicit(&lanes[i], memory_order_acquire);

		if (l && state_of(l) > LANE_IDLE)
			return true;
	}
	return false;
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
		    interpose_waits(q, &index, NULL))
			return true;
	}
	return false;
}

void counter_settle(uint64_t wait_ns)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	uint64_t deadline_ns = clock_now_ns() + wait_ns;

	while (any_is_busy() && clock_now_ns() < deadline_ns) {
		life_kick();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
}

void counter_finish(uint64_t deadline_ns)
{
	if (!chosen_any() && !client_is_registered())
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
	copy_held_finish();
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
