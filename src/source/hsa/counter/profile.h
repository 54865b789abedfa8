/* SPDX-License-Identifier: MIT */
/* profile.h - what a GPU counts in one pass: its events, and the packets that start, read and stop the counters
 *
 * The packets are made by AMD's AQLprofile library, which the runtime loads (extension 0x202). A profile is written once and its
 * packets are submitted as often as needed.
 *
 * Threads: one at a time.
 */
#ifndef RTL_SOURCE_HSA_PROFILE_H
#define RTL_SOURCE_HSA_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "source/hsa/counter/chosen.h"
#include "source/hsa/queue/packet.h"

struct profile;

/* Finds AQLprofile. False: the runtime has none; it is logged once. */
bool profile_available(void);
/* The runtime goes away. Profiles are freed before. */
void profile_forget(void);

/* A packet that makes the kernels of the queue that executes it count; it reads `command`, which is freed with
 * profile_free_memory() when it has completed. False: it can't be made. */
bool profile_enable(hsa_agent_t agent, union packet *packet, void **command);
void profile_free_memory(void *memory);

/* NULL: AQLprofile refuses an event, or no memory; it is logged. */
struct profile *profile_make(hsa_agent_t agent, const char *isa, uint32_t pass);
void profile_free(struct profile *p);

enum profile_part { PROFILE_START, PROFILE_READ, PROFILE_STOP };
/* The packet, without a completion signal. */
const union packet *profile_packet(const struct profile *p, enum profile_part part);

/* Reads the values that the GPU wrote: profile_nr_values() of them, for each event its samples. False: AQLprofile refuses. */
bool profile_read(struct profile *p, uint64_t *values);
uint32_t profile_nr_values(const struct profile *p);

/* Id of the string that names the events and the number of their samples, as REC_COUNTERS has it; 0: no memory. */
uint32_t profile_description(struct profile *p);

#endif
