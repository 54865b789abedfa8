/* SPDX-License-Identifier: MIT */
/* planted.c - a leak and a write of uninitialised bytes, which memcheck must find */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile held;
static const size_t size = 16;

static __attribute__((noinline)) void leak(void)
{
	held = malloc(100);
	held = NULL;
}

static __attribute__((noinline)) void write_unset(int fd)
{
	void *(*volatile get)(size_t) = malloc; /* hidden from the compiler, which would warn */
	void *bytes = get(size);

	if (bytes && write(fd, bytes, size) != (ssize_t)size)
		exit(1);
	free(bytes);
}

int main(void)
{
	int fd = open("/dev/null", O_WRONLY);

	leak();
	write_unset(fd);
	return 0;
}
