/* SPDX-License-Identifier: MIT */
/* test_signal_map.c - from a signal of the program to the in-flight entry that uses it */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "source/hsa/completion/inflight.h"
#include "source/hsa/completion/poll.h"
#include "source/hsa/completion/signal_map.h"
#include "support/fake_hsa.h"
#include "support/test.h"

#define NR_SIGNALS 4096u

static amd_signal_t sig[NR_SIGNALS];
static struct inflight entry[NR_SIGNALS];

static struct inflight *arm(struct inflight *e, amd_signal_t *s)
{
	memset(e, 0, sizeof(*e));
	memset(s, 0, sizeof(*s));
	s->value = 1;
	inflight_set_signal(e, s);
	e->start_value = 1;
	atomic_store(&e->state, INFLIGHT_ARMED);
	return e;
}

static void complete(amd_signal_t *s, uint64_t begin)
{
	s->start_ts = begin;
	s->end_ts = begin + 1;
	s->value--;
}

static void check_times(struct inflight *e, uint64_t begin)
{
	uint64_t b = 0, end = 0;

	CHECK_EQ_INT(poll_entry(e, &b, &end), INFLIGHT_TIMED);
	CHECK_EQ_UINT(b, begin);
	CHECK_EQ_UINT(end, begin + 1);
}

TEST(reused_signal_is_captured_first)
{
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	complete(&sig[0], 10);
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[1], &sig[1]), NULL));
	check_times(&entry[0], 10);
}

static void look_at_leaving(void)
{
	signal_map_reuse(&sig[0]);
	signal_map_destroy(&sig[0]);
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[1], &sig[0]), NULL));
}

/* The slot still has the signal, and no entry any more. */
TEST(entry_that_is_leaving_is_not_found)
{
#ifdef RTL_DEBUG_CHECKS
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	testpoint_run("signal_map_leaving", look_at_leaving);
	signal_map_remove(&sig[0], &entry[0]);
	CHECK_EQ_INT(signal_map_add(&sig[0], &entry[2], NULL), -EBUSY);
#else
	(void)look_at_leaving;
	SKIP("no points to meet at in this build");
#endif
}

TEST(pending_signal_is_busy_and_marked_shared)
{
	uint64_t b, e;

	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	CHECK_EQ_INT(signal_map_add(&sig[0], &entry[1], NULL), -EBUSY);
	complete(&sig[0], 10);
	CHECK_EQ_INT(poll_entry(&entry[0], &b, &e), INFLIGHT_REPLACED);
	signal_map_remove(&sig[0], &entry[0]);
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[1], &sig[0]), NULL));
}

TEST(unmapped_use_captures_mapped_operation)
{
	uint64_t b, e;

	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	complete(&sig[0], 10);
	signal_map_reuse(&sig[0]);
	sig[0].start_ts = sig[0].end_ts = 99;
	check_times(&entry[0], 10);
	CHECK_OK(signal_map_add(&sig[1], arm(&entry[1], &sig[1]), NULL));
	signal_map_reuse(&sig[1]);
	complete(&sig[1], 99); /* possibly the other operation's times */
	CHECK_EQ_INT(poll_entry(&entry[1], &b, &e), INFLIGHT_REPLACED);
}

TEST(destroyed_signal_is_never_read_again)
{
	uint64_t b, e;

	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	CHECK_OK(signal_map_add(&sig[1], arm(&entry[1], &sig[1]), NULL));
	complete(&sig[0], 10);
	signal_map_destroy(&sig[0]);
	signal_map_destroy(&sig[1]);
	signal_map_destroy(&sig[2]);
	memset(sig, 0xff, 3 * sizeof(sig[0]));
	check_times(&entry[0], 10);
	CHECK_EQ_INT(poll_entry(&entry[1], &b, &e), INFLIGHT_REPLACED);
}

TEST(late_removal_keeps_next_use)
{
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	complete(&sig[0], 10);
	CHECK_OK(signal_map_add(&sig[0], &entry[1], NULL));
	arm(&entry[1], &sig[0]);
	signal_map_remove(&sig[0], &entry[0]); /* a late removal */
	CHECK_EQ_INT(signal_map_add(&sig[0], &entry[2], NULL), -EBUSY);
	signal_map_remove(&sig[0], &entry[1]);
	CHECK_OK(signal_map_add(&sig[0], &entry[2], NULL));
}

TEST(thousands_of_signals_are_mapped_at_once)
{
	unsigned full = 0;

	for (unsigned i = 0; i < NR_SIGNALS; i++) {
		int err = signal_map_add(&sig[i], arm(&entry[i], &sig[i]), NULL);

		CHECK(err == 0 || err == -ENOSPC);
		full += err != 0;
	}
	CHECK_LT_UINT(full, NR_SIGNALS / 50);
	for (unsigned i = 0; i < NR_SIGNALS; i++) {
		complete(&sig[i], i + 1);
		signal_map_reuse(&sig[i]);
		check_times(&entry[i], i + 1);
		signal_map_remove(&sig[i], &entry[i]);
	}
	/* all slots are free again */
	for (unsigned round = 0; round < 20; round++)
		for (unsigned i = 0; i < 64; i++) {
			CHECK_OK(signal_map_add(&sig[i], arm(&entry[i], &sig[i]), NULL));
			signal_map_remove(&sig[i], &entry[i]);
		}
}

TEST(signals_of_several_pools_are_mapped_at_once)
{
	uint64_t area = UINT64_C(0x7f0000000000), full = 0;

	/* The runtime's pools: signals of 128 bytes, 512 in a row, in mappings at arbitrary
	 * addresses. */
	for (unsigned i = 0; i < NR_SIGNALS; i++) {
		amd_signal_t *s =
			(amd_signal_t *)(uintptr_t)(area + i % 512 * 128); /* never dereferenced */
		int err;

		if (i % 512 == 511)
			area += UINT64_C(0x1000) * (1 + i * UINT64_C(2654435761) % 100000);
		inflight_set_signal(&entry[i], s);
		atomic_store(&entry[i].state, INFLIGHT_ARMED);
		err = signal_map_add(s, &entry[i], NULL);
		CHECK(err == 0 || err == -ENOSPC);
		full += err != 0;
	}
	CHECK_EQ_UINT(full, 0);
}

/* As the harvester does: keeps the slot of a recorded operation. */
static void record_one(struct inflight_ring *r, struct inflight *e)
{
	uint64_t b, end;

	complete(inflight_signal(e), 10);
	CHECK_EQ_INT(poll_entry(e, &b, &end), INFLIGHT_TIMED);
	inflight_done(e);
	atomic_fetch_add(&r->tail, 1);
}

TEST(recorded_use_frees_signal_for_next_use)
{
	struct inflight *entries = block_alloc(SPOOL_BLOCK_QUEUE, 4, sizeof(*entries));
	struct inflight_ring r = { .entry = entries, .mask = 3, .free_end = 4 };

	CHECK_NOT_NULL(entries);
	for (unsigned i = 0; i < 20; i++) {
		struct inflight *e = inflight_next(&r);

		if (!e)
			FAIL("no entry is free");
		arm(e, &sig[0]);
		atomic_store(&e->state, INFLIGHT_FREE);
		CHECK_OK(signal_map_add(&sig[0], e, i % 3 ? &r : NULL));
		atomic_store(&e->state, INFLIGHT_ARMED);
		inflight_push(&r, e);
		CHECK_EQ_INT(signal_map_add(&sig[0], &entry[9], &r), -EBUSY);
		atomic_store(&e->tainted, false);
		record_one(&r, e);
	}
}

TEST(entry_reused_on_another_signal_is_unchanged)
{
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[0], &sig[0]), NULL));
	CHECK_OK(signal_map_add(&sig[2], arm(&entry[2], &sig[2]), NULL));
	arm(&entry[0], &sig[1]);
	atomic_store(&entry[0].state, INFLIGHT_FREE);
	CHECK_OK(signal_map_add(&sig[1], &entry[0], NULL));
	arm(&entry[2], &sig[3]);
	sig[0].value = 1;
	CHECK_OK(signal_map_add(&sig[0], arm(&entry[1], &sig[0]), NULL));
	signal_map_reuse(&sig[2]);
	signal_map_destroy(&sig[2]);
	CHECK(!atomic_load(&entry[0].tainted));
	CHECK(!atomic_load(&entry[2].tainted));
	CHECK_EQ_INT(atomic_load(&entry[2].state), INFLIGHT_ARMED);
}

TEST(full_window_evicts_recorded_entries_only)
{
	static struct inflight e;
	bool mapped[1024];
	unsigned full = 0;

	/* adjacent, so that they fill their windows */
	for (unsigned i = 0; i < 1024; i++)
		mapped[i] = signal_map_add(&sig[i], arm(&entry[i], &sig[i]), NULL) == 0;
	for (uintptr_t i = 1; i < 100000; i++) {
		amd_signal_t *s = (amd_signal_t *)(i * 64); /* never dereferenced */

		inflight_set_signal(&e, s);
		atomic_store(&e.state, INFLIGHT_FREE);
		full += signal_map_add(s, &e, NULL) == -ENOSPC;
		atomic_store(&e.state, INFLIGHT_DONE);
	}
	/* the entries in flight fill both windows for about a thirtieth of the signals */
	CHECK_LT_UINT(full, 500);
	for (unsigned i = 0; i < 1024; i++)
		if (mapped[i])
			CHECK_EQ_INT(signal_map_add(&sig[i], &entry[1024], NULL), -EBUSY);
}

TEST(reset_removes_all_mappings)
{
	for (unsigned i = 0; i < 100; i++)
		signal_map_add(&sig[i], arm(&entry[i], &sig[i]), NULL);
	signal_map_reset();
	for (unsigned i = 0; i < 100; i++)
		CHECK_OK(signal_map_add(&sig[i], arm(&entry[i], &sig[i]), NULL));
}

/* Each thread has its own signals, which share windows with other threads' signals. It polls what
 * was captured or completed: no times are lost, or taken from another use. */
#define NR_THREADS 4
#define PER_THREAD 64
#define NR_USES 40000

struct user {
	pthread_t thread;
	amd_signal_t signals[PER_THREAD];
	/* two entries for each signal, used alternately */
	struct inflight entries[PER_THREAD][2];
	uint64_t uses[PER_THREAD];
	uint64_t nr_timed, nr_full;
};
static struct user users[NR_THREADS];
static _Atomic bool harvester_done;

static void harvest(struct inflight *e, uint64_t expected, struct user *u)
{
	uint64_t begin = 0, end = 0;
	enum inflight_result r;

	do {
		r = poll_entry(e, &begin, &end);
	} while (r == INFLIGHT_PENDING);
	CHECK_EQ_INT(r, INFLIGHT_TIMED);
	CHECK_EQ_UINT(begin, expected);
	inflight_done(e);
	u->nr_timed++;
}

static void fill(struct inflight *e, amd_signal_t *s)
{
	inflight_set_signal(e, s);
	e->kind = INFLIGHT_DISPATCH;
	e->start_value = 1;
	e->nr_looks = 0;
	atomic_store(&e->tainted, false);
}

static void *use_signals(void *arg)
{
	struct user *u = arg;

	for (uint64_t i = 0; i < NR_USES; i++) {
		unsigned k = i % PER_THREAD;
		uint64_t use = u->uses[k]++;
		amd_signal_t *s = &u->signals[k];
		struct inflight *e = &u->entries[k][use % 2];

		__atomic_store_n(&s->value, 1, __ATOMIC_RELAXED);
		atomic_store_explicit(&e->state, INFLIGHT_FREE, memory_order_relaxed);
		fill(e, s);
		if (signal_map_add(s, e, NULL) != 0) {
			u->nr_full++;
			inflight_done(e);
			signal_map_reuse(s);
			if (use)
				harvest(&u->entries[k][1 - use % 2], use, u);
			u->uses[k] = 0;
			continue;
		}
		signal_clear_ticks(s);
		atomic_store_explicit(&e->state, INFLIGHT_ARMED, memory_order_release);
		/* the GPU */
		__atomic_store_n(&s->start_ts, use + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&s->end_ts, use + 2, __ATOMIC_RELEASE);
		__atomic_store_n(&s->value, 0, __ATOMIC_RELEASE);
		/* this use's signal_map_add() captured the previous use */
		if (use)
			harvest(&u->entries[k][1 - use % 2], use, u);
	}
	return NULL;
}

/* Calls signal_map_remove() for every signal all the time, as harvester and callback do. */
static void *remove_all(void *arg)
{
	(void)arg;
	while (!atomic_load(&harvester_done))
		for (int t = 0; t < NR_THREADS; t++)
			for (int k = 0; k < PER_THREAD; k++)
				signal_map_remove(&users[t].signals[k], &entry[0]);
	return NULL;
}

TEST(concurrent_users_get_their_own_times)
{
	pthread_t other;

	CHECK_OK(pthread_create(&other, NULL, remove_all, NULL));
	for (int t = 0; t < NR_THREADS; t++)
		CHECK_OK(pthread_create(&users[t].thread, NULL, use_signals, &users[t]));
	for (int t = 0; t < NR_THREADS; t++) {
		uint64_t left = 0;

		pthread_join(users[t].thread, NULL);
		for (int k = 0; k < PER_THREAD; k++)
			left += users[t].uses[k] > 0;
		CHECK_EQ_UINT(users[t].nr_timed + left + users[t].nr_full, NR_USES);
		CHECK_LT_UINT(users[t].nr_full, NR_USES / 100);
	}
	atomic_store(&harvester_done, true);
	pthread_join(other, NULL);
}

/* Many threads on one signal, which the API does not forbid: at most one of them is mapped. */
static amd_signal_t contested;
static _Atomic int nr_mapped;

static void *contest(void *arg)
{
	struct inflight *e = arg;

	for (int i = 0; i < 30000; i++) {
		atomic_store(&e->state, INFLIGHT_FREE);
		fill(e, &contested);
		if (signal_map_add(&contested, e, NULL) != 0) {
			inflight_done(e); /* else it would count as being submitted for ever */
			continue;
		}
		CHECK_EQ_INT(atomic_fetch_add(&nr_mapped, 1), 0);
		CHECK_EQ_INT(atomic_fetch_sub(&nr_mapped, 1), 1);
		if (i % 2)
			signal_map_remove(&contested, e);
		inflight_done(e);
	}
	return NULL;
}

TEST(contested_signal_is_mapped_to_one_use)
{
	pthread_t threads[4];

	contested.value = 1;
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, contest, &entry[i]));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	memset(&entry[4], 0, sizeof(entry[4]));
	CHECK_OK(signal_map_add(&contested, &entry[4], NULL));
}
