/* SPDX-License-Identifier: MIT */
/* drain.h - moves filled chunks from the memory half of a spool to its disk half
 *
 * The harvester (without `rtl trace`), `rtl trace` (from outside, while the program runs) and `rtl
 * recover` use the same code. One drainer at a time: a drainer takes spool_header.drainer by
 * compare-and-swap, and may be replaced if it has not updated its time for DRAIN_TAKEOVER_NS. The
 * caller may be killed at any instruction: an unfinished write is repeated at the same offset
 * (format.h, TWO HALVES).
 */
#ifndef RTL_SPOOL_DRAIN_H
#define RTL_SPOOL_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"
#include "spool/pack.h"

#define DRAIN_TAKEOVER_NS UINT64_C(1000000000)
#define DRAIN_HOLD_NS UINT64_C(3000000000)

/* A drainer of one spool: plain data, so that the harvester needs no malloc. */
struct drain {
	struct spool_header *header; /* mapped memory half */
	size_t size;		     /* bytes mapped */
	int disk_fd;		     /* disk half, -1 while it could not be opened */
	bool mapped_here;	     /* mapped by drain_open(), to be unmapped by drain_close() */
	uint32_t self;		     /* pid of the drainer */
	uint64_t token;		     /* the value of header->drainer while this drainer holds it */
	uint64_t disk_dev, disk_ino; /* identity of the disk half: the program may reuse the
				      * descriptor number */
	uint64_t mem_dev, mem_ino;   /* of the memory half that drain_open() has mapped */
	uint64_t header_sum;	     /* of the counters last written to the disk half */
	uint64_t punched;	     /* the file's bytes before it were given back; 0: none */
	/* NULL, or called for the copy of each chunk before it is written, any number of times for
	 * the same, and by drain_look(); `size`: bytes of records */
	void (*see)(void *arg, uint32_t slot, const struct chunk_header *chunk, uint32_t size);
	void *see_arg;
	_Alignas(8) uint8_t copy[SLOT_SIZE]; /* the chunk being moved */
	_Alignas(8) uint8_t packed[SLOT_SIZE + PACK_SLACK];
};

/* Opens the spool whose disk half is `disk_path` from another process: maps the memory half that
 * its header names. -ENOENT: there is no memory half any more (the disk half is complete); -EINVAL:
 * a half is not a spool, is of another version, or the two don't belong together. */
int drain_open(struct drain *d, const char *disk_path);

/* Whether the file that the header of a disk half names has a name that librtl gives to the memory
 * half of that trace. A file of another name is neither written to nor removed: a spool may come
 * from anywhere. */
bool drain_is_memory_half(const struct spool_header *disk, const char *disk_path);

/* In the traced process: `header` is its own mapping. disk_fd may be -1 until drain_set_fd(). */
void drain_init(struct drain *d, struct spool_header *header, size_t size, int disk_fd);

/* In the traced process: another descriptor of the disk half, or -1. */
void drain_set_fd(struct drain *d, int disk_fd);

/* Takes or keeps the right to drain. false: another drainer is alive. */
bool drain_take(struct drain *d, uint64_t now_ns);
void drain_give(struct drain *d);

/* Appends sealed chunks, at most max_bytes (0: no limit), and frees their slots. With `final` the
 * process is over: open chunks, too. Bytes are those that the chunks had in memory, with their
 * headers; on disk they are fewer (pack.h). Returns them, or -errno of the write: the chunks then
 * stay, for another attempt; -EBUSY: another drainer has taken over; -EBADF: disk_fd is not the
 * disk half (any more). Updates the disk half's header if something was written. Does not fsync:
 * survives a kill, not a power failure. */
int64_t drain_run(struct drain *d, bool final, uint64_t max_bytes, uint64_t now_ns);

/* Calls d->see for the chunks that are being filled. */
void drain_look(const struct drain *d);

/* Removes chunks from the front of the disk half, up to the last one that ends at `upto` or before,
 * and gives their bytes back to the file system; nothing while another process copies them
 * (hold_until_ns). What later records refer to stays (format.h, REMOVED CHUNKS). The caller has the
 * right to drain. Returns bytes removed, or -errno: -EBUSY, -EBADF as drain_run(); -ENOMEM; of a
 * read or write: then some may be removed. */
int64_t drain_evict(struct drain *d, uint64_t upto);

/* After drain_run(final) has drained all: writes what was in flight (rest.h), marks the trace
 * closed, updates the disk half's header and removes the memory half. -EAGAIN: a chunk is still in
 * memory. */
int drain_finish(struct drain *d);
void drain_close(struct drain *d);

/* Copies the header's counters to the disk half unless they are there already. */
int drain_header(struct drain *d);

/* Bytes in sealed chunks that wait; with `open` also those of open chunks. For progress displays.
 */
uint64_t drain_waiting(const struct drain *d, bool open);

#endif
