/* SPDX-License-Identifier: MIT */
/* test_sums.c - sums, extremes and exact quantiles by name */
#include "analysis/sums.h"

#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "support/test.h"

static const char *one_name(void *arg, uint64_t key)
{
	++*(int *)arg;
	return key == 7 ? "another" : "by key";
}

TEST(quantile_in_memory_is_exact)
{
	struct sums *s = sums_create(0);
	struct sums_group *g = sums_group(s, "k", 0);

	CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 0.5), 0);
	for (uint64_t i = 100; i >= 1; i--)
		sums_add(s, g, i);
	sums_add_untimed(g);
	CHECK_EQ_UINT(g->calls, 101);
	CHECK_EQ_INT(g->values[SUMS_TIME].total, 5050);
	CHECK_EQ_INT(g->values[SUMS_TIME].min, 1);
	CHECK_EQ_INT(g->values[SUMS_TIME].max, 100);
	CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 0), 1);
	CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 0.5), 50);
	CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 0.99), 99);
	CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 1), 100);
	sums_add(s, g, 1000);
	CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 1), 1000);
	sums_destroy(s);
}

TEST(quantile_beyond_memory_limit_is_exact)
{
	struct sums *small = sums_create(100), *large = sums_create(0);
	static const double shares[] = { 0, 0.01, 0.5, 0.9, 0.99, 1 };
	uint64_t random = 12345;

	for (int i = 0; i < 5000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		for (int k = 0; k < 2; k++) {
			struct sums *s = k ? large : small;
			struct sums_group *g = sums_group(s, random >> 63 ? "a" : "b", 0);

			sums_add(s, g, random >> 40 & 0xffff);
			sums_add_value(s, g, SUMS_DELAY, (int64_t)(random >> 20 & 0xfff) - 2000);
		}
	}
	for (int n = 0; n < 2; n++) {
		struct sums_group *g = sums_group(small, n ? "a" : "b", 0);
		struct sums_group *h = sums_group(large, n ? "a" : "b", 0);

		CHECK(g->calls > 2000);
		CHECK_EQ_UINT(g->calls, h->calls);
		CHECK_NULL(g->values[SUMS_TIME].kept);
		CHECK_NOT_NULL(h->values[SUMS_TIME].kept);
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
			for (int k = 0; k < SUMS_NR; k++)
				CHECK_EQ_INT(sums_quantile(small, g, (enum sums_series)k,
							   shares[i]),
					     sums_quantile(large, h, (enum sums_series)k,
							   shares[i]));
		CHECK_EQ_INT(sums_quantile(small, g, SUMS_TIME, 1), h->values[SUMS_TIME].max);
		/* a value that is added after a query counts */
		sums_add(small, g, 1000000);
		CHECK_EQ_INT(sums_quantile(small, g, SUMS_TIME, 1), 1000000);
	}
	sums_destroy(small);
	sums_destroy(large);
}

/* Runs of more than 2048 values, whose span needs all bits: each is sorted by digits. */
TEST(quantile_over_a_wide_span_is_exact)
{
	struct sums *small = sums_create(3000), *large = sums_create(0);
	struct sums_group *g = sums_group(small, "k", 0), *h = sums_group(large, "k", 0);
	int64_t least = INT64_MAX, most = INT64_MIN, last = INT64_MIN;
	uint64_t random = 99;

	for (int i = 0; i < 9000; i++) {
		int64_t value;

		random = random * 6364136223846793005u + 1442695040888963407u;
		value = (int64_t)(random >> 2 >> random % 60);
		value = i % 3 ? value : -value;
		least = value < least ? value : least;
		most = value > most ? value : most;
		sums_add_value(small, g, SUMS_DELAY, value);
		sums_add_value(large, h, SUMS_DELAY, value);
	}
	for (int i = 0; i <= 1000; i++) {
		int64_t value = sums_quantile(large, h, SUMS_DELAY, i / 1000.0);

		CHECK(value >= last);
		last = value;
		CHECK_EQ_INT(sums_quantile(small, g, SUMS_DELAY, i / 1000.0), value);
	}
	CHECK_EQ_INT(sums_quantile(large, h, SUMS_DELAY, 0), least);
	CHECK_EQ_INT(sums_quantile(large, h, SUMS_DELAY, 1), most);
	sums_destroy(small);
	sums_destroy(large);
}

TEST(negative_values_are_counted)
{
	struct sums *s = sums_create(0);
	struct sums_group *g = sums_group(s, "k", 0);

	CHECK_EQ_INT(sums_mean(g, SUMS_DELAY), 0);
	sums_add_value(s, g, SUMS_DELAY, -7);
	sums_add_value(s, g, SUMS_DELAY, -2);
	sums_add_value(s, g, SUMS_DELAY, 3);
	CHECK_EQ_UINT(g->calls, 0);
	CHECK_EQ_INT(sums_mean(g, SUMS_DELAY), -2);
	CHECK_EQ_INT(sums_quantile(s, g, SUMS_DELAY, 0.5), -2);
	CHECK_EQ_INT(g->values[SUMS_DELAY].min, -7);
	CHECK_EQ_INT(g->values[SUMS_DELAY].max, 3);
	sums_destroy(s);
}

/* Processes have numbers of their own for a name: their groups become one, in memory and in the
 * file. */
TEST(groups_of_one_name_are_joined)
{
	for (size_t max_kept = 3; max_kept <= 300; max_kept *= 10) {
		struct sums *s = sums_create(max_kept);
		struct sums_group *g;
		int asked = 0;

		for (int i = 0; i < 10; i++) {
			sums_add(s, sums_group_of(s, 5, 0), 10);
			sums_add(s, sums_group_of(s, 6, 0), 20 + (uint64_t)i);
			sums_add(s, sums_group_of(s, 6, 1), 1000);
			sums_add(s, sums_group_of(s, 7, 0), 1);
		}
		sums_name(s, one_name, &asked);
		CHECK_EQ_INT(asked, 4);
		/* the number means another name from now on */
		sums_add(s, sums_group_of(s, 5, 0), 5);
		sums_name(s, one_name, &asked);
		CHECK_EQ_INT(asked, 5);
		g = sums_group(s, "by key", 0);
		CHECK_EQ_UINT(g->calls, 21);
		CHECK_EQ_INT(g->values[SUMS_TIME].min, 5);
		CHECK_EQ_INT(g->values[SUMS_TIME].max, 29);
		CHECK_EQ_INT(g->values[SUMS_TIME].total, 5 + 100 + 245);
		CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 0.5), 10);
		CHECK_EQ_INT(sums_quantile(s, g, SUMS_TIME, 0.6), 21);
		CHECK_EQ_UINT(sums_group(s, "by key", 1)->calls, 10);
		CHECK_EQ_UINT(sums_group(s, "another", 0)->calls, 10);
		sums_destroy(s);
	}
}

/* What can't be kept is an error, not a wrong number. */
TEST(lack_of_memory_is_reported)
{
	struct job_result res = { .error = "" };
	struct query q = { .res = &res };

	for (uint64_t n = 1; n < 40; n++) {
		struct sums *s;
		bool failed;

		alloc_fail_at(n);
		s = sums_create(0);
		for (uint64_t i = 0; s && i < 100; i++) {
			sums_add(s, sums_group_of(s, i % 3, (uint32_t)(i % 2)), i);
			sums_add_untimed(sums_group(s, i % 2 ? "x" : "y", 0));
		}
		if (s)
			sums_name(s, one_name, &(int){ 0 });
		failed = alloc_nr_calls() >= n;
		alloc_fail_at(0);
		res.error[0] = 0;
		CHECK_EQ_INT(s ? sums_check(s, &q) : -ENOMEM, failed ? -ENOMEM : 0);
		sums_destroy(s);
	}
}

TEST(groups_are_sorted_by_total)
{
	struct sums *s = sums_create(0);
	struct sums_group **groups;
	char name[16];
	size_t nr;

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		sums_add(s, sums_group(s, name, 0), i % 500);
	}
	groups = sums_sorted(s, &nr);
	CHECK_EQ_UINT(nr, 1000);
	for (size_t i = 1; i < nr; i++)
		CHECK(groups[i - 1]->values[SUMS_TIME].total >= groups[i]->values[SUMS_TIME].total);
	CHECK_STR_EQ(groups[0]->name, "k499");
	CHECK_STR_EQ(groups[1]->name, "k999");
	sums_destroy(s);
}

TEST(gpu_list_has_ranges)
{
	char buf[64];

	CHECK_STR_EQ(sums_gpus(buf, sizeof(buf), 0), "");
	CHECK_STR_EQ(sums_gpus(buf, sizeof(buf), 1), "0");
	CHECK_STR_EQ(sums_gpus(buf, sizeof(buf), 3), "0,1");
	CHECK_STR_EQ(sums_gpus(buf, sizeof(buf), 0xff), "0-7");
	CHECK_STR_EQ(sums_gpus(buf, sizeof(buf), 0x8000000000000015), "0,2,4,63");
	CHECK_STR_EQ(sums_gpus(buf, 4, 0x155), "0,2");
}
