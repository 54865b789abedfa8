/* SPDX-License-Identifier: MIT */
/* hideclass.c - preloaded: a process that has the driver, but not its files in /sys/class, as in a
 * container that masks them
 *
 * The runtime's thunk reads /sys/devices/virtual/kfd. librocprofiler-sdk looks for the nodes in
 * /sys/class by access(). Prints a line on stderr for each that it hides.
 *
 * Threads: any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN "/sys/class/kfd/"

__attribute__((visibility("default"))) int access(const char *path, int mode)
{
	int (*next)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");

	if (strncmp(path, HIDDEN, strlen(HIDDEN)) != 0)
		return next ? next(path, mode) : -1;
	fprintf(stderr, "hidden: %s\n", path);
	errno = ENOENT;
	return -1;
}
