/* SPDX-License-Identifier: MIT */
/* test_regular.c - users' regular expressions: what POSIX has, what other tools have, what neither
 * has */
#include <errno.h>
#include <regex.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regular.h"
#include "support/test.h"

static bool matches(const char *text, const char *name)
{
	char why[REGULAR_ERROR_SIZE];
	regex_t regex;
	bool found;

	CHECK_MSG(regular_compile(text, &regex, why) == 0, "%s: %s", text, why);
	found = regexec(&regex, name, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

TEST(classes_mean_what_they_do_elsewhere)
{
	static const struct {
		const char *text, *matched, *other;
	} all[] = {
		{ "^k\\d+$", "k42", "kdd" },
		{ "^\\w+$", "ab_9", "a-b" },
		{ "^a\\sb$", "a b", "asb" },
		{ "^\\D+$", "abD", "a1" },
		{ "^\\W$", "-", "W" },
		{ "^\\S+$", "abS", "a b" },
		{ "^a\\tb$", "a\tb", "atb" },
		{ "^a\\nb$", "a\nb", "anb" },
		{ "^[\\d.]+$", "1.5", "d" },
		{ "^[^\\s]+$", "as", "a b" },
		{ "^[\\w:]+$", "a::b_1", "a b" },
		{ "^[]\\d]+$", "]4", "d" },
		{ "^[^]\\d]+$", "d", "]4" },
		{ "^[[:alpha:]\\d]+$", "a1", "-" },
		{ "\\bgemm\\b", "void gemm(float)", "dgemms" },
		{ "^a\\.b$", "a.b", "a-b" },
		{ "^\\(\\[$", "([", "(" },
		{ "^(ab)\\1$", "abab", "abba" },
		{ "^\\\\d$", "\\d", "5" },
		{ "^(d|s|w)$", "d", "5" },
		{ "", "anything", NULL },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK_MSG(matches(all[i].text, all[i].matched), "%s does not match %s", all[i].text,
			  all[i].matched);
		CHECK_MSG(!all[i].other || !matches(all[i].text, all[i].other), "%s matches %s",
			  all[i].text, all[i].other);
	}
}

TEST(letters_that_have_no_meaning_are_refused)
{
	static const char *const all[][2] = {
		{ "a\\x41", "\\x has no meaning" },
		{ "\\u0041", "\\u has no meaning" },
		{ "\\p{L}", "\\p has no meaning" },
		{ "\\Aa", "\\A has no meaning" },
		{ "[\\D]", "\\D is not possible" },
		{ "[^\\S]", "\\S is not possible" },
		{ "[\\b]", "\\b is not possible" },
		{ "[a\\q]", "\\q is not possible" },
		{ "(a", "" },
		{ "[a", "" },
		{ "(?:a)", "" },
	};
	char why[REGULAR_ERROR_SIZE];
	regex_t regex;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK_EQ_INT(regular_compile(all[i][0], &regex, why), -EINVAL);
		CHECK_MSG(why[0] && strncmp(why, all[i][1], strlen(all[i][1])) == 0, "%s: %s",
			  all[i][0], why);
	}
}

/* glibc copies what is repeated: each of these would take gigabytes. */
TEST(repetitions_of_repetitions_are_refused)
{
	static const char *const refused[] = { "(x++++++++++++++++++++++++)",
					       "((a{1,255}){1,255}){1,255}",
					       "(([ab]{30000}))",
					       "(a{200,}){200}",
					       "((((((((((((a)+)+)+)+)+)+)+)+)+)+)+)+b{4000}",
					       "o+++*+++++++++",
					       "((((((((((a)*)+)+)+)+)+)+)+)+)+" };
	static const char *const taken[] = { "x{1000}", "(a{10}){1,20}", "[[:alpha:]+*]{1,255}",
					     "\\+{3}",	"a+b+c+d+e+",	 "(gemm|copy)+",
					     "x++",	"[^]{9999}]+" };
	char why[REGULAR_ERROR_SIZE];
	regex_t regex;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		CHECK_EQ_INT(regular_compile(refused[i], &regex, why), -EINVAL);
		CHECK_STR_HAS(why, "repetitions");
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		CHECK_MSG(regular_compile(taken[i], &regex, why) == 0, "%s: %s", taken[i], why);
		regfree(&regex);
	}
}

TEST(expression_without_memory_is_refused_and_says_so)
{
	for (uint64_t nth = 1; nth <= 2; nth++) {
		char why[REGULAR_ERROR_SIZE];
		regex_t regex;

		alloc_fail_at(nth);
		CHECK_EQ_INT(regular_compile("a(b)+", &regex, why), -ENOMEM);
		CHECK_EQ_UINT(alloc_nr_calls(), nth);
		alloc_fail_at(0);
		CHECK_STR_EQ(why, "there is no memory");
	}
}

TEST(every_short_text_ends_with_an_answer)
{
	static const char letters[] = "\\[]^d:.=(a";
	char why[REGULAR_ERROR_SIZE], text[6];
	unsigned nr = 0;

	for (unsigned n = 0; n < 100000; n++) {
		unsigned rest = n;
		regex_t regex;

		for (int i = 0; i < 5; i++, rest /= 10)
			text[i] = letters[rest % 10];
		text[5] = 0;
		if (regular_compile(text, &regex, why) == 0) {
			nr++;
			regfree(&regex);
		} else {
			CHECK_MSG(why[0], "%s has no reason", text);
		}
	}
	CHECK_GE_UINT(nr, 1000);
}
