/* SPDX-License-Identifier: MIT */
/* pmc.h - packets that start, read and stop the counters of a profile
 *
 * A profile's command buffer has a record with the sizes of its three streams, then the streams, each on a boundary of 256 bytes. Its
 * output buffer has the samples, 64 bits each: the events in the order of the profile, a sample for each shader engine
 * where the block has one, otherwise one.
 *
 * Threads:  any; a profile is in the hands of one at a time.
 */
#ifndef VGPU_AQLPROFILE_PMC_H
#define VGPU_AQLPROFILE_PMC_H

#include <stdbool.h>
#include <stdint.h>

#include "types.h"

typedef hsa_ven_amd_aqlprofile_profile_t pmc_profile_t;

/* NULL: every event of the profile can be counted at the same time; otherwise what is wrong with the event *at. */
const char *pmc_check(const pmc_profile_t *p, uint32_t *at);
/* Bytes of a command buffer and of an output buffer. Of profiles that pmc_check() accepts, as all below. */
uint32_t pmc_command_size(const pmc_profile_t *p);
uint32_t pmc_output_size(const pmc_profile_t *p);
/* Fills the command buffer. `reads_at_stop`: the stop stream reads first. */
void pmc_write_commands(const pmc_profile_t *p, bool reads_at_stop);

enum pmc_part { PMC_START, PMC_READ, PMC_STOP };
/* Where a part of the command buffer is, from its record. */
void pmc_part(const pmc_profile_t *p, enum pmc_part part, const void **at, uint32_t *size);

#endif
