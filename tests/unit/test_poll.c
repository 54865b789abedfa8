/* SPDX-License-Identifier: MIT */
/* test_poll.c - what signals say of operations in flight, and who may take an entry's times */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "source/hsa/completion/poll.h"
#include "support/fake_hsa.h"
#include "support/test.h"

static amd_signal_t sig, other;

/* `e` is in flight on `sig`, which is ours or its owner's. */
static struct inflight *arm(struct inflight *e, enum inflight_state state)
{
	memset(e, 0, sizeof(*e));
	memset(&sig, 0, sizeof(sig));
	sig.value = 1;
	inflight_set_signal(e, &sig);
	e->start_value = 1;
	atomic_store(&e->state, state);
	return e;
}

static void complete(uint64_t begin, uint64_t end)
{
	sig.start_ts = begin;
	sig.end_ts = end;
	sig.value--;
}

TEST(a_signal_of_ours_tells_by_its_value)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_OURS);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK(!poll_completed(&e));
	sig.start_ts = 5;
	sig.end_ts = 9; /* times come before the value */
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	sig.value = 0;
	CHECK(poll_completed(&e));
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin, 5);
	CHECK_EQ_UINT(end, 9);
	arm(&e, INFLIGHT_OURS);
	complete(0, 0);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_UNTIMED);
}

TEST(an_owners_signal_tells_by_its_times)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	complete(5, 9);
	sig.value = 1; /* the owner was quick */
	CHECK(poll_completed(&e));
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
	/* what was taken stays */
	sig.start_ts = sig.end_ts = 77;
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
}

TEST(an_owners_signal_without_times_is_believed_after_some_looks)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	sig.value = 0;
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_UNTIMED);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_UNTIMED);
}

TEST(the_end_of_a_signals_use_takes_the_times)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_capture(&e, &other, false), POLL_GONE);
	complete(5, 9);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_OVER);
	memset(&sig, 0, sizeof(sig));
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_OVER);
	inflight_done(&e);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_GONE);
}

TEST(a_use_that_is_not_over_shares_from_then_on)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_IN_USE);
	complete(5, 9); /* whose these are can't be told any more */
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_REPLACED);
	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_IN_USE);
	complete(5, 9);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_OVER);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_REPLACED);
}

TEST(a_destroyed_signal_is_given_up)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_capture(&e, &sig, true), POLL_OVER);
	memset(&sig, 0xff, sizeof(sig));
	CHECK(poll_completed(&e));
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_REPLACED);
	arm(&e, INFLIGHT_ARMED);
	complete(5, 9);
	CHECK_EQ_INT(poll_capture(&e, &sig, true), POLL_OVER);
	memset(&sig, 0xff, sizeof(sig));
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
}

TEST(an_entry_that_is_being_filled_is_in_use)
{
	struct inflight e;

	arm(&e, INFLIGHT_ARMED);
	atomic_store(&e.state, INFLIGHT_FREE);
	sig.end_ts = 7; /* of the use before */
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_IN_USE);
	CHECK(atomic_load(&e.tainted));
	CHECK_EQ_UINT(atomic_load(&e.state), INFLIGHT_FREE);
}

TEST(a_recorded_entry_is_completed_whatever_its_signal_says)
{
	struct inflight e;

	arm(&e, INFLIGHT_OURS);
	inflight_done(&e);
	CHECK(poll_completed(&e));
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
		if (poll_capture(&shared_entry, &sig, i % 3 == 0) == POLL_OVER) {
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
		poll_completed(&shared_entry);
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
		arm(&shared_entry, INFLIGHT_ARMED);
		atomic_store(&round_nr, i);
		do {
			r = poll_entry(&shared_entry, &begin, &end);
		} while (r == INFLIGHT_PENDING);
		if (r == INFLIGHT_TIMED) { /* times of this round, never what the owner wrote */
			CHECK_EQ_UINT(begin, 2 * i);
			CHECK_EQ_UINT(end, 2 * i + 1);
		}
		CHECK_EQ_INT(poll_entry(&shared_entry, &b2, &e2), r);
		if (i < ROUNDS)
			while (atomic_load(&nr_ready) < 3 * (i + 1))
				sched_yield();
		inflight_done(&shared_entry);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}
