/* SPDX-License-Identifier: MIT */
/* drain.h - moves filled chunks from the memory half of a spool to its disk half
 *
 * The same code serves the harvester (no `rtl trace` above it), `rtl trace` (from outside, while
 * the program runs) and `rtl recover`. One drainer at a time: spool_header.drainer is taken by
 * compare-and-swap; one whose sign of life is older than DRAIN_TAKEOVER_NS may be replaced. The
 * caller may be killed at any instruction: what it had not finished is written again, to the same
 * place (format.h, TWO HALVES).
 */
#ifndef RTL_EVENT_DRAIN_H
#define RTL_EVENT_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/format.h"

#define DRAIN_TAKEOVER_NS UINT64_C(1000000000)

/* One spool being drained: plain data, so that the harvester needs no malloc. */
struct drain {
	struct spool_header *header; /* mapped memory half */
	size_t size;		     /* bytes mapped */
	int disk_fd;		     /* disk half, -1 when it could not be opened (yet) */
	bool mapped_here;	     /* drain_open() mapped it: drain_close() unmaps */
	uint32_t self;		     /* pid of the drainer */
	uint32_t scan;		     /* slot where the next look starts: fairness */
	uint64_t token;		     /* what header->drainer is while this one drains */
	uint64_t disk_dev, disk_ino; /* what disk_fd must be: the program may take its number */
	uint64_t header_sum;	     /* of the counters that the disk half has */
	_Alignas(8) uint8_t copy[SLOT_SIZE]; /* a chunk on its way */
};

/* Opens the spool whose disk half is `disk_path` from another process: maps the memory half that
 * its header names. -ENOENT when there is no memory half any more (it is complete on disk),
 * -EINVAL when a half is not a spool, is of another version, or the two don't belong together. */
int drain_open(struct drain *d, const char *disk_path);

/* Within the traced process: `header` is its own mapping. disk_fd may be -1 until drain_set_fd(). */
void drain_init(struct drain *d, struct spool_header *header, size_t size, int disk_fd);

/* Within the traced process: another descriptor of the disk half, or -1. */
void drain_set_fd(struct drain *d, int disk_fd);

/* Takes the right to drain, or keeps it. false: another drainer lives. */
bool drain_take(struct drain *d, uint64_t now_ns);
void drain_give(struct drain *d);

/* Appends every sealed chunk, at most max_bytes (0: no limit); frees its slot. With `final` the process is
 * over: open chunks too. Returns bytes written, or -errno of the write: then the chunks stay
 * where they are and it can be tried again; -EBUSY: the right to drain was lost to another; -EBADF:
 * disk_fd is not the disk half (any more). Brings the disk half's header up to date when something
 * was written. Does not fsync: a kill is survived, a power cut is not. */
int64_t drain_run(struct drain *d, bool final, uint64_t max_bytes, uint64_t now_ns);

/* After drain_run(final) == all: marks the trace closed, brings the disk half's header up to
 * date and removes the memory half. -EAGAIN when a chunk is still in memory. */
int drain_finish(struct drain *d);
void drain_close(struct drain *d);

/* Copies the header's counters to the disk half; nothing when they are there already. */
int drain_header(struct drain *d);

/* Bytes that are sealed and wait; of open chunks, too, with `open`. For those who show progress. */
uint64_t drain_waiting(const struct drain *d, bool open);

#endif
