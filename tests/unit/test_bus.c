/* SPDX-License-Identifier: MIT */
/* test_bus.c - sinks get the kinds that they want, and late sinks the live objects */
#include "event/bus.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "event/special.h"
#include "support/test.h"

#define NR_SINKS 7
#define NR_THREADS 4
#define NR_ROUNDS 140
#define MAX_ID (NR_THREADS * NR_ROUNDS * 4 + 64)

enum { KIND_STRING, KIND_AGENT, KIND_QUEUE, KIND_CODE_OBJECT, KIND_KERNEL, KIND_OP, NR_KINDS };

/* What one sink received. Kept events come one at a time, dispatches at any time. */
struct received {
	_Atomic uint8_t known[NR_KINDS][MAX_ID];
	_Atomic uint8_t ended[NR_KINDS][MAX_ID];
	_Atomic int nr_dispatches, nr_copies, nr_infos;
};

static struct received received[NR_SINKS];

static void once(struct received *t, int kind, uint32_t id)
{
	CHECK_LT_UINT(id, MAX_ID);
	CHECK_EQ_UINT(atomic_fetch_add(&t->known[kind][id], 1), 0);
}

static void refers(const struct received *t, int kind, uint32_t id)
{
	CHECK_LT_UINT(id, MAX_ID);
	CHECK_MSG(atomic_load(&t->known[kind][id]) == 1, "kind %d, id %u: not received before",
		  kind, id);
}

static void take(struct received *t, const struct event *ev)
{
	/* lets other threads emit in between */
	if (EVENT_BIT(ev->kind) & EVENTS_KEPT)
		sched_yield();
	switch (ev->kind) {
	case EVENT_STRING:
		once(t, KIND_STRING, ev->string.id);
		break;
	case EVENT_INFO:
		atomic_fetch_add(&t->nr_infos, 1);
		break;
	case EVENT_AGENT:
		refers(t, KIND_STRING, ev->agent.name);
		once(t, KIND_AGENT, ev->agent.index);
		break;
	case EVENT_QUEUE:
		refers(t, KIND_AGENT, ev->queue.agent);
		once(t, KIND_QUEUE, ev->queue.index);
		break;
	case EVENT_CODE_OBJECT:
		refers(t, KIND_STRING, ev->code_object.uri);
		once(t, KIND_CODE_OBJECT, ev->code_object.id);
		break;
	case EVENT_KERNEL:
		refers(t, KIND_STRING, ev->kernel.name);
		refers(t, KIND_CODE_OBJECT, ev->kernel.code_object);
		once(t, KIND_KERNEL, ev->kernel.id);
		break;
	case EVENT_OP:
		refers(t, KIND_STRING, ev->op.name);
		once(t, KIND_OP, ev->op.op);
		break;
	case EVENT_QUEUE_END:
		refers(t, KIND_QUEUE, ev->end.id);
		CHECK_EQ_UINT(atomic_fetch_add(&t->ended[KIND_QUEUE][ev->end.id], 1), 0);
		break;
	case EVENT_CODE_OBJECT_END:
		refers(t, KIND_CODE_OBJECT, ev->end.id);
		CHECK_EQ_UINT(atomic_fetch_add(&t->ended[KIND_CODE_OBJECT][ev->end.id], 1), 0);
		break;
	case EVENT_DISPATCH:
		refers(t, KIND_QUEUE, ev->dispatch.queue);
		refers(t, KIND_KERNEL, ev->dispatch.kernel);
		atomic_fetch_add(&t->nr_dispatches, 1);
		break;
	case EVENT_COPY:
		atomic_fetch_add(&t->nr_copies, 1);
		break;
	default:
		FAIL("event of kind %d", (int)ev->kind);
	}
}

#define TAKE(n)                                                                                    \
	static void take_##n(const struct event *ev)                                               \
	{                                                                                          \
		take(&received[n], ev);                                                            \
	}
TAKE(0)
TAKE(1)
TAKE(2)
TAKE(3)
TAKE(4)
TAKE(5)
TAKE(6)

static const struct sink sinks[NR_SINKS] = {
	{ .name = "0", .event = take_0 }, { .name = "1", .event = take_1 },
	{ .name = "2", .event = take_2 }, { .name = "3", .event = take_3 },
	{ .name = "4", .event = take_4 }, { .name = "5", .event = take_5 },
	{ .name = "6", .event = take_6 },
};

static void emit_agent(void)
{
	struct event ev = { .kind = EVENT_AGENT };

	ev.agent.name = bus_string("gfx900", SIZE_MAX);
	bus_emit(&ev);
}

static void emit_queue(uint32_t id)
{
	struct event ev = { .kind = EVENT_QUEUE };

	ev.queue.index = id;
	bus_emit(&ev);
}

static void emit_code(uint32_t id)
{
	struct event ev = { .kind = EVENT_CODE_OBJECT };
	struct event kernel = { .kind = EVENT_KERNEL };
	char name[32];

	snprintf(name, sizeof(name), "uri%u", id);
	ev.code_object.id = id;
	ev.code_object.uri = bus_string(name, SIZE_MAX);
	bus_emit(&ev);
	snprintf(name, sizeof(name), "kernel%u", id / 2);
	kernel.kernel.id = id;
	kernel.kernel.code_object = id;
	kernel.kernel.name = bus_string(name, SIZE_MAX);
	bus_emit(&kernel);
}

static void emit_end(enum event_kind kind, uint32_t id)
{
	struct event ev = { .kind = kind };

	ev.end.id = id;
	bus_emit(&ev);
}

static void emit_dispatch(uint32_t id)
{
	struct event ev = { .kind = EVENT_DISPATCH };

	ev.dispatch.kernel = id;
	ev.dispatch.queue = id;
	bus_emit(&ev);
}

TEST(late_sink_gets_live_objects)
{
	struct event op = { .kind = EVENT_OP };
	struct event info = { .kind = EVENT_INFO };

	emit_agent();
	for (uint32_t id = 1; id <= 200; id++) {
		emit_queue(id);
		emit_code(id);
	}
	op.op.name = bus_string("hipMalloc", SIZE_MAX);
	op.op.op = 3;
	bus_emit(&op);
	bus_emit(&info);
	for (uint32_t id = 1; id <= 200; id += 2) {
		emit_end(EVENT_QUEUE_END, id);
		emit_end(EVENT_CODE_OBJECT_END, id + 1);
	}
	CHECK_OK(bus_attach(&sinks[0]));
	for (uint32_t id = 1; id <= 200; id++) {
		CHECK_EQ_UINT(received[0].known[KIND_QUEUE][id], id % 2 == 0);
		CHECK_EQ_UINT(received[0].known[KIND_CODE_OBJECT][id], id % 2);
		CHECK_EQ_UINT(received[0].known[KIND_KERNEL][id], id % 2);
	}
	CHECK_EQ_UINT(received[0].known[KIND_AGENT][0], 1);
	CHECK_EQ_UINT(received[0].known[KIND_OP][3], 1);
	CHECK_EQ_INT(received[0].nr_infos, 1);
}

TEST(missing_memory_still_sends_to_attached_sinks)
{
	struct event info = { .kind = EVENT_INFO };

	CHECK_OK(bus_attach(&sinks[0]));
	alloc_fail_at(1);
	bus_emit(&info);
	alloc_fail_at(0);
	CHECK_EQ_INT(received[0].nr_infos, 1);
	bus_emit(&info);
	CHECK_OK(bus_attach(&sinks[1]));
	CHECK_EQ_INT(received[1].nr_infos, 1);
}

TEST(sink_gets_the_kinds_that_it_wants)
{
	static const struct sink dispatches = { .name = "dispatches",
						.event = take_1,
						.wants = EVENT_BIT(EVENT_DISPATCH) | EVENTS_FACTS };
	static const struct sink copies = { .name = "copies",
					    .event = take_2,
					    .wants = EVENT_BIT(EVENT_COPY) };
	struct event copy = { .kind = EVENT_COPY };

	emit_agent();
	emit_queue(1);
	emit_code(1);
	CHECK(!bus_wants(EVENT_DISPATCH));
	CHECK_OK(bus_attach(&dispatches));
	CHECK(bus_wants(EVENT_DISPATCH));
	CHECK(!bus_wants(EVENT_COPY));
	emit_dispatch(1);
	bus_emit(&copy);
	CHECK_OK(bus_attach(&copies));
	CHECK(bus_wants(EVENT_COPY));
	CHECK(!bus_wants(EVENT_API));
	emit_queue(2);
	bus_emit(&copy);
	emit_dispatch(1);
	CHECK_EQ_INT(received[1].nr_dispatches, 2);
	CHECK_EQ_INT(received[1].nr_copies, 0);
	CHECK_EQ_INT(received[2].nr_copies, 1);
	CHECK_EQ_INT(received[2].nr_dispatches, 0);
	CHECK_EQ_UINT(received[1].known[KIND_QUEUE][2], 1);
	CHECK_EQ_UINT(received[2].known[KIND_QUEUE][2], 0);
	CHECK_EQ_UINT(received[2].known[KIND_STRING][1], 0);
	bus_detach(&dispatches);
	CHECK(!bus_wants(EVENT_DISPATCH));
	CHECK(bus_wants(EVENT_COPY));
}

TEST(second_sink_without_calls_keeps_lanes_of_first)
{
	static const struct sink copies = {
		.name = "copies", .event = take_1, .wants = EVENT_BIT(EVENT_COPY), .pauses = true
	};
	static const struct sink calls = { .name = "calls",
					   .event = take_2,
					   .wants = EVENTS_CALLS };

	CHECK_OK(bus_attach(&sinks[0]));
	CHECK_OK(bus_attach(&copies));
	CHECK(!special_any(SPECIAL_HEARD));
	CHECK_OK(bus_attach(&calls));
	CHECK(special_any(SPECIAL_HEARD));
}

TEST(sink_without_operations_does_not_disable_pauses)
{
	static const struct sink facts = { .name = "facts",
					   .event = take_1,
					   .wants = EVENTS_FACTS };

	CHECK_OK(bus_attach(&facts));
	CHECK(!bus_never_pauses());
	CHECK_OK(bus_attach(&sinks[0]));
	CHECK(bus_never_pauses());
}

static _Atomic uint32_t last_id;
static _Atomic uint8_t exists[MAX_ID];
static _Atomic int nr_attached;

/* Makes a queue and code, dispatches, and ends all but every third. */
static void *churn(void *arg)
{
	for (int i = 0; i < NR_ROUNDS; i++) {
		uint32_t id = atomic_fetch_add(&last_id, 1) + 1;

		/* continues until the last sink is attached */
		while (atomic_load(&nr_attached) < i * NR_SINKS / NR_ROUNDS)
			sched_yield();
		emit_queue(id);
		emit_code(id);
		emit_dispatch(id);
		if (i % 3 == 0) {
			atomic_store(&exists[id], 1);
			continue;
		}
		emit_end(EVENT_CODE_OBJECT_END, id);
		emit_end(EVENT_QUEUE_END, id);
	}
	return arg;
}

/* Uses objects that live all the time. */
static void *dispatch(void *arg)
{
	for (; atomic_load(&nr_attached) < NR_SINKS; sched_yield())
		emit_dispatch(1);
	return arg;
}

TEST(sinks_attached_during_changes_get_each_object_once_in_order)
{
	pthread_t threads[NR_THREADS + 1];

	emit_agent();
	emit_queue(1);
	emit_code(1);
	atomic_store(&exists[1], 1);
	atomic_store(&last_id, 1);
	CHECK_OK(pthread_create(&threads[NR_THREADS], NULL, dispatch, NULL));
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, churn, NULL));
	for (uint32_t n = 0; n < NR_SINKS; n++) {
		while (atomic_load(&last_id) < n * NR_THREADS * NR_ROUNDS / NR_SINKS)
			sched_yield();
		CHECK_OK(bus_attach(&sinks[n]));
		atomic_fetch_add(&nr_attached, 1);
	}
	for (int i = 0; i <= NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int n = 0; n < NR_SINKS; n++) {
		for (uint32_t id = 1; id <= atomic_load(&last_id); id++) {
			CHECK_EQ_UINT(received[n].known[KIND_QUEUE][id] -
					      received[n].ended[KIND_QUEUE][id],
				      exists[id]);
			CHECK_EQ_UINT(received[n].known[KIND_CODE_OBJECT][id] -
					      received[n].ended[KIND_CODE_OBJECT][id],
				      exists[id]);
			CHECK_GE_UINT(received[n].known[KIND_KERNEL][id], exists[id]);
		}
	}
}
