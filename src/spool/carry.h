/* SPDX-License-Identifier: MIT */
/* carry.h - what is kept of chunks that are removed from the disk half
 *
 * Reads the chunks that are to be removed, and the chunks that were carried before, and makes the
 * chunks that replace both: counts, definitions, open ranges (spool/format.h, REMOVED CHUNKS). What
 * it makes depends on these chunks alone: a drainer that repeats the work of one that was killed or
 * replaced makes the same bytes.
 *
 * Memory is of the kernel (alloc_pages): at most 128 bytes for each queue, code object and thread,
 * and for each range that began or ended in what is removed. One thread for each struct carry.
 */
#ifndef RTL_SPOOL_CARRY_H
#define RTL_SPOOL_CARRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"

struct carry_item;

struct carry {
	int fd;
	uint64_t from, upto; /* the chunks that are removed */
	uint64_t old, end; /* the chunks carried before, 0: none; no chunk is read from `end` on */
	struct carry_item *items; /* a hash table */
	uint32_t cap, nr;
	struct rec_evicted total;
	uint64_t types[SPOOL_WRITTEN_TYPES];
	/* the chunk being read, and as it is on disk */
	uint8_t *chunk, *disk;
	uint64_t at;	/* of the next chunk */
	uint32_t index; /* in the chunks carried before */
	bool in_old;
	uint32_t pos, size;
	uint32_t *queues; /* by shape */
	uint32_t nr_shapes;
	/* the next record to write */
	uint32_t step, next;
};

/* Where the last chunk ends that is wholly in [from, upto), and within `most` bytes unless it is
 * the first; `from`: there is none. -errno if it can't be read. */
int64_t carry_limit(int fd, uint64_t from, uint64_t upto, uint64_t most);

/* Reads what is removed. `old`: offset of the chunks that were carried when `from` was the first
 * offset, 0: none; `end`: the end of the disk half. 0 or -errno; carry_end() in either case. */
int carry_begin(struct carry *c, int fd, uint64_t from, uint64_t upto, uint64_t old, uint64_t end);

/* Fills `out` with the next records: bytes, their number in *nr; 0: that is all; or -errno. */
int64_t carry_next(struct carry *c, uint8_t *out, uint32_t space, uint32_t *nr);

void carry_end(struct carry *c);

#endif
