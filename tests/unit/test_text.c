/* SPDX-License-Identifier: MIT */
/* test_text.c - texts of others, for a terminal, CSV and databases */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "export/csv_field.h"
#include "support/test.h"

static const char *clean(const char *text, const char *keep)
{
	static char buf[256];
	size_t size;

	snprintf(buf, sizeof(buf), "%s", text);
	size = text_clean(buf, keep);
	CHECK_EQ_UINT(size, strlen(buf));
	return buf;
}

TEST(what_a_terminal_acts_on_becomes_a_question_mark)
{
	CHECK_STR_EQ(clean("", ""), "");
	CHECK_STR_EQ(clean("sch\xc3\xb6n \xf0\x9f\x98\x80 \xe2\x82\xac", ""),
		     "sch\xc3\xb6n \xf0\x9f\x98\x80 \xe2\x82\xac");
	CHECK_STR_EQ(clean("a\x1b[31m\x7f\r\n\tb", ""), "a?[31m????b");
	CHECK_STR_EQ(clean("a\x1b[31m\x7f\r\n\tb", "\n\t"), "a?[31m??\n\tb");
	/* C1, directions, separators, a mark of order, tags */
	CHECK_STR_EQ(clean("\xc2\x9b|\xc2\x80|\xc2\x9f|\xc2\xa0", ""), "?|?|?|\xc2\xa0");
	CHECK_STR_EQ(
		clean("\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa8|\xef\xbb\xbf|\xf3\xa0\x81\x81|\xd8\x9c",
		      ""),
		"?|?|?|?|?|?");
	/* a byte alone, overlong, a surrogate, beyond the end, cut short */
	CHECK_STR_EQ(clean("\xff|\x80|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82", ""),
		     "?|?|??|???|????|??");
}

TEST(bytes_that_are_not_utf8_are_marked)
{
	char *text = text_valid("caf\xe9\x01 \xc3\xa9 \xff");

	CHECK_STR_EQ(text, "caf\\xe9\x01 \xc3\xa9 \\xff");
	free(text);
	CHECK(text_valid("\xc3\xa9\x1b\n") == NULL);
	CHECK(text_valid("") == NULL);
}

static void add(void *arg, const char *bytes, size_t size)
{
	size_t used = strlen(arg);

	memcpy((char *)arg + used, bytes, size);
	((char *)arg)[used + size] = 0;
}

static const char *field(const char *text, bool always)
{
	static char buf[256];

	buf[0] = '\0';
	csv_field(add, buf, text, always);
	return buf;
}

TEST(csv_fields_are_no_formulas)
{
	CHECK_STR_EQ(field("plain", false), "plain");
	CHECK_STR_EQ(field("plain", true), "\"plain\"");
	CHECK_STR_EQ(field("", true), "\"\"");
	CHECK_STR_EQ(field("=1+1", false), "\"'=1+1\"");
	CHECK_STR_EQ(field("\t=1", false), "\"'\t=1\"");
	CHECK_STR_EQ(field("a\"b,c\nd", false), "\"a\"\"b,c\nd\"");
	CHECK_STR_EQ(field("\x1b[31m\xc2\x9b\xff\xc3\xb6", false), "?[31m?\xef\xbf\xbd\xc3\xb6");
}

TEST(printed_arguments_are_lines_of_text)
{
	CHECK_NOT_NULL(freopen(test_tmpfile("out"), "w", stdout));
	ui_putf("%s|%-6s|%6s|%.2s|%.*s|%*s|100%%\n", "a\nb\x1b", "ab", "ab", "abc", 1, "xyz", -4,
		"q");
	ui_putf("%c%d|%5u|%-5d|%05d|%+d\n", 'c', -1, 2u, 3, 4, 5);
	ui_putf("%" PRIu64 "|%lld|%zu|%lx|%#x\n", UINT64_MAX, -1LL, sizeof(int), 255ul, 255u);
	ui_putf("%.1f%%|%8.3f|%.*f|%g\n", 12.34, 1.5, 2, 3.14159, 0.5);
	ui_put("kept\n\tand\x1b not\n");
	ui_flush();
	CHECK_STR_EQ(test_text_of(test_tmpfile("out")), "a?b?|ab    |    ab|ab|x|q   |100%\n"
							"c-1|    2|3    |00004|+5\n"
							"18446744073709551615|-1|4|ff|0xff\n"
							"12.3%|   1.500|3.14|0.5\n"
							"kept\n\tand? not\n");
}
