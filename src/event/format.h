/* SPDX-License-Identifier: MIT */
/* format.h - the trace of one process on disk and in memory, byte by byte
 *
 * Header, chunks and what holds for all records are here; the records themselves are in records.json, of which
 * records_gen.h is made, and the tables of docs/formats/spool.md.
 *
 * All numbers are little-endian, fixed width and aligned to their size; there is no implicit
 * padding, and every structure has a static_assert on its size. A change of meaning bumps
 * SPOOL_VERSION and adds a golden file to tests/golden/.
 *
 * TWO HALVES
 *   A process writes one trace, which consists of two files while the process runs:
 *
 *   memory half  "NAME.mem", on a memory file system where there is one. Mapped shared by the
 *                traced process, so that written records survive any end of the process:
 *                    struct spool_header      SPOOL_HEADER_SIZE bytes
 *                    struct slot_desc[n]      n = nr_slots, padded to a page
 *                    slot[n]                  SLOT_SIZE bytes each: one chunk being filled
 *   disk half    "NAME.rtl", append-only:
 *                    struct spool_header      a copy of the memory half's, brought up to date by
 *                                             every drain, complete when `closed` is set
 *                    chunk, chunk, ...        each struct chunk_header + `committed` bytes
 *
 *   A chunk is filled by one thread at a time. A drainer (event/drain.c: the harvester, `rtl trace` or
 *   `rtl recover`) appends sealed chunks to the disk half at `disk_end`, then advances `disk_end`,
 *   then frees the slot. When the process is over, open chunks are drained as they are and the
 *   memory half is removed. A reader of a trace that is still growing, or was killed, reads the disk half and
 *   then the slots whose chunk sequence number was not on disk.
 *
 * VALIDITY
 *   - A record exists if it lies within the first `committed` bytes behind its chunk header. The
 *     writer stores `committed` with release after the record's bytes.
 *   - A chunk on disk is valid if its magic, its sequence number (never 0), its size and the CRC-32
 *     over header (with crc = 0) and payload agree. In the memory half `crc` is 0 and is not checked.
 *   - A damaged chunk on disk is lost alone: a reader reports file and offset, looks for the
 *     next 8-byte aligned chunk magic, and counts the bytes skipped.
 *   - Bytes behind `disk_end` of a trace that is not closed are a torn write; they are ignored. While
 *     there is a memory half, its `disk_end` counts: the disk half's lags behind. When the memory half
 *     of a trace that is not closed is lost, valid chunks behind the disk half's `disk_end` count, too.
 *   - The order of chunks is the order of draining. Records of one chunk are in the order of
 *     writing. No order holds between chunks; a reader must take a string, agent, queue, kernel or
 *     marker record into account wherever it is. Shapes are the exception: they are local to
 *     their chunk and precede their first use.
 *   - A reader skips a record of unknown type by its size and counts it.
 *
 * TIMES
 *   `_ns`: nanoseconds of the clock that ROCr calls system time (HSA_SYSTEM_INFO_TIMESTAMP);
 *   spool_header.clock_id contains which host clock that is. `_ticks`: raw ticks of the GPU.
 *   An end before a begin is stored as it came, with REC_F_INVERTED.
 */
#ifndef RTL_EVENT_FORMAT_H
#define RTL_EVENT_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#include "records_gen.h"

#define SPOOL_MAGIC UINT64_C(0x4c4f4f50534c5452) /* "RTLSPOOL" */
#define CHUNK_MAGIC UINT32_C(0x4b4e4843)	 /* "CHNK" */
#define SPOOL_VERSION 1
#define SPOOL_PAGE 4096u
#define SPOOL_HEADER_SIZE (2 * SPOOL_PAGE)
/* Bytes, chunk header included. Large because shapes are local to a chunk: if a program uses some
 * hundred shapes in turn, each should occur several times in one chunk. Readers accept traces with
 * smaller slots, too. */
#define SLOT_SIZE 98304u
#define SPOOL_NAME_SIZE 512

/* The reasons of losses and notes. X(NAME, class, text): class LOSS makes the verdict "incomplete";
 * SKIPPED was left out by the user's choice; NOTE describes something that is in the trace. */
#define SPOOL_REASONS(X)                                                                           \
	X(buffer_full, LOSS, "no free buffer: draining did not keep up")                           \
	X(disk_full, LOSS, "the disk and the buffers were full")                                   \
	X(write_error, LOSS, "the spool could not be written")                                     \
	X(inflight_full, LOSS, "dispatch not timed: the in-flight ring of its queue was full")     \
	X(signal_create, LOSS, "dispatch not timed: no completion signal could be created")        \
	X(queue_plain, LOSS, "queue not traced: too many, no memory, or no doorbell")              \
	X(graph_batch, LOSS, "packets of a batch, passed through untimed (earlier versions)")      \
	X(no_timestamps, LOSS, "operation recorded without times: the GPU wrote none")             \
	X(signal_reused, LOSS, "operation recorded without times: its signal was reused at once")  \
	X(runtime_overwritten, LOSS,                                                               \
	  "packets of internal queues, overwritten before they were read")                         \
	X(copy_shared_signal, LOSS, "copy recorded without times: its signal was shared")          \
	X(thread_slots, LOSS, "event of a thread beyond the maximum number of threads")            \
	X(reentrant, LOSS, "event inside of another event (signal handler)")                       \
	X(late, LOSS, "event after the trace was closed")                                          \
	X(start_failed, LOSS, "the trace could not be started")                                    \
	X(bad_chunk, LOSS, "the reader skipped a damaged chunk")                                   \
	X(lite_signal, SKIPPED, "packets with a signal of the program (mode lite)")                \
	X(unfinished, NOTE, "operations that had not completed when the process ended")            \
	X(inverted, NOTE, "operations whose end is before their begin, recorded unchanged")        \
	X(shared_signal, NOTE,                                                                     \
	  "dispatches whose signal was shared: timed behind a barrier packet")                     \
	X(api_missed, LOSS, "operations whose HIP call was not seen: RTL_HIP_BACKEND")             \
	X(paused, SKIPPED, "calls, markers and operations while recording was paused")             \
	X(queue_unseen, LOSS, "queue not traced: it was made by a function unknown to librtl")     \
	X(queue_bypassed, LOSS,                                                                    \
	  "dispatches that bypassed the HSA functions (the program wrote the doorbell itself)")    \
	X(pool_memory, NOTE, "records of a libroctracer64 pool, dropped for lack of memory")

enum spool_reason {
#define X(name, class, text) SPOOL_REASON_##name,
	SPOOL_REASONS(X)
#undef X
		SPOOL_NR_REASONS
};
#define SPOOL_MAX_REASONS 48

struct spool_loss {
	_Atomic uint64_t count;
	_Atomic uint64_t first_ns; /* 0 while count is 0 */
	_Atomic uint64_t last_ns;
};

enum spool_clock {
	SPOOL_CLOCK_BOOTTIME = 1,
	SPOOL_CLOCK_MONOTONIC,
	SPOOL_CLOCK_MONOTONIC_RAW,
	SPOOL_CLOCK_REALTIME
};

/* The counter page: first page identity, second page counters. */
struct spool_header {
	/* set in create, constant afterwards */
	uint64_t magic;
	uint32_t version;
	uint32_t header_size; /* SPOOL_HEADER_SIZE */
	uint64_t trace_id[2]; /* random; equal in both halves */
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns;	   /* BOOTTIME when the trace was started */
	uint64_t proc_start_ticks; /* field 22 of /proc/PID/stat: detects a reused pid */
	uint32_t nr_slots;
	uint32_t slot_size;
	uint32_t slots_offset;		 /* bytes from the start of the memory half to slot 0 */
	uint32_t desc_offset;		 /* bytes to the slot_desc array */
	char boot_id[40];		 /* /proc/sys/kernel/random/boot_id */
	char mem_path[SPOOL_NAME_SIZE];	 /* absolute; "" when there is no memory half any more */
	char disk_path[SPOOL_NAME_SIZE]; /* absolute */
	uint8_t reserved0[SPOOL_PAGE - 8 - 8 - 16 - 8 - 16 - 16 - 40 - 2 * SPOOL_NAME_SIZE];

	/* second page: atomic */
	_Atomic uint64_t disk_end;  /* complete bytes of the disk half; at least header_size */
	_Atomic uint64_t next_seq;  /* last chunk sequence number assigned */
	_Atomic uint64_t free_head; /* (tag << 32 | slot + 1), a stack linked by slot_desc.next */
	/* 0, or the draining process: its pid | number << 32 | DRAINER_BUSY */
	_Atomic uint64_t drainer;
	_Atomic uint64_t drainer_ns; /* BOOTTIME of the drainer's last update */
	_Atomic uint32_t clock_id;   /* enum spool_clock */
	_Atomic uint32_t closed;     /* 1: the process ended in order and everything is on disk */
	_Atomic uint32_t disk_state; /* 0, or the errno of the last failed write of the disk half */
	_Atomic uint32_t nr_free; /* prepared slots on the free stack, for the thread that prepares
				   * slots */
	_Atomic uint32_t nr_prepared; /* slots [0, nr_prepared) have memory */
	_Atomic uint32_t end_kind;    /* enum spool_end */
	_Atomic uint64_t end_ns;
	_Atomic uint64_t nr_records; /* on disk, for progress bars; not exact after a kill */
	/* 0, or the chunk that the drainer writes now: slot + 1 | (offset / 8) << 20; see drain.c */
	_Atomic uint64_t intent;
	_Atomic uint32_t end_status; /* see enum spool_end */
	uint32_t reserved3;
	uint64_t reserved1[3];
	struct spool_loss loss[SPOOL_MAX_REASONS];
	uint8_t reserved2[SPOOL_PAGE - 120 - SPOOL_MAX_REASONS * 24];
};
_Static_assert(sizeof(struct spool_header) == SPOOL_HEADER_SIZE, "spool_header");
_Static_assert(SPOOL_NR_REASONS <= SPOOL_MAX_REASONS, "reasons fit in the header");

/* How the process ended. librtl writes EXIT, `rtl trace` the others. */
enum spool_end {
	SPOOL_END_NONE = 0,   /* it still runs, or its end was not seen */
	SPOOL_END_EXIT = 1,   /* its exit handlers ran; end_status: the exit status, 0 if unknown */
	SPOOL_END_SIGNAL = 2, /* end_status: the signal's number */
	SPOOL_END_SUDDEN = 3, /* _exit(), quick_exit() or an exec; end_status: the exit status */
	SPOOL_END_EXEC = 4,   /* it executed another program */
};

enum slot_state { SLOT_UNPREPARED = 0, SLOT_FREE, SLOT_OPEN, SLOT_SEALED, SLOT_DRAINING };

struct slot_desc {
	_Atomic uint32_t state; /* enum slot_state */
	_Atomic uint32_t next;	/* next on the free stack, slot + 1, 0 = end */
};
_Static_assert(sizeof(struct slot_desc) == 8, "slot_desc");

struct chunk_header {
	uint32_t magic; /* CHUNK_MAGIC */
	uint32_t crc;	/* on disk: CRC-32 over header (crc = 0) and payload; 0 in memory */
	uint64_t seq;	/* unique in the trace, from 1 */
	_Atomic uint32_t committed; /* valid payload bytes, multiple of 8 */
	uint32_t tid;		    /* thread that opened it; another may continue it after that
				     * thread's end */
	uint32_t nr_records;	    /* owner thread; on disk exact */
	uint32_t reserved;
};
_Static_assert(sizeof(struct chunk_header) == 32, "chunk_header");
#define CHUNK_PAYLOAD (SLOT_SIZE - (uint32_t)sizeof(struct chunk_header))

/* SIGNATURES
 * The signature of a function (OP) describes the words of its calls (API), so that a trace can be read without the headers that it was made with:
 *	signature = [ arg { "," arg } ]
 *	arg       = name ":" type [ ":" role ]
 * An arg takes one word, a dim3 two. Types:
 *	p  pointer, shown as hexadecimal       s  string id, 0 = NULL
 *	h  handle (stream, event, ...), as p   z  size in bytes
 *	i  signed integer   u  unsigned        x  unsigned, shown as hexadecimal
 *	b  boolean          f  float, its 32 bits           g  double, its 64 bits
 *	e=NAME  value of the enumeration NAME
 *	d  dim3: x | y << 32, then z
 * A name that begins with "*" is what the pointer of that name points to, read after a call that
 * succeeded (0 if it failed or the pointer was NULL); "a.b" is a member of a structure, "*a.b" of one
 * that is pointed to; "return" is what a function returns that returns no status.
 * Roles say what rtl may want of a call: kernel (function or handle), name (of the kernel, type s),
 * grid and block (d, in workgroups and work-items), gridx gridy gridz blockx blocky blockz, globalx globaly
 * globalz (work-items), shared (bytes of dynamic LDS), stream, bytes, width, height, depth, kind (hipMemcpyKind),
 * dst, src, dstdev, srcdev, graph, exec, node, event. */

#define DRAINER_BUSY (UINT64_C(1) << 63)

#endif
