/* SPDX-License-Identifier: MIT */
/* caller.c - whether a copy was submitted by the program itself, or by the runtime on its behalf
 *
 * In a trace of HIP's calls an operation outside of them is the sign of a call that was missed, if
 * HIP submitted it. A program may copy with HSA's functions beside HIP's.
 */
#include "source/hsa/memory/caller.h"

#include <stdbool.h>
#include <string.h>

#include "base/loaded.h"
#include "event/corr.h"

struct search {
	const void *address;
	bool is_program;
};

/* HIP, what is below it, and what may stand between: where one of them calls, the call may be
 * HIP's. */
static bool is_runtime(const char *path)
{
	static const char *const names[] = { "libamdhip64.so", "libhsa-runtime64.so",
					     "librocprofiler", "libroctracer", "librtl.so" };
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (!loaded_has(info, s->address))
		return 0;
	s->is_program = !is_runtime(info->dlpi_name);
	return 1;
}

uint64_t caller_correlation(struct thread *t, const void *caller)
{
	struct search s = { .address = caller };
	uint64_t id = corr_take(t);

	if (RTL_LIKELY(!(id & EVENT_MISSED)))
		return id;
	dl_iterate_phdr(look_at, &s);
	return s.is_program ? id & ~EVENT_MISSED : id;
}
