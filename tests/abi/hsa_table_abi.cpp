/* SPDX-License-Identifier: MIT */
/* hsa_table_abi.cpp - the C mirror of the HSA tables against the vendor's own C++ structs
 *
 * Each index and each function type is compared at compile time, by the vendor's offsetof and
 * decltype; results of the look-up functions are compared at run time.
 */
#define AMD_INTERNAL_BUILD 1
#include <hsa/hsa_api_trace.h>

#include <stddef.h>
#include <stdio.h>
#include <type_traits>

#include "hsa_table_gen.h"

#define MEMBER(table, function) decltype(static_cast<table *>(nullptr)->function##_fn)

#define SAME(table, function, index)                                                               \
	static_assert(offsetof(table, function##_fn) == HSA_TABLE_BYTES(index), #function);        \
	static_assert(std::is_same<MEMBER(table, function), function##_fn_t>::value, #function);

#define SAME_CORE(function, id) SAME(CoreApiTable, function, id)
#define SAME_IMAGE(function, id) SAME(ImageExtTable, function, id)
#define SAME_FINALIZER(function, id) SAME(FinalizerExtTable, function, id)
#define SAME_AMD(function, id, index) SAME(AmdExtTable, function, index)

HSA_CORE_LIST(SAME_CORE)
HSA_IMAGE_LIST(SAME_IMAGE)
HSA_FINALIZER_LIST(SAME_FINALIZER)
HSA_AMD_HEADER_LIST(SAME_AMD)

static_assert(sizeof(CoreApiTable) == HSA_TABLE_BYTES(HSA_CORE_NR), "core size");
static_assert(sizeof(ImageExtTable) == HSA_TABLE_BYTES(HSA_IMAGE_NR), "image size");
static_assert(sizeof(FinalizerExtTable) == HSA_TABLE_BYTES(HSA_FINALIZER_NR), "finalizer size");

static_assert(sizeof(hsa_mirror_version) == sizeof(ApiTableVersion), "version size");
static_assert(offsetof(hsa_mirror_version, major_id) == offsetof(ApiTableVersion, major_id), "");
static_assert(offsetof(hsa_mirror_version, minor_id) == offsetof(ApiTableVersion, minor_id), "");
static_assert(offsetof(hsa_mirror_version, step_id) == offsetof(ApiTableVersion, step_id), "");
static_assert(offsetof(hsa_mirror_root, core) == offsetof(HsaApiTable, core_), "");
static_assert(offsetof(hsa_mirror_root, amd_ext) == offsetof(HsaApiTable, amd_ext_), "");
static_assert(offsetof(hsa_mirror_root, finalizer_ext) == offsetof(HsaApiTable, finalizer_ext_),
	      "");
static_assert(offsetof(hsa_mirror_root, image_ext) == offsetof(HsaApiTable, image_ext_), "");

#define COUNT_ONE(function, id, index) +1
static_assert(sizeof(AmdExtTable) == HSA_TABLE_BYTES(0 HSA_AMD_HEADER_LIST(COUNT_ONE)),
	      "every entry of amd_ext is in the list");

static int failures;

static void same(const char *function, const void *want, const void *got)
{
	if (want == got)
		return;
	fprintf(stderr, "%s: slot at %p, not %p\n", function, got, want);
	failures++;
}

int main()
{
	/* The vendor's own constructor sets the versions, as a tool of theirs would have them. */
	static HsaApiTableContainer tables;
	hsa_mirror_root *root = reinterpret_cast<hsa_mirror_root *>(&tables.root);
	int found = 0;

	same("root core", &tables.core, root->core);
	same("root amd_ext", &tables.amd_ext, root->amd_ext);
	if (!HSA_ROOT_HAS(root, image_ext)) {
		fprintf(stderr, "root: no image_ext in %u bytes\n", root->version.minor_id);
		failures++;
	}

#define LOOKUP_CORE(function, id)                                                                  \
	same(#function, &tables.core.function##_fn, hsa_table_core_slot(root->core, id));
#define LOOKUP_IMAGE(function, id)                                                                 \
	same(#function, &tables.image_ext.function##_fn, hsa_table_image_slot(root->image_ext, id));
#define LOOKUP_FINALIZER(function, id)                                                             \
	same(#function, &tables.finalizer_ext.function##_fn,                                       \
	     hsa_table_finalizer_slot(root->finalizer_ext, id));
#define LOOKUP_AMD(function, id, index)                                                            \
	same(#function, &tables.amd_ext.function##_fn, hsa_table_amd_slot(root->amd_ext, id));

	HSA_CORE_LIST(LOOKUP_CORE)
	HSA_IMAGE_LIST(LOOKUP_IMAGE)
	HSA_FINALIZER_LIST(LOOKUP_FINALIZER)
	HSA_AMD_HEADER_LIST(LOOKUP_AMD)

	/* and nothing beyond what the vendor's struct has */
	for (int id = 0; id < HSA_AMD_NR; id++)
		found += hsa_table_amd_slot(root->amd_ext, static_cast<hsa_amd_id>(id)) != nullptr;
	if (HSA_TABLE_BYTES(found) != sizeof(AmdExtTable)) {
		fprintf(stderr, "amd_ext: %d functions found in %zu bytes\n", found,
			sizeof(AmdExtTable));
		failures++;
	}
	printf("%d functions of core, %d of amd_ext, %d differ\n", HSA_CORE_NR, found, failures);
	return failures != 0;
}
