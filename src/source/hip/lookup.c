/* SPDX-License-Identifier: MIT */
/* lookup.c - programs that take HIP's functions, or others that librtl has wrappers of, with
 * dlsym()
 *
 * Threads:  any, at any time, also before librtl's constructor.
 * Fails:    in any case that is not expected the program gets what the C library found.
 * Not here: the symbol `dlsym` itself, lib/librtl/dlsym.c; all other names, early.c.
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

/* Whether a function is behind ours of that name. */
static bool has_real(enum early_kind kind, uint32_t op)
{
	if (kind == EARLY_FRONT)
		return lookup_front->has_real(op);
	if (kind == EARLY_HSA_INIT)
		return lookup_libc()(RTLD_NEXT, "hsa_init") != NULL;
	return atomic_load_explicit(&hip_real_fns[op], memory_order_relaxed) ||
	       hip_find(hip_symbols[op]);
}

bool lookup_lacks(void *handle, const char *name, enum early_kind kind, uint32_t op)
{
	int saved = errno;
	void *fn = NULL;
	bool none;

	/* A function of that name that comes before us, for example the program's own. With an
	 * error the name is not visible at
	 * all: the C library says so itself, in the name of the program. */
	fn = lookup_libc()(RTLD_DEFAULT, name);
	if (!fn && dlerror()) {
		errno = saved;
		return false;
	}
	if (handle == RTLD_NEXT)
		fn = NULL;
	none = !(fn && !hip_is_ours(fn)) && !has_real(kind, op);
	errno = saved;
	return none;
}

void *lookup_absent(void *handle, const char *name)
{
	(void)handle;
	/* there is none behind us: sets the C library's own message for the program's dlerror() */
	void *fn = lookup_libc()(RTLD_NEXT, name);

	/* RTLD_NEXT is behind the caller, which a jump to the C library would make the program: it
	 * would find our wrapper */
	__asm__ volatile("" : "+r"(fn));
	return fn;
}

void *lookup_none(void *handle, const char *name)
{
	int saved = errno;

	/* A name of librtl's that is not there yet has the address 0 (lib/librtl/visible.c), which
	 * the C library takes for no error; asked again it sets the one that it had. */
	if (dlerror())
		lookup_libc()(handle, name);
	else
		lookup_absent(RTLD_NEXT, name);
	errno = saved;
	return NULL;
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

static void *translate_hip(void *fn, const char *name, uint32_t op)
{
	void *known = NULL, *ours;

	if (!is_wanted() || !is_runtimes(fn, name))
		return fn;
	ours = wrapper(name);
	if (!ours)
		return fn;
	/* A wrapper has one function behind it: functions of a second copy of the runtime are not
	 * wrapped. release: pairs with the acquire in hip_real() */
	if (atomic_compare_exchange_strong_explicit(&hip_real_fns[op], &known, fn,
						    memory_order_release, memory_order_relaxed)) {
		hip_pin(fn);
		return ours;
	}
	if (known == fn)
		return ours;
	return fn;
}

void *lookup_translate(void *fn, const char *name, enum early_kind kind, uint32_t op)
{
	int saved = errno;

	/* we are in the handle's scope, for example in that of dlopen(NULL) */
	if (hip_is_ours(fn))
		fn = has_real(kind, op) ? fn : lookup_absent(RTLD_NEXT, name);
	else if (kind == EARLY_HIP)
		fn = translate_hip(fn, name, op);
	else if (kind == EARLY_FRONT && is_wanted())
		fn = lookup_front->wrap(fn, op);
	errno = saved;
	return fn;
}

/* The symbol at `fn` if it has that name or is another form of the function: of a release (R0600),
 * for the thread's own default stream (_spt). NULL: it is another function. */
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
		*fn = lookup_translate(*fn, symbol, EARLY_HIP, early_op(symbol));
	errno = saved;
}
