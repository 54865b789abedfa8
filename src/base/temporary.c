/* SPDX-License-Identifier: MIT */
/* temporary.c - files that are not complete yet
 *
 * Owns:     the list of their names.
 * Threads:  one, and signal handlers that interrupt it: an entry is marked as used after its name
 *           is complete.
 * Fails:    names beyond NR_FILES are not listed; their files stay if a signal ends the process.
 */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dbfile.h"
#include "base/fd.h"
#include "base/sys.h"

#define NR_FILES 4
#define LOCK_TRIES 1000 /* a millisecond apart */

static struct {
	volatile sig_atomic_t used;
	char path[PATH_MAX + 64];
} files[NR_FILES];

void temporary_add(const char *path)
{
	for (int i = 0; i < NR_FILES; i++) {
		if (files[i].used || strlen(path) >= sizeof(files[i].path))
			continue;
		snprintf(files[i].path, sizeof(files[i].path), "%s", path);
		atomic_signal_fence(memory_order_release);
		files[i].used = 1;
		return;
	}
}

static void forget(const char *path)
{
	for (int i = 0; i < NR_FILES; i++)
		if (files[i].used && strcmp(files[i].path, path) == 0)
			files[i].used = 0;
}

int temporary_create(const char *path)
{
	int fd;

	unlink(path);
	temporary_add(path);
	fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		int err = -errno;

		forget(path);
		return err;
	}
	fchmod(fd, 0600); /* a umask may take the owner's rights, too */
	return fd;
}

const char *temporary_directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int temporary_unnamed(const char *prefix)
{
	const char *dir = temporary_directory();
	char name[PATH_MAX];
	int fd;

	fd = sys_open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	/* not every file system has files without a name; kernels before 3.11 take it for a
	 * directory */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd < 0 ? -errno : fd;
	snprintf(name, sizeof(name), "%s/%s-XXXXXX", dir, prefix);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static mode_t mode_by_umask(void)
{
	mode_t mask = umask(0077);

	umask(mask);
	return 0666 & ~mask;
}

static int copy_bytes(int from, int to)
{
	static char buffer[1 << 16];
	uint64_t offset = 0;
	ssize_t n;
	int err;

	while ((n = sys_pread(from, buffer, sizeof(buffer), (off_t)offset)) > 0) {
		err = fd_pwrite(to, buffer, (size_t)n, offset);
		if (err)
			return err;
		offset += (uint64_t)n;
	}
	return n < 0 ? -errno : 0;
}

/* Makes a file beside `out` of one on another file system. `path` gets its name. */
static int copy_beside(char path[PATH_MAX + 64], const char *out)
{
	int from = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0), to, err;

	if (from < 0)
		return -errno;
	snprintf(path, PATH_MAX + 64, "%s.tmp-%ld", out, (long)getpid());
	to = temporary_create(path);
	err = to < 0 ? to : copy_bytes(from, to);
	sys_close(from);
	if (to >= 0 && sys_close(to) && !err)
		err = -errno;
	if (err && to >= 0)
		temporary_delete(path);
	return err;
}

/* Locks the empty file, for which other processes may have a trace as well. Bounded: another
 * program may hold it. */
static int lock_empty(int fd)
{
	static const struct timespec step = { .tv_nsec = 1000000 };

	for (int i = 0; i < LOCK_TRIES; i++) {
		/* other errors: the file system has no locks */
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return 0;
		sys_nap(&step);
	}
	return EBUSY;
}

/* Replaces an empty file, if it still has the name when it is locked. */
static int rename_over_empty(const char *path, const char *out)
{
	int fd = sys_open(out, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0), error;
	struct stat empty, now;

	if (fd < 0)
		return errno;
	error = lock_empty(fd);
	if (!error && fstat(fd, &empty))
		error = errno;
	if (!error && (stat(out, &now) || now.st_dev != empty.st_dev ||
		       now.st_ino != empty.st_ino || now.st_size))
		error = EEXIST;
	if (!error && rename(path, out))
		error = errno;
	sys_close(fd);
	return error;
}

static int rename_new(const char *path, const char *out)
{
	int error = renameat2(AT_FDCWD, path, AT_FDCWD, out, RENAME_NOREPLACE) ? errno : 0;

	/* the file system does not support the flag */
	if (error == EINVAL)
		error = access(out, F_OK) == 0 ? EEXIST : rename(path, out) ? errno : 0;
	return error;
}

/* By a descriptor: another user who can write to the directory may put a link there. */
static int open_to_others(const char *path)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0), error;
	struct stat st;

	if (fd < 0)
		return errno;
	error = fstat(fd, &st)				       ? errno :
		!S_ISREG(st.st_mode) || st.st_uid != geteuid() ? EPERM :
		fchmod(fd, mode_by_umask())		       ? errno :
								 0;
	sys_close(fd);
	return error;
}

static int publish(const char *path, const char *out, bool replace, bool is_private)
{
	struct stat st;
	int error = 0;

	if (!is_private)
		error = open_to_others(path);
	if (error)
		return -error;
	if (replace || lstat(out, &st) || !fd_is_taken(out))
		error = -dbfile_clear(out);
	if (error)
		return -error;
	if (replace)
		error = rename(path, out) ? errno : 0;
	else if (access(out, F_OK) == 0 && !fd_is_taken(out))
		error = rename_over_empty(path, out);
	else
		error = rename_new(path, out);
	if (!error)
		forget(path);
	return -error;
}

int temporary_publish(const char *path, const char *out, bool replace, bool is_private)
{
	char copy[PATH_MAX + 64];
	int err = publish(path, out, replace, is_private);

	if (err != -EXDEV || strlen(path) >= sizeof(copy))
		return err;
	snprintf(copy, sizeof(copy), "%s", path);
	err = copy_beside(copy, out);
	if (!err)
		err = publish(copy, out, replace, is_private);
	if (!err)
		temporary_delete(path);
	return err;
}

static int sync_file(const char *path, int flags)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | flags, 0), err;

	if (fd < 0)
		return -errno;
	err = sys_fsync(fd) ? -errno : 0;
	sys_close(fd);
	/* not every file system can */
	return err == -EINVAL || err == -ENOSYS ? 0 : err;
}

int temporary_sync(const char *out)
{
	const char *slash = strrchr(out, '/');
	char dir[PATH_MAX];
	int err = sync_file(out, O_NONBLOCK);

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - out) + 1 : 1, slash ? out : ".");
	return err ? err : sync_file(dir, O_DIRECTORY);
}

void temporary_delete(const char *path)
{
	unlink(path);
	forget(path);
}

void temporary_delete_all(void)
{
	for (int i = 0; i < NR_FILES; i++)
		if (files[i].used)
			unlink(files[i].path);
}
