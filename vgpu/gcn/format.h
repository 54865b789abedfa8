/* SPDX-License-Identifier: MIT */
/* format.h - texels: values of images and formatted buffers, from memory and to memory
 *
 * A resource has a data format (which components, of how many bits), a number format (what the bits
 * mean) and for each of the four channels the component or constant that it shows.
 */
#ifndef VGPU_GCN_FORMAT_H
#define VGPU_GCN_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct format {
	uint8_t data, number;
	uint8_t select[4]; /* of channels: 0 and 1 constants, 4 to 7 components */
};

/* Bytes of a texel; 0: the format is not implemented. */
unsigned int format_bytes(const struct format *f);
/* Whether channels are integers, not floats. */
bool format_is_int(const struct format *f);
/* Channels as register values; NULL: a texel of zeros that the channels' constants complete. */
void format_load(const struct format *f, const void *texel, uint32_t *channels);
void format_store(const struct format *f, const uint32_t *channels, void *texel);

#endif
