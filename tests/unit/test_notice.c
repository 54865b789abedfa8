/* SPDX-License-Identifier: MIT */
/* test_notice.c - notices of processes without a spool reach the session's socket, and no other */
#include "base/notice.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static const char *session(char name[64])
{
	snprintf(name, 64, "/tmp/notice-%d.spool", (int)getpid());
	return name;
}

TEST(notice_has_kind_error_and_sender)
{
	char name[64];
	int fd = notice_open(session(name));
	struct notice got;
	pid_t pid;

	CHECK(fd >= 0);
	CHECK(!notice_next(fd, &got));
	pid = fork();
	if (pid == 0) {
		errno = ENOTTY;
		notice_send(name, NOTICE_NO_SPOOL, EACCES);
		_exit(errno == ENOTTY ? 0 : 1);
	}
	CHECK(waitpid(pid, &(int){ 0 }, 0) == pid);
	CHECK(notice_next(fd, &got));
	CHECK_EQ_INT(got.kind, NOTICE_NO_SPOOL);
	CHECK_EQ_INT(got.error, EACCES);
	CHECK_EQ_INT(got.pid, pid);
	CHECK_EQ_INT(got.uid, getuid());
	CHECK(!notice_next(fd, &got));
	close(fd);
}

TEST(notice_of_another_session_does_not_arrive)
{
	char name[64];
	int fd = notice_open(session(name));
	struct notice got;

	CHECK(fd >= 0);
	notice_send("/tmp/another.spool", NOTICE_FORKED, 0);
	CHECK(!notice_next(fd, &got));
	CHECK_EQ_INT(notice_open(name), -EADDRINUSE);
	close(fd);
}

TEST(notice_to_a_session_that_has_ended_changes_nothing)
{
	char name[64];
	int before = dup(0), after;

	notice_send(session(name), NOTICE_FORKED, 0);
	after = dup(0);
	CHECK_EQ_INT(after, before + 1);
	close(before);
	close(after);
}

TEST(flood_of_notices_does_not_block_the_sender)
{
	char name[64];
	int fd = notice_open(session(name));
	struct notice got;
	int nr = 0;

	CHECK(fd >= 0);
	for (int i = 0; i < 100000; i++)
		notice_send(name, NOTICE_FORKED, 0);
	while (notice_next(fd, &got))
		nr++;
	CHECK(nr > 0 && nr <= 100000);
	close(fd);
}
