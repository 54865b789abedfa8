/* SPDX-License-Identifier: MIT */
/* table.c - the registry of the runtime's API tables
 *
 * Owns:     the layers, and a list of every entry that they changed.
 * Threads:  under ROCr's init lock.
 * Fails:    more changes than the list holds: the others are not undone, which matters only if a
 *           runtime restarts without resetting its tables; no known runtime does.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/table/table.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"

#define MAX_CHANGES 2048u
#define MAX_TABLE_BYTES 4096u

/* An entry of a table, with the values before and after a layer's change. */
struct change {
	void **slot;
	void *before, *after;
};

static const struct table_layer *layers[TABLE_MAX_LAYERS];
static uint32_t nr_layers;
static uint32_t nr_installed; /* installed layers */
static const struct hsa_mirror_root *taken;
static struct change changes[MAX_CHANGES];
static uint32_t nr_changes;

void table_init(const struct table_layer *const *first)
{
	nr_layers = 0;
	while (first[nr_layers] && nr_layers < TABLE_MAX_LAYERS) {
		layers[nr_layers] = first[nr_layers];
		nr_layers++;
	}
}

/* The tables that layers may patch. */
#define MAX_TABLES 5u
static uint32_t list_tables(const struct hsa_mirror_root *root, void *out[MAX_TABLES])
{
	uint32_t n = 0;

	out[n++] = root->core;
	out[n++] = root->amd_ext;
	if (HSA_ROOT_HAS(root, image_ext) && root->image_ext)
		out[n++] = root->image_ext;
	if (HSA_ROOT_HAS(root, finalizer_ext) && root->finalizer_ext)
		out[n++] = root->finalizer_ext;
	if (HSA_ROOT_HAS(root, tools) && root->tools)
		out[n++] = root->tools;
	return n;
}

static size_t bytes_of(const struct hsa_mirror_root *root, const void *table)
{
	uint32_t bytes = ((const struct hsa_mirror_version *)table)->minor_id;

	/* ROCr leaves the version of this one all zero */
	if (HSA_ROOT_HAS(root, finalizer_ext) && table == root->finalizer_ext)
		bytes = HSA_TABLE_BYTES(HSA_FINALIZER_NR);
	return bytes < MAX_TABLE_BYTES ? bytes : MAX_TABLE_BYTES;
}

static void note_changes(void *table, const void *before, size_t bytes)
{
	for (size_t at = sizeof(struct hsa_mirror_version); at + sizeof(void *) <= bytes;
	     at += sizeof(void *)) {
		void **slot = (void **)(void *)((char *)table + at);
		void *was = *(void *const *)(const void *)((const char *)before + at);

		if (*slot != was && nr_changes < MAX_CHANGES)
			changes[nr_changes++] = (struct change){ slot, was, *slot };
	}
}

/* The last changes are undone, all but the first `keep`. */
static void undo_changes(uint32_t keep)
{
	while (nr_changes > keep) {
		const struct change *c = &changes[--nr_changes];

		/* keeps an entry that a tool loaded after librtl has replaced since */
		if (*c->slot == c->after)
			*c->slot = c->before;
	}
}

static bool install(const struct table_layer *layer, const struct hsa_mirror_root *root)
{
	_Alignas(void *) char before[MAX_TABLES][MAX_TABLE_BYTES];
	void *tables[MAX_TABLES];
	uint32_t n = list_tables(root, tables), nr_others = nr_changes;
	bool ok;

	for (uint32_t i = 0; i < n; i++)
		memcpy(before[i], tables[i], bytes_of(root, tables[i]));
	ok = layer->install(root);
	for (uint32_t i = 0; i < n; i++)
		note_changes(tables[i], before[i], bytes_of(root, tables[i]));
	if (!ok)
		undo_changes(nr_others);
	return ok;
}

/* Installs the layers that are not installed yet. false: one refuses. */
static bool install_layers(const struct hsa_mirror_root *root)
{
	while (nr_installed < nr_layers) {
		if (!install(layers[nr_installed], root))
			return false;
		nr_installed++;
	}
	return true;
}

bool table_add_layer(const struct table_layer *layer)
{
	for (uint32_t i = 0; i < nr_layers; i++)
		if (layers[i] == layer)
			return true;
	if (nr_layers == TABLE_MAX_LAYERS)
		return false;
	layers[nr_layers++] = layer;
	if (taken)
		install_layers(taken);
	return true;
}

/* Whether the runtime reset its tables without notice: they hold their original values again. */
static bool was_reset(void)
{
	return nr_changes && *changes[0].slot == changes[0].before;
}

static void end_layers(void)
{
	while (nr_installed)
		if (layers[--nr_installed]->remove)
			layers[nr_installed]->remove();
	taken = NULL;
}

static void undo(void)
{
	end_layers();
	undo_changes(0);
}

bool table_take(void *root_table)
{
	const struct hsa_mirror_root *root = root_table;

	if (taken && (root != taken || was_reset())) {
		end_layers();
		nr_changes = 0;
	}
	if (taken) /* already taken the other way */
		return true;
	if (!HSA_ROOT_HAS(root, amd_ext) || !root->core || !root->amd_ext) {
		log_warn("runtime: its API table has no AMD extensions; nothing is traced");
		return false;
	}
	if (!install_layers(root)) {
		undo();
		return false;
	}
	taken = root;
	return true;
}

void table_drop(void)
{
	if (taken)
		undo();
}
