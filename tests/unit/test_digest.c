/* SPDX-License-Identifier: MIT */
/* test_digest.c - what a trace amounts to, when memory runs out at any allocation */
#include "analysis/findings.h"

#include <errno.h>

#include "base/alloc.h"
#include "export/rpd/rpd.h"
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
	CHECK(d.nr_lanes > 1);
	for (size_t i = 0; i < d.kernels.nr; i++)
		kernels += d.kernels.sums[i].calls;
	for (size_t i = 0; i < d.copies.nr; i++)
		copies += d.copies.sums[i].calls;
	CHECK(kernels > 0);
	CHECK_EQ_UINT(d.lanes[0].kernels, kernels);
	CHECK_EQ_UINT(d.lanes[0].copies, copies);
	CHECK_EQ_UINT(d.lanes[0].busy_ns + d.lanes[0].idle_ns, d.wall.work_ns);
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
		if (ret == 0 && d.nr_lanes > 1)
			ret = digest_explain(&d, &d.lanes[1], 4);
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
