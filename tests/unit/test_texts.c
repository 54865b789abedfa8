/* SPDX-License-Identifier: MIT */
/* test_texts.c - texts by number, and those of a page */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/report/page_internal.h"
#include "export/rpd/rpd.h"
#include "export/texts.h"
#include "query/rows.h"
#include "support/spool_make.h"
#include "support/test.h"

TEST(texts_that_share_a_hash_have_numbers_of_their_own)
{
	struct texts t = { 0 };
	bool is_new;

	CHECK_EQ_UINT(texts_number_by(&t, 7, "one", 3, &is_new), 1);
	CHECK(is_new);
	CHECK_EQ_UINT(texts_number_by(&t, 7, "two", 3, &is_new), 2);
	CHECK(is_new);
	/* the hash of another text is the key that the second one got */
	CHECK_EQ_UINT(texts_number_by(&t, 8, "eight", 5, &is_new), 3);
	CHECK_EQ_UINT(texts_number_by(&t, 7, "two and more", 3, &is_new), 2);
	CHECK(!is_new);
	CHECK_EQ_UINT(texts_number_by(&t, 7, "tw", 2, &is_new), 4);
	CHECK_EQ_UINT(texts_number_by(&t, 7, "one", 3, &is_new), 1);
	CHECK_EQ_UINT(texts_number_by(&t, 8, "eight", 5, &is_new), 3);
	CHECK(!is_new);
	texts_fini(&t);
}

TEST(many_texts_keep_their_numbers)
{
	struct texts t = { 0 };
	char text[32];
	bool is_new;

	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 10000; i++) {
			int n = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);

			CHECK_EQ_UINT(texts_number(&t, text, (size_t)n, &is_new), i + 1);
			CHECK(is_new == !round);
		}
	texts_fini(&t);
}

TEST(text_without_memory_has_no_number_and_changes_nothing)
{
	uint64_t number, nth = 0;
	bool is_new;

	do {
		struct texts t = { 0 };

		alloc_fail_at(++nth);
		number = texts_number(&t, "a", 1, &is_new);
		alloc_fail_at(0);
		CHECK_EQ_UINT(t.nr, number);
		CHECK_EQ_UINT(texts_number(&t, "a", 1, &is_new), 1);
		texts_fini(&t);
	} while (!number && nth < 10);
	CHECK(nth > 2);
}

TEST(shapes_of_a_page_name_each_of_their_numbers)
{
	const struct spool_make_sample sample = { .host = "nodeA", .pid = 500, .closed = true };
	const char *input = test_tmpfile("in.rtl");
	static const struct job_options opt;
	static struct job_result res;
	struct page_names names = { 0 };
	struct query *q = NULL;
	int64_t number;

	spool_make_sample(input, &sample);
	CHECK_OK(query_open(&q, &input, 1, rpd_merge, &opt, &res));
	CHECK_OK(rows_prepare(q));
	CHECK_OK(page_names_init(&names, q));
	number = page_names_of(&names, PAGE_SHAPE,
			       query_number(q->db, "SELECT max(id) FROM rtl_shape", 0));
	CHECK_GT_INT(number, 0);
	CHECK_STR_HAS(
		names.texts[number],
		"grid 128 \xc3\x97 2 \xc3\x97 1 work-items, workgroup 64 \xc3\x97 1 \xc3\x97 1, LDS 512 "
		"bytes per workgroup, scratch 16 bytes per work-item");
	page_names_fini(&names);
	query_close(q);
}
