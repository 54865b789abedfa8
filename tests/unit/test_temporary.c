/* SPDX-License-Identifier: MIT */
/* test_temporary.c - files that are not complete yet: their mode, their name, their deletion */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "support/test.h"

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static const char *create(const char *name)
{
	const char *path = test_tmpfile(name);
	int fd = temporary_create(path);

	CHECK(fd >= 0);
	close(fd);
	return path;
}

static void write_byte(const char *path)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	CHECK(fputc('x', f) == 'x');
	CHECK_OK(fclose(f));
}

TEST(created_file_is_private_under_any_umask)
{
	static const mode_t masks[] = { 0, 022, 077, 0777 };

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		umask(masks[i]);
		CHECK_EQ_INT(mode_of(create("t")), 0600);
	}
}

TEST(file_of_a_killed_process_is_replaced_and_a_link_not_followed)
{
	const char *path = test_tmpfile("t"), *other = create("other");

	CHECK_OK(symlink(other, path));
	create("t");
	CHECK_EQ_INT(mode_of(path), 0600);
	CHECK_OK(access(other, F_OK));
}

TEST(published_file_has_mode_of_umask_or_owner)
{
	const char *out = test_tmpfile("out");

	umask(027);
	CHECK_OK(temporary_publish(create("t"), out, false, false));
	CHECK_EQ_INT(mode_of(out), 0640);
	write_byte(out);
	CHECK_EQ_INT(temporary_publish(create("t"), out, false, true), -EEXIST);
	CHECK_EQ_INT(mode_of(out), 0640);
	CHECK_OK(temporary_publish(test_tmpfile("t"), out, true, true));
	CHECK_EQ_INT(mode_of(out), 0600);
	CHECK(access(test_tmpfile("t"), F_OK) != 0);
}

TEST(empty_output_does_not_exist_and_is_replaced)
{
	const char *out = create("out");

	CHECK(!fd_is_taken(out));
	write_byte(create("t"));
	CHECK_OK(temporary_publish(test_tmpfile("t"), out, false, true));
	CHECK(fd_is_taken(out));
	CHECK(fd_is_taken("/dev/null"));
}

/* The name of a file of mktemp(1) may be that of several processes. */
TEST(one_of_many_gets_the_name_of_an_empty_file)
{
	enum { ROUNDS = 10, PROCESSES = 6 };
	char out[512];

	snprintf(out, sizeof(out), "%s", test_tmpfile("out"));
	for (int round = 0; round < ROUNDS; round++) {
		int good = 0, go[2], status;

		create("out");
		CHECK_OK(pipe(go));
		for (int i = 0; i < PROCESSES; i++) {
			char name[16], byte;

			snprintf(name, sizeof(name), "t%d", i);
			write_byte(create(name));
			if (fork() == 0) {
				close(go[1]);
				if (read(go[0], &byte, 1) != 0)
					_exit(9);
				_exit(-temporary_publish(test_tmpfile(name), out, false, true));
			}
		}
		close(go[0]);
		close(go[1]);
		for (int i = 0; i < PROCESSES; i++) {
			CHECK(wait(&status) > 0);
			CHECK(WIFEXITED(status));
			good += WEXITSTATUS(status) == 0;
			CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == EEXIST);
		}
		CHECK_EQ_INT(good, 1);
		CHECK(fd_is_taken(out));
		CHECK_OK(unlink(out));
	}
}

TEST(delete_all_takes_unfinished_files_alone)
{
	const char *out = test_tmpfile("out"), *kept = create("kept");

	temporary_publish(create("t"), out, false, false);
	temporary_publish(kept, test_tmpfile("kept2"), false, false);
	create("a");
	create("b");
	create("deleted");
	temporary_delete(test_tmpfile("deleted"));
	create("c");
	create("d");
	create("beyond"); /* the list is full */
	temporary_delete_all();
	CHECK_OK(access(out, F_OK));
	CHECK_OK(access(test_tmpfile("kept2"), F_OK));
	CHECK_OK(access(test_tmpfile("beyond"), F_OK));
	CHECK(access(test_tmpfile("a"), F_OK) != 0);
	CHECK(access(test_tmpfile("d"), F_OK) != 0);
}

TEST(file_in_missing_folder_returns_enoent)
{
	CHECK_EQ_INT(temporary_create(test_tmpfile("no/such/file")), -ENOENT);
}

TEST(unnamed_file_is_in_tmpdir_without_a_name)
{
	struct stat st;
	char byte = 'x';
	int fd;

	CHECK_OK(setenv("TMPDIR", test_tmpfile(""), 1));
	fd = temporary_unnamed("rtl-test");
	CHECK(fd >= 0);
	CHECK_OK(fstat(fd, &st));
	CHECK_EQ_INT(st.st_nlink, 0);
	CHECK_EQ_INT(st.st_mode & 07777, 0600);
	CHECK_EQ_INT(write(fd, &byte, 1), 1);
	CHECK_EQ_INT(pread(fd, &byte, 1, 0), 1);
	close(fd);
	CHECK_OK(setenv("TMPDIR", "/no/such/directory", 1));
	CHECK_EQ_INT(temporary_unnamed("rtl-test"), -ENOENT);
}
