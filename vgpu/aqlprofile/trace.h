/* SPDX-License-Identifier: MIT */
/* trace.h - packets that start and stop a thread trace, and the samples that it leaves
 *
 * A profile's output buffer is divided evenly, in pages of 4 KiB, among the shader engines of its
 * SE_MASK. The area of its command buffer has for each of them 32 bytes: STATUS, CNTR and WPTR as
 * they were at the stop.
 *
 * Threads:  any; a profile is in the hands of one at a time.
 */
#ifndef VGPU_AQLPROFILE_TRACE_H
#define VGPU_AQLPROFILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands.h"

/* of the output buffer's address, and of a shader engine's share of it */
#define TRACE_ALIGN 4096u

/* HSA_STATUS_SUCCESS, or what is wrong with the parameters, in text[size]. */
hsa_status_t trace_check(const profile_t *p, char *text, size_t size);
/* The smallest output buffer. Of profiles that trace_check() accepts, as all below. */
uint32_t trace_output_size(const profile_t *p);
const struct commands *trace_commands(const profile_t *p, struct commands *c);

/* The sample of a shader engine, by its index in the profile, from 0. */
struct trace_sample {
	uint32_t se, size;
	void *at;
	uint32_t lost; /* tokens that found no space */
	bool full, bad_memory;
};
uint32_t trace_samples(const profile_t *p);
struct trace_sample trace_sample(const profile_t *p, uint32_t n);

#endif
