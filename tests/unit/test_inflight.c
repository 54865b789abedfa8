/* SPDX-License-Identifier: MIT */
/* test_inflight.c - the rings of in-flight entries, and the entries' signals */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "source/hsa/completion/inflight.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static struct inflight_rings rings;

static uint64_t alive(void)
{
	return atomic_load(&fake.nr_signals_made) - atomic_load(&fake.nr_signals_destroyed);
}

/* The next entry; NULL where the current ring is full. */
static struct inflight *take(void)
{
	struct inflight_ring *r = inflight_current(&rings);
	struct inflight *e = inflight_next(r);

	if (e)
		inflight_push(r, e);
	return e;
}

static void take_all(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CHECK_NOT_NULL(take());
	CHECK_NULL(take());
}

static void record_all(void)
{
	for (uint32_t i = 0; i < rings.nr; i++)
		atomic_store(&rings.ring[i].tail, atomic_load(&rings.ring[i].head));
}

TEST(full_ring_returns_no_entry)
{
	struct inflight_ring *r = &rings.ring[0];

	fake_open(NULL, 0);
	CHECK_OK(inflight_init(&rings, 8, 0));
	for (int i = 0; i < 8; i++)
		CHECK_EQ_PTR(take(), &r->entry[i]);
	CHECK_NULL(take());
	CHECK(!inflight_grow(&rings));
	CHECK_EQ_UINT(inflight_count(&rings), 8);
	atomic_store(&r->tail, 3);
	CHECK_EQ_PTR(inflight_next(r), &r->entry[0]);
	CHECK_EQ_UINT(inflight_count(&rings), 5);
}

TEST(recorded_entries_of_ring_are_reported)
{
	struct inflight_ring *r = &rings.ring[0];

	fake_open(NULL, 0);
	CHECK_OK(inflight_init(&rings, 8, 0));
	for (int i = 0; i < 11; i++) {
		atomic_store(&r->tail, i < 5 ? 0 : i - 4);
		CHECK(inflight_recorded(r, inflight_next(r)));
		take();
	}
	for (int i = 0; i < 8; i++) /* in flight: 6, 7 and 0, 1, 2 */
		CHECK_EQ_INT(inflight_recorded(r, &r->entry[i]), i >= 3 && i < 6);
	CHECK(!inflight_recorded(r, r->entry + 8));
	CHECK(!inflight_recorded(NULL, r->entry));
}

TEST(full_ring_grows_to_twice_its_size)
{
	fake_open(NULL, 0);
	CHECK_OK(inflight_init(&rings, 512, 0));
	for (uint32_t size = 64; size < 512; size *= 2) {
		take_all(size);
		CHECK(inflight_grow(&rings));
	}
	take_all(512);
	CHECK(!inflight_grow(&rings));
	CHECK_EQ_UINT(inflight_count(&rings), 64 + 128 + 256 + 512);
	record_all();
	take_all(512);
	record_all();
	inflight_trim(&rings, 0);
	take_all(64);
}

TEST(second_init_keeps_memory_and_empties_rings)
{
	struct inflight *memory;

	fake_open(NULL, 0);
	alloc_fail_at(1);
	CHECK_EQ_INT(inflight_init(&rings, 128, 0), -ENOMEM);
	alloc_fail_at(0);
	CHECK_OK(inflight_init(&rings, 128, 0));
	memory = rings.ring[0].entry;
	take_all(64);
	alloc_fail_at(1);
	CHECK(!inflight_grow(&rings));
	alloc_fail_at(0);
	CHECK(inflight_grow(&rings));
	take_all(128);
	CHECK_OK(inflight_init(&rings, 128, 0));
	CHECK_EQ_PTR(rings.ring[0].entry, memory);
	CHECK_EQ_UINT(inflight_count(&rings), 0);
	take_all(64);
}

/* ---- signals --------------------------------------------------------------------------------- */

TEST(new_queue_has_64_signals)
{
	fake_open(NULL, 0);
	fake_queue_create(64);
	CHECK_EQ_UINT(alive(), 64);
}

TEST(intercept_queue_has_one_extra_progress_signal)
{
	fake_open_intercept(NULL, 0);
	fake_queue_create(64);
	CHECK_EQ_UINT(alive(), 65);
}

TEST(reused_entry_keeps_its_signal_reset)
{
	struct inflight e = { .kind = INFLIGHT_DISPATCH };
	amd_signal_t *s;

	fake_open(NULL, 0);
	s = inflight_own_signal(&e);
	CHECK_NOT_NULL(s);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ_PTR(inflight_own_signal(&e), s);
		CHECK_EQ_INT(s->value, 1);
		CHECK_EQ_UINT(s->start_ts + s->end_ts, 0);
		s->value = 0;
		s->start_ts = s->end_ts = 77;
		inflight_set_signal(&e, s);
		inflight_reset_signal(&e);
	}
	CHECK_EQ_UINT(alive(), 1);
}

TEST(prepare_makes_signals_ahead_of_need)
{
	uint64_t made;

	fake_open(NULL, 0);
	CHECK_OK(inflight_init(&rings, 4096, 0));
	for (int i = 0; i < 6; i++) {
		while (take())
			;
		CHECK(inflight_grow(&rings));
	}
	for (int i = 0; i < 100; i++)
		take();
	for (int round = 0; round < 40; round++)
		inflight_prepare(&rings);
	made = alive();
	CHECK_EQ_UINT(made, 64 + 2 * 100 + 1024);
	for (int i = 0; i < 100 + 1024; i++)
		CHECK_NOT_NULL(inflight_own_signal(take()));
	CHECK_EQ_UINT(alive(), made);
	CHECK_NOT_NULL(inflight_own_signal(take()));
	CHECK_EQ_UINT(alive(), made + 1);
	record_all();
	inflight_trim(&rings, 100);
	CHECK_EQ_UINT(alive(), 100);
	inflight_trim(&rings, 0);
	CHECK_EQ_UINT(alive(), 0);
}

TEST(steady_state_makes_no_signal_and_allocates_nothing)
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
	CHECK_LE_UINT(made, 64 + 128 + 256 + 512);
	fake_gpu_run(q, UINT64_MAX);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 120000);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(idle_queues_keep_at_most_4096_signals)
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
	CHECK_GE_UINT(alive(), 20000);
	for (int i = 0; i < 5; i++)
		fake_gpu_run(q[i], UINT64_MAX);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 20000);
	for (int i = 0; i < 3; i++)
		fake_tick(900);
	CHECK_LE_UINT(alive(), 4096);
	CHECK_GT_UINT(alive(), 3000);
	/* tracing continues */
	fake_submit_dispatch(q[0], id);
	fake_gpu_run(q[0], 1);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 20001);
}

static _Atomic bool over;

static void *prepare(void *arg)
{
	(void)arg;
	while (!atomic_load(&over))
		inflight_prepare(&rings);
	return NULL;
}

/* The holder of the turn and the harvester make signals for the same entries. */
TEST(concurrent_makers_give_each_entry_its_own_signal)
{
	pthread_t thread;
	uint64_t n = 0;

	fake_open(NULL, 0);
	CHECK_OK(inflight_init(&rings, 16384, 0));
	CHECK_OK(pthread_create(&thread, NULL, prepare, NULL));
	do {
		struct inflight *e;

		while ((e = take()) != NULL) {
			amd_signal_t *s = inflight_own_signal(e);

			CHECK_NOT_NULL(s);
			CHECK_EQ_INT(__atomic_exchange_n(&s->value, -5, __ATOMIC_RELAXED), 1);
			n++;
		}
	} while (inflight_grow(&rings));
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	CHECK_EQ_UINT(n, 2 * 16384 - 64);
	CHECK_EQ_UINT(alive(), n);
	inflight_trim(&rings, 0);
	CHECK_EQ_UINT(alive(), 0);
}
