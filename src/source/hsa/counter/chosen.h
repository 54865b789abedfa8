/* SPDX-License-Identifier: MIT */
/* chosen.h - the hardware events that the user wants counted: RTL_PMC
 *
 *	SQ_WAVES,SQ_INSTS_VALU=gfx900:6.0.4,6.0.26;gfx90a:6.0.4/6.0.26
 *
 * Behind the names that the user gave there is for each kind of GPU a list of passes, separated by
 * '/'. An event is BLOCK.INSTANCE.EVENT, numbers as in AQLprofile. rtl makes the text from the
 * names of counters and metrics (src/counter/); librtl uses the numbers alone.
 *
 * RTL_PMC_DISPATCHES and RTL_PMC_ITERATIONS choose dispatches. The number of a dispatch is that of
 * its submission in the process.
 */
#ifndef RTL_SOURCE_HSA_CHOSEN_H
#define RTL_SOURCE_HSA_CHOSEN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/counter/profile.h"

#define CHOSEN_MAX_PASSES 32u

/* Events are wanted on some GPU. */
bool chosen_any(void);

/* The number of passes for the GPU `isa`, "gfx90a"; 0: it is not in the text. */
uint32_t chosen_passes(const char *isa);

/* Stores the first PROFILE_MAX_EVENTS events of a pass. Their number; 0: the text is wrong. */
uint32_t chosen_events(const char *isa, uint32_t pass, struct profile_event *events);

/* Whether the user wants counters of some dispatches only. */
bool chosen_is_limited(void);

/* Numbers a dispatch of the kernel at `object`, which is submitted now: once for each one. Whether
 * it is to be counted. Any thread. */
bool chosen_dispatch(uint64_t object, uint32_t agent);

/* No further dispatch is to be counted. */
bool chosen_is_over(void);

#endif
