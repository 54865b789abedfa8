/* SPDX-License-Identifier: MIT */
/* hsa_events.h - events of HSA: memory, copies, packets, code
 *
 * Events are made of API calls, to which hsa_events.c subscribes on its own. A library has one user
 * of it.
 */
#ifndef RTL_LIB_FACE_HSA_EVENTS_H
#define RTL_LIB_FACE_HSA_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_core;

struct hsa_events_user {
	const struct rtl_core *core;
	/* An event of enum hsa_evt_id_t, and its hsa_evt_data_t. On the thread that makes the call;
	 * its calls of HSA from here make no events. */
	void (*report)(uint32_t event, const void *data);
	/* agents by their index among those of the type, not by the KFD's node */
	bool numbers_by_index;
	bool reports_code_memory; /* a code object is memory that is allocated, too */
	bool ends_runtime;	  /* the tables are given back at the last hsa_shut_down() */
};

/* Enables or disables the event. Calls are to be excluded that do it for the same event. */
void hsa_events_want(uint32_t event, bool on);

/* Subscribes to the core's calls. -ENOSPC: there are too many subscribers. */
int hsa_events_start(const struct hsa_events_user *user);
/* HSA's tables have the core's wrappers. Under ROCr's init lock. */
void hsa_events_on_runtime(void);

/* ---- hsa_kernels.c ---- */
/* A kernel was loaded at `object`. Its name, which is never freed, or NULL. */
const char *hsa_kernels_add(uint64_t object, const char *symbol);
void hsa_kernels_remove(uint64_t object);
/* HOT: NULL: unknown. */
const char *hsa_kernels_name(uint64_t object);

#endif
