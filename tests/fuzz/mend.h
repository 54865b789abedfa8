/* SPDX-License-Identifier: MIT */
/* mend.h - makes the chunks of a fuzzed disk half valid enough that they are read on */
#ifndef RTL_FUZZ_MEND_H
#define RTL_FUZZ_MEND_H

#include <string.h>

#include "base/crc.h"
#include "spool/pack.h"

/* In the `size` bytes of a disk half, from its first chunk on: magic, sizes and CRC. */
static inline void mend_chunks(uint8_t *data, size_t size)
{
	size_t at = SPOOL_HEADER_SIZE;

	while (at + sizeof(struct chunk_header) <= size) {
		struct chunk_header c;
		uint32_t stored;

		memcpy(&c, data + at, sizeof(c));
		c.magic = CHUNK_MAGIC;
		c.committed &= ~7u;
		/* of a packed chunk, whose size in memory is the input's */
		c.stored &= ~7u;
		stored = pack_stored(&c);
		if (stored > size - at - sizeof(c) || stored > CHUNK_PAYLOAD ||
		    c.committed > CHUNK_PAYLOAD)
			break;
		c.crc = 0;
		c.crc = crc_add(crc_add(0, &c, sizeof(c)), data + at + sizeof(c), stored);
		memcpy(data + at, &c, sizeof(c));
		at += sizeof(c) + stored;
	}
}

#endif
