/* SPDX-License-Identifier: MIT */
/* playregister.c - an HSA tool that acts as rocprofiler-register in a runtime without it, and as
 * AMD's SDK
 *
 * OnLoad() passes the table to the library that ROCPROFILER_REGISTER_LIBRARY names; without that to
 * the first rocprofiler_set_api_table() of the process. Its own definition stands for the SDK's: it
 * writes the tables that it receives to PLAY_LOG. PLAY_TWICE=1: the table is registered once more,
 * with that of another library.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef int (*set_fn)(const char *name, uint64_t version, uint64_t instance, void **tables,
		      uint64_t nr_tables);

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t nr_failed, const char *const *failed);
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables);

static void say(const char *what, const char *name)
{
	const char *path = getenv("PLAY_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %s\n", what, name);
	fclose(f);
}

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables)
{
	(void)version;
	(void)instance;
	if (tables && nr_tables && tables[0])
		say("sdk", name);
	return 7;
}

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t nr_failed, const char *const *failed)
{
	const char *path = getenv("ROCPROFILER_REGISTER_LIBRARY");
	void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : RTLD_DEFAULT;
	void *tables[1] = { table }, *other[1] = { &nr_failed };
	set_fn set = NULL;

	(void)version;
	(void)failed;
	if (lib || !path)
		set = (set_fn)dlsym(lib, "rocprofiler_set_api_table");
	if (!set) {
		say("register", "finds none");
		return true;
	}
	if (getenv("PLAY_TWICE"))
		say(set("hip", 60400000, 0, other, 1) ? "refused" : "taken", "hip");
	say(set("hsa", 11800, 0, tables, 1) ? "refused" : "taken", "hsa");
	if (getenv("PLAY_TWICE"))
		say(set("hsa", 11800, 1, tables, 1) ? "refused" : "taken", "hsa");
	return true;
}
