/* SPDX-License-Identifier: MIT */
/* client.c - who wants dispatches counted: the faces, and the user (RTL_PMC)
 *
 * Owns:     the clients; of each queue the answers for its packets, a ring like the queue's.
 * Threads:  see client.h.
 * Fails:    without memory for the ring the queue is not counted.
 */
#include "source/hsa/counter/client.h"

#define LOG_TOPIC "hsa"
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/filter.h"
#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/counter/chosen.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/queue/origin.h"

static _Atomic(const struct counter_client *) clients[CLIENT_MAX];
_Atomic uint32_t client_bits[AGENT_MAX];
_Atomic uint32_t client_releases[AGENT_MAX];
static _Atomic uint32_t nr_waiting;

/* Kernels count only in queues that were made for it. */
static void warn_of_earlier_queues(void)
{
	uint32_t n = queue_count(), nr = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct queue *q = queue_at(i);

		nr += atomic_load_explicit(&q->live, memory_order_acquire) &&
		      agent_is_gpu(q->agent) &&
		      !atomic_load_explicit(&q->is_counted, memory_order_relaxed);
	}
	if (nr)
		log_warn(
			"counters: the dispatches of %u queues are not counted: they were made before the tool that counts was registered",
			nr);
}

int client_register(const struct counter_client *client)
{
	for (uint32_t i = 0; i < CLIENT_MAX; i++) {
		const struct counter_client *none = NULL;

		/* release: pairs with client_at() */
		if (atomic_compare_exchange_strong_explicit(&clients[i], &none, client,
							    memory_order_release,
							    memory_order_relaxed)) {
			warn_of_earlier_queues();
			return (int)i;
		}
	}
	return -ENOSPC;
}

static const struct counter_client *client_at(uint32_t i)
{
	/* acquire: pairs with client_register() */
	return atomic_load_explicit(&clients[i], memory_order_acquire);
}

bool client_is_registered(void)
{
	return client_at(0) != NULL;
}

void client_switch(int client, uint32_t agent, bool on)
{
	uint32_t first = agent == AGENT_NONE ? 0 : agent;
	uint32_t end = agent == AGENT_NONE ? AGENT_MAX : agent + 1;

	for (uint32_t i = first; i < end && i < AGENT_MAX; i++) {
		if (on)
			atomic_fetch_or_explicit(&client_bits[i], 1u << client,
						 memory_order_relaxed);
		else
			atomic_fetch_and_explicit(&client_bits[i], ~(1u << client),
						  memory_order_relaxed);
	}
	/* what waits may be submitted */
	life_wake();
}

void client_hold(uint32_t agent, bool on)
{
	/* relaxed: threads that submit take the turn of their queue after the harvester had it */
	if (on)
		atomic_fetch_or_explicit(&client_bits[agent], CLIENT_HOLD, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&client_bits[agent], ~CLIENT_HOLD, memory_order_relaxed);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void count_waiting(uint32_t more)
{
	atomic_fetch_add_explicit(&nr_waiting, more, memory_order_relaxed);
	atomic_fetch_add_explicit(&counter_work, more, memory_order_relaxed);
}

static struct client_answers *answers_at(const struct queue *q, uint64_t index)
{
	return &q->answers[index % q->nr_answers];
}

void client_unprepare(struct queue *q)
{
	if (q->answers)
		alloc_pages_free(q->answers, q->nr_answers * sizeof(*q->answers));
	q->answers = NULL;
}

bool client_prepare(struct queue *q, uint32_t size)
{
	if (q->answers && q->nr_answers < size)
		client_unprepare(q);
	if (!q->answers) {
		q->nr_answers = size;
		q->answers = alloc_pages(q->nr_answers * sizeof(*q->answers));
	}
	return q->answers != NULL;
}

static void describe(const struct queue *q, uint64_t index, const union packet *packet,
		     struct thread *t, struct event_dispatch *d)
{
	const struct origin_note *n = origin_find(q, index);
	struct packet_head head;

	packet_keep_head(&head, packet);
	d->packet = index;
	d->queue = q->index;
	/* relaxed: origin_find() has acquired the note */
	d->correlation = n ? origin_id(q, t, index) : t->corr_current;
	d->marker = n ? atomic_load_explicit(&n->marker, memory_order_relaxed) : t->marker;
	d->tid = (uint32_t)(n ? atomic_load_explicit(&n->submitter, memory_order_relaxed) :
				t->submitter);
	d->kernel =
		code_object_kernel(collect_describe(d, &head), code_object_now(), q->agent, false);
}

static void ask_all(uint32_t bits, const struct client_dispatch *c, struct client_answers *a)
{
	for (uint32_t i = 0; i < CLIENT_MAX; i++) {
		const struct counter_client *client = bits & 1u << i ? client_at(i) : NULL;
		struct client_want *w = &a->wants[a->nr];

		if (!client)
			continue;
		w->user = 0;
		w->client = i;
		w->profile = client->ask(c, &w->user);
		if (!w->profile)
			continue;
		profile_get(w->profile);
		a->nr++;
	}
}

/* Whether RTL_PMC counts the dispatch. Numbers it: once for each one. */
static bool user_wants(const struct queue *q, uint64_t index, uint64_t object, struct thread *t)
{
	if (chosen_is_limited() && !chosen_dispatch(object, q->agent))
		return false;
	if (filter_has_kernels && code_object_is_not_counted(object))
		return false;
	return !t || !pause_is_on() || !corr_is_left_out(origin_of(q, index, t).correlation);
}

/* One that RTL_PMC counts, of a choice, is not counted. Without a choice it is a loss when it is
 * recorded: counter_saw_end(). */
static void lose_chosen(void)
{
	if (chosen_is_limited())
		bus_loss(SPOOL_REASON_not_counted, 1);
}

static void fail_answers(const struct queue *q, struct client_answers *a, const char *why)
{
	for (uint32_t i = 0; i < a->nr; i++) {
		struct client_result r = {
			.queue = q->index,
			.agent = q->agent,
			.packet = a->number - 1,
			.user = a->wants[i].user,
			.why = why,
		};

		client_give(a->wants[i].client, &r);
		if (a->wants[i].client == CLIENT_USER)
			lose_chosen();
	}
	client_drop(a);
}

struct asking {
	struct queue *q;
	struct thread *t; /* NULL: faces are not asked */
	uint64_t index, from;
	const char *why; /* it can't be counted */
	uint32_t bits;
	const struct client_dispatch *c;
	struct client_answers *a;
};

/* After the faces. */
static void end_asking(const struct asking *k)
{
	struct queue *q = k->q;

	if (k->bits & 1u << CLIENT_USER &&
	    user_wants(q, k->index, k->c->packet->kernel_object, k->t)) {
		if (k->why)
			lose_chosen();
		else
			k->a->wants[k->a->nr++] = (struct client_want){ .client = CLIENT_USER };
	}
	q->asked = k->index + 1;
	if (k->why) {
		fail_answers(q, k->a, k->why);
		k->a->number = 0;
		return;
	}
	count_waiting(1);
}

static void ask_faces(void *arg)
{
	const struct asking *k = arg;

	ask_all(k->bits, k->c, k->a);
}

/* A client did not return: it wants nothing of this dispatch, and those behind it are not asked. */
static void on_client_left(void *arg)
{
	const struct asking *k = arg;

	end_asking(k);
	interpose_leave(k->q, k->from);
}

/* Packets before `from` were instrumented. */
static void ask_for(struct queue *q, uint64_t index, const union packet *packet, struct thread *t,
		    const char *why, uint64_t from)
{
	uint32_t bits = atomic_load_explicit(&client_bits[q->agent], memory_order_relaxed);
	struct client_answers *a = answers_at(q, index);
	struct event_dispatch d = { 0 };
	const hsa_kernel_dispatch_packet_t copy = packet->dispatch;
	struct client_dispatch c = {
		.d = &d,
		.agent = q->agent,
		.agent_handle = agent_handle(q->agent),
		.hsa = atomic_load_explicit(&q->hsa, memory_order_relaxed),
		.packet = &copy,
	};
	struct asking k = { q, t, index, from, why, bits, &c, a };

	a->number = index + 1;
	a->queue_index = q->index;
	a->packet = copy;
	a->queue_type = c.hsa ? c.hsa->type : HSA_QUEUE_TYPE_MULTI;
	a->nr = 0;
	if (t && bits & ~(1u << CLIENT_USER | CLIENT_HOLD)) {
		describe(q, index, packet, t, &d);
		sys_cancel_off(); /* under the turn */
		life_callout(ask_faces, on_client_left, &k);
		sys_cancel_on();
	}
	end_asking(&k);
}

/* The end of the packets that clients were asked for; the harvester asks for those behind it. */
static uint64_t asked_end(const struct queue *q, uint64_t end)
{
	const union packet *p = queue_packet(q, q->asked);

	if (end <= q->asked)
		return end;
	if (packet_type(__atomic_load_n(&p->header, __ATOMIC_RELAXED)) != HSA_PACKET_TYPE_INVALID)
		life_kick();
	return q->asked;
}

uint64_t client_ask(struct queue *q, struct thread *t, uint64_t from, uint64_t end)
{
	bool refused = atomic_load_explicit(&q->granted, memory_order_relaxed) == UINT64_MAX;
	struct thread *entered = NULL;

	if (thread_self.must_not_ask_clients)
		return asked_end(q, end);
	if (from > q->asked)
		q->asked = q->asked_from = from;
	if (!q->answers || q->asked >= end)
		return end;
	if (!t && life_enter(&entered))
		t = entered;
	while (q->asked < end) {
		const union packet *p = queue_packet(q, q->asked);

		/* acquire: pairs with the release by which the program publishes a packet */
		if (packet_type(__atomic_load_n(&p->header, __ATOMIC_ACQUIRE)) ==
		    HSA_PACKET_TYPE_INVALID)
			break;
		if (packet_is_dispatch(p))
			ask_for(q, q->asked, p, t, refused ? q->not_counted : NULL, from);
		else
			q->asked++;
	}
	if (entered)
		life_leave(entered);
	/* those that wait are counted while the others hold */
	if (RTL_UNLIKELY(chosen_is_over()) && !client_nr_waiting())
		client_switch(CLIENT_USER, AGENT_NONE, false);
	return end;
}

bool client_is_waiting(const struct queue *q, uint64_t index)
{
	return index < q->asked && packet_is_dispatch(queue_packet(q, index)) &&
	       atomic_load_explicit(&q->granted, memory_order_relaxed) <= index;
}

/* Whether packets that may wait for another queue were not taken by the processor yet. */
static bool is_behind_barrier(struct queue *q)
{
	uint64_t taken = interpose_free_end(q, UINT64_MAX) - q->size;

	return taken < q->barrier_end;
}

bool client_holds(struct queue *q, struct thread *t, uint64_t index, uint64_t end)
{
	if (index >= q->asked && client_is_any(q->agent))
		client_ask(q, t, index, end);
	if (packet_may_wait(queue_packet(q, index)))
		q->barrier_end = index + 1;
	if (!client_is_waiting(q, index))
		return false;
	/* relaxed: see client_hold() */
	if (answers_at(q, index)->nr ||
	    atomic_load_explicit(&client_bits[q->agent], memory_order_relaxed) & CLIENT_HOLD ||
	    is_behind_barrier(q))
		return true;
	client_consume(q, index);
	return false;
}

void client_copy(const struct queue *q, uint64_t index, struct client_answers *to)
{
	*to = *answers_at(q, index);
	for (uint32_t i = 0; i < to->nr; i++)
		if (to->wants[i].profile)
			profile_get(to->wants[i].profile);
}

void client_drop(struct client_answers *a)
{
	for (uint32_t i = 0; i < a->nr; i++)
		if (a->wants[i].profile)
			profile_free(a->wants[i].profile);
	a->nr = 0;
}

void client_consume(struct queue *q, uint64_t index)
{
	struct client_answers *a = answers_at(q, index);

	client_drop(a);
	a->number = 0;
	count_waiting(UINT32_MAX);
}

void client_fail(struct queue *q, uint64_t from, uint64_t to, const char *why)
{
	for (uint64_t i = from; i < to; i++) {
		struct client_answers *a = answers_at(q, i);

		if (a->number != i + 1)
			continue;
		fail_answers(q, a, why);
		a->number = 0;
		count_waiting(UINT32_MAX);
	}
}

void client_give(uint32_t client, const struct client_result *r)
{
	if (client < CLIENT_MAX)
		client_at(client)->done(r);
}

uint32_t client_nr_waiting(void)
{
	return atomic_load_explicit(&nr_waiting, memory_order_relaxed);
}
