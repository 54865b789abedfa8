/* SPDX-License-Identifier: MIT */
/* test_log.c - messages to the user */
#define LOG_TOPIC "unit"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/fd.h"
#include "support/test.h"

static const char *begin(const char *levels)
{
	const char *path = test_tmpfile("log-%p");
	const char *real;
	char name[32];

	setenv("RTL_LOG", levels, 1);
	setenv("RTL_LOG_FILE", path, 1);
	setenv("RTL_STRICT", "0", 1);
	env_init();
	log_init();
	snprintf(name, sizeof(name), "log-%d", (int)getpid());
	real = test_tmpfile(name);
	return real;
}

static const char *text_of(const char *path)
{
	static char text[16384];

	if (fd_read_file(path, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	return text;
}

static unsigned int count_lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

TEST(default_level_is_warn)
{
	const char *path = begin("warn");

	log_info("quiet");
	log_warn("queue %d: %s", 3, "refused");
	CHECK_STR_HAS(text_of(path), "warn unit: queue 3: refused\n");
	CHECK_EQ_INT(count_lines(text_of(path)), 1);
}

TEST(topic_has_its_own_level)
{
	const char *path = begin("error,unit:debug");

	log_dbg("seen");
	log_write(LOG_WARN, "other", NULL, "not seen");
	CHECK_STR_HAS(text_of(path), "debug unit: seen\n");
	CHECK_EQ_INT(count_lines(text_of(path)), 1);
}

TEST(call_site_logs_at_most_its_limit)
{
	const char *path = begin("warn");

	for (int i = 0; i < 100; i++)
		log_warn("line %d", i);
	CHECK_EQ_INT(count_lines(text_of(path)), LOG_PER_SITE);
	CHECK_STR_HAS(text_of(path), "line 7 (no more of these)\n");
}

TEST(long_lines_are_cut_to_one_write)
{
	const char *path = begin("warn");
	char text[4000];
	size_t size;

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_warn("%s", text);
	size = strlen(text_of(path));
	CHECK_GT_UINT(size, 500);
	CHECK_LE_UINT(size, 1024);
	CHECK_EQ_INT(text_of(path)[size - 1], '\n');
}

TEST(log_keeps_errno_and_low_descriptors)
{
	int low = open("/dev/null", O_RDONLY);
	int again;

	close(low);
	begin("warn");
	errno = EXDEV;
	log_warn("something");
	CHECK_EQ_INT(errno, EXDEV);
	again = open("/dev/null", O_RDONLY);
	CHECK_EQ_INT(again, low);
}

TEST(strict_mode_aborts_on_error)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("RTL_STRICT", "1", 1);
		setenv("RTL_LOG_FILE", "/dev/null", 1);
		env_init();
		log_init();
		log_err("end");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ_INT(WTERMSIG(status), SIGABRT);
}

TEST(invalid_level_is_reported)
{
	const char *path = begin("loud");

	CHECK_STR_HAS(text_of(path), "RTL_LOG: \"loud\" has no level");
}
