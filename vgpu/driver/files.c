/* SPDX-License-Identifier: MIT */
/* files.c - libvgpu.so: the C library's functions through which programs reach the kernel driver
 *
 * The library is preloaded. It has the functions that take a path or a descriptor, and passes on
 * each call that is not for the
 * driver: for /dev/kfd, /dev/dri/renderD* of a virtual GPU (nodes.c), or a file of the driver in
 * /sys (tree.c), whose path is replaced by one in a folder that is made at the first such path.
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "drm_abi.h"
#include "driver.h"
#include "kfd_abi.h"
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
		fprintf(stderr, "vgpu: the driver's files in /sys are not shown: %s: %s\n", root,
			strerror(-err));
	errno = kept;
}

static const struct driver_front front = { .node_file = node_file,
					   .node_of_fd = node_of_fd,
					   .forget_nodes = nodes_forget };
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;
/* atomic: release when its library is loaded; NULL: no device was opened yet, or there is no
 * engine */
static const struct driver_engine *engine;

static void load_engine(void)
{
	const struct driver_engine *(*get)(const struct driver_front *) = NULL;
	char path[PATH_MAX];
	int kept = errno, n;
	Dl_info own;
	void *lib;

	if (!dladdr((const void *)&front, &own) || !own.dli_fname)
		return;
	n = (int)(strrchr(own.dli_fname, '/') ? strrchr(own.dli_fname, '/') + 1 - own.dli_fname :
						0);
	snprintf(path, sizeof(path), "%.*slibvgpu_engine.so", n, own.dli_fname);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib)
		get = (const struct driver_engine *(*)(const struct driver_front *))
			dlsym(lib, "vgpu_engine");
	if (get)
		__atomic_store_n(&engine, get(&front), __ATOMIC_RELEASE);
	else
		fprintf(stderr, "vgpu: there is no GPU: %s\n", dlerror());
	errno = kept;
}

/* Any device's descriptor exists only after this. */
static int open_node(struct node node, int flags)
{
	const struct driver_engine *e;

	pthread_once(&engine_once, load_engine);
	e = __atomic_load_n(&engine, __ATOMIC_ACQUIRE);
	if (!e)
		return -ENODEV;
	e->start();
	return node_open(node, flags);
}

/* Puts text into the file of a descriptor; false: it has no space. */
static bool put_text(int fd, const char *text, size_t len, off_t *at)
{
	ssize_t n = pwrite(fd, text, len, *at);

	*at += (off_t)len;
	return n == (ssize_t)len;
}

/* The machine's modules, of which the driver is one: tools look for it there. */
static bool put_modules(int fd)
{
	static const char own[] = "amdgpu 1 0 - Live 0x0000000000000000\n";
	int in = (int)syscall(SYS_openat, AT_FDCWD, "/proc/modules", O_RDONLY | O_CLOEXEC, 0);
	off_t at = 0;
	bool whole = put_text(fd, own, sizeof(own) - 1, &at);
	char part[4096];
	ssize_t n;

	while (whole && in >= 0 && (n = syscall(SYS_read, in, part, sizeof(part))) > 0)
		whole = put_text(fd, part, (size_t)n, &at);
	if (in >= 0)
		syscall(SYS_close, in);
	return whole;
}

static bool put_used(int fd, uint64_t bytes)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)bytes);

	return put_text(fd, text, (size_t)len, &(off_t){ 0 });
}

/* A file whose content is made when it is opened: a descriptor; -1: it is none. */
static int own_file(const char *path)
{
	const struct driver_engine *e = __atomic_load_n(&engine, __ATOMIC_ACQUIRE);
	int kept = errno, fd;
	bool is_modules = path && !strcmp(path, "/proc/modules"), whole;
	unsigned int gpu;

	if (!is_modules &&
	    (!e || !path || !driver_behind(path, "/sys/") || !tree_is_used(path, &gpu)))
		return -1;
	fd = (int)syscall(SYS_memfd_create, "vgpu", MFD_CLOEXEC);
	if (fd >= 0) {
		whole = is_modules ? put_modules(fd) : put_used(fd, e->memory_used(gpu));
		if (!whole) {
			syscall(SYS_close, fd);
			fd = -1;
		}
	}
	errno = kept;
	return fd;
}

/* The path to use instead. */
static const char *shown(const char *path, char buf[PATH_MAX])
{
	char rest[PATH_MAX];

	if (!path || !driver_behind(path, "/sys/") || !tree_has(path, rest))
		return path;
	pthread_once(&once, make_root);
	if (!there || snprintf(buf, PATH_MAX, "%s/%s", root, rest) >= PATH_MAX)
		return path;
	return buf;
}

/* A result as the C library gives it. */
static int result(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/*
 * NEXT(name) is the function of the next library, with the type of this one. Two threads may look
 * it up at once: they store the same. Relaxed: the function is constant.
 *
 * By dlvsym(): a program may have a dlsym() of its own, which finds this library's functions. A
 * library without versions, as a sanitizer's, has those that are asked for.
 */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(name) *found_;                                                   \
		__typeof__(name) *f_ = __atomic_load_n(&found_, __ATOMIC_RELAXED);                 \
		if (!f_) {                                                                         \
			f_ = (__typeof__(name) *)dlvsym(RTLD_NEXT, #name, OF_##name);              \
			__atomic_store_n(&found_, f_, __ATOMIC_RELAXED);                           \
		}                                                                                  \
		f_;                                                                                \
	})

/* the C library's versions of them, on x86-64 */
#define FIRST "GLIBC_2.2.5"
#define OF_open FIRST
#define OF_open64 FIRST
#define OF_openat "GLIBC_2.4"
#define OF_openat64 "GLIBC_2.4"
#define OF___open_2 "GLIBC_2.7"
#define OF___open64_2 "GLIBC_2.7"
#define OF___openat_2 "GLIBC_2.7"
#define OF___openat64_2 "GLIBC_2.7"
#define OF_fopen FIRST
#define OF_fopen64 FIRST
#define OF_opendir FIRST
#define OF_getxattr "GLIBC_2.3"
#define OF_lgetxattr "GLIBC_2.3"
#define OF_listxattr "GLIBC_2.3"
#define OF_llistxattr "GLIBC_2.3"
#define OF_chdir FIRST
#define OF_access FIRST
#define OF_faccessat "GLIBC_2.4"
#define OF_stat "GLIBC_2.33"
#define OF_lstat "GLIBC_2.33"
#define OF_stat64 "GLIBC_2.33"
#define OF_lstat64 "GLIBC_2.33"
#define OF___xstat FIRST
#define OF___lxstat FIRST
#define OF___xstat64 FIRST
#define OF___lxstat64 FIRST
#define OF_fstat "GLIBC_2.33"
#define OF_fstat64 "GLIBC_2.33"
#define OF___fxstat FIRST
#define OF___fxstat64 FIRST
#define OF_fstatat "GLIBC_2.33"
#define OF_fstatat64 "GLIBC_2.33"
#define OF_statx "GLIBC_2.28"
#define OF_readlink FIRST
#define OF_realpath "GLIBC_2.3"
#define OF_ioctl FIRST
#define OF_mmap FIRST
#define OF_mmap64 FIRST
#define OF_lseek FIRST
#define OF_lseek64 FIRST
#define OF_syscall FIRST
#define OF__exit FIRST
#define OF__Exit FIRST

/* ---- opening -------------------------------------------------------------------------------- */

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
		struct node node = node_of_path(path);                                             \
		char buf[PATH_MAX];                                                                \
		mode_t mode = 0;                                                                   \
		int own;                                                                           \
                                                                                                   \
		MODE_OF(flags, mode);                                                              \
		if (node.kind)                                                                     \
			return result(open_node(node, flags));                                     \
		own = own_file(path);                                                              \
		return own >= 0 ? own : NEXT(name)(shown(path, buf), flags, mode);                 \
	}
PASS_OPEN(open)
PASS_OPEN(open64)

#define PASS_OPENAT(name)                                                                          \
	int name(int at, const char *path, int flags, ...);                                        \
	SHOW int name(int at, const char *path, int flags, ...)                                    \
	{                                                                                          \
		struct node node = node_of_path(path);                                             \
		char buf[PATH_MAX];                                                                \
		mode_t mode = 0;                                                                   \
		int own;                                                                           \
                                                                                                   \
		MODE_OF(flags, mode);                                                              \
		if (node.kind)                                                                     \
			return result(open_node(node, flags));                                     \
		own = own_file(path);                                                              \
		return own >= 0 ? own : NEXT(name)(at, shown(path, buf), flags, mode);             \
	}
PASS_OPENAT(openat)
PASS_OPENAT(openat64)

/* what calls of open() become in programs that were built with checks */
#define PASS_OPEN_2(name)                                                                          \
	int name(const char *path, int flags);                                                     \
	SHOW int name(const char *path, int flags)                                                 \
	{                                                                                          \
		struct node node = node_of_path(path);                                             \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		return node.kind ? result(open_node(node, flags)) :                                \
				   NEXT(name)(shown(path, buf), flags);                            \
	}
PASS_OPEN_2(__open_2)
PASS_OPEN_2(__open64_2)

#define PASS_OPENAT_2(name)                                                                        \
	int name(int at, const char *path, int flags);                                             \
	SHOW int name(int at, const char *path, int flags)                                         \
	{                                                                                          \
		struct node node = node_of_path(path);                                             \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		return node.kind ? result(open_node(node, flags)) :                                \
				   NEXT(name)(at, shown(path, buf), flags);                        \
	}
PASS_OPENAT_2(__openat_2)
PASS_OPENAT_2(__openat64_2)

/* ---- ends without destructors ---------------------------------------------------------------- */

#define PASS_EXIT(name)                                                                            \
	_Noreturn void name(int status);                                                           \
	SHOW _Noreturn void name(int status)                                                       \
	{                                                                                          \
		tree_leave();                                                                      \
		NEXT(name)(status);                                                                \
		__builtin_unreachable();                                                           \
	}
PASS_EXIT(_exit)
PASS_EXIT(_Exit)

/* ---- paths ---------------------------------------------------------------------------------- */

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

#define PASS_FOPEN(name)                                                                           \
	FILE *name(const char *path, const char *mode);                                            \
	SHOW FILE *name(const char *path, const char *mode)                                        \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		int own = own_file(path);                                                          \
                                                                                                   \
		return own >= 0 ? fdopen(own, mode) : NEXT(name)(PATH, mode);                      \
	}
PASS_FOPEN(fopen)
PASS_FOPEN(fopen64)
PASS(DIR *, opendir, (const char *path), PATH)
/* ls -l asks for access lists */
PASS(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size), PATH, name,
     value, size)
PASS(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size), PATH, name,
     value, size)
PASS(ssize_t, listxattr, (const char *path, char *list, size_t size), PATH, list, size)
PASS(ssize_t, llistxattr, (const char *path, char *list, size_t size), PATH, list, size)
PASS(int, chdir, (const char *path), PATH)

/* Devices can be read and written by everyone. */
#define PASS_ACCESS(name, arguments, ...)                                                          \
	int name arguments;                                                                        \
	SHOW int name arguments                                                                    \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		if (node_of_path(path).kind)                                                       \
			return mode & X_OK ? result(-EACCES) : 0;                                  \
		return NEXT(name)(__VA_ARGS__);                                                    \
	}
PASS_ACCESS(access, (const char *path, int mode), PATH, mode)
PASS_ACCESS(faccessat, (int at, const char *path, int mode, int flags), at, PATH, mode, flags)

/* ---- descriptors of exported memory: their position is the driver's ------------------------- */

#define PASS_SEEK(name, type)                                                                      \
	type name(int fd, type offset, int whence);                                                \
	SHOW type name(int fd, type offset, int whence)                                            \
	{                                                                                          \
		const struct driver_engine *e = __atomic_load_n(&engine, __ATOMIC_ACQUIRE);        \
		int kept = errno;                                                                  \
		int64_t at = -1;                                                                   \
                                                                                                   \
		if (e && !offset && (whence == SEEK_SET || whence == SEEK_END))                    \
			at = e->seek(fd, whence);                                                  \
		errno = kept;                                                                      \
		return at >= 0 ? (type)at : NEXT(name)(fd, offset, whence);                        \
	}
PASS_SEEK(lseek, off_t)
PASS_SEEK(lseek64, off64_t)

/* ---- what a file is ------------------------------------------------------------------------- */

#define DEVICE_MODE (S_IFCHR | 0666)

/* Both structures of stat() have the same members. */
#define FILL(st, node)                                                                             \
	do {                                                                                       \
		memset(st, 0, sizeof(*(st)));                                                      \
		(st)->st_mode = DEVICE_MODE;                                                       \
		(st)->st_nlink = 1;                                                                \
		(st)->st_ino = 1 + (node).gpu + ((node).kind == NODE_RENDER);                      \
		(st)->st_rdev = node_device(node);                                                 \
		(st)->st_blksize = 4096;                                                           \
	} while (0)

#define PASS_STAT(name, type, arguments, ...)                                                      \
	int name arguments;                                                                        \
	SHOW int name arguments                                                                    \
	{                                                                                          \
		struct node node = node_of_path(path);                                             \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		if (!node.kind)                                                                    \
			return NEXT(name)(__VA_ARGS__);                                            \
		FILL(st, node);                                                                    \
		return 0;                                                                          \
	}
PASS_STAT(stat, stat, (const char *path, struct stat *st), PATH, st)
PASS_STAT(lstat, stat, (const char *path, struct stat *st), PATH, st)
PASS_STAT(stat64, stat64, (const char *path, struct stat64 *st), PATH, st)
PASS_STAT(lstat64, stat64, (const char *path, struct stat64 *st), PATH, st)
/* what calls of stat() are in programs that were linked with a C library before 2.33 */
PASS_STAT(__xstat, stat, (int version, const char *path, struct stat *st), version, PATH, st)
PASS_STAT(__lxstat, stat, (int version, const char *path, struct stat *st), version, PATH, st)
PASS_STAT(__xstat64, stat64, (int version, const char *path, struct stat64 *st), version, PATH, st)
PASS_STAT(__lxstat64, stat64, (int version, const char *path, struct stat64 *st), version, PATH, st)

#define PASS_FSTAT(name, type, arguments, ...)                                                     \
	int name arguments;                                                                        \
	SHOW int name arguments                                                                    \
	{                                                                                          \
		struct node node = node_of_fd(fd);                                                 \
                                                                                                   \
		if (!node.kind)                                                                    \
			return NEXT(name)(__VA_ARGS__);                                            \
		FILL(st, node);                                                                    \
		return 0;                                                                          \
	}
PASS_FSTAT(fstat, stat, (int fd, struct stat *st), fd, st)
PASS_FSTAT(fstat64, stat64, (int fd, struct stat64 *st), fd, st)
PASS_FSTAT(__fxstat, stat, (int version, int fd, struct stat *st), version, fd, st)
PASS_FSTAT(__fxstat64, stat64, (int version, int fd, struct stat64 *st), version, fd, st)

/* The device that a path or, with AT_EMPTY_PATH, a descriptor names. */
static struct node node_at(int fd, const char *path, int flags)
{
	if ((flags & AT_EMPTY_PATH) && (!path || !*path))
		return node_of_fd(fd);
	return node_of_path(path);
}

#define PASS_FSTATAT(name, type)                                                                   \
	int name(int at, const char *path, struct type *st, int flags);                            \
	SHOW int name(int at, const char *path, struct type *st, int flags)                        \
	{                                                                                          \
		struct node node = node_at(at, path, flags);                                       \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		if (!node.kind)                                                                    \
			return NEXT(name)(at, PATH, st, flags);                                    \
		FILL(st, node);                                                                    \
		return 0;                                                                          \
	}
PASS_FSTATAT(fstatat, stat)
PASS_FSTATAT(fstatat64, stat64)

int statx(int at, const char *path, int flags, unsigned int mask, struct statx *st);
SHOW int statx(int at, const char *path, int flags, unsigned int mask, struct statx *st)
{
	struct node node = node_at(at, path, flags);
	char buf[PATH_MAX];
	dev_t dev;

	if (!node.kind)
		return NEXT(statx)(at, PATH, flags, mask, st);
	dev = node_device(node);
	*st = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_mode = DEVICE_MODE,
		.stx_nlink = 1,
		.stx_blksize = 4096,
		.stx_rdev_major = major(dev),
		.stx_rdev_minor = minor(dev),
	};
	return 0;
}

/* The descriptor that /proc/self/fd/N or /proc/PID/fd/N of this process names; -1: another path. */
static int descriptor_of(const char *path)
{
	char *end;
	long fd;

	if (!path || !driver_behind(path, "/proc/"))
		return -1;
	path += 6;
	if (driver_behind(path, "self/")) {
		path += 5;
	} else {
		long pid = strtol(path, &end, 10);

		if (end == path || *end != '/' || pid != getpid())
			return -1;
		path = end + 1;
	}
	if (strncmp(path, "fd/", 3) != 0)
		return -1;
	path += 3;
	fd = strtol(path, &end, 10);
	return end == path || *end || fd < 0 || fd > INT_MAX ? -1 : (int)fd;
}

ssize_t readlink(const char *path, char *out, size_t size);
SHOW ssize_t readlink(const char *path, char *out, size_t size)
{
	struct node node = node_of_fd(descriptor_of(path));
	char buf[PATH_MAX];
	size_t len;

	if (!node.kind)
		return NEXT(readlink)(PATH, out, size);
	node_path(node, buf, sizeof(buf));
	len = strlen(buf);
	memcpy(out, buf, len < size ? len : size);
	return (ssize_t)(len < size ? len : size);
}

char *realpath(const char *path, char *out);
SHOW char *realpath(const char *path, char *out)
{
	struct node node = node_of_path(path);
	char buf[PATH_MAX];

	if (!node.kind)
		return NEXT(realpath)(PATH, out);
	if (!out)
		return strdup(path);
	snprintf(out, PATH_MAX, "%s", path);
	return out;
}

/* ---- requests ------------------------------------------------------------------------------- */

static int device_request(struct node node, unsigned long request, void *arg)
{
	unsigned int number = _IOC_NR(request), type = _IOC_TYPE(request);
	size_t size = _IOC_SIZE(request);

	/* as in the kernel: a descriptor is its process's */
	if (!nodes_are_own())
		return -EBADF;
	if (node.kind == NODE_KFD)
		return type == KFD_TYPE ? engine->kfd_request(number, arg, size) : -ENOTTY;
	return type == DRM_TYPE ? engine->drm_request(node.gpu, number, arg, size) : -ENOTTY;
}

static bool may_be_devices(unsigned long request)
{
	return _IOC_TYPE(request) == KFD_TYPE || _IOC_TYPE(request) == DRM_TYPE;
}

int ioctl(int fd, unsigned long request, ...);
SHOW int ioctl(int fd, unsigned long request, ...)
{
	struct node node = { NODE_NONE, 0 };
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	/* most requests end here: terminals, sockets */
	if (may_be_devices(request))
		node = node_of_fd(fd);
	if (!node.kind)
		return may_be_devices(request) && node_is_foreign(fd) ?
			       result(-EBADF) :
			       NEXT(ioctl)(fd, request, arg);
	return result(device_request(node, request, arg));
}

#define PASS_MMAP(name, offset_type)                                                               \
	void *name(void *addr, size_t size, int access, int flags, int fd, offset_type offset);    \
	SHOW void *name(void *addr, size_t size, int access, int flags, int fd,                    \
			offset_type offset)                                                        \
	{                                                                                          \
		uint64_t at;                                                                       \
                                                                                                   \
		if (fd >= 0 && (uint64_t)offset >= FOREIGN_AT && engine &&                         \
		    engine->mmap((uint64_t)offset, &fd, &at))                                      \
			offset = (offset_type)at;                                                  \
		return NEXT(name)(addr, size, access, flags, fd, offset);                          \
	}
PASS_MMAP(mmap, off_t)
PASS_MMAP(mmap64, off64_t)

/* Programs and languages that make their system calls themselves. */
static bool device_syscall(long number, const long a[6], long *ret)
{
	struct node node;

	switch (number) {
	case SYS_open:
		node = node_of_path((const char *)a[0]);
		*ret = node.kind ? open_node(node, (int)a[1]) : 0;
		return node.kind;
	case SYS_openat:
		node = node_of_path((const char *)a[1]);
		*ret = node.kind ? open_node(node, (int)a[2]) : 0;
		return node.kind;
	case SYS_ioctl:
		if (!may_be_devices((unsigned long)a[1]))
			return false;
		node = node_of_fd((int)a[0]);
		if (!node.kind && !node_is_foreign((int)a[0]))
			return false;
		*ret = node.kind ? device_request(node, (unsigned long)a[1], (void *)a[2]) : -EBADF;
		return true;
	default:
		return false;
	}
}

/* The C library's reads six, too, however many there are. */
#define MORE_THAN_ARE_PASSED __attribute__((no_sanitize_address))

long syscall(long number, ...);
SHOW MORE_THAN_ARE_PASSED long syscall(long number, ...)
{
	va_list args;
	long a[6], ret;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (device_syscall(number, a, &ret)) {
		if (ret >= 0)
			return ret;
		errno = (int)-ret;
		return -1;
	}
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
