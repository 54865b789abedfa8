/* SPDX-License-Identifier: MIT */
/* format.h - the trace of one process on disk and in memory, byte by byte
 *
 * All numbers are little-endian, fixed width and aligned to their size; there is no implicit
 * padding, and every structure has a static_assert on its size. A change of meaning bumps
 * SPOOL_VERSION and adds a golden file to tests/golden/.
 *
 * TWO HALVES
 *   A process writes one trace, which lies in two files while the process lives:
 *
 *   memory half  "NAME.mem", on a memory file system where there is one. Mapped shared by the
 *                traced process, so that what was written survives any death of the process:
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
 *   - A damaged chunk on disk costs that chunk: a reader names file and offset, looks for the
 *     next 8-byte aligned chunk magic, and counts the bytes left out.
 *   - Bytes behind `disk_end` of a trace that is not closed are a torn write; they are ignored. While
 *     there is a memory half, its `disk_end` counts: the disk half's lags behind. When the memory half
 *     of a trace that is not closed is lost, valid chunks behind the disk half's `disk_end` count, too.
 *   - The order of chunks is the order of draining. Records of one chunk are in the order of
 *     writing. No order holds between chunks; a reader must take a string, agent, queue, kernel or
 *     marker record into account wherever it stands. Shapes are the exception: they are local to
 *     their chunk and stand before their first use.
 *   - A record type that a reader does not know is skipped by its size and counted.
 *
 * TIMES
 *   `_ns`: nanoseconds of the clock that ROCr calls system time (HSA_SYSTEM_INFO_TIMESTAMP);
 *   spool_header.clock_id says which clock of the host that is. `_ticks`: raw ticks of the GPU.
 *   An end before a begin is stored as it came, with REC_F_INVERTED.
 */
#ifndef RTL_EVENT_FORMAT_H
#define RTL_EVENT_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#define SPOOL_MAGIC UINT64_C(0x4c4f4f50534c5452) /* "RTLSPOOL" */
#define CHUNK_MAGIC UINT32_C(0x4b4e4843)	 /* "CHNK" */
#define SPOOL_VERSION 1
#define SPOOL_PAGE 4096u
#define SPOOL_HEADER_SIZE (2 * SPOOL_PAGE)
/* Bytes, chunk header included. So large because shapes are local to a chunk: with some hundred of them in
 * turn, each must come often enough in one. Traces with smaller slots are read, too. */
#define SLOT_SIZE 98304u
#define SPOOL_NAME_SIZE 512

/* Why something is not in the trace. X(NAME, class, text): class LOSS makes the verdict
 * "incomplete"; SKIPPED was left out by the user's choice; NOTE tells of something that is in the trace. */
#define SPOOL_REASONS(X)                                                                                  \
	X(buffer_full, LOSS, "no free buffer: draining did not keep up")                                  \
	X(disk_full, LOSS, "the disk was full and the buffers too")                                       \
	X(write_error, LOSS, "the spool could not be written")                                            \
	X(inflight_full, LOSS, "dispatch not timed: the in-flight ring of its queue was full")            \
	X(signal_create, LOSS, "dispatch not timed: no completion signal could be created")               \
	X(queue_plain, LOSS, "queue not traced: too many, no memory, or no doorbell")                     \
	X(graph_batch, LOSS, "packets of a batch, passed through untimed (earlier versions)")             \
	X(no_timestamps, LOSS, "operation recorded without times: the GPU wrote none")                    \
	X(signal_reused, LOSS, "operation recorded without times: its signal was reused at once")         \
	X(runtime_overwritten, LOSS,                                                                      \
	  "packets of the runtime's own queues, gone before they were read")                              \
	X(copy_shared_signal, LOSS, "copy recorded without times: its signal was shared")                 \
	X(thread_slots, LOSS, "event of a thread beyond the number of threads kept")                      \
	X(reentrant, LOSS, "event inside of another event (signal handler)")                              \
	X(late, LOSS, "event after the trace was closed")                                                 \
	X(start_failed, LOSS, "the trace could not be started")                                           \
	X(bad_chunk, LOSS, "a damaged chunk was left out by the reader")                                  \
	X(lite_signal, SKIPPED, "packets with a signal of the program (mode lite)")                       \
	X(unfinished, NOTE, "operations that had not completed when the process ended")                   \
	X(inverted, NOTE, "operations whose end lies before their begin, kept as they came")              \
	X(shared_signal, NOTE,                                                                            \
	  "dispatches whose signal was shared: timed behind a barrier packet")                            \
	X(api_missed, LOSS,                                                                               \
	  "operations whose HIP call was not seen, or not told: RTL_HIP_BACKEND")                         \
	X(paused, SKIPPED,                                                                                \
	  "calls, markers and operations while the program had recording stopped")                        \
	X(queue_unseen, LOSS, "queue not traced: it was made in a way that librtl does not know")         \
	X(queue_bypassed, LOSS,                                                                           \
	  "dispatches that reached the hardware past the HSA functions (doorbells of the program's own)") \
	X(pool_memory, NOTE, "records of a libroctracer64 pool that there was no memory for")

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
	/* set in create, constant after */
	uint64_t magic;
	uint32_t version;
	uint32_t header_size; /* SPOOL_HEADER_SIZE */
	uint64_t trace_id[2]; /* random; equal in both halves */
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns;	   /* BOOTTIME when the trace was started */
	uint64_t proc_start_ticks; /* field 22 of /proc/PID/stat: tells the pid's reuse */
	uint32_t nr_slots;
	uint32_t slot_size;
	uint32_t slots_offset;		 /* bytes from the start of the memory half to slot 0 */
	uint32_t desc_offset;		 /* bytes to the slot_desc array */
	char boot_id[40];		 /* /proc/sys/kernel/random/boot_id */
	char mem_path[SPOOL_NAME_SIZE];	 /* absolute; "" when there is no memory half any more */
	char disk_path[SPOOL_NAME_SIZE]; /* absolute */
	uint8_t reserved0[SPOOL_PAGE - 8 - 8 - 16 - 8 - 16 - 16 - 40 - 2 * SPOOL_NAME_SIZE];

	/* second page: atomic */
	_Atomic uint64_t disk_end; /* bytes of the disk half that are whole; at least header_size */
	_Atomic uint64_t next_seq; /* last chunk sequence number given out */
	_Atomic uint64_t free_head; /* (tag << 32 | slot + 1), a stack linked by slot_desc.next */
	/* 0, or the process that drains: its pid | number << 32 | DRAINER_BUSY */
	_Atomic uint64_t drainer;
	_Atomic uint64_t drainer_ns; /* BOOTTIME of its last sign of life */
	_Atomic uint32_t clock_id;   /* enum spool_clock */
	_Atomic uint32_t closed;     /* 1: the process ended in order and all is on disk */
	_Atomic uint32_t disk_state; /* 0, or the errno of the last failed write of the disk half */
	_Atomic uint32_t nr_free; /* prepared slots on the free stack, for the one who prepares */
	_Atomic uint32_t nr_prepared; /* slots [0, nr_prepared) have memory behind them */
	_Atomic uint32_t end_kind;    /* enum spool_end */
	_Atomic uint64_t end_ns;
	_Atomic uint64_t nr_records; /* on disk, for progress bars; not exact after a kill */
	/* 0, or what its drainer writes now: slot + 1 | (offset / 8) << 20; see drain.c */
	_Atomic uint64_t intent;
	uint64_t reserved1[4];
	struct spool_loss loss[SPOOL_MAX_REASONS];
	uint8_t reserved2[SPOOL_PAGE - 120 - SPOOL_MAX_REASONS * 24];
};
_Static_assert(sizeof(struct spool_header) == SPOOL_HEADER_SIZE, "spool_header");
_Static_assert(SPOOL_NR_REASONS <= SPOOL_MAX_REASONS, "reasons fit in the header");

enum spool_end { SPOOL_END_NONE = 0 /* killed, or still running */, SPOOL_END_EXIT = 1 };

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
	_Atomic uint32_t committed; /* payload bytes that are valid, multiple of 8 */
	uint32_t tid;		    /* thread that opened it; another may go on after its end */
	uint32_t nr_records;	    /* owner thread; on disk exact */
	uint32_t reserved;
};
_Static_assert(sizeof(struct chunk_header) == 32, "chunk_header");
#define CHUNK_PAYLOAD (SLOT_SIZE - (uint32_t)sizeof(struct chunk_header))

enum rec_type {
	REC_STRING = 1,
	REC_INFO,
	REC_CLOCK,
	REC_THREAD,
	REC_AGENT,
	REC_QUEUE,
	REC_QUEUE_END,
	REC_CODE_OBJECT,
	REC_CODE_OBJECT_END,
	REC_KERNEL,
	REC_SHAPE,
	REC_DISPATCH,
	REC_DISPATCH_WIDE,
	REC_COPY,
	REC_BARRIER,
	REC_MARKER,
	REC_MARKER_END,
	REC_OP,
	REC_API,
	REC_LINK,
};

enum rec_flags {
	REC_F_HAD_SIGNAL = 1 << 0, /* the packet came with a signal of its owner */
	REC_F_INVERTED = 1 << 1,   /* end before begin, as the GPU wrote it */
	REC_F_NO_TIME = 1 << 2,	   /* begin and end are 0: they could not be read */
	REC_F_UNFINISHED = 1 << 3, /* not completed when the process ended: end is 0 */
	REC_F_GRAPH = 1 << 4,	   /* earlier versions: came in a batch; not written any more */
	REC_F_INTERNAL = 1 << 5,   /* on a queue of the runtime's own */
	REC_F_SHARED = 1 << 6,	   /* signal was shared: timed behind a barrier packet */
	REC_F_TEXT = 1 << 7,	   /* REC_MARKER: `text` holds the message, else a string id */
	REC_F_HOST_TIME = 1 << 8,  /* times are those of the blocking call, read on the host */
	REC_F_NO_STATUS = 1 << 9,  /* REC_API: what the function returned is not known */
};

/* Every record: size8 * 8 bytes, this first. `id` is the thread or the object, by type. */
struct rec_head {
	uint8_t type;
	uint8_t size8;
	uint16_t flags;
	uint32_t id;
};
_Static_assert(sizeof(struct rec_head) == 8, "rec_head");
#define REC_MAX_SIZE (255u * 8u)

/* A string in pieces of at most REC_STRING_PIECE bytes; id from 1, unique in the process. */
struct rec_string {
	struct rec_head h; /* id: the string's */
	uint32_t total;	   /* bytes of the whole string, no NUL */
	uint32_t offset;   /* of this piece */
	char bytes[];	   /* min(total - offset, REC_STRING_PIECE), padded with NUL to 8 */
};
#define REC_STRING_PIECE 1984u

/* What is known of the process. Keys: "command", "exe", "cwd", "host", "rank", "world_size",
 * "local_rank", "job", "mode", "version", "library" (one for each ROCm library mapped), ... */
struct rec_info {
	struct rec_head h;
	uint32_t key, value; /* string ids */
};

/* The clocks at one instant. id: agent index + 1 with its ticks, or 0 (ticks = 0). */
struct rec_clock {
	struct rec_head h;
	uint64_t system_ns, monotonic_ns, boottime_ns, realtime_ns, ticks;
};

struct rec_thread {
	struct rec_head h; /* id: tid */
	uint64_t first_ns;
	char name[16]; /* as in /proc/PID/task/TID/comm when first seen */
};

enum rec_agent_type { REC_AGENT_CPU = 0, REC_AGENT_GPU = 1, REC_AGENT_OTHER = 2 };

struct rec_agent {
	struct rec_head h; /* id: agent index, from 0 over all agents */
	uint64_t handle;
	uint32_t name, product, vendor, uuid; /* string ids; name is the ISA's, as gfx900 */
	uint32_t agent_type;		      /* enum rec_agent_type */
	uint32_t gpu_index;		      /* among GPUs, from 0; UINT32_MAX otherwise */
	uint32_t node;			      /* driver node id */
	uint32_t nr_cu, simd_per_cu, wave_size, max_waves_per_cu, clock_mhz, bdf, reserved;
};

enum rec_queue_flags { REC_QUEUE_INTERNAL = 1, REC_QUEUE_PLAIN = 2 /* not traced */ };

struct rec_queue {
	struct rec_head h; /* id: queue index, from 0, never reused; flags: enum rec_queue_flags */
	uint64_t hsa_id;   /* hsa_queue_t.id */
	uint64_t handle;   /* address of the hsa_queue_t that the program sees */
	uint64_t time_ns;
	uint32_t agent, size /* packets */, tid, queue_type;
};

struct rec_end {	   /* REC_QUEUE_END, REC_CODE_OBJECT_END, REC_MARKER_END */
	struct rec_head h; /* id: the object's, or the thread's (REC_MARKER_END) */
	uint64_t time_ns;
	uint64_t marker; /* REC_MARKER_END: the marker's id, else 0 */
};

struct rec_code_object {
	struct rec_head h; /* id: code object id, from 1, never reused */
	uint64_t load_base, load_size, load_delta, time_ns;
	uint32_t uri, agent; /* string id; agent index */
};

struct rec_kernel {
	struct rec_head h;    /* id: kernel id, from 1, never reused */
	uint64_t object;      /* kernel object handle as in the packet */
	uint32_t name;	      /* string id, mangled */
	uint32_t code_object; /* id, 0 = the runtime's own or unknown */
	uint32_t agent;
	uint32_t kernarg_size, group_size, private_size; /* bytes */
	uint32_t rsrc1, rsrc2, rsrc3, reserved; /* of the kernel descriptor, 0 if not readable */
};

/* What dispatches have in common, so that a dispatch costs 48 bytes. Local to its chunk. */
struct rec_shape {
	struct rec_head h; /* id: local to the chunk, from 0, ascending */
	uint32_t kernel, queue;
	uint32_t grid[3]; /* work-items */
	uint16_t group[3], reserved;
	uint32_t private_size,
		group_size; /* bytes per work-item; per workgroup, static + dynamic */
	uint32_t reserved2;
};

struct rec_dispatch {
	struct rec_head h; /* id: thread that submitted it */
	uint64_t begin_ticks, begin_ns;
	uint32_t ticks, ns; /* durations */
	uint32_t shape;
	uint32_t packet;      /* packet index in its queue */
	uint32_t correlation; /* this id */
	uint32_t marker;      /* innermost open range of the thread, 0 = none */
};

/* As rec_dispatch, when something does not fit into 32 bits, or the end is before the begin. */
struct rec_dispatch_wide {
	struct rec_head h;
	uint64_t begin_ticks, end_ticks, begin_ns, end_ns, packet, correlation, marker;
	uint32_t shape, reserved;
};

enum rec_copy_kind {
	REC_COPY_H2H = 0,
	REC_COPY_H2D,
	REC_COPY_D2H,
	REC_COPY_D2D,
	REC_COPY_P2P,
	REC_COPY_FILL,
	REC_COPY_UNKNOWN
};

struct rec_copy {
	struct rec_head h;						 /* id: thread */
	uint64_t begin_ns, end_ns, bytes, correlation, marker, dst, src; /* addresses */
	uint32_t dst_agent, src_agent, kind, engine; /* agent index; SDMA engine or UINT32_MAX */
};

struct rec_barrier {
	struct rec_head h; /* id: thread */
	uint64_t begin_ns, end_ns, packet, correlation;
	uint32_t queue, kind; /* AQL packet type */
};

enum rec_marker_kind { REC_MARKER_MARK = 0, REC_MARKER_PUSH, REC_MARKER_START };

struct rec_marker {
	struct rec_head h;	  /* id: thread */
	uint64_t time_ns, marker; /* marker id, from 1, unique in the process */
	uint64_t parent;	  /* id of the range around it in its thread, 0 = none */
	uint32_t kind;		  /* enum rec_marker_kind */
	uint32_t level;		  /* nesting level, 0 = outermost */
	uint32_t text_size;	  /* bytes of text (REC_F_TEXT), else the string's id */
	uint32_t reserved;
	char text[]; /* REC_F_TEXT: padded with NUL to 8 */
};
#define REC_MARKER_TEXT_MAX 1024u /* longer messages become strings */

enum rec_api_domain { REC_API_HIP = 1, REC_API_HSA = 2, REC_API_NR_DOMAINS };

/* A function of a domain, once per process, before or after its calls. The signature tells what
 * the words of its calls are, so that a trace can be read without the headers that it was made with:
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
struct rec_op {
	struct rec_head h;	  /* id: domain << 16 | number of the function in its model */
	uint32_t name, signature; /* string ids */
};

/* A call; nr_words words of arguments follow, as its rec_op says. */
struct rec_api {
	struct rec_head h; /* id: thread */
	uint64_t begin_ns, end_ns;
	uint64_t correlation; /* its own */
	uint64_t parent;      /* correlation id of the call around it, 0 = none */
	uint16_t op;
	uint8_t domain;	  /* enum rec_api_domain */
	uint8_t nr_words; /* at most REC_API_MAX_WORDS; 0 without arguments */
	int32_t status;	  /* as returned; 0 where the function returns none */
	uint64_t words[];
};
#define REC_API_MAX_WORDS 240u

/* Operations that HIP submits from threads of its own: one that was recorded with the correlation id
 * `operation`, which is its alone, belongs to the call `correlation` of thread h.id, made within the range
 * `marker`. Stands before the operation's record, or behind it. */
struct rec_link {
	struct rec_head h; /* id: thread of the call */
	uint64_t operation, correlation, marker;
};

#define REC_ASSERT(type, size)                                                                     \
	_Static_assert(sizeof(struct type) == (size) && (size) % 8 == 0, #type)
REC_ASSERT(rec_string, 16);
REC_ASSERT(rec_info, 16);
REC_ASSERT(rec_clock, 48);
REC_ASSERT(rec_thread, 32);
REC_ASSERT(rec_agent, 72);
REC_ASSERT(rec_queue, 48);
REC_ASSERT(rec_end, 24);
REC_ASSERT(rec_code_object, 48);
REC_ASSERT(rec_kernel, 56);
REC_ASSERT(rec_shape, 48);
REC_ASSERT(rec_dispatch, 48);
REC_ASSERT(rec_dispatch_wide, 72);
REC_ASSERT(rec_copy, 80);
REC_ASSERT(rec_barrier, 48);
REC_ASSERT(rec_marker, 48);
REC_ASSERT(rec_op, 16);
REC_ASSERT(rec_api, 48);
REC_ASSERT(rec_link, 32);

#define DRAINER_BUSY (UINT64_C(1) << 63)

#endif
