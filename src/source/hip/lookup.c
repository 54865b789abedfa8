/* SPDX-License-Identifier: MIT */
/* lookup.c - programs that take HIP's functions with dlsym()
 *
 * Threads:  any, at any time, also before librtl's constructor.
 * Fails:    in any case that is not expected the program gets what the C library found.
 * Not here: the symbol `dlsym` itself, lib/librtl/dlsym.c.
 */
#include "source/hip/lookup.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/env.h"
#include "source/hip/frame.h"

#define RUNTIME "libamdhip64.so"
#define HIPRTC "libhiprtc.so"

#ifdef RTL_SANITIZE_ADDRESS
/* The sanitizer calls dlsym() for the functions that it intercepts before there is shadow memory. */
#define BEFORE_SHADOW __attribute__((no_sanitize_address))
static bool has_shadow;

__attribute__((constructor)) static void note_shadow(void)
{
	has_shadow = true;
}
#else
#define BEFORE_SHADOW
static const bool has_shadow = true;
#endif

_Atomic(lookup_fn) lookup_next;
const struct lookup_front *lookup_front;

BEFORE_SHADOW void lookup_find(void)
{
	void *libc;

	/* its oldest version: newer ones are the same function */
	lookup_next = (lookup_fn)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (lookup_next)
		return;
	/* libc stands before us where we are the dependency of a library. RTLD_NOLOAD: it is loaded */
	libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (libc)
		lookup_next = (lookup_fn)dlvsym(libc, "dlsym", "GLIBC_2.2.5");
}

/* The op of that symbol, or hip_nr_ops. */
static uint32_t op_of(const char *name)
{
	uint32_t op = 0;

	while (op < hip_nr_ops && !(hip_symbols[op] && strcmp(hip_symbols[op], name) == 0))
		op++;
	return op;
}

/* hsa_init() (lib/librtl/hsa_init.c) is not HIP's, but stands in front of a function as well. */
static bool is_hsa_init(const char *name)
{
	return strcmp(name, "hsa_init") == 0;
}

/* Whether a function is behind our wrapper. hip_nr_ops: behind our hsa_init(). */
static bool has_real(uint32_t op)
{
	if (op == hip_nr_ops)
		return lookup_libc()(RTLD_NEXT, "hsa_init") != NULL;
	return atomic_load_explicit(&hip_real_fns[op], memory_order_relaxed) ||
	       hip_find(hip_symbols[op]);
}

static bool lacks(void *handle, const char *name)
{
	int saved = errno;
	void *fn = NULL;
	uint32_t op = op_of(name);
	bool none, is_front;

	is_front = op == hip_nr_ops && lookup_front && lookup_front->has(name);
	if (op == hip_nr_ops && !is_front && !is_hsa_init(name))
		return false;
	/* a function of that name that comes before us, for example the program's own */
	if (handle == RTLD_DEFAULT)
		fn = lookup_libc()(RTLD_DEFAULT, name);
	none = !(fn && !hip_is_ours(fn)) &&
	       !(is_front ? lookup_front->has_real(name) : has_real(op));
	errno = saved;
	return none;
}

BEFORE_SHADOW bool lookup_lacks(void *handle, const char *name)
{
	return has_shadow && lacks(handle, name);
}

void *lookup_absent(void *handle, const char *name)
{
	(void)handle;
	/* there is none behind us: sets the C library's own message for the program's dlerror() */
	void *fn = lookup_libc()(RTLD_NEXT, name);

	/* RTLD_NEXT is behind the caller, which a jump to the C library would make the program: it would find our wrapper */
	__asm__ volatile("" : "+r"(fn));
	return fn;
}

static bool is_wanted(void)
{
	if (hip_boot)
		hip_boot();
	return !env_bool(ENV_DISABLE) && strcmp(env_str(ENV_MODE), "hip") == 0 &&
	       strcmp(env_str(ENV_HIP_BACKEND), "auto") == 0;
}

static bool is_in(const void *fn, const char *library)
{
	Dl_info info;
	const char *base;

	if (!dladdr(fn, &info) || !info.dli_fname)
		return false;
	base = strrchr(info.dli_fname, '/');
	base = base ? base + 1 : info.dli_fname;
	return strncmp(base, library, strlen(library)) == 0;
}

/* hipRTC's own library counts only where the runtime has no such function: HIP 7 and later. */
static bool is_runtimes(const void *fn, const char *name)
{
	return is_in(fn, RUNTIME) || (is_in(fn, HIPRTC) && hip_find(name) == fn);
}

/* Our own symbol of that name. */
static void *wrapper(const char *name)
{
	Dl_info info;
	void *self, *fn = NULL;

	if (!dladdr((const void *)&hip_started, &info) || !info.dli_fname)
		return NULL;
	self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (self) {
		fn = lookup_libc()(self, name);
		dlclose(self);
	}
	return fn;
}

static void *translate(void *fn, const char *name)
{
	uint32_t op = op_of(name);
	void *known = NULL, *ours;

	if (op == hip_nr_ops)
		return is_hsa_init(name) && hip_is_ours(fn) && !has_real(op) ?
			       lookup_absent(RTLD_NEXT, name) :
			       fn;
	/* we are in the handle's scope, for example in that of dlopen(NULL) */
	if (hip_is_ours(fn))
		return has_real(op) ? fn : lookup_absent(RTLD_NEXT, name);
	if (!is_wanted() || !is_runtimes(fn, name))
		return fn;
	ours = wrapper(name);
	if (!ours)
		return fn;
	/* A wrapper has one function behind it: functions of a second copy of the runtime are not wrapped. release: pairs with
	 * the acquire in hip_real() */
	if (atomic_compare_exchange_strong_explicit(&hip_real_fns[op], &known, fn,
						    memory_order_release, memory_order_relaxed)) {
		hip_pin(fn);
		return ours;
	}
	if (known == fn)
		return ours;
	return fn;
}

/* The symbol at `fn` if it has that name or is another form of the function: of a release (R0600), for the thread's own
 * default stream (_spt). NULL: it is another function. */
static const char *symbol_at(const void *fn, const char *name)
{
	const char *found = NULL;
	Dl_info info;
	void *lib;

	if (!dladdr(fn, &info) || !info.dli_fname)
		return NULL;
	lib = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!lib)
		return NULL;
	for (uint32_t op = 0; op < hip_nr_ops && !found; op++)
		if (hip_symbols[op] && strncmp(hip_symbols[op], name, strlen(name)) == 0 &&
		    lookup_libc()(lib, hip_symbols[op]) == fn)
			found = hip_symbols[op];
	/* the program must not find our failures in dlerror() */
	dlerror();
	dlclose(lib);
	return found;
}

void lookup_given(const char *name, void **fn)
{
	int saved = errno;
	const char *symbol;

	if (!name || !name[0] || !fn || !*fn || !lookup_next || !is_wanted() ||
	    !is_in(*fn, RUNTIME))
		return;
	symbol = symbol_at(*fn, name);
	if (symbol)
		*fn = translate(*fn, symbol);
	errno = saved;
}

/* The same for a function of `lookup_front`. */
static void *translate_front(void *fn, const char *name)
{
	if (!lookup_front->has(name))
		return fn;
	if (hip_is_ours(fn))
		return lookup_front->has_real(name) ? fn : lookup_absent(RTLD_NEXT, name);
	return is_wanted() ? lookup_front->wrap(fn, name) : fn;
}

void *lookup(void *handle, const char *name)
{
	void *fn = lookup_libc()(handle, name);
	int saved = errno;

	if (fn && name && (name[0] == 'h' || name[0] == '_')) {
		fn = translate(fn, name);
		errno = saved;
	} else if (fn && name && (name[0] == 'n' || name[0] == 'm') && lookup_front) {
		fn = translate_front(fn, name);
		errno = saved;
	}
	return fn;
}
