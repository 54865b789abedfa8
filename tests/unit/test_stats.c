/* SPDX-License-Identifier: MIT */
/* test_stats.c - sums, extremes and exact quantiles by name */
#include "cli/read/stats.h"

#include <stdio.h>

#include "support/test.h"

static const char *one_name(void *arg)
{
	++*(int *)arg;
	return "by key";
}

TEST(quantile_in_memory_is_exact)
{
	struct stats *s = stats_create(0);
	struct stats_group *g = stats_group(s, "k");

	CHECK_EQ_INT(stats_quantile(s, g, STATS_TIME, 0.5), 0);
	for (uint64_t i = 100; i >= 1; i--)
		stats_add(s, g, i);
	stats_add_untimed(g);
	CHECK_EQ_UINT(g->calls, 101);
	CHECK_EQ_INT(g->values[STATS_TIME].total, 5050);
	CHECK_EQ_INT(g->values[STATS_TIME].min, 1);
	CHECK_EQ_INT(g->values[STATS_TIME].max, 100);
	CHECK_EQ_INT(stats_quantile(s, g, STATS_TIME, 0), 1);
	CHECK_EQ_INT(stats_quantile(s, g, STATS_TIME, 0.5), 50);
	CHECK_EQ_INT(stats_quantile(s, g, STATS_TIME, 0.99), 99);
	CHECK_EQ_INT(stats_quantile(s, g, STATS_TIME, 1), 100);
	stats_add(s, g, 1000);
	CHECK_EQ_INT(stats_quantile(s, g, STATS_TIME, 1), 1000);
	stats_destroy(s);
}

TEST(quantile_beyond_memory_limit_is_exact)
{
	struct stats *small = stats_create(100), *large = stats_create(0);
	static const double shares[] = { 0, 0.01, 0.5, 0.9, 0.99, 1 };
	uint64_t random = 12345;

	for (int i = 0; i < 5000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		for (int k = 0; k < 2; k++) {
			struct stats *s = k ? large : small;
			struct stats_group *g = stats_group(s, random >> 63 ? "a" : "b");

			stats_add(s, g, random >> 40 & 0xffff);
			stats_add_value(s, g, STATS_DELAY, (int64_t)(random >> 20 & 0xfff) - 2000);
		}
	}
	for (int n = 0; n < 2; n++) {
		struct stats_group *g = stats_group(small, n ? "a" : "b");
		struct stats_group *h = stats_group(large, n ? "a" : "b");

		CHECK(g->calls > 2000);
		CHECK_EQ_UINT(g->calls, h->calls);
		CHECK_NULL(g->values[STATS_TIME].kept);
		CHECK_NOT_NULL(h->values[STATS_TIME].kept);
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
			for (int k = 0; k < STATS_NR; k++)
				CHECK_EQ_INT(stats_quantile(small, g, (enum stats_series)k,
							    shares[i]),
					     stats_quantile(large, h, (enum stats_series)k,
							    shares[i]));
		CHECK_EQ_INT(stats_quantile(small, g, STATS_TIME, 1), h->values[STATS_TIME].max);
		/* a value that is added after a query counts */
		stats_add(small, g, 1000000);
		CHECK_EQ_INT(stats_quantile(small, g, STATS_TIME, 1), 1000000);
	}
	stats_destroy(small);
	stats_destroy(large);
}

/* Runs of more than 2048 values, whose span needs all bits: each is sorted by digits. */
TEST(quantile_over_a_wide_span_is_exact)
{
	struct stats *small = stats_create(3000), *large = stats_create(0);
	struct stats_group *g = stats_group(small, "k"), *h = stats_group(large, "k");
	int64_t least = INT64_MAX, most = INT64_MIN, last = INT64_MIN;
	uint64_t random = 99;

	for (int i = 0; i < 9000; i++) {
		int64_t value;

		random = random * 6364136223846793005u + 1442695040888963407u;
		value = (int64_t)(random >> 2 >> random % 60);
		value = i % 3 ? value : -value;
		least = value < least ? value : least;
		most = value > most ? value : most;
		stats_add_value(small, g, STATS_DELAY, value);
		stats_add_value(large, h, STATS_DELAY, value);
	}
	for (int i = 0; i <= 1000; i++) {
		int64_t value = stats_quantile(large, h, STATS_DELAY, i / 1000.0);

		CHECK(value >= last);
		last = value;
		CHECK_EQ_INT(stats_quantile(small, g, STATS_DELAY, i / 1000.0), value);
	}
	CHECK_EQ_INT(stats_quantile(large, h, STATS_DELAY, 0), least);
	CHECK_EQ_INT(stats_quantile(large, h, STATS_DELAY, 1), most);
	stats_destroy(small);
	stats_destroy(large);
}

TEST(negative_values_are_counted)
{
	struct stats *s = stats_create(0);
	struct stats_group *g = stats_group(s, "k");

	CHECK_EQ_INT(stats_mean(g, STATS_DELAY), 0);
	stats_add_value(s, g, STATS_DELAY, -7);
	stats_add_value(s, g, STATS_DELAY, -2);
	stats_add_value(s, g, STATS_DELAY, 3);
	CHECK_EQ_UINT(g->calls, 0);
	CHECK_EQ_INT(stats_mean(g, STATS_DELAY), -2);
	CHECK_EQ_INT(stats_quantile(s, g, STATS_DELAY, 0.5), -2);
	CHECK_EQ_INT(g->values[STATS_DELAY].min, -7);
	CHECK_EQ_INT(g->values[STATS_DELAY].max, 3);
	stats_destroy(s);
}

TEST(name_is_looked_up_once_for_each_number)
{
	struct stats *s = stats_create(0);
	int asked = 0;

	for (int i = 0; i < 10; i++)
		stats_add(s, stats_group_of(s, 5, one_name, &asked), 1);
	stats_add(s, stats_group_of(s, 6, one_name, &asked), 1); /* another number, the same name */
	CHECK_EQ_INT(asked, 2);
	CHECK_EQ_UINT(stats_group(s, "by key")->calls, 11);
	stats_destroy(s);
}

TEST(groups_are_sorted_by_total)
{
	struct stats *s = stats_create(0);
	struct stats_group **groups;
	char name[16];
	size_t nr;

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		stats_add(s, stats_group(s, name), i % 500);
	}
	groups = stats_sorted(s, &nr);
	CHECK_EQ_UINT(nr, 1000);
	for (size_t i = 1; i < nr; i++)
		CHECK(groups[i - 1]->values[STATS_TIME].total >=
		      groups[i]->values[STATS_TIME].total);
	CHECK_STR_EQ(groups[0]->name, "k499");
	CHECK_STR_EQ(groups[1]->name, "k999");
	stats_destroy(s);
}

TEST(gpu_list_has_ranges)
{
	char buf[64];

	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 0), "");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 1), "0");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 3), "0,1");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 0xff), "0-7");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 0x8000000000000015), "0,2,4,63");
	CHECK_STR_EQ(stats_gpus(buf, 4, 0x155), "0,2");
}
