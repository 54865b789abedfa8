/* SPDX-License-Identifier: MIT */
/* own_table.c - a table of descriptors for one thread of another program's process
 *
 * Owns:     nothing.
 * Threads:  the one that gets the table.
 * Fails:    a sandbox that forbids both system calls: -EPERM.
 */
#include "control/own_table.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define RANGE_UNSHARE 2u /* CLOSE_RANGE_UNSHARE */

/* A sanitizer reports on stderr. */
#if defined(RTL_SANITIZE_THREAD) || defined(RTL_SANITIZE_ADDRESS)
#define FIRST 3u
#else
#define FIRST 0u
#endif

/* The table's size: no descriptor has a higher number. */
static unsigned int table_size(void)
{
	char text[4096];
	const char *at;

	if (fd_read_file("/proc/thread-self/status", text, sizeof(text)) <= 0)
		return 0;
	text[sizeof(text) - 1] = '\0';
	at = strstr(text, "\nFDSize:");
	return at ? (unsigned int)strtoul(at + strlen("\nFDSize:"), NULL, 10) : 0;
}

/* The thread sanitizer knows descriptors by their numbers alone, for all threads: this one gets
 * others than the program, by calls that it does not see. */
#ifdef RTL_SANITIZE_THREAD
#define LAST 99
#else
#define LAST 2
#endif

static int take_one_by_one(void)
{
	unsigned int size;

	if (unshare(CLONE_FILES) != 0)
		return -errno;
	size = table_size();
	for (unsigned int fd = FIRST; fd < size; fd++)
		sys_close((int)fd);
	return size ? 0 : -ENOSYS;
}

int own_table_take(bool old)
{
	int err = 0;

	if (old || syscall(SYS_close_range, FIRST, ~0u, RANGE_UNSHARE) != 0)
		err = take_one_by_one();
	/* without a peer: writing to them fails */
	for (unsigned int fd = FIRST; !err && fd <= LAST; fd++)
		if (syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) < 0)
			err = -errno;
	return err;
}
