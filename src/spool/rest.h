/* SPDX-License-Identifier: MIT */
/* rest.h - what was in flight when a process ended, as records
 *
 * Reads the blocks of a memory half (format.h, IN FLIGHT) after the process's end. The memory half
 * is not
 * trusted: sizes are checked, and what is not a block ends the reading.
 */
#ifndef RTL_SPOOL_REST_H
#define RTL_SPOOL_REST_H

#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"

#define REST_MAX_SIZE 128u /* bytes of a record */

struct rest {
	const struct spool_header *header;
	uint64_t at, end; /* the next block, and the end of all, in bytes from the header */
	const struct spool_block *block;
	uint32_t item;	/* the next one of `block` */
	uint32_t count; /* the next count of `block`: the queue's, or an engine's */
	uint64_t written[SPOOL_WRITTEN_TYPES];
	uint32_t type; /* the next one of `written` */
};

/* `size`: bytes mapped at `header`. */
void rest_begin(struct rest *r, const struct spool_header *header, size_t size);

/* Writes the next record to `out`, REST_MAX_SIZE bytes at a multiple of 8. Returns its bytes, 0 at
 * the end. The same records each time. */
uint32_t rest_next(struct rest *r, uint8_t *out);

/* How many records of each type have been written so far, by the counts of the blocks. In the
 * traced process: `header` is its own mapping. Any thread. */
void rest_written(const struct spool_header *header, uint64_t out[SPOOL_WRITTEN_TYPES]);

#endif
