/* SPDX-License-Identifier: MIT */
/* hsa_init.c - hsa_init() in front of the runtime's, for programs that have librtl by LD_PRELOAD alone, are linked with it, or
 * have it for a face
 *
 * ROCr before 5.3 gives its tables only to the libraries that HSA_TOOLS_LIB names; without them a trace would have the HIP calls
 * and none of their operations. The runtime reads the variable within hsa_init(): so the environment names librtl
 * for that time, and is the program's own again when the call returns. Threads that read it meanwhile see one
 * of two whole arrays, which are never freed; a process that another thread starts in that time gets the variable, as it gets LD_PRELOAD.
 *
 * Threads:  any; the first of several at once changes the environment.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/str.h"
#include "core.h"
#include "event/life.h"
#include "source/hip/frame.h"
#include "source/hip/lookup.h"

#define NAME "HSA_TOOLS_LIB="
#define VALUE_SIZE 4096

typedef hsa_status_t (*init_fn)(void);

EXPORT hsa_status_t hsa_init(void);

/* one thread at a time: that of `busy` */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static char value[sizeof(NAME) + VALUE_SIZE];
static char **array;
static size_t array_size;
/* faces that may want the tables */
static _Atomic hsa_init_wants_fn faces[CORE_NR_INITS];

static int find_runtime(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libhsa-runtime64.so", strlen("libhsa-runtime64.so")) != 0)
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

static init_fn find_next(void)
{
	const char *path = NULL;
	void *lib, *fn;

	if (!lookup_next)
		early_find();
	if (!lookup_next)
		return NULL;
	fn = lookup_libc()(RTLD_NEXT, "hsa_init");
	if (!fn) {
		/* the dependency of a library that was loaded with local scope */
		dl_iterate_phdr(find_runtime, (void *)&path);
		lib = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		fn = lib ? lookup_libc()(lib, "hsa_init") : NULL;
		if (lib)
			dlclose(lib);
		/* what was not found is no message for the program */
		dlerror();
	}
	return (init_fn)fn;
}

static bool names_librtl(const char *variable)
{
	const char *text = getenv(variable);

	return text && strstr(text, "librtl.so");
}

void hsa_init_as_tool(hsa_init_wants_fn wants)
{
	for (int i = 0; i < CORE_NR_INITS; i++) {
		hsa_init_wants_fn there = NULL;

		if (atomic_compare_exchange_strong(&faces[i], &there, wants))
			return;
	}
}

static bool is_for_face(void)
{
	bool any = false;

	for (int i = 0; i < CORE_NR_INITS; i++) {
		hsa_init_wants_fn wants = atomic_load(&faces[i]);

		any = (wants && wants()) || any;
	}
	return any;
}

static bool is_half_set_up(void)
{
	/* also where the runtime gets librtl another way: tools are to be there before it */
	bool is_wanted = is_for_face();

	hip_boot();
	return !getauxval(AT_SECURE) && !env_bool(ENV_DISABLE) &&
	       (names_librtl("LD_PRELOAD") || life_sinks_come_later() || is_wanted) &&
	       !names_librtl("HSA_TOOLS_LIB") && !names_librtl("ROCPROFILER_REGISTER_LIBRARY");
}

/* Makes an environment with librtl in front of the tools of HSA_TOOLS_LIB. false: no memory, or too long. */
static bool make_environment(char **from)
{
	const char *old = getenv("HSA_TOOLS_LIB");
	size_t nr = 0, bytes, at = 0;
	struct str s;

	while (from[nr])
		nr++;
	bytes = (nr + 2) * sizeof(*from);
	if (bytes > array_size) {
		/* never freed: a thread may still read the previous one */
		array = alloc_pages(bytes);
		array_size = array ? bytes : 0;
	}
	str_init(&s, value, sizeof(value));
	/* by its soname, which is loaded: the path may contain blanks, which the runtime takes for separators */
	str_add(&s, NAME "librtl.so.1");
	if (old && *old) {
		str_add(&s, " ");
		str_add(&s, old);
	}
	if (!array || s.cut)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (strncmp(from[i], NAME, strlen(NAME)) != 0)
			array[at++] = from[i];
	array[at++] = value;
	array[at] = NULL;
	return true;
}

/* Another thread has made an environment of its own meanwhile, with what was in ours: the program's entry replaces ours. */
static void take_out(char **before)
{
	char **at = environ;
	char *old = NULL;

	for (char **var = before; *var; var++)
		if (strncmp(*var, NAME, strlen(NAME)) == 0)
			old = *var;
	while (at && *at && *at != value)
		at++;
	if (at && *at && old)
		*at = old;
	else
		for (; at && *at; at++)
			*at = at[1];
}

static hsa_status_t init_with_tool(init_fn next)
{
	char **before = environ;
	hsa_status_t status;

	if (!before || !make_environment(before))
		return next();
	environ = array;
	status = next();
	if (environ == array)
		environ = before;
	else
		take_out(before);
	return status;
}

hsa_status_t hsa_init_front(void)
{
	init_fn next = find_next();
	hsa_status_t status;

	if (!next)
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	/* acquire, release: `array` and `value` */
	if (!is_half_set_up() || atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		return next();
	status = init_with_tool(next);
	atomic_flag_clear_explicit(&busy, memory_order_release);
	return status;
}

EXPORT hsa_status_t hsa_init(void)
{
	return hsa_init_front();
}
