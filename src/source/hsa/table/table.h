/* SPDX-License-Identifier: MIT */
/* table.h - the registry of the runtime's API tables: takes them, patches them in layers, gives them back
 *
 * The runtime hands its tables over by OnLoad(), by rocprofiler-register, or by both, and once more after each
 * hsa_init() that follows an hsa_shut_down(). Whichever way they come, they are patched once. Every layer stands in front of
 * those before it. What the layers changed is known, so that it can be undone.
 *
 * Threads: table_take() and table_drop() inside of hsa_init() and hsa_shut_down(), under ROCr's own lock.
 */
#ifndef RTL_SOURCE_HSA_TABLE_H
#define RTL_SOURCE_HSA_TABLE_H

#include <stdbool.h>

#include "hsa_table_gen.h"

struct table_layer {
	const char *name;
	/* Puts its functions into the tables, in front of what it finds there. false: this runtime is not to be
	 * traced; nothing is patched then, by this layer and by those in front of it. */
	bool (*install)(const struct hsa_mirror_root *root);
	/* The runtime goes away, or has gone: its functions are not called any more after this. NULL: nothing to do. */
	void (*remove)(void);
};

#define TABLE_MAX_LAYERS 8u

/* The layers that librtl has, the first next to the runtime; ends in NULL, lives for ever. Before threads. */
void table_init(const struct table_layer *const *layers);

/* One more, in front of all others: a face's. Lives for ever. Tables that are taken already are patched now, if they
 * may still be, in the program's hsa_init(); else at the next one. One that is there already stays where it is. false: there
 * are TABLE_MAX_LAYERS. */
bool table_add_layer(const struct table_layer *layer);

/* Takes the tables over. `root` is what OnLoad() was given. false: this runtime can't be traced
 * (said why in the log); the tables are untouched then. */
bool table_take(void *root);

/* The runtime goes away: the layers end, and the tables hold again what they held. */
void table_drop(void);

#endif
