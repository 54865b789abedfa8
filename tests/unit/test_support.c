/* SPDX-License-Identifier: MIT */
/* test_support.c - the test framework itself: failing checks fail their own test only */
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs body in a child and returns its wait status; its output is discarded. */
static int status_of(test_fn body)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(99);
		body();
		_exit(0);
	}
	CHECK_GT_INT(pid, 0);
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	return status;
}

static void unequal_ints(void)
{
	CHECK_EQ_INT(1, 2);
}

static void unequal_strings(void)
{
	CHECK_STR_EQ("a", "b");
}

static void null_string(void)
{
	CHECK_STR_EQ("a", NULL);
}

static void false_condition(void)
{
	CHECK(1 == 2);
}

static void skips(void)
{
	SKIP("as asked");
}

TEST(failed_checks_end_the_test)
{
	CHECK_EQ_INT(WEXITSTATUS(status_of(unequal_ints)), 1);
	CHECK_EQ_INT(WEXITSTATUS(status_of(unequal_strings)), 1);
	CHECK_EQ_INT(WEXITSTATUS(status_of(null_string)), 1);
	CHECK_EQ_INT(WEXITSTATUS(status_of(false_condition)), 1);
}

TEST(skip_has_its_own_status)
{
	CHECK_EQ_INT(WEXITSTATUS(status_of(skips)), 77);
}

TEST(comparisons_keep_sign_and_width)
{
	CHECK_LT_INT(-1, 0);
	CHECK_GT_UINT(UINT64_MAX, 0);
	CHECK_LE_INT(3, 3);
	CHECK_GE_INT(3, 3);
	CHECK_NEAR(0.1 + 0.2, 0.3, 1e-12);
	CHECK_STR_HAS("in the middle", "the");
	CHECK_MEM_EQ("abc", "abd", 2);
	CHECK_NULL(NULL);
}

TEST(temporary_directory_is_there)
{
	struct stat st;

	CHECK_OK(stat(test_tmpdir(), &st));
	CHECK(S_ISDIR(st.st_mode));
	CHECK_STR_HAS(test_tmpfile("x"), test_tmpdir());
}
