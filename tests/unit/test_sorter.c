/* SPDX-License-Identifier: MIT */
/* test_sorter.c - rows in order, in memory and by a file */
#include "query/sorter.h"

#include <errno.h>
#include <stdlib.h>

#include "support/test.h"

/* number: in the order in which rows were added */
struct row {
	int64_t key, number, sum;
};

struct seen {
	size_t nr, stop_at;
	struct row last;
	int64_t sum;
};

static int compare(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	return a->key < b->key ? -1 : a->key > b->key;
}

/* Rows of one key come as they were added. */
static int see(void *arg, const void *of)
{
	const struct row *row = of;
	struct seen *s = arg;

	if (s->nr) {
		CHECK(row->key >= s->last.key);
		CHECK(row->key > s->last.key || row->number > s->last.number);
	}
	CHECK_EQ_INT(row->sum, row->key * 3 + row->number);
	s->last = *row;
	s->sum += row->number;
	s->nr++;
	return s->nr == s->stop_at ? -EPIPE : 0;
}

static uint64_t next_random(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return state >> 33;
}

/* how 0: in order, 1: any order, 2: runs in order, 3: backwards, 4: few keys */
static struct sorter *make(size_t nr, size_t kept, int how)
{
	struct sorter *s = sorter_new(sizeof(struct row), compare, kept);

	CHECK_NOT_NULL(s);
	for (size_t i = 0; i < nr; i++) {
		int64_t key = how == 0 ? (int64_t)i :
			      how == 1 ? (int64_t)next_random() :
			      how == 2 ? (int64_t)(i % 1000 * 7 + i / 1000) :
			      how == 3 ? -(int64_t)i :
					 (int64_t)(next_random() % 5);
		const struct row row = { key, (int64_t)i, key * 3 + (int64_t)i };

		CHECK_OK(sorter_add(s, &row));
	}
	return s;
}

TEST(rows_come_in_order_from_memory_and_from_files)
{
	static const size_t numbers[] = { 0, 1, 99, 100, 101, 1000, 25317 };

	for (int how = 0; how < 5; how++)
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			for (int kept = 0; kept < 2; kept++) {
				size_t nr = numbers[i];
				struct sorter *s = make(nr, kept ? 300 : 0, how);
				struct seen seen = { 0 };

				CHECK_OK(sorter_read(s, see, &seen));
				CHECK_EQ_UINT(seen.nr, nr);
				CHECK_EQ_INT(seen.sum, (int64_t)(nr * (nr ? nr - 1 : 0) / 2));
				sorter_free(s);
			}
}

TEST(reader_that_fails_ends_the_reading)
{
	struct sorter *s = make(5000, 100, 1);
	struct seen seen = { .stop_at = 1234 };

	CHECK_EQ_INT(sorter_read(s, see, &seen), -EPIPE);
	CHECK_EQ_UINT(seen.nr, 1234);
	sorter_free(s);
}

TEST(directory_that_does_not_exist_is_an_error)
{
	struct sorter *s = make(100, 100, 0);
	const struct row row = { 1, 100, 103 };

	setenv("TMPDIR", "/no/such/directory", 1);
	CHECK_EQ_INT(sorter_add(s, &row), -ENOENT);
	sorter_free(s);
}
