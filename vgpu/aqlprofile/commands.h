/* SPDX-License-Identifier: MIT */
/* commands.h - a profile's command buffer: a record of sizes, an area for results, and three
 * streams of packets
 *
 * The area follows the record; each stream is on a boundary of 256 bytes.
 *
 * Threads:  any; a profile is in the hands of one at a time.
 */
#ifndef VGPU_AQLPROFILE_COMMANDS_H
#define VGPU_AQLPROFILE_COMMANDS_H

#include <stdint.h>

#include "types.h"

typedef hsa_ven_amd_aqlprofile_profile_t profile_t;

struct stream;

/* In the order of the streams in the buffer. */
enum commands_part { COMMANDS_READ, COMMANDS_START, COMMANDS_STOP, COMMANDS_PARTS };

/* What writes each stream; NULL: it is empty. */
struct commands {
	void (*write[COMMANDS_PARTS])(struct stream *s, const profile_t *p);
	uint32_t area; /* bytes */
};

/* Bytes of a command buffer. */
uint32_t commands_size(const struct commands *c, const profile_t *p);
/* Fills the profile's command buffer; the area is zeroed. */
void commands_write(const struct commands *c, const profile_t *p);
/* Where a stream is, from the buffer's record. */
void commands_part(const profile_t *p, enum commands_part part, const void **at, uint32_t *size);
/* Where the area is. */
void *commands_area(const profile_t *p);

#endif
