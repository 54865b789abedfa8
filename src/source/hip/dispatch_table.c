/* SPDX-License-Identifier: MIT */
/* dispatch_table.c - puts wrappers into HIP's dispatch tables
 *
 * A table is its size in bytes, followed by the functions.
 *
 * Threads:  the one that makes the first HIP call; others may wait for the runtime to be
 *           initialised.
 * Fails:    a table that is shorter than the newest one that is known has fewer entries; one that
 *           is longer has some that stay without wrappers.
 */
#define LOG_TOPIC "hip"
#include "source/hip/dispatch_table.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "source/hip/frame.h"

struct table {
	size_t size;
	_Atomic(void *) entries[];
};

/* hipApiName() is the first function of the runtime's table, in all versions. */
#define API_NAME 0

static bool take_over(_Atomic(void *) *entry, const struct dispatch_entry *of)
{
	/* relaxed: the runtime has made its table on this thread */
	void *real = atomic_load_explicit(entry, memory_order_relaxed);

	if (!of->wrapper || !real || real == of->wrapper)
		return false;
	/* seq_cst: pairs with hip_take_way(). A call by the runtime's symbol would come back
	 * here */
	atomic_store(&hip_real_fns[of->op], real);
	atomic_store(&hip_entries[of->op], hip_ordinary[of->op]);
	atomic_store_explicit(entry, of->wrapper, memory_order_release);
	return true;
}

void dispatch_table_take(const char *name, void *table)
{
	bool is_runtime = strcmp(name, "hip") == 0;
	const struct dispatch_entry *entries = is_runtime ? dispatch_runtime : dispatch_compiler;
	uint32_t known = is_runtime ? dispatch_nr_runtime : dispatch_nr_compiler;
	uint32_t nr_taken = 0;
	struct table *t = table;
	size_t nr;

	if ((!is_runtime && strcmp(name, "hip_compiler") != 0) || t->size <= sizeof(*t))
		return;
	if (!hip_wants_tables())
		return;
	atomic_store_explicit(&hip_tables_taken, true, memory_order_relaxed);
	nr = (t->size - sizeof(*t)) / sizeof(t->entries[0]);
	if (is_runtime)
		hip_pin_table(t, atomic_load_explicit(&t->entries[API_NAME], memory_order_relaxed));
	for (size_t i = 0; i < nr && i < known; i++)
		nr_taken += take_over(&t->entries[i], &entries[i]);
	log_info("%u of %zu entries of HIP's table %s", nr_taken, nr, name);
}
