/* SPDX-License-Identifier: MIT */
/* test_folded.c - the stacks of kernels, by the calls that launched them; more of them:
 * tests/cli/test_viewers.py */
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "support/db.h"
#include "support/test.h"

TEST(call_that_is_open_at_a_threads_end_is_not_around_those_of_the_next)
{
	static struct job_result res;
	const char *input = test_tmpfile("in.db"), *out = test_tmpfile("out.folded"), *text;

	/* the call of thread 79 is within the time of that of thread 78 */
	db_make_rpd(
		input,
		"INSERT INTO rocpd_string VALUES (1, 'gemm'), (2, 'KernelExecution'), (3, 'hipFirst'), "
		"(4, 'hipSecond'), (5, '');"
		"INSERT INTO rocpd_api VALUES (1, 77, 78, 1000, 9000, 3, 5), (2, 77, 79, 2000, 3000, 4, 5);"
		"INSERT INTO rocpd_op VALUES (1, 0, 0, 1, 3000, 5000, 1, 2), (2, 0, 0, 2, 5000, 5500, 1, 2);"
		"INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 2)");
	CHECK_OK(export_run(export_find("folded"), &input, 1, out, NULL, &res));
	text = test_text_of(out);
	CHECK_STR_HAS(text, "thread 78;hipFirst;gemm 2000\n");
	CHECK_STR_HAS(text, "thread 79;hipSecond;gemm 500\n");
}
