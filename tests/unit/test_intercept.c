/* SPDX-License-Identifier: MIT */
/* test_intercept.c - the packet callback of intercept queues (RTL_QUEUES=intercept) */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "event/join.h"
#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/queue/back_pressure.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

#define MAX_BATCH 4096u

static const hsa_signal_t none;
static union fake_packet packets[2 * MAX_BATCH];

TEST(dispatch_is_recorded_with_its_times_and_shape)
{
	struct fake_queue *q;
	const struct event_dispatch *d;
	const struct event_queue *eq;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(256);
	eq = &sink_record_at(EVENT_QUEUE, 0)->queue;
	CHECK_EQ_UINT(eq->handle, (uint64_t)(uintptr_t)&q->hsa);
	CHECK_EQ_UINT(eq->size, 256);
	CHECK_EQ_UINT(eq->agent, 1);
	CHECK_EQ_UINT(eq->flags, 0);
	fake_submit_dispatch(q, 7);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	fake_run_all(q);
	fake_check_dispatches(7, 1, 0, 0xffff);
	d = &sink_record_at(EVENT_DISPATCH, 0)->dispatch;
	CHECK_EQ_UINT(d->queue, eq->index);
	CHECK_EQ_UINT(d->packet, 0);
	CHECK_EQ_UINT(d->grid[1], 2);
	CHECK_EQ_UINT(d->grid[2], 3);
	CHECK_EQ_UINT(d->group[0], 64);
	CHECK_EQ_UINT(d->group[1], 4);
	CHECK_EQ_UINT(d->group[2], 5);
	CHECK_EQ_UINT(d->private_size, 16);
	CHECK_EQ_UINT(d->group_size, 32);
	CHECK_EQ_UINT(d->tid, (uint32_t)gettid());
	CHECK_NE_UINT(d->correlation, 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
}

TEST(submitted_packet_differs_in_its_signal_only)
{
	struct fake_queue *q;
	union fake_packet p, *got;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(256);
	p = fake_dispatch(1, none);
	fake_submit(q, &p, 1);
	got = fake_hw(q, 0);
	CHECK_NE_UINT(got->dispatch.completion_signal.handle, 0);
	p.dispatch.completion_signal = got->dispatch.completion_signal;
	CHECK_MEM_EQ(got, &p, sizeof(p));
}

TEST(harvester_is_woken_before_packets_are_written)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(256);
	fake.wake_first = true;
	for (uint32_t n = 1; n < 4; n++) {
		for (uint32_t i = 0; i < n; i++)
			packets[i] = fake_dispatch(i, none);
		atomic_store(&life_sleeping, LIFE_DEEP);
		fake_submit(q, packets, n);
		CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_AWAKE);
	}
}

static uint64_t correlation_of(struct fake_queue *q, uint32_t id, uint64_t carried)
{
	union fake_packet p = fake_dispatch(id, fake_signal(1));

	p.dispatch.reserved2 = carried;
	fake_submit(q, &p, 1);
	fake_run_all(q);
	for (uint64_t i = 0; i < sink_record_count(EVENT_DISPATCH); i++)
		if (sink_record_at(EVENT_DISPATCH, i)->dispatch.grid[0] == id)
			return sink_record_at(EVENT_DISPATCH, i)->dispatch.correlation;
	return 0;
}

TEST(packet_of_hip_thread_gets_id_of_its_call)
{
	const uint64_t call = UINT64_C(1) << 40; /* never librtl's own id of a packet */
	const struct event_dispatch *d;
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(256);
	/* without a listener the packet's field is the program's own */
	CHECK_NE_UINT(correlation_of(q, 1, call), call);
	CHECK(join_turn_on());
	join_begins(&(struct join_call){ call, 8, 9 });
	CHECK_EQ_UINT(correlation_of(q, 2, call), call);
	d = &sink_record_at(EVENT_DISPATCH, 1)->dispatch;
	CHECK_EQ_UINT(d->marker, 8);
	CHECK_EQ_UINT(d->tid, 9);
	/* an id of an unknown call; no id */
	CHECK_LT_UINT(correlation_of(q, 3, call + 1), call);
	CHECK_LT_UINT(correlation_of(q, 4, 0), call);
	/* within a call the packet gets that call's id, not its own field */
	thread_get()->corr_current = 4711;
	CHECK_EQ_UINT(correlation_of(q, 5, call), 4711);
	thread_get()->corr_current = 0;
	join_finish();
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_api_missed), 2);
}

TEST(owners_signal_stays_on_its_packet)
{
	struct fake_queue *q;
	hsa_signal_t s;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(256);
	s = fake_signal(1);
	p = fake_dispatch(5, s);
	fake_submit(q, &p, 1);
	CHECK_EQ_UINT(fake_in_ring(q), 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	fake_check_dispatches(5, 1, REC_F_HAD_SIGNAL, REC_F_SHARED | REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* One callback for each batch size up to the ring's, with the ring filled to different levels. */
static void drive_batches(const char *mode, uint32_t ring, uint64_t *nr_dispatches)
{
	uint32_t id = 1, singles = 0;
	struct fake_queue *q;

	fake_open_intercept(mode, 71);
	fake.staging = true;
	q = fake_queue_create(ring);
	for (uint32_t n = 1; n <= ring; n += n < 70 ? 1 : 53) {
		uint64_t before = q->nr_callbacks;

		for (uint32_t i = 0; i < n; i++)
			packets[i] = fake_dispatch(id++, none);
		fake_submit(q, packets, n);
		CHECK_EQ_UINT(q->nr_callbacks, before + 1);
		CHECK_EQ_UINT(fake_in_ring(q), n);
		for (uint32_t i = 0; i < n; i++)
			CHECK_EQ_UINT(fake_hw(q, atomic_load(q->read) + i)->dispatch.grid_size_x,
				      packets[i].dispatch.grid_size_x);
		singles += n == 1;
		fake_run_all(q);
	}
	for (uint32_t i = 0; i < ring; i++) /* the whole ring, once more */
		packets[i] = fake_dispatch(id++, none);
	fake_submit(q, packets, ring);
	fake_run_all(q);
	*nr_dispatches = id - 1;
	CHECK_EQ_UINT(singles, 1);
}

static void check_batches(const char *mode)
{
	uint64_t n;

	drive_batches(mode, 1024, &n);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), n);
	fake_check_dispatches(1, (uint32_t)n, 0, REC_F_NO_TIME | REC_F_UNFINISHED);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	for (uint64_t i = 0; i < n; i += 97)
		CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, i)->dispatch.packet,
			      sink_record_at(EVENT_DISPATCH, i)->dispatch.grid[0] - 1);
}

TEST(standard_mode_records_every_dispatch_of_every_batch)
{
	check_batches("standard");
}

TEST(lite_mode_records_every_dispatch_of_every_batch)
{
	check_batches("lite");
}

TEST(full_mode_records_every_dispatch_of_every_batch)
{
	check_batches("full");
}

/* Its packets can't be instrumented without memory: they pass unchanged, and are counted. */
TEST(batch_without_memory_is_passed_through_and_counted)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 71);
	fake.staging = true;
	q = fake_queue_create(64);
	packets[0] = fake_dispatch(1, none);
	packets[1] = fake_dispatch(2, none);
	alloc_fail_at(1);
	fake_submit(q, packets, 2);
	alloc_fail_at(0);
	CHECK_MEM_EQ(fake_hw(q, 0), packets, 2 * sizeof(packets[0]));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 2);
	fake_submit(q, packets, 2);
	fake_run_all(q);
	fake_check_dispatches(1, 2, 0, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_losses(), 2);
}

TEST(batch_keeps_its_barriers_and_signals)
{
	struct fake_queue *q;
	hsa_signal_t s, counting;

	fake_open_intercept(NULL, 71);
	fake.staging = true;
	q = fake_queue_create(64);
	s = fake_signal(1);
	counting = fake_signal(2);
	packets[0] = fake_dispatch(1, none);
	packets[1] = fake_barrier(none, none);
	packets[2] = fake_dispatch(2, s);
	packets[3] = fake_dispatch(3, counting);
	packets[4] = fake_barrier(s, none);
	packets[5] = fake_dispatch(4, counting);
	fake_submit(q, packets, 6);
	CHECK_EQ_UINT(fake_in_ring(q), 8); /* a barrier packet follows each of the two that share a
					    * signal */
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	CHECK_EQ_INT(fake_signal_get(counting), 0);
	fake_check_dispatches(1, 4, 0, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_shared_signal), 2);
}

/* A queue's memory is reused for a queue with larger batches. */
TEST(larger_batch_fits_in_reused_queue_memory)
{
	struct fake_queue *q;
	hsa_signal_t counting;

	fake_open_intercept(NULL, 71);
	fake.staging = true;
	q = fake_queue_create(64);
	fake_queue_destroy(q);
	q = fake_queue_create(512);
	counting = fake_signal(512);
	for (uint32_t i = 0; i < 512; i++)
		packets[i] = fake_dispatch(i, counting);
	fake_submit(q, packets, 512);
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(counting), 0);
	fake_check_dispatches(0, 512, REC_F_SHARED, REC_F_NO_TIME);
}

/* Packets of a batch that report no progress must not block a thread for ever. */
TEST(batches_of_barriers_do_not_block_the_queue)
{
	struct fake_queue *q;
	uint32_t id = 1;

	fake_open_intercept("standard", 71);
	fake.staging = true;
	q = fake_queue_create(64);
	for (int round = 0; round < 100; round++) {
		for (uint32_t i = 0; i < 60; i++)
			packets[i] = fake_barrier(none, none);
		fake_submit(q, packets, 60);
		fake_submit_dispatch(q, id++);
		fake_run_all(q);
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 100);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(consecutive_batches_of_a_whole_ring_are_recorded)
{
	struct fake_queue *q;
	uint32_t id = 1;

	fake_open_intercept(NULL, 71);
	fake.staging = true;
	q = fake_queue_create(64);
	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < 64; i++)
			packets[i] = fake_dispatch(id++, none);
		fake_submit(q, packets, 64);
		fake_run_all(q);
	}
	fake_check_dispatches(1, 64 * 50, 0, REC_F_NO_TIME);
}

/* Callbacks with 1 to a whole ring's packets, each beginning where the previous one ended: most of
 * them cross the end of the ring. */
TEST(batches_across_the_end_of_the_ring_are_recorded)
{
	static const uint32_t sizes[] = { 1,   2,   3,	  64,	255,  256,  257,
					  511, 700, 1000, 2047, 3500, 4095, 4096 };
	struct fake_queue *q;
	uint32_t id = 1;

	fake_open_intercept(NULL, 71);
	fake.staging = true;
	q = fake_queue_create(4096);
	for (int round = 0; round < 5; round++) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			uint32_t n = sizes[k];
			uint64_t at = atomic_load(q->write);

			for (uint32_t i = 0; i < n; i++)
				packets[i] = i % 7 == 3 ? fake_barrier(none, none) :
							  fake_dispatch(id++, none);
			fake_submit(q, packets, n);
			CHECK_EQ_UINT(fake_in_ring(q), n);
			for (uint32_t i = 0; i < n; i++) {
				union fake_packet *got = fake_hw(q, at + i);

				CHECK_EQ_UINT(got->header, packets[i].header);
				if (i % 7 != 3)
					CHECK_EQ_UINT(got->dispatch.grid_size_x,
						      packets[i].dispatch.grid_size_x);
			}
			fake_run_all(q);
		}
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), id - 1);
	fake_check_dispatches(1, id - 1, 0, REC_F_NO_TIME | REC_F_UNFINISHED);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* A runtime that passes the same index again, or skips some. */
TEST(repeated_or_skipped_index_loses_no_dispatch)
{
	struct fake_queue *q;
	uint32_t id = 1;

	fake_open_intercept(NULL, 71);
	fake.staging = true;
	q = fake_queue_create(64);
	for (int round = 0; round < 60; round++) {
		uint32_t n = 1 + (uint32_t)round % 33;

		for (uint32_t i = 0; i < n; i++)
			packets[i] = fake_dispatch(id++, none);
		if (round % 3 == 1)
			q->user_index -= q->user_index < n ? q->user_index : n;
		if (round % 5 == 2)
			q->user_index += 1000;
		fake_submit(q, packets, n);
		fake_run_all(q);
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), id - 1);
	fake_check_dispatches(1, id - 1, 0, REC_F_NO_TIME | REC_F_UNFINISHED);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* ---- losses are counted ---------------------------------------------------------------------- */

static void check_interposed(struct fake_queue *q)
{
	CHECK_EQ_INT(q->kind, FAKE_PLAIN);
	CHECK_EQ_UINT(sink_record_at(EVENT_QUEUE, 0)->queue.flags, 0);
	CHECK_EQ_UINT(sink_record_at(EVENT_QUEUE, 0)->queue.handle, (uint64_t)(uintptr_t)&q->hsa);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1);
	fake_submit_dispatch(q, 1);
	fake_run_all(q);
	fake_check_dispatches(1, 1, 0, 0xffff);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
}

TEST(queue_refused_by_intercept_create_is_interposed)
{
	fake_open_intercept(NULL, 0);
	fake.refuse_intercept = true;
	check_interposed(fake_queue_create(64));
}

TEST(queue_refusing_a_callback_is_interposed)
{
	fake_open_intercept(NULL, 0);
	fake.refuse_register = true;
	check_interposed(fake_queue_create(64));
}

TEST(queue_without_progress_signal_is_interposed)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	atomic_store(&fake.no_signal_after, INFLIGHT_FIRST);
	q = fake_queue_create(64);
	atomic_store(&fake.no_signal_after, 0);
	check_interposed(q);
}

TEST(queue_of_invalid_size_fails_as_untraced)
{
	hsa_queue_t *queue = NULL;

	fake_open_intercept(NULL, 0);
	CHECK_EQ_INT(queue_calls_create(fake_agent(1), 65, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0,
					&queue),
		     HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_NULL(queue);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 0);
}

TEST(queue_without_memory_is_not_traced)
{
	fake_open_intercept(NULL, 0);
	for (uint64_t i = 1; i <= 3; i++) { /* for the queue, its in-flight ring, its notes */
		alloc_fail_at(i < 3 ? i : 2);
		fake_queue_create(64);
		alloc_fail_at(0);
		CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), i);
	}
	/* for objects that only an intercept queue needs */
	alloc_fail_at(2);
	CHECK_EQ_INT(fake_queue_create(64)->kind, FAKE_PLAIN);
	alloc_fail_at(0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 3);
	CHECK_EQ_INT(fake_queue_create(64)->kind, FAKE_INTERCEPTED);
	CHECK_EQ_UINT(sink_record_losses(), 3);
}

TEST(inflight_ring_that_stays_full_is_counted)
{
	uint64_t before_ns;
	hsa_signal_t s;
	struct fake_queue *q;
	union fake_packet p;
	uint32_t id;

	fake_open_intercept(NULL, 0);
	fake.staging = true;
	q = fake_queue_create(64);
	/* Removed from the ring, but not completed: gates report progress, dispatches don't end. */
	for (id = 1; id <= 2 * 1024 - 64; id++) {
		p = fake_dispatch(id, none);
		queue_at(0)->pressure->consumed = queue_at(0)->pressure->written;
		fake_submit(q, &p, 1);
		fake_gpu_launch(q, 1);
	}
	CHECK_EQ_UINT(sink_record_losses(), 0);
	s = fake_signal(1);
	p = fake_dispatch(id, s);
	queue_at(0)->pressure->consumed = queue_at(0)->pressure->written;
	fake_submit(q, &p, 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	CHECK_EQ_UINT(fake_hw(q, 2 * 1024 - 64)->dispatch.completion_signal.handle, s.handle);
	/* the wait happens once, not for each dispatch */
	before_ns = test_now_ns();
	for (int i = 0; i < 100; i++) {
		queue_at(0)->pressure->consumed = queue_at(0)->pressure->written;
		fake_submit_dispatch(q, 5000);
		fake_gpu_launch(q, 1);
	}
	CHECK_LT_UINT(test_now_ns() - before_ns, 2000000000);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 101);
	/* recording continues when the oldest of the last ring has completed */
	fake_gpu_complete(q, 1024 - 64);
	queue_at(0)->pressure->consumed = queue_at(0)->pressure->written;
	fake_submit_dispatch(q, 5001);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 101);
}

TEST(failed_signal_creation_is_counted)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(128);
	atomic_store(&fake.no_signal_after, atomic_load(&fake.nr_signals_made));
	for (uint32_t id = 1; id <= INFLIGHT_FIRST + 3; id++)
		fake_submit_dispatch(q, id);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 3);
	fake_run_all(q);
	fake_check_dispatches(1, INFLIGHT_FIRST, 0, 0xffff);
}

TEST(missing_gpu_times_are_counted)
{
	struct fake_queue *q;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	atomic_store(&fake.no_times, true);
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 1);
	p = fake_dispatch(2, fake_signal(1));
	fake_submit(q, &p, 1);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_no_timestamps), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	for (int i = 0; i < 2; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(d->flags & REC_F_NO_TIME, REC_F_NO_TIME);
		CHECK_EQ_UINT(d->begin_ns + d->end_ns + d->begin_ticks + d->end_ticks, 0);
	}
}

TEST(inverted_times_are_recorded_and_counted)
{
	const struct event_dispatch *d;
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	atomic_store(&fake.inverted, true);
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 9);
	fake_run_all(q);
	d = &sink_record_at(EVENT_DISPATCH, 0)->dispatch;
	CHECK_EQ_UINT(d->flags, REC_F_INVERTED);
	CHECK_EQ_UINT(d->end_ticks, fake_begin_ticks(9));
	CHECK_EQ_UINT(d->begin_ticks, fake_end_ticks(9));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inverted), 1);
}

TEST(dispatch_running_at_the_queues_end_is_unfinished)
{
	struct fake_queue *q;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 1);
	fake_submit_dispatch(q, 2);
	p = fake_dispatch(3, fake_signal(1));
	fake_submit(q, &p, 1);
	fake_gpu_run(q, 1);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 3);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
	for (int i = 0; i < 3; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(!!(d->flags & REC_F_UNFINISHED), d->grid[0] != 1);
	}
}

TEST(lite_mode_counts_dispatches_with_a_signal_and_leaves_them_unchanged)
{
	struct fake_queue *q;
	union fake_packet p;

	fake_open_intercept("lite", 0);
	q = fake_queue_create(64);
	p = fake_dispatch(1, fake_signal(1));
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	fake_submit_dispatch(q, 2);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_lite_signal), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	fake_check_dispatches(2, 1, 0, 0xffff);
}

TEST(packets_submitted_while_paused_are_unchanged)
{
	union fake_packet p = fake_dispatch(1, none);
	struct fake_queue *q;

	sink_record.pauses = true;
	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	pause_set(true);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	thread_get()->corr_current = 5; /* a call that began before the pause records all of its
					 * work */
	fake_submit_dispatch(q, 2);
	thread_get()->corr_current = 0;
	pause_set(false);
	fake_submit_dispatch(q, 3);
	pause_set(true); /* it completes while recording is paused */
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	fake_check_dispatches(2, 2, 0, 0xffff);
}

TEST(dispatch_left_out_by_recorder_reaches_other_sink)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	pause_set(true);
	fake_submit_dispatch(q, 1);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK(sink_record_at(EVENT_DISPATCH, 0)->dispatch.correlation & EVENT_LEFT_OUT);
	fake_check_dispatches(1, 1, 0, 0xffff);
}

TEST(batch_submitted_while_paused_is_counted_as_left_out)
{
	struct fake_queue *q;

	sink_record.pauses = true;
	fake_open_intercept(NULL, 0);
	fake.staging = true;
	q = fake_queue_create(64);
	pause_set(true);
	packets[0] = fake_dispatch(1, none);
	packets[1] = fake_dispatch(2, none);
	fake_submit(q, packets, 2);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
}

TEST(dispatch_within_hook_is_counted_as_reentrant)
{
	struct fake_queue *q;
	struct thread *t;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	CHECK(life_enter(&t)); /* e.g. a signal handler */
	fake_submit_dispatch(q, 1);
	life_leave(t);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_reentrant), 1);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
}

TEST(dispatch_after_the_end_is_counted_as_late)
{
	struct fake_queue *q;
	union fake_packet p = fake_barrier(none, none);

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	life_set_state(LIFE_STOPPED);
	fake_submit_dispatch(q, 1);
	fake_submit(q, &p, 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_late), 1);
	CHECK_EQ_UINT(fake_in_ring(q), 2);
}

/* ---- shared signals ------------------------------------------------------------------------- */

TEST(counting_signal_is_completed_by_barrier_packet)
{
	struct fake_queue *q;
	hsa_signal_t s;
	union fake_packet p, *d, *b;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	s = fake_signal(3);
	p = fake_dispatch(1, s);
	fake_submit(q, &p, 1);
	CHECK_EQ_UINT(fake_in_ring(q), 2);
	d = fake_hw(q, 0);
	b = fake_hw(q, 1);
	CHECK_NE_UINT(d->dispatch.completion_signal.handle, s.handle);
	CHECK_EQ_UINT(b->header & 0xff, HSA_PACKET_TYPE_BARRIER_AND);
	CHECK_EQ_UINT(b->header & 1 << HSA_PACKET_HEADER_BARRIER, 0);
	CHECK_EQ_UINT(b->header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
		      p.header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE);
	CHECK_EQ_UINT(b->barrier.dep_signal[0].handle, d->dispatch.completion_signal.handle);
	CHECK_EQ_UINT(b->barrier.completion_signal.handle, s.handle);
	fake_gpu_run(q, 1);
	CHECK_EQ_INT(fake_signal_get(s), 3); /* only the barrier packet completes it */
	fake_gpu_run(q, 1);
	CHECK_EQ_INT(fake_signal_get(s), 2);
	fake_harvest();
	CHECK_EQ_INT(fake_signal_get(s), 2);
	fake_check_dispatches(1, 1, REC_F_HAD_SIGNAL | REC_F_SHARED, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_shared_signal), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(own_signal_is_not_reused_before_its_barrier_has_passed)
{
	struct fake_queue *q;
	hsa_signal_t s, ours;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(1024);
	s = fake_signal(1000000);
	p = fake_dispatch(1, s);
	fake_submit(q, &p, 1);
	ours = fake_hw(q, 0)->dispatch.completion_signal;
	fake_gpu_run(q, 1); /* the barrier packet behind it was not processed yet */
	fake_harvest();
	CHECK_EQ_INT(fake_signal_get(ours), 0);
	/* as many as there are signals, so that each would be reused */
	for (uint32_t id = 2; id <= 300; id++)
		fake_submit_dispatch(q, id);
	for (uint64_t hw = 2; hw < atomic_load(q->write); hw++)
		CHECK_NE_UINT(fake_hw(q, hw)->dispatch.completion_signal.handle, ours.handle);
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 999999);
	fake_check_dispatches(1, 300, 0, REC_F_NO_TIME);
	/* then it is free again */
	CHECK_EQ_INT(fake_signal_get(ours), 1);
}

TEST(shared_signal_completes_once_for_each_dispatch)
{
	struct fake_queue *q[2];
	hsa_signal_t s;

	fake_open_intercept(NULL, 0);
	q[0] = fake_queue_create(64);
	q[1] = fake_queue_create(64);
	s = fake_signal(2000);
	for (uint32_t id = 1; id <= 2000; id++) {
		union fake_packet p = fake_dispatch(id, s);

		fake_submit(q[id % 2], &p, 1);
		if (id % 7 == 0) {
			fake_gpu_run(q[0], UINT64_MAX);
			fake_gpu_run(q[1], UINT64_MAX);
		}
		if (id % 50 == 0)
			fake_tick(1);
	}
	fake_gpu_run(q[0], UINT64_MAX);
	fake_gpu_run(q[1], UINT64_MAX);
	fake_harvest();
	CHECK_EQ_INT(fake_signal_get(s), 0);
	fake_check_dispatches(1, 2000, REC_F_HAD_SIGNAL | REC_F_SHARED, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_shared_signal), 2000);
	CHECK_EQ_UINT(sink_record_losses(), 2000);
	CHECK_LE_UINT(atomic_load(&fake.nr_signals_made), 200);
}

static void check_time(hsa_signal_t s, uint32_t id)
{
	hsa_amd_profiling_dispatch_time_t time = { 0, 0 };
	hsa_amd_profiling_get_dispatch_time_fn_t fn =
		(hsa_amd_profiling_get_dispatch_time_fn_t)fake.amd.entry[4];

	CHECK_EQ_INT(fn(fake_agent(1), s, &time), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(time.start, fake_ticks_to_ns(fake_begin_ticks(id)));
	CHECK_EQ_UINT(time.end, fake_ticks_to_ns(fake_end_ticks(id)));
}

TEST(dispatch_time_query_returns_times_of_the_kernel)
{
	struct fake_queue *q;
	hsa_signal_t own, shared;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	own = fake_signal(1);
	shared = fake_signal(2);
	p = fake_dispatch(4, own);
	fake_submit(q, &p, 1);
	p = fake_dispatch(5, shared);
	fake_submit(q, &p, 1);
	fake_gpu_run(q, UINT64_MAX);
	check_time(own, 4); /* not harvested yet */
	check_time(shared, 5);
	check_time(shared, 5);
	fake_harvest();
	check_time(own, 4);
	check_time(shared, 5);
	/* shared again, then used alone: each use ends the previous answer */
	p = fake_dispatch(6, shared);
	fake_submit(q, &p, 1);
	fake_gpu_run(q, UINT64_MAX);
	check_time(shared, 6);
	fake_signal_set(shared, 1);
	p = fake_dispatch(7, shared);
	fake_submit(q, &p, 1);
	fake_gpu_run(q, UINT64_MAX);
	check_time(shared, 7);
}

TEST(dispatch_time_query_after_passed_packet_returns_no_old_times)
{
	struct fake_queue *q;
	hsa_signal_t s;

	sink_record.pauses = true;
	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	s = fake_signal(2);
	packets[0] = fake_dispatch(5, s);
	fake_submit(q, packets, 1);
	fake_run_all(q);
	check_time(s, 5);
	pause_set(true);
	fake_signal_set(s, 1);
	packets[0] = fake_dispatch(7, s);
	fake_submit(q, packets, 1);
	fake_run_all(q);
	check_time(s, 7);
}

TEST(dispatch_time_query_works_for_many_shared_signals)
{
	hsa_signal_t s[400];
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(1024);
	for (uint32_t i = 0; i < 400; i++) {
		union fake_packet p;

		s[i] = fake_signal(2);
		p = fake_dispatch(i, s[i]);
		fake_submit(q, &p, 1);
	}
	fake_run_all(q);
	for (uint32_t i = 0; i < 400; i++)
		check_time(s[i], i);
}

TEST(profiler_stays_on_for_traced_queues)
{
	hsa_amd_profiling_set_profiler_enabled_fn_t fn;
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	fn = (hsa_amd_profiling_set_profiler_enabled_fn_t)fake.amd.entry[2];
	CHECK(atomic_load(&q->profiled));
	CHECK_EQ_INT(fn(&q->hsa, 0), HSA_STATUS_SUCCESS);
	CHECK(atomic_load(&q->profiled));
}

/* ---- order of completion -------------------------------------------------------------------- */

TEST(dispatches_completed_out_of_order_are_all_recorded)
{
	struct fake_queue *q;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(512);
	for (uint32_t id = 0; id < 400; id++)
		fake_submit_dispatch(q, id);
	fake_gpu_launch(q, 400);
	for (uint32_t i = 400; i-- > 1;) {
		fake_gpu_complete(q, i);
		if (i % 60 == 0)
			fake_tick(1);
	}
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 399);
	fake_gpu_complete(q, 0);
	fake_harvest();
	fake_check_dispatches(0, 400, 0, 0xffff);
}

TEST(recorded_packet_index_is_the_programs)
{
	struct fake_queue *q;
	hsa_signal_t s;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	s = fake_signal(5);
	for (uint32_t id = 0; id < 5; id++) {
		p = fake_dispatch(id, s); /* each becomes two packets for the hardware */
		fake_submit(q, &p, 1);
	}
	fake_run_all(q);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, i)->dispatch.packet,
			      sink_record_at(EVENT_DISPATCH, i)->dispatch.grid[0]);
}

TEST(barrier_packets_are_recorded_on_request)
{
	const struct event_barrier *b;
	struct fake_queue *q;
	union fake_packet p;

	setenv("RTL_BARRIERS", "1", 1);
	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	p = fake_barrier(none, none);
	fake_submit(q, &p, 1);
	p = fake_barrier(none, fake_signal(1));
	fake_submit(q, &p, 1);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_BARRIER), 2);
	b = &sink_record_at(EVENT_BARRIER, 1)->barrier;
	CHECK_EQ_UINT(b->kind, HSA_PACKET_TYPE_BARRIER_AND);
	CHECK_GT_UINT(b->end_ns, b->begin_ns);
	CHECK_EQ_UINT(b->packet, 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(reused_queue_memory_gets_new_index)
{
	uint64_t made = 0;

	fake_open_intercept(NULL, 0);
	for (uint32_t i = 0; i < 50; i++) {
		struct fake_queue *q = fake_queue_create(64);

		fake_submit_dispatch(q, i);
		fake_run_all(q);
		fake_queue_destroy(q);
		if (i == 0)
			made = atomic_load(&fake.nr_signals_made);
	}
	CHECK_EQ_UINT(queue_count(), 1);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_made), 50 * made);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), 50 * made);
	fake_check_dispatches(0, 50, 0, 0xffff);
	for (uint32_t i = 0; i < 50; i++)
		CHECK_EQ_UINT(sink_record_at(EVENT_QUEUE, i)->queue.index, i);
}

/* ---- the end of the process ----------------------------------------------------------------- */

TEST(forked_child_submits_without_recording)
{
	struct fake_queue *q;
	hsa_signal_t s;
	union fake_packet p;

	fake_open_intercept(NULL, 0);
	q = fake_queue_create(64);
	s = fake_signal(1);
	p = fake_dispatch(1, s);
	fake_submit(q, &p, 1);
	/* a possible state at the fork: the harvester holds a lock */
	CHECK(queue_try_lock(queue_at(0)));
	atomic_store(&queue_at(0)->inflight.ring[0].entry[0].state, INFLIGHT_BUSY);
	life_set_state(LIFE_FORKED);
	sink_record_clear();
	fake_submit_dispatch(q, 2);
	fake_signal_destroy(s);
	fake_queue_destroy(q);
	table_drop();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 0);
}
