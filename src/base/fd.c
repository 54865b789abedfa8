/* SPDX-License-Identifier: MIT */
/* fd.c - descriptors numbered high, apart from the program's, and reading small files
 *
 * Threads:  any.
 */
#include "base/fd.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FD_HIGH 700 /* below the usual limit of 1024 and below FD_SETSIZE */

static int number_after(const char *text, const char *name)
{
	const char *p = strstr(text, name);
	int n = 0;

	for (p = p ? p + strlen(name) : ""; *p == '\t' || *p == ' '; p++)
		;
	for (; *p >= '0' && *p <= '9' && n < 1 << 20; p++)
		n = n * 10 + (*p - '0');
	return n;
}

/* If threads share the descriptor table, the kernel grows it only after an RCU grace period: 10 ms
 * in the middle of hsa_init(). Then the upper end of the current table is used. */
static int within_table(int low)
{
	char text[4096];
	int size;

	if (fd_read_file("/proc/self/status", text, sizeof(text)) <= 0)
		return low;
	text[sizeof(text) - 1] = '\0';
	size = number_after(text, "\nFDSize:");
	if (number_after(text, "\nThreads:") <= 1 || size < 64 || size > low)
		return low;
	return size - 16;
}

static int move_up(int fd)
{
	struct rlimit limit;
	int low = FD_HIGH;
	int high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= FD_HIGH + 8)
		low = limit.rlim_cur > 32 ? (int)limit.rlim_cur - 16 : 3;
	high = fcntl(fd, F_DUPFD_CLOEXEC, within_table(low));
	if (high < 0 && fd > 2)
		return fd;
	if (high < 0)
		high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	sys_close(fd);
	return high < 0 ? -EMFILE : high;
}

int fd_open(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = sys_open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : move_up(fd);
}

bool fd_has_spare(int wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return true;
	/* without opening any: another thread may need the last one now */
	for (int fd = 0; wanted > 0 && (rlim_t)fd < limit.rlim_cur; fd++)
		wanted -= fcntl(fd, F_GETFD) < 0;
	return wanted <= 0;
}

bool fd_is(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

int fd_pwrite(int fd, const void *data, size_t size, uint64_t offset)
{
	const char *p = data;

	while (size) {
		ssize_t n = sys_pwrite(fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		p += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int fd_pread(int fd, void *out, size_t size, uint64_t offset)
{
	char *p = out;

	while (size) {
		ssize_t n = sys_pread(fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

ssize_t fd_read_file(const char *path, void *out, size_t size)
{
	size_t done = 0;
	int fd;
	int err = 0;

	do /* O_NONBLOCK: a FIFO has no data and does not wait for a writer */
		fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	while (done < size) {
		ssize_t n = sys_read(fd, (char *)out + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	sys_close(fd);
	if (err)
		return err;
	if (done < size)
		((char *)out)[done] = '\0';
	return (ssize_t)done;
}

int fd_read_line(const char *path, char *out, size_t size)
{
	ssize_t n = fd_read_file(path, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return n < 0 ? (int)n : 0;
}

bool fd_is_taken(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > 0);
}

const char *fd_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a file";
	case S_IFDIR:
		return "a directory";
	case S_IFLNK:
		return "a link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}
