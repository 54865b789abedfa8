/* SPDX-License-Identifier: MIT */
/* test_stats.c - sums, extremes and exact quantiles by name */
#include "cli/stats.h"

#include <stdio.h>

#include "support/test.h"

static const char *one_name(void *arg)
{
	++*(int *)arg;
	return "by key";
}

TEST(quantiles_are_exact)
{
	struct stats *s = stats_create();
	struct stats_group *g = stats_group(s, "k");

	CHECK_EQ_UINT(stats_quantile(g, 0.5), 0);
	for (uint64_t i = 100; i >= 1; i--)
		stats_add(g, i);
	stats_add_untimed(g);
	CHECK_EQ_UINT(g->calls, 101);
	CHECK_EQ_UINT(g->total_ns, 5050);
	CHECK_EQ_UINT(g->min_ns, 1);
	CHECK_EQ_UINT(g->max_ns, 100);
	CHECK_EQ_UINT(stats_quantile(g, 0), 1);
	CHECK_EQ_UINT(stats_quantile(g, 0.5), 50);
	CHECK_EQ_UINT(stats_quantile(g, 0.99), 99);
	CHECK_EQ_UINT(stats_quantile(g, 1), 100);
	stats_add(g, 1000);
	CHECK_EQ_UINT(stats_quantile(g, 1), 1000);
	stats_destroy(s);
}

TEST(names_are_looked_up_once_for_each_number)
{
	struct stats *s = stats_create();
	int asked = 0;

	for (int i = 0; i < 10; i++)
		stats_add(stats_group_of(s, 5, one_name, &asked), 1);
	stats_add(stats_group_of(s, 6, one_name, &asked), 1); /* another number, the same name */
	CHECK_EQ_INT(asked, 2);
	CHECK_EQ_UINT(stats_group(s, "by key")->calls, 11);
	stats_destroy(s);
}

TEST(many_groups_are_sorted_by_their_total)
{
	struct stats *s = stats_create();
	struct stats_group **groups;
	char name[16];
	size_t nr;

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		stats_add(stats_group(s, name), i % 500);
	}
	groups = stats_sorted(s, &nr);
	CHECK_EQ_UINT(nr, 1000);
	for (size_t i = 1; i < nr; i++)
		CHECK(groups[i - 1]->total_ns >= groups[i]->total_ns);
	CHECK_STR_EQ(groups[0]->name, "k499");
	CHECK_STR_EQ(groups[1]->name, "k999");
	stats_destroy(s);
}

TEST(gpus_are_listed_shortly)
{
	char buf[64];

	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 0), "");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 1), "0");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 3), "0,1");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 0xff), "0-7");
	CHECK_STR_EQ(stats_gpus(buf, sizeof(buf), 0x8000000000000015), "0,2,4,63");
	CHECK_STR_EQ(stats_gpus(buf, 4, 0x155), "0,2");
}
