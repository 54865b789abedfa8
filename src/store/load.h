/* SPDX-License-Identifier: MIT */
/* load.h - reads the trace of one process, record by record, in every state it can be in
 *
 * Opens the disk half ("X.rtl") and finds the memory half that its header names, or opens a memory
 * half ("X.mem") and finds the disk half, or reads one of them alone. Read-only: it may be used
 * while the process still writes. It reads the trace as it was at load_open(): every pass
 * returns the same records, also when chunks are drained to disk between them. The file is not
 * trusted: sizes, counts, string pieces, shape ids and the CRC of every chunk are checked before a
 * record is returned; a damaged chunk is skipped and counted.
 *
 * Single-threaded. Memory is constant: a read buffer, and 24 bytes for each slot of the memory
 * half.
 */
#ifndef RTL_STORE_LOAD_H
#define RTL_STORE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"

/* A message for the user: file, what is wrong, where, what to do. Always ends in NUL. */
struct load_error {
	char text[1024];
};

enum load_state {
	LOAD_CLOSED,  /* the process ended normally and all is on disk */
	LOAD_RUNNING, /* not closed, and the process exists */
	LOAD_KILLED,  /* not closed, and the process is gone (or of another boot) */
	LOAD_FOREIGN, /* not closed; its pid is of another host or pid namespace: state unknown */
};

struct load_loss {
	uint64_t count, first_ns, last_ns;
};

/* Fields of the trace's headers; strings end in NUL. */
struct load_facts {
	uint32_t version, pid, ppid, clock_id, end_kind, end_status;
	uint64_t trace_id[2], start_ns, proc_start_ticks, end_ns;
	uint64_t rest_at; /* as in the header */
	enum load_state state;
	bool has_mem, has_disk; /* the halves that are read */
	bool mem_missing;	/* the memory half that the header names does not exist */
	uint64_t kept_from;	/* chunks before it were removed; 0: none was */
	bool is_converted;	/* those that were removed are in a database */
	uint64_t window_ns;	/* of a flight recorder: all that ended later is there; 0: all is */
	char boot_id[40];
	char mem_path[SPOOL_NAME_SIZE], disk_path[SPOOL_NAME_SIZE];
	struct load_loss
		loss[SPOOL_MAX_REASONS]; /* of the header; loss[bad_chunk]: see load_next */
};

/* closed: ended in order; ended: the same, with a rest that is not drained; killed: by a signal;
 * exited: without its exit handlers;
 * executed: another program; unknown: as exited, or of another host; running. */
const char *load_state_name(const struct load_facts *facts);

struct load;

/* 0 or -errno with *err filled (err is never NULL): -ENOENT, -EACCES, ... from the system; -EINVAL:
 * not a spool (another kind of file, another version, cut before the end of its header). */
int load_open(struct load **out, const char *path, struct load_error *err);
void load_close(struct load *load); /* NULL is fine */

/* Copies what the trace has now to the file `fd`, as one closed disk half: it can be read when the
 * trace has changed. 0, or -errno with
 * *err; -ESTALE: chunks were removed meanwhile. */
int load_copy(const char *path, int fd, struct load_error *err);

/* From the next pass on, what was in flight when the process ended comes behind all other records
 * (spool/rest.h), unless a drainer has written it to the disk half. Does nothing for a process that
 * is not over. Before load_next(). 0 or -errno. */
int load_add_rest(struct load *load);
/* Whether the process has ended, so far as this machine can tell. */
bool load_is_over(const struct load_facts *facts);

/* The next valid record: 1, and *rec, *chunk valid until the next call; 0 at the end; -EIO if the
 * file can't be read: load_warning() has the reason; -ESTALE the same, if chunks were removed while
 * the trace was read: open it again. Damaged chunks are skipped: facts->loss[bad_chunk] counts
 * them, load_warning() describes the last. Records of an unknown type are skipped and counted.
 * Every returned record is at least as long as its type's structure, contains its whole variable
 * part (strings, markers, the words of calls), and a dispatch's shape came before it in its
 * chunk. */
int load_next(struct load *load, const struct rec_head **rec, const struct chunk_header **chunk);

/* Starts over: the same records again. */
void load_rewind(struct load *load);

/* The same, without the chunks that are before `offset` of the disk half: load_disk_end() of an
 * earlier load_open(). */
void load_rewind_to(struct load *load, uint64_t offset);
/* Where the part of the disk half ends that is read: a chunk begins there, or will. */
uint64_t load_disk_end(const struct load *load);
/* The end of the record that load_next() returned last, in bytes of its chunk. */
uint32_t load_at(const struct load *load);
/* Whether its chunk is before load_disk_end(): a later opening has no more of it. */
bool load_is_final(const struct load *load);
/* From now on passes begin at that offset of the disk half, which is one of a chunk, and leave out
 * carried chunks; `bad_chunks` are added to those that are found. Starts over. */
void load_begin_at(struct load *load, uint64_t offset, uint64_t bad_chunks);

/* What the process had recorded before any record of the disk half in front of this offset is among
 * the records of this trace, in whichever half; of later records that need not be so. */
uint64_t load_safe(const struct load *load);
/* Whether the record that load_next() returned last is in a chunk of the disk half in front of the
 * offset. */
bool load_is_before(const struct load *load, uint64_t offset);
/* Where that chunk begins in its half. */
uint64_t load_offset(const struct load *load);

/* The shape of the REC_DISPATCH or REC_DISPATCH_WIDE that load_next() returned last; never NULL
 * then. */
const struct rec_shape *load_shape(const struct load *load);

/* Valid until load_close(). */
const struct load_facts *load_facts(const struct load *load);

/* Bytes of the trace, and bytes read by this pass, for progress bars. */
uint64_t load_size(const struct load *load);
uint64_t load_pos(const struct load *load);

/* Records of unknown types in this pass. */
uint64_t load_unknown(const struct load *load);
/* The last damage or read error: file, offset, what is wrong; or "". */
const char *load_warning(const struct load *load);

/* A reason's name ("buffer_full"), sentence and class. NULL beyond the table. */
enum load_class { LOAD_LOSS, LOAD_SKIPPED, LOAD_NOTE };
const char *load_reason_name(unsigned int reason);
const char *load_reason_text(unsigned int reason);
enum load_class load_reason_class(unsigned int reason);
const char *load_class_name(enum load_class class);
/* "BOOTTIME" for SPOOL_CLOCK_BOOTTIME and so on, "" for an unknown clock. */
const char *load_clock_name(uint32_t clock_id);

#endif
