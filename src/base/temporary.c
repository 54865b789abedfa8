/* SPDX-License-Identifier: MIT */
/* temporary.c - files that are not complete yet
 *
 * Owns:     the list of their names.
 * Threads:  one, and signal handlers that interrupt it: an entry is marked as used after its name is complete.
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
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define NR_FILES 4

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
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
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

	fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	/* not every file system has files without a name; kernels before 3.11 take it for a directory */
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

	while ((n = pread(from, buffer, sizeof(buffer), (off_t)offset)) > 0) {
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
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), to, err;

	if (from < 0)
		return -errno;
	snprintf(path, PATH_MAX + 64, "%s.tmp-%ld", out, (long)getpid());
	to = temporary_create(path);
	err = to < 0 ? to : copy_bytes(from, to);
	close(from);
	if (to >= 0 && close(to) && !err)
		err = -errno;
	if (err && to >= 0)
		temporary_delete(path);
	return err;
}

static int publish(const char *path, const char *out, bool replace, bool is_private)
{
	int error = 0;

	if (!is_private && chmod(path, mode_by_umask()))
		return -errno;
	if (replace ? rename(path, out) :
		      renameat2(AT_FDCWD, path, AT_FDCWD, out, RENAME_NOREPLACE))
		error = errno;
	/* the file system does not support the flag */
	if (error == EINVAL && !replace)
		error = access(out, F_OK) == 0 ? EEXIST : rename(path, out) ? errno : 0;
	if (!error)
		forget(path);
	return -error;
}

bool temporary_is_taken(const char *out)
{
	struct stat st;

	return stat(out, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > 0);
}

int temporary_publish(const char *path, const char *out, bool replace, bool is_private)
{
	char copy[PATH_MAX + 64];
	int err;

	replace |= access(out, F_OK) == 0 && !temporary_is_taken(out);
	err = publish(path, out, replace, is_private);

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
