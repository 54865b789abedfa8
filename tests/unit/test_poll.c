/* SPDX-License-Identifier: MIT */
/* test_inflight.c - the ring of what is in flight, and who may take an entry's times */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "source/hsa/inflight.h"
#include "support/fake_hsa.h"
#include "support/test.h"

static amd_signal_t sig, other;

static struct inflight *arm(struct inflight *e, bool owned)
{
	memset(e, 0, sizeof(*e));
	memset(&sig, 0, sizeof(sig));
	sig.value = 1;
	e->signal = &sig;
	e->owned = owned;
	e->start_value = 1;
	atomic_store(&e->state, INFLIGHT_ARMED);
	return e;
}

static void complete(uint64_t begin, uint64_t end)
{
	sig.start_ts = begin;
	sig.end_ts = end;
	sig.value--;
}

TEST(a_ring_holds_its_size_and_no_more)
{
	struct inflight_ring r = { 0 };

	CHECK_OK(inflight_init(&r, 8));
	for (int i = 0; i < 8; i++) {
		CHECK_EQ_PTR(inflight_next(&r), &r.entry[i]);
		inflight_push(&r);
	}
	CHECK_NULL(inflight_next(&r));
	CHECK_EQ_UINT(inflight_count(&r), 8);
	atomic_store(&r.tail, 3);
	CHECK_EQ_PTR(inflight_next(&r), &r.entry[0]);
	CHECK_EQ_UINT(inflight_count(&r), 5);
}

TEST(a_ring_tells_what_is_recorded)
{
	struct inflight_ring r = { 0 };

	CHECK_OK(inflight_init(&r, 8));
	for (int i = 0; i < 11; i++) {
		atomic_store(&r.tail, i < 5 ? 0 : i - 4);
		CHECK(inflight_recorded(&r, inflight_next(&r)));
		inflight_push(&r);
	}
	for (int i = 0; i < 8; i++) /* in flight: 6, 7 and 0, 1, 2 */
		CHECK_EQ_INT(inflight_recorded(&r, &r.entry[i]), i >= 3 && i < 6);
	CHECK(!inflight_recorded(&r, r.entry + 8));
	CHECK(!inflight_recorded(NULL, r.entry));
}

TEST(a_ring_keeps_its_memory_and_is_empty_again)
{
	struct inflight_ring r = { 0 };
	struct inflight *memory;

	alloc_fail_at(1);
	CHECK_EQ_INT(inflight_init(&r, 8), -ENOMEM);
	alloc_fail_at(0);
	CHECK_OK(inflight_init(&r, 8));
	memory = r.entry;
	for (int i = 0; i < 5; i++)
		inflight_push(&r);
	CHECK_OK(inflight_init(&r, 8));
	CHECK_EQ_PTR(r.entry, memory);
	CHECK_EQ_UINT(inflight_count(&r), 0);
}

TEST(a_signal_of_ours_tells_by_its_value)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, true);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK(!inflight_completed(&e));
	sig.start_ts = 5;
	sig.end_ts = 9; /* times come before the value */
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_PENDING);
	sig.value = 0;
	CHECK(inflight_completed(&e));
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin, 5);
	CHECK_EQ_UINT(end, 9);
	arm(&e, true);
	complete(0, 0);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_UNTIMED);
}

TEST(an_owners_signal_tells_by_its_times)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, false);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_PENDING);
	complete(5, 9);
	sig.value = 1; /* the owner was quick */
	CHECK(inflight_completed(&e));
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
	/* what was taken stays */
	sig.start_ts = sig.end_ts = 77;
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
}

TEST(an_owners_signal_without_times_is_believed_after_some_looks)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, false);
	sig.value = 0;
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_UNTIMED);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_UNTIMED);
}

TEST(the_end_of_a_signals_use_takes_the_times)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, false);
	CHECK_EQ_INT(inflight_capture(&e, &other, false), INFLIGHT_GONE);
	complete(5, 9);
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_OVER);
	memset(&sig, 0, sizeof(sig));
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_OVER);
	inflight_done(&e);
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_GONE);
}

TEST(a_use_that_is_not_over_shares_from_then_on)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, false);
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_IN_USE);
	complete(5, 9); /* whose these are can't be told any more */
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_LOST);
	arm(&e, false);
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_IN_USE);
	complete(5, 9);
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_OVER);
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_LOST);
}

TEST(a_destroyed_signal_is_given_up)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, false);
	CHECK_EQ_INT(inflight_capture(&e, &sig, true), INFLIGHT_OVER);
	memset(&sig, 0xff, sizeof(sig));
	CHECK(inflight_completed(&e));
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_LOST);
	arm(&e, false);
	complete(5, 9);
	CHECK_EQ_INT(inflight_capture(&e, &sig, true), INFLIGHT_OVER);
	memset(&sig, 0xff, sizeof(sig));
	CHECK_EQ_INT(inflight_poll(&e, &begin, &end), INFLIGHT_TIMED);
}

TEST(an_entry_that_is_being_filled_is_in_use)
{
	struct inflight e;

	arm(&e, false);
	atomic_store(&e.state, INFLIGHT_FREE);
	sig.end_ts = 7; /* of the use before */
	CHECK_EQ_INT(inflight_capture(&e, &sig, false), INFLIGHT_IN_USE);
	CHECK(atomic_load(&e.tainted));
	CHECK_EQ_UINT(atomic_load(&e.state), INFLIGHT_FREE);
}

TEST(a_recorded_entry_is_completed_whatever_its_signal_says)
{
	struct inflight e;

	arm(&e, true);
	inflight_done(&e);
	CHECK(inflight_completed(&e));
	CHECK_EQ_UINT(atomic_load(&e.state), INFLIGHT_DONE);
}

/* The harvester polls, the owner ends the use, the callback looks: one result, and it stays. */
static struct inflight shared_entry;
static _Atomic uint32_t round_nr;
static _Atomic uint32_t nr_ready;
#define ROUNDS 5000u

static void wait_for_round(uint32_t n)
{
	atomic_fetch_add(&nr_ready, 1);
	while (atomic_load(&round_nr) < n)
		sched_yield();
}

static void *own(void *arg)
{
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		wait_for_round(i);
		if (inflight_capture(&shared_entry, &sig, i % 3 == 0) == INFLIGHT_OVER) {
			__atomic_store_n(&sig.start_ts, 1000000, __ATOMIC_RELAXED);
			__atomic_store_n(&sig.end_ts, 1000001, __ATOMIC_RELAXED);
		}
	}
	return arg;
}

static void *look(void *arg)
{
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		wait_for_round(i);
		inflight_completed(&shared_entry);
	}
	return arg;
}

static void *gpu(void *arg)
{
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		wait_for_round(i);
		__atomic_store_n(&sig.start_ts, 2 * i, __ATOMIC_RELAXED);
		__atomic_store_n(&sig.end_ts, 2 * i + 1, __ATOMIC_RELEASE);
		__atomic_fetch_sub(&sig.value, 1, __ATOMIC_RELEASE);
	}
	return arg;
}

TEST(times_are_taken_once_or_not_at_all)
{
	void *(*const fns[])(void *) = { own, look, gpu };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, fns[i], NULL));
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		enum inflight_result r;
		uint64_t begin = 0, end = 0, b2 = 0, e2 = 0;

		while (atomic_load(&nr_ready) < 3 * i) /* all are at the start of round i */
			sched_yield();
		arm(&shared_entry, false);
		atomic_store(&round_nr, i);
		do {
			r = inflight_poll(&shared_entry, &begin, &end);
		} while (r == INFLIGHT_PENDING);
		if (r == INFLIGHT_TIMED) { /* times of this round, never what the owner wrote */
			CHECK_EQ_UINT(begin, 2 * i);
			CHECK_EQ_UINT(end, 2 * i + 1);
		}
		CHECK_EQ_INT(inflight_poll(&shared_entry, &b2, &e2), r);
		if (i < ROUNDS)
			while (atomic_load(&nr_ready) < 3 * (i + 1))
				sched_yield();
		inflight_done(&shared_entry);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}
