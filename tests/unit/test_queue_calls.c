/* SPDX-License-Identifier: MIT */
/* test_queue_calls.c - the calls that make and destroy queues, for every kind of queue */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "event/life.h"
#include "source/hsa/queue/counted.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

#ifdef RTL_SANITIZE_THREAD
#define SCALE 4
#else
#define SCALE 1
#endif

static const hsa_signal_t none;

/* A queue of `type` with 64 packets. */
static struct fake_queue *create(hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data)
{
	hsa_queue_t *queue = NULL;

	CHECK_EQ_INT(FAKE_CORE(queue_create)(fake_agent(1), 64, type, callback, data, 0, 0, &queue),
		     HSA_STATUS_SUCCESS);
	return (struct fake_queue *)(void *)queue;
}

static void submit_and_check(struct fake_queue *q, uint32_t first, uint32_t n)
{
	uint64_t before = sink_record_count(EVENT_DISPATCH);

	for (uint32_t i = 0; i < n; i++)
		fake_submit_dispatch(q, first + i);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), before + n);
	fake_check_dispatches(first, n, 0, 0xffff);
}

/* ---- errors of queues ------------------------------------------------------------------------ */

static struct {
	unsigned nr;
	hsa_status_t status;
	hsa_queue_t *queue;
	void *data;
} seen;

static void on_error(hsa_status_t status, hsa_queue_t *q, void *data)
{
	seen.nr++;
	seen.status = status;
	seen.queue = q;
	seen.data = data;
}

static void fail(struct fake_queue *q)
{
	q->error(HSA_STATUS_ERROR_EXCEPTION, &q->hsa, q->error_data);
}

static void check_callback(void)
{
	static int data;
	struct fake_queue *q = create(HSA_QUEUE_TYPE_MULTI, on_error, &data);

	fake_submit_dispatch(q, 1);
	fail(q);
	CHECK_EQ_UINT(seen.nr, 1);
	CHECK_EQ_INT(seen.status, HSA_STATUS_ERROR_EXCEPTION);
	CHECK_EQ_PTR(seen.queue, &q->hsa);
	CHECK_EQ_PTR(seen.data, &data);
	/* its pending dispatches never complete */
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
}

TEST(error_callback_of_program_is_called)
{
	fake_open(NULL, 0);
	check_callback();
}

TEST(error_callback_of_intercept_queue_is_called)
{
	fake_open_intercept(NULL, 0);
	check_callback();
}

/* The action of ROCr's own handler, which it uses where a program has none. */
static void check_default_error(void)
{
	struct fake_queue *q = fake_queue_create(64);
	char text[200] = "", expected[200];
	int status, fds[2];
	pid_t pid;

	setenv("HSA_ENABLE_QUEUE_FAULT_MESSAGE", "0", 1);
	fail(q);
	unsetenv("HSA_ENABLE_QUEUE_FAULT_MESSAGE");
	CHECK_OK(pipe(fds));
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		fail(q);
		_exit(0);
	}
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CHECK_GT_INT(read(fds[0], text, sizeof(text) - 1), 0);
	snprintf(expected, sizeof(expected),
		 "Queue at %p inactivated due to async error:\n\tAN EXCEPTION\n", (void *)q);
	CHECK_STR_HAS(text, expected);
}

TEST(missing_error_callback_ends_program_as_untraced)
{
	fake_open(NULL, 0);
	check_default_error();
}

TEST(missing_error_callback_of_intercept_queue_ends_program)
{
	fake_open_intercept(NULL, 0);
	check_default_error();
}

/* It is not traced, and its errors still reach the program. */
TEST(error_callback_of_untraced_queue_is_called)
{
	static int data, other;
	struct fake_queue *q;

	fake_open(NULL, 0);
	fake.soft = true;
	q = create(HSA_QUEUE_TYPE_MULTI, on_error, &data);
	fake.soft = false;
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
	/* another queue takes the memory kept for queues */
	create(HSA_QUEUE_TYPE_MULTI, NULL, &other);
	fail(q);
	CHECK_EQ_UINT(seen.nr, 1);
	CHECK_EQ_PTR(seen.queue, &q->hsa);
	CHECK_EQ_PTR(seen.data, &data);
	/* it is released with the queue */
	fake.refuse_destroy = true;
	CHECK_EQ_INT(FAKE_CORE(queue_destroy)(&q->hsa), HSA_STATUS_ERROR_INVALID_QUEUE);
	fail(q);
	CHECK_EQ_UINT(seen.nr, 2);
	fake.refuse_destroy = false;
	CHECK_EQ_UINT(queue_count(), 2);
	fake_queue_destroy(q);
	fake_queue_create(64);
	CHECK_EQ_UINT(queue_count(), 2);
}

TEST(memory_kept_for_untraced_queues_is_released_with_runtime)
{
	setenv("RTL_DRAIN_MS", "1", 1);
	fake_open(NULL, 0);
	fake.soft = true;
	for (int i = 0; i < 5; i++)
		fake_queue_create(64);
	CHECK_EQ_UINT(queue_count(), 5);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
	table_drop();
	CHECK(table_take(&fake.root));
	for (int i = 0; i < 5; i++)
		fake_queue_create(64);
	CHECK_EQ_UINT(queue_count(), 5);
}

/* ---- queues that can't be traced ------------------------------------------------------------- */

TEST(queue_of_invalid_size_fails_as_untraced)
{
	hsa_queue_t *queue = NULL;

	fake_open(NULL, 0);
	CHECK_EQ_INT(FAKE_CORE(queue_create)(fake_agent(1), 65, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0,
					     0, &queue),
		     HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_NULL(queue);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
}

TEST(queue_with_ordinary_doorbell_is_unchanged)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
	fake.soft = true;
	q = fake_queue_create(64);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_QUEUE, 0)->queue.flags, REC_QUEUE_PLAIN);
	/* its indices and its doorbell are the program's */
	CHECK_EQ_UINT(fake_reserve(q, 2), 0);
	CHECK_EQ_UINT(fake_write_index(q), 2);
	fake_ring(q, 7);
	CHECK_EQ_INT(fake_ring_at(q, 0).value, 7);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 0);
}

TEST(soft_queue_is_unchanged)
{
	/* made by hsa_soft_queue_create(), which librtl does not wrap */
	struct fake_queue soft = {
		.hsa = { .id = 7, .size = 64, .features = HSA_QUEUE_FEATURE_AGENT_DISPATCH }
	};

	fake_open(NULL, 0);
	soft.hsa.doorbell_signal = fake_signal(0);
	CHECK_EQ_UINT(fake_reserve(&soft, 3), 0);
	CHECK_EQ_UINT(fake_reserve_cas(&soft, 3, 5), 3);
	fake_reserve_store(&soft, 6);
	CHECK_EQ_UINT(fake_write_index(&soft), 6);
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_scacquire)(&soft.hsa), 6);
	fake_ring(&soft, 5);
	CHECK_EQ_INT(fake_signal_get(soft.hsa.doorbell_signal), 5);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 0);
}

TEST(queue_without_memory_is_not_traced)
{
	fake_open(NULL, 0);
	for (uint64_t i = 1; i <= 3; i++) { /* for the queue, its in-flight ring, the pool */
		struct fake_queue *q;

		alloc_fail_at(i < 3 ? i : 2);
		q = fake_queue_create(64);
		alloc_fail_at(0);
		CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), i);
		fake_submit_dispatch(q, 1);
		CHECK_EQ_UINT(fake_in_ring(q), 1);
	}
	submit_and_check(fake_queue_create(64), 1, 1);
	CHECK_EQ_UINT(sink_record_losses(), 3);
}

TEST(queues_beyond_the_limit_are_not_traced_until_others_end)
{
	static struct fake_queue *q[QUEUE_MAX];

	fake_open(NULL, 0);
	for (uint32_t i = 0; i < QUEUE_MAX; i++)
		q[i] = fake_queue_create(64);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	fake_queue_create(64);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
	fake_queue_destroy(q[77]);
	submit_and_check(fake_queue_create(64), 1, 2);
	CHECK_EQ_UINT(sink_record_losses(), 1);
}

TEST(profiler_stays_on_for_traced_queues_only)
{
	struct fake_queue *q, *plain;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	fake.soft = true;
	plain = fake_queue_create(64);
	CHECK(atomic_load(&q->profiled));
	CHECK_EQ_INT(FAKE_AMD(profiling_set_profiler_enabled)(&q->hsa, 0), HSA_STATUS_SUCCESS);
	CHECK(atomic_load(&q->profiled));
	CHECK_EQ_INT(FAKE_AMD(profiling_set_profiler_enabled)(&plain->hsa, 1), HSA_STATUS_SUCCESS);
	CHECK(atomic_load(&plain->profiled));
	CHECK_EQ_INT(FAKE_AMD(profiling_set_profiler_enabled)(&plain->hsa, 0), HSA_STATUS_SUCCESS);
	CHECK(!atomic_load(&plain->profiled));
}

/* ---- destroying queues ----------------------------------------------------------------------- */

TEST(reused_queue_memory_gets_new_index)
{
	uint64_t made = 0;

	fake_open(NULL, 0);
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

#define VISITED_AGENT 1u
static _Atomic bool visited_enough;

/* As the threads that step the counters' lanes: without a lock of the queues. */
static void *visit_queues(void *arg)
{
	uint64_t *nr = arg;

	while (!atomic_load(&visited_enough)) {
		*nr += queue_any_unheld(VISITED_AGENT);
		for (uint32_t i = 0; i < queue_count(); i++)
			*nr += queue_index(queue_at(i)) == 0;
		/* as a thread that acquires a counted queue */
		*nr += queue_find_ring(&visited_enough) != NULL;
	}
	return NULL;
}

/* What shows that it fails is the thread sanitizer. */
TEST(reused_queue_memory_is_visited_meanwhile)
{
	uint64_t nr = 0;
	pthread_t visitor;

	fake_open(NULL, 0);
	fake_queue_destroy(fake_queue_create(64));
	CHECK_OK(pthread_create(&visitor, NULL, visit_queues, &nr));
	for (uint32_t i = 0; i < 2000 / SCALE; i++)
		fake_queue_destroy(fake_queue_create(64));
	atomic_store(&visited_enough, true);
	CHECK_OK(pthread_join(visitor, NULL));
	CHECK_EQ_UINT(queue_count(), 1);
}

TEST(queue_that_became_another_gpus_stays_counted)
{
	struct fake_queue *f;
	struct queue *q;

	fake_open(NULL, 0);
	f = fake_queue_create(64);
	q = queue_find(&f->hsa);
	counted_grant_all(q, queue_agent(q) + 1, "it is the other one");
	CHECK_EQ_UINT(atomic_load(&q->granted), 0);
	CHECK(!q->not_counted);
	counted_grant_all(q, queue_agent(q), "it ends");
	CHECK_EQ_UINT(atomic_load(&q->granted), UINT64_MAX);
	CHECK_STR_EQ(q->not_counted, "it ends");
	submit_and_check(f, 0, 3);
}

TEST(queue_of_other_size_does_not_reuse_memory)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	fake_queue_destroy(q);
	q = fake_queue_create(4096);
	CHECK_EQ_UINT(queue_count(), 2);
	CHECK_EQ_UINT(queue_find(&q->hsa)->inflight.most, 8192);
	for (uint32_t i = 0; i < 4096; i++)
		fake_submit_dispatch(q, i);
	fake_run_all(q);
	fake_check_dispatches(0, 4096, 0, 0xffff);
}

TEST(dispatch_running_at_the_queues_end_is_unfinished)
{
	struct fake_queue *q;
	union fake_packet p;

	fake_open(NULL, 0);
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

TEST(intercept_queue_with_failed_destruction_stays_traced)
{
	struct fake_gpu g = { .pause_us = 20, .stretch = 7 };

	fake_open_intercept(NULL, 0);
	g.q = fake_queue_create(64);
	fake.refuse_destroy = true;
	CHECK_EQ_INT(FAKE_CORE(queue_destroy)(&g.q->hsa), HSA_STATUS_ERROR_INVALID_QUEUE);
	fake_gpu_start(&g);
	for (uint32_t id = 1; id <= 500; id++)
		fake_submit_dispatch(g.q, id);
	fake_gpu_stop(&g);
	fake_harvest();
	fake_check_dispatches(1, 500, 0, 0xffff);
	fake.refuse_destroy = false;
	fake_queue_destroy(g.q);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
}

TEST(inactivation_is_passed_on)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	CHECK_EQ_INT(FAKE_CORE(queue_inactivate)(&q->hsa), HSA_STATUS_SUCCESS);
	CHECK(atomic_load(&q->dead));
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(queues_end_when_the_runtime_goes_away)
{
	struct fake_queue *q[3];

	setenv("RTL_DRAIN_MS", "1", 1);
	fake_open(NULL, 0);
	for (uint32_t i = 0; i < 3; i++) {
		q[i] = fake_queue_create(64);
		fake_submit_dispatch(q[i], i);
	}
	fake_gpu_run(q[0], 1);
	table_drop();
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 3);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 2);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_NULL(queue_find(&q[i]->hsa));
		CHECK_NULL(queue_find_doorbell(q[i]->hsa.doorbell_signal.handle));
	}
	/* the program's own queue again, as the runtime made it */
	CHECK_EQ_UINT(fake_reserve(q[1], 1), 1);
	CHECK_EQ_UINT(fake_write_index(q[1]), 2);
}

/* ---- cooperative queues ---------------------------------------------------------------------- */

TEST(cooperative_queue_returned_twice_ends_with_second_destruction)
{
	struct fake_queue *a, *b;

	fake_open(NULL, 0);
	a = create(HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL);
	b = create(HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL);
	CHECK_EQ_PTR(a, b);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_made) - atomic_load(&fake.nr_signals_destroyed),
		      INFLIGHT_FIRST);
	submit_and_check(a, 0, 5);
	fake_queue_destroy(b);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 0);
	submit_and_check(a, 5, 5);
	fake_queue_destroy(a);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(cooperative_queue_with_failed_destruction_keeps_its_references)
{
	struct fake_queue *a;

	fake_open(NULL, 0);
	a = create(HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL);
	create(HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL);
	fake.refuse_destroy = true;
	for (int i = 0; i < 4; i++)
		CHECK_EQ_INT(FAKE_CORE(queue_destroy)(&a->hsa), HSA_STATUS_ERROR_INVALID_QUEUE);
	fake.refuse_destroy = false;
	fake_queue_destroy(a);
	submit_and_check(a, 0, 3);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 0);
	fake_queue_destroy(a);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
}

/* ---- queues by descriptors ------------------------------------------------------------------- */

static struct fake_desc desc(uint8_t engine, uint32_t packets)
{
	return (struct fake_desc){ .version = 1,
				   .engine_type = engine,
				   .queue_size_bytes = packets * 64,
				   .callback = on_error,
				   .callback_data = &seen };
}

static hsa_status_t create_described(struct fake_desc *d, uint32_t n)
{
	return FAKE_AMD(queue_create)(fake_agent(1), d, n);
}

TEST(described_compute_queues_are_traced_and_others_unchanged)
{
	struct fake_desc d[4] = { desc(0, 64), desc(1, 64), desc(0, 256), desc(0, 64) }, before;
	struct fake_queue *q;

	fake_open(NULL, 87);
	CHECK_EQ_INT(create_described(d, 4), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 3);
	for (unsigned i = 0; i < 4; i++) {
		/* the descriptors stay the program's: with its values, and its queues */
		before = desc(i == 1, i == 2 ? 256 : 64);
		before.queue = d[i].queue;
		CHECK_NOT_NULL(d[i].queue);
		CHECK_MEM_EQ(&d[i], &before, sizeof(before));
		if (i == 1)
			continue;
		q = (struct fake_queue *)(void *)d[i].queue;
		CHECK_EQ_UINT(sink_record_at(EVENT_QUEUE, i ? i - 1 : 0)->queue.size,
			      i == 2 ? 256 : 64);
		submit_and_check(q, 10 * i, 5);
		fail(q);
		CHECK_EQ_PTR(seen.queue, &q->hsa);
		CHECK_EQ_PTR(seen.data, &seen);
	}
	CHECK_EQ_UINT(seen.nr, 3);
	/* SDMA: its indices are bytes */
	q = (struct fake_queue *)(void *)d[1].queue;
	CHECK_NULL(queue_find(&q->hsa));
	CHECK_EQ_PTR((void *)q->error, (void *)on_error);
	CHECK_EQ_UINT(fake_reserve(q, 48), 0);
	CHECK_EQ_UINT(fake_write_index(q), 48);
	fake_ring(q, 48);
	CHECK_EQ_INT(fake_ring_at(q, 0).value, 48);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ_INT(FAKE_CORE(queue_destroy)(d[i].queue), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 3);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(described_queue_in_device_memory_is_detected)
{
	struct fake_desc d = desc(0, 64);

	fake_open(NULL, 91);
	d.flags = 1;
	fake.in_device = true;
	CHECK_EQ_INT(create_described(&d, 1), HSA_STATUS_SUCCESS);
	CHECK(queue_find(d.queue)->in_device_memory);
	submit_and_check((struct fake_queue *)(void *)d.queue, 0, 5);
}

TEST(partly_failed_descriptors_leave_other_queues_traced)
{
	struct fake_desc d[3] = { desc(0, 64), desc(0, 64), desc(0, 64) };

	fake_open(NULL, 87);
	fake.refuse_desc = 2;
	CHECK_EQ_INT(create_described(d, 3), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_NULL(d[1].queue);
	submit_and_check((struct fake_queue *)(void *)d[0].queue, 0, 5);
	submit_and_check((struct fake_queue *)(void *)d[2].queue, 5, 5);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 2);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	/* the memory opened for the failed one is free again */
	CHECK_EQ_UINT(queue_count(), 3);
	fake_queue_create(64);
	CHECK_EQ_UINT(queue_count(), 3);
}

/* A call that fails completely may leave the descriptors unwritten. */
TEST(failed_descriptors_attach_no_queue)
{
	struct fake_desc d[2] = { desc(0, 64), desc(0, 64) };
	hsa_queue_t *rubbish = (hsa_queue_t *)(uintptr_t)0x1234;

	fake_open(NULL, 87);
	d[0].queue = d[1].queue = rubbish;
	fake.refuse_descs = true;
	CHECK_EQ_INT(create_described(d, 2), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ_PTR(d[0].queue, rubbish);
	CHECK_EQ_PTR(d[1].queue, rubbish);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 0);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
}

TEST(descriptors_of_unknown_version_are_passed_unchanged)
{
	struct {
		struct fake_desc head;
		unsigned char more[32];
	} d[2] = { { .head = desc(0, 64) }, { .head = desc(0, 64) } };
	struct fake_queue *q;

	fake_open(NULL, 87);
	fake.desc_size = sizeof(d[0]);
	for (int i = 0; i < 2; i++) {
		d[i].head.version = 2;
		memset(d[i].more, 0x5a, sizeof(d[i].more));
	}
	CHECK_EQ_INT(FAKE_AMD(queue_create)(fake_agent(1), d, 2), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	for (unsigned i = 0; i < 2; i++) {
		q = (struct fake_queue *)(void *)d[i].head.queue;
		CHECK_NOT_NULL(q);
		CHECK_EQ_PTR((void *)q->error, (void *)on_error);
		/* they are counted when they are used */
		CHECK_EQ_UINT(fake_reserve(q, 1), 0);
		CHECK_EQ_UINT(fake_write_index(q), 1);
		CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), i + 1);
	}
}

TEST(empty_descriptor_array_is_passed_unchanged)
{
	fake_open(NULL, 87);
	fake.refuse_descs = true;
	CHECK_EQ_INT(FAKE_AMD(queue_create)(fake_agent(1), NULL, 2),
		     HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST(array_with_one_unknown_descriptor_is_passed_unchanged)
{
	struct fake_desc d[2] = { desc(0, 64), desc(0, 64) };

	fake_open(NULL, 87);
	d[1].version = 2;
	CHECK_EQ_INT(create_described(d, 2), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_NOT_NULL(d[0].queue);
	CHECK_NULL(d[1].queue);
}

TEST(too_many_descriptors_are_passed_unchanged)
{
	struct fake_desc d[17];

	fake_open(NULL, 87);
	for (int i = 0; i < 17; i++)
		d[i] = desc(0, 64);
	CHECK_EQ_INT(create_described(d, 17), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 0);
	for (uint32_t i = 0; i < 17; i++)
		fake_reserve((struct fake_queue *)(void *)d[i].queue, 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_unseen), 17);
}

TEST(described_queue_without_memory_is_not_traced)
{
	struct fake_desc d = desc(0, 64);
	struct fake_queue *q;

	fake_open(NULL, 87);
	alloc_fail_at(1);
	CHECK_EQ_INT(create_described(&d, 1), HSA_STATUS_SUCCESS);
	alloc_fail_at(0);
	q = (struct fake_queue *)(void *)d.queue;
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_plain), 1);
	CHECK_EQ_PTR((void *)q->error, (void *)on_error);
	CHECK_EQ_PTR(q->error_data, &seen);
}

/* ---- counted queues -------------------------------------------------------------------------- */

static uint64_t reserve_by(hsa_queue_t *handle, uint64_t n)
{
	return FAKE_CORE(queue_add_write_index_screlease)(handle, n);
}

/* One dispatch through a handle. */
static void submit_by(hsa_queue_t *handle, uint32_t id)
{
	union fake_packet p = fake_dispatch(id, none);
	uint64_t index = reserve_by(handle, 1);

	while (index - FAKE_CORE(queue_load_read_index_scacquire)(handle) >= handle->size)
		usleep(20);
	fake_publish(fake.counted, index, &p);
	FAKE_CORE(signal_store_screlease)(handle->doorbell_signal, (hsa_signal_value_t)index);
}

/* The memory behind a handle's hsa_queue_t is garbage, which the fake runtime verifies on release.
 */
TEST(two_handles_of_counted_queue_share_one_ring)
{
	hsa_queue_t *a, *b;

	fake_open(NULL, 87);
	a = fake_acquire();
	b = fake_acquire();
	CHECK(a != b);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1);
	CHECK_EQ_UINT(reserve_by(a, 1), 0);
	CHECK_EQ_UINT(reserve_by(b, 2), 1);
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(a), 3);
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(b), 3);
	CHECK_EQ_UINT(fake_write_index(fake.counted), 0);
	for (uint32_t i = 0; i < 3; i++) {
		union fake_packet p = fake_dispatch(i, none);

		fake_publish(fake.counted, i, &p);
	}
	FAKE_CORE(signal_store_screlease)(b->doorbell_signal, 2);
	CHECK_EQ_UINT(fake_write_index(fake.counted), 3);
	for (uint32_t i = 3; i < 5000; i++) {
		submit_by(i % 3 ? a : b, i);
		if (i % 100 == 0)
			fake_gpu_run(fake.counted, UINT64_MAX);
	}
	fake_run_all(fake.counted);
	fake_check_dispatches(0, 5000, 0, 0xffff);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, i)->dispatch.queue, 0);
	fake_release(a);
	fake_release(b);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(counted_queue_stays_traced_when_one_handle_is_released)
{
	hsa_queue_t *a, *b;

	fake_open(NULL, 87);
	a = fake_acquire();
	b = fake_acquire();
	submit_by(a, 0);
	fake_release(a); /* the handle by which librtl reads its indices */
	submit_by(b, 1);
	fake_run_all(fake.counted);
	fake_release(b);
	/* the hardware queue lives on without a handle, and can be acquired again */
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 0);
	a = fake_acquire();
	submit_by(a, 2);
	fake_run_all(fake.counted);
	fake_check_dispatches(0, 3, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1);
	CHECK_EQ_UINT(queue_count(), 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(handle_with_failed_release_stays_traced)
{
	hsa_queue_t *a;

	fake_open(NULL, 87);
	a = fake_acquire();
	submit_by(a, 0);
	fake.refuse_destroy = true;
	CHECK_EQ_INT(FAKE_AMD(counted_queue_release)(a), HSA_STATUS_ERROR_INVALID_QUEUE);
	fake.refuse_destroy = false;
	submit_by(a, 1);
	fake_run_all(fake.counted);
	fake_check_dispatches(0, 2, 0, 0xffff);
	fake_release(a);
}

TEST(error_callback_of_counted_queue_stays_the_programs)
{
	hsa_queue_t *a = NULL;

	fake_open(NULL, 87);
	CHECK_EQ_INT(FAKE_AMD(counted_queue_acquire)(fake_agent(1), HSA_QUEUE_TYPE_MULTI, 0,
						     on_error, &seen, 0, &a),
		     HSA_STATUS_SUCCESS);
	CHECK_EQ_PTR((void *)fake.counted->error, (void *)on_error);
	CHECK_EQ_PTR(fake.counted->error_data, &seen);
}

TEST(bypassed_counted_queue_is_counted)
{
	union fake_packet p = fake_dispatch(7, none);
	hsa_queue_t *a;

	fake_open(NULL, 87);
	a = fake_acquire();
	fake_bypass(fake.counted, &p, 1);
	CHECK_EQ_UINT(reserve_by(a, 1), 1);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 1);
}

static hsa_queue_t *acquired_meanwhile;

static void acquire_its_memory(struct fake_queue *q)
{
	fake.in_destroy = NULL;
	fake.reuse = q;
	acquired_meanwhile = fake_acquire();
}

/* The runtime has destroyed the first queue, and librtl not yet: the second has its ring and
 * doorbell. */
TEST(counted_queue_with_ring_of_ending_queue_is_another_one)
{
	struct fake_queue *q;

	fake_open(NULL, 87);
	q = fake_queue_create(FAKE_COUNTED_SIZE);
	fake_submit_dispatch(q, 0);
	fake_run_all(q);
	fake.in_destroy = acquire_its_memory;
	fake_queue_destroy(q);
	CHECK_EQ_PTR(fake.counted->hsa.base_address, q->hsa.base_address);
	CHECK_EQ_UINT(queue_index(queue_find(acquired_meanwhile)), 1);
	submit_by(acquired_meanwhile, 1);
	fake_run_all(fake.counted);
	fake_check_dispatches(0, 2, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, 1)->dispatch.queue, 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 2);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

#define NR_THREADS 4u
#define NR_ROUNDS (1000u / SCALE)

static _Atomic uint32_t next_id;
static pthread_barrier_t acquired;

static void *acquire_and_release(void *arg)
{
	for (uint32_t i = 0; i < NR_ROUNDS; i++) {
		hsa_queue_t *handle = fake_acquire();

		for (int k = 0; k < 8; k++)
			submit_by(handle, atomic_fetch_add(&next_id, 1));
		fake_release(handle);
	}
	return arg;
}

static hsa_queue_t *only_this;

static void check_handle(const hsa_queue_t *handle)
{
	CHECK_EQ_PTR(handle, only_this);
}

/* Its owner may release it at any time: no other thread may use it to reach the indices. */
TEST(reservation_uses_the_callers_handle)
{
	hsa_queue_t *a, *b;

	fake_open(NULL, 87);
	a = fake_acquire();
	b = fake_acquire();
	fake.in_index = check_handle;
	for (int i = 0; i < 10; i++) {
		only_this = i % 2 ? a : b;
		CHECK_EQ_UINT(reserve_by(only_this, 1), i);
		CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(only_this), i + 1);
	}
	fake.in_index = NULL;
	/* also when packets are no longer held back */
	for (uint64_t i = 0; i < 10; i++) {
		union fake_packet p = fake_dispatch((uint32_t)i, none);

		fake_publish(fake.counted, i, &p);
	}
	fake_ring_hardware(fake.counted, 9);
	fake_gpu_run(fake.counted, 10);
	fake_tick(200);
	CHECK(atomic_load(&queue_find(a)->bypassed));
	fake.in_index = check_handle;
	for (int i = 10; i < 20; i++) {
		only_this = i % 2 ? a : b;
		CHECK_EQ_UINT(reserve_by(only_this, 1), i);
		CHECK_EQ_UINT(fake_write_index(fake.counted), i + 1);
	}
	fake.in_index = NULL;
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 10);
}

/* Each thread uses only its own handle, while other threads acquire and release theirs. */
TEST(handles_are_used_while_other_handles_are_released)
{
	struct fake_gpu g = { 0 };
	pthread_t threads[NR_THREADS];

	fake_open_live(NULL, 87);
	fake_release(fake_acquire());
	g.q = fake.counted;
	fake_gpu_start(&g);
	for (unsigned i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, acquire_and_release, NULL));
	for (unsigned i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_join(threads[i], NULL));
	fake_gpu_stop(&g);
	life_stop();
	fake_check_dispatches(0, atomic_load(&next_id), 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static void wait_for_others(void)
{
	pthread_barrier_wait(&acquired);
}

static void *acquire_at_once(void *arg)
{
	*(hsa_queue_t **)arg = fake_acquire();
	return NULL;
}

/* The runtime returns a handle to both threads before librtl attaches either. */
TEST(handles_acquired_concurrently_attach_one_queue)
{
	for (uint32_t round = 0; round < 200 / SCALE; round++) {
		pthread_t threads[NR_THREADS];
		hsa_queue_t *handles[NR_THREADS];

		if (round == 0)
			fake_open(NULL, 87);
		else
			CHECK(table_take(&fake.root));
		fake.counted = NULL;
		fake.in_acquire = wait_for_others;
		CHECK_OK(pthread_barrier_init(&acquired, NULL, NR_THREADS));
		for (unsigned i = 0; i < NR_THREADS; i++)
			CHECK_OK(pthread_create(&threads[i], NULL, acquire_at_once, &handles[i]));
		for (unsigned i = 0; i < NR_THREADS; i++)
			CHECK_OK(pthread_join(threads[i], NULL));
		CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), round + 1);
		for (unsigned i = 1; i < NR_THREADS; i++)
			CHECK_EQ_PTR(queue_find(handles[i]), queue_find(handles[0]));
		table_drop();
	}
}
