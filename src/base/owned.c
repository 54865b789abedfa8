/* SPDX-License-Identifier: MIT */
/* owned.c - files of an earlier run, which this one removes */
#include "base/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

#define HEAD_MAX 128u

/* 0 or -errno. */
static int check_form(int fd, const void *head, size_t size, struct stat *st)
{
	char found[HEAD_MAX];

	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode) || size > sizeof(found))
		return -EMEDIUMTYPE;
	if (st->st_size == 0)
		return 0;
	if ((size_t)st->st_size < size || fd_pread(fd, found, size, 0) ||
	    memcmp(found, head, size) != 0)
		return -EMEDIUMTYPE;
	return 0;
}

int owned_remove(int dir_fd, const char *name, const void *head, size_t size)
{
	/* no wait for the writer of a FIFO */
	int fd = sys_openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0), ret;
	struct stat st, now;

	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EMEDIUMTYPE : -errno;
	ret = check_form(fd, head, size, &st);
	/* the name may be another file's meanwhile */
	if (ret == 0 && (fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) ||
			 now.st_dev != st.st_dev || now.st_ino != st.st_ino))
		ret = -EMEDIUMTYPE;
	if (ret == 0 && unlinkat(dir_fd, name, 0))
		ret = -errno;
	sys_close(fd);
	return ret;
}

int owned_open_dir(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd;

	*name = slash ? slash + 1 : path;
	if (*name - path >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(dir, sizeof(dir), "%.*s", (int)(*name - path), path);
	fd = sys_open(*dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int owned_remove_path(const char *path, const void *head, size_t size)
{
	const char *name;
	int dir_fd = owned_open_dir(path, &name), ret;

	if (dir_fd < 0)
		return dir_fd;
	ret = owned_remove(dir_fd, name, head, size);
	sys_close(dir_fd);
	return ret;
}
