/* SPDX-License-Identifier: MIT */
/* filter.c - what the user leaves out by name or by GPU
 *
 * Owns:     the compiled expressions; set in init, constant afterwards.
 * Threads:  any; regexec() takes a lock of the C library's own, per expression.
 * Memory:   the C library's regular expressions use the program's malloc(), when librtl and code
 *           objects are loaded, and only with these options.
 * Fails:    an expression without memory leaves nothing out, with a warning.
 */
#define LOG_TOPIC "filter"
#include "event/filter.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/capture.h"
#include "base/demangle.h"
#include "base/env.h"
#include "base/log.h"
#include "event/special.h"

#define NAME_MAX_SIZE 65536u

struct expression {
	regex_t regex;
	bool is_set;
};

static struct expression kernels, not_kernels, calls;
bool filter_has_kernels, filter_has_gpus, filter_has_calls;

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

bool filter_leaves_out_kernel(const char *name)
{
	size_t size = name ? strnlen(name, NAME_MAX_SIZE) : 0;
	char *mangled, *nice;
	bool has_nice, out;

	if (!filter_has_kernels)
		return false;
	mangled = name ? alloc_pages(size + 1) : NULL;
	nice = mangled ? alloc_pages(DEMANGLE_OUT) : NULL;
	if (mangled) {
		memcpy(mangled, name, size);
		mangled[size] = '\0';
		if (size > 3 && strcmp(mangled + size - 3, ".kd") == 0)
			mangled[size - 3] = '\0';
	}
	has_nice = nice && demangle_to(mangled, nice, DEMANGLE_OUT) > 0;
	out = (kernels.is_set && !matches(&kernels, mangled) &&
	       !(has_nice && matches(&kernels, nice))) ||
	      (not_kernels.is_set &&
	       (matches(&not_kernels, mangled) || (has_nice && matches(&not_kernels, nice))));
	alloc_pages_free(nice, DEMANGLE_OUT);
	alloc_pages_free(mangled, size + 1);
	return out;
}

bool filter_is_transfer(const char *name)
{
	return name && (strncmp(name, "__amd_rocclr_copy", 17) == 0 ||
			strncmp(name, "__amd_rocclr_fill", 17) == 0);
}

bool filter_leaves_out_call(const char *function)
{
	return filter_has_calls && !matches(&calls, function);
}

bool filter_asks_for_part(const char *function)
{
	return env_bool(ENV_INTERNAL) || (filter_has_calls && matches(&calls, function));
}

bool filter_leaves_out_gpu(uint32_t gpu_index)
{
	return filter_has_gpus && !capture_list_has(env_str(ENV_GPUS), gpu_index);
}
