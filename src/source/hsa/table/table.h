/* SPDX-License-Identifier: MIT */
/* table.h - the registry of the runtime's API tables: takes them, patches them in layers, restores
 * them
 *
 * The runtime passes its tables to OnLoad(), to rocprofiler-register, or to both, and again after
 * each hsa_init() that follows an hsa_shut_down(). In all cases they are patched once. Every layer
 * stands in front of the earlier ones. The registry stores what the layers changed and can undo it.
 *
 * Threads: table_take() and table_drop() within hsa_init() and hsa_shut_down(), under ROCr's own
 *          lock.
 */
#ifndef RTL_SOURCE_HSA_TABLE_H
#define RTL_SOURCE_HSA_TABLE_H

#include <stdbool.h>

#include "hsa_table_gen.h"

struct table_layer {
	const char *name;
	/* Puts the layer's functions into the tables, in front of the current ones. false: this
	 * runtime can't be traced; then this layer and those in front of it patch nothing. */
	bool (*install)(const struct hsa_mirror_root *root);
	/* The runtime goes away, or has gone: no calls into it after this. NULL: nothing to do. */
	void (*remove)(void);
};

#define TABLE_MAX_LAYERS 12u

/* Sets librtl's layers, the first next to the runtime; NULL-terminated, static. Call before threads
 * start. */
void table_init(const struct table_layer *const *layers);

/* Adds a layer in front of all others: a face's. Must be static. Tables that were taken already are
 * patched now if still allowed, in the program's hsa_init(); else at the next one. A layer that was
 * added before stays where it is. false: there are TABLE_MAX_LAYERS. */
bool table_add_layer(const struct table_layer *layer);

/* Takes and patches the tables. `root`: the argument of OnLoad(). false: this runtime can't be
 * traced (the log says why); the tables are unchanged. */
bool table_take(void *root);

/* The runtime goes away: removes the layers and restores the tables. */
void table_drop(void);

/* For a layer's install(): puts a function into its slot, where the runtime has such a function. */
static inline void table_replace(void **slot, void *fn)
{
	if (slot && *slot)
		*slot = fn;
}
#define TABLE_CORE(root, name, fn)                                                                 \
	table_replace(hsa_table_core_slot((root)->core, HSA_CORE_##name), (void *)(fn))
#define TABLE_AMD(root, name, fn)                                                                  \
	table_replace(hsa_table_amd_slot((root)->amd_ext, HSA_AMD_##name), (void *)(fn))

#endif
