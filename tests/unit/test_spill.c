/* SPDX-License-Identifier: MIT */
/* test_spill.c - rows by their numbers, in memory and in a file */
#include "query/spill.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "support/test.h"

struct row {
	uint64_t number, square;
};

static void fill(struct spill *s, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		const struct row row = { i, i * i };

		CHECK_OK(spill_add(s, &row));
	}
	CHECK_EQ_UINT(spill_nr(s), nr);
}

static void check_row(const struct spill *s, struct spill_window *w, uint64_t i)
{
	const void *found;
	const struct row *row;

	CHECK_OK(spill_get(s, w, 16, i, &found));
	row = found;
	CHECK_EQ_UINT(row->number, i);
	CHECK_EQ_UINT(row->square, i * i);
}

TEST(rows_are_read_by_number_in_any_order)
{
	/* of all rows in memory, and of 100 there */
	static const size_t bytes[] = { 1 << 20, 100 * sizeof(struct row) };

	for (int n = 0; n < 2; n++) {
		struct spill_window w = { 0 };
		struct spill s;

		CHECK_OK(spill_init(&s, sizeof(struct row), bytes[n]));
		fill(&s, 1234);
		CHECK_EQ_INT(s.fd >= 0, n == 1);
		for (uint64_t i = 0; i < 1234; i++)
			check_row(&s, &w, i);
		for (uint64_t i = 1234; i-- > 0;)
			check_row(&s, &w, i);
		for (uint64_t i = 0; i < 1234; i++)
			check_row(&s, &w, i * 577 % 1234);
		spill_window_fini(&w);
		spill_clear(&s);
		fill(&s, 300);
		check_row(&s, &w, 7);
		spill_window_fini(&w);
		spill_fini(&s);
	}
}

TEST(file_that_cannot_be_made_is_an_error)
{
	struct spill s;
	struct row row = { 0 };
	int ret = 0;

	setenv("TMPDIR", "/nonexistent", 1);
	CHECK_OK(spill_init(&s, sizeof(row), sizeof(row)));
	for (int i = 0; i < 2 && !ret; i++)
		ret = spill_add(&s, &row);
	CHECK_LT_INT(ret, 0);
	CHECK_EQ_UINT(spill_nr(&s), 1);
	spill_fini(&s);
	alloc_fail_at(1);
	CHECK_LT_INT(spill_init(&s, sizeof(row), 64), 0);
	alloc_fail_at(0);
	spill_fini(&s);
}
