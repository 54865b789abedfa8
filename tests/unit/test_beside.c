/* SPDX-License-Identifier: MIT */
/* test_beside.c - rtl is found beside a library, and only where it belongs to it */
#include "base/beside.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

static const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), name);
	return path;
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(in_folder(name), O_CREAT | O_WRONLY, mode);

	CHECK_GE_INT(fd, 0);
	close(fd);
}

/* Where rtl is found, from the folder on; "": it is not. */
static const char *found(unsigned int levels)
{
	static char real[PATH_MAX];
	char out[PATH_MAX];

	if (!beside_find("", in_folder("a/lib/deep/lib.so"), levels, out))
		return "";
	CHECK_NOT_NULL(realpath(out, real));
	return real + strlen(test_tmpdir());
}

TEST(nearest_rtl_within_the_levels_is_found)
{
	static const char *const folders[] = { "a", "a/bin", "a/lib", "a/lib/bin", "a/lib/deep" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		CHECK_OK(mkdir(in_folder(folders[i]), 0700));
	make_file("a/lib/deep/lib.so", 0600);
	CHECK_STR_EQ(found(6), "");
	make_file("a/bin/rtl", 0700);
	CHECK_STR_EQ(found(1), "");
	CHECK_STR_EQ(found(2), "/a/bin/rtl");
	/* no program */
	make_file("a/lib/bin/rtl", 0600);
	CHECK_STR_EQ(found(2), "/a/bin/rtl");
	make_file("a/lib/deep/rtl", 0700);
	CHECK_STR_EQ(found(0), "/a/lib/deep/rtl");
	CHECK_STR_EQ(found(2), "/a/bin/rtl");
	CHECK_OK(chmod(in_folder("a/lib/bin/rtl"), 0700));
	CHECK_STR_EQ(found(2), "/a/lib/bin/rtl");
}

TEST(named_rtl_is_not_replaced)
{
	char out[PATH_MAX];

	make_file("rtl", 0700);
	make_file("lib.so", 0600);
	CHECK(!beside_find("/no/such/rtl", in_folder("lib.so"), 2, out));
	CHECK(beside_find("", in_folder("lib.so"), 2, out));
}
