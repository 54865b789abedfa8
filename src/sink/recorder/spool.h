/* SPDX-License-Identifier: MIT */
/* spool.h - the two files of a trace, in the process that writes it
 *
 * Not thread-safe: used by the starting thread, then the life thread, then the stopping thread.
 */
#ifndef RTL_RECORDER_SPOOL_H
#define RTL_RECORDER_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spool/format.h"

#define SPOOL_MIN_SLOTS 8u
#define SPOOL_START_SLOTS 12u /* prepared at once, if there are that many */

struct spool {
	struct spool_header
		*header; /* NULL: there was none yet; zeroed memory after spool_leave() */
	size_t size;
	/* Address space for this spool and the next ones, which `header` begins: threads that are
	 * late find memory there. Reserved by the first spool_create() and never given back. */
	void *area;
	size_t area_size;
	bool is_mapped; /* `header` is the memory half */
	int mem_fd;	/* -1: lost and not found again */
	int disk_fd;	/* the same */
	bool is_scarce; /* the program has hardly a descriptor left: none is kept open */
	dev_t mem_dev, disk_dev;
	ino_t mem_ino, disk_ino;
};

/* Creates both halves; `s` is zeroed, or closed by spool_leave(): the disk half in `dir` (made if
 * missing, one level), the memory half in `mem_dir`, or in `dir` if that is "" or not usable.
 * `buffer_bytes` is the most that slots may take. 0 or -errno; then nothing is left behind. */
int spool_create(struct spool *s, const char *dir, const char *mem_dir, uint64_t buffer_bytes);

/* Allocates memory for up to `nr` more slots and makes them free; returns how many it made. */
uint32_t spool_prepare(struct spool *s, uint32_t nr);

/* Allocates memory for a range of the blocks. 0 or -errno. Any thread. */
/* Whether `bytes` are a sixteenth of what is free in the memory half's file system, or less. */
bool spool_has_plenty(const struct spool *s, uint64_t bytes);
int spool_populate_blocks(const struct spool *s, uint64_t offset, uint64_t bytes);

/* The disk half's descriptor, reopened by its path if the program closed it; -1 if lost. */
int spool_disk_fd(struct spool *s);
/* Closes the files if the program has hardly a descriptor left; what is mapped stays. true: they
 * are closed. */
bool spool_spare_fds(struct spool *s);

/* Updates the host clock id in the header. */
void spool_note_clock(struct spool *s);

/* The trace is closed: zeroed memory of the process replaces the mapping, for threads that are
 * late. The files stay. `in_use`: a thread may still write to a chunk: the mapping stays as it is,
 * and the next spool gets another one. */
void spool_leave(struct spool *s, bool in_use);

/* Unmaps and closes; the files stay. For tests: a process keeps the address space. */
void spool_release(struct spool *s);

#endif
