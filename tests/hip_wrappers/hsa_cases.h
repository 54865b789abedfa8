/* SPDX-License-Identifier: MIT */
/* hsa_cases.h - HSA's tables with stand-ins in them, as the generated cases and hsa_main.c share
 * it */
#ifndef RTL_HIP_WRAPPERS_HSA_CASES_H
#define RTL_HIP_WRAPPERS_HSA_CASES_H

#include <stdint.h>

enum hsa_case_table { HSA_CASE_CORE, HSA_CASE_AMD, HSA_CASE_IMAGE, HSA_CASE_FINALIZER };

/* A function's entry in its table, and its stand-in. */
struct hsa_case_slot {
	enum hsa_case_table table;
	uint32_t id; /* in its table's enumeration */
	void *stand_in;
};

/* By op. */
extern const struct hsa_case_slot hsa_case_slots[];

/* The entry that holds the op's function. */
void **slot_of(uint32_t op);

#endif
