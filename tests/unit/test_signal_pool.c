/* SPDX-License-Identifier: MIT */
/* test_signal_pool.c - the pool of our own signals: how many there are, and when they are made */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static uint64_t alive(void)
{
	return atomic_load(&fake.nr_signals_made) - atomic_load(&fake.nr_signals_destroyed);
}

TEST(there_are_64_at_the_start)
{
	fake_open(NULL, 0);
	fake_queue_create(64);
	CHECK_EQ_UINT(alive(), 64);
}

TEST(an_intercepted_queue_has_one_more_that_tells_of_progress)
{
	fake_open_intercept(NULL, 0);
	fake_queue_create(64);
	CHECK_EQ_UINT(alive(), 65);
}

TEST(a_free_signal_is_reset)
{
	struct signal_pool p = { 0 };
	amd_signal_t *s;

	fake_open(NULL, 0);
	CHECK_OK(signal_pool_init(&p, 1024));
	for (int i = 0; i < 1000; i++) {
		s = signal_pool_take(&p);
		CHECK_EQ_INT(s->value, 1);
		CHECK_EQ_UINT(s->start_ts + s->end_ts, 0);
		s->value = 0;
		s->start_ts = s->end_ts = 77;
		signal_pool_put(&p, s);
	}
	CHECK_EQ_UINT(alive(), 64);
	signal_pool_fini(&p);
	CHECK_EQ_UINT(alive(), 0);
}

TEST(one_that_is_wanted_is_made)
{
	struct signal_pool p = { 0 };
	amd_signal_t *s[300];

	fake_open(NULL, 0);
	CHECK_OK(signal_pool_init(&p, 1024));
	for (int i = 0; i < 300; i++)
		CHECK_NOT_NULL(s[i] = signal_pool_take(&p));
	CHECK_EQ_UINT(alive(), 300);
	for (int i = 0; i < 300; i++)
		signal_pool_put(&p, s[i]);
	signal_pool_trim(&p, 100);
	CHECK_EQ_UINT(alive(), 100);
	signal_pool_fini(&p);
}

TEST(they_are_made_ahead_of_need)
{
	struct signal_pool p = { 0 };
	uint64_t made = 0;

	fake_open(NULL, 0);
	CHECK_OK(signal_pool_init(&p, 1024));
	for (int round = 0; round < 40; round++)
		signal_pool_grow(&p, 1024);
	made = alive();
	CHECK_EQ_UINT(made, 1024 / 2 + 32);
	for (int i = 0; i < 64; i++)
		signal_pool_take(&p);
	CHECK_EQ_UINT(alive(), made);
}

TEST(a_full_ring_of_them_comes_back_whole)
{
	struct signal_pool p = { 0 };
	static amd_signal_t *s[2048];

	fake_open(NULL, 0);
	CHECK_OK(signal_pool_init(&p, 1024));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1024; i++) {
			CHECK_NOT_NULL(s[i] = signal_pool_take(&p));
			if (i % 50 == 0)
				signal_pool_grow(&p, (uint64_t)i);
		}
		for (int i = 0; i < 1024; i++)
			signal_pool_put(&p, s[i]);
	}
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), 0);
	signal_pool_fini(&p);
	CHECK_EQ_UINT(alive(), 0);
}

TEST(no_signal_is_made_and_nothing_allocated_in_steady_state)
{
	struct fake_queue *q;
	uint64_t made = 0;

	fake_open(NULL, 0);
	q = fake_queue_create(1024);
	for (uint32_t id = 0; id < 120000; id++) {
		if (id == 20000) {
			made = atomic_load(&fake.nr_signals_made);
			alloc_fail_at(0);
		}
		fake_submit_dispatch(q, id);
		if (id % 500 == 499) {
			fake_gpu_run(q, UINT64_MAX);
			fake_tick(1);
		}
	}
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_made), made);
	CHECK_EQ_UINT(alloc_nr_calls(), 0);
	CHECK_LE_UINT(made, 64 + 500 + 250 + 64);
	fake_gpu_run(q, UINT64_MAX);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 120000);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(at_most_4096_are_kept_when_idle)
{
	struct fake_queue *q[5];
	uint32_t id = 0;

	fake_open(NULL, 0);
	for (int i = 0; i < 5; i++) {
		q[i] = fake_queue_create(4096);
		for (int k = 0; k < 4000; k++) {
			fake_submit_dispatch(q[i], id++);
			if (k % 64 == 0)
				fake_tick(0);
		}
	}
	CHECK_GT_UINT(alive(), 20000);
	for (int i = 0; i < 5; i++)
		fake_gpu_run(q[i], UINT64_MAX);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 20000);
	for (int i = 0; i < 3; i++)
		fake_tick(900);
	CHECK_LE_UINT(alive(), 4096);
	CHECK_GT_UINT(alive(), 3000);
	/* and it goes on */
	fake_submit_dispatch(q[0], id);
	fake_gpu_run(q[0], 1);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 20001);
}

struct hand {
	struct signal_pool pool;
	pthread_mutex_t turn; /* as that of a queue */
	amd_signal_t *_Atomic slot[256];
	_Atomic bool done;
};

static void *give_back(void *arg)
{
	struct hand *h = arg;
	unsigned n = 0;

	while (!atomic_load(&h->done)) {
		for (int i = 0; i < 256; i++) {
			amd_signal_t *s = atomic_exchange(&h->slot[i], NULL);

			if (s)
				signal_pool_put(&h->pool, s);
		}
		signal_pool_grow(&h->pool, n % 300);
		if (++n % 64)
			continue;
		pthread_mutex_lock(&h->turn);
		signal_pool_trim(&h->pool, 20);
		pthread_mutex_unlock(&h->turn);
	}
	return NULL;
}

/* Who has the turn takes, the harvester puts and grows: no signal is ever handed out twice. */
TEST(no_signal_is_handed_out_twice)
{
	static struct hand h = { .turn = PTHREAD_MUTEX_INITIALIZER };
	pthread_t thread;

	fake_open(NULL, 0);
	CHECK_OK(signal_pool_init(&h.pool, 256));
	CHECK_OK(pthread_create(&thread, NULL, give_back, &h));
	for (int i = 0; i < 200000; i++) {
		amd_signal_t *_Atomic *slot = &h.slot[i % 256], *s;

		if (atomic_load(slot))
			continue;
		pthread_mutex_lock(&h.turn);
		s = signal_pool_take(&h.pool);
		pthread_mutex_unlock(&h.turn);
		CHECK_NOT_NULL(s);
		CHECK_EQ_INT(__atomic_exchange_n(&s->value, -5, __ATOMIC_RELAXED), 1);
		atomic_store(slot, s);
	}
	atomic_store(&h.done, true);
	pthread_join(thread, NULL);
}
