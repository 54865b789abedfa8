/* SPDX-License-Identifier: MIT */
/* test_back_pressure.c - the ring behind an intercept queue never overflows, and no thread waits
 * for ever */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/queue/queue_calls.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static const hsa_signal_t none;

TEST(slow_gpu_does_not_overflow_the_ring)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 7 };

	fake_open_intercept(NULL, 0);
	g.q = fake_queue_create(64);
	fake_gpu_start(&g);
	for (uint32_t id = 1; id <= 5000; id++) {
		fake_submit_dispatch(g.q, id);
		if (id % 512 == 0)
			fake_tick(25);
	}
	fake_gpu_stop(&g);
	fake_harvest();
	fake_check_dispatches(1, 5000, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* The harvester does not run: the callback must harvest. */
TEST(full_inflight_ring_is_harvested_by_the_callback)
{
	struct fake_gpu g = { .stretch = 64 };

	fake_open_intercept(NULL, 0);
	g.q = fake_queue_create(256);
	fake_gpu_start(&g);
	for (uint32_t id = 1; id <= 20000; id++)
		fake_submit_dispatch(g.q, id);
	fake_gpu_stop(&g);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 20000);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static void flood_with(union fake_packet p, uint64_t n)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 7 };

	fake_open_intercept(NULL, 0);
	g.q = fake_queue_create(64);
	fake_gpu_start(&g);
	for (uint64_t i = 0; i < n; i++)
		fake_submit(g.q, &p, 1);
	fake_gpu_stop(&g);
	CHECK_GE_UINT(g.nr_run, n);
}

TEST(barriers_alone_do_not_overflow_the_ring)
{
	flood_with(fake_barrier(none, none), 3000);
}

TEST(vendor_packets_alone_do_not_overflow_the_ring)
{
	union fake_packet p = fake_barrier(none, none);

	p.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
	flood_with(p, 3000);
}

TEST(barriers_with_owners_signals_do_not_overflow_the_ring)
{
	flood_with(fake_barrier(none, fake_signal(1 << 20)), 3000);
}

TEST(dispatches_left_out_by_lite_mode_do_not_overflow_the_ring)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 7 };
	hsa_signal_t s = fake_signal(1 << 20);

	fake_open_intercept("lite", 0);
	g.q = fake_queue_create(64);
	fake_gpu_start(&g);
	for (uint32_t i = 1; i <= 2000; i++) {
		union fake_packet p = fake_dispatch(i, s);

		fake_submit(g.q, &p, 1);
	}
	fake_gpu_stop(&g);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_lite_signal), 2000);
	CHECK_EQ_INT(fake_signal_get(s), (1 << 20) - 2000);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
}

TEST(dispatches_left_out_while_paused_do_not_overflow_the_ring)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 7 };

	sink_record.pauses = true;
	fake_open_intercept(NULL, 0);
	pause_set(true);
	g.q = fake_queue_create(64);
	fake_gpu_start(&g);
	for (uint32_t i = 1; i <= 2000; i++)
		fake_submit_dispatch(g.q, i);
	fake_gpu_stop(&g);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 2000);
	CHECK_EQ_UINT(sink_record_losses(), 2000);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
}

TEST(failed_signal_creation_does_not_overflow_the_ring)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 7 };

	fake_open_intercept(NULL, 0);
	g.q = fake_queue_create(64);
	atomic_store(&fake.no_signal_after, atomic_load(&fake.nr_signals_made));
	fake_gpu_start(&g);
	for (uint32_t i = 1; i <= 1000; i++)
		fake_submit_dispatch(g.q, i);
	fake_gpu_stop(&g);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH) +
			      sink_record_loss(SPOOL_REASON_signal_create),
		      1000);
	CHECK_GT_UINT(sink_record_loss(SPOOL_REASON_signal_create), 0);
}

TEST(mix_of_all_packets_does_not_overflow_the_ring)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 5 };
	hsa_signal_t one[64], counting = fake_signal(1 << 20);
	unsigned seed = 1, nr_dispatches = 0;

	for (int i = 0; i < 64; i++)
		one[i] = fake_signal(1);
	fake_open_intercept(NULL, 0);
	g.q = fake_queue_create(64);
	fake_gpu_start(&g);
	for (unsigned i = 1; i <= 6000; i++) {
		hsa_signal_t *s = &one[i % 64];
		union fake_packet p;

		switch (rand_r(&seed) % 5) {
		case 0:
			p = fake_barrier(none, none);
			break;
		case 1:
			p = fake_dispatch(++nr_dispatches, counting);
			break;
		case 2:
			while (fake_signal_get(*s) > 0 && i > 64 &&
			       signal_of(*s)->reserved3[0] == 1)
				usleep(20);
			signal_of(*s)->reserved3[0] = 1; /* used before */
			fake_signal_set(*s, 1);
			p = fake_dispatch(++nr_dispatches, *s);
			break;
		case 3:
			p = fake_barrier(none, counting);
			break;
		default:
			p = fake_dispatch(++nr_dispatches, none);
		}
		fake_submit(g.q, &p, 1);
		if (i % 100 == 0)
			fake_tick(1);
	}
	fake_gpu_stop(&g);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), nr_dispatches);
	fake_check_dispatches(1, nr_dispatches, 0, REC_F_NO_TIME | REC_F_UNFINISHED);
}

/* Dispatches that fit into a ring of 64 while none of them completes. */
#define NR_BEFORE_WAIT (64 - 3 - (2 * PACKET_PLAN_SLOTS + 2) + 1)

static void *submit_past_the_end(void *arg)
{
	for (uint32_t id = 1; id <= 200; id++)
		fake_submit_dispatch(arg, id);
	return NULL;
}

static void release(struct fake_queue *q, void (*fail)(struct fake_queue *q))
{
	pthread_t thread;

	CHECK_OK(pthread_create(&thread, NULL, submit_past_the_end, q));
	/* 3 slots are kept free, and space for all packets that may be added to one */
	while (fake_in_ring(q) < NR_BEFORE_WAIT)
		usleep(100);
	usleep(2000);
	fail(q);
	pthread_join(thread, NULL);
	CHECK_EQ_UINT(fake_in_ring(q), NR_BEFORE_WAIT);
}

static void release_waiter(void (*fail)(struct fake_queue *q))
{
	fake_open_intercept(NULL, 0);
	release(fake_queue_create(64), fail);
}

static void by_inactivation(struct fake_queue *q)
{
	CHECK_EQ_INT(queue_calls_inactivate(&q->hsa), HSA_STATUS_SUCCESS);
}

TEST(inactivated_queue_releases_waiting_thread)
{
	release_waiter(by_inactivation);
}

static void ignore_error(hsa_status_t status, hsa_queue_t *q, void *data)
{
	(void)status;
	(void)q;
	(void)data;
}

static void by_error(struct fake_queue *q)
{
	atomic_store(&q->dead, true);
	q->error(HSA_STATUS_ERROR_EXCEPTION, &q->hsa, q->error_data);
}

TEST(failed_queue_releases_waiting_thread)
{
	hsa_queue_t *queue;

	fake_open_intercept(NULL, 0);
	CHECK_EQ_INT(queue_calls_create(fake_agent(1), 64, HSA_QUEUE_TYPE_MULTI, ignore_error, NULL,
					0, 0, &queue),
		     HSA_STATUS_SUCCESS);
	release((struct fake_queue *)(void *)queue, by_error);
}

static void by_destruction(struct fake_queue *q)
{
	atomic_store(&q->dead, true);
	fake_queue_destroy(q);
}

TEST(destroyed_queue_releases_waiting_thread)
{
	release_waiter(by_destruction);
}

/* ---- the end of the process ----------------------------------------------------------------- */

static void run_late(struct fake_queue *q)
{
	struct fake_gpu g = { .q = q, .pause_us = 100, .stretch = 5 };
	union fake_packet p = fake_barrier(none, none);

	fake_gpu_start(&g);
	for (int i = 0; i < 300; i++)
		fake_submit(q, &p, 1);
	fake_gpu_stop(&g);
}

TEST(packets_after_the_end_neither_overflow_nor_block)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	for (uint32_t id = 1; id <= NR_BEFORE_WAIT; id++)
		fake_submit_dispatch(q, id);
	/* The deadline has passed: all entries are given up while the GPU still executes them. */
	harvest_source.stop(clock_now_ns());
	life_set_state(LIFE_STOPPED);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), NR_BEFORE_WAIT);
	run_late(q);
}
