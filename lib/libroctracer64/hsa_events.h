/* SPDX-License-Identifier: MIT */
/* hsa_events.h - what happens in HSA: memory, copies, packets, code
 *
 * Events come of HSA's functions: this is a subscriber of its own of the calls that have them.
 */
#ifndef RTL_LIB_LIBROCTRACER64_HSA_EVENTS_H
#define RTL_LIB_LIBROCTRACER64_HSA_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_core;

/* The event is wanted, or no longer. Under registry.c's lock. */
void hsa_events_want(uint32_t event, bool on);

/* Takes its number among the subscribers of the core's calls. -ENOSPC: there is none left. */
int hsa_events_start(const struct rtl_core *core);
/* The core's wrappers are in HSA's tables. Under ROCr's init lock. */
void hsa_events_on_runtime(void);

/* ---- hsa_kernels.c ---- */
/* The kernel that lies at `object`; its name, which stays, or NULL. */
const char *hsa_kernels_add(uint64_t object, const char *symbol);
void hsa_kernels_remove(uint64_t object);
/* HOT: NULL: not known. */
const char *hsa_kernels_name(uint64_t object);

#endif
