/* SPDX-License-Identifier: MIT */
/* test_session.c - the names of outputs, and the directory of a session */
#include "cli/trace/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/paths.h"
#include "support/test.h"

static struct session session, other;
static char error[SESSION_ERROR_SIZE];

static void touch(const char *path)
{
	FILE *file = fopen(path, "w");

	CHECK_NOT_NULL(file);
	fclose(file);
}

static int names(const char *pattern, const char *spool_dir)
{
	CHECK_OK(chdir(test_tmpdir()));
	return session_names(&session, pattern, spool_dir, 4711, error);
}

TEST(spool_directory_is_beside_output)
{
	CHECK_OK(names("t.db", NULL));
	CHECK_STR_EQ(session.shown, "t.db");
	CHECK_STR_EQ(session.output, test_tmpfile("t.db"));
	CHECK_STR_EQ(session.dir, test_tmpfile("t.db.spool"));
}

TEST(name_patterns_are_expanded_with_programs_pid)
{
	setenv("WHO", "me", 1);
	CHECK_OK(names("t.%p.%q{WHO}.db", ""));
	CHECK_STR_EQ(session.shown, "t.4711.me.db");
	CHECK_OK(names("t.db", "sp.%p"));
	CHECK_STR_EQ(session.dir, test_tmpfile("sp.4711/t.db.4711.spool"));
}

TEST(name_of_directory_is_a_data_set)
{
	CHECK_OK(names("x/", NULL));
	CHECK_STR_EQ(session.set, test_tmpfile("x"));
	CHECK_STR_HAS(session.output, "/x/.unfinished-");
	CHECK_OK(names("t.db", NULL));
	CHECK_STR_EQ(session.set, "");
}

TEST(name_without_a_directory_is_refused)
{
	CHECK_EQ_INT(names("", NULL), -ENOENT);
	CHECK_EQ_INT(names("no/such/t.db", NULL), -ENOENT);
	CHECK_STR_HAS(error, "mkdir -p 'no/such'");
	CHECK_EQ_INT(names("t.db", "no/such/sp"), -ENOENT);
}

TEST(existing_output_is_refused_without_force)
{
	CHECK_OK(names("t.db", NULL));
	/* an empty one is of mktemp(1) */
	touch("t.db");
	CHECK_OK(session_open(&session, false, error));
	session_close(&session);
	CHECK_OK(truncate("t.db", 1));
	CHECK_EQ_INT(session_open(&session, false, error), -EEXIST);
	CHECK_STR_HAS(error, "--force");
	CHECK(access("t.db.spool", F_OK) != 0);
	CHECK_OK(session_open(&session, true, error));
	session_close(&session);
	CHECK(access("t.db", F_OK) == 0);
	CHECK(access("t.db.spool", F_OK) != 0);
}

TEST(spool_directory_in_use_is_refused)
{
	CHECK_OK(names("t.db", NULL));
	CHECK_OK(session_open(&session, false, error));
	CHECK_OK(session_names(&other, "t.db", NULL, 4712, error));
	CHECK_EQ_INT(session_open(&other, true, error), -EBUSY);
	CHECK_STR_HAS(error, "another rtl trace");
	session_close(&session);
	CHECK_OK(session_open(&other, false, error));
	session_close(&other);
}

TEST(session_remove_keeps_foreign_files)
{
	CHECK_OK(names("t.db", "sp"));
	CHECK_OK(session_open(&session, false, error));
	touch("sp/t.db.4711.spool/1.rtl");
	touch("sp/t.db.4711.spool/log.12");
	session_remove(&session);
	CHECK(access("sp", F_OK) != 0);
	CHECK_OK(session_open(&session, false, error));
	touch("sp/t.db.4711.spool/mine");
	touch("sp/t.db.4711.spool/2.rtl");
	session_remove(&session);
	CHECK(access("sp/t.db.4711.spool/mine", F_OK) == 0);
	CHECK(access("sp/t.db.4711.spool/2.rtl", F_OK) != 0);
}

TEST(session_find_includes_session_directories)
{
	char **paths;
	ssize_t nr;

	CHECK_OK(chdir(test_tmpdir()));
	CHECK_OK(mkdir("sp", 0777));
	CHECK_OK(mkdir("sp/a.spool", 0777));
	CHECK_OK(mkdir("sp/other", 0777));
	touch("sp/2.rtl");
	touch("sp/1.rtl");
	touch("sp/.3.rtl");
	touch("sp/a.spool/4.rtl");
	touch("sp/other/5.rtl");
	nr = session_spools("sp", &paths);
	CHECK_EQ_INT(nr, 2);
	CHECK_STR_EQ(paths[0], "sp/1.rtl");
	session_free_spools(paths, (size_t)nr);
	nr = session_find("sp", &paths);
	CHECK_EQ_INT(nr, 3);
	CHECK_STR_EQ(paths[2], "sp/a.spool/4.rtl");
	session_free_spools(paths, (size_t)nr);
	CHECK_EQ_INT(session_spools("none", &paths), -ENOENT);
}

TEST(parts_are_found_in_build_and_installation)
{
	static struct paths paths;

	CHECK_OK(chdir(test_tmpdir()));
	paths_find_below(&paths, test_tmpdir());
	CHECK_STR_EQ(paths.librtl, "");
	CHECK_STR_EQ(paths.vgpu_dir, "");
	CHECK_OK(mkdir("lib", 0777));
	touch("lib/librtl.so.1");
	CHECK_OK(mkdir("lib/rocm-trace-lite", 0777));
	CHECK_OK(mkdir("lib/rocm-trace-lite/vgpu", 0777));
	touch("lib/rocm-trace-lite/vgpu/libvgpu.so");
	paths_find_below(&paths, test_tmpdir());
	CHECK_STR_EQ(paths.librtl, test_tmpfile("lib/librtl.so.1"));
	CHECK_STR_EQ(paths.vgpu_dir, test_tmpfile("lib/rocm-trace-lite/vgpu"));
	CHECK_OK(mkdir("vgpu", 0777));
	touch("vgpu/libvgpu.so");
	paths_find_below(&paths, test_tmpdir());
	CHECK_STR_EQ(paths.vgpu_dir, test_tmpfile("vgpu"));
}
