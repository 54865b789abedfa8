/* SPDX-License-Identifier: MIT */
/* test_submit.c - how each packet of an interposed queue is instrumented before the hardware sees
 * it */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "event/filter.h"
#include "event/join.h"
#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/queue/submit.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static const hsa_signal_t none;

static struct fake_queue *open_queue(const char *mode)
{
	fake_open(mode, 0);
	return fake_queue_create(64);
}

static void submit(struct fake_queue *q, union fake_packet p)
{
	fake_submit(q, &p, 1);
}

static const struct event_dispatch *dispatch_at(uint64_t i)
{
	const struct event *ev = sink_record_at(EVENT_DISPATCH, i);

	CHECK_NOT_NULL(ev);
	return &ev->dispatch;
}

/* ---- recorded packets ------------------------------------------------------------------------ */

TEST(dispatch_is_recorded_with_its_times_and_shape)
{
	struct fake_queue *q;
	const struct event_dispatch *d;
	const struct event_queue *eq;

	q = open_queue(NULL);
	eq = &sink_record_at(EVENT_QUEUE, 0)->queue;
	CHECK_EQ_UINT(eq->handle, (uint64_t)(uintptr_t)&q->hsa);
	CHECK_EQ_UINT(eq->size, 64);
	CHECK_EQ_UINT(eq->agent, 1);
	CHECK_EQ_UINT(eq->flags, 0);
	fake_submit_dispatch(q, 7);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	fake_run_all(q);
	fake_check_dispatches(7, 1, 0, 0xffff);
	d = dispatch_at(0);
	CHECK_EQ_UINT(d->queue, eq->index);
	CHECK_EQ_UINT(d->packet, 0);
	CHECK_EQ_UINT(d->grid[1], 2);
	CHECK_EQ_UINT(d->grid[2], 3);
	CHECK_EQ_UINT(d->group[0], 64);
	CHECK_EQ_UINT(d->group[1], 4);
	CHECK_EQ_UINT(d->group[2], 5);
	CHECK_EQ_UINT(d->private_size, 16);
	CHECK_EQ_UINT(d->group_size, 32);
	CHECK_EQ_UINT(d->tid, thread_get()->tid);
	CHECK_NE_UINT(d->correlation, 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(submitted_packet_differs_in_its_signal_only)
{
	struct fake_queue *q = open_queue(NULL);
	union fake_packet p = fake_dispatch(1, none), *got;

	fake_submit(q, &p, 1);
	got = fake_hw(q, 0);
	CHECK_NE_UINT(got->dispatch.completion_signal.handle, 0);
	p.dispatch.completion_signal = got->dispatch.completion_signal;
	CHECK_MEM_EQ(got, &p, sizeof(p));
}

TEST(owners_signal_stays_on_its_packet)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t s = fake_signal(1);
	union fake_packet p = fake_dispatch(5, s);

	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	fake_check_dispatches(5, 1, REC_F_HAD_SIGNAL, REC_F_SHARED | REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
}

TEST(signal_reused_at_once_keeps_times_of_each_dispatch)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t s = fake_signal(1);

	for (uint32_t id = 0; id < 200; id++) {
		fake_signal_set(s, 1);
		submit(q, fake_dispatch(id, s));
		fake_gpu_run(q, 1);
	}
	fake_harvest();
	fake_check_dispatches(0, 200, REC_F_HAD_SIGNAL, REC_F_SHARED | REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* An unrecorded packet takes the signal of a recorded one whose times are still in the signal. */
static void use_signal_again(union fake_packet p)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t s = p.barrier.completion_signal;

	submit(q, fake_dispatch(3, s));
	fake_gpu_run(q, 1);
	fake_signal_set(s, 1);
	fake_submit(q, &p, 1);
	fake_gpu_run(q, 1);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	fake_harvest();
	fake_check_dispatches(3, 1, REC_F_HAD_SIGNAL, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(barrier_packet_on_used_signal_captures_earlier_times)
{
	use_signal_again(fake_barrier(none, fake_signal(1)));
}

TEST(vendor_packet_on_used_signal_captures_earlier_times)
{
	union fake_packet p = fake_barrier(none, fake_signal(1));

	p.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
	p.ext.amd_format = 1; /* commands of the packet processor */
	use_signal_again(p);
}

TEST(agent_dispatch_on_used_signal_captures_earlier_times)
{
	union fake_packet p = fake_barrier(none, fake_signal(1));

	p.header = HSA_PACKET_TYPE_AGENT_DISPATCH << HSA_PACKET_HEADER_TYPE;
	use_signal_again(p);
}

TEST(left_out_dispatch_on_used_signal_captures_earlier_times)
{
	struct fake_queue *q;
	hsa_signal_t s = fake_signal(1);

	sink_record.pauses = true;
	q = open_queue(NULL);
	submit(q, fake_dispatch(3, s));
	fake_gpu_run(q, 1);
	fake_signal_set(s, 1);
	pause_set(true);
	submit(q, fake_dispatch(4, s));
	fake_run_all(q);
	fake_check_dispatches(3, 1, REC_F_HAD_SIGNAL, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(dispatches_completed_out_of_order_are_all_recorded)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
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

static uint64_t correlation_of(struct fake_queue *q, uint32_t id, uint64_t carried)
{
	union fake_packet p = fake_dispatch(id, fake_signal(1));

	p.dispatch.reserved2 = carried;
	fake_submit(q, &p, 1);
	fake_run_all(q);
	for (uint64_t i = 0; i < sink_record_count(EVENT_DISPATCH); i++)
		if (dispatch_at(i)->grid[0] == id)
			return dispatch_at(i)->correlation;
	return 0;
}

TEST(packet_of_hip_thread_gets_id_of_its_call)
{
	const uint64_t call = UINT64_C(1) << 40; /* never librtl's own id of a packet */
	struct fake_queue *q = open_queue(NULL);

	/* without a listener the packet's field is the program's own */
	CHECK_NE_UINT(correlation_of(q, 1, call), call);
	CHECK(join_turn_on());
	join_begins(&(struct join_call){ call, 8, 9 });
	CHECK_EQ_UINT(correlation_of(q, 2, call), call);
	CHECK_EQ_UINT(dispatch_at(1)->marker, 8);
	CHECK_EQ_UINT(dispatch_at(1)->tid, 9);
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

/* ---- gfx1250's dispatch packet --------------------------------------------------------------- */

TEST(ext_dispatch_packet_is_recorded_as_dispatch)
{
	struct fake_queue *q = open_queue(NULL);
	union fake_packet p = fake_ext_dispatch(4, none), *got;
	const struct event_dispatch *d;

	p.ext.cluster_count_y = 3;
	p.ext.cluster_count_z = 2;
	p.ext.cluster_size[0] = 2;
	p.ext.cluster_size[2] = 5;
	p.ext.workgroup_size[0] = 64;
	p.ext.workgroup_size[1] = 7;
	fake_submit(q, &p, 1);
	got = fake_hw(q, 0);
	CHECK_NE_UINT(got->ext.completion_signal.handle, 0);
	p.ext.completion_signal = got->ext.completion_signal;
	CHECK_MEM_EQ(got, &p, sizeof(p));
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	d = dispatch_at(0);
	CHECK_EQ_UINT(d->grid[0], 4 * 2 * 64);
	CHECK_EQ_UINT(d->grid[1], 3 * 7);
	CHECK_EQ_UINT(d->grid[2], 2 * 5);
	CHECK_EQ_UINT(d->group[0], 64);
	CHECK_EQ_UINT(d->group[1], 7);
	CHECK_EQ_UINT(d->group[2], 1);
	CHECK_EQ_UINT(d->private_size, 16);
	CHECK_EQ_UINT(d->group_size, 32);
	CHECK_EQ_UINT(d->begin_ticks, fake_begin_ticks(4));
	CHECK_EQ_UINT(d->end_ticks, fake_end_ticks(4));
	CHECK_STR_EQ(sink_record_kernel(d->kernel), "[kernel 0x4000]");
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(ext_dispatch_is_timed_with_every_kind_of_signal)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t own = fake_signal(1), shared = fake_signal(2);

	submit(q, fake_ext_dispatch(1, none));
	submit(q, fake_ext_dispatch(2, own));
	submit(q, fake_ext_dispatch(3, shared));
	submit(q, fake_ext_dispatch(4, shared));
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(own), 0);
	CHECK_EQ_INT(fake_signal_get(shared), 0);
	fake_check_dispatches(1, 4, 0, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_shared_signal), 2);
}

TEST(bypassing_ext_dispatch_packets_are_counted)
{
	struct fake_queue *q = open_queue(NULL);
	union fake_packet p = fake_ext_dispatch(1, none);

	fake_bypass(q, &p, 1);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 1);
	fake_bypass(q, &p, 1);
	fake_gpu_run(q, 2);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 2);
}

/* ---- modes ----------------------------------------------------------------------------------- */

TEST(lite_mode_counts_dispatches_with_a_signal_and_leaves_them_unchanged)
{
	struct fake_queue *q = open_queue("lite");
	union fake_packet p = fake_dispatch(1, fake_signal(1));

	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	submit(q, fake_ext_dispatch(7, fake_signal(1)));
	fake_submit_dispatch(q, 2);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_lite_signal), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	fake_check_dispatches(2, 1, 0, 0xffff);
}

/* A barrier packet without a signal, one with, and one that says "or". */
static void submit_barriers(struct fake_queue *q)
{
	union fake_packet p = fake_barrier(none, fake_signal(1));

	submit(q, fake_barrier(none, none));
	fake_submit(q, &p, 1);
	p = fake_barrier(none, none);
	p.header = HSA_PACKET_TYPE_BARRIER_OR << HSA_PACKET_HEADER_TYPE;
	fake_submit(q, &p, 1);
	fake_submit_dispatch(q, 1);
	p = fake_barrier(none, none);
	p.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
	fake_submit(q, &p, 1);
	fake_run_all(q);
}

static void check_barriers(void)
{
	CHECK_EQ_UINT(sink_record_count(EVENT_BARRIER), 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct event_barrier *b = &sink_record_at(EVENT_BARRIER, i)->barrier;

		CHECK_EQ_UINT(b->kind,
			      i == 2 ? HSA_PACKET_TYPE_BARRIER_OR : HSA_PACKET_TYPE_BARRIER_AND);
		CHECK_GT_UINT(b->end_ns, b->begin_ns);
		CHECK_EQ_UINT(b->packet, i);
		CHECK_EQ_UINT(b->queue, 0);
		CHECK_EQ_UINT(b->tid, thread_get()->tid);
		CHECK_EQ_UINT(b->flags & (uint16_t)~REC_F_HAD_SIGNAL, 0);
	}
	fake_check_dispatches(1, 1, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(full_mode_records_barrier_packets)
{
	submit_barriers(open_queue("full"));
	check_barriers();
}

TEST(barrier_packets_are_recorded_on_request)
{
	setenv("RTL_BARRIERS", "1", 1);
	submit_barriers(open_queue(NULL));
	check_barriers();
}

TEST(barrier_packets_are_not_recorded_by_default)
{
	struct fake_queue *q = open_queue(NULL);

	submit_barriers(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_BARRIER), 0);
	CHECK_EQ_UINT(fake_hw(q, 0)->barrier.completion_signal.handle, 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* ---- packets left out, and counted ----------------------------------------------------------- */

TEST(packets_submitted_while_paused_are_unchanged)
{
	union fake_packet p = fake_dispatch(1, none);
	struct fake_queue *q;

	sink_record.pauses = true;
	q = open_queue(NULL);
	pause_set(true);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	submit(q, fake_barrier(none, none)); /* not a dispatch */
	thread_get()->corr_current = 5;	     /* a call that began before the pause records all of
					      * its work */
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

static const struct fake_symbol first[] = { { "_Z5firstv.kd", 0x4000, 1 } };
static const struct fake_symbol second[] = { { "_Z6secondv.kd", 0x4000, 1 } };

static struct fake_queue *open_filtered(const char *name, const char *value)
{
	setenv(name, value, 1);
	env_init();
	filter_init();
	sink_record.pauses = true;
	return open_queue(NULL);
}

static void load(const struct fake_symbol *symbols)
{
	hsa_executable_t ex = fake_executable(symbols, 1);

	CHECK_EQ_INT(((hsa_executable_freeze_fn_t)fake.core.entry[86])(ex, NULL),
		     HSA_STATUS_SUCCESS);
}

TEST(dispatches_of_other_kernels_are_unchanged)
{
	struct fake_queue *q = open_filtered("RTL_KERNELS", "second");
	union fake_packet p = fake_dispatch(1, none);

	load(first);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_kernel), 1);
	/* another kernel gets the address */
	load(second);
	fake_submit_dispatch(q, 2);
	fake_submit_dispatch(q, 3);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	fake_check_dispatches(2, 2, 0, 0xffff);
}

TEST(dispatches_of_other_gpus_are_unchanged)
{
	struct fake_queue *q = open_filtered("RTL_GPUS", "1");
	union fake_packet p = fake_dispatch(1, fake_signal(1));

	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	submit(q, fake_barrier(none, none));
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_gpu), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(filtered_dispatch_on_used_signal_captures_earlier_times)
{
	struct fake_queue *q = open_filtered("RTL_NOT_KERNELS", "second");
	hsa_signal_t s = fake_signal(1);

	load(first);
	submit(q, fake_dispatch(3, s));
	fake_gpu_run(q, 1);
	fake_signal_set(s, 1);
	load(second);
	submit(q, fake_dispatch(4, s));
	fake_run_all(q);
	fake_check_dispatches(3, 1, REC_F_HAD_SIGNAL, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_kernel), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(filtered_dispatch_in_pause_is_paused)
{
	struct fake_queue *q = open_filtered("RTL_KERNELS", "second");

	pause_set(true);
	fake_submit_dispatch(q, 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(filtered_dispatch_reaches_other_sink)
{
	struct fake_queue *q;

	setenv("RTL_KERNELS", "second", 1);
	env_init();
	filter_init();
	q = open_queue(NULL);
	fake_submit_dispatch(q, 1);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(dispatch_at(0)->correlation & ~EVENT_ID, EVENT_LEFT_OUT | EVENT_BY_KERNEL);
	fake_check_dispatches(1, 1, 0, 0xffff);
}

TEST(dispatch_left_out_by_recorder_reaches_other_sink)
{
	struct fake_queue *q = open_queue(NULL);

	pause_set(true);
	fake_submit_dispatch(q, 1);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK(dispatch_at(0)->correlation & EVENT_LEFT_OUT);
	fake_check_dispatches(1, 1, 0, 0xffff);
}

TEST(dispatch_within_hook_is_counted_as_reentrant)
{
	struct fake_queue *q = open_queue(NULL);
	union fake_packet p = fake_dispatch(1, none);
	struct thread *t;

	CHECK(life_enter(&t)); /* e.g. a signal handler */
	fake_submit(q, &p, 1);
	submit(q, fake_barrier(none, none));
	life_leave(t);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_reentrant), 1);
	fake_submit_dispatch(q, 2);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(dispatch_after_the_end_is_counted_as_late)
{
	struct fake_queue *q = open_queue(NULL);
	union fake_packet p = fake_dispatch(1, none);

	life_set_state(LIFE_STOPPED);
	fake_submit(q, &p, 1);
	submit(q, fake_barrier(none, none));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_late), 1);
	CHECK_EQ_UINT(fake_in_ring(q), 2);
	CHECK_MEM_EQ(fake_hw(q, 0), &p, sizeof(p));
	life_set_state(LIFE_STOPPING);
	fake_submit(q, &p, 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_late), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
}

/* Without the life thread only doorbells submit packets. */
TEST(packets_after_the_end_are_submitted)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 5 };

	fake_open_live(NULL, 0);
	g.q = fake_queue_create(64);
	for (uint32_t id = 0; id < 60; id++)
		fake_submit_dispatch(g.q, id);
	/* The deadline has passed: all entries are given up while the GPU still executes them. */
	harvest_source.stop(clock_now_ns());
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 60);
	life_stop();
	fake_gpu_start(&g);
	for (uint32_t id = 60; id < 1000; id++)
		fake_submit_dispatch(g.q, id);
	fake_gpu_stop(&g);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 60);
}

TEST(forked_child_submits_without_recording)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t s = fake_signal(1);
	union fake_packet p = fake_dispatch(2, none);

	submit(q, fake_dispatch(1, s));
	/* a possible state at the fork: the harvester holds a lock */
	CHECK(queue_try_lock(queue_at(0)));
	atomic_store(&queue_at(0)->inflight.ring[0].entry[0].state, INFLIGHT_BUSY);
	life_set_state(LIFE_FORKED);
	sink_record_clear();
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 1), &p, sizeof(p));
	fake_signal_destroy(s);
	fake_queue_destroy(q);
	table_drop();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(forked_child_does_not_wait_for_entry_locked_by_parent)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t s = fake_signal(1);
	union fake_packet p = fake_dispatch(2, s);

	submit(q, fake_dispatch(1, s));
	atomic_store(&queue_at(0)->inflight.ring[0].entry[0].state, INFLIGHT_BUSY);
	life_set_state(LIFE_FORKED);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, 1), &p, sizeof(p));
}

TEST(failed_signal_creation_is_counted)
{
	struct fake_queue *q;
	union fake_packet p = fake_dispatch(INFLIGHT_FIRST, none);

	fake_open(NULL, 0);
	q = fake_queue_create(128);
	atomic_store(&fake.no_signal_after, atomic_load(&fake.nr_signals_made));
	for (uint32_t id = 0; id < INFLIGHT_FIRST; id++)
		fake_submit_dispatch(q, id);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, INFLIGHT_FIRST), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 1);
	fake_run_all(q);
	fake_check_dispatches(0, INFLIGHT_FIRST, 0, 0xffff);
}

TEST(queue_without_own_signals_is_traced_by_owners_signals)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
	atomic_store(&fake.no_signal_after, 1);
	atomic_store(&fake.nr_signals_made, 1);
	q = fake_queue_create(64);
	submit(q, fake_dispatch(1, fake_signal(1)));
	fake_submit_dispatch(q, 2);
	fake_run_all(q);
	fake_check_dispatches(1, 1, REC_F_HAD_SIGNAL, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_create), 1);
}

TEST(missing_gpu_times_are_counted)
{
	struct fake_queue *q = open_queue(NULL);

	atomic_store(&fake.no_times, true);
	fake_submit_dispatch(q, 1);
	submit(q, fake_dispatch(2, fake_signal(1)));
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_no_timestamps), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	for (int i = 0; i < 2; i++) {
		const struct event_dispatch *d = dispatch_at((uint64_t)i);

		CHECK_EQ_UINT(d->flags & REC_F_NO_TIME, REC_F_NO_TIME);
		CHECK_EQ_UINT(d->begin_ns + d->end_ns + d->begin_ticks + d->end_ticks, 0);
	}
}

TEST(inverted_times_are_recorded_and_counted)
{
	struct fake_queue *q = open_queue(NULL);

	atomic_store(&fake.inverted, true);
	fake_submit_dispatch(q, 9);
	fake_run_all(q);
	CHECK_EQ_UINT(dispatch_at(0)->flags, REC_F_INVERTED);
	CHECK_EQ_UINT(dispatch_at(0)->end_ticks, fake_begin_ticks(9));
	CHECK_EQ_UINT(dispatch_at(0)->begin_ticks, fake_end_ticks(9));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inverted), 1);
}

/* ---- the in-flight ring ---------------------------------------------------------------------- */

/* of a small queue: rings of 64, 128, ... */
#define NR_LAST 1024u
#define NR_ENTRIES (2 * NR_LAST - 64)

TEST(full_inflight_ring_passes_packets_on_and_counts_them)
{
	struct fake_queue *q = open_queue(NULL);
	hsa_signal_t s = fake_signal(1);
	union fake_packet p;
	uint32_t id;

	/* removed from the ring, and not completed */
	for (id = 0; id < NR_ENTRIES; id++) {
		fake_submit_dispatch(q, id);
		fake_gpu_launch(q, 1);
	}
	CHECK_EQ_UINT(sink_record_losses(), 0);
	p = fake_dispatch(id, s);
	fake_submit(q, &p, 1);
	CHECK_MEM_EQ(fake_hw(q, NR_ENTRIES), &p, sizeof(p));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 1);
	/* the wait happens once, not for each dispatch: otherwise this takes a minute */
	for (int i = 0; i < 300; i++) {
		fake_gpu_launch(q, 1);
		submit(q, fake_dispatch(5000, none));
	}
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 301);
	/* recording continues when the oldest of the last ring has completed */
	fake_gpu_launch(q, 1);
	fake_gpu_complete(q, NR_ENTRIES - NR_LAST);
	fake_submit_dispatch(q, 5001);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 301);
	fake_run_all(q);
	fake_check_dispatches(5001, 1, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
}

/* The harvester does not run: the submitting thread must harvest. */
TEST(full_inflight_ring_is_harvested_by_submitting_thread)
{
	struct fake_gpu g = { 0 };

	fake_open(NULL, 0);
	g.q = fake_queue_create(256);
	fake_gpu_start(&g);
	for (uint32_t id = 0; id < 20000; id++)
		fake_submit_dispatch(g.q, id);
	fake_gpu_stop(&g);
	fake_harvest();
	fake_check_dispatches(0, 20000, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static struct {
	const hsa_queue_t *queue;
	union fake_packet packet;
	uint64_t index, at_hardware;
	unsigned nr, order;
} heard[2];
static struct fake_queue *listened;
static unsigned nr_heard;

static void record_heard(unsigned i, const hsa_queue_t *queue, const void *packet, uint64_t index)
{
	heard[i].queue = queue;
	memcpy(&heard[i].packet, packet, sizeof(heard[i].packet));
	heard[i].index = index;
	heard[i].at_hardware = fake_write_index(listened);
	heard[i].nr++;
	heard[i].order = nr_heard++;
}

static void first_listener(const hsa_queue_t *queue, const void *packet, uint64_t index)
{
	record_heard(0, queue, packet, index);
}

static void second_listener(const hsa_queue_t *queue, const void *packet, uint64_t index)
{
	record_heard(1, queue, packet, index);
}

TEST(listener_gets_each_packet_before_the_hardware)
{
	union fake_packet p[3] = { fake_dispatch(1, none), fake_barrier(none, none),
				   fake_dispatch(2, none) };

	listened = open_queue(NULL);
	CHECK(submit_listen(first_listener));
	CHECK(submit_listen(second_listener));
	for (uint64_t i = 0; i < 3; i++) {
		fake_submit(listened, &p[i], 1);
		for (unsigned k = 0; k < 2; k++) {
			CHECK_EQ_PTR(heard[k].queue, &listened->hsa);
			CHECK_MEM_EQ(&heard[k].packet, &p[i], sizeof(p[i])); /* without librtl's
									      * signal */
			CHECK_EQ_UINT(heard[k].index, i);
			CHECK_EQ_UINT(heard[k].at_hardware, i);
			CHECK_EQ_UINT(heard[k].nr, i + 1);
			CHECK_EQ_UINT(heard[k].order, 2 * i + k);
		}
	}
	fake_run_all(listened);
	fake_check_dispatches(1, 2, 0, 0xffff);
}

TEST(listener_gets_unrecorded_packets)
{
	sink_record.pauses = true;
	listened = open_queue("lite");
	CHECK(submit_listen(first_listener));
	submit(listened, fake_dispatch(1, fake_signal(1)));
	pause_set(true);
	fake_submit_dispatch(listened, 2);
	life_set_state(LIFE_STOPPED);
	fake_submit_dispatch(listened, 3);
	CHECK_EQ_UINT(heard[0].nr, 3);
}

TEST(listener_beyond_the_limit_is_refused)
{
	for (unsigned i = 0; i < SUBMIT_MAX_LISTENERS; i++)
		CHECK(submit_listen(first_listener));
	CHECK(!submit_listen(second_listener));
	listened = open_queue(NULL);
	fake_submit_dispatch(listened, 1);
	CHECK_EQ_UINT(heard[0].nr, SUBMIT_MAX_LISTENERS);
	CHECK_EQ_UINT(heard[1].nr, 0);
}

static struct event_dispatch taken[2];
static uint32_t nr_taken;

static void on_taken(const struct event_dispatch *d)
{
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	if (nr_taken < 2)
		taken[nr_taken] = *d;
	nr_taken++;
}

TEST(taker_gets_each_dispatch_that_will_be_recorded)
{
	listened = open_queue(NULL);
	CHECK(submit_listen_taken(on_taken));
	submit(listened, fake_dispatch(1, none));
	submit(listened, fake_barrier(none, none));
	submit(listened, fake_dispatch(2, fake_signal(1)));
	CHECK_EQ_UINT(nr_taken, 2);
	fake_run_all(listened);
	fake_check_dispatches(1, 2, 0, 0);
	for (uint64_t i = 0; i < 2; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(d->packet, taken[i].packet);
		CHECK_EQ_UINT(d->queue, taken[i].queue);
		CHECK_EQ_UINT(d->kernel, taken[i].kernel);
		CHECK_EQ_UINT(d->correlation, taken[i].correlation);
		CHECK_EQ_UINT(d->tid, taken[i].tid);
		CHECK_MEM_EQ(d->grid, taken[i].grid, sizeof(d->grid));
		CHECK_EQ_UINT(taken[i].begin_ns | taken[i].end_ns, 0);
	}
}

TEST(taker_beyond_the_limit_is_refused)
{
	for (unsigned i = 0; i < SUBMIT_MAX_TAKERS; i++)
		CHECK(submit_listen_taken(on_taken));
	CHECK(!submit_listen_taken(on_taken));
}
