/* SPDX-License-Identifier: MIT */
/* rccl.c - calls of RCCL
 *
 * Owns:     the library's functions behind librtl's.
 * Threads:  any, at any time; the table comes on the thread that uses RCCL first.
 * Fails:    without memory for a frame a call is passed on, and counted if it was to be recorded.
 */
#define LOG_TOPIC "rccl"
#include "source/rccl/rccl.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "event/life.h"
#include "source/hip/frame.h"

#define LIBRARY "librccl.so"
#define PATH_SIZE 4096

struct table {
	size_t size;
	_Atomic(void *) entries[];
};

_Static_assert(RCCL_OP_NR <= API_MAX_OPERATIONS, "a mask for each");
static _Atomic(void *) real_fns[RCCL_OP_NR];
static _Atomic uint8_t named[RCCL_OP_NR];

/* ---- the library's functions ---- */

static int find_path(struct dl_phdr_info *info, size_t size, void *path)
{
	const char *base = strrchr(info->dlpi_name, '/');
	size_t length = strlen(info->dlpi_name);

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, LIBRARY, strlen(LIBRARY)) != 0 || length >= PATH_SIZE)
		return 0;
	memcpy(path, info->dlpi_name, length + 1);
	return 1;
}

/* In a library that is loaded with local scope. */
static void *find_local(const char *name)
{
	char path[PATH_SIZE];
	void *lib, *fn;

	if (!dl_iterate_phdr(find_path, path))
		return NULL;
	lib = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!lib)
		return NULL;
	fn = lookup_libc()(lib, name);
	dlclose(lib);
	return fn;
}

static void *find(uint32_t op)
{
	void *fn = NULL;

	if (!lookup_next)
		early_find();
	if (!lookup_next)
		return NULL;
	fn = lookup_libc()(RTLD_NEXT, rccl_ops[op].name);
	if (!fn || hip_is_ours(fn))
		fn = find_local(rccl_ops[op].name);
	/* the program must not find our failure in dlerror() */
	if (!fn)
		dlerror();
	return fn;
}

void *rccl_real(uint32_t op)
{
	/* acquire: pairs with the release below, and in take_over() */
	void *fn = atomic_load_explicit(&real_fns[op], memory_order_acquire), *none = NULL;
	int saved = errno;

	if (RTL_LIKELY(fn != NULL))
		return fn;
	fn = find(op);
	/* a table may have come meanwhile */
	if (fn &&
	    !atomic_compare_exchange_strong_explicit(&real_fns[op], &none, fn, memory_order_release,
						     memory_order_acquire))
		fn = none;
	errno = saved;
	return fn;
}

/* ---- calls ---- */

/* As HIP's first call decides for HIP. */
static void decide(void)
{
	bool wanted;

	if (hip_boot)
		hip_boot();
	wanted = !env_bool(ENV_DISABLE) && strcmp(env_str(ENV_MODE), "hip") == 0 && life_start();
	api_define(API_RCCL, rccl_ops, named, NULL, NULL, RCCL_OP_NR);
	api_switch(API_RCCL, wanted);
}

struct live_frame *rccl_begin(uint32_t op, void *args, uintptr_t frame)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int saved = errno;

	pthread_once(&once, decide);
	errno = saved;
	if (!api_wanted(API_RCCL, op) || live_is_seen(thread_get(), API_RCCL, op, frame))
		return NULL;
	return live_wrapper_begin(API_RCCL, op, args, frame);
}

/* FNV-1a by words: ids are addresses and random numbers. */
uint64_t rccl_identity(const struct rccl_unique_id *id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(id->bytes); i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, id->bytes + i, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 29;
	}
	return hash;
}

uint64_t rccl_handle(int status, const void *out)
{
	void *handle = NULL;

	if ((status == RCCL_SUCCESS || status == RCCL_IN_PROGRESS) && out)
		memcpy(&handle, out, sizeof(handle));
	return (uintptr_t)handle;
}

/* ---- the table ---- */

static bool take_over(_Atomic(void *) *entry, uint32_t op)
{
	/* relaxed: the library has made its table on this thread */
	void *real = atomic_load_explicit(entry, memory_order_relaxed);

	if (!real || real == rccl_wrappers[op])
		return false;
	/* release: who comes by the entry finds what to call */
	atomic_store_explicit(&real_fns[op], real, memory_order_release);
	atomic_store_explicit(entry, rccl_wrappers[op], memory_order_release);
	return true;
}

void rccl_take_table(void *table)
{
	struct table *t = table;
	uint32_t nr_taken = 0;
	size_t nr;

	if (t->size <= sizeof(*t))
		return;
	if (!hip_wants_tables())
		return;
	nr = (t->size - sizeof(*t)) / sizeof(t->entries[0]);
	for (uint32_t op = 0; op < RCCL_OP_NR && op < nr; op++)
		nr_taken += take_over(&t->entries[op], op);
	log_info("%u of %zu entries of RCCL's table", nr_taken, nr);
}

/* ---- programs that look functions up ---- */

static bool has_real(uint32_t op)
{
	return rccl_real(op) != NULL;
}

/* A wrapper has one function behind it: those of a second copy of the library are not wrapped. */
static void *wrap(void *fn, uint32_t op)
{
	void *known = NULL;
	Dl_info info;
	const char *base;

	if (!dladdr(fn, &info) || !info.dli_fname)
		return fn;
	base = strrchr(info.dli_fname, '/');
	if (strncmp(base ? base + 1 : info.dli_fname, LIBRARY, strlen(LIBRARY)) != 0)
		return fn;
	/* release: pairs with rccl_real() */
	if (atomic_compare_exchange_strong_explicit(&real_fns[op], &known, fn, memory_order_release,
						    memory_order_relaxed) ||
	    known == fn)
		return rccl_wrappers[op];
	return fn;
}

const struct lookup_front rccl_front = { .ops = rccl_ops,
					 .nr_ops = RCCL_OP_NR,
					 .has_real = has_real,
					 .wrap = wrap };
