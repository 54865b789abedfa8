/* SPDX-License-Identifier: MIT */
/* test_sheet.c - rows, their order, and what happens without memory */
#include "analysis/sheet.h"

#include <errno.h>

#include "base/alloc.h"
#include "support/test.h"

static const struct sheet_column columns[] = {
	{ "name", "NAME", SHEET_NAME, .is_last = true },
	{ "gpu", "GPU", SHEET_NUMBER, .drop = 0 },
	{ "gpu_ns", "GPU TIME", SHEET_TIME, .drop = 0 },
	{ "delay_ns", "DELAY", SHEET_SPAN, .drop = 0 },
	{ "share", NULL, SHEET_SHARE, .drop = 0 },
};
enum { NAME, GPU, TIME, DELAY, SHARE, NR };

static void add(struct sheet *t, const char *name, uint64_t gpu, uint64_t ns, int64_t delay)
{
	const struct sheet_cell cells[NR] = { { .text = name },
					      { .num = gpu },
					      { .num = ns },
					      { .num = (uint64_t)delay },
					      { .real = 1.0 / (double)(ns + 1), .none = !ns } };

	sheet_row(t, cells);
}

static struct sheet three_rows(void)
{
	struct sheet t = { 0 };

	sheet_columns(&t, columns, NR);
	add(&t, "b", 1, 20, -5);
	add(&t, "a", 0, 30, 3);
	add(&t, "c", 2, 0, -7);
	return t;
}

static const char *name_at(const struct sheet *t, size_t row)
{
	return sheet_cell(t, row, NAME)->text;
}

TEST(rows_are_sorted_by_any_column)
{
	static const struct {
		const char *column, *first, *last;
	} orders[] = {
		{ "name", "a", "c" },	{ "gpu", "a", "c" },   { "GPU TIME", "a", "c" },
		{ "gpu_ns", "a", "c" }, { "delay", "a", "c" }, { "share", "b", "c" },
	};
	struct sheet t = three_rows();

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		CHECK(sheet_sort(&t, orders[i].column));
		CHECK_STR_EQ(name_at(&t, 0), orders[i].first);
		CHECK_STR_EQ(name_at(&t, 2), orders[i].last);
	}
	CHECK(!sheet_sort(&t, "nam"));
	CHECK(!sheet_sort(&t, "gp"));
	sheet_fini(&t);
}

TEST(rows_beyond_the_most_are_counted)
{
	struct sheet t = { .most = 1 };

	sheet_columns(&t, columns, NR);
	add(&t, "a", 0, 1, 0);
	CHECK(!sheet_keeps(&t));
	add(&t, "b", 0, 1, 0);
	CHECK_EQ_UINT(t.nr_rows, 1);
	CHECK_EQ_UINT(t.nr, 2);
	CHECK_STR_EQ(name_at(&t, 0), "a");
	sheet_fini(&t);
}

TEST(limit_leaves_the_first_rows)
{
	struct sheet t = three_rows();

	sheet_limit(&t, 5);
	CHECK_EQ_UINT(t.nr_rows, 3);
	sheet_limit(&t, 2);
	CHECK_EQ_UINT(t.nr_rows, 2);
	CHECK_STR_EQ(name_at(&t, 1), "a");
	sheet_fini(&t);
}

TEST(last_columns_are_moved_with_their_cells)
{
	struct sheet t = three_rows();

	sheet_put_last(&t);
	CHECK_STR_EQ(t.columns[0].key, "gpu");
	CHECK_STR_EQ(t.columns[NR - 1].key, "name");
	CHECK_EQ_UINT(sheet_cell(&t, 1, 1)->num, 30);
	CHECK_STR_EQ(sheet_cell(&t, 1, NR - 1)->text, "a");
	sheet_fini(&t);
}

TEST(lack_of_memory_is_remembered)
{
	unsigned int nr_failed = 0;

	for (uint64_t n = 1; n < 20; n++) {
		struct sheet t;
		bool failed;

		alloc_fail_at(n);
		t = three_rows();
		sheet_note(&t, "%d rows", 3);
		sheet_missing(&t, "nothing is");
		failed = alloc_nr_calls() >= n;
		alloc_fail_at(0);
		CHECK_EQ_INT(sheet_check(&t), failed ? -ENOMEM : 0);
		nr_failed += failed;
		sheet_fini(&t);
	}
	CHECK(nr_failed > 5);
}
