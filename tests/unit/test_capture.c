/* SPDX-License-Identifier: MIT */
/* test_capture.c - the values of the options that choose what is recorded */
#include "base/capture.h"

#include <errno.h>
#include <string.h>

#include "support/test.h"

static char error[CAPTURE_ERROR_SIZE];

static bool is_good(enum capture_kind kind, const char *text)
{
	int err = capture_check(kind, text, error);

	CHECK(err == 0 || err == -EINVAL);
	return err == 0;
}

static uint64_t seconds(const char *text)
{
	uint64_t ns = 0;

	CHECK_OK(capture_seconds(text, strlen(text), &ns, error));
	return ns;
}

TEST(seconds_may_have_fractions)
{
	static const char *const bad[] = { "",	 ".",  "-1",  "1e3",	   "1x",
					   " 1", "1 ", "0x1", "1000000001" };

	CHECK_EQ_UINT(seconds("2"), UINT64_C(2000000000));
	CHECK_EQ_UINT(seconds("0.25"), 250000000);
	CHECK_EQ_UINT(seconds(".5"), 500000000);
	CHECK_EQ_UINT(seconds("3."), UINT64_C(3000000000));
	CHECK_EQ_UINT(seconds("0.0000000019"), 1);
	CHECK_EQ_UINT(seconds("1000000000"), UINT64_C(1000000000000000000));
	CHECK_EQ_UINT(seconds("1.5s"), 1500000000);
	CHECK_EQ_UINT(seconds("500ms"), 500000000);
	CHECK_EQ_UINT(seconds("2.5ms"), 2500000);
	CHECK_EQ_UINT(seconds("7us"), 7000);
	CHECK_EQ_UINT(seconds("2m"), UINT64_C(120000000000));
	CHECK_EQ_UINT(seconds("2min"), UINT64_C(120000000000));
	CHECK_EQ_UINT(seconds("1h"), UINT64_C(3600000000000));
	/* the most that fits, and one more */
	CHECK_EQ_UINT(seconds("277777h"), UINT64_C(277777) * 3600 * 1000000000);
	CHECK(!is_good(CAPTURE_SECONDS, "277778h"));
	CHECK_STR_EQ(error,
		     "'277778h' at character 1 is too large; allowed: up to 1000000000 seconds");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(!is_good(CAPTURE_SECONDS, bad[i]), "'%s'", bad[i]);
}

TEST(periods_follow_each_other)
{
	struct capture_period p[CAPTURE_MAX_PERIODS];
	uint32_t nr;

	CHECK_OK(capture_periods("10:1.5:3, 5:3 0:1:0", p, &nr, error));
	CHECK_EQ_UINT(nr, 3);
	CHECK_EQ_UINT(p[0].delay_ns, UINT64_C(10000000000));
	CHECK_EQ_UINT(p[0].duration_ns, 1500000000);
	CHECK_EQ_UINT(p[0].repeat, 3);
	CHECK_EQ_UINT(p[1].repeat, 1);
	CHECK_EQ_UINT(p[2].repeat, 0);
}

TEST(bad_period_is_named_with_its_position)
{
	CHECK(!is_good(CAPTURE_PERIODS, "1:2:3 1:x:2"));
	CHECK_STR_EQ(
		error,
		"'x' at character 9 is not a number of seconds; allowed: 2, 0.25, 500ms, 10s, 2m, 1h");
	CHECK(!is_good(CAPTURE_PERIODS, "1:2:0,3:4:1"));
	CHECK_STR_EQ(error, "'3:4:1' at character 7 is never reached: the period before it repeats "
			    "for ever");
	CHECK(!is_good(CAPTURE_PERIODS, "5"));
	CHECK(!is_good(CAPTURE_PERIODS, "1:0"));
	CHECK(!is_good(CAPTURE_PERIODS, "1:1:"));
	CHECK(!is_good(CAPTURE_PERIODS, "1:1:1:1"));
	CHECK(!is_good(CAPTURE_PERIODS, " ,"));
}

TEST(range_may_have_an_occurrence)
{
	struct capture_range r;

	CHECK_OK(capture_range("step", &r, error));
	CHECK_EQ_UINT(r.size, 4);
	CHECK_EQ_UINT(r.number, 0);
	CHECK_OK(capture_range("a@b@12", &r, error));
	CHECK_EQ_UINT(r.size, 3);
	CHECK_EQ_UINT(r.number, 12);
	CHECK_OK(capture_range("step\\@3", &r, error));
	CHECK_EQ_UINT(r.size, 7);
	CHECK_EQ_UINT(r.number, 0);
	CHECK(!is_good(CAPTURE_RANGE, ""));
	CHECK(!is_good(CAPTURE_RANGE, "@1"));
	CHECK(!is_good(CAPTURE_RANGE, "a@0"));
	CHECK(!is_good(CAPTURE_RANGE, "a@"));
	CHECK(!is_good(CAPTURE_RANGE, "a@9999999999"));
}

static bool like(const char *pattern, const char *name)
{
	return capture_like(pattern, strlen(pattern), name);
}

TEST(names_are_compared_with_wildcards)
{
	CHECK(like("step", "step"));
	CHECK(!like("step", "steps"));
	CHECK(!like("step", "ste"));
	CHECK(!like("", "a"));
	CHECK(like("", ""));
	CHECK(like("*", ""));
	CHECK(like("st*", "st"));
	CHECK(like("*ep", "step ep"));
	CHECK(like("a*b*c", "a b b c c"));
	CHECK(!like("a*b*c", "a b b"));
	CHECK(like("?tep", "step"));
	CHECK(!like("?", ""));
	CHECK(like("\\*", "*"));
	CHECK(!like("\\*", "a"));
	CHECK(like("a\\", "a\\"));
	CHECK(!like("*\\?", "ab"));
	CHECK(like("*\\?", "ab?"));
	CHECK(capture_like("step@3", 4, "step"));
}

TEST(list_has_numbers_and_spans)
{
	CHECK(is_good(CAPTURE_LIST, "0,2,4-7"));
	CHECK(capture_list_has("0,2,4-7", 0));
	CHECK(!capture_list_has("0,2,4-7", 1));
	CHECK(capture_list_has("0,2,4-7", 4));
	CHECK(capture_list_has("0,2,4-7", 7));
	CHECK(!capture_list_has("0,2,4-7", 8));
	CHECK(capture_list_last("0,2,4-7") == 7);
	CHECK(capture_list_last("9,2") == 9);
	CHECK(!is_good(CAPTURE_LIST, ""));
	CHECK(!is_good(CAPTURE_LIST, "1,"));
	CHECK(!is_good(CAPTURE_LIST, "7-4"));
	CHECK(!is_good(CAPTURE_LIST, "-1"));
	CHECK(!is_good(CAPTURE_LIST, "1-"));
	CHECK(!is_good(CAPTURE_LIST, "0x1"));
	CHECK_STR_EQ(error, "'0x1' at character 1 is not a number; allowed: numbers from 0 and "
			    "spans of them, as 0,2,4-7");
}

TEST(expression_is_compiled)
{
	static char big[CAPTURE_MAX_TEXT + 2];

	CHECK(is_good(CAPTURE_REGEX, "gemm|Cijk_(A|B)+"));
	CHECK(!is_good(CAPTURE_REGEX, "gemm("));
	CHECK_NOT_NULL(strstr(error, "'gemm(' is not a POSIX extended regular expression: "));
	memset(big, 'a', sizeof(big) - 1);
	CHECK(!is_good(CAPTURE_REGEX, big));
	CHECK_NOT_NULL(strstr(error, "too long"));
}

TEST(flight_recorders_keep_a_size_or_a_time)
{
	char why[CAPTURE_ERROR_SIZE];
	uint64_t bytes = 1, ns = 1;

	CHECK_OK(capture_flight("64M", &bytes, &ns, why));
	CHECK_EQ_UINT(bytes, 64 << 20);
	CHECK_EQ_UINT(ns, 0);
	CHECK_OK(capture_flight("1.5G", &bytes, &ns, why));
	CHECK_EQ_UINT(bytes, UINT64_C(3) << 29);
	CHECK_OK(capture_flight("30s", &bytes, &ns, why));
	CHECK_EQ_UINT(bytes, 0);
	CHECK_EQ_UINT(ns, UINT64_C(30000000000));
	CHECK_OK(capture_flight("5min", &bytes, &ns, why));
	CHECK_EQ_UINT(ns, UINT64_C(300000000000));
	/* the most that fits, and one more */
	CHECK_OK(capture_flight("4194304T", &bytes, &ns, why));
	CHECK_EQ_UINT(bytes, UINT64_C(1) << 62);
	CHECK_EQ_INT(capture_flight("4194305T", &bytes, &ns, why), -EINVAL);
	CHECK_STR_HAS(why, "too large");
	CHECK_EQ_INT(capture_flight("64", &bytes, &ns, why), -EINVAL);
	CHECK_STR_HAS(why, "neither a size nor a time; allowed: 64M");
	CHECK_EQ_INT(capture_flight("127K", &bytes, &ns, why), -EINVAL);
	CHECK_STR_HAS(why, "too small; allowed: 128K");
	CHECK_OK(capture_flight("128K", &bytes, &ns, why)); /* the least */
	CHECK_EQ_UINT(bytes, 128 << 10);
	CHECK_EQ_INT(capture_flight("0s", &bytes, &ns, why), -EINVAL);
	CHECK_EQ_INT(capture_flight("M", &bytes, &ns, why), -EINVAL);
	CHECK_EQ_INT(capture_flight("999999999T", &bytes, &ns, why), -EINVAL);
	CHECK_EQ_INT(capture_flight("", &bytes, &ns, why), -EINVAL);
}

TEST(times_have_a_unit)
{
	char why[CAPTURE_ERROR_SIZE];
	uint64_t ns;

	CHECK_OK(capture_time("10ms", &ns, why));
	CHECK_EQ_UINT(ns, 10000000);
	CHECK_OK(capture_time("0.5us", &ns, why));
	CHECK_EQ_UINT(ns, 500);
	CHECK_OK(capture_time("1.25s", &ns, why));
	CHECK_EQ_UINT(ns, 1250000000);
	CHECK_EQ_INT(capture_time("10", &ns, why), -EINVAL);
	CHECK_STR_HAS(why, "not a time with a unit");
	CHECK_EQ_INT(capture_time("-1s", &ns, why), -EINVAL);
}
