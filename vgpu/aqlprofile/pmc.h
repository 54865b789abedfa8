/* SPDX-License-Identifier: MIT */
/* pmc.h - packets that start, read and stop the counters of a profile
 *
 * The output buffer has the samples, 64 bits each: the events in the order of the profile, a sample
 * for each shader engine where the block has one, otherwise one.
 *
 * Threads:  any; a profile is in the hands of one at a time.
 */
#ifndef VGPU_AQLPROFILE_PMC_H
#define VGPU_AQLPROFILE_PMC_H

#include "commands.h"

/* NULL: every event of the profile can be counted at the same time; otherwise what is wrong with
 * the event *at. */
const char *pmc_check(const profile_t *p, uint32_t *at);
/* Bytes of an output buffer. Of profiles that pmc_check() accepts, as all below. */
uint32_t pmc_output_size(const profile_t *p);
/* The second reads in the packet that stops. Its buffer is big enough for the first. */
extern const struct commands pmc_commands, pmc_commands_read_at_stop;

#endif
