/* SPDX-License-Identifier: MIT */
/* forked.c - loads a second copy of librtl into a forked child
 *
 * The loader keeps one copy of a file, by name and by inode: the copy is a file in memory, with a
 * name that has the child's pid. It is loaded with local scope; the calls of the program go on to
 * this copy's symbols, which find the other's behind them.
 *
 * Threads:  any of the child; the first makes the copy, the others wait for it.
 * Fails:    no file in memory, or the loader refuses it: the child is not traced, as rtl trace
 *           says.
 */
#define LOG_TOPIC "fork"
#include "forked.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/location.h"
#include "base/log.h"
#include "base/notice.h"
#include "base/str.h"
#include "base/sys.h"
#include "core.h"
#include "sink/recorder/finish.h"
#include "source/hip/lookup.h"
#include "startenv.h"

#define WAIT_STEP_NS 100000
#define WAIT_STEPS 20000

typedef bool (*load_fn)(void *table, uint64_t version, uint64_t nr, const char *const *failed);
typedef const struct rtl_core *(*core_fn)(uint32_t version);

/* The process that `copy` is of; negative while a thread of it makes the copy. A child inherits its
 * parent's. */
static _Atomic int owner;
static void *copy;
/* This is one: in a child of the child the first librtl makes another. From 5.3 on the runtime
 * calls OnLoad() of both. */
static bool is_copy;

void forked_be_copy(const char *path)
{
	is_copy = true;
	finish_beside(path);
}

/* A file in memory with the contents of `path`. The descriptor, or -errno. */
static int file_in_memory(const char *path)
{
	int from = sys_open(path, O_RDONLY | O_CLOEXEC, 0), fd = -1, err = 0;
	struct stat st;

	if (from < 0)
		return -errno;
	if (fstat(from, &st) == 0)
		fd = memfd_create("librtl.so.1", MFD_CLOEXEC);
	if (fd < 0)
		err = -errno;
	while (!err && st.st_size > 0) {
		ssize_t n = sendfile(fd, from, NULL, (size_t)st.st_size);

		if (n <= 0)
			err = n ? -errno : -EIO;
		st.st_size -= n;
	}
	sys_close(from);
	if (err && fd >= 0)
		sys_close(fd);
	return err ? err : fd;
}

/* A limit of the size of files must not end the child. */
static int file_without_signal(const char *path)
{
	sigset_t limit, old;
	int fd;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &old);
	fd = file_in_memory(path);
	if (fd < 0 && !sigismember(&old, SIGXFSZ))
		sys_take_signal(&limit);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return fd;
}

static void *load_copy(void)
{
	const struct rtl_core *core = NULL;
	char name[64];
	struct startenv_loan loan;
	core_fn core_get;
	Dl_info own;
	bool is_lent;
	struct str s;
	void *lib;
	int fd;

	if (!lookup_next)
		early_find();
	if (!lookup_next || !dladdr((const void *)&owner, &own) || !own.dli_fname)
		return NULL;
	fd = file_without_signal(own.dli_fname);
	if (fd < 0)
		return NULL;
	/* the pid: the loader must not take it for the parent's copy */
	str_init(&s, name, sizeof(name));
	str_add(&s, "/proc/");
	str_add_uint(&s, (uint64_t)getpid());
	str_add(&s, "/fd/");
	str_add_uint(&s, (uint64_t)fd);
	/* its constructor reads the environment, which the program may have cleared */
	is_lent = startenv_lend(&loan, false);
	/* not loaded yet: librtl's own file, needed to trace the child */
	lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (is_lent)
		startenv_take_back(&loan);
	sys_close(fd);
	if (!lib) {
		log_info("%s: %s", name, dlerror());
		return NULL;
	}
	core_get = (core_fn)lookup_libc()(lib, "rtl_core_get");
	if (core_get)
		core = core_get(RTL_CORE_VERSION);
	if (core)
		core->be_copy(own.dli_fname);
	return lib;
}

static void report_untraced(void)
{
	if (location_is_session())
		notice_send(env_str(ENV_SESSION), NOTICE_FORKED, 0);
	log_warn(
		"this forked child is not traced: a second copy of librtl can't be loaded into it");
}

/* NULL: there is none. */
static void *copy_of_child(void)
{
	const struct timespec step = { 0, WAIT_STEP_NS };
	int self = getpid();

	for (int i = 0; i < WAIT_STEPS; i++) {
		/* acquire: `copy` */
		int of = atomic_load_explicit(&owner, memory_order_acquire);

		if (of == self)
			return copy;
		if (of == -self) {
			sys_nap(&step);
			continue;
		}
		if (!atomic_compare_exchange_strong_explicit(&owner, &of, -self,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		copy = load_copy();
		if (!copy)
			report_untraced();
		atomic_store_explicit(&owner, self, memory_order_release);
		return copy;
	}
	return NULL;
}

void *forked_find(const char *name)
{
	int saved = errno;
	void *lib, *fn;

	if (is_copy || env_bool(ENV_DISABLE))
		return NULL;
	lib = copy_of_child();
	fn = lib ? lookup_libc()(lib, name) : NULL;
	errno = saved;
	return fn;
}

void forked_load(void *table, uint64_t runtime_version)
{
	load_fn load = (load_fn)forked_find("OnLoad");

	if (load)
		load(table, runtime_version, 0, NULL);
}

void forked_unload(void)
{
	void (*unload)(void) = NULL;

	/* not made for this */
	if (atomic_load_explicit(&owner, memory_order_acquire) == getpid())
		unload = (void (*)(void))forked_find("OnUnload");
	if (unload)
		unload();
}
