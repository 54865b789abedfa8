/* SPDX-License-Identifier: MIT */
/* format.h - the trace of one process on disk and in memory, byte by byte
 *
 * Header, chunks and what holds for all records are here; the records themselves are in
 * records.json, of which records_gen.h is made, and the tables of docs/formats/spool.md.
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
 *                    block, block, ...        at `blocks_offset`: operations in flight, see IN
 *                                             FLIGHT
 *   disk half    "NAME.rtl", append-only:
 *                    struct spool_header      a copy of the memory half's, brought up to date by
 *                                             every drain, complete when `closed` is set
 *                    chunk, chunk, ...        each struct chunk_header + `stored` bytes, or
 *                                             `committed` bytes if `stored` is 0
 *
 *   A chunk is filled by one thread at a time. A drainer (spool/drain.c: the harvester, `rtl trace`
 *   or `rtl recover`) appends sealed chunks to the disk half at `disk_end`, then advances
 *   `disk_end`, then frees the slot. When the process is over, open chunks are drained as they are
 *   and the memory half is removed. A reader of a trace that is still growing, or was killed, reads
 *   the disk half and then the slots whose chunk sequence number was not on disk.
 *
 * VALIDITY
 *   - A record exists if it lies within the first `committed` bytes behind its chunk header. The
 *     writer stores `committed` with release after the record's bytes.
 *   - A chunk on disk is valid if its magic, its sequence number (never 0), its sizes and the
 *     CRC-32 over header (with crc = 0) and payload, as it is on disk, agree. In the memory half
 *     `crc` is 0 and is not checked.
 *   - A damaged chunk on disk is lost alone: a reader reports file and offset, looks for the
 *     next 8-byte aligned chunk magic, and counts the bytes skipped.
 *   - Bytes behind `disk_end` of a trace that is not closed are a torn write; they are ignored.
 *     While there is a memory half, its `disk_end` counts: the disk half's lags behind. When the
 *     memory half of a trace that is not closed is lost, valid chunks behind the disk half's
 *     `disk_end` count, too.
 *   - The order of chunks is the order of draining, which a drainer does in the order of their
 *     sequence numbers, nearly. Records of one chunk are in the order of writing. No order holds
 *     between chunks; a reader must take a string, agent, queue, kernel or marker record into
 *     account wherever it is. Shapes are the exception: they are local to their chunk and precede
 *     their first use.
 *   - A reader skips a record of unknown type by its size and counts it.
 *
 * IN FLIGHT
 *   The traced process keeps the operations that it has submitted and not yet recorded in blocks of
 *   the memory half: struct spool_block and its entries. Space for them is reserved, not allocated:
 *   of `blocks_size` bytes the first `blocks_used` are blocks, one behind another. When the process
 *   is over, a drainer writes chunks at `rest_at` of the disk half: SUBMITTED for each queue and
 *   copy engine, and the entries in flight as INFLIGHT, or as BARRIER and COPY with
 *   REC_F_UNFINISHED; and WRITTEN for each type of records. A process may die between the record of
 *   an operation and the end of its entry: such entries have REC_F_MAYBE, and a reader leaves them
 *   out if it finds the record of the same operation. Blocks without a memory half (no space, no
 *   spool) are in memory of the process alone; then SUBMITTED is missing.
 *
 * PACKED CHUNKS
 *   On disk a chunk with `stored` is packed (pack.h): `stored` bytes, of which pack.c makes the
 *   `committed` bytes of records that the memory half had. How, is in docs/formats/spool.md. A
 *   trace of version 1 has no such chunks, and no drainer packs its rest: it may be read by an rtl
 *   of before. Carried chunks are not packed, nor are those of what was in flight.
 *
 * REMOVED CHUNKS
 *   A drainer may remove chunks from the front of the disk half (drain_evict()): those that a
 *   flight recorder keeps no longer, or that are in a database. The file's bytes before `kept_from`
 *   are then a hole; a reader begins there. What later records refer to is in carried chunks, which
 *   were appended at `carried_at`: EVICTED, EVICTED_TYPE and EVICTED_OPS, which count all that was
 *   ever removed, and the definitions, ranges that are open, and unmatched ends among it. tid is 0,
 *   and seq is CHUNK_CARRIED(kept_from, index). Carried chunks whose seq has another offset are
 *   superseded, or not in force yet: a reader skips them by their size without a look at their
 *   payload, which may be a hole, too. Left out are ends of objects, their beginnings, and kernels
 *   of code objects that ended before the earlier removal.
 *
 * TIMES
 *   `_ns`: nanoseconds of the clock that ROCr calls system time (HSA_SYSTEM_INFO_TIMESTAMP);
 *   spool_header.clock_id contains which host clock that is. `_ticks`: raw ticks of the GPU.
 *   An end before a begin is stored as it came, with REC_F_INVERTED.
 */
#ifndef RTL_SPOOL_FORMAT_H
#define RTL_SPOOL_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#include "records_gen.h"

#define SPOOL_MAGIC UINT64_C(0x4c4f4f50534c5452) /* "RTLSPOOL" */
#define CHUNK_MAGIC UINT32_C(0x4b4e4843)	 /* "CHNK" */
#define SPOOL_VERSION 2
#define SPOOL_VERSION_PACKED 2 /* from here on chunks may be packed */
#define SPOOL_IS_READ(version) ((version) >= 1 && (version) <= SPOOL_VERSION)
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
	X(api_missed, LOSS,                                                                        \
	  "operations whose HIP call was not seen: use rtl trace, or LD_PRELOAD")                  \
	X(paused, SKIPPED, "calls, markers and operations while recording was paused")             \
	X(queue_unseen, LOSS, "queue not traced: it was made by a function unknown to librtl")     \
	X(queue_bypassed, LOSS,                                                                    \
	  "dispatches that bypassed the HSA functions (the program wrote the doorbell itself)")    \
	X(pool_memory, NOTE, "records of a libroctracer64 pool, dropped for lack of memory")       \
	X(spool_denied, LOSS, "process that can't write to the spool directory: see rtl trace")    \
	X(librtl_missing, LOSS, "process that used a ROCm runtime without librtl")                 \
	X(forked, LOSS, "forked child of a traced process: what it did on the GPU is missing")     \
	X(filtered_kernel, SKIPPED, "dispatches of other kernels (--kernels, --not-kernels)")      \
	X(filtered_gpu, SKIPPED, "operations of other GPUs (--gpus)")                              \
	X(filtered_call, SKIPPED, "calls of other functions (--calls)")                            \
	X(max_size, SKIPPED,                                                                       \
	  "calls, markers and operations after the trace had reached --max-size")                  \
	X(flight_recorder, SKIPPED, "before the time that the flight recorder keeps")              \
	X(not_counted, LOSS, "dispatches whose hardware counters were not read")                   \
	X(replay_memory, LOSS,                                                                     \
	  "dispatches counted in one pass: more memory to save than RTL_PMC_REPLAY_MB")            \
	X(replay_shared, LOSS,                                                                     \
	  "dispatches counted in one pass: their kernel reaches memory that others use")           \
	X(replay_beside, LOSS, "dispatches counted in one pass: other work could run meanwhile")   \
	X(replay_refused, LOSS, "dispatches counted in one pass: they can't be run again")         \
	X(no_tables, LOSS,                                                                         \
	  "kernels and copies of calls that succeeded: the HSA runtime did not load librtl as a tool")

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
	uint64_t start_ns; /* BOOTTIME when the trace was started */
	uint64_t
		/* field 22 of /proc/PID/stat, clock_boot_ticks(): detects a reused pid */
		proc_start_ticks;
	uint32_t nr_slots;
	uint32_t slot_size;
	uint32_t slots_offset;		 /* bytes from the start of the memory half to slot 0 */
	uint32_t desc_offset;		 /* bytes to the slot_desc array */
	char boot_id[40];		 /* /proc/sys/kernel/random/boot_id */
	char mem_path[SPOOL_NAME_SIZE];	 /* absolute; "" when there is no memory half any more */
	char disk_path[SPOOL_NAME_SIZE]; /* absolute */
	uint64_t blocks_offset;		 /* bytes from the start of the memory half; 0: no blocks */
	uint64_t blocks_size;
	uint8_t reserved0[SPOOL_PAGE - 8 - 8 - 16 - 8 - 16 - 16 - 40 - 2 * SPOOL_NAME_SIZE - 16];

	/* second page: atomic */
	_Atomic uint64_t disk_end;  /* complete bytes of the disk half; at least header_size */
	_Atomic uint64_t next_seq;  /* last chunk sequence number assigned */
	_Atomic uint64_t free_head; /* (tag << 32 | slot + 1), a stack linked by slot_desc.next */
	/* 0, or the draining process: its pid | number << 32 | DRAINER_BUSY */
	_Atomic uint64_t drainer;
	_Atomic uint64_t drainer_ns; /* clock_boot_ns() of the drainer's last update */
	_Atomic uint32_t clock_id;   /* enum spool_clock */
	_Atomic uint32_t closed;     /* 1: the trace ended in order and everything is on disk */
	_Atomic uint32_t disk_state; /* 0, or the errno of the last failed write of the disk half */
	_Atomic uint32_t nr_free; /* prepared slots on the free stack, for the thread that prepares
				   * slots */
	_Atomic uint32_t nr_prepared; /* slots [0, nr_prepared) have memory */
	_Atomic uint32_t end_kind;    /* enum spool_end */
	_Atomic uint64_t end_ns;
	_Atomic uint64_t nr_records; /* on disk, for progress bars; not exact after a kill */
	/* 0, or the chunk that the drainer writes now: slot + 1 | (offset / 8) << 20, with 0xfffff
	 * for slot + 1 the chunks that it carries; see drain.c */
	_Atomic uint64_t intent;
	_Atomic uint32_t end_status;  /* see enum spool_end */
	_Atomic uint32_t is_full;     /* rtl trace --max-size: recording stops */
	_Atomic uint64_t blocks_used; /* bytes of complete blocks */
	/* 0, or where in the disk half the chunks begin that describe what was in flight */
	_Atomic uint64_t rest_at;
	uint64_t reserved1;
	struct spool_loss loss[SPOOL_MAX_REASONS];
	/* offset of the first chunk that was not removed; 0: none was. See REMOVED CHUNKS */
	_Atomic uint64_t kept_from;
	_Atomic uint64_t evict_upto; /* what kept_from becomes with the removal that is under way */
	_Atomic uint64_t carried_at; /* offset of the carried chunks in force; 0: none */
	/* up to this offset the chunks are in a database, which is kept; removing them is no
	 * loss */
	_Atomic uint64_t converted;
	/* until this BOOTTIME no chunks are removed: another process copies them. DRAIN_HOLD_NS
	 * ahead at most */
	_Atomic uint64_t hold_until_ns;
	/* a flight recorder keeps so many bytes of the disk half, or the records of so many ns; 0:
	 * no limit */
	_Atomic uint64_t flight_bytes, flight_ns;
	uint8_t reserved2[SPOOL_PAGE - 120 - SPOOL_MAX_REASONS * 24 - 56];
};
_Static_assert(sizeof(struct spool_header) == SPOOL_HEADER_SIZE, "spool_header");
_Static_assert(SPOOL_NR_REASONS <= SPOOL_MAX_REASONS, "reasons fit in the header");

/* How the process ended. librtl writes EXIT, EXEC and CLOSED, `rtl trace` SIGNAL, SUDDEN, and EXEC
 * where it has seen it itself. */
enum spool_end {
	SPOOL_END_NONE = 0,   /* it still runs, or its end was not seen */
	SPOOL_END_EXIT = 1,   /* its exit handlers ran; end_status: the exit status, 0 if unknown */
	SPOOL_END_SIGNAL = 2, /* end_status: the signal's number */
	SPOOL_END_SUDDEN = 3, /* _exit(), quick_exit(); end_status: the exit status */
	SPOOL_END_EXEC = 4,   /* it executed another program, or is about to */
	SPOOL_END_CLOSED = 5, /* none yet: the program closed the trace and went on */
	SPOOL_END_COPY = 6,   /* this is a copy; the process ran when it was made */
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
				     * thread's end. 0: the drainer wrote it, see IN FLIGHT */
	uint32_t nr_records;	    /* owner thread; on disk exact */
	/* on disk: bytes of the packed payload, 0: it is not packed; 0 in memory */
	uint32_t stored;
};
_Static_assert(sizeof(struct chunk_header) == 32, "chunk_header");
#define CHUNK_PAYLOAD (SLOT_SIZE - (uint32_t)sizeof(struct chunk_header))

/* seq of the carried chunks, see REMOVED CHUNKS; index from 0. */
#define CHUNK_IS_CARRIED (UINT64_C(1) << 63)
#define CHUNK_CARRIED_MAX 4096u
#define CHUNK_CARRIED(kept_from, index)                                                            \
	(CHUNK_IS_CARRIED | (uint64_t)(kept_from) / 8 * CHUNK_CARRIED_MAX | (index))

/* ---- operations in flight -------------------------------------------------------------------- */

enum inflight_state {
	INFLIGHT_FREE,
	INFLIGHT_CALLING,
	INFLIGHT_ARMED,
	INFLIGHT_BUSY,
	INFLIGHT_CAPTURED,
	INFLIGHT_OURS, /* up to here, but for FREE: in flight */
	INFLIGHT_HELD,
	INFLIGHT_DONE,
};

enum inflight_kind { INFLIGHT_DISPATCH, INFLIGHT_BARRIER, INFLIGHT_COPY };

#define INFLIGHT_RECORDING 0xffu /* spool_inflight.nr_looks */

/* The first bytes of an AQL dispatch packet (source/hsa/queue/packet.h). In gfx1250's form, `grid`
 * holds clusters: their numbers as u32, u16, u16, then their sizes as three u8. */
struct spool_packet {
	uint8_t type;	  /* hsa_packet_type_t: 2 a dispatch, 0 vendor specific */
	uint8_t barriers; /* the rest of the header */
	uint8_t format;	  /* of a vendor-specific one: 3 gfx1250's dispatch */
	uint8_t setup;
	uint16_t group[3], reserved;
	uint32_t grid[3];
	uint32_t private_size, group_size;
	uint64_t object;
};
_Static_assert(sizeof(struct spool_packet) == 40, "spool_packet");

/* ---- bits beside the id in the correlation id of an entry in flight; no record has them ---- */
/* In the correlation id of a dispatch, copy or barrier: it was submitted while recording was paused
 * (event/pause.h), and is only for sinks other than the recorder. Never in a trace. */
#define EVENT_LEFT_OUT (UINT64_C(1) << 63)
/* With EVENT_LEFT_OUT: it was left out by a filter (event/filter.h), not by a pause. */
#define EVENT_BY_KERNEL (UINT64_C(1) << 61)
#define EVENT_BY_GPU (UINT64_C(1) << 60)
/* The id itself. */
#define EVENT_ID (EVENT_BY_GPU - 1)
/* In the same field: the HIP call that submitted it was missed. bus_emit() removes the bit and
 * counts `api_missed`, so that only recorded operations are counted. No sink sees it. */
#define EVENT_MISSED (UINT64_C(1) << 62)

/* An entry as readers see it: the members that describe the operation. struct inflight
 * (source/hsa/completion/inflight.h) has the same ones at the same offsets. */
struct spool_inflight {
	_Atomic uint32_t state; /* enum inflight_state, which says who uses the entry */
	uint8_t kind;		/* enum inflight_kind */
	uint8_t nr_looks;	/* INFLIGHT_RECORDING: its record is being written */
	uint16_t flags;		/* enum rec_flags */
	uint64_t private1;
	uint64_t correlation; /* 0: none yet; may have the EVENT_ bits */
	uint64_t marker;
	uint64_t submitter; /* the lower half: tid */
	uint64_t packet;
	uint64_t private2[2];
	struct spool_packet head;
	uint64_t private3[3];
};
_Static_assert(sizeof(struct spool_inflight) == 128, "spool_inflight");

/* What a copy copies. */
struct spool_copy_what {
	uint64_t bytes, dst, src;
	uint32_t dst_agent, src_agent; /* indices, UINT32_MAX if unknown */
	uint32_t kind;		       /* enum rec_copy_kind */
	uint32_t engine;	       /* SDMA engine, or UINT32_MAX */
};

struct spool_copy {
	struct spool_inflight entry;
	struct spool_copy_what what;
	/* more, which readers skip */
};

enum spool_block_kind {
	SPOOL_BLOCK_QUEUE = 1, /* entries of struct spool_inflight */
	SPOOL_BLOCK_COPIES,    /* of struct spool_copy */
	SPOOL_BLOCK_WRITTEN    /* of struct spool_written */
};

/* How many records of each type one writer at a time has written: as many are in the trace, unless
 * they were lost between there and the reader. */
#define SPOOL_WRITTEN_TYPES 32u
struct spool_written {
	_Atomic uint64_t count[SPOOL_WRITTEN_TYPES]; /* by enum rec_type */
};
_Static_assert(REC_NR_TYPES <= SPOOL_WRITTEN_TYPES, "every type has a count");

#define SPOOL_BLOCK_MAGIC UINT32_C(0x4b434c42) /* "BLCK" */
#define SPOOL_NO_QUEUE UINT32_MAX
#define SPOOL_MAX_ENGINES                                                                          \
	16u /* copies without an engine, or on a later one, are counted in the last */

/* Followed by nr_items entries of item_size bytes. */
struct spool_block {
	/* set when the block is made, constant afterwards */
	uint32_t magic;
	uint32_t kind; /* enum spool_block_kind */
	uint32_t nr_items, item_size;
	uint64_t size; /* bytes to the next block */
	uint64_t reserved[2];
	/* the queue's index in the trace; SPOOL_NO_QUEUE: it is closed, or the block is of
	 * copies */
	_Atomic uint32_t queue;
	_Atomic uint32_t held;	/* librtl's own: block.h */
	_Atomic uint64_t first; /* of `pushed`, when the queue or the trace was opened */
	uint64_t trace;		/* librtl's own: the number of the trace that it is in, 0: none */
	/* submitted operations; of one writer at a time, in a cache line of its own */
	_Atomic uint64_t pushed;
	uint64_t reserved4[7];
	_Atomic uint64_t copies[SPOOL_MAX_ENGINES + 1]; /* by engine; any thread */
	uint64_t reserved5[15];
};
_Static_assert(sizeof(struct spool_block) == 384, "entries begin at a multiple of 128 bytes");

/* SIGNATURES
 * The signature of a function (OP) describes the words of its calls (API), so that a trace can be
 *	read without the headers that it was made with: signature = [ arg { "," arg } ]
 *	arg       = name ":" type [ ":" role ]
 * An arg takes one word, a dim3 two; what a list takes is the rest of the call's words. Types:
 *	p  pointer, shown as hexadecimal       s  string id, 0 = NULL
 *	h  handle (stream, event, ...), as p   z  size in bytes
 *	i  signed integer   u  unsigned        x  unsigned, shown as hexadecimal
 *	b  boolean          f  float, its 32 bits           g  double, its 64 bits
 *	e=NAME  value of the enumeration NAME
 *	d  dim3: x | y << 32, then z
 *	r  the last one: requests of MPI, two words each: its handle, then of a receive that is
 *	   complete source | tag << 32 (halves with a sign), SPOOL_SOURCE_UNKNOWN or
 *	   SPOOL_SOURCE_CANCELLED; a handle 0 is as many requests more as its second word says
 * A name that begins with "*" is what the pointer of that name points to, read after a call that
 * succeeded (0 if it failed or the pointer was NULL); "a.b" is a member of a structure, "*a.b" of
 * one that is pointed to; "return" is what a function returns that returns no status.
 * Roles say what rtl may want of a call: kernel (function or handle), name (of the kernel, type s),
 * grid and block (d, in workgroups and work-items), gridx gridy gridz blockx blocky blockz, globalx
 * globaly globalz (work-items), shared (bytes of dynamic LDS), stream, bytes, width, height, depth,
 * kind (hipMemcpyKind), dst, src, dstdev, srcdev, graph, exec, node, event, agents (no argument of
 * the call, and not shown with them: the agents of the memory at dst and src, by their indices + 1:
 * src | dst << 16, 0: not known). */

#define SPOOL_SOURCE_UNKNOWN INT32_MIN
#define SPOOL_SOURCE_CANCELLED (INT32_MIN + 1)

#define DRAINER_BUSY (UINT64_C(1) << 63)

#endif
