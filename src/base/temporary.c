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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static mode_t mode_by_umask(void)
{
	mode_t mask = umask(0077);

	umask(mask);
	return 0666 & ~mask;
}

int temporary_publish(const char *path, const char *out, bool replace, bool is_private)
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
