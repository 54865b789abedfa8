/* SPDX-License-Identifier: MIT */
/* filter.c - what the user leaves out by name or by GPU
 *
 * Owns:     the compiled expressions; set in init, constant afterwards.
 * Threads:  any; regexec() takes a lock of the C library's own, per expression.
 * Memory:   the C library's regular expressions and the demangler use the program's malloc(), when librtl and code objects
 *           are loaded, and only with these options.
 * Fails:    an expression without memory leaves nothing out, with a warning.
 */
#define LOG_TOPIC "filter"
#include "event/filter.h"

#include <dlfcn.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/capture.h"
#include "base/env.h"
#include "base/log.h"
#include "event/special.h"

/* The demangler needs stack in proportion to the name. */
#define DEMANGLE_MAX 4096u
#define NAME_MAX_SIZE 65536u

struct expression {
	regex_t regex;
	bool is_set;
};

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *size, int *status);

static struct expression kernels, not_kernels, calls;
bool filter_has_kernels, filter_has_gpus, filter_has_calls;
static _Atomic demangle_fn demangle;

static bool compile(struct expression *e, enum env_id id)
{
	char error[CAPTURE_ERROR_SIZE];

	e->is_set = env_is_set(id) && capture_regex(env_str(id), &e->regex, error) == 0;
	if (env_is_set(id) && !e->is_set)
		log_warn("%s; nothing is left out by it", error);
	return e->is_set;
}

static bool matches(const struct expression *e, const char *text)
{
	return text && regexec(&e->regex, text, 0, NULL, 0) == 0;
}

void filter_init(void)
{
	filter_has_kernels = compile(&kernels, ENV_KERNELS);
	filter_has_kernels |= compile(&not_kernels, ENV_NOT_KERNELS);
	filter_has_calls = compile(&calls, ENV_CALLS);
	filter_has_gpus = env_is_set(ENV_GPUS);
	special_set(SPECIAL_FILTERED, filter_has_kernels || filter_has_gpus);
}

void filter_find_demangler(void)
{
	void *lib, *fn = NULL;

	if (!filter_has_kernels || atomic_load_explicit(&demangle, memory_order_relaxed))
		return;
	/* RTLD_NOLOAD: librtl loads no library */
	lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (lib) {
		fn = dlsym(lib, "__cxa_demangle");
		dlclose(lib);
	}
	if (!fn)
		fn = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (!fn) {
		/* the program must not find our failure */
		dlerror();
		log_warn(
			"no C++ demangler is loaded: kernels are selected by their mangled names alone");
	}
	/* relaxed: a constant; the runtime that has it stays loaded */
	atomic_store_explicit(&demangle, (demangle_fn)fn, memory_order_relaxed);
}

/* NULL: it has no other name. The caller calls free(). */
static char *readable(const char *name)
{
	demangle_fn fn = atomic_load_explicit(&demangle, memory_order_relaxed);
	int status = 0;

	if (!fn || strncmp(name, "_Z", 2) != 0 || strlen(name) > DEMANGLE_MAX)
		return NULL;
	return fn(name, NULL, NULL, &status);
}

bool filter_leaves_out_kernel(const char *name)
{
	size_t size = name ? strnlen(name, NAME_MAX_SIZE) : 0;
	char *mangled, *nice;
	bool out;

	if (!filter_has_kernels)
		return false;
	mangled = name ? alloc_pages(size + 1) : NULL;
	if (mangled) {
		memcpy(mangled, name, size);
		mangled[size] = '\0';
		if (size > 3 && strcmp(mangled + size - 3, ".kd") == 0)
			mangled[size - 3] = '\0';
	}
	nice = mangled ? readable(mangled) : NULL;
	out = (kernels.is_set && !matches(&kernels, mangled) && !matches(&kernels, nice)) ||
	      (not_kernels.is_set &&
	       (matches(&not_kernels, mangled) || matches(&not_kernels, nice)));
	free(nice);
	if (mangled)
		alloc_pages_free(mangled, size + 1);
	return out;
}

bool filter_leaves_out_call(const char *function)
{
	return filter_has_calls && !matches(&calls, function);
}

bool filter_leaves_out_gpu(uint32_t gpu_index)
{
	return filter_has_gpus && !capture_list_has(env_str(ENV_GPUS), gpu_index);
}
