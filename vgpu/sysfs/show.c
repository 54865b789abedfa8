/* SPDX-License-Identifier: MIT */
/* show.c - libvgpu_sysfs.so: shows the virtual GPUs where the kernel driver shows real ones, in /sys/class/kfd
 *
 * Programs and libraries read those files by themselves, without the thunk: RCCL from 7 on, rocm_agent_enumerator, AMD's
 * rocprofiler-sdk. The library is preloaded; it has the C library's functions that take a path, and passes each call on. A path
 * below /sys/class/kfd is replaced by one in the folder of tree.c, which is made at the first such path.
 *
 * Threads:  any.
 * Fails:    a folder that can't be made gets one line on stderr, and paths are left as they are.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

#define SHOW __attribute__((visibility("default")))

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* set under `once` */
static char root[PATH_MAX];
static bool there;

static void make_root(void)
{
	int kept = errno, err = tree_make(root);

	there = err == 0;
	if (err)
		fprintf(stderr, "vgpu: /sys/class/kfd is not shown: %s: %s\n", root,
			strerror(-err));
	errno = kept;
}

/* The text of `path` behind `start`; NULL: it begins otherwise. strncmp() may be a function of the program's, or of a sanitizer's, that has not
 * been set up yet. */
static const char *behind(const char *path, const char *start)
{
	while (*start)
		if (*path++ != *start++)
			return NULL;
	return path;
}

/* What lies below /sys/class/kfd, "" for that itself; NULL: another path. */
static const char *below(const char *path)
{
	static const char *const folders[] = { "/sys/class/kfd", "/sys/devices/virtual/kfd" };

	/* most paths end here */
	if (!path || !behind(path, "/sys/"))
		return NULL;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *rest = behind(path, folders[i]);

		if (rest && (*rest == '/' || !*rest))
			return rest;
	}
	return NULL;
}

/* The path to use instead. */
static const char *shown(const char *path, char buf[PATH_MAX])
{
	const char *rest = below(path);

	if (!rest)
		return path;
	pthread_once(&once, make_root);
	if (!there || snprintf(buf, PATH_MAX, "%s%s", root, rest) >= PATH_MAX)
		return path;
	return buf;
}

/*
 * NEXT(name) is the function of the next library, with the type of this one. Two threads may look it up at once: they store the
 * same. Relaxed: the function is constant.
 */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(name) *found_;                                                   \
		__typeof__(name) *f_ = __atomic_load_n(&found_, __ATOMIC_RELAXED);                 \
		if (!f_) {                                                                         \
			f_ = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                          \
			__atomic_store_n(&found_, f_, __ATOMIC_RELAXED);                           \
		}                                                                                  \
		f_;                                                                                \
	})

/* A function TYPE NAME(BEFORE path AFTER): the arguments, then their names. */
#define PASS(type, name, arguments, ...)                                                           \
	type name arguments;                                                                       \
	SHOW type name arguments                                                                   \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		return NEXT(name)(__VA_ARGS__);                                                    \
	}
#define PATH shown(path, buf)

/* The mode of open(): there if a file may be created. */
#define MODE_OF(flags, mode)                                                                       \
	do {                                                                                       \
		if ((flags) & (O_CREAT | __O_TMPFILE)) {                                           \
			va_list args_;                                                             \
			va_start(args_, flags);                                                    \
			(mode) = va_arg(args_, mode_t);                                            \
			va_end(args_);                                                             \
		}                                                                                  \
	} while (0)

#define PASS_OPEN(name)                                                                            \
	int name(const char *path, int flags, ...);                                                \
	SHOW int name(const char *path, int flags, ...)                                            \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		MODE_OF(flags, mode);                                                              \
		return NEXT(name)(PATH, flags, mode);                                              \
	}
PASS_OPEN(open)
PASS_OPEN(open64)

#define PASS_OPENAT(name)                                                                          \
	int name(int at, const char *path, int flags, ...);                                        \
	SHOW int name(int at, const char *path, int flags, ...)                                    \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		MODE_OF(flags, mode);                                                              \
		return NEXT(name)(at, PATH, flags, mode);                                          \
	}
PASS_OPENAT(openat)
PASS_OPENAT(openat64)

/* what calls of open() become in programs that were built with checks */
PASS(int, __open_2, (const char *path, int flags), PATH, flags)
PASS(int, __open64_2, (const char *path, int flags), PATH, flags)
PASS(int, __openat_2, (int at, const char *path, int flags), at, PATH, flags)
PASS(int, __openat64_2, (int at, const char *path, int flags), at, PATH, flags)

PASS(FILE *, fopen, (const char *path, const char *mode), PATH, mode)
PASS(FILE *, fopen64, (const char *path, const char *mode), PATH, mode)
PASS(DIR *, opendir, (const char *path), PATH)
PASS(int, access, (const char *path, int mode), PATH, mode)
PASS(int, faccessat, (int at, const char *path, int mode, int flags), at, PATH, mode, flags)
PASS(int, stat, (const char *path, struct stat *st), PATH, st)
PASS(int, lstat, (const char *path, struct stat *st), PATH, st)
PASS(int, fstatat, (int at, const char *path, struct stat *st, int flags), at, PATH, st, flags)
PASS(int, stat64, (const char *path, struct stat64 *st), PATH, st)
PASS(int, lstat64, (const char *path, struct stat64 *st), PATH, st)
PASS(int, fstatat64, (int at, const char *path, struct stat64 *st, int flags), at, PATH, st, flags)
PASS(int, statx, (int at, const char *path, int flags, unsigned int mask, struct statx *st), at,
     PATH, flags, mask, st)
/* what calls of stat() are in programs that were linked with a C library before 2.33 */
PASS(int, __xstat, (int version, const char *path, struct stat *st), version, PATH, st)
PASS(int, __lxstat, (int version, const char *path, struct stat *st), version, PATH, st)
PASS(int, __xstat64, (int version, const char *path, struct stat64 *st), version, PATH, st)
PASS(int, __lxstat64, (int version, const char *path, struct stat64 *st), version, PATH, st)
PASS(ssize_t, readlink, (const char *path, char *out, size_t size), PATH, out, size)
/* ls -l asks for access lists */
PASS(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size), PATH, name,
     value, size)
PASS(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size), PATH, name,
     value, size)
PASS(int, chdir, (const char *path), PATH)
PASS(char *, realpath, (const char *path, char *out), PATH, out)
