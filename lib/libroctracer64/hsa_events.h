/* SPDX-License-Identifier: MIT */
/* hsa_events.h - events of HSA: memory, copies, packets, code
 *
 * Events are made of API calls, to which hsa_events.c subscribes on its own.
 */
#ifndef RTL_LIB_LIBROCTRACER64_HSA_EVENTS_H
#define RTL_LIB_LIBROCTRACER64_HSA_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_core;

/* Enables or disables the event. Under registry.c's lock. */
void hsa_events_want(uint32_t event, bool on);

/* Subscribes to the core's calls. -ENOSPC: there are too many subscribers. */
int hsa_events_start(const struct rtl_core *core);
/* HSA's tables have the core's wrappers. Under ROCr's init lock. */
void hsa_events_on_runtime(void);

/* ---- hsa_kernels.c ---- */
/* A kernel was loaded at `object`. Its name, which is never freed, or NULL. */
const char *hsa_kernels_add(uint64_t object, const char *symbol);
void hsa_kernels_remove(uint64_t object);
/* HOT: NULL: unknown. */
const char *hsa_kernels_name(uint64_t object);

#endif
