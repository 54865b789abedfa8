/* SPDX-License-Identifier: MIT */
/* account.c - what the self-test's program knows of its own run */
#include "selftest/account.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_FAILED 1
#define STATUS_LACKING 77

static char file[4096];
static char text[256 << 10];
static size_t nr_bytes;

void account_open(const char *path)
{
	snprintf(file, sizeof(file), "%s", path);
}

static void add(const char *key, const char *fmt, va_list ap)
{
	size_t space = sizeof(text) - nr_bytes;
	char *at = text + nr_bytes, *value;
	int n = snprintf(at, space, "%s ", key);
	int m = n > 0 && (size_t)n < space ? vsnprintf(at + n, space - (size_t)n, fmt, ap) : -1;

	if (m < 0 || (size_t)n + (size_t)m + 2 > space)
		return; /* full: the reader misses the key and says so */
	value = at + n;
	for (int i = 0; i < m; i++)
		if (value[i] == '\n')
			value[i] = ' ';
	value[m] = '\n';
	nr_bytes += (size_t)(n + m) + 1;
}

void account_add(const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(key, fmt, ap);
	va_end(ap);
}

void account_number(const char *key, uint64_t value)
{
	account_add(key, "%llu", (unsigned long long)value);
}

void account_write(void)
{
	char part[sizeof(file) + 8];
	size_t done = 0;
	int fd;

	snprintf(part, sizeof(part), "%s.part", file);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(part);
		_exit(STATUS_FAILED);
	}
	while (done < nr_bytes) {
		ssize_t n = write(fd, text + done, nr_bytes - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fd);
	if (rename(part, file))
		perror(file);
}

void account_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add("failed", fmt, ap);
	va_end(ap);
	account_write();
	_exit(STATUS_FAILED);
}

void account_lack(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add("lacking", fmt, ap);
	va_end(ap);
	account_write();
	_exit(STATUS_LACKING);
}
