/* SPDX-License-Identifier: MIT */
/* pack.h - the records of a chunk in few bytes, as they are on disk
 *
 * The drainer packs what it writes, readers unpack it (format.h, PACKED CHUNKS). The packed bytes
 * depend on the records alone: two drainers that write the same chunk write the same bytes.
 * Any thread; no state, no memory of its own, no system call.
 */
#ifndef RTL_SPOOL_PACK_H
#define RTL_SPOOL_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/format.h"

/* Bytes that pack_chunk() may write behind a chunk of `committed` bytes. */
#define PACK_SLACK 2400u

/* Completes the chunk at `chunk`, of which all but `crc` and `stored` is set, for a file: packs its
 * records, if `packs` is set and they become smaller. The packed chunk is at `to`, which has space
 * for `committed` bytes behind a header and PACK_SLACK. Both are aligned to 8. Returns the bytes to
 * write, which are at `chunk` or `to`, and in *size how many: a multiple of 8. */
const uint8_t *pack_chunk(struct chunk_header *chunk, uint8_t *to, bool packs, uint32_t *size);

/* Bytes behind the header of a chunk on disk. */
static inline uint32_t pack_stored(const struct chunk_header *chunk)
{
	/* relaxed: a private copy, or a chunk on disk */
	return chunk->stored ? chunk->stored :
			       atomic_load_explicit(&chunk->committed, memory_order_relaxed);
}

/* Unpacks the `size` bytes of records of a chunk from its `stored` packed bytes to `out`, aligned
 * to 8. Nothing in the packed bytes is trusted. false: they are not what pack_chunk() makes; `out`
 * then holds anything. */
bool pack_restore(uint8_t *out, uint32_t size, const uint8_t *packed, uint32_t stored);

#endif
