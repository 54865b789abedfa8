/* SPDX-License-Identifier: MIT */
/* frame.c - finds the runtime's functions; the first HIP call
 *
 * librtl's symbols stand before the runtime's in the search order of the loader, so that the
 * program's calls reach them. The runtime's own are found behind them, or by the library's name
 * where it has local scope (the dependency of a plugin).
 *
 * Threads:  any, also in constructors of libraries, before ours. No lock of ours is held during a
 *           call of the loader, which has its own.
 * Fails:    no runtime: the wrapper returns HIP_NOT_LOADED.
 */
#include "source/hip/frame.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/env.h"
#include "base/loaded.h"
#include "event/left_out.h"
#include "event/life.h"
#include "source/hip/lookup.h"
#include "source/hip/release.h"

#define PATH_SIZE 4096

/* made by the linker: where librtl begins and ends */
extern const char __ehdr_start[] RTL_HIDDEN, _end[] RTL_HIDDEN;

/* Up to HIP 6 the runtime has hipRTC's functions, too; there it is searched first. */
enum library { LIB_RUNTIME, LIB_HIPRTC, LIB_NR };
static const char *const library_names[LIB_NR] = { "libamdhip64.so", "libhiprtc.so" };

_Atomic bool hip_started;
void *(*hip_forked_find)(const char *name);
uint64_t (*hip_agents_of)(const void *dst, const void *src);
_Atomic bool hip_tables_taken;
_Atomic uintptr_t hip_code_begin, hip_code_size;

struct search {
	const char *library; /* the one of that name, or which has this address: */
	const void *address;
	char path[PATH_SIZE];
	unsigned long long nr_loaded; /* libraries, ever */
	uintptr_t begin, size;	      /* of its segments */
};

/* How many libraries had been loaded when the last search found none of that name. */
static _Atomic unsigned long long nr_in_vain[LIB_NR];

static int look_at_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

static bool is_named(const char *path, const char *library)
{
	const char *base = strrchr(path, '/');

	return strncmp(base ? base + 1 : path, library, strlen(library)) == 0;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	size_t length = strlen(info->dlpi_name);
	bool is_it = s->library ? is_named(info->dlpi_name, s->library) :
				  loaded_has(info, s->address);

	(void)size;
	s->nr_loaded = info->dlpi_adds;
	if (!is_it || length >= PATH_SIZE)
		return 0;
	memcpy(s->path, info->dlpi_name, length + 1);
	s->begin = info->dlpi_addr;
	s->size = 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && h->p_vaddr + h->p_memsz > s->size)
			s->size = h->p_vaddr + h->p_memsz;
	}
	return 1;
}

bool hip_is_ours(const void *fn)
{
	/* no dladdr(): it reads all symbols of the library that has the address */
	return (uintptr_t)fn - (uintptr_t)__ehdr_start < (uintptr_t)(_end - __ehdr_start);
}

/* `api_name`: the runtime's hipApiName(); NULL: it is looked up. */
static void pin(const void *fn, void *api_name)
{
	static _Atomic bool pinned[LIB_NR];
	enum library which;
	struct search s;
	void *lib;

	s.library = NULL;
	s.address = fn;
	if (!dl_iterate_phdr(look_at, &s))
		return;
	which = is_named(s.path, library_names[LIB_HIPRTC]) ? LIB_HIPRTC : LIB_RUNTIME;
	if (atomic_exchange_explicit(&pinned[which], true, memory_order_relaxed))
		return;
	/* RTLD_NOLOAD: one more reference to what is there; the program itself has no path */
	lib = s.path[0] ? dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (which != LIB_RUNTIME)
		return;
	/* relaxed: a call of the runtime's own that comes meanwhile counts as the program's */
	atomic_store_explicit(&hip_code_begin, s.begin, memory_order_relaxed);
	atomic_store_explicit(&hip_code_size, s.size, memory_order_relaxed);
	if (lib && !api_name)
		api_name = lookup_libc()(lib, "hipApiName");
	release_find((const char *(*)(uint32_t))api_name);
}

void hip_pin(const void *fn)
{
	pin(fn, NULL);
}

void hip_pin_table(const void *table, void *api_name)
{
	pin(table, api_name);
}

/* Whether such a library is in the process; s->path is where. */
static bool find_library(enum library which, struct search *s)
{
	unsigned long long nr_loaded = 0;

	dl_iterate_phdr(look_at_first, &nr_loaded);
	if (nr_loaded == atomic_load_explicit(&nr_in_vain[which], memory_order_relaxed))
		return false;
	s->path[0] = '\0';
	s->library = library_names[which];
	dl_iterate_phdr(look_at, s);
	/* relaxed: a hint; a stale one costs one search */
	if (!s->path[0])
		atomic_store_explicit(&nr_in_vain[which], s->nr_loaded, memory_order_relaxed);
	return s->path[0] != '\0';
}

/* In a library that is loaded with local scope. */
static void *find_local(enum library which, const char *name)
{
	struct search s;
	void *lib, *fn = NULL;

	if (!find_library(which, &s))
		return NULL;
	lib = dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
	if (!lib)
		return NULL;
	fn = lookup_libc()(lib, name);
	if (fn)
		hip_pin(fn);
	dlclose(lib);
	return fn;
}

bool hip_is_loaded(void)
{
	struct search s;

	return find_library(LIB_RUNTIME, &s);
}

/* The function behind the wrapper of that name: the runtime's symbol may lead to the wrapper, by a
 * dispatch table. */
static void *behind_wrapper(const char *name)
{
	for (uint32_t op = 0; op < hip_nr_ops; op++)
		if (hip_symbols[op] && strcmp(hip_symbols[op], name) == 0)
			return atomic_load_explicit(&hip_real_fns[op], memory_order_acquire);
	return NULL;
}

static void *find_in_runtime(const char *name)
{
	bool is_hiprtc = strncmp(name, "hiprtc", 6) == 0;
	unsigned long long nr_loaded = 0;
	int saved = errno;
	void *fn = NULL;

	if (!lookup_next)
		early_find();
	dl_iterate_phdr(look_at_first, &nr_loaded);
	if (lookup_next &&
	    nr_loaded != atomic_load_explicit(&nr_in_vain[is_hiprtc ? LIB_HIPRTC : LIB_RUNTIME],
					      memory_order_relaxed)) {
		fn = lookup_libc()(RTLD_NEXT, name);
		if (fn && !hip_is_ours(fn))
			hip_pin(fn);
		else
			fn = find_local(LIB_RUNTIME, name);
		if (!fn && is_hiprtc)
			fn = find_local(LIB_HIPRTC, name);
		/* the program must not find our failure in dlerror() */
		if (!fn)
			dlerror();
	}
	errno = saved;
	return fn;
}

void *hip_find(const char *name)
{
	void *fn = behind_wrapper(name);

	return fn ? fn : find_in_runtime(name);
}

bool hip_wants_tables(void)
{
	if (hip_boot)
		hip_boot();
	/* a forked child's calls come by the symbols: its copy of librtl has wrappers of its own */
	return !env_bool(ENV_DISABLE) &&
	       atomic_load_explicit(&life_state, memory_order_relaxed) != LIFE_FORKED;
}

void *hip_resolve(uint32_t op)
{
	/* acquire: another thread may have found it meanwhile */
	void *fn = atomic_load_explicit(&hip_real_fns[op], memory_order_acquire), *copy = NULL;

	if (!fn)
		fn = find_in_runtime(hip_symbols[op]);
	if (fn && hip_forked_find &&
	    atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		copy = hip_forked_find(hip_symbols[op]);
	if (copy)
		fn = copy;
	/* release: pairs with the acquire in hip_real() */
	if (fn)
		atomic_store_explicit(&hip_real_fns[op], fn, memory_order_release);
	return fn;
}

void *hip_resolve_early(uint32_t op)
{
	const char *name = hip_symbols[op];
	void *fn = NULL;
	int saved = errno;

	if (!lookup_next)
		early_find();
	if (lookup_next)
		fn = lookup_libc()(RTLD_NEXT, name);
	if (fn && hip_is_ours(fn))
		fn = NULL;
	errno = saved;
	if (!fn) {
		dlerror();
		return hip_resolve(op);
	}
	/* release: pairs with the acquire in hip_real() */
	atomic_store_explicit(&hip_real_fns[op], fn, memory_order_release);
	return fn;
}

/* In a forked child: each function is looked up again, and found in the child's copy of librtl. */
static void forget_all(void)
{
	/* a symbol of the runtime would lead back to the wrapper; the operations are traced without
	 * their calls */
	if (atomic_load_explicit(&hip_tables_taken, memory_order_relaxed))
		return;
	for (uint32_t op = 0; op < hip_nr_ops; op++) {
		atomic_store_explicit(&hip_entries[op], hip_ordinary[op], memory_order_relaxed);
		atomic_store_explicit(&hip_real_fns[op], NULL, memory_order_relaxed);
	}
}

static void forget_in_children(void)
{
	static _Atomic bool is_done;

	if (hip_forked_find && !atomic_exchange_explicit(&is_done, true, memory_order_relaxed))
		pthread_atfork(NULL, NULL, forget_all);
}

void hip_take_way(uint32_t op, void *way, void *real, uint32_t mask, uint32_t mask_of)
{
	/* seq_cst: pairs with api_want() and with dispatch_table.c, which change what is looked at
	 * and then the entry: one of the two finds the other */
	atomic_store(&hip_entries[op], way);
	if ((atomic_load(&api_masks[API_HIP][op]) & mask_of) != mask ||
	    atomic_load(&hip_real_fns[op]) != real)
		atomic_store(&hip_entries[op], hip_ordinary[op]);
}

void hip_passed(uint32_t op, void *straight, void *left)
{
	uint32_t mask = api_wanted(API_HIP, op);
	void *real = hip_real(op);

	/* relaxed: until a thread sees it its calls take the ordinary way */
	if (!atomic_load_explicit(&hip_started, memory_order_relaxed))
		return;
	if (!mask) {
		hip_take_way(op, straight ? straight : real, real, mask, UINT32_MAX);
	} else if (mask == API_LEFT_OUT && left) {
		left_out_begin();
		hip_take_way(op, left, real, mask, UINT32_MAX);
	}
}

/* Decides whether calls are recorded. May run any number of times, on any number of threads. */
void hip_decide(void)
{
	bool wanted;

	if (hip_boot)
		hip_boot();
	wanted = !env_bool(ENV_DISABLE) && strcmp(env_str(ENV_MODE), "hip") == 0 && life_start();
	if (wanted && strcmp(env_str(ENV_HIP_BACKEND), "callback") == 0) {
		wanted = false;
	}
	if (wanted)
		forget_in_children();
	api_define(API_HIP, hip_ops, hip_named, hip_entries, hip_ordinary, hip_nr_ops);
	api_switch(API_HIP, wanted);
	/* release: what was decided comes first; a thread that misses it decides the same */
	atomic_store_explicit(&hip_started, true, memory_order_release);
}

bool hip_enter_first(uint32_t op, struct api_call *c, uintptr_t frame)
{
	int saved = errno;

	hip_decide();
	errno = saved;
	return hip_enter_at(api_wanted(API_HIP, op), op, c, frame);
}

uint64_t hip_word_agents(const void *dst, const void *src)
{
	int saved = errno;
	uint64_t agents = hip_agents_of ? hip_agents_of(dst, src) : 0;

	errno = saved;
	return agents;
}

struct live_frame *hip_begin_seen(uint32_t op, void *args, uintptr_t frame)
{
	int saved = errno;

	/* relaxed: set once; a second decision is the same */
	if (!atomic_load_explicit(&hip_started, memory_order_relaxed))
		hip_decide();
	errno = saved;
	return live_is_seen(&thread_self, API_HIP, op, frame) ?
		       NULL :
		       live_wrapper_begin(API_HIP, op, args, frame);
}

void hip_own_begin(uintptr_t frame)
{
	struct thread *t = thread_get();

	/* what is submitted within a call belongs to the call */
	if (t->api_inside || (t->call_left_out && frame < t->call_left_out))
		return;
	thread_leave_out(t, frame);
	t->domain_left_out = API_HIP;
}
