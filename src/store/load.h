/* SPDX-License-Identifier: MIT */
/* load.h - reads the trace of one process, record by record, in every state it can be in
 *
 * Opens the disk half ("X.rtl") and finds the memory half that its header names, or opens a memory
 * half ("X.mem") and finds the disk half, or reads one of them alone. Read-only: it may be used
 * while the process still writes. What is read is the trace as it was when it was opened: every pass over
 * it gives the same records, also when chunks move to the disk meanwhile. Nothing is trusted:
 * sizes, counts, string pieces, shape ids and the CRC of every chunk are checked before a record is
 * handed out, and a damaged chunk is left out and counted.
 *
 * Single-threaded. Memory is constant: a read buffer, and 24 bytes for each slot of the memory half.
 */
#ifndef RTL_STORE_LOAD_H
#define RTL_STORE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/format.h"

/* What is wrong, in words for the user: file, what, where, what to do. Always ends in NUL. */
struct load_error {
	char text[1024];
};

enum load_state {
	LOAD_CLOSED,  /* the process ended in order and all is on disk */
	LOAD_RUNNING, /* not closed, and the process is still there */
	LOAD_KILLED,  /* not closed, and the process is gone (or of another boot) */
	LOAD_FOREIGN, /* not closed; pid of another host or pid namespace: not known */
};

struct load_loss {
	uint64_t count, first_ns, last_ns;
};

/* Facts of the trace; strings end in NUL. */
struct load_facts {
	uint32_t version, pid, ppid, clock_id, end_kind, disk_errno;
	uint64_t trace_id[2], start_ns, proc_start_ticks, end_ns;
	enum load_state state;
	bool has_mem, has_disk; /* which halves are read */
	bool mem_missing;	/* the header names a memory half that is not there */
	char boot_id[40];
	char mem_path[SPOOL_NAME_SIZE], disk_path[SPOOL_NAME_SIZE];
	struct load_loss
		loss[SPOOL_MAX_REASONS]; /* of the header; loss[bad_chunk]: see load_next */
};

struct load;

/* 0 or -errno with *err filled (err is never NULL): -ENOENT/-EACCES/... of the system; -EINVAL: not a spool (another
 * kind of file, another version, cut before the end of its header). */
int load_open(struct load **out, const char *path, struct load_error *err);
void load_close(struct load *load); /* NULL is fine */

/* The next valid record: 1, and *rec, *chunk valid until the next call; 0 at the end; -EIO when the file
 * could not be read: load_warning() says why. Damaged chunks are skipped: facts->loss[bad_chunk] counts
 * them, load_warning() tells of the last. Records of an unknown type are skipped and counted.
 * Every record that is handed out is at least as long as its type's structure, its variable part
 * lies within it (strings, markers, the words of calls), and a dispatch's shape has been seen in its chunk. */
int load_next(struct load *load, const struct rec_head **rec, const struct chunk_header **chunk);

/* Starts over: the same records again. */
void load_rewind(struct load *load);

/* The shape of a REC_DISPATCH/_WIDE that load_next() returned last; never NULL for those. */
const struct rec_shape *load_shape(const struct load *load);

/* Valid until load_close(). */
const struct load_facts *load_facts(const struct load *load);
const char *load_path(const struct load *load);

/* Bytes to be read, and read so far, for progress bars. */
uint64_t load_size(const struct load *load);
uint64_t load_pos(const struct load *load);

/* Records of types that this version does not know; damage seen in this pass. */
uint64_t load_unknown(const struct load *load);
uint64_t load_bad_bytes(const struct load *load);
/* "" or what the last damage or read error was: file, offset, what. */
const char *load_warning(const struct load *load);

/* Names of reasons: "buffer_full", the class, and the sentence. NULL beyond the table. */
enum load_class { LOAD_LOSS, LOAD_SKIPPED, LOAD_NOTE };
const char *load_reason_name(unsigned int reason);
const char *load_reason_text(unsigned int reason);
enum load_class load_reason_class(unsigned int reason);
const char *load_class_name(enum load_class class);
/* "BOOTTIME" for SPOOL_CLOCK_BOOTTIME and so on, "" for a clock not known. */
const char *load_clock_name(uint32_t clock_id);

#endif
