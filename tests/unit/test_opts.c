/* SPDX-License-Identifier: MIT */
/* test_opts.c - the parser of command lines */
#include "cli/opts.h"

#include <errno.h>

#include "support/test.h"

enum { O_OUTPUT, O_FORCE, O_COUNT, O_GPUS, O_MODE };

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE", .help = "output" },
	[O_FORCE] = { 'f', "force", .help = "force" },
	[O_COUNT] = { 'n', "count", OPT_UINT, .arg = "N", .choices = "1..100", .help = "count" },
	[O_GPUS] = { 0, "virtual-gpu", OPT_UINT, .optional = true, .arg = "N", .choices = "1..16",
		     .help = "gpus" },
	[O_MODE] = { 'm', "mode", OPT_CHOICE, .arg = "MODE", .choices = "lite|full",
		     .help = "mode" },
};

static struct command cmd = {
	.name = "test",
	.usage = "[options] FILE",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.max_operands = -1,
};

static struct opt_parsed parsed;
static char error[OPTS_ERROR_SIZE];
static char *args[16];

static int parse(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const char *all[] = { "test", a, b, c, d, e, NULL };
	int n = 0;

	while (n < 6 && all[n]) {
		args[n] = (char *)all[n];
		n++;
	}
	args[n] = NULL;
	return opts_parse(&cmd, n, args, &parsed, error);
}

TEST(value_is_parsed_in_every_form)
{
	CHECK_OK(parse("--output=a", "-n7", "--mode", "full", "-f"));
	CHECK_STR_EQ(parsed.values[O_OUTPUT].text, "a");
	CHECK_EQ_UINT(parsed.values[O_COUNT].num, 7);
	CHECK_EQ_UINT(parsed.values[O_MODE].num, 1);
	CHECK_EQ_UINT(parsed.values[O_FORCE].count, 1);
	CHECK_OK(parse("-fo", "x", "-o", "y", "file"));
	CHECK_STR_EQ(parsed.values[O_OUTPUT].text, "y");
	CHECK_EQ_UINT(parsed.values[O_OUTPUT].count, 2);
	CHECK_EQ_INT(parsed.nr_operands, 1);
	CHECK_STR_EQ(parsed.operands[0], "file");
}

TEST(optional_number_may_be_the_next_word)
{
	CHECK_OK(parse("--virtual-gpu", "3", "file", NULL, NULL));
	CHECK_EQ_UINT(parsed.values[O_GPUS].count, 1);
	CHECK_EQ_UINT(parsed.values[O_GPUS].num, 3);
	CHECK_EQ_INT(parsed.nr_operands, 1);
	CHECK_OK(parse("--virtual-gpu", "3x", NULL, NULL, NULL));
	CHECK_EQ_UINT(parsed.values[O_GPUS].num, 0);
	CHECK_EQ_INT(parsed.nr_operands, 1);
	CHECK_OK(parse("--virtual-gpu", "--", "3", NULL, NULL));
	CHECK_EQ_INT(parsed.nr_operands, 1);
	CHECK(parse("--virtual-gpu", "17", NULL, NULL, NULL) != 0);
	CHECK_OK(parse("--virtual-gpu=3", NULL, NULL, NULL, NULL));
	CHECK_EQ_UINT(parsed.values[O_GPUS].num, 3);
}

TEST(operands_between_options_are_collected)
{
	CHECK_OK(parse("one", "-f", "two", "--", "-three"));
	CHECK_EQ_INT(parsed.nr_operands, 3);
	CHECK_STR_EQ(parsed.operands[0], "one");
	CHECK_STR_EQ(parsed.operands[1], "two");
	CHECK_STR_EQ(parsed.operands[2], "-three");
	CHECK_EQ_UINT(parsed.values[O_FORCE].count, 1);
	CHECK_OK(parse("-", NULL, NULL, NULL, NULL));
	CHECK_STR_EQ(parsed.operands[0], "-");
}

TEST(first_operand_begins_childs_command_line)
{
	cmd.child = true;
	CHECK_OK(parse("-f", "prog", "--", "-f", "--output=x"));
	CHECK_EQ_INT(parsed.nr_operands, 4);
	CHECK_STR_EQ(parsed.operands[0], "prog");
	CHECK_STR_EQ(parsed.operands[1], "--");
	CHECK_STR_EQ(parsed.operands[3], "--output=x");
	CHECK_NULL(parsed.operands[4]);
	CHECK_NULL(parsed.values[O_OUTPUT].text);
	CHECK_OK(parse("--", "--", "x", NULL, NULL));
	CHECK_EQ_INT(parsed.nr_operands, 2);
	CHECK_STR_EQ(parsed.operands[0], "--");
}

TEST(unknown_option_suggests_similar_one)
{
	CHECK(parse("--outptu=x", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_EQ(error, "--outptu=x: unknown option; did you mean --output?");
	CHECK(parse("--virt", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "did you mean --virtual-gpu?");
	/* not -o with the value "utput" */
	CHECK(parse("-output", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "did you mean --output?");
	CHECK(parse("-modes", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "did you mean --mode?");
	CHECK(parse("--mode", "ful", NULL, NULL, NULL) != 0);
	CHECK_STR_EQ(error, "--mode: 'ful' is not one of lite|full; did you mean full?");
	CHECK(parse("--zzzzzzz", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "rtl test --help");
	CHECK(parse("-z", NULL, NULL, NULL, NULL) != 0);
}

TEST(bad_value_is_refused)
{
	CHECK(parse("-n", "101", NULL, NULL, NULL) != 0);
	CHECK_STR_EQ(error, "--count: '101' is not a number from 1..100");
	CHECK(parse("-n", "-1", NULL, NULL, NULL) != 0);
	CHECK(parse("-n", "1x", NULL, NULL, NULL) != 0);
	CHECK(parse("-n", "99999999999999999999999", NULL, NULL, NULL) != 0);
	CHECK(parse("-n", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "value is missing");
	CHECK(parse("--force=yes", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "takes no value");
	CHECK(parse("--output=", NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "empty");
	CHECK(parse("--mode=lit", NULL, NULL, NULL, NULL) != 0);
}

TEST(operand_count_is_checked_unless_help_is_given)
{
	cmd.min_operands = 1;
	cmd.max_operands = 1;
	CHECK(parse(NULL, NULL, NULL, NULL, NULL) != 0);
	CHECK_STR_EQ(error, "FILE is missing; usage: rtl test [options] FILE");
	CHECK(parse("a", "b", NULL, NULL, NULL) != 0);
	CHECK_STR_HAS(error, "'b': one operand too many");
	CHECK_OK(parse("-h", NULL, NULL, NULL, NULL));
	CHECK(parsed.help);
	CHECK_OK(parse("--help", "a", "b", NULL, NULL));
}

TEST(dissimilar_word_gets_no_suggestion)
{
	const char *const names[] = { "trace", "summary", "info", NULL };

	CHECK_STR_EQ(opts_suggest("tarce", names), "trace");
	CHECK_STR_EQ(opts_suggest("sumary", names), "summary");
	CHECK_STR_EQ(opts_suggest("inof", names), "info");
	CHECK_NULL(opts_suggest("xyz", names));
	CHECK_NULL(opts_suggest("a word that is longer than forty letters by far", names));
}

/* A command whose options take several words. */
static const struct opt list_options[] = {
	{ 'f', "format", OPT_TEXT, .arg = "FORMAT", .list = true, .help = "formats" },
	{ 'k', "kernel", OPT_TEXT, .optional = true, .arg = "BOOL", .help = "kernels" },
	{ 0, "quiet", .help = "quiet" },
};

static int parse_lists(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const struct opt *before = cmd.opts;
	size_t nr = cmd.nr_opts;
	int ret;

	cmd.opts = list_options;
	cmd.nr_opts = sizeof(list_options) / sizeof(list_options[0]);
	cmd.child = cmd.lists = true;
	ret = parse(a, b, c, d, e);
	cmd.opts = before;
	cmd.nr_opts = nr;
	cmd.child = cmd.lists = false;
	return ret;
}

TEST(words_behind_an_option_are_its_values)
{
	CHECK_OK(parse_lists("-f", "csv", "json", "--", "app"));
	CHECK_STR_EQ(parsed.values[0].text, "csv");
	CHECK_EQ_UINT(parsed.values[0].nr_more, 1);
	CHECK_STR_EQ(parsed.values[0].more[0], "json");
	CHECK_EQ_INT(parsed.nr_operands, 1);
	CHECK_STR_EQ(parsed.operands[0], "app");
	CHECK_OK(parse_lists("--kernel", "true", "-f", "csv", NULL));
	CHECK_EQ_UINT(parsed.values[1].count, 1);
	CHECK_STR_EQ(parsed.values[1].text, "true");
	CHECK_EQ_UINT(parsed.values[0].nr_more, 0);
	/* the last of several counts, with its words alone */
	CHECK_OK(parse_lists("-fa", "b", "-f", "c", NULL));
	CHECK_STR_EQ(parsed.values[0].text, "c");
	CHECK_EQ_UINT(parsed.values[0].nr_more, 0);
}

TEST(word_that_no_option_takes_is_refused)
{
	CHECK_EQ_INT(parse_lists("app", NULL, NULL, NULL, NULL), -EINVAL);
	CHECK_STR_HAS(error, "behind --");
	CHECK_EQ_INT(parse_lists("--quiet", "x", NULL, NULL, NULL), -EINVAL);
	CHECK_EQ_INT(parse_lists("--kernel", "true", "x", NULL, NULL), -EINVAL);
}
