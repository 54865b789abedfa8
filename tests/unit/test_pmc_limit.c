/* SPDX-License-Identifier: MIT */
/* test_pmc_limit.c - texts that choose the dispatches whose counters are read */
#include "cli/pmc/pmc_limit.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

TEST(dispatches_are_a_number_or_a_range_without_its_end)
{
	static const char *const bad[] = {
		"", "x", "-1", "3:2", "3:3", "1:2:3", "1:x", "1000000001"
	};

	CHECK_STR_EQ(pmc_limit_dispatches("4"), "4-4");
	CHECK_STR_EQ(pmc_limit_dispatches("1:4"), "1-3");
	CHECK_STR_EQ(pmc_limit_dispatches("1:"), "1-1000000000");
	CHECK_NULL(pmc_limit_dispatches(NULL));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(pmc_limit_check_dispatches(bad[i]), "'%s' is taken", bad[i]);
}

TEST(iterations_are_numbers_and_ranges_in_any_brackets)
{
	static const char *const bad[] = { "",	 "0",  "x",    "2-1",  "1,",	",1",
					   "1]", "[1", "[1,2", "1]2[", "1-2-3", "1 2" };

	CHECK_STR_EQ(pmc_limit_iterations("[1-2],[5]"), "1-2,5-5");
	CHECK_STR_EQ(pmc_limit_iterations("1-2,5"), "1-2,5-5");
	CHECK_STR_EQ(pmc_limit_iterations("[1, [3-4]]"), "1-1,3-4");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(pmc_limit_check_iterations(bad[i]), "'%s' is taken", bad[i]);
}

TEST(iterations_have_a_limit)
{
	char text[4096] = "1";

	for (int i = 2; i <= 257; i++) {
		CHECK_NULL(pmc_limit_check_iterations(text));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d", i);
	}
	CHECK_NOT_NULL(pmc_limit_check_iterations(text));
}
