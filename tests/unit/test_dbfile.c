/* SPDX-License-Identifier: MIT */
/* test_dbfile.c - files beside a database, and its locks */
#include "base/dbfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary.h"
#include "support/test.h"

static char error[1024];

static const char *put(const char *name, const char *bytes, size_t size)
{
	const char *path = test_tmpfile(name);
	FILE *f = fopen(path, "w");

	CHECK_NOT_NULL(f);
	CHECK_EQ_INT(fwrite(bytes, 1, size, f), size);
	CHECK_OK(fclose(f));
	return path;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int check(const char *path)
{
	return dbfile_check(path, error, sizeof(error));
}

TEST(journals_of_every_form_are_removed_with_their_database)
{
	static const char hot[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 pages",
			  used[] = "\0\0\0\0\0\0\0\0\0\0\0\0rest",
			  log[] = "\x37\x7f\x06\x83 frames", index[] = "\x18\xe2\x2d\0";
	static const struct {
		const char *name, *bytes;
		size_t size;
	} forms[] = { { "t.db-journal", hot, sizeof(hot) },
		      { "t.db-journal", used, sizeof(used) },
		      { "t.db-journal", "", 0 },
		      { "t.db-wal", log, sizeof(log) },
		      { "t.db-wal", "", 0 },
		      { "t.db-shm", index, sizeof(index) } };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *out = put("t.db", "old", 3), *tmp = put("t.tmp", "new", 3);
		const char *side = put(forms[i].name, forms[i].bytes, forms[i].size);

		CHECK_OK(check(out));
		CHECK_OK(temporary_publish(tmp, out, true, true));
		CHECK(!exists(side));
		CHECK(exists(out));
		/* no database has the name, but one had */
		CHECK_OK(unlink(out));
		side = put(forms[i].name, forms[i].bytes, forms[i].size);
		tmp = put("t.tmp", "new", 3);
		CHECK_OK(check(out));
		CHECK_OK(temporary_publish(tmp, out, false, true));
		CHECK(!exists(side));
	}
}

TEST(file_that_is_no_journal_is_kept_and_named)
{
	const char *out = put("t.db", "old", 3), *tmp = put("t.tmp", "new", 3);
	const char *side = put("t.db-journal", "Dear diary", 10);

	CHECK_EQ_INT(check(out), -EEXIST);
	CHECK_STR_HAS(error, "t.db-journal: has the name of SQLite's journal");
	CHECK_EQ_INT(temporary_publish(tmp, out, true, true), -EEXIST);
	CHECK(exists(side));
	CHECK(exists(out));
	CHECK_OK(unlink(side));
	CHECK_OK(symlink("/etc/passwd", test_tmpfile("t.db-wal")));
	CHECK_EQ_INT(check(out), -EEXIST);
	CHECK_STR_HAS(error, "t.db-wal: has the name of SQLite's log");
}

TEST(database_without_journals_stays_until_it_is_replaced)
{
	const char *out = put("t.db", "old", 3);

	CHECK_OK(dbfile_clear(out));
	CHECK(exists(out));
}

/* A process that holds a lock as SQLite's are. */
static pid_t hold(const char *path, short type, off_t start)
{
	int fds[2];
	char byte;
	pid_t pid;

	CHECK_OK(pipe(fds));
	pid = fork();
	if (pid == 0) {
		struct flock lock = {
			.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = 1
		};
		int fd = open(path, O_RDWR);

		if (fd < 0 || fcntl(fd, F_SETLK, &lock) || write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	CHECK(pid > 0);
	close(fds[1]);
	CHECK_EQ_INT(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void end(pid_t pid)
{
	CHECK_OK(kill(pid, SIGKILL));
	CHECK_EQ_INT(waitpid(pid, NULL, 0), pid);
}

TEST(lock_of_a_writer_names_its_process)
{
	const char *out = put("t.db", "old", 3);
	char who[DBFILE_HOLDER_SIZE], pid_text[32];
	pid_t pid = hold(out, F_WRLCK, 0x40000001);

	snprintf(pid_text, sizeof(pid_text), "(pid %d)", (int)pid);
	CHECK(dbfile_holder(out, true, who));
	CHECK_STR_HAS(who, pid_text);
	CHECK_EQ_INT(check(out), -EBUSY);
	CHECK_STR_HAS(error, "is locked");
	CHECK_STR_HAS(error, pid_text);
	CHECK(dbfile_explain(out, 5, error, sizeof(error)));
	CHECK_STR_HAS(error, pid_text);
	end(pid);
	CHECK(!dbfile_holder(out, false, who));
	CHECK_OK(check(out));
}

TEST(reader_does_not_keep_a_database_unless_it_has_a_log)
{
	const char *out = put("t.db", "old", 3);
	char who[DBFILE_HOLDER_SIZE];
	pid_t pid = hold(out, F_RDLCK, 0x40000002);

	CHECK(!dbfile_holder(out, true, who));
	CHECK(dbfile_holder(out, false, who));
	CHECK_OK(check(out));
	put("t.db-wal", "", 0);
	CHECK_EQ_INT(check(out), -EBUSY);
	CHECK_STR_HAS(error, "has it open");
	end(pid);
	CHECK_OK(check(out));
}

TEST(database_is_read_by_an_address_that_escapes_its_name)
{
	char name[DBFILE_NAME_SIZE];

	CHECK_STR_EQ(dbfile_to_read("a ?%#.db", name), "file:a %3f%25%23.db?mode=ro");
	CHECK_STR_EQ(dbfile_to_read("//no/such.db", name), "file:/no/such.db?mode=ro");
	CHECK_STR_EQ(dbfile_to_read("", name), "file:?mode=ro");
}

TEST(transaction_that_nobody_finished_is_explained)
{
	CHECK(dbfile_explain("t.db", 776, error, sizeof(error)));
	CHECK_STR_HAS(error, "t.db-journal");
	CHECK(!dbfile_explain("t.db", 11, error, sizeof(error)));
}
