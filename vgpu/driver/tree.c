/* SPDX-License-Identifier: MIT */
/* tree.c - the folder with the kernel driver's files in /sys that describe the virtual GPUs
 *
 * The folder is shared by the user's processes with the same settings, each of which holds a lock
 * on it (flock, shared). The one that ends last removes it. What a process left that was killed is
 * removed when the next folder is made.
 *
 * Owns:     a descriptor of the folder, and its files. A file that exists with its size is right:
 *           names and sizes follow from the content.
 * Threads:  any.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../engine/knobs.h"
#include "tree_text.h"

static uint64_t checksum(const struct tree_text *f)
{
	uint64_t sum = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < f->len; i++)
		sum = (sum ^ (unsigned char)f->bytes[i]) * 0x100000001b3u;
	return sum;
}

/* Kept until the process ends; -1: no folder was made. Under files.c's `once`, constant
 * afterwards. */
static int root_fd = -1;
static char root_path[PATH_MAX];
static struct tree_text shown;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	remove(path);
	return 0;
}

/* Removes a folder of the user's that no process holds; it may be gone already. */
static void remove_unused(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	close(fd);
}

/* A file, and the folders that are empty then. */
static void remove_file(int root, const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	path += *path == '@';
	if (strlen(path) >= sizeof(dir))
		return;
	memcpy(dir, path, strlen(path) + 1);
	unlinkat(root, dir, 0);
	while ((slash = strrchr(dir, '/'))) {
		*slash = '\0';
		if (unlinkat(root, dir, AT_REMOVEDIR))
			break;
	}
}

/* A forked child holds the folder, too, by the same description: its lock stays until both have
 * closed it. */
void tree_leave(void)
{
	int root;

	if (root_fd < 0)
		return;
	syscall(SYS_close, root_fd);
	root = (int)syscall(SYS_openat, AT_FDCWD, root_path,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (root < 0)
		return;
	if (!flock(root, LOCK_EX | LOCK_NB)) {
		for (const char *at = shown.bytes; at < shown.bytes + shown.len;) {
			remove_file(root, at);
			at += strlen(at) + 1;
			at += strlen(at) + 1;
		}
		unlinkat(AT_FDCWD, root_path, AT_REMOVEDIR);
	}
	syscall(SYS_close, root);
}

static __attribute__((destructor)) void at_exit(void)
{
	tree_leave();
}

/* What was left by processes that were killed. */
static void remove_others(const char *folder, const char *start, const char *own)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	char path[PATH_MAX];

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, start, strlen(start)) == 0 &&
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < PATH_MAX &&
		    strcmp(path, own) != 0)
			remove_unused(path);
	}
	if (dir)
		closedir(dir);
}

#define LOCK_TRIES 2000
#define LOCK_WAIT_NS 1000000

/* Whether the folder is held now, and still there. 0, -EAGAIN: it is being removed, or -errno. */
static int hold(int fd, const char *path)
{
	struct stat st, now;

	if (fstat(fd, &st))
		return -errno;
	/* the user's own: others can't have put anything there */
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	if (flock(fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return stat(path, &now) || now.st_ino != st.st_ino || now.st_dev != st.st_dev ? -EAGAIN : 0;
}

/* 1: it was made; 0: it was there; or -errno. */
static int make_root(const char *path, int *fd)
{
	int made = mkdir(path, 0700) ? 0 : 1, err;

	if (!made && errno != EEXIST)
		return -errno;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	err = hold(*fd, path);
	if (err)
		syscall(SYS_close, *fd);
	return err ? err : made;
}

static int open_root(char path[PATH_MAX], uint64_t sum)
{
	const struct timespec pause = { 0, LOCK_WAIT_NS };
	const char *tmp = getenv("TMPDIR");
	char start[48];
	int fd = -1, high, made = -EAGAIN;

	if (!tmp || tmp[0] != '/' || strlen(tmp) > PATH_MAX / 2)
		tmp = "/tmp";
	snprintf(start, sizeof(start), "vgpu-sysfs-%u-", (unsigned int)geteuid());
	snprintf(path, PATH_MAX, "%s/%s%016llx", tmp, start, (unsigned long long)sum);
	for (int n = 0; n < LOCK_TRIES && made == -EAGAIN; n++) {
		if (n)
			nanosleep(&pause, NULL);
		made = make_root(path, &fd);
	}
	if (made < 0)
		return made;
	/* above those that programs use */
	high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
	if (high >= 0) {
		syscall(SYS_close, fd);
		fd = high;
	}
	if (made)
		remove_others(tmp, start, path);
	return fd;
}

static int make_parents(int root, const char *path)
{
	char dir[PATH_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		if (mkdirat(root, dir, 0700) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* No listing shows a file that is being written: it gets its name when it is whole. */
static int put_file(int root, const char *path, const char *text)
{
	size_t len = strlen(text);
	char temporary[32];
	struct stat st;
	ssize_t n;
	bool is_link = *path == '@';
	int fd, err = make_parents(root, path += is_link);

	if (err || path[strlen(path) - 1] == '/')
		return err;
	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && (size_t)st.st_size == len)
		return 0;
	if (is_link)
		return symlinkat(text, root, path) && errno != EEXIST ? -errno : 0;
	snprintf(temporary, sizeof(temporary), ".%d", (int)getpid());
	fd = openat(root, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	err = n < 0 ? -errno : (size_t)n < len ? -ENOSPC : 0;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(root, temporary, root, path))
		err = -errno;
	if (err)
		unlinkat(root, temporary, 0);
	return err;
}

int tree_make(char path[PATH_MAX])
{
	struct tree_text f = { 0 };
	int root, err;

	knobs_init_quietly();
	err = tree_describe(&f);
	if (err) {
		free(f.bytes);
		snprintf(path, PATH_MAX, "a description of the GPUs");
		return err;
	}
	root = open_root(path, checksum(&f));
	err = root < 0 ? root : 0;
	for (const char *at = f.bytes; !err && at < f.bytes + f.len;) {
		const char *text = at + strlen(at) + 1;

		err = put_file(root, at, text);
		at = text + strlen(text) + 1;
	}
	if (root < 0) {
		free(f.bytes);
		return err;
	}
	snprintf(root_path, sizeof(root_path), "%s", path);
	shown = f;
	root_fd = root;
	return err;
}

/* What follows `prefix` in the path if that is whole: the end, or a slash; NULL: another path. */
static const char *after(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* The same for a path with the minor number of a virtual GPU's render node behind the prefix. */
static const char *after_minor(const char *path, const char *prefix, unsigned long *minor)
{
	size_t n = strlen(prefix);
	char *end;

	if (strncmp(path, prefix, n) != 0 || path[n] < '0' || path[n] > '9')
		return NULL;
	*minor = strtoul(path + n, &end, 10);
	if ((*end && *end != '/') || *minor < TREE_RENDER_FIRST)
		return NULL;
	knobs_init_quietly();
	return *minor - TREE_RENDER_FIRST < knobs.devices ? end : NULL;
}

bool tree_has(const char *path, char rest[PATH_MAX])
{
	const char *tail;
	unsigned long minor;

	tail = after(path, "/sys/class/kfd");
	if (!tail)
		tail = after(path, "/sys/devices/virtual/kfd");
	if (tail)
		return snprintf(rest, PATH_MAX, "class%s", tail) < PATH_MAX;
	tail = after_minor(path, "/sys/dev/char/226:", &minor);
	if (tail)
		return snprintf(rest, PATH_MAX, "dev/char/226:%lu%s", minor, tail) < PATH_MAX;
	tail = after(path, "/sys/class/drm");
	if (tail)
		return snprintf(rest, PATH_MAX, "drm%s", tail) < PATH_MAX;
	tail = after(path, "/sys/module/amdgpu");
	return tail && snprintf(rest, PATH_MAX, "module/amdgpu%s", tail) < PATH_MAX;
}

bool tree_is_used(const char *path, unsigned int *gpu)
{
	const char *name = strrchr(path, '/'), *tail;
	unsigned long minor;
	char *end;

	if (strcmp(name, "/" TREE_VRAM_USED) != 0 && strcmp(name, "/" TREE_VIS_VRAM_USED) != 0)
		return false;
	tail = after_minor(path, "/sys/dev/char/226:", &minor);
	if (!tail)
		tail = after_minor(path, "/sys/class/drm/renderD", &minor);
	if (!tail && strncmp(path, "/sys/class/drm/card", 19) == 0) {
		minor = TREE_RENDER_FIRST + strtoul(path + 19, &end, 10);
		tail = end;
		knobs_init_quietly();
	}
	if (!tail || strncmp(tail, "/device/", 8) != 0 || tail + 7 != name ||
	    minor - TREE_RENDER_FIRST >= knobs.devices)
		return false;
	*gpu = (unsigned int)(minor - TREE_RENDER_FIRST);
	return true;
}
