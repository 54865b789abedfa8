/* SPDX-License-Identifier: MIT */
/* confined.c - Landlock for fuzzers, and the functions that notice what it refuses */
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h and its system calls, which older headers lack */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define CREATE_VERSION 1u
#define RULE_PATH_BENEATH 1
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_REMOVE_AND_MAKE                                                                         \
	(UINT64_C(0x1ff) << 4)		/* REMOVE_DIR, REMOVE_FILE, MAKE_CHAR ... MAKE_SYM */
#define FS_REFER (UINT64_C(1) << 13)	/* version 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14) /* version 3 */

struct ruleset_attr {
	uint64_t handled_access_fs;
};
struct __attribute__((packed)) path_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
};

#define DIRS_MAX 8
static char allowed[DIRS_MAX][PATH_MAX];
static int nr_allowed; /* > 0: confined */

static int add_rule(int ruleset, const char *path, uint64_t access)
{
	struct path_attr rule = { access,
				  (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC) };
	long err = rule.parent_fd < 0 ?
			   -1 :
			   syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
	int error = errno;

	if (rule.parent_fd >= 0)
		close(rule.parent_fd);
	return err ? -error : 0;
}

int confine(const char *const *dirs)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_VERSION);
	struct ruleset_attr attr = { FS_WRITE_FILE | FS_REMOVE_AND_MAKE };
	int ruleset, ret = 0;

	if (version < 1)
		return -errno;
	attr.handled_access_fs |= (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0);
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return -errno;
	nr_allowed = 0;
	for (int i = 0; dirs[i] && ret == 0; i++) {
		ret = add_rule(ruleset, dirs[i], attr.handled_access_fs);
		if (ret == 0 && nr_allowed < DIRS_MAX && realpath(dirs[i], allowed[nr_allowed]))
			nr_allowed++;
	}
	if (ret == 0)
		ret = add_rule(ruleset, "/dev/null",
			       attr.handled_access_fs & (FS_WRITE_FILE | FS_TRUNCATE));
	if (ret == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			 syscall(SYS_landlock_restrict_self, ruleset, 0)))
		ret = -errno;
	close(ruleset);
	if (ret)
		nr_allowed = 0;
	return ret;
}

const char *confined_scratch(void)
{
	const char *scratch = getenv("FUZZ_SCRATCH");

	if (!scratch || scratch[0] != '/') {
		fprintf(stderr,
			"FUZZ_SCRATCH is not set: run.sh sets it to a directory that it removes\n");
		_exit(2);
	}
	return scratch;
}

static void confine_fuzzer(void)
{
	const char *const dirs[] = { confined_scratch(), ".", NULL };
	int err = confine(dirs);

	if (err)
		fprintf(stderr, "not confined: the kernel has no Landlock (%s)\n", strerror(-err));
}

/* libFuzzer calls it first. Fuzzers of commands have their own. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	confine_fuzzer();
	return 0;
}

/* ---- what the kernel refused ----------------------------------------------------------------- */

/* Whether the directory of a name is one of the allowed: then permissions have refused. */
static bool is_inside(int dir, const char *path, char where[PATH_MAX])
{
	char parent[PATH_MAX], link[64];
	const char *slash = strrchr(path, '/');
	ssize_t n;
	int fd;

	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1,
		 slash == path ? "/" :
		 slash	       ? path :
				 ".");
	snprintf(where, PATH_MAX, "%s", parent);
	fd = (int)syscall(SYS_openat, dir, parent[0] ? parent : "/", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return true; /* no such directory: nothing could be touched */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, where, PATH_MAX - 1);
	where[n > 0 ? n : 0] = '\0';
	close(fd);
	for (int i = 0; i < nr_allowed; i++)
		if (strncmp(where, allowed[i], strlen(allowed[i])) == 0 &&
		    strchr("/", where[strlen(allowed[i])]))
			return true;
	return false;
}

static void check_refused(const char *function, int dir, const char *path)
{
	char where[PATH_MAX];
	int error = errno;

	if (!nr_allowed || !path || (error != EACCES && error != EROFS))
		return;
	if (is_inside(dir, path, where)) {
		errno = error;
		return;
	}
	fprintf(stderr, "==%d== ERROR: a file outside is touched: %s(\"%s\") in %s\n",
		(int)getpid(), function, path, where);
	abort();
}

/* Calls the kernel; a result below 0 is looked at. */
static int checked(const char *function, long ret, int dir, const char *path)
{
	if (ret < 0)
		check_refused(function, dir, path);
	return (int)ret;
}

static int open_checked(const char *function, int dir, const char *path, int flags, mode_t mode)
{
	long ret = syscall(SYS_openat, dir, path, flags, mode);
	bool is_write = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);

	return is_write ? checked(function, ret, dir, path) : (int)ret;
}

/* The declarations of fcntl.h are those of other names of the same functions. */
#define MODE_OF(flags)                                                                             \
	mode_t mode = 0;                                                                           \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                   \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		mode = va_arg(args, mode_t);                                                       \
		va_end(args);                                                                      \
	}

int open(const char *path, int flags, ...)
{
	MODE_OF(flags)
	return open_checked("open", AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	MODE_OF(flags)
	return open_checked("open", AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	MODE_OF(flags)
	return open_checked("openat", dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	MODE_OF(flags)
	return open_checked("openat", dir, path, flags | O_LARGEFILE, mode);
}

int creat(const char *path, mode_t mode)
{
	return open_checked("creat", AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int unlink(const char *path)
{
	return checked("unlink", syscall(SYS_unlink, path), AT_FDCWD, path);
}

int unlinkat(int dir, const char *path, int flags)
{
	return checked("unlinkat", syscall(SYS_unlinkat, dir, path, flags), dir, path);
}

int rmdir(const char *path)
{
	return checked("rmdir", syscall(SYS_rmdir, path), AT_FDCWD, path);
}

int mkdir(const char *path, mode_t mode)
{
	return checked("mkdir", syscall(SYS_mkdir, path, mode), AT_FDCWD, path);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return checked("mkdirat", syscall(SYS_mkdirat, dir, path, mode), dir, path);
}

int truncate(const char *path, off_t size)
{
	return checked("truncate", syscall(SYS_truncate, path, size), AT_FDCWD, path);
}

int truncate64(const char *path, off64_t size)
{
	return checked("truncate", syscall(SYS_truncate, path, size), AT_FDCWD, path);
}

/* EXDEV is Landlock's answer, too: to another directory, one of which is outside. */
static int rename_checked(int from_dir, const char *from, int to_dir, const char *to,
			  unsigned flags)
{
	long ret = syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
	int error = errno;

	if (ret < 0 && error == EXDEV)
		errno = EACCES;
	if (ret < 0) {
		check_refused("rename of", from_dir, from);
		check_refused("rename to", to_dir, to);
		errno = error;
	}
	return (int)ret;
}

int rename(const char *from, const char *to)
{
	return rename_checked(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return rename_checked(from_dir, from, to_dir, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	return rename_checked(from_dir, from, to_dir, to, flags);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	long ret = syscall(SYS_linkat, from_dir, from, to_dir, to, flags);

	return checked("linkat", ret, to_dir, to);
}

int link(const char *from, const char *to)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlinkat(const char *from, int dir, const char *to)
{
	return checked("symlinkat", syscall(SYS_symlinkat, from, dir, to), dir, to);
}

int symlink(const char *from, const char *to)
{
	return symlinkat(from, AT_FDCWD, to);
}
