/* SPDX-License-Identifier: MIT */
/* standalone.c - what the bin/rtl of the archive brings itself, so that it runs with glibc 2.34
 * (Red Hat 9, Ubuntu 22.04)
 *
 * The expat that is linked into it was built for a glibc that has arc4random_buf(), from 2.36 on;
 * expat seeds its hash tables with it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

void arc4random_buf(void *buf, size_t size);

void arc4random_buf(void *buf, size_t size)
{
	char *at = buf;

	while (size) {
		ssize_t n = getrandom(at, size, 0);

		if (n < 0 && errno != EINTR)
			abort();
		if (n < 0)
			continue;
		at += n;
		size -= (size_t)n;
	}
}
