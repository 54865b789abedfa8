/* SPDX-License-Identifier: MIT */
/* real.c - the runtime's own functions
 *
 * One librtl.so serves every layout of the tables: slots are looked up through the generated index
 * maps, each guarded by the table's own size (codegen/README.md).
 */
#include "source/hsa/table/real.h"

#include <dlfcn.h>

#include <stdatomic.h>
#include <stddef.h>

struct real_functions real;

static _Atomic bool ready;

bool real_find(void)
{
	void *lib = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!lib)
		return false;
#define X(fn, table, name, need) *(void **)&real.fn = dlsym(lib, #fn);
	REAL_FUNCTIONS(X)
#undef X
	/* what an older runtime does not have is no message for the program */
	dlerror();
	dlclose(lib);
	return true;
}

bool real_ready(void)
{
	return atomic_load(&ready); /* seq_cst: see harvest.c's tick() */
}

void real_set_ready(bool is_ready)
{
	atomic_store(&ready, is_ready);
}

static void *get_core(const struct hsa_mirror_root *root, enum hsa_core_id id)
{
	void **slot = hsa_table_core_slot(root->core, id);

	return slot ? *slot : NULL;
}

static void *get_amd(const struct hsa_mirror_root *root, enum hsa_amd_id id)
{
	void **slot = hsa_table_amd_slot(root->amd_ext, id);

	return slot ? *slot : NULL;
}

bool real_read(const struct hsa_mirror_root *root, const char **missing)
{
	*missing = NULL;
#define CORE(name) get_core(root, HSA_CORE_##name)
#define AMD(name) get_amd(root, HSA_AMD_##name)
#define X(fn, table, name, need)                                                                   \
	real.fn = (fn##_fn_t)table(name);                                                          \
	if ((need) && !real.fn)                                                                    \
		*missing = #fn;
	REAL_FUNCTIONS(X)
#undef X
#undef CORE
#undef AMD
	return *missing == NULL;
}
