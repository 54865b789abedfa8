/* SPDX-License-Identifier: MIT */
/* test_digest.c - what a trace amounts to, when memory runs out at any allocation */
#include "analysis/findings.h"

#include <errno.h>

#include "analysis/tables.h"
#include "base/alloc.h"
#include "export/rpd/rpd.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static const struct job_options opt;
static const struct slice all;

static struct query *open_sample(void)
{
	const struct spool_make_sample sample = { .host = "nodeA", .pid = 500, .closed = true };
	const char *input = test_tmpfile("in.rtl");
	struct query *q = NULL;

	spool_make_sample(input, &sample);
	CHECK_OK(query_open(&q, &input, 1, rpd_merge, &opt, &res));
	return q;
}

TEST(sums_and_busy_time_are_those_of_the_operations)
{
	struct query *q = open_sample();
	struct digest d = { 0 };
	uint64_t kernels = 0, copies = 0;

	CHECK_OK(digest_read(&d, q, &all));
	CHECK(d.nr_gpus > 1);
	for (size_t i = 0; i < d.kernels.nr; i++)
		kernels += d.kernels.sums[i].calls;
	for (size_t i = 0; i < d.copies.nr; i++)
		copies += d.copies.sums[i].calls;
	CHECK(kernels > 0);
	CHECK_EQ_UINT(d.gpus[0].kernels, kernels);
	CHECK_EQ_UINT(d.gpus[0].copies, copies);
	CHECK_EQ_UINT(d.gpus[0].busy_ns + d.gpus[0].idle_ns, d.wall.work_ns);
	CHECK_EQ_UINT(d.wall.ns, d.wall.startup_ns + d.wall.work_ns);
	digest_fini(&d);
	query_close(q);
}

TEST(failed_allocation_ends_the_reading_with_a_message)
{
	struct query *q = open_sample();
	uint64_t nth = 0;
	int ret;

	do {
		struct findings found = { 0 };
		struct digest d = { 0 };

		res.error[0] = 0;
		alloc_fail_at(++nth);
		ret = digest_read(&d, q, &all);
		if (ret == 0 && d.nr_gpus > 1)
			ret = digest_explain(&d, &d.gpus[1], 4);
		if (ret == 0)
			ret = findings_read(q, &d, &found);
		alloc_fail_at(0);
		findings_fini(&found);
		digest_fini(&d);
		if (ret) {
			CHECK_EQ_INT(ret, -ENOMEM);
			CHECK(res.error[0] != 0);
		}
	} while (ret && nth < 10000);
	CHECK_OK(ret);
	CHECK(nth > 20);
	query_close(q);
}

/* The real value of a row of a table, by the name in its third column. */
static double value_of(const struct sheet *t, const char *name)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (strcmp(sheet_cell(t, i, 2)->text, name) == 0)
			return sheet_cell(t, i, 4)->real;
	FAIL("no row %s", name);
}

TEST(percentages_of_dispatches_count_by_their_time_and_other_values_alike)
{
	static const struct tables_want want = { TABLES_METRICS, TABLES_WHOLE };
	const struct spool_make_sample sample = { .host = "nodeA", .pid = 500, .closed = true };
	const char *spool = test_tmpfile("in.rtl"), *db = test_tmpfile("out.db");
	struct tables t = { .metrics = "memory" };
	struct query *q = NULL;
	struct sheet out = { 0 };

	spool_make_sample(spool, &sample);
	CHECK_OK(rpd_merge(&spool, 1, db, &opt, &res));
	db_make_plain(db);
	/* two dispatches of a kernel, of 100 and 300 ns */
	db_exec(db,
		"DELETE FROM rtl_op_kernel WHERE op_id NOT IN (SELECT op_id FROM rtl_op_kernel ORDER BY 1 LIMIT 2);"
		"UPDATE rtl_op_kernel SET shape_id = (SELECT min(shape_id) FROM rtl_op_kernel);"
		"UPDATE rocpd_op SET \"end\" = start + 100 + 200 * (id > (SELECT min(op_id) FROM rtl_op_kernel));"
		"INSERT INTO rocpd_string (id, string) VALUES (9001, 'L2CacheHit'), (9002, 'FETCH_SIZE');"
		"INSERT INTO rtl_counter_name VALUES (9001, 'percent', '', ''), (9002, 'kilobytes', '', '');"
		"INSERT INTO rocpd_counter (op_id, name_id, value) SELECT K.op_id, N.id, 80 * (K.op_id > (SELECT "
		"min(op_id) FROM rtl_op_kernel)) FROM rtl_op_kernel K, rtl_counter_name N");
	CHECK_OK(query_open(&q, &db, 1, rpd_merge, &opt, &res));
	t.q = q;
	CHECK_OK(tables_read(&t, &want, 1, &out));
	CHECK_NEAR(value_of(&out, "l2_hits"), 60, 1e-9);
	CHECK_NEAR(value_of(&out, "dram_read"), 40 * 1024.0 / 200, 1e-9);
	sheet_fini(&out);
	tables_fini(&t);
	query_close(q);
}
