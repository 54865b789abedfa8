/* SPDX-License-Identifier: MIT */
/* test_buffer.c - record buffers of faces: order, hand-over, policy, watermark, data of entries,
 * reuse, shared threads */
#include "../../lib/face/buffer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "support/test.h"

struct entry {
	uint64_t number;
	const char *name;
};

#define MAX_SEEN 400000u
static struct entry seen[MAX_SEEN];
static char last_name[64];
static _Atomic uint32_t nr_seen, nr_batches;
static _Atomic bool is_held;
static struct buffer *buffer;
static uint32_t to_write_inside;

static void write_number(uint64_t number)
{
	struct entry e = { .number = number };

	buffer_write(buffer, &e, 1, NULL, 0);
}

static void deliver(const char *begin, const char *end, void *arg)
{
	const struct entry *e = (const void *)begin;

	CHECK(arg == &seen);
	CHECK(begin < end);
	while (atomic_load(&is_held))
		sched_yield();
	for (; to_write_inside; to_write_inside--)
		write_number(1000 + to_write_inside);
	for (; (const char *)e < end; e++) {
		if (e->name)
			memcpy(last_name, e->name, strlen(e->name) + 1);
		seen[atomic_load(&nr_seen)] = *e;
		atomic_fetch_add(&nr_seen, 1);
	}
	atomic_fetch_add(&nr_batches, 1);
}

static void open_with(size_t entries, size_t watermark, enum buffer_policy policy)
{
	struct buffer_config config = {
		.half_size = entries * sizeof(struct entry),
		.entry_size = sizeof(struct entry),
		.link = offsetof(struct entry, name),
		.watermark = watermark,
		.policy = policy,
		.deliver = deliver,
		.arg = &seen,
	};

	atomic_store(&nr_seen, 0);
	atomic_store(&nr_batches, 0);
	CHECK_EQ_INT(buffer_open(&config, &buffer), 0);
}

static uint64_t close_it(void)
{
	uint64_t nr_lost;

	CHECK_EQ_INT(buffer_close(buffer, &nr_lost), 0);
	return nr_lost;
}

TEST(buffer_without_memory_is_not_opened)
{
	struct buffer_config config = {
		.half_size = 10 * sizeof(struct entry),
		.entry_size = sizeof(struct entry),
		.link = offsetof(struct entry, name),
		.watermark = SIZE_MAX,
		.policy = BUFFER_WAIT,
		.deliver = deliver,
		.arg = &seen,
	};
	int ret = -1;

	for (uint64_t n = 1; ret < 0; n++) {
		CHECK_LT_UINT(n, 100);
		buffer = NULL;
		alloc_fail_at(n);
		ret = buffer_open(&config, &buffer);
		alloc_fail_at(0);
		if (ret < 0)
			CHECK_EQ_INT(ret, -ENOMEM);
	}
	write_number(5);
	CHECK_EQ_UINT(close_it(), 0);
	CHECK_EQ_UINT(nr_seen, 1);
	CHECK_EQ_UINT(seen[0].number, 5);
}

TEST(full_half_is_delivered_whole_and_in_order)
{
	open_with(10, SIZE_MAX, BUFFER_WAIT);
	for (uint64_t i = 0; i < 35; i++)
		write_number(i);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_batches, 4);
	CHECK_EQ_UINT(nr_seen, 35);
	for (uint64_t i = 0; i < 35; i++)
		CHECK_EQ_UINT(seen[i].number, i);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_batches, 4);
	CHECK_EQ_UINT(close_it(), 0);
}

TEST(close_delivers_the_rest_and_later_writes_are_dropped)
{
	open_with(10, SIZE_MAX, BUFFER_WAIT);
	write_number(1);
	close_it();
	CHECK_EQ_UINT(nr_seen, 1);
	write_number(2);
	buffer_flush(buffer);
	close_it();
	CHECK_EQ_UINT(nr_seen, 1);
}

TEST(data_is_copied_behind_its_entry)
{
	char text[] = "a name";
	struct entry e[2] = { { .number = 1 }, { .number = 2 } };

	open_with(10, SIZE_MAX, BUFFER_WAIT);
	buffer_write(buffer, e, 2, text, sizeof(text));
	memset(text, 'x', sizeof(text) - 1);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_seen, 2);
	CHECK(!seen[0].name);
	CHECK_STR_EQ(last_name, "a name");
	CHECK(seen[1].name != text);
	close_it();
}

TEST(data_larger_than_a_half_is_delivered_before_write_returns)
{
	char text[48] = "a name that fits into no half of two entries";
	struct entry e = { .number = 1 };

	open_with(2, SIZE_MAX, BUFFER_WAIT);
	write_number(0);
	buffer_write(buffer, &e, 1, text, sizeof(text));
	CHECK_EQ_UINT(nr_seen, 2);
	CHECK(seen[1].name == NULL);
	close_it();
}

TEST(watermark_hands_half_over_before_it_is_full)
{
	open_with(10, 4 * sizeof(struct entry), BUFFER_WAIT);
	for (uint64_t i = 0; i < 4; i++) {
		CHECK_EQ_UINT(nr_seen, 0);
		write_number(i);
	}
	while (atomic_load(&nr_batches) != 1)
		sched_yield();
	CHECK_EQ_UINT(nr_seen, 4);
	close_it();
}

TEST(drop_policy_counts_what_does_not_fit)
{
	open_with(2, SIZE_MAX, BUFFER_DROP);
	atomic_store(&is_held, true);
	for (uint64_t i = 0; i < 7; i++)
		write_number(i);
	atomic_store(&is_held, false);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_seen, 4);
	CHECK_EQ_UINT(buffer_take_lost(buffer), 3);
	CHECK_EQ_UINT(buffer_take_lost(buffer), 0);
	CHECK_EQ_UINT(close_it(), 0);
}

TEST(deliver_may_write_more_than_the_halves_hold)
{
	open_with(4, SIZE_MAX, BUFFER_WAIT);
	to_write_inside = 50;
	write_number(1);
	buffer_flush(buffer);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_seen, 51);
	close_it();
}

static void close_inside(const char *begin, const char *end, void *arg)
{
	uint64_t nr_lost;

	(void)begin;
	(void)end;
	(void)arg;
	CHECK(buffer_is_delivering());
	buffer_flush(buffer);
	CHECK_EQ_INT(buffer_close(buffer, &nr_lost), -EDEADLK);
	atomic_fetch_add(&nr_batches, 1);
}

TEST(deliver_cannot_close_its_buffer)
{
	struct buffer_config config = {
		.half_size = 64, .entry_size = 16, .watermark = SIZE_MAX, .deliver = close_inside
	};

	CHECK_EQ_INT(buffer_open(&config, &buffer), 0);
	write_number(1);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_batches, 1);
	close_it();
}

TEST(buffer_without_deliver_keeps_nothing)
{
	struct buffer_config config = { .half_size = 64, .entry_size = 16, .watermark = SIZE_MAX };

	CHECK_EQ_INT(buffer_open(&config, &buffer), 0);
	for (uint64_t i = 0; i < 100; i++)
		write_number(i);
	buffer_flush(buffer);
	CHECK_EQ_UINT(close_it(), 0);
}

static void no_memory(char **memory, size_t size, void *arg)
{
	(void)memory;
	(void)size;
	(void)arg;
}

TEST(open_without_memory_fails_and_a_later_one_works)
{
	struct buffer_config config = { .half_size = 64,
					.entry_size = 16,
					.watermark = SIZE_MAX,
					.deliver = deliver,
					.allocate = no_memory };

	CHECK_EQ_INT(buffer_open(&config, &buffer), -ENOMEM);
	CHECK(!buffer);
	open_with(10, SIZE_MAX, BUFFER_WAIT);
	write_number(7);
	close_it();
	CHECK_EQ_UINT(nr_seen, 1);
}

TEST(child_of_a_fork_drops_writes_and_can_open_its_own)
{
	int status = -1;
	pid_t pid;

	open_with(10, SIZE_MAX, BUFFER_WAIT);
	write_number(1);
	pid = fork();
	if (pid == 0) {
		write_number(2);
		buffer_flush(buffer);
		close_it();
		if (nr_seen)
			_exit(1);
/* TSan ends a child that starts a thread; in one of ASan a lock of its heap may be held for ever */
#if !defined(RTL_SANITIZE_THREAD) && !defined(RTL_SANITIZE_ADDRESS)
		open_with(10, SIZE_MAX, BUFFER_WAIT);
		write_number(3);
		close_it();
		_exit(nr_seen == 1 && seen[0].number == 3 ? 0 : 1);
#endif
		_exit(0);
	}
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	CHECK_EQ_INT(status, 0);
	close_it();
	CHECK_EQ_UINT(nr_seen, 1);
	CHECK_EQ_UINT(seen[0].number, 1);
}

#define NR_WRITERS 4u
#define NR_EACH 20000u

static void *write_many(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg;
	struct entry e[2] = { { 0 } };

	for (uint64_t i = 0; i < NR_EACH; i += 2) {
		e[0].number = thread << 32 | i;
		e[1].number = thread << 32 | (i + 1);
		buffer_write(buffer, e, 2, i % 3 ? "name" : NULL, 5);
	}
	return NULL;
}

TEST(entries_of_many_threads_are_delivered_once_in_the_order_of_each)
{
	uint32_t next[NR_WRITERS] = { 0 };
	pthread_t threads[NR_WRITERS];
	uint64_t nr = 0;

	open_with(16, 12 * sizeof(struct entry), BUFFER_WAIT);
	for (uintptr_t i = 0; i < NR_WRITERS; i++)
		pthread_create(&threads[i], NULL, write_many, (void *)i);
	for (unsigned i = 0; i < 100; i++)
		buffer_flush(buffer);
	for (unsigned i = 0; i < NR_WRITERS; i++)
		pthread_join(threads[i], NULL);
	close_it();
	CHECK_EQ_UINT(nr_seen, NR_WRITERS * NR_EACH);
	for (; nr < nr_seen; nr++) {
		CHECK_EQ_UINT(seen[nr].number & UINT32_MAX, next[seen[nr].number >> 32]);
		next[seen[nr].number >> 32]++;
		/* two that were written together lie side by side */
		CHECK(nr % 2 == 0 || seen[nr].number == seen[nr - 1].number + 1);
	}
}

static void *write_and_flush(void *arg)
{
	struct entry e = { 0 };

	for (unsigned i = 0; i < 5000; i++) {
		buffer_write(arg, &e, 1, NULL, 0);
		if (i % 64 == 0)
			buffer_flush(arg);
	}
	return arg;
}

TEST(writers_while_the_buffer_is_closed_and_opened_again)
{
	pthread_t threads[2];

	open_with(8, SIZE_MAX, BUFFER_WAIT);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_and_flush, buffer);
	for (unsigned i = 0; i < 50; i++) {
		struct buffer *before = buffer;

		close_it();
		open_with(8 + i % 5, SIZE_MAX, BUFFER_WAIT);
		CHECK(buffer == before);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	close_it();
}

TEST(half_that_reaches_watermark_during_a_delivery_is_delivered_next)
{
	open_with(10, 3 * sizeof(struct entry), BUFFER_WAIT);
	atomic_store(&is_held, true);
	for (uint64_t i = 0; i < 3; i++)
		write_number(i);
	for (uint64_t i = 3; i < 7; i++)
		write_number(i);
	atomic_store(&is_held, false);
	while (atomic_load(&nr_batches) != 2)
		sched_yield();
	CHECK_EQ_UINT(nr_seen, 7);
	close_it();
}

TEST(half_with_exactly_the_watermark_after_a_delivery_is_delivered_next)
{
	open_with(10, 3 * sizeof(struct entry), BUFFER_WAIT);
	atomic_store(&is_held, true);
	for (uint64_t i = 0; i < 6; i++)
		write_number(i);
	atomic_store(&is_held, false);
	while (atomic_load(&nr_batches) != 2)
		sched_yield();
	CHECK_EQ_UINT(nr_seen, 6);
	close_it();
}

TEST(data_alone_counts_for_watermark_if_asked_for)
{
	struct buffer_config config = {
		.half_size = 4096,
		.entry_size = sizeof(struct entry),
		.link = offsetof(struct entry, name),
		.watermark = 4 * 32,
		.watermark_of_data = true,
		.deliver = deliver,
		.arg = &seen,
	};
	const char data[32] = "data";
	struct entry e = { 0 };

	CHECK_EQ_INT(buffer_open(&config, &buffer), 0);
	for (unsigned i = 0; i < 3; i++)
		buffer_write(buffer, &e, 1, data, sizeof(data));
	usleep(20000);
	CHECK_EQ_UINT(nr_seen, 0);
	buffer_write(buffer, &e, 1, data, sizeof(data));
	while (atomic_load(&nr_batches) == 0)
		sched_yield();
	CHECK_EQ_UINT(nr_batches, 1);
	CHECK_EQ_UINT(nr_seen, 4);
	close_it();
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* What fits, and 20 more, while nothing is delivered. */
static uint64_t write_too_much(void (*write)(struct buffer *b, const void *entries, uint32_t nr,
					     const void *data, size_t size))
{
	uint64_t begin = now_ms();
	char name[16];

	for (uint64_t i = 0; i < 40; i++) {
		struct entry e = { .number = i };

		snprintf(name, sizeof(name), "%u", (unsigned)i);
		write(buffer, &e, 1, name, strlen(name) + 1);
	}
	return now_ms() - begin;
}

static char names[64][16];

static void deliver_names(const char *begin, const char *end, void *arg)
{
	(void)arg;
	while (atomic_load(&is_held))
		sched_yield();
	for (const struct entry *e = (const void *)begin; (const char *)e < end; e++) {
		memcpy(names[nr_seen], e->name, strlen(e->name) + 1);
		seen[atomic_fetch_add(&nr_seen, 1)] = *e;
	}
	atomic_fetch_add(&nr_batches, 1);
}

static void open_names_for(size_t max_aside)
{
	struct buffer_config config = { .max_aside = max_aside,
					.half_size = 10 * (sizeof(struct entry) + 8),
					.entry_size = sizeof(struct entry),
					.link = offsetof(struct entry, name),
					.watermark = SIZE_MAX,
					.deliver = deliver_names };

	CHECK_EQ_INT(buffer_open(&config, &buffer), 0);
	atomic_store(&is_held, true);
}

static void open_names(void)
{
	open_names_for(0);
}

static void check_names(void)
{
	char name[16];

	atomic_store(&is_held, false);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_seen, 40);
	for (uint32_t i = 0; i < nr_seen; i++) {
		snprintf(name, sizeof(name), "%u", i);
		CHECK_EQ_UINT(seen[i].number, i);
		CHECK_STR_EQ(names[i], name);
	}
	CHECK_EQ_UINT(close_it(), 0);
}

TEST(writer_waits_for_a_bounded_time_and_loses_nothing)
{
	uint64_t ms;

	open_names();
	ms = write_too_much(buffer_write);
	CHECK(ms >= 200);
	CHECK(ms < 5000);
	check_names();
}

TEST(write_now_never_waits_and_loses_nothing)
{
	open_names();
	CHECK(write_too_much(buffer_write_now) < 100);
	check_names();
}

TEST(entries_beyond_the_limit_are_counted_and_the_others_delivered)
{
	uint64_t nr_lost;

	/* entries with data take 18 or 19 bytes */
	open_names_for(10 * (sizeof(struct entry) + 3));
	CHECK_EQ_UINT(atomic_load(&buffer_nr_pressed), 0);
	/* a writer that waits is delayed for a bounded time, too */
	CHECK(write_too_much(buffer_write) < 5000);
	CHECK_EQ_UINT(atomic_load(&buffer_nr_pressed), 1);
	buffer_relieve();
	atomic_store(&is_held, false);
	buffer_flush(buffer);
	CHECK_EQ_UINT(atomic_load(&buffer_nr_pressed), 0);
	nr_lost = buffer_take_lost(buffer);
	CHECK_EQ_UINT(nr_seen + nr_lost, 40);
	CHECK_EQ_UINT(nr_lost, 10);
	for (uint32_t i = 0; i < nr_seen; i++)
		CHECK_EQ_UINT(seen[i].number, i);
	close_it();
}

TEST(entry_that_would_fit_stays_behind_one_that_was_put_aside)
{
	struct entry e = { .number = 1, .name = "one" };
	char large[45] = "large", small[7] = "small";

	open_names();
	buffer_write(buffer, &e, 1, small, sizeof(small));
	buffer_hand_over(buffer);
	/* the other half has 240 bytes: three of these, in whole words */
	for (e.number = 2; e.number < 6; e.number++)
		buffer_write_now(buffer, &e, 1, large, sizeof(large));
	buffer_write_now(buffer, &e, 1, small, sizeof(small));
	atomic_store(&is_held, false);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_seen, 6);
	for (uint32_t i = 0; i < nr_seen; i++) {
		CHECK_EQ_UINT(seen[i].number, i + 1);
		CHECK_EQ_UINT((uintptr_t)seen[i].name % 8, 0);
	}
	close_it();
}

TEST(flush_with_a_bound_reports_a_deliver_that_does_not_return)
{
	open_with(10, SIZE_MAX, BUFFER_WAIT);
	atomic_store(&is_held, true);
	write_number(1);
	CHECK_EQ_INT(buffer_flush_for(buffer, 20000000), -EBUSY);
	atomic_store(&is_held, false);
	CHECK_EQ_INT(buffer_flush_for(buffer, UINT64_C(10000000000)), 0);
	CHECK_EQ_UINT(nr_seen, 1);
	CHECK_EQ_INT(buffer_flush_for(buffer, 0), 0);
	close_it();
}

TEST(discard_delivers_nothing_more)
{
	open_with(10, SIZE_MAX, BUFFER_WAIT);
	atomic_store(&is_held, true);
	write_number(1);
	buffer_hand_over(buffer);
	CHECK_EQ_INT(buffer_discard(buffer), -EBUSY);
	atomic_store(&is_held, false);
	buffer_flush(buffer);
	write_number(2);
	CHECK_EQ_INT(buffer_discard(buffer), 1);
	CHECK_EQ_INT(buffer_discard(buffer), 0);
	write_number(3);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_seen, 1);
}

/* ---- threads that buffers share ---- */

#define NR_SHARING 3
static struct buffer *sharing[NR_SHARING];
static pthread_t delivered_by[NR_SHARING];
static _Atomic uint32_t nr_of[NR_SHARING];
static _Atomic bool is_in_deliver;

/* Each passes some of what it gets to the next one. */
static void pass_on(const char *begin, const char *end, void *arg)
{
	unsigned int i = (unsigned int)(uintptr_t)arg;

	CHECK(!atomic_exchange(&is_in_deliver, true));
	CHECK(buffer_is_delivering());
	delivered_by[i] = pthread_self();
	for (const struct entry *e = (const void *)begin; (const char *)e < end; e++) {
		struct entry next = { .number = e->number + 1 };

		atomic_fetch_add(&nr_of[i], 1);
		if (i + 1 < NR_SHARING)
			buffer_write(sharing[i + 1], &next, 1, NULL, 0);
	}
	/* a thread that delivers waits for no other one */
	buffer_flush_for(sharing[(i + 1) % NR_SHARING], UINT64_C(10000000000));
	atomic_store(&is_in_deliver, false);
}

static void open_sharing(struct buffer_thread *t)
{
	for (unsigned int i = 0; i < NR_SHARING; i++) {
		struct buffer_config config = { .half_size = 4 * sizeof(struct entry),
						.entry_size = sizeof(struct entry),
						.watermark = SIZE_MAX,
						.deliver = pass_on,
						.arg = (void *)(uintptr_t)i,
						.thread = t };

		CHECK_EQ_INT(buffer_open(&config, &sharing[i]), 0);
	}
}

TEST(buffers_share_a_thread_and_write_to_each_other)
{
	struct buffer_thread *t;
	uint64_t nr_lost;

	CHECK_EQ_INT(buffer_thread_start(NULL, &t), 0);
	open_sharing(t);
	buffer = sharing[0];
	for (unsigned int i = 0; i < 1000; i++)
		write_number(i);
	for (unsigned int i = 0; i < NR_SHARING; i++) {
		buffer_flush(sharing[i]);
		CHECK_EQ_UINT(nr_of[i], 1000);
		CHECK(pthread_equal(delivered_by[i], delivered_by[0]));
	}
	for (unsigned int i = 0; i < NR_SHARING; i++)
		CHECK_EQ_INT(buffer_close(sharing[i], &nr_lost), 0);
	buffer_thread_end(t);
}

TEST(moved_buffer_is_delivered_by_its_new_thread)
{
	struct buffer_thread *t;

	CHECK_EQ_INT(buffer_thread_start(NULL, &t), 0);
	open_sharing(t);
	buffer = sharing[NR_SHARING - 1];
	write_number(1);
	buffer_flush(buffer);
	delivered_by[0] = delivered_by[NR_SHARING - 1];
	CHECK_EQ_INT(buffer_thread_start(NULL, &t), 0);
	CHECK_EQ_INT(buffer_move(buffer, t), 0);
	write_number(2);
	buffer_flush(buffer);
	CHECK_EQ_UINT(nr_of[NR_SHARING - 1], 2);
	CHECK(!pthread_equal(delivered_by[NR_SHARING - 1], delivered_by[0]));
	close_it();
}

/* ---- exactly once, whatever happens ---- */

#define NR_STRESSED 16u
static uint64_t nr_each; /* of each thread */
static struct {
	uint64_t next, nr_late;
} stressed[NR_STRESSED];
static uint64_t nr_delivered, nr_reported;
static bool may_miss;

/* Slow, and checks that each thread's entries come once and in order, with their data. */
static void deliver_slowly(const char *begin, const char *end, void *arg)
{
	const struct timespec pause = { 0, 20000 };

	(void)arg;
	nr_reported += buffer_take_lost(buffer);
	for (const struct entry *e = (const void *)begin; (const char *)e < end; e++) {
		uint64_t thread = e->number >> 32, number = e->number & UINT32_MAX, data;

		memcpy(&data, e->name, sizeof(data));
		CHECK_EQ_UINT(data, ~e->number);
		CHECK(may_miss ? number >= stressed[thread].next : number == stressed[thread].next);
		stressed[thread].next = number + 1;
		nr_delivered++;
	}
	nanosleep(&pause, NULL);
}

static void *write_stress(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < nr_each; i++) {
		uint64_t data[4] = { ~(thread << 32 | i) };
		struct entry e = { .number = thread << 32 | i };

		if (i % 7 == 3)
			buffer_write_now(buffer, &e, 1, data, sizeof(data));
		else
			buffer_write(buffer, &e, 1, data, sizeof(data));
		if (i % 5000 == 0)
			buffer_flush_for(buffer, 1000000);
	}
	return NULL;
}

static void stress(enum buffer_policy policy)
{
	pthread_t threads[NR_STRESSED];
	struct buffer_config config = {
		.half_size = 4096,
		.entry_size = sizeof(struct entry),
		.link = offsetof(struct entry, name),
		.watermark = 3000,
		.watermark_of_data = true,
		.policy = policy,
		.deliver = deliver_slowly,
	};

	/* the sanitizer is 20 times slower */
#ifdef RTL_SANITIZE_THREAD
	nr_each = 3000;
#else
	nr_each = getenv("RTL_TEST_LONG") ? 10000000 / NR_STRESSED : 20000;
#endif
	CHECK_EQ_INT(buffer_open(&config, &buffer), 0);
	for (uintptr_t i = 0; i < NR_STRESSED; i++)
		pthread_create(&threads[i], NULL, write_stress, (void *)i);
	for (unsigned int i = 0; i < NR_STRESSED; i++)
		pthread_join(threads[i], NULL);
	nr_reported += close_it();
}

TEST(slow_deliver_gets_each_entry_of_sixteen_threads_once_and_in_order)
{
	stress(BUFFER_WAIT);
	CHECK_EQ_UINT(nr_delivered, nr_each * NR_STRESSED);
	CHECK_EQ_UINT(nr_reported, 0);
}

TEST(dropped_and_delivered_entries_of_sixteen_threads_add_up)
{
	may_miss = true;
	stress(BUFFER_DROP);
	CHECK_EQ_UINT(nr_delivered + nr_reported, nr_each * NR_STRESSED);
	CHECK(nr_reported > 0);
}
