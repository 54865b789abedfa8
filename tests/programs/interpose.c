/* SPDX-License-Identifier: MIT */
/* interpose.c - libraries to preload, each with functions in front of the C library's, which it
 * looks up when they are called
 *
 * A function that is called while it is looked up, or in a library that is loaded with it while its
 * own constructor has not run, ends the program with status 97: such libraries are not written for
 * that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(name) *next_;                                                    \
		static int busy_;                                                                  \
		if (!next_) {                                                                      \
			if (busy_++)                                                               \
				_exit(97);                                                         \
			next_ = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                       \
		}                                                                                  \
		next_;                                                                             \
	})

#if defined(STRINGS)
int strcmp(const char *a, const char *b)
{
	return NEXT(strcmp)(a, b);
}

int strncmp(const char *a, const char *b, size_t n)
{
	return NEXT(strncmp)(a, b, n);
}

char *strrchr(const char *text, int c)
{
	return NEXT(strrchr)(text, c);
}

char *getenv(const char *name)
{
	return NEXT(getenv)(name);
}
#elif defined(THREADS)
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return NEXT(pthread_create)(t, attr, fn, arg);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	return NEXT(pthread_mutex_lock)(m);
}

int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	return NEXT(pthread_once)(once, fn);
}
#elif defined(FILES)
int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return NEXT(open)(path, flags, mode);
}

int close(int fd)
{
	return NEXT(close)(fd);
}

ssize_t write(int fd, const void *data, size_t size)
{
	return NEXT(write)(fd, data, size);
}
#elif defined(LOOKUPS)
void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *, const char *);

	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return next(handle, name);
}

void *dlopen(const char *path, int flags)
{
	return NEXT(dlopen)(path, flags);
}
#elif defined(MEMORY)
/* the way of most allocators' wrappers: memory of its own for what dlsym() itself allocates */
static char early[65536];
static size_t used;
static int busy;

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);

static void find(void)
{
	busy = 1;
	next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	busy = 0;
}

void *malloc(size_t size)
{
	if (!next_malloc && !busy)
		find();
	if (next_malloc)
		return next_malloc(size);
	used += (size + 15) / 16 * 16;
	return used > sizeof(early) ? NULL : early + used - (size + 15) / 16 * 16;
}

void free(void *p)
{
	if ((char *)p >= early && (char *)p < early + sizeof(early))
		return;
	if (!next_free && !busy)
		find();
	if (next_free)
		next_free(p);
}
#endif
