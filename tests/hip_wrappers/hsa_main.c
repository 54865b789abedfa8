/* SPDX-License-Identifier: MIT */
/* hsa_main.c - HSA's wrappers between the cases and tables of stand-ins */
#include "hsa_wrap_gen.h"

#include <stdio.h>
#include <stdlib.h>

#include "hsa_cases.h"
#include "run.h"
#include "source/hip/release.h"

const enum api_domain run_domain = API_HSA;
const struct api_op *const run_ops = hsa_ops;
void (*const hip_boot)(void) = NULL;
/* HSA's wrappers have no kernel names: source/hip finds nothing to look up. */
const struct api_op hip_ops[] = { { "", "", API_NO_STEP } };
const char *const hip_symbols[] = { NULL };
_Atomic uint8_t hip_named[1];
_Atomic(void *) hip_real_fns[1];
_Atomic(void *) hip_entries[1];
void *const hip_ordinary[1];
const uint32_t hip_nr_ops;
const struct hip_release hip_releases[] = { { "", NULL, 0, 0 } };
const uint32_t hip_nr_releases = 1;

#define TABLE(name, nr)                                                                            \
	static struct {                                                                            \
		struct hsa_mirror_version version;                                                 \
		void *entry[nr];                                                                   \
	} name = { { 1, HSA_TABLE_BYTES(nr), 0, 0 }, { NULL } }

TABLE(core, HSA_CORE_NR);
TABLE(amd, HSA_AMD_NR);
TABLE(image, HSA_IMAGE_NR);
TABLE(finalizer, HSA_FINALIZER_NR);
TABLE(tools, HSA_TOOLS_NR);

static const struct hsa_mirror_root root = {
	{ 1, sizeof(root), 0, 0 }, &core, &amd, &finalizer, &image, &tools, NULL
};

void **slot_of(uint32_t op)
{
	uint32_t id = hsa_case_slots[op].id;

	switch (hsa_case_slots[op].table) {
	case HSA_CASE_CORE:
		return hsa_table_core_slot(&core, (enum hsa_core_id)id);
	case HSA_CASE_AMD:
		return hsa_table_amd_slot(&amd, (enum hsa_amd_id)id);
	case HSA_CASE_IMAGE:
		return hsa_table_image_slot(&image, (enum hsa_image_id)id);
	case HSA_CASE_FINALIZER:
		return hsa_table_finalizer_slot(&finalizer, (enum hsa_finalizer_id)id);
	}
	return NULL;
}

static void require(bool holds, uint32_t op, const char *what)
{
	if (holds)
		return;
	printf("FAILED %s: %s\n", hsa_ops[op].name, what);
	exit(1);
}

void run_prepare(void)
{
	/* an empty entry stays empty */
	uint32_t empty = HSA_OP_hsa_init;

	for (uint32_t op = 0; op < HSA_OP_NR; op++) {
		require(slot_of(op) != NULL, op, "has no entry");
		*slot_of(op) = op == empty ? NULL : hsa_case_slots[op].stand_in;
	}
	for (uint32_t i = 0; i < HSA_TOOLS_NR; i++)
		tools.entry[i] = &tools;
	hsa_wrap_install(&root);
	require(*slot_of(empty) == NULL, empty, "an empty entry was filled");
	*slot_of(empty) = hsa_case_slots[empty].stand_in;
	/* a second time: a wrapper must not call itself */
	hsa_wrap_install(&root);
	for (uint32_t op = 0; op < HSA_OP_NR; op++)
		require(*slot_of(op) != hsa_case_slots[op].stand_in, op, "is not wrapped");
	for (uint32_t i = 0; i < HSA_TOOLS_NR; i++)
		require(tools.entry[i] == &tools, 0, "the tools table was written");
}

void run_forget_names(void)
{
}
