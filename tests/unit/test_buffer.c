/* SPDX-License-Identifier: MIT */
/* test_buffer.c - record buffers of faces: order, hand-over, policy, watermark, data of entries, reuse */
#include "../../lib/face/buffer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
#ifndef RTL_SANITIZE_THREAD /* which ends a child that starts a thread */
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
