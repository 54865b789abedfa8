/* SPDX-License-Identifier: MIT */
/* test_chrome_trace.c - errors of the Chrome JSON writer, and arguments as JSON
 *
 * Its events: tests/cli.
 */
#include "export/chrome_trace/chrome_trace.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/chrome_trace/chrome_trace_internal.h"
#include "export/export.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static const char *input;

/* Makes a database as RPD's oldest tracers write it, with nr operations. */
static void make_input(int nr)
{
	char sql[512];

	input = test_tmpfile("in.db");
	snprintf(sql, sizeof(sql),
		 "INSERT INTO rocpd_string VALUES (1, 'k'), (2, 'KernelExecution');"
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		 "INSERT INTO rocpd_op SELECT i, 0, 0, i, i * 100, i * 100 + 50, 1, 2 FROM n",
		 nr);
	db_make_rpd(input, sql);
}

static int write_json(const char *out, const struct job_options *opt)
{
	return export_run(export_find("perfetto"), &input, 1, out, opt, &res);
}

/* Number of files in the test's directory beside the input. */
static size_t nr_files(void)
{
	char pattern[4096];
	glob_t found = { 0 };
	size_t n;

	snprintf(pattern, sizeof(pattern), "%s/out*", test_tmpdir());
	glob(pattern, 0, NULL, &found);
	n = found.gl_pathc;
	globfree(&found);
	return n;
}

static int stop_at_once(void *arg, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	++*(int *)arg;
	return 1;
}

TEST(existing_file_is_kept_unless_forced)
{
	const struct job_options force = { .force = true };
	const char *out = test_tmpfile("out.json");

	make_input(10);
	CHECK_OK(write_json(out, NULL));
	CHECK_EQ_INT(write_json(out, NULL), -EEXIST);
	CHECK_STR_HAS(res.error, "--force");
	CHECK_OK(write_json(out, &force));
	CHECK_EQ_UINT(nr_files(), 1);
}

TEST(stopped_export_leaves_no_files)
{
	int calls = 0;
	const struct job_options opt = { .progress = stop_at_once, .progress_arg = &calls };

	make_input(50000);
	CHECK_EQ_INT(write_json(test_tmpfile("out.json"), &opt), -ECANCELED);
	CHECK_EQ_INT(calls, 1);
	CHECK_EQ_UINT(nr_files(), 0);
}

TEST(unreadable_input_or_unwritable_output_is_an_error)
{
	make_input(10);
	CHECK_EQ_INT(write_json(test_tmpfile("no/such/out.json"), NULL), -ENOENT);
	CHECK_STR_HAS(res.error, "no/such/out.json");
	CHECK_EQ_INT(write_json(test_tmpdir(), NULL), -EINVAL);
	input = test_tmpfile("none.db");
	CHECK_EQ_INT(write_json(test_tmpfile("out.json"), NULL), -ENOENT);
	CHECK_EQ_INT(export_run(export_find("perfetto"), &input, 0, test_tmpfile("out.json"), NULL,
				&res),
		     -EINVAL);
	CHECK_EQ_UINT(nr_files(), 0);
}

TEST(full_disk_leaves_no_files)
{
	make_input(50000);
	if (access("/dev/full", W_OK) != 0)
		SKIP("no /dev/full");
	CHECK_OK(symlink("/dev/full", test_tmpfile("full")));
	/* not a regular file: refused before any work */
	CHECK_EQ_INT(write_json(test_tmpfile("full"), NULL), -EINVAL);
	CHECK_NOT_NULL(freopen("/dev/full", "w", stdout));
	CHECK_EQ_INT(write_json("-", NULL), -ENOSPC);
	CHECK_STR_HAS(res.error, "standard output");
}

TEST(damaged_database_is_an_error_with_message)
{
	FILE *file;

	make_input(50000);
	file = fopen(input, "r+");
	CHECK_NOT_NULL(file);
	CHECK_OK(fseek(file, 40960, SEEK_SET));
	for (int i = 0; i < 100000; i++)
		fputc(0xff, file);
	fclose(file);
	CHECK(write_json(test_tmpfile("out.json"), NULL) < 0);
	CHECK_STR_HAS(res.error, "in.db");
	CHECK_EQ_UINT(nr_files(), 0);
}

static char written[8192];
static size_t nr_written;

static int to_text(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	CHECK(nr_written + size < sizeof(written));
	for (size_t i = 0; i < size; i++)
		written[nr_written++] = bytes[i];
	written[nr_written] = 0;
	return 0;
}

/* The JSON for a call's arguments; "" if the text has another form. */
static const char *json_of(const char *text)
{
	static struct json j;

	nr_written = 0;
	written[0] = 0;
	json_init(&j, to_text, NULL);
	if (trace_event_args_write(&j, text))
		CHECK_OK(json_flush(&j));
	return written;
}

TEST(arguments_become_json_members_by_type)
{
	CHECK_STR_EQ(json_of("ptr=0x7f00, n=-5, on=true, off=false, none=NULL"),
		     "{\"ptr\":\"0x7f00\",\"n\":-5,\"on\":true,\"off\":false,\"none\":null}");
	CHECK_STR_EQ(json_of("grid={4,1,1}, kind=hipMemcpyHostToDevice"),
		     "{\"grid\":[4,1,1],\"kind\":\"hipMemcpyHostToDevice\"}");
	CHECK_STR_EQ(json_of("*ptr=0x0, p.kind=3, f=1.5, x=1e-3"),
		     "{\"*ptr\":\"0x0\",\"p.kind\":3,\"f\":1.5,\"x\":0.001}");
	/* numbers that a double can't hold, and texts that only look like numbers */
	CHECK_STR_EQ(json_of("a=9007199254740993, b=18446744073709551615, c=-, d=1.2.3, e=inf, f="),
		     "{\"a\":\"9007199254740993\",\"b\":\"18446744073709551615\",\"c\":\"-\","
		     "\"d\":\"1.2.3\",\"e\":\"inf\",\"f\":\"\"}");
}

TEST(string_arguments_are_unquoted)
{
	CHECK_STR_EQ(json_of("s=\"a, b=c\", t=\"\\\"q\\\" \\\\ \\n\\x01\", u=\"\""),
		     "{\"s\":\"a, b=c\",\"t\":\"\\\"q\\\" \\\\ \\n\\u0001\",\"u\":\"\"}");
	CHECK_STR_EQ(json_of("s=\"\\xff\\xzz\""), "{\"s\":\"\xef\xbf\xbdxzz\"}");
}

TEST(cut_arguments_end_in_dots)
{
	CHECK_STR_EQ(json_of("a=1, b=\"long te..."), "{\"a\":1,\"b\":\"\\\"long te...\"}");
	CHECK_STR_EQ(json_of("a=1, grid={4,1..."), "{\"a\":1,\"grid\":\"{4,1...\"}");
	CHECK_STR_EQ(json_of("a=1, byt..."), "{\"a\":1,\"...\":\"byt...\"}");
	CHECK_STR_EQ(json_of("a=1, ..."), "{\"a\":1,\"...\":\"...\"}");
	CHECK_STR_EQ(json_of("a=12..."), "{\"a\":\"12...\"}");
}

/* A long text is converted by the general code, value for value. */
TEST(short_and_long_texts_are_converted_alike)
{
	static const char *const values[] = {
		"0",
		"7",
		"007",
		"-1",
		"+1",
		"123456789012345",
		"1234567890123456",
		"1e5",
		"e5",
		"0x7f00",
		"{1}",
		"{1,2,3}",
		"{01,2}",
		"{1,-2}",
		"{}",
		"{1,}",
		"{a,b}",
		"true",
		"truer",
		"false",
		"NULL",
		"NULLS",
		"\"\"",
		"\"plain\"",
		"\"a, b=c\"",
		"\"\\n\"",
		"\"\xc3\xa4\"",
		"",
		"a,b",
		"a=b",
		"x|y",
		"f(1)",
		"a\tb",
		"\x7f",
		"\xff",
		"back\\",
		"a}",
		"\"1234567 \x7f\"",
		"\"1234567\x1f\"",
		"1.5",
		".5",
		"-",
	};
	static char text[4096], expected[8192];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		int n = snprintf(text, sizeof(text), "first=1, v=%s, w=%s", values[i], values[i]);
		size_t size;

		size = strlen(json_of(text));
		CHECK(size > 10);
		memcpy(expected, written, size - 1);
		snprintf(expected + size - 1, sizeof(expected) - size, ",\"pad\":\"%02500d\"}", 0);
		snprintf(text + n, sizeof(text) - (size_t)n, ", pad=\"%02500d\"", 0);
		CHECK_STR_EQ(json_of(text), expected);
	}
}

TEST(text_of_another_form_is_not_converted)
{
	static const char *const others[] = { "",	    "hello",	"...",	   "a=1, b",
					      "a=1,b=2, c", "a=\"open", "a={1,2",  "a=\"x\"y, b=1",
					      "=1",	    "a b=1",	"a=1, =2", "{a=1}" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK_STR_EQ(json_of(others[i]), "");
}

static const char *make_rank(const char *name, const char *rank)
{
	static struct spool_make m;
	const char *path = test_tmpfile(name);
	uint32_t pid = 100 + (uint32_t)*rank;

	spool_make_begin(&m, path, pid, false);
	m.header.trace_id[0] = pid;
	spool_make_chunk(&m, pid);
	spool_make_info(&m, 1, "rank", rank);
	spool_make_info(&m, 3, "world_size", "8");
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	return path;
}

TEST(file_of_one_rank_has_its_number_and_one_of_several_has_none)
{
	static const char has[] = "\"distributedInfo\":{\"rank\": 3,\"world_size\": 8}";
	const char *inputs[2] = { make_rank("3.rtl", "3"), make_rank("5.rtl", "5") };
	const char *out = test_tmpfile("out.json");

	CHECK_OK(export_run(export_find("perfetto"), inputs, 1, out, NULL, &res));
	CHECK_STR_HAS(test_text_of(out), has);
	CHECK_OK(unlink(out));
	CHECK_OK(export_run(export_find("perfetto"), inputs, 2, out, NULL, &res));
	CHECK_STR_HAS(test_text_of(out), "\"traceEvents\":[");
	CHECK_NULL(strstr(test_text_of(out), "distributedInfo"));
}
