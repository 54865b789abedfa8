/* SPDX-License-Identifier: MIT */
/* test_copy.c - copies of every kind, their times, and signals that are shared or reused */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/testpoint.h"
#include "event/filter.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/thread.h"
#include "source/hsa/agent.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/memory/copy_table.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static const hsa_signal_t none;

static const struct event_copy *copy_at(uint64_t i)
{
	const struct event *ev = sink_record_at(EVENT_COPY, i);

	CHECK_NOT_NULL(ev);
	return &ev->copy;
}

/* The copy of `bytes`; tests identify copies by size. */
static const struct event_copy *copy_of(uint64_t bytes)
{
	for (uint64_t i = 0;; i++) {
		const struct event *ev = sink_record_at(EVENT_COPY, i);

		CHECK_MSG(ev != NULL, "the copy of %llu bytes is missing",
			  (unsigned long long)bytes);
		if (ev->copy.bytes == bytes)
			return &ev->copy;
	}
}

static void check_times(uint64_t bytes, uint32_t id)
{
	const struct event_copy *c = copy_of(bytes);

	CHECK_EQ_UINT(c->begin_ns, fake_ticks_to_ns(fake_begin_ticks(id)));
	CHECK_EQ_UINT(c->end_ns, fake_ticks_to_ns(fake_end_ticks(id)));
	CHECK_EQ_UINT(c->flags, 0);
}

static void finish(hsa_signal_t s, uint32_t id)
{
	fake_copy_complete(s, fake_begin_ticks(id), fake_end_ticks(id));
}

TEST(async_copy_is_recorded_after_completion)
{
	const struct event_copy *c;
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(1);
	CHECK_EQ_INT(fake_copy(64, s), HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 0);
	finish(s, 3);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	check_times(64, 3);
	c = copy_at(0);
	CHECK_EQ_UINT(c->kind, REC_COPY_D2H);
	CHECK_EQ_UINT(c->dst_agent, 0);
	CHECK_EQ_UINT(c->src_agent, 1);
	CHECK_EQ_UINT(c->dst, 0x1000);
	CHECK_EQ_UINT(c->src, 0x2000);
	CHECK_EQ_UINT(c->tid, thread_get()->tid);
	CHECK_NE_UINT(c->correlation, 0);
	CHECK_EQ_UINT(c->engine, UINT32_MAX);
	CHECK_EQ_INT(fake_signal_get(s), 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_early_times), 0);
}

TEST(pause_applies_to_copies_submitted_during_it)
{
	hsa_signal_t on, off;

	fake_open(NULL, 0);
	on = fake_signal(1);
	off = fake_signal(1);
	CHECK_EQ_INT(fake_copy(64, on), HSA_STATUS_SUCCESS);
	pause_set(true);
	CHECK_EQ_INT(fake_copy(128, off), HSA_STATUS_SUCCESS);
	finish(on, 3);
	pause_set(false);
	finish(off, 4);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 2);
	CHECK(!(copy_of(64)->correlation & EVENT_LEFT_OUT));
	CHECK(copy_of(128)->correlation & EVENT_LEFT_OUT);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* GPUs 0 and 1 of the trace are agents 1 and 2. */
static uint64_t recorded_with_gpus(const char *gpus, unsigned dst, unsigned src)
{
	setenv("RTL_GPUS", gpus, 1);
	env_init();
	filter_init();
	sink_record.pauses = true;
	fake_open(NULL, 0);
	fake.copy_at_once = true;
	CHECK_EQ_INT(copy_async(NULL, fake_agent(dst), NULL, fake_agent(src), 100, 0, NULL,
				fake_signal(1)),
		     HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY) + sink_record_loss(SPOOL_REASON_filtered_gpu),
		      1);
	CHECK_EQ_UINT(copy_table_count(), 0);
	return sink_record_count(EVENT_COPY);
}

TEST(copy_to_other_gpu_is_left_out)
{
	CHECK_EQ_UINT(recorded_with_gpus("0", 2, 0), 0);
}

TEST(copy_from_selected_gpu_is_recorded)
{
	CHECK_EQ_UINT(recorded_with_gpus("1", 0, 2), 1);
}

TEST(copy_between_gpus_is_recorded_if_one_is_selected)
{
	CHECK_EQ_UINT(recorded_with_gpus("0", 2, 1), 1);
}

TEST(copy_between_other_gpus_is_left_out)
{
	CHECK_EQ_UINT(recorded_with_gpus("5", 2, 1), 0);
}

TEST(copy_without_gpu_is_recorded)
{
	CHECK_EQ_UINT(recorded_with_gpus("5", 0, 0), 1);
}

TEST(copy_left_out_by_recorder_reaches_other_sink)
{
	setenv("RTL_GPUS", "7", 1);
	env_init();
	filter_init();
	fake_open(NULL, 0);
	fake.copy_at_once = true;
	fake_copy(64, fake_signal(1));
	fake_harvest();
	CHECK_EQ_UINT(copy_of(64)->correlation & ~EVENT_ID, EVENT_LEFT_OUT | EVENT_BY_GPU);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(copy_direction_follows_from_agents)
{
	const struct {
		unsigned dst, src, kind;
	} cases[] = { { 0, 0, REC_COPY_H2H },
		      { 1, 0, REC_COPY_H2D },
		      { 0, 2, REC_COPY_D2H },
		      { 1, 1, REC_COPY_D2D },
		      { 1, 2, REC_COPY_P2P } };

	fake_open(NULL, 0);
	fake.copy_at_once = true;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ_INT(copy_async(NULL, fake_agent(cases[i].dst), NULL,
					fake_agent(cases[i].src), 100 + i, 0, NULL, fake_signal(1)),
			     HSA_STATUS_SUCCESS);
		fake_harvest();
		CHECK_EQ_UINT(copy_of(100 + i)->kind, cases[i].kind);
	}
}

TEST(engine_bit_selects_engine_id)
{
	fake_open(NULL, 71);
	fake.copy_at_once = true;
	copy_async_on_engine(NULL, fake_agent(0), NULL, fake_agent(1), 8, 0, NULL, fake_signal(1),
			     4, true);
	fake_harvest();
	CHECK_EQ_UINT(copy_of(8)->engine, 2);
}

TEST(rect_copy_has_bytes_of_its_range)
{
	hsa_pitched_ptr_t dst = { .base = (void *)0x1000 }, src = { .base = (void *)0x2000 };
	hsa_dim3_t range = { 16, 3, 2 };

	fake_open(NULL, 0);
	fake.copy_at_once = true;
	CHECK_EQ_INT(copy_rect(&dst, NULL, &src, NULL, &range, fake_agent(1), hsaDeviceToHost, 0,
			       NULL, fake_signal(1)),
		     HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(copy_at(0)->bytes, 96);
	CHECK_EQ_UINT(copy_at(0)->kind, REC_COPY_D2H);
}

/* Neither call names an agent of the memory: it is that of the runtime's table. */
TEST(agents_of_rect_and_blocking_copies_are_those_that_have_the_memory)
{
	static char host[64], locked[64], gpu[2][64];
	const struct {
		void *dst, *src;
		hsa_amd_copy_direction_t dir;
		uint32_t dst_agent, src_agent, kind;
	} all[] = {
		{ gpu[0], host, hsaHostToDevice, 1, 0, REC_COPY_H2D },
		{ locked, gpu[1], hsaDeviceToHost, 0, 2, REC_COPY_D2H },
		{ gpu[1], gpu[0], hsaDeviceToDevice, 2, 1, REC_COPY_P2P },
		{ gpu[1], gpu[1] + 32, hsaDeviceToDevice, 2, 2, REC_COPY_D2D },
		{ host, locked, hsaHostToHost, 0, 0, REC_COPY_H2H },
	};
	const unsigned nr = sizeof(all) / sizeof(all[0]);

	fake_open(NULL, 0);
	fake.copy_at_once = true;
	fake.memory[0] = (struct fake_memory){ gpu[0], 64, HSA_EXT_POINTER_TYPE_HSA, 1 };
	fake.memory[1] = (struct fake_memory){ gpu[1], 64, HSA_EXT_POINTER_TYPE_IPC, 2 };
	fake.memory[2] = (struct fake_memory){ locked, 64, HSA_EXT_POINTER_TYPE_LOCKED, 1 };
	fake.memory[3] = (struct fake_memory){ host, 64, HSA_EXT_POINTER_TYPE_UNKNOWN, 2 };
	fake.nr_memory = 4;
	for (unsigned i = 0; i < nr; i++) {
		hsa_pitched_ptr_t dst = { .base = all[i].dst }, src = { .base = all[i].src };
		hsa_dim3_t range = { 1 + i, 1, 1 };

		CHECK_EQ_INT(copy_rect(&dst, NULL, &src, NULL, &range, fake_agent(1), all[i].dir, 0,
				       NULL, fake_signal(1)),
			     HSA_STATUS_SUCCESS);
		CHECK_EQ_INT(copy_blocking(all[i].dst, all[i].src, 17 + i), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ_INT(copy_fill(gpu[1], 7, 15), HSA_STATUS_SUCCESS);
	/* by indices + 1; 0: there is no memory */
	for (unsigned i = 0; i < nr; i++)
		CHECK_EQ_UINT(copy_agents(all[i].dst, all[i].src),
			      (all[i].dst_agent + 1) << 16 | (all[i].src_agent + 1));
	CHECK_EQ_UINT(copy_agents(gpu[1], NULL), 3 << 16);
	fake_harvest();
	for (unsigned i = 0; i < 2 * nr; i++) {
		const struct event_copy *c = copy_of(i < nr ? 1 + i : 17 + i - nr);

		CHECK_EQ_UINT(c->dst_agent, all[i % nr].dst_agent);
		CHECK_EQ_UINT(c->src_agent, all[i % nr].src_agent);
		CHECK_EQ_UINT(c->kind, all[i % nr].kind);
	}
	CHECK_EQ_UINT(copy_of(60)->dst_agent, 2);
	CHECK_EQ_UINT(copy_of(60)->src_agent, AGENT_NONE);
}

TEST(blocking_copy_has_times_of_its_call)
{
	char from[32] = "bytes", to[32] = "";
	uint64_t before = clock_now_ns();
	uint32_t words[4];

	fake_open(NULL, 0);
	CHECK_EQ_INT(copy_blocking(to, from, sizeof(from)), HSA_STATUS_SUCCESS);
	CHECK_STR_EQ(to, "bytes");
	CHECK_EQ_INT(copy_fill(words, 7, 4), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(words[3], 7);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 2);
	CHECK_EQ_UINT(copy_at(0)->bytes, 32);
	CHECK_EQ_UINT(copy_at(1)->bytes, 16);
	CHECK_EQ_UINT(copy_at(1)->kind, REC_COPY_FILL);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ_UINT(copy_at(i)->flags, REC_F_HOST_TIME);
		CHECK_GE_UINT(copy_at(i)->begin_ns, before);
		CHECK_GE_UINT(copy_at(i)->end_ns, copy_at(i)->begin_ns);
	}
}

TEST(refused_copy_is_not_recorded)
{
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(1);
	fake.refuse_copy = true;
	for (int i = 0; i < 100; i++)
		CHECK_EQ_INT(fake_copy(64, s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	fake.refuse_copy = false;
	CHECK_EQ_INT(fake_copy(65, s), HSA_STATUS_SUCCESS);
	finish(s, 1);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	check_times(65, 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(signal_reused_at_once_keeps_times_of_each_copy)
{
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(1);
	for (uint32_t i = 1; i <= 1000; i++) {
		fake_signal_set(s, 1);
		CHECK_EQ_INT(fake_copy(i, s), HSA_STATUS_SUCCESS);
		finish(s, i);
	}
	fake_harvest();
	for (uint32_t i = 1; i <= 1000; i += 37)
		check_times(i, i);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1000);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_early_times), 0);
}

TEST(signal_destroyed_at_once_keeps_times_of_copy)
{
	fake_open(NULL, 0);
	for (uint32_t i = 1; i <= 1000; i++) {
		hsa_signal_t s = fake_signal(1);

		CHECK_EQ_INT(fake_copy(i, s), HSA_STATUS_SUCCESS);
		finish(s, i);
		fake_signal_destroy(s);
	}
	fake_harvest();
	for (uint32_t i = 1; i <= 1000; i += 37)
		check_times(i, i);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(copies_sharing_a_signal_have_no_times_and_are_counted)
{
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(2);
	fake_copy(1, s);
	fake_copy(2, s);
	finish(s, 1);
	finish(s, 2);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 2);
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_NO_TIME);
	CHECK_EQ_UINT(copy_of(2)->flags, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_copy_shared_signal), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
}

TEST(pending_copy_on_reused_signal_has_no_times)
{
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(1);
	fake_copy(1, s);
	fake_signal_set(s, 2); /* one more completion to come */
	fake_copy(2, s);
	finish(s, 1);
	finish(s, 2);
	fake_harvest();
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_NO_TIME);
	CHECK_EQ_UINT(copy_of(2)->flags, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_copy_shared_signal), 2);
}

TEST(dispatch_on_signal_of_copy_gives_no_wrong_time)
{
	struct fake_queue *q;
	union fake_packet p;
	hsa_signal_t s;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	s = fake_signal(1);
	fake_copy(1, s);
	fake_signal_set(s, 2);
	p = fake_dispatch(9, s);
	fake_submit(q, &p, 1);
	fake_gpu_run(q, UINT64_MAX);
	finish(s, 1);
	fake_harvest();
	CHECK_EQ_INT(fake_signal_get(s), 0);
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, 0)->dispatch.begin_ticks, fake_begin_ticks(9));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_copy_shared_signal), 1);
}

TEST(signal_reused_between_copy_and_dispatch_keeps_times)
{
	struct fake_queue *q;
	hsa_signal_t s;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	s = fake_signal(1);
	for (uint32_t i = 1; i <= 200; i += 2) {
		union fake_packet p = fake_dispatch(i + 1, s);

		fake_signal_set(s, 1);
		fake_copy(i, s);
		finish(s, i);
		fake_signal_set(s, 1);
		fake_submit(q, &p, 1);
		fake_gpu_run(q, UINT64_MAX);
	}
	fake_harvest();
	CHECK_EQ_UINT(sink_record_losses(), 0);
	for (uint32_t i = 1; i <= 200; i += 2) {
		const struct event *d = sink_record_at(EVENT_DISPATCH, i / 2);

		check_times(i, i);
		CHECK_EQ_UINT(d->dispatch.begin_ticks, fake_begin_ticks(d->dispatch.grid[0]));
		CHECK_EQ_UINT(d->dispatch.flags, REC_F_HAD_SIGNAL);
	}
}

TEST(copy_without_times_is_counted)
{
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(1);
	fake_copy(1, s);
	fake_copy_complete(s, 0, 0);
	fake_harvest();
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_NO_TIME);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_no_timestamps), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(copies_beyond_the_table_are_counted)
{
	static hsa_signal_t s[16400];

	fake_open(NULL, 0);
	for (uint32_t i = 0; i < 16400; i++) {
		s[i] = fake_signal(1);
		CHECK_EQ_INT(fake_copy(i + 1, s[i]), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 16);
	for (uint32_t i = 0; i < 16400; i++)
		finish(s[i], i);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 16384);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 16);
	/* entries are free again */
	sink_record_clear();
	s[0] = fake_signal(1);
	fake_copy(77, s[0]);
	finish(s[0], 5);
	fake_harvest();
	check_times(77, 5);
}

TEST(copy_running_at_the_end_is_unfinished)
{
	setenv("RTL_DRAIN_MS", "1", 1);
	fake_open(NULL, 0);
	fake_copy(1, fake_signal(1));
	harvest_stop(clock_now_ns());
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_UNFINISHED);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

/* ---- a copy that completes, and whose signal is reused, before its call has returned ----------
 */

static hsa_signal_t in_call_signal;

static void *reuse_signal(void *arg)
{
	(void)arg;
	while (fake_signal_get(in_call_signal) > 0)
		usleep(10);
	fake_signal_set(in_call_signal, 1);
	fake.in_copy = NULL;
	fake.copy_at_once = false;
	CHECK_EQ_INT(fake_copy(2, in_call_signal), HSA_STATUS_SUCCESS);
	fake_tick(25);
	finish(in_call_signal, 12);
	fake_tick(25);
	return NULL;
}

static void in_call(void)
{
	pthread_t thread;

	fake.in_copy = NULL;
	CHECK_OK(pthread_create(&thread, NULL, reuse_signal, NULL));
	pthread_join(thread, NULL);
}

TEST(signal_reused_before_call_returned_keeps_times)
{
	fake_open(NULL, 0);
	in_call_signal = fake_signal(1);
	fake.copy_at_once = true;
	fake.in_copy = in_call;
	CHECK_EQ_INT(fake_copy(1, in_call_signal), HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 2);
	check_times(1, 1);
	check_times(2, 12);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static void end_in_call(void)
{
	fake.in_copy = NULL;
	harvest_stop(clock_now_ns());
	life_set_state(LIFE_STOPPED);
}

TEST(copy_with_call_running_at_the_end_is_unfinished)
{
	hsa_signal_t s;

	fake_open(NULL, 0);
	s = fake_signal(1);
	fake.in_copy = end_in_call;
	CHECK_EQ_INT(fake_copy(1, s), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_UNFINISHED);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
	/* its entry is free again: the table holds as many as before */
	life_set_state(LIFE_ON);
	for (int i = 0; i < 16384; i++)
		fake_copy(2, fake_signal(1));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 0);
}

#ifdef RTL_DEBUG_CHECKS
static pthread_t ender;

static void *end_trace(void *arg)
{
	harvest_stop(clock_now_ns());
	return arg;
}

/* Returns while the harvester is recording this call's copy. */
static void return_while_it_is_given_up(void)
{
	uint32_t i = 0;
	struct copy *c = copy_table_next(&i);

	CHECK_NOT_NULL(c);
	fake.in_copy = NULL;
	testpoint_set("copy_given_up", 200);
	CHECK_OK(pthread_create(&ender, NULL, end_trace, NULL));
	while (atomic_load(&c->phase) != COPY_GIVEN_UP)
		sched_yield();
}
#endif

/* What a listener got, by moment. */
static uint32_t nr_moments[3];
static int listener;
static struct event_copy begun;

static void on_copy(struct event_copy *c, enum copy_moment moment)
{
	nr_moments[moment]++;
	CHECK(!thread_get()->in_hook);
	if (moment == COPY_BEGINS) {
		begun = *c;
		*copy_own(c, listener) = 4711;
	}
	CHECK_EQ_UINT(*copy_own(c, listener), 4711);
}

TEST(listener_gets_a_copy_before_the_runtime_and_its_event_later)
{
	const struct event_copy *c;
	hsa_signal_t s;

	fake_open(NULL, 0);
	listener = copy_listen(on_copy);
	CHECK_EQ_INT(listener, 0);
	s = fake_signal(1);
	CHECK_EQ_INT(fake_copy(64, s), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(nr_moments[COPY_BEGINS], 1);
	CHECK_EQ_UINT(nr_moments[COPY_IS_TAKEN], 1);
	finish(s, 3);
	fake_harvest();
	c = copy_at(0);
	CHECK_EQ_UINT(c->own0, 4711);
	CHECK_EQ_UINT(c->own1, 0);
	CHECK_EQ_UINT(c->correlation, begun.correlation);
	CHECK_EQ_UINT(c->tid, begun.tid);
	CHECK_EQ_UINT(c->dst, begun.dst);
	CHECK_EQ_UINT(c->src_agent, begun.src_agent);
	CHECK_EQ_UINT(c->kind, begun.kind);
	CHECK_EQ_UINT(begun.begin_ns | begun.end_ns, 0);
}

TEST(listener_hears_that_a_copy_was_refused)
{
	fake_open(NULL, 0);
	listener = copy_listen(on_copy);
	fake.refuse_copy = true;
	CHECK_EQ_INT(fake_copy(64, fake_signal(1)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ_UINT(nr_moments[COPY_BEGINS], 1);
	CHECK_EQ_UINT(nr_moments[COPY_IS_GONE], 1);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 0);
	CHECK_EQ_INT(copy_listen(on_copy), 1);
	CHECK_EQ_INT(copy_listen(on_copy), -ENOSPC);
}

static void check_given_up(bool refused)
{
#ifdef RTL_DEBUG_CHECKS
	fake_open(NULL, 0);
	fake.in_copy = return_while_it_is_given_up;
	fake.refuse_copy = refused;
	fake_copy(1, fake_signal(1));
	/* the harvester has not released the entry yet: no thread may claim it */
	CHECK_EQ_UINT(copy_table_count(), 1);
	CHECK_OK(pthread_join(ender, NULL));
	CHECK_EQ_UINT(copy_table_count(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	CHECK_EQ_UINT(copy_of(1)->flags, REC_F_UNFINISHED);
#else
	(void)refused;
	SKIP("no testpoints in this build");
#endif
}

TEST(copy_stays_claimed_until_recorded_as_unfinished)
{
	check_given_up(false);
}

TEST(refused_copy_stays_claimed_until_recorded_as_unfinished)
{
	check_given_up(true);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* A linear copy of `bytes` from agent 1 to the CPU. */
static struct fake_op linear(uint64_t bytes, hsa_signal_t completion)
{
	return (struct fake_op){ .version = 1,
				 .completion_signal = completion,
				 .src = (void *)0x2000,
				 .src_agent = fake_agent(1),
				 .dst_agent = (void *)(uintptr_t)fake_agent(0).handle,
				 .dst = (void *)0x1000,
				 .size = bytes };
}

static hsa_status_t batch(const void *ops, uint32_t n)
{
	return FAKE_AMD(memory_async_batch_copy)(ops, n, 0, NULL);
}

/* `n` operations of 1, 2, ... bytes, `stride` bytes apart. */
static void copy_batch_of(uint32_t n, size_t stride)
{
	char *ops = calloc(n, stride);
	hsa_signal_t s[256];

	CHECK_NOT_NULL(ops);
	fake.batch_stride = stride;
	for (uint32_t i = 0; i < n; i++) {
		struct fake_op op;

		s[i] = fake_signal(1);
		op = linear(i + 1, s[i]);
		memset(op.rest, 0x5a, sizeof(op.rest)); /* members of the longer form */
		memcpy(ops + i * stride, &op, stride);
	}
	CHECK_EQ_INT(batch(ops, n), HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 0);
	for (uint32_t i = n; i-- > 0;)
		finish(s[i], i + 1);
	fake_harvest();
	free(ops);
}

static void check_batch(uint32_t n, size_t stride)
{
	fake_open(NULL, 79);
	thread_get()->corr_current = 4711;
	copy_batch_of(n, stride);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), n);
	for (uint32_t i = 1; i <= n; i++) {
		check_times(i, i);
		CHECK_EQ_UINT(copy_of(i)->correlation, 4711);
		CHECK_EQ_UINT(copy_of(i)->kind, REC_COPY_D2H);
		CHECK_EQ_UINT(copy_of(i)->src, 0x2000);
		CHECK_EQ_UINT(copy_of(i)->dst, 0x1000);
		CHECK_EQ_UINT(copy_of(i)->src_agent, 1);
		CHECK_EQ_UINT(copy_of(i)->dst_agent, 0);
		CHECK_EQ_UINT(copy_of(i)->engine, UINT32_MAX);
	}
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(batch_of_one_copy_is_recorded)
{
	check_batch(1, 128);
}

TEST(batch_of_short_operations_is_recorded)
{
	check_batch(10, 64);
}

TEST(batch_of_long_operations_is_recorded)
{
	check_batch(10, 128);
}

TEST(largest_batch_is_recorded_completely)
{
	check_batch(128, 128);
}

TEST(operations_beyond_the_batch_limit_are_counted)
{
	fake_open(NULL, 79);
	copy_batch_of(140, 128);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 128);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_inflight_full), 12);
	CHECK_EQ_UINT(sink_record_losses(), 12);
}

/* In the longer form the second half of an operation may have any content except another operation.
 */
TEST(long_operations_of_zeros_are_distinguished_from_short_ones)
{
	struct fake_op ops[2];
	hsa_signal_t s[2] = { fake_signal(1), fake_signal(1) };

	fake_open(NULL, 79);
	for (int i = 0; i < 2; i++)
		ops[i] = linear((uint64_t)i + 1, s[i]);
	CHECK_EQ_INT(batch(ops, 2), HSA_STATUS_SUCCESS);
	finish(s[0], 1);
	finish(s[1], 2);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 2);
	check_times(1, 1);
	check_times(2, 2);
}

TEST(harvester_is_woken_before_copies_are_submitted)
{
	struct fake_op ops[2];

	fake_open(NULL, 79);
	fake.wake_first = true;
	atomic_store(&life_sleeping, LIFE_DEEP);
	CHECK_EQ_INT(fake_copy(64, fake_signal(1)), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_AWAKE);
	ops[0] = linear(10, fake_signal(1));
	ops[1] = linear(11, fake_signal(1));
	atomic_store(&life_sleeping, LIFE_DEEP);
	CHECK_EQ_INT(FAKE_AMD(memory_async_batch_copy)(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_AWAKE);
}

/* Completes the copy of an operation with the times of `id`. */
static const struct event_copy *copy_one(struct fake_op op, uint32_t id)
{
	uint64_t n;

	fake_open(NULL, 79);
	n = sink_record_count(EVENT_COPY);
	CHECK_EQ_INT(batch(&op, 1), HSA_STATUS_SUCCESS);
	finish(op.completion_signal, id);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), n + 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	return copy_at(n);
}

TEST(broadcast_has_the_bytes_of_all_its_copies)
{
	hsa_agent_t agents[3] = { fake_agent(2), fake_agent(1), fake_agent(0) };
	void *addresses[3] = { (void *)0x7000, (void *)0x8000, (void *)0x9000 };
	struct fake_op op = linear(100, fake_signal(1));
	const struct event_copy *c;

	op.type = 1;
	op.nr_entries = 3;
	op.dst_agent = agents;
	op.dst = addresses;
	c = copy_one(op, 5);
	CHECK_EQ_UINT(c->bytes, 300);
	CHECK_EQ_UINT(c->dst, 0x7000);
	CHECK_EQ_UINT(c->dst_agent, 2);
	CHECK_EQ_UINT(c->kind, REC_COPY_P2P);
	check_times(300, 5);
}

TEST(broadcast_without_destinations_reads_no_arrays)
{
	struct fake_op op = linear(100, fake_signal(1));

	op.type = 1;
	op.dst_agent = op.dst = (void *)0x10; /* not arrays */
	CHECK_EQ_UINT(copy_one(op, 5)->bytes, 100);
}

TEST(swap_has_the_bytes_of_both_directions)
{
	struct fake_op op = linear(100, fake_signal(1));

	op.type = 2;
	op.other_size = 23;
	op.dst_agent = (void *)(uintptr_t)fake_agent(2).handle;
	CHECK_EQ_UINT(copy_one(op, 5)->bytes, 123);
	CHECK_EQ_UINT(copy_at(0)->kind, REC_COPY_P2P);
}

/* The addresses are indirect; librtl does not dereference them. */
TEST(indirect_operations_have_their_literal_addresses)
{
	fake_open(NULL, 79);
	for (uint16_t type = 3; type <= 5; type++) {
		struct fake_op op = linear(100 + type, fake_signal(1));

		op.type = type;
		CHECK_EQ_INT(batch(&op, 1), HSA_STATUS_SUCCESS);
		finish(op.completion_signal, type);
		fake_harvest();
		check_times(100 + type, type);
		CHECK_EQ_UINT(copy_of(100 + type)->src, 0x2000);
		CHECK_EQ_UINT(copy_of(100 + type)->dst, 0x1000);
	}
}

TEST(refused_batch_is_not_recorded)
{
	struct fake_op ops[3];
	hsa_signal_t s = fake_signal(1);

	fake_open(NULL, 79);
	for (int round = 0; round < 10000; round++) {
		for (int i = 0; i < 3; i++)
			ops[i] = linear(1, s);
		fake.refuse_op = 1;
		CHECK_EQ_INT(batch(ops, 3), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	}
	fake.refuse_op = 0;
	CHECK_EQ_INT(fake_copy(65, s), HSA_STATUS_SUCCESS);
	finish(s, 1);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	check_times(65, 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(empty_batch_is_passed_on)
{
	fake_open(NULL, 79);
	CHECK_EQ_INT(batch(NULL, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(batch_copy_by_kernel_is_recorded_as_copy_and_dispatch)
{
	struct fake_op ops[5];
	hsa_signal_t s[5];

	fake_open(NULL, 79);
	fake_internal_queue(64);
	fake.copy_by_kernel = true;
	fake.copy_at_once = true;
	for (uint32_t i = 0; i < 5; i++) {
		s[i] = fake_signal(1);
		ops[i] = linear(i + 1, s[i]);
	}
	CHECK_EQ_INT(batch(ops, 5), HSA_STATUS_SUCCESS);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 5);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		check_times(i + 1, i + 1);
		CHECK_EQ_UINT(d->flags, REC_F_INTERNAL | REC_F_HAD_SIGNAL);
		CHECK_EQ_UINT(d->begin_ticks, fake_begin_ticks(d->grid[0]));
		CHECK_EQ_UINT(d->correlation, copy_of(d->grid[0])->correlation);
	}
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* ---- many threads --------------------------------------------------------------------------- */

#define NR_THREADS 4
#define NR_COPIES 3000

static void *copy_much(void *arg)
{
	uint32_t base = (uint32_t)(uintptr_t)arg * NR_COPIES;
	hsa_signal_t s[8];

	for (int i = 0; i < 8; i++)
		s[i] = fake_signal(1);
	for (uint32_t i = 1; i <= NR_COPIES; i++) {
		fake_signal_set(s[i % 8], 1);
		CHECK_EQ_INT(fake_copy(base + i, s[i % 8]), HSA_STATUS_SUCCESS);
		finish(s[i % 8], base + i);
		if (i % 50 == 0) {
			fake_signal_destroy(s[i % 8]);
			s[i % 8] = fake_signal(1);
		}
	}
	return NULL;
}

static uint8_t seen[NR_THREADS * NR_COPIES + 1];

TEST(concurrent_copies_are_each_recorded_once)
{
	pthread_t threads[NR_THREADS];

	fake_open_live(NULL, 0);
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, copy_much, (void *)(uintptr_t)i));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	life_stop();
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), NR_THREADS * NR_COPIES);
	for (uint64_t i = 0; i < NR_THREADS * NR_COPIES; i += 7)
		CHECK_EQ_UINT(copy_at(i)->begin_ns,
			      fake_ticks_to_ns(fake_begin_ticks((uint32_t)copy_at(i)->bytes)));
	for (uint64_t i = 0; i < NR_THREADS * NR_COPIES; i += 7)
		CHECK_EQ_UINT(seen[copy_at(i)->bytes]++, 0);
}

TEST(copy_profiling_stays_on_when_program_disables_it)
{
	hsa_amd_profiling_async_copy_enable_fn_t fn;

	fake_open(NULL, 0);
	fn = (hsa_amd_profiling_async_copy_enable_fn_t)fake.amd.entry[3];
	CHECK_EQ_INT(fn(false), HSA_STATUS_SUCCESS);
	fake_copy(1, none.handle ? none : fake_signal(1));
}
