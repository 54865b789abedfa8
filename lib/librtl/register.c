/* SPDX-License-Identifier: MIT */
/* register.c - the way in through rocprofiler-register
 *
 * From 6.1 on ROCr and HIP offer their tables to that library, which gives them to AMD's SDK, or to
 * the library that ROCPROFILER_REGISTER_LIBRARY names: that one's rocprofiler_set_api_table().
 * HSA's table may come beside OnLoad(), before or after it; it is taken over once.
 *
 * Loaded by LD_PRELOAD our symbol may be found where the SDK's is looked for. What comes to us is
 * therefore passed on to the next function of that name, so that AMD's library gets its tables,
 * too.
 *
 * Threads:  the one that initialises the runtime: HSA's under its init lock, HIP's within its first
 *           call.
 */
#include "register.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/callout.h"
#include "base/compiler.h"
#include "entry.h"
#include "source/hip/dispatch_table.h"
#include "source/hip/lookup.h"
#include "source/rccl/rccl.h"

typedef int (*set_api_table_fn)(const char *name, uint64_t version, uint64_t instance,
				void **tables, uint64_t nr_tables);

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables);

static int pass_on(const char *name, uint64_t version, uint64_t instance, void **tables,
		   uint64_t nr_tables)
{
	set_api_table_fn next = NULL;

	if (!lookup_next)
		early_find();
	if (lookup_next)
		next = (set_api_table_fn)lookup_libc()(RTLD_NEXT, "rocprofiler_set_api_table");
	if (!next) {
		/* what was not found is no message for the program */
		dlerror();
		return 0;
	}
	return next(name, version, instance, tables, nr_tables);
}

/* 0: taken. Of a second copy of HIP's runtime in the process the tables stay as they are. */
static int take(const char *name, uint64_t version, uint64_t instance, void **tables,
		uint64_t nr_tables)
{
	bool is_given = name && tables && nr_tables && tables[0];
	int status;

	if (is_given && strcmp(name, "hsa") == 0)
		entry_load(tables[0]);
	status = pass_on(name, version, instance, tables, nr_tables);
	/* after the SDK: librtl's symbols call what is in the entries now, the SDK's wrappers */
	if (is_given && instance == 0 && strcmp(name, "rccl") == 0)
		rccl_take_table(tables[0]);
	else if (is_given && instance == 0)
		dispatch_table_take(name, tables[0]);
	return status;
}

struct offer {
	const char *name;
	uint64_t version, instance;
	void **tables;
	uint64_t nr_tables;
	int status;
};

static _Thread_local bool is_taking;

static void take_offer(void *arg)
{
	struct offer *o = arg;

	o->status = take(o->name, o->version, o->instance, o->tables, o->nr_tables);
}

/* By a function that a tool has for tables. */
static void leave_offer(void *unneeded)
{
	(void)unneeded;
	is_taking = false;
}

/* A face has this function, too, and passes on what it gets. Whichever of the two comes first, the
 * tables are taken once. */
int register_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			   uint64_t nr_tables)
{
	struct offer o = { name, version, instance, tables, nr_tables, 0 };

	if (is_taking)
		return 0;
	is_taking = true;
	callout(take_offer, leave_offer, &o);
	is_taking = false;
	return o.status;
}

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables)
{
	return register_set_api_table(name, version, instance, tables, nr_tables);
}
