/* SPDX-License-Identifier: MIT */
/* test_shared_times.c - times of dispatches whose owner's signal a barrier packet completed */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "source/hsa/completion/shared_times.h"
#include "support/test.h"

#define NR_SIGNALS 4096u

static amd_signal_t signals[NR_SIGNALS]; /* never dereferenced */

static void check_kept(const amd_signal_t *s, uint64_t begin)
{
	uint64_t b = 1, e = 2;

	CHECK(shared_times_find(s, &b, &e));
	CHECK_EQ_UINT(b, begin);
	CHECK_EQ_UINT(e, begin + 1);
}

static void check_none(const amd_signal_t *s)
{
	uint64_t b = 1, e = 2;

	CHECK(!shared_times_find(s, &b, &e));
	CHECK_EQ_UINT(b + e, 3); /* unchanged */
}

TEST(kept_times_are_found_by_signal)
{
	CHECK(!shared_times_any());
	check_none(&signals[0]);
	shared_times_expect(&signals[0]);
	CHECK(shared_times_any());
	check_none(&signals[0]);
	shared_times_keep(&signals[0], 10, 11);
	shared_times_keep(&signals[1], 20, 21);
	check_kept(&signals[0], 10);
	check_kept(&signals[0], 10);
	check_kept(&signals[1], 20);
	check_none(&signals[2]);
}

TEST(later_times_replace_times_of_same_signal)
{
	shared_times_expect(&signals[0]);
	for (uint64_t i = 1; i < 100; i++) {
		shared_times_keep(&signals[0], i, i + 1);
		check_kept(&signals[0], i);
	}
	shared_times_forget(&signals[0]);
	check_none(&signals[0]);
}

TEST(next_use_of_signal_forgets_its_times)
{
	shared_times_expect(&signals[0]);
	shared_times_keep(&signals[0], 10, 11);
	shared_times_keep(&signals[1], 20, 21);
	shared_times_forget(&signals[0]);
	check_none(&signals[0]);
	shared_times_keep(&signals[0], 30, 31);
	shared_times_expect(&signals[0]);
	check_none(&signals[0]);
	check_kept(&signals[1], 20);
	shared_times_forget(&signals[2]); /* there are none */
}

TEST(forget_before_any_expected_does_nothing)
{
	shared_times_forget(&signals[0]);
	CHECK(!shared_times_any());
}

TEST(full_window_replaces_oldest_times)
{
	unsigned kept = 0, lost_late = 0;

	shared_times_expect(&signals[0]);
	for (unsigned i = 0; i < NR_SIGNALS; i++) {
		shared_times_keep(&signals[i], 2 * i, 2 * i + 1);
		check_kept(&signals[i], 2 * i);
	}
	for (unsigned i = 0; i < NR_SIGNALS; i++) {
		uint64_t b, e;
		bool found = shared_times_find(&signals[i], &b, &e);

		if (found)
			CHECK_EQ_UINT(b, 2 * i);
		kept += found;
		lost_late += !found && i >= NR_SIGNALS - 100;
	}
	/* as many as fit, except in windows that are not full */
	CHECK_GT_UINT(kept, NR_SIGNALS / 2);
	CHECK_LE_UINT(lost_late, 10);
}

TEST(free_entry_is_used_before_old_one)
{
	/* The test does not know which signals share a window: after two rounds with half of them
	 * forgotten all are found. */
	shared_times_expect(&signals[0]);
	for (unsigned i = 0; i < 64; i++)
		shared_times_keep(&signals[i], i, i + 1);
	for (unsigned i = 0; i < 64; i += 2)
		shared_times_forget(&signals[i]);
	for (unsigned i = 0; i < 64; i += 2)
		shared_times_keep(&signals[i], 100 + i, 101 + i);
	for (unsigned i = 0; i < 64; i++)
		check_kept(&signals[i], i % 2 ? i : 100 + i);
}

static _Atomic bool done;

/* Uses signals of its own; other threads' signals share their windows. */
static void *use(void *arg)
{
	amd_signal_t *own = &signals[(uintptr_t)arg * 16];

	for (uint64_t i = 1; i < 20000; i++) {
		amd_signal_t *s = &own[i % 16];

		shared_times_expect(s);
		check_none(s);
		shared_times_keep(s, i, i + 1);
		check_kept(s, i);
		if (i % 3 == 0) {
			shared_times_forget(s);
			check_none(s);
		}
	}
	return NULL;
}

static void *look(void *arg)
{
	while (!atomic_load(&done)) {
		for (unsigned i = 0; i < 64; i++) {
			uint64_t b, e;

			if (shared_times_find(&signals[i], &b, &e))
				CHECK_EQ_UINT(e, b + 1); /* both of one use */
		}
	}
	return arg;
}

TEST(concurrent_threads_find_their_own_times)
{
	pthread_t threads[4], looker;

	shared_times_expect(&signals[0]);
	CHECK_OK(pthread_create(&looker, NULL, look, NULL));
	for (uintptr_t i = 0; i < 4; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, use, (void *)i));
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_join(threads[i], NULL));
	atomic_store(&done, true);
	CHECK_OK(pthread_join(looker, NULL));
}
