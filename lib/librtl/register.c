/* SPDX-License-Identifier: MIT */
/* register.c - the way in through rocprofiler-register
 *
 * From 6.1 on ROCr offers its tables to that library, which gives them to AMD's SDK, or to the library
 * that ROCPROFILER_REGISTER_LIBRARY names: that one's rocprofiler_set_api_table(). It may be called
 * beside OnLoad(), before or after it; the table is taken over once.
 *
 * Loaded by LD_PRELOAD our symbol may be found where the SDK's is looked for. What comes to us is therefore
 * passed on to the next function of that name, so that nobody goes without a table because of us.
 *
 * Threads:  under the runtime's init lock.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core.h"
#include "source/hip/lookup.h"

#define EXPORT __attribute__((visibility("default")))

typedef int (*set_api_table_fn)(const char *name, uint64_t version, uint64_t instance,
				void **tables, uint64_t nr_tables);

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables);

/* 0: taken. Tables of other libraries (HIP's, RCCL's) are theirs: their calls are seen by our symbols. */
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables)
{
	set_api_table_fn next = NULL;

	if (name && strcmp(name, "hsa") == 0 && tables && nr_tables && tables[0])
		entry_load(tables[0]);
	if (!lookup_next)
		lookup_find();
	if (lookup_next)
		next = (set_api_table_fn)lookup_libc()(RTLD_NEXT, "rocprofiler_set_api_table");
	if (!next) {
		/* what was not found is no message for the program */
		dlerror();
		return 0;
	}
	return next(name, version, instance, tables, nr_tables);
}
