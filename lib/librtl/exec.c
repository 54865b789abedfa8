/* SPDX-License-Identifier: MIT */
/* exec.c - the exec functions in front of the C library's: the trace says that the process has
 * executed another program
 *
 * After a successful exec nothing of librtl is left, and once the other program has ended, too, no
 * trace of the exec is either: an observer would have to look at the right moment. So the process
 * itself says so in the header of its trace, before the call, and takes it back where the call
 * fails. A program that makes the system call itself is found by `rtl trace` only while the other
 * program runs.
 *
 * Threads:  any; also in a signal handler, and in a child of vfork(), which shares the memory and
 *           is not this process. No lock, no allocation, and no call of the loader after
 *           exec_init().
 * Fails:    a function that the C library lacks: ENOSYS.
 */
#include "exec.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "base/compiler.h"
#include "event/life.h"
#include "sink/recorder/recorder.h"
#include "source/hip/lookup.h"

typedef int (*exec_fn)(const char *path, char *const argv[]);
typedef int (*exec_env_fn)(const char *path, char *const argv[], char *const env[]);
typedef int (*exec_fd_fn)(int fd, char *const argv[], char *const env[]);
typedef int (*exec_at_fn)(int dir, const char *path, char *const argv[], char *const env[],
			  int flags);

EXPORT int execv(const char *path, char *const argv[]);
EXPORT int execvp(const char *file, char *const argv[]);
EXPORT int execve(const char *path, char *const argv[], char *const env[]);
EXPORT int execvpe(const char *file, char *const argv[], char *const env[]);
EXPORT int fexecve(int fd, char *const argv[], char *const env[]);
EXPORT int execveat(int dir, const char *path, char *const argv[], char *const env[], int flags);
EXPORT int execl(const char *path, const char *first, ...);
EXPORT int execlp(const char *file, const char *first, ...);
EXPORT int execle(const char *path, const char *first, ...);

enum name { EXECV, EXECVP, EXECVE, EXECVPE, FEXECVE, EXECVEAT, NR_NAMES };
static const char *const names[NR_NAMES] = { "execv",	"execvp",  "execve",
					     "execvpe", "fexecve", "execveat" };
/* set in exec_init(), or by a call before it; all threads set the same */
static _Atomic(void *) next[NR_NAMES];

static void *find(enum name name)
{
	void *fn = atomic_load_explicit(&next[name], memory_order_relaxed);

	if (fn)
		return fn;
	if (!lookup_next)
		early_find();
	fn = lookup_next ? lookup_libc()(RTLD_NEXT, names[name]) : NULL;
	atomic_store_explicit(&next[name], fn, memory_order_relaxed);
	return fn;
}

void exec_init(void)
{
	for (int i = 0; i < NR_NAMES; i++)
		find((enum name)i);
}

static bool begin(void)
{
	return life_on() && recorder_executes();
}

/* The call has failed. */
static int end(bool is_marked, int ret)
{
	int saved = errno;

	if (is_marked)
		recorder_stays();
	errno = saved;
	return ret;
}

static int lacks(void)
{
	errno = ENOSYS;
	return -1;
}

EXPORT int execv(const char *path, char *const argv[])
{
	exec_fn fn = (exec_fn)find(EXECV);
	bool is_marked = fn && begin();

	return fn ? end(is_marked, fn(path, argv)) : lacks();
}

EXPORT int execvp(const char *file, char *const argv[])
{
	exec_fn fn = (exec_fn)find(EXECVP);
	bool is_marked = fn && begin();

	return fn ? end(is_marked, fn(file, argv)) : lacks();
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	exec_env_fn fn = (exec_env_fn)find(EXECVE);
	bool is_marked = fn && begin();

	return fn ? end(is_marked, fn(path, argv, env)) : lacks();
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	exec_env_fn fn = (exec_env_fn)find(EXECVPE);
	bool is_marked = fn && begin();

	return fn ? end(is_marked, fn(file, argv, env)) : lacks();
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	exec_fd_fn fn = (exec_fd_fn)find(FEXECVE);
	bool is_marked = fn && begin();

	return fn ? end(is_marked, fn(fd, argv, env)) : lacks();
}

EXPORT int execveat(int dir, const char *path, char *const argv[], char *const env[], int flags)
{
	exec_at_fn fn = (exec_at_fn)find(EXECVEAT);
	bool is_marked = fn && begin();

	return fn ? end(is_marked, fn(dir, path, argv, env, flags)) : lacks();
}

/* Arguments from `first` to NULL. */
static size_t count(const char *first, va_list list)
{
	size_t nr = 0;

	for (const char *arg = first; arg && nr < INT_MAX; arg = va_arg(list, const char *))
		nr++;
	return nr;
}

static void collect(char **argv, size_t nr, const char *first, va_list list)
{
	argv[0] = (char *)first;
	for (size_t i = 1; i <= nr; i++)
		argv[i] = va_arg(list, char *);
}

/* The arguments behind `first`, as an array on the caller's stack, where the C library has them,
 * too: in a child of vfork() nothing may be allocated. `list` is left behind the NULL. */
#define ARRAY_OF(argv, first, list)                                                                \
	do {                                                                                       \
		size_t nr_;                                                                        \
                                                                                                   \
		va_start(list, first);                                                             \
		nr_ = count(first, list);                                                          \
		va_end(list);                                                                      \
		if (nr_ >= INT_MAX) {                                                              \
			errno = E2BIG;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		(argv) = __builtin_alloca((nr_ + 1) * sizeof(*(argv)));                            \
		va_start(list, first);                                                             \
		collect(argv, nr_, first, list);                                                   \
	} while (0)

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;
	char **argv;

	ARRAY_OF(argv, first, list);
	va_end(list);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;
	char **argv;

	ARRAY_OF(argv, first, list);
	va_end(list);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;
	char **argv, **env;

	ARRAY_OF(argv, first, list);
	env = va_arg(list, char **);
	va_end(list);
	return execve(path, argv, env);
}
