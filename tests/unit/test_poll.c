/* SPDX-License-Identifier: MIT */
/* test_poll.c - completion and times read from signals, and which thread may take an entry's times
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "source/hsa/completion/poll.h"
#include "support/fake_hsa.h"
#include "support/test.h"

static amd_signal_t sig, other;

/* Puts `e` in flight on `sig`, which is its own or its owner's. */
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

TEST(own_signal_with_dropped_value_is_complete)
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

TEST(owners_signal_with_times_is_complete)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_PENDING);
	complete(5, 9);
	sig.value = 1; /* the owner reused it at once */
	CHECK(poll_completed(&e));
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
	/* captured times don't change */
	sig.start_ts = sig.end_ts = 77;
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin + end, 14);
}

TEST(owners_signal_without_times_is_untimed_after_some_polls)
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

TEST(reused_signal_is_captured_first)
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

TEST(pending_operation_on_reused_signal_is_marked_shared)
{
	struct inflight e;
	uint64_t begin, end;

	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_IN_USE);
	complete(5, 9); /* it is unknown which operation wrote these */
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_REPLACED);
	arm(&e, INFLIGHT_ARMED);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_IN_USE);
	complete(5, 9);
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_OVER);
	CHECK_EQ_INT(poll_entry(&e, &begin, &end), INFLIGHT_REPLACED);
}

TEST(pending_operation_on_destroyed_signal_is_given_up)
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

TEST(entry_being_filled_is_in_use)
{
	struct inflight e;

	arm(&e, INFLIGHT_ARMED);
	atomic_store(&e.state, INFLIGHT_FREE);
	sig.end_ts = 7; /* of the previous use */
	CHECK_EQ_INT(poll_capture(&e, &sig, false), POLL_IN_USE);
	CHECK(atomic_load(&e.tainted));
	CHECK_EQ_UINT(atomic_load(&e.state), INFLIGHT_FREE);
}

TEST(recorded_entry_is_completed_with_any_signal_value)
{
	struct inflight e;

	arm(&e, INFLIGHT_OURS);
	inflight_done(&e);
	CHECK(poll_completed(&e));
	CHECK_EQ_UINT(atomic_load(&e.state), INFLIGHT_DONE);
}

/* The harvester polls, the owner ends the use, the callback looks: all get one result, which stays.
 */
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

TEST(concurrent_looks_take_times_once_or_never)
{
	void *(*const fns[])(void *) = { own, look, gpu };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, fns[i], NULL));
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		enum inflight_result r;
		uint64_t begin = 0, end = 0, b2 = 0, e2 = 0;

		while (atomic_load(&nr_ready) < 3 * i) /* all threads have begun round i */
			sched_yield();
		arm(&shared_entry, INFLIGHT_ARMED);
		atomic_store(&round_nr, i);
		do {
			r = poll_entry(&shared_entry, &begin, &end);
		} while (r == INFLIGHT_PENDING);
		if (r ==
		    INFLIGHT_TIMED) { /* times of this round, never values that the owner wrote */
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
