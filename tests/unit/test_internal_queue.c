/* SPDX-License-Identifier: MIT */
/* test_internal_queue.c - dispatches on the runtime's internal queues */
#include <pthread.h>
#include <stdlib.h>

#include "event/thread.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/table/real.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static hsa_signal_t runtimes; /* the signal of the runtime's blocking kernels */

static const struct event_dispatch *dispatch_at(uint64_t i)
{
	const struct event *ev = sink_record_at(EVENT_DISPATCH, i);

	CHECK_NOT_NULL(ev);
	return &ev->dispatch;
}

static struct fake_queue *open_with_queue(uint32_t size)
{
	fake_open(NULL, 0);
	runtimes = fake_signal(1);
	return fake_internal_queue(size);
}

TEST(runtimes_queue_is_emitted_as_internal)
{
	struct fake_queue *q = open_with_queue(64);
	const struct event_queue *e = &sink_record_at(EVENT_QUEUE, 0)->queue;

	CHECK_EQ_UINT(e->flags, REC_QUEUE_INTERNAL);
	CHECK_EQ_UINT(e->handle, (uint64_t)(uintptr_t)q);
	CHECK_EQ_UINT(e->agent, 1);
	CHECK(atomic_load(&q->profiled));
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(copy_by_kernel_is_recorded_as_copy_and_dispatch)
{
	struct fake_queue *q = open_with_queue(64);
	const struct event_dispatch *d;
	const struct event_copy *c;
	hsa_signal_t s = fake_signal(1);

	fake.copy_by_kernel = true;
	fake.copy_at_once = true;
	CHECK_EQ_INT(fake_copy(5, s), HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	d = dispatch_at(0);
	c = &sink_record_at(EVENT_COPY, 0)->copy;
	CHECK_EQ_UINT(d->flags, REC_F_INTERNAL | REC_F_HAD_SIGNAL);
	CHECK_EQ_UINT(d->begin_ticks, fake_begin_ticks(5));
	CHECK_EQ_UINT(d->end_ticks, fake_end_ticks(5));
	CHECK_EQ_UINT(d->begin_ns, c->begin_ns);
	CHECK_EQ_UINT(d->end_ns, c->end_ns);
	CHECK_EQ_UINT(d->end_ns, fake_ticks_to_ns(fake_end_ticks(5)));
	CHECK_EQ_UINT(d->correlation, c->correlation);
	CHECK_EQ_UINT(d->tid, c->tid);
	CHECK_EQ_UINT(d->packet, 0);
	CHECK_EQ_UINT(d->queue, sink_record_at(EVENT_QUEUE, 0)->queue.index);
	CHECK_STR_EQ(sink_record_kernel(d->kernel), "[runtime kernel 0x4000]");
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(atomic_load(q->write), 1);
}

TEST(wrapped_ring_loses_no_dispatch)
{
	hsa_signal_t s;

	open_with_queue(64);
	s = fake_signal(1);
	fake.copy_by_kernel = true;
	fake.copy_at_once = true;
	for (uint32_t i = 1; i <= 1000; i++) {
		fake_signal_set(s, 1);
		CHECK_EQ_INT(fake_copy(i, s), HSA_STATUS_SUCCESS);
		if (i % 9 == 0)
			fake_tick(1);
	}
	fake_harvest();
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1000);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1000);
	for (uint64_t i = 0; i < 1000; i += 13) {
		CHECK_EQ_UINT(dispatch_at(i)->begin_ticks,
			      fake_begin_ticks(dispatch_at(i)->grid[0]));
		CHECK_EQ_UINT(dispatch_at(i)->packet, dispatch_at(i)->grid[0] - 1);
	}
}

static struct fake_queue *the_queue;
static uint32_t next_id;

/* As the runtime does within a blocking call. */
static hsa_status_t blocking_copy(void *dst, const void *src, size_t size)
{
	(void)dst;
	(void)src;
	fake_signal_set(runtimes, 1);
	fake_internal_dispatch(the_queue, ++next_id, runtimes, true);
	return size ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

TEST(kernel_of_blocking_call_has_the_calls_id)
{
	the_queue = open_with_queue(64);
	real.hsa_memory_copy = blocking_copy;
	for (int i = 0; i < 300; i++)
		CHECK_EQ_INT(copy_blocking(NULL, NULL, 8), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 300);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	for (uint64_t i = 0; i < 300; i += 7) {
		const struct event_copy *c = &sink_record_at(EVENT_COPY, i)->copy;

		CHECK_EQ_UINT(dispatch_at(i)->begin_ticks, fake_begin_ticks((uint32_t)i + 1));
		CHECK_EQ_UINT(dispatch_at(i)->correlation, c->correlation);
		CHECK_EQ_UINT(dispatch_at(i)->tid, thread_get()->tid);
	}
}

static hsa_status_t two_kernels(void *dst, const void *src, size_t size)
{
	blocking_copy(dst, src, size);
	return blocking_copy(dst, src, size);
}

TEST(signal_used_twice_in_one_call_has_times_of_the_last_use)
{
	the_queue = open_with_queue(64);
	real.hsa_memory_copy = two_kernels;
	copy_blocking(NULL, NULL, 8);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	CHECK_EQ_UINT(dispatch_at(0)->flags & REC_F_NO_TIME, REC_F_NO_TIME);
	CHECK_EQ_UINT(dispatch_at(0)->begin_ticks, 0);
	CHECK_EQ_UINT(dispatch_at(1)->begin_ticks, fake_begin_ticks(2));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_reused), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

static hsa_status_t hundred_kernels(void *dst, const void *src, size_t size)
{
	for (int i = 0; i < 100; i++)
		blocking_copy(dst, src, size);
	return HSA_STATUS_SUCCESS;
}

TEST(ring_wrapped_before_reading_is_counted)
{
	the_queue = open_with_queue(64);
	real.hsa_memory_copy = hundred_kernels;
	copy_blocking(NULL, NULL, 8);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_runtime_overwritten), 36);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 64);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_signal_reused), 63);
}

TEST(kernel_outside_of_calls_is_recorded_by_harvester)
{
	the_queue = open_with_queue(64);
	fake_internal_dispatch(the_queue, 4, runtimes, false);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0); /* it is running */
	blocking_copy(NULL, NULL, 8);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	CHECK_EQ_UINT(dispatch_at(1)->tid, 0); /* not guessed */
	CHECK_NE_UINT(dispatch_at(1)->correlation, 0);
}

TEST(barriers_and_commands_are_not_recorded_as_dispatches)
{
	struct fake_queue *q = open_with_queue(64);
	union fake_packet *p;

	p = fake_hw(q, 0);
	p->barrier.completion_signal = runtimes;
	p = fake_hw(q, 1);
	p->header = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
	p->dispatch.setup = 1;
	p->dispatch.workgroup_size_x = 0x3f00;
	p->dispatch.kernel_object = 1;
	atomic_store(q->write, 2);
	atomic_store(q->read, 2);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(running_kernel_copy_is_recorded_when_it_ends)
{
	struct fake_queue *q = open_with_queue(64);
	hsa_signal_t s = fake_signal(1);

	fake.copy_by_kernel = true;
	fake_copy(5, s);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 0);
	fake_hw(q, 0)->header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
	fake_gpu_complete(q, 0);
	fake_signal_destroy(s);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	CHECK_EQ_UINT(dispatch_at(0)->begin_ticks, fake_begin_ticks(5));
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(kernel_of_copy_beyond_the_copy_table_is_counted)
{
	hsa_signal_t s;

	open_with_queue(64);
	for (int i = 0; i < 16384; i++)
		fake_copy(1, fake_signal(1));
	s = fake_signal(1);
	fake.copy_by_kernel = true;
	fake.copy_at_once = true;
	fake_copy(5, s);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 2);
	fake_signal_destroy(s);
	fake_tick(25); /* does not examine it */
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
}

TEST(queues_beyond_the_limit_are_not_read)
{
	fake_open(NULL, 0);
	for (int i = 0; i < 512; i++)
		fake_internal_queue(64);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	fake_internal_queue(64);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
}
