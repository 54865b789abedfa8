/* SPDX-License-Identifier: MIT */
/* test_paths.c - parts of paths, and paths that are longer than the system's */
#include "cli/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/test.h"

static char out[PATH_MAX];

TEST(path_has_a_directory_and_a_suffix)
{
	paths_dirname(out, "a/b/c.db");
	CHECK_STR_EQ(out, "a/b");
	paths_dirname(out, "/c.db");
	CHECK_STR_EQ(out, "/");
	paths_dirname(out, "c.db");
	CHECK_STR_EQ(out, ".");
	CHECK_STR_EQ(paths_suffix("a.b/c.db"), ".db");
	CHECK_STR_EQ(paths_suffix("a.b/c"), "");
	CHECK_STR_EQ(paths_suffix("a/.hidden"), "");
}

TEST(absolute_path_needs_its_directory_alone)
{
	char path[PATH_MAX], real[PATH_MAX];

	CHECK_NOT_NULL(realpath(test_tmpdir(), real));
	CHECK_OK(mkdir(test_tmpfile("sub"), 0700));
	CHECK_OK(paths_absolute(out, test_tmpfile("sub/../none.db")));
	CHECK(paths_join(path, real, "none.db"));
	CHECK_STR_EQ(out, path);
	CHECK_EQ_INT(paths_absolute(out, test_tmpfile("no/such.db")), -ENOENT);
}

TEST(path_that_is_too_long_is_refused)
{
	static char longest[PATH_MAX + 1], name[PATH_MAX + 1];

	/* "/x/../x/../x" is a short path of a long name */
	for (size_t n = 0; n + 5 < PATH_MAX; n += 5)
		memcpy(longest + n, "/./..", 5);
	memset(longest + strlen(longest), '/', PATH_MAX - 1 - strlen(longest));
	CHECK_EQ_UINT(strlen(longest), PATH_MAX - 1);
	CHECK_OK(paths_absolute(out, longest));
	CHECK_STR_EQ(out, "/..");
	longest[PATH_MAX - 1] = '/';
	CHECK_EQ_INT(paths_absolute(out, longest), -ENAMETOOLONG);
	memset(name, 'n', PATH_MAX - 1);
	CHECK(!paths_join(out, "/", name));
	name[PATH_MAX - 2] = '\0';
	CHECK(paths_join(out, "", name));
}
