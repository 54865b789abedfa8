/* SPDX-License-Identifier: MIT */
/* test_join.c - operations that HIP's own threads submit are joined to one call, or none */
#include <pthread.h>
#include <unistd.h>

#include "event/join.h"
#include "event/thread.h"
#include "support/sink_record.h"
#include "support/test.h"

static uint32_t self;

static void open_all(void)
{
	sink_record_open();
	CHECK(join_turn_on());
	CHECK(join_is_on());
	self = thread_get()->tid;
	join_submits(self);
}

/* Submits an operation with this id (0: not an operation). */
static void submit(uint64_t signal, uint64_t id)
{
	join_submitted(signal, self);
	if (id)
		join_wanted(signal, id);
}

static void reported(uint64_t call, uint64_t begin, uint64_t end)
{
	join_reported(&(struct join_call){ call, call + 1, (uint32_t)call + 2 }, begin, end);
}

static void check(uint64_t n, uint64_t operation, uint64_t call)
{
	const struct event *ev = sink_record_at(EVENT_LINK, n);

	CHECK_NOT_NULL(ev);
	CHECK_EQ_UINT(ev->link.operation, operation);
	CHECK_EQ_UINT(ev->link.correlation, call);
	CHECK_EQ_UINT(ev->link.marker, call + 1);
	CHECK_EQ_UINT(ev->link.tid, call + 2);
}

static void check_left(uint64_t links, uint64_t missed)
{
	CHECK_EQ_UINT(sink_record_count(EVENT_LINK), links);
	join_finish();
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_api_missed), missed);
}

TEST(reported_times_identify_their_operation)
{
	open_all();
	submit(0x1000, 7);
	submit(0x2000, 8);
	submit(0x3000, 9);
	/* the times may be read in any order */
	join_asked(0x3000, 30, 39);
	join_asked(0x1000, 10, 19);
	reported(100, 10, 19);
	join_asked(0x2000, 20, 29);
	reported(200, 20, 29);
	reported(300, 30, 39);
	check(0, 7, 100);
	check(1, 8, 200);
	check(2, 9, 300);
	check_left(3, 0);
}

TEST(command_of_several_signals_joins_all_of_them)
{
	open_all();
	submit(0x1000, 7);
	submit(0x2000, 0); /* a barrier between them */
	submit(0x3000, 8);
	submit(0x4000, 9);
	join_asked(0x4000, 50, 59);
	join_asked(0x1000, 10, 19);
	join_asked(0x2000, 19, 19);
	join_asked(0x3000, 20, 29);
	reported(100, 10, 29);
	reported(200, 50, 59);
	check(0, 7, 100);
	check(1, 8, 100);
	check(2, 9, 200);
	check_left(3, 0);
}

TEST(parts_read_earlier_belong_to_the_command)
{
	open_all();
	submit(0x1000, 7);
	join_asked(0x1000, 10, 19);
	submit(0x2000, 8);
	join_asked(0x2000, 20, 29);
	submit(0x1000, 9);
	join_asked(0x1000, 30, 39);
	submit(0x2000, 10);
	/* the first command's reported end is that of its last part */
	reported(100, 30, 39);
	join_asked(0x2000, 40, 49);
	reported(200, 40, 49);
	for (uint64_t i = 0; i < 3; i++)
		check(i, 7 + i, 100);
	check(3, 10, 200);
	check_left(4, 0);
}

TEST(operations_before_unknown_command_are_not_joined)
{
	open_all();
	submit(0x1000, 7);
	join_asked(0x1000, 10, 19);
	reported(100, 11, 19); /* matches no operation: the command is that of 0x1000, or another */
	submit(0x2000, 8);
	join_asked(0x2000, 20, 29);
	reported(200, 20, 29);
	join_reported_other();
	submit(0x3000, 9);
	join_asked(0x3000, 30, 39);
	submit(0x4000, 10);
	join_asked(0x4000, 40, 49);
	reported(300, 40, 49);
	check(0, 8, 200);
	check(1, 10, 300);
	check_left(2, 2);
}

TEST(two_equal_answers_join_no_operation)
{
	open_all();
	submit(0x1000, 7);
	submit(0x2000, 8);
	join_asked(0x1000, 10, 10);
	join_asked(0x2000, 10, 10);
	reported(100, 10, 10);
	reported(200, 10, 10);
	/* nor one next to a barrier with the same times */
	submit(0x3000, 9);
	submit(0x4000, 0);
	join_asked(0x3000, 30, 30);
	join_asked(0x4000, 30, 30);
	reported(300, 30, 30);
	check_left(0, 3);
}

TEST(ambiguous_answers_join_no_operation)
{
	open_all();
	submit(0x1000, 7);
	submit(0x2000, 0);
	submit(0x3000, 8);
	submit(0x4000, 9);
	join_asked(0x1000, 10, 29);
	join_asked(0x3000, 10, 19);
	join_asked(0x4000, 20, 29);
	reported(100, 10, 29);
	check_left(0, 3);
}

TEST(operation_between_barriers_is_joined)
{
	open_all();
	submit(0x1000, 0);
	submit(0x2000, 7);
	submit(0x3000, 0);
	join_asked(0x3000, 19, 19);
	join_asked(0x1000, 10, 10);
	join_asked(0x2000, 10, 19);
	reported(100, 10, 19);
	check(0, 7, 100);
	check_left(1, 0);
}

/* The operation at 5 to 6, with an instantaneous barrier after it and another one before it. */
TEST(runs_that_differ_by_a_barrier_join_same_operations)
{
	open_all();
	submit(0x1000, 5);
	submit(0x2000, 6);
	submit(0x3000, 0);
	submit(0x4000, 7);
	join_asked(0x1000, 10, 19);
	join_asked(0x2000, 20, 29);
	join_asked(0x3000, 29, 29);
	join_asked(0x4000, 40, 49);
	reported(100, 10, 29);
	check(0, 5, 100);
	check(1, 6, 100);
	/* the barrier is left for its own command */
	reported(200, 29, 49);
	check(2, 7, 200);
	check_left(3, 0);
}

TEST(second_read_of_same_signal_joins_nothing)
{
	open_all();
	submit(0x1000, 7);
	join_asked(0x1000, 10, 19);
	join_asked(0x1000, 10, 19);
	reported(100, 10, 19);
	/* a signal that was never submitted, and one that was destroyed */
	join_asked(0x9000, 20, 29);
	reported(200, 20, 29);
	submit(0x2000, 8);
	join_forget(0x2000);
	join_asked(0x2000, 30, 39);
	reported(300, 30, 39);
	check(0, 7, 100);
	check_left(1, 1);
}

TEST(reused_signal_means_its_last_operation)
{
	open_all();
	submit(0x1000, 7);
	submit(0x1000, 0);
	join_asked(0x1000, 10, 19);
	reported(100, 10, 19);
	submit(0x1000, 8);
	join_asked(0x1000, 20, 29);
	reported(200, 20, 29);
	check(0, 8, 200);
	check_left(1, 1);
}

TEST(missed_call_or_left_out_operation_emits_no_link)
{
	open_all();
	submit(0x1000, 7);
	join_asked(0x1000, 10, 19);
	reported(0, 10, 19);
	submit(0x1000, EVENT_LEFT_OUT | 8);
	join_asked(0x1000, 20, 29);
	reported(200, 20, 29);
	check_left(0, 1);
}

TEST(refused_operation_is_not_counted_as_missed)
{
	open_all();
	submit(0x1000, 7);
	join_unwanted(0x1000, 7);
	submit(0x1000, 8);
	join_unwanted(0x1000, 7); /* of an earlier operation: another one uses the signal by now */
	join_wanted(0x2000, 9);	  /* the signal is unknown */
	join_unwanted(0x2000, 9);
	join_wanted(0x1000, EVENT_LEFT_OUT | 10);
	join_unwanted(0x1000, EVENT_LEFT_OUT | 10);
	join_wanted(0x1000, 8); /* replaces the second one above */
	join_asked(0x1000, 20, 29);
	reported(200, 20, 29);
	check(0, 8, 200);
	check_left(1, 0);
}

static void *report_elsewhere(void *arg)
{
	(void)arg;
	reported(100, 10, 19);
	return NULL;
}

TEST(times_reported_on_other_thread_join_nothing)
{
	pthread_t id;

	open_all();
	submit(0x1000, 7);
	join_asked(0x1000, 10, 19);
	CHECK_OK(pthread_create(&id, NULL, report_elsewhere, NULL));
	CHECK_OK(pthread_join(id, NULL));
	CHECK_EQ_UINT(sink_record_count(EVENT_LINK), 0);
	reported(200, 10, 19);
	check(0, 7, 200);
	check_left(1, 0);
}

#define NR_THREADS 4
#define EACH UINT64_C(20000)

/* A thread with its own signals, and times that all threads share. */
static void *work(void *arg)
{
	uint64_t me = (uint64_t)(uintptr_t)arg, first = me * EACH;
	uint32_t tid = thread_get()->tid;

	for (uint64_t i = 0; i < EACH; i++) {
		uint64_t signal = me << 32 | (1 + i % 50) << 6;
		struct join_call call = { first + i + 1, 0, tid };

		join_submits(tid);
		join_submitted(signal, tid);
		join_wanted(signal, first + i + 1);
		join_asked(signal, 10 * i, 10 * i + 9);
		join_reported(&call, 10 * i, 10 * i + 9);
		if (i % 50 == 49)
			join_forget(signal);
	}
	return NULL;
}

TEST(concurrent_threads_join_only_their_operations)
{
	static const struct event *links[NR_THREADS * EACH];
	pthread_t id[NR_THREADS];

	open_all();
	for (uint64_t i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&id[i], NULL, work, (void *)(uintptr_t)i));
	for (uint64_t i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_join(id[i], NULL));
	check_left(NR_THREADS * EACH, 0);
	sink_record_each(EVENT_LINK, links, NR_THREADS * EACH);
	for (uint64_t i = 0; i < NR_THREADS * EACH; i++)
		CHECK_EQ_UINT(links[i]->link.operation, links[i]->link.correlation);
}

/* ids of calls with the same entry */
#define APART (UINT64_C(1) << 18)

TEST(call_is_found_by_its_id)
{
	struct join_call found = { 1, 2, 3 };

	open_all();
	CHECK(!join_begun(0, &found));
	CHECK(!join_begun(77, &found));
	CHECK_EQ_UINT(found.correlation, 1);
	join_begins(&(struct join_call){ 77, 5, 6 });
	CHECK(join_begun(77, &found));
	CHECK_EQ_UINT(found.correlation, 77);
	CHECK_EQ_UINT(found.marker, 5);
	CHECK_EQ_UINT(found.tid, 6);
	/* the runtime's copy of the id may have more bits */
	CHECK(join_begun(77 | (JOIN_ID + 1) | UINT64_C(1) << 60, &found));
	CHECK_EQ_UINT(found.correlation, 77);
	/* a later call with the same entry replaces it: the earlier one is not found */
	join_begins(&(struct join_call){ 77 + APART, 8, 9 });
	CHECK(!join_begun(77, &found));
	CHECK(join_begun(77 + APART, &found));
	CHECK_EQ_UINT(found.tid, 9);
}

#define MANY_CALLS UINT64_C(100000)

/* The id of the call that began last, whichever thread made it. */
static _Atomic uint64_t latest;

/* All calls use one entry. As in the product no id is used twice: with ids that repeat, a reader
 * could see the same id before and after another call was stored in between. */
static void *begin_calls(void *arg)
{
	for (uint64_t i = *(uint64_t *)arg; i < MANY_CALLS; i += 2) {
		uint64_t id = 1 + i * APART;

		join_begins(&(struct join_call){ id, 2 * id, (uint32_t)i });
		atomic_store(&latest, id);
	}
	return NULL;
}

TEST(concurrently_read_call_is_consistent_or_not_found)
{
	uint64_t which[2] = { 0, 1 };
	struct join_call found;
	pthread_t threads[2];

	open_all();
	join_begins(&(struct join_call){ 1, 2, 0 });
	atomic_store(&latest, 1);
	for (int i = 0; i < 2; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, begin_calls, &which[i]));
	for (uint64_t n = 0; n < 2 * MANY_CALLS; n++) {
		uint64_t id = atomic_load(&latest);

		if (!join_begun(id, &found))
			continue;
		CHECK_EQ_UINT(found.correlation, id);
		CHECK_EQ_UINT(found.marker, 2 * id);
		CHECK_EQ_UINT(found.tid, id / APART);
	}
	for (int i = 0; i < 2; i++)
		CHECK_OK(pthread_join(threads[i], NULL));
}

#define MANY UINT64_C(100000)

TEST(new_answers_replace_old_ones)
{
	open_all();
	submit(0x40, 1);
	join_asked(0x40, 5, 6);
	for (uint64_t i = 1; i < MANY; i++) {
		submit(i % 1000 * 64 + 64, 2 * i);
		join_asked(i % 1000 * 64 + 64, 10 * i, 10 * i + 9);
		/* half of them are never reported */
		if (i % 2) {
			join_reported_other();
			reported(3 * i, 10 * i, 10 * i + 9);
		}
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_LINK), MANY / 2);
	for (uint64_t i = 1; i < MANY; i += 2)
		if (i < 50 || i > MANY - 50)
			check(i / 2, 2 * i, 3 * i);
	reported(9, 5, 6);
	check_left(MANY / 2, MANY - MANY / 2);
}

/* The oldest are at the ends of their chains, where they are taken out. */
TEST(answers_that_are_kept_are_found_after_others_are_replaced)
{
	const uint64_t kept = 60000;

	open_all();
	for (uint64_t i = 1; i <= MANY; i++) {
		submit(i % 1000 * 64 + 64, 2 * i);
		join_asked(i % 1000 * 64 + 64, 10 * i, 10 * i + 9);
	}
	for (uint64_t i = MANY - kept + 1; i <= MANY; i++) {
		join_reported_other();
		reported(3 * i, 10 * i, 10 * i + 9);
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_LINK), kept);
	check(0, 2 * (MANY - kept + 1), 3 * (MANY - kept + 1));
	check(kept - 1, 2 * MANY, 3 * MANY);
	check_left(kept, MANY - kept);
}
