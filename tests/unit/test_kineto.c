/* SPDX-License-Identifier: MIT */
/* test_kineto.c - kineto's dialect from an RPD file, and errors; its events: tests/cli */
#include "export/export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static const char *input;

static void make_input(const char *more)
{
	input = test_tmpfile("in.db");
	db_make_rpd(
		input,
		"INSERT INTO rocpd_string VALUES (1, 'gemm'), (2, 'KernelExecution'), (3, "
		"'hipLaunchKernel'), (4, 'ptr=0x10'), (5, 'FillBuffer'), (6, '');"
		"INSERT INTO rocpd_api VALUES (1, 77, 78, 1000, 2000, 3, 4);"
		"INSERT INTO rocpd_op VALUES (1, 1, 3, 1, 3000, 5000, 1, 2), (2, 1, 3, 2, 5000, 5500, "
		"6, 5);"
		"INSERT INTO rocpd_api_ops VALUES (1, 1, 1)");
	db_exec(input, more);
}

static int write_json(const char *out)
{
	return export_run(export_find("kineto"), &input, 1, out, NULL, &res);
}

TEST(rpd_file_has_queues_as_streams)
{
	const char *out = test_tmpfile("out.json"), *text;

	make_input("");
	CHECK_OK(write_json(out));
	CHECK_EQ_UINT(res.nr_files, 1);
	text = test_text_of(out);
	CHECK_STR_HAS(text,
		      "\"distributedInfo\": {\"backend\": \"none\",\"rank\": 0,\"world_size\": 1}");
	CHECK_STR_HAS(text, "\"baseTimeNanoseconds\":1000,");
	/* no GPU is known: readers fail on an empty array */
	CHECK_NULL(strstr(text, "deviceProperties"));
	CHECK_STR_HAS(text, "\"pid\":1,\"tid\":4,\"ts\":2.000,\"dur\":2.000,\"cat\":\"kernel\","
			    "\"name\":\"gemm\",\"args\":{\"device\":1,\"context\":0,\"stream\":4,"
			    "\"hsa_queue\":3,\"correlation\":1,");
	CHECK_STR_HAS(text, "\"dur\":1.000,\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\","
			    "\"args\":{\"correlation\":1,\"args\":{\"ptr\":\"0x10\"}}");
	CHECK_STR_HAS(text, "\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\"");
	CHECK_STR_HAS(text, "\"ph\":\"s\",\"pid\":77,\"tid\":78,\"ts\":0.000,\"id\":1,");
	CHECK_STR_HAS(text, "\"ph\":\"f\",\"pid\":1,\"tid\":4,\"ts\":2.000,\"id\":1,");
}

TEST(operation_without_valid_times_is_an_instant)
{
	make_input("INSERT INTO rocpd_op VALUES (3, 0, 0, 1, 9000, 8000, 1, 2)");
	CHECK_OK(write_json(test_tmpfile("out.json")));
	CHECK_STR_HAS(
		test_text_of(test_tmpfile("out.json")),
		"{\"ph\":\"i\",\"pid\":0,\"tid\":1,\"ts\":8.000,\"s\":\"t\",\"cat\":\"kernel\"");
}

TEST(missing_or_incomplete_input_is_refused)
{
	input = test_tmpfile("none.db");
	CHECK_EQ_INT(write_json(test_tmpfile("out.json")), -ENOENT);
	make_input("DROP TABLE rocpd_api_ops");
	CHECK(write_json(test_tmpfile("out.json")) < 0);
	CHECK_STR_HAS(res.error, "in.db");
	CHECK_EQ_INT(access(test_tmpfile("out.json"), F_OK), -1);
}

TEST(grids_are_in_blocks_with_the_last_one_that_is_not_full)
{
	static struct spool_make m;
	struct spool_make_op op = { .tid = 100, .begin_ns = 1000, .end_ns = 2000 };
	const char *out = test_tmpfile("out.json"), *text;

	input = test_tmpfile("in.rtl");
	spool_make_begin(&m, input, 100, false);
	spool_make_chunk(&m, 100);
	spool_make_agent(&m, 0, REC_AGENT_GPU, 0, 0);
	spool_make_queue(&m, 0, 0, 0, 1);
	op.shape = spool_make_shape(&m, 1, 0, 129, 64);
	spool_make_dispatch(&m, &op);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_OK(write_json(out));
	text = test_text_of(out);
	CHECK_STR_HAS(text, "\"grid\":[3,2,1],\"block\":[64,1,1]");
}

TEST(slow_copy_has_its_bandwidth)
{
	static struct spool_make m;
	const struct spool_make_op op = { .tid = 100, .begin_ns = 1000, .end_ns = 5000 };
	const char *out = test_tmpfile("out.json");

	input = test_tmpfile("in.rtl");
	spool_make_begin(&m, input, 100, false);
	spool_make_chunk(&m, 100);
	spool_make_agent(&m, 0, REC_AGENT_CPU, 0, 0);
	spool_make_agent(&m, 1, REC_AGENT_GPU, 0, 0);
	spool_make_copy(&m, &op, REC_COPY_H2D, 0, 1, 3000);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_OK(write_json(out));
	/* a byte in a nanosecond is a GB/s */
	CHECK_STR_HAS(test_text_of(out), "\"bytes\":3000,\"memory bandwidth (GB/s)\":0.75");
}
