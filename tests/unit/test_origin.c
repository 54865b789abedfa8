/* SPDX-License-Identifier: MIT */
/* test_origin.c - a packet's origin is the thread that reserved it, for every thread that rings the
 * doorbell */
#include <pthread.h>
#include <unistd.h>

#include "base/alloc.h"
#include "event/corr.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

struct other {
	struct fake_queue *q;
	void (*run)(struct other *o);
	uint32_t tid;
	uint64_t correlation, marker;
};

static void *thread(void *arg)
{
	struct other *o = arg;
	struct thread *t = thread_get();

	o->tid = t->tid;
	t->corr_current = o->correlation;
	t->marker = o->marker;
	o->run(o);
	return NULL;
}

static void elsewhere(struct other *o)
{
	pthread_t id;

	CHECK_OK(pthread_create(&id, NULL, thread, o));
	CHECK_OK(pthread_join(id, NULL));
}

/* Checks the origin of recorded dispatch `n`. */
static void check(uint32_t n, uint32_t tid, uint64_t correlation, uint64_t marker)
{
	const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, n)->dispatch;

	CHECK_EQ_UINT(d->packet, n);
	CHECK_EQ_UINT(d->tid, tid);
	CHECK_EQ_UINT(d->correlation, correlation);
	CHECK_EQ_UINT(d->marker, marker);
}

/* Submits packets [0, n), reserved before, with ids from `first` on: with one doorbell, or one
 * callback each. */
static void submit(struct fake_queue *q, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		union fake_packet p = fake_dispatch(first + i, (hsa_signal_t){ 0 });

		if (q->kind == FAKE_INTERCEPTED)
			fake_submit(q, &p, 1);
		else
			fake_publish(q, i, &p);
	}
	if (q->kind == FAKE_PLAIN)
		fake_ring(q, n - 1);
}

static void reserve_two(struct other *o)
{
	CHECK_EQ_UINT(fake_reserve(o->q, 2), 1);
}

static void ring_elsewhere(void)
{
	struct other o = { .run = reserve_two, .correlation = 4711, .marker = 12 };
	struct thread *t = thread_get();

	o.q = fake_queue_create(256);
	t->corr_current = 42;
	CHECK_EQ_UINT(fake_reserve(o.q, 1), 0);
	elsewhere(&o);
	t->corr_current = 43;
	CHECK_EQ_UINT(fake_reserve(o.q, 1), 3);
	t->corr_current = 0;
	submit(o.q, 1, 4);
	fake_run_all(o.q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 4);
	check(0, t->tid, 42, 0);
	check(1, o.tid, 4711, 12);
	check(2, o.tid, 4711, 12);
	check(3, t->tid, 43, 0);
}

TEST(doorbell_of_other_thread_keeps_origin)
{
	fake_open(NULL, 0);
	ring_elsewhere();
}

TEST(callback_on_other_thread_keeps_origin)
{
	fake_open_intercept(NULL, 0);
	ring_elsewhere();
}

static void reserve_by_cas(struct other *o)
{
	CHECK_EQ_UINT(fake_reserve_cas(o->q, 0, 1), 0);
	CHECK_EQ_UINT(fake_reserve_cas(o->q, 0, 7), 1); /* fails: reserves nothing */
}

static void reserve_by_store(struct other *o)
{
	fake_reserve_store(o->q, 3);
}

static void reserve_by_all_ways(void)
{
	struct other a = { .run = reserve_by_cas, .correlation = 100, .marker = 1 };
	struct other b = { .run = reserve_by_store, .correlation = 200, .marker = 2 };

	a.q = b.q = fake_queue_create(256);
	elsewhere(&a);
	elsewhere(&b);
	submit(a.q, 1, 3);
	fake_run_all(a.q);
	check(0, a.tid, 100, 1);
	check(1, b.tid, 200, 2);
	check(2, b.tid, 200, 2);
}

TEST(every_reserving_function_notes_origin)
{
	fake_open(NULL, 0);
	reserve_by_all_ways();
}

TEST(every_reserving_function_notes_origin_on_intercept_queue)
{
	fake_open_intercept(NULL, 0);
	reserve_by_all_ways();
}

TEST(unreserved_packet_uses_doorbell_thread)
{
	struct fake_queue *q;
	struct thread *t = thread_get();

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(256);
	t->corr_current = 5;
	submit(q, 1, 1);
	t->corr_current = 0;
	fake_run_all(q);
	check(0, t->tid, 5, 0);
}

static void reserve_ring(struct other *o)
{
	CHECK_EQ_UINT(fake_reserve(o->q, 64), 0);
}

TEST(new_queue_does_not_inherit_notes)
{
	struct other o = { .run = reserve_ring, .correlation = 77 };
	struct thread *t = thread_get();
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	o.q = fake_queue_create(64);
	elsewhere(&o);
	fake_queue_destroy(o.q);
	q = fake_queue_create(64);
	t->corr_current = 9;
	submit(q, 1, 1);
	t->corr_current = 0;
	fake_run_all(q);
	check(0, t->tid, 9, 0);
}

static void reserve_one(struct other *o)
{
	fake_reserve(o->q, 1);
}

/* Threads that wait for a free slot have reserved it already. */
TEST(reservations_of_next_round_keep_notes_of_this_round)
{
	struct other o = { .run = reserve_ring, .correlation = 77 };
	struct thread *t = thread_get();

	fake_open(NULL, 0);
	o.q = fake_queue_create(64);
	elsewhere(&o);
	o.run = reserve_one;
	o.correlation = 78;
	for (uint32_t i = 0; i < 16; i++)
		elsewhere(&o);
	t->corr_current = 9;
	submit(o.q, 1, 16);
	t->corr_current = 0;
	fake_run_all(o.q);
	for (uint32_t i = 0; i < 16; i++)
		CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, i)->dispatch.correlation, 77);
}

/* Without memory for notes, the origin is the doorbell's thread. */
TEST(missing_memory_for_notes_is_counted)
{
	fake_open(NULL, 0);
	alloc_fail_at(3); /* after the queue's own and its in-flight ring's */
	fake_queue_create(64);
	alloc_fail_at(0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
	CHECK_EQ_UINT(queue_at(0)->turn, QUEUE_DEAD);
}

TEST(packet_outside_of_calls_has_its_own_id)
{
	struct fake_queue *q;
	const struct event_dispatch *d;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	CHECK_EQ_UINT(fake_reserve(q, 2), 0);
	submit(q, 1, 2);
	fake_run_all(q);
	d = &sink_record_at(EVENT_DISPATCH, 0)->dispatch;
	CHECK_NE_UINT(d->correlation, 0);
	CHECK_NE_UINT(d->correlation, sink_record_at(EVENT_DISPATCH, 1)->dispatch.correlation);
}

TEST(queue_made_by_unknown_function_is_counted_once)
{
	struct fake_queue seen_by_nobody = {
		.hsa = { .id = 7, .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH }
	};
	struct fake_queue of_the_host = { .hsa = { .id = 8,
						   .features = HSA_QUEUE_FEATURE_AGENT_DISPATCH } };
	struct fake_queue *ours;

	fake_open(NULL, 0);
	ours = fake_queue_create(64);
	for (unsigned i = 0; i < 3; i++) {
		fake_reserve(ours, 1);
		fake_reserve(&seen_by_nobody, 1);
		fake_reserve(&of_the_host, 2);
	}
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), 1);
	/* another queue at the same address */
	fake_queue_destroy(&seen_by_nobody);
	fake_reserve_store(&seen_by_nobody, 9);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), 2);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 0);
}

TEST(each_queue_made_by_unknown_function_is_counted)
{
	/* enough for some of their addresses to share a window, too few to fill one */
	static struct fake_queue q[64];

	fake_open(NULL, 0);
	for (unsigned i = 0; i < 64; i++) {
		q[i] = (struct fake_queue){
			.hsa = { .id = i, .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH }
		};
		fake_reserve(&q[i], 1);
	}
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), 64);
	for (unsigned i = 0; i < 64; i += 2)
		fake_queue_destroy(&q[i]);
	for (unsigned i = 1; i < 64; i += 2)
		fake_reserve(&q[i], 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), 64);
}

TEST(untraced_queue_is_counted_under_one_reason)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
	fake.soft = true;
	q = fake_queue_create(64);
	fake_reserve(q, 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), 0);
}
