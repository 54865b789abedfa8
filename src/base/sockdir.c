/* SPDX-License-Identifier: MIT */
/* sockdir.c - where the sockets of a user's traced processes lie
 *
 * Owns:     nothing.
 * Threads:  any. No malloc.
 */
#include "base/sockdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/sys.h"

bool sockdir_path(uid_t uid, const char *runtime_dir, unsigned int i, char out[SOCKDIR_SIZE])
{
	struct str s;

	str_init(&s, out, SOCKDIR_SIZE);
	if (i == SOCKDIR_RUNTIME) {
		if (runtime_dir && *runtime_dir == '/') {
			str_add(&s, runtime_dir);
			str_add(&s, "/rtl");
		}
	} else if (i < SOCKDIR_TMP) {
		str_add(&s, "/run/user/");
		str_add_uint(&s, uid);
		str_add(&s, "/rtl");
	} else if (i == SOCKDIR_TMP) {
		str_add(&s, "/tmp/rtl-");
		str_add_uint(&s, uid);
	} else {
		return false;
	}
	if (s.cut)
		*out = '\0';
	return true;
}

/* No other user can rename or replace what `uid` has in it. */
static bool is_safe_parent(int fd, uid_t uid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_uid == uid || st.st_uid == 0) &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX);
}

static bool is_private(int fd, uid_t uid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid &&
	       (st.st_mode & 0777) == 0700;
}

static int open_below(int parent, const char *name, uid_t uid, bool create)
{
	int fd, err = 0;

	/* the umask may have left too little */
	if (create && mkdirat(parent, name, 0700) == 0)
		fchmodat(parent, name, 0700, 0);
	else if (create && errno != EEXIST)
		return -errno;
	fd = sys_openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0) /* a link, or a file */
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	if (!is_private(fd, uid))
		err = -EPERM;
	if (err)
		sys_close(fd);
	return err ? err : fd;
}

int sockdir_open(const char *path, uid_t uid, bool create)
{
	const char *name = strrchr(path, '/');
	char above[SOCKDIR_SIZE];
	struct str s;
	int parent, fd;

	if (!name || !name[1])
		return -ENOENT;
	str_init(&s, above, sizeof(above));
	str_add_n(&s, path, (size_t)(name - path));
	if (s.cut)
		return -ENAMETOOLONG;
	parent = sys_open(*above ? above : "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (parent < 0)
		return -errno;
	fd = is_safe_parent(parent, uid) ? open_below(parent, name + 1, uid, create) : -EPERM;
	sys_close(parent);
	return fd;
}

uint64_t sockdir_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

void sockdir_name(char out[SOCKDIR_NAME_SIZE], uint32_t pid, uint64_t pid_namespace)
{
	struct str s;

	str_init(&s, out, SOCKDIR_NAME_SIZE);
	str_add_uint(&s, pid);
	str_add(&s, ".");
	str_add_hex(&s, pid_namespace, 1);
}

bool sockdir_parse(const char *name, uint32_t *pid, uint64_t *pid_namespace)
{
	char canonical[SOCKDIR_NAME_SIZE];
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(name, &end, 10);
	if (errno || *end != '.' || !number || number > UINT32_MAX)
		return false;
	*pid = (uint32_t)number;
	*pid_namespace = strtoull(end + 1, &end, 16);
	/* signs, blanks and zeros in front */
	sockdir_name(canonical, *pid, *pid_namespace);
	return !errno && !*end && strcmp(name, canonical) == 0;
}
