/* SPDX-License-Identifier: MIT */
/* test_critical.c - the critical path of made traces: what an operation waited for, by the rules of
 * streams */
#include "analysis/critical.h"

#include <stdio.h>

#include "analysis/tables.h"
#include "query/rows.h"
#include "support/db.h"
#include "support/test.h"

enum { KERNEL = 1, FIRST, SECOND, NOTHING, LAUNCH, SYNCHRONIZE, CREATE, APART };

/* Two kernels on streams of their own: the first runs from 1200 to 5000, the second is launched at
 * 2000 and runs from 5100 to 6000. */
static const char made[] =
	"CREATE TABLE rocpd_kernelapi(api_ptr_id INTEGER PRIMARY KEY, stream TEXT);"
	"INSERT INTO rocpd_string VALUES(1, 'KernelExecution'), (2, 'first'), (3, 'second'), (4, ''), (5, 'hipLaunchKernel'), "
	"(6, 'hipDeviceSynchronize'), (7, 'hipStreamCreateWithFlags'), (8, '*stream=0x10, flags=1');"
	"INSERT INTO rocpd_api VALUES(1, 1, 1, 500, 600, 7, 4), (2, 1, 1, 1000, 1100, 5, 4), "
	"(3, 1, 1, 2000, 2100, 5, 4), (4, 1, 1, 2200, 6100, 6, 4);"
	"INSERT INTO rocpd_op VALUES(1, 0, 3, 0, 1200, 5000, 2, 1), (2, 0, 4, 0, 5100, 6000, 3, 1);"
	"INSERT INTO rocpd_api_ops VALUES(1, 2, 1), (2, 3, 2);";

static uint64_t part_ns(const struct critical *c, enum critical_kind kind, int64_t name)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->parts[i].kind == kind && c->parts[i].name == name)
			return c->parts[i].ns;
	return 0;
}

/* How long the first kernel is on the path; `more`: what the trace has besides. */
static uint64_t first_on_path(const char *more)
{
	static struct job_options opt;
	static struct job_result res;
	const char *path = test_tmpfile("made.db");
	struct critical c = { 0 };
	struct query *q;
	uint64_t first;

	remove(path);
	db_make_rpd(path, made);
	db_exec(path, more);
	CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
	CHECK_OK(rows_prepare(q));
	CHECK_OK(critical_read(q, 0, &c));
	CHECK_EQ_UINT(part_ns(&c, CRITICAL_KERNEL, SECOND), 900);
	first = part_ns(&c, CRITICAL_KERNEL, FIRST);
	/* the second kernel waited for the first one, or for its launch */
	CHECK_EQ_UINT(part_ns(&c, CRITICAL_WAIT, SECOND), first ? 100 : 0);
	CHECK_EQ_UINT(part_ns(&c, CRITICAL_LAUNCH, SECOND), first ? 0 : 3000);
	critical_fini(&c);
	query_close(q);
	return first;
}

TEST(null_stream_waits_for_another_stream)
{
	CHECK_EQ_UINT(first_on_path("INSERT INTO rocpd_kernelapi VALUES(2, '0x10'), (3, '(nil)')"),
		      3800);
}

TEST(stream_waits_for_the_null_stream)
{
	CHECK_EQ_UINT(first_on_path("INSERT INTO rocpd_kernelapi VALUES(2, '(nil)'), (3, '0x10')"),
		      3800);
}

TEST(streams_do_not_wait_for_each_other)
{
	CHECK_EQ_UINT(first_on_path("INSERT INTO rocpd_kernelapi VALUES(2, '0x20'), (3, '0x10')"),
		      0);
}

TEST(stream_without_blocking_and_the_null_stream_do_not_wait_for_each_other)
{
	static const char *const streams[] = { "(2, '0x10'), (3, '(nil)')",
					       "(2, '(nil)'), (3, '0x10')" };
	char more[200];

	for (size_t i = 0; i < 2; i++) {
		snprintf(more, sizeof(more),
			 "UPDATE rocpd_api SET args_id = 8 WHERE id = 1;"
			 "INSERT INTO rocpd_kernelapi VALUES%s",
			 streams[i]);
		CHECK_EQ_UINT(first_on_path(more), 0);
	}
}

TEST(null_streams_of_two_gpus_do_not_wait_for_each_other)
{
	CHECK_EQ_UINT(first_on_path("INSERT INTO rocpd_kernelapi VALUES(2, '0x10'), (3, '(nil)');"
				    "UPDATE rocpd_op SET gpuId = 1 WHERE id = 2"),
		      0);
}

TEST(table_has_the_mean_of_parts_that_are_on_the_path_several_times)
{
	static const struct tables_want want = { TABLES_PATH, TABLES_WHOLE };
	static struct job_options opt;
	static struct job_result res;
	const char *path = test_tmpfile("made.db");
	struct sheet out = { 0 };
	struct tables t = { 0 };
	struct query *q;
	size_t nr_several = 0;

	remove(path);
	db_make_rpd(path, made);
	/* the first kernel once more, which takes another time */
	db_exec(path,
		"INSERT INTO rocpd_api VALUES(5, 1, 1, 6200, 6300, 5, 4), (6, 1, 1, 6400, 7600, 6, 4);"
		"INSERT INTO rocpd_op VALUES(3, 0, 3, 0, 6500, 7500, 2, 1);"
		"INSERT INTO rocpd_api_ops VALUES(3, 5, 3)");
	CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
	t.q = q;
	CHECK_OK(tables_read(&t, &want, 1, &out));
	for (size_t i = 0; i < out.nr_rows; i++) {
		uint64_t total = sheet_cell(&out, i, 0)->num, count = sheet_cell(&out, i, 2)->num;

		CHECK_EQ_UINT(sheet_cell(&out, i, 3)->num, total / count);
		nr_several += count > 1;
	}
	CHECK(nr_several > 0);
	sheet_fini(&out);
	tables_fini(&t);
	query_close(q);
}
