/* SPDX-License-Identifier: MIT */
/* buffer_aside.h - entries that were written while a buffer's halves were full, with their data
 *
 * The caller excludes other threads.
 */
#ifndef RTL_LIB_FACE_BUFFER_ASIDE_H
#define RTL_LIB_FACE_BUFFER_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer_block;

/* Zeroed: empty. */
struct buffer_aside {
	char *entries;
	size_t nr, size;	     /* size: entries that fit */
	size_t bytes;		     /* of entries and data */
	struct buffer_block *blocks; /* data; the one that is being filled is the first */
};

/* Appends `nr` entries of `entry_size` bytes. The last one's pointer, at `link`, leads to a copy of
 * `data`, which stays where it is;
 * NULL: there is none. false: no memory, and nothing was appended. */
bool buffer_aside_add(struct buffer_aside *a, const void *entries, uint32_t nr, size_t entry_size,
		      size_t link, const void *data, size_t size);
/* Frees what is in it. */
void buffer_aside_free(struct buffer_aside *a);

#endif
