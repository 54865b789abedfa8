/* SPDX-License-Identifier: MIT */
/* test_completer.c - signals that several operations share, on interposed queues */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

#ifdef RTL_SANITIZE_THREAD
#define SCALE 4
#else
#define SCALE 1
#endif

static struct fake_queue *open_queue(uint32_t size)
{
	fake_open(NULL, 0);
	return fake_queue_create(size);
}

static void submit(struct fake_queue *q, union fake_packet p)
{
	fake_submit(q, &p, 1);
}

TEST(shared_signal_is_completed_by_barrier_packet_of_completer)
{
	struct fake_queue *q = open_queue(64), *own;
	hsa_signal_t s = fake_signal(3);
	union fake_packet p = fake_dispatch(1, s), *d, *b;

	fake.hold_ours = true;
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
	fake_submit(q, &p, 1);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 1);
	own = fake_own_queue(0);
	/* the program's indices and packets are unchanged */
	CHECK_EQ_UINT(fake_write_index(q), 1);
	CHECK_EQ_UINT(fake_write_index(own), 1);
	d = fake_hw(q, 0);
	b = fake_hw(own, 0);
	CHECK_NE_UINT(d->dispatch.completion_signal.handle, s.handle);
	CHECK_EQ_UINT(packet_type(b->header), HSA_PACKET_TYPE_BARRIER_AND);
	CHECK_EQ_UINT(b->header & 1 << HSA_PACKET_HEADER_BARRIER, 0);
	CHECK_EQ_UINT(b->header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
		      p.header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE);
	CHECK_EQ_UINT(b->barrier.dep_signal[0].handle, d->dispatch.completion_signal.handle);
	CHECK_EQ_UINT(b->barrier.completion_signal.handle, s.handle);
	fake.hold_ours = false;
	fake_gpu_run_ours(); /* the barrier packet waits for the dispatch */
	CHECK_EQ_INT(fake_signal_get(s), 3);
	fake.hold_ours = true;
	fake_gpu_run(q, 1);
	CHECK_EQ_INT(fake_signal_get(s), 3);
	fake.hold_ours = false;
	fake_gpu_run_ours();
	CHECK_EQ_INT(fake_signal_get(s), 2);
	fake_harvest();
	CHECK_EQ_INT(fake_signal_get(s), 2);
	fake_check_dispatches(1, 1, REC_F_HAD_SIGNAL | REC_F_SHARED, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_shared_signal), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(packets_with_shared_signal_keep_their_indices)
{
	struct fake_queue *q = open_queue(64);
	hsa_signal_t s = fake_signal(5);

	for (uint32_t id = 0; id < 5; id++)
		submit(q, fake_dispatch(id, s));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	for (uint32_t i = 0; i < 5; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(d->packet, d->grid[0]);
	}
}

TEST(first_dispatch_on_shared_signal_has_no_times)
{
	struct fake_queue *q = open_queue(64);
	hsa_signal_t s = fake_signal(1);
	const struct event_dispatch *d;

	submit(q, fake_dispatch(1, s));
	fake_signal_set(s, 2); /* one more completion to come */
	submit(q, fake_dispatch(2, s));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	for (uint64_t i = 0; i < 2; i++) {
		d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;
		CHECK_EQ_UINT(!!(d->flags & REC_F_NO_TIME), d->grid[0] == 1);
		CHECK_EQ_UINT(!!(d->flags & REC_F_SHARED), d->grid[0] == 2);
	}
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_reused), 1);
}

TEST(own_signal_is_not_reused_before_its_barrier_has_passed)
{
	struct fake_queue *q = open_queue(1024);
	hsa_signal_t s = fake_signal(1000000), ours;

	fake.hold_ours = true;
	submit(q, fake_dispatch(1, s));
	ours = fake_hw(q, 0)->dispatch.completion_signal;
	fake_gpu_run(q, 1);
	fake_harvest();
	CHECK_EQ_INT(fake_signal_get(ours), 0);
	/* as many as there are signals, so that each would be reused */
	for (uint32_t id = 2; id <= 300; id++)
		fake_submit_dispatch(q, id);
	for (uint64_t i = 1; i < 300; i++)
		CHECK_NE_UINT(fake_hw(q, i)->dispatch.completion_signal.handle, ours.handle);
	fake.hold_ours = false;
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

	fake_open(NULL, 0);
	q[0] = fake_queue_create(64);
	q[1] = fake_queue_create(64);
	s = fake_signal(2000);
	for (uint32_t id = 0; id < 2000; id++) {
		submit(q[id % 2], fake_dispatch(id, s));
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
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 2);
	fake_check_dispatches(0, 2000, REC_F_HAD_SIGNAL | REC_F_SHARED, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_shared_signal), 2000);
	CHECK_EQ_UINT(sink_record_losses(), 2000);
	CHECK_LE_UINT(atomic_load(&fake.nr_signals_made), 300);
}

/* ---- reads of dispatch times ----------------------------------------------------------------- */

static void check_time(hsa_signal_t s, uint32_t id)
{
	hsa_amd_profiling_dispatch_time_t time = { 0, 0 };

	CHECK_EQ_INT(FAKE_AMD(profiling_get_dispatch_time)(fake_agent(1), s, &time),
		     HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(time.start, fake_ticks_to_ns(fake_begin_ticks(id)));
	CHECK_EQ_UINT(time.end, fake_ticks_to_ns(fake_end_ticks(id)));
}

TEST(dispatch_time_query_returns_times_of_the_kernel)
{
	struct fake_queue *q = open_queue(64);
	hsa_signal_t own = fake_signal(1), shared = fake_signal(2);

	submit(q, fake_dispatch(4, own));
	submit(q, fake_dispatch(5, shared));
	fake_gpu_run(q, UINT64_MAX);
	check_time(own, 4); /* not harvested yet */
	check_time(shared, 5);
	check_time(shared, 5);
	fake_harvest();
	check_time(own, 4);
	check_time(shared, 5);
	/* shared again, then used alone: each use ends the previous answer */
	submit(q, fake_dispatch(6, shared));
	fake_gpu_run(q, UINT64_MAX);
	check_time(shared, 6);
	fake_signal_set(shared, 1);
	submit(q, fake_dispatch(7, shared));
	fake_gpu_run(q, UINT64_MAX);
	check_time(shared, 7);
}

TEST(dispatch_time_query_after_left_out_packet_returns_no_old_times)
{
	struct fake_queue *q;
	hsa_signal_t s = fake_signal(2);

	sink_record.pauses = true;
	q = open_queue(64);
	submit(q, fake_dispatch(5, s));
	fake_run_all(q);
	check_time(s, 5);
	pause_set(true);
	fake_signal_set(s, 1);
	submit(q, fake_dispatch(7, s));
	fake_run_all(q);
	check_time(s, 7);
}

TEST(dispatch_time_query_works_for_many_shared_signals)
{
	struct fake_queue *q = open_queue(1024);
	hsa_signal_t s[400];

	for (uint32_t i = 0; i < 400; i++) {
		s[i] = fake_signal(2);
		submit(q, fake_dispatch(i, s[i]));
	}
	fake_run_all(q);
	for (uint32_t i = 0; i < 400; i++)
		check_time(s[i], i);
}

/* ---- librtl's queue -------------------------------------------------------------------------- */

TEST(failed_completer_creation_leaves_owners_signal_on_packet)
{
	struct fake_queue *q = open_queue(64);
	hsa_signal_t s = fake_signal(4);
	union fake_packet p = fake_dispatch(1, s);

	fake.refuse_ours = true;
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 1);
	/* librtl does not try again for each packet */
	fake.refuse_ours = false;
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 1), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 2);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
	fake_submit_dispatch(q, 2);
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 2);
	fake_check_dispatches(2, 1, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 2);
	/* but it does for the next queue, which reuses this one's memory */
	fake_queue_destroy(q);
	q = fake_queue_create(64);
	CHECK_EQ_UINT(queue_count(), 1);
	submit(q, fake_dispatch(3, s));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 1);
	fake_check_dispatches(3, 1, 0, REC_F_NO_TIME);
}

TEST(failed_signal_creation_leaves_owners_signal_on_packet)
{
	struct fake_queue *q = open_queue(128);
	hsa_signal_t s = fake_signal(2);
	union fake_packet p = fake_dispatch(1000, s);

	atomic_store(&fake.no_signal_after, atomic_load(&fake.nr_signals_made));
	for (uint32_t id = 0; id < INFLIGHT_FIRST; id++)
		fake_submit_dispatch(q, id);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, INFLIGHT_FIRST), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 1);
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 1);
}

TEST(full_completer_leaves_owners_signal_on_packet)
{
	struct fake_queue *q = open_queue(64);
	hsa_signal_t s = fake_signal(65);
	union fake_packet p = fake_dispatch(64, s);

	fake.hold_ours = true;
	for (uint32_t id = 0; id < 64; id++) {
		submit(q, fake_dispatch(id, s));
		fake_gpu_run(q, 1);
	}
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 0);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 64), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 1);
	fake.hold_ours = false;
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	fake_check_dispatches(0, 64, REC_F_SHARED, REC_F_NO_TIME);
	/* recording continues */
	fake_signal_set(s, 2);
	submit(q, fake_dispatch(65, s));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 1);
}

static unsigned nr_errors;

static void on_error(hsa_status_t status, hsa_queue_t *q, void *data)
{
	(void)status;
	(void)q;
	(void)data;
	nr_errors++;
}

TEST(error_of_completer_does_not_reach_the_program)
{
	struct fake_queue *own;
	hsa_queue_t *queue;

	fake_open(NULL, 0);
	CHECK_EQ_INT(FAKE_CORE(queue_create)(fake_agent(1), 64, HSA_QUEUE_TYPE_MULTI, on_error,
					     NULL, 0, 0, &queue),
		     HSA_STATUS_SUCCESS);
	submit((struct fake_queue *)(void *)queue, fake_dispatch(1, fake_signal(2)));
	own = fake_own_queue(0);
	own->error(HSA_STATUS_ERROR_EXCEPTION, &own->hsa, own->error_data);
	CHECK_EQ_UINT(nr_errors, 0);
}

TEST(completer_is_destroyed_with_its_queue)
{
	struct fake_queue *q = open_queue(64);

	submit(q, fake_dispatch(1, fake_signal(2)));
	fake_run_all(q);
	fake.refuse_destroy = true;
	CHECK_EQ_INT(FAKE_CORE(queue_destroy)(&q->hsa), HSA_STATUS_ERROR_INVALID_QUEUE);
	fake.refuse_destroy = false;
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 1);
	submit(q, fake_dispatch(2, fake_signal(2)));
	fake_run_all(q);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
	fake_check_dispatches(1, 2, REC_F_SHARED, REC_F_NO_TIME);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1);
}

TEST(completers_are_destroyed_with_the_runtime)
{
	struct fake_queue *q = open_queue(64);

	submit(q, fake_dispatch(1, fake_signal(2)));
	submit(fake_queue_create(64), fake_dispatch(2, fake_signal(2)));
	fake_run_all(q);
	fake_gpu_run(q, UINT64_MAX);
	setenv("RTL_DRAIN_MS", "1", 1);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 2);
	table_drop();
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
}

/* The dispatch never completes, so the owner's signal doesn't either, and no thread waits for it.
 */
TEST(queue_with_pending_shared_dispatch_is_destroyed)
{
	struct fake_queue *q = open_queue(64);
	hsa_signal_t s = fake_signal(2);

	submit(q, fake_dispatch(1, s));
	fake_queue_destroy(q);
	CHECK_EQ_INT(fake_signal_get(s), 2);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
}

TEST(settle_of_queue_without_completer_does_nothing)
{
	struct fake_queue *q = open_queue(64);

	completer_settle(queue_find(&q->hsa));
	CHECK_EQ_UINT(completer_passed(queue_find(&q->hsa)), 0);
	completer_destroy(queue_find(&q->hsa));
}

/* ---- threads --------------------------------------------------------------------------------- */

static _Atomic bool done;
static _Atomic uint32_t next_id;

static void *share_and_destroy(void *arg)
{
	hsa_signal_t s = fake_signal(1 << 30);

	(void)arg;
	for (int i = 0; i < 150 / SCALE; i++) {
		struct fake_queue *q = fake_queue_create(64);

		for (int k = 0; k < 20; k++) {
			submit(q, fake_dispatch(atomic_fetch_add(&next_id, 1), s));
			fake_gpu_run(q, 1);
		}
		fake_queue_destroy(q);
	}
	CHECK_EQ_INT(fake_signal_get(s), (1 << 30) - 20 * (150 / SCALE));
	return NULL;
}

static void *read_signals(void *arg)
{
	hsa_signal_t s = fake_signal(7);

	while (!atomic_load(&done))
		CHECK_EQ_INT(FAKE_CORE(signal_load_scacquire)(s), 7);
	return arg;
}

TEST(signals_are_read_while_completers_are_destroyed)
{
	pthread_t threads[4];

	fake_open_live(NULL, 0);
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, i < 2 ? share_and_destroy : read_signals,
					NULL));
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			atomic_store(&done, true);
		CHECK_OK(pthread_join(threads[i], NULL));
	}
	life_stop();
	fake_check_dispatches(0, atomic_load(&next_id), REC_F_SHARED, REC_F_NO_TIME);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
}
