/* SPDX-License-Identifier: MIT */
/* fake_hsa.h - a runtime without a GPU, for tests of source/hsa
 *
 * It builds API tables of any layout, passes them to table_take(), and is then called by the source
 * instead of the runtime. Its GPU does nothing by itself: a test or its threads step it, packet by
 * packet. It checks at all times, and ends the test otherwise:
 *   - on an interposed queue: each doorbell value is the last packet before the write index, never
 *     decreases, never exceeds the ring, and every packet that it announces is valid; the GPU takes
 *     packets up to the doorbell's value alone, and writes INVALID before it advances the read
 *     index (`lax` switches this off for one queue),
 *   - on an intercepted queue: the writer is called exactly once for each callback (never for a
 *     dead queue), and the hardware's ring never overflows, unless `fake.staging` (runtimes that
 *     batch have a buffer behind it),
 *   - the handle of a counted queue is passed to the runtime's functions alone, and not after its
 *     release,
 *   - a destroyed signal belongs to librtl, and was not destroyed before.
 *
 * A dispatch has its id in grid_size_x. Its ticks are a function of the id, so that a test can
 * compare an event with its dispatch.
 *
 * fake_queue.c has queues and the GPU, fake_signal.c signals, fake_copy.c copies, fake_hsa.c the
 * rest.
 */
#ifndef RTL_SUPPORT_FAKE_HSA_H
#define RTL_SUPPORT_FAKE_HSA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa_table_gen.h"
#include "source/hsa/completion/signal.h"
#include "source/hsa/queue/packet.h"
#include "source/hsa/queue/queue.h"

#define FAKE_LOG_SIZE (1u << 17) /* packets kept of what each queue's GPU took */
#define FAKE_NR_AGENTS 3u	 /* 0: CPU, 1 and 2: GPUs */
#define FAKE_MAX_AMD 100u
#define FAKE_NR_RINGS 256u

union fake_packet {
	uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier;
	struct packet_ext_dispatch ext;
	unsigned char bytes[64];
};

enum fake_kind {
	FAKE_UNKNOWN,	  /* created by a test, by no function */
	FAKE_PLAIN,	  /* the program has the hardware's ring */
	FAKE_INTERCEPTED, /* the hardware's ring is behind it */
	FAKE_INTERNAL,	  /* the runtime's own */
};

/* A store to the doorbell that reached the runtime, and the function. */
struct fake_ring {
	int64_t value;
	enum hsa_core_id how;
};

struct fake_queue {
	union { /* what the program sees; must be first */
		amd_queue_t amd;
		hsa_queue_t hsa;
	};
	enum fake_kind kind;
	union fake_packet *hw; /* the hardware's ring */
	uint64_t hw_size;
	union fake_packet *taken; /* FAKE_PLAIN: packets as the GPU took them, by index */
	_Atomic uint64_t *write,
		*read; /* of the hardware's ring; a plain queue's are those in `amd` */
	_Atomic uint64_t hw_write, hw_read;
	/* FAKE_PLAIN */
	_Atomic uint64_t announced; /* packets before this, by the doorbell */
	_Atomic uint64_t nr_rings;
	struct fake_ring rings[FAKE_NR_RINGS]; /* by number, in a circle */
	bool lax;			       /* the doorbell's values are not checked */
	bool is_ours;			       /* librtl made it for itself */
	uint32_t nr_refs;		       /* a cooperative queue: number of handles */
	/* FAKE_INTERCEPTED */
	uint64_t user_index;
	hsa_amd_queue_intercept_handler handler;
	void *handler_data;
	unsigned nr_writes; /* writer calls within the running callback */
	uint64_t nr_callbacks;
	pthread_mutex_t lock; /* as the runtime serialises callbacks */
	void (*error)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *error_data;
	_Atomic bool profiled, destroyed, dead;
	pthread_mutex_t gpu; /* held by the thread that runs a queue of librtl's */
};

/* As hsa_amd_queue_create_desc_t of ROCm 10. */
struct fake_desc {
	uint16_t version, flags;
	uint8_t engine_type, reserved_header[3];
	uint32_t queue_size_bytes, priority;
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *callback_data;
	hsa_queue_t *queue;
	uint64_t engine[4];
	uint32_t traffic_class, reserved[5];
};
_Static_assert(sizeof(struct fake_desc) == 96, "as in hsa_ext_amd.h");

/* As hsa_amd_memory_copy_op_t of ROCm 10; its earlier form ends after `other_size`. */
struct fake_op {
	uint16_t version, type, nr_entries, traffic_class;
	hsa_signal_t completion_signal;
	const void *src;
	hsa_agent_t src_agent;
	const void *dst_agent;
	const void *dst;
	size_t size, other_size;
	uint64_t rest[8];
};
_Static_assert(sizeof(struct fake_op) == 128, "as in hsa_ext_amd.h");

struct fake_symbol {
	const char *name;
	uint64_t object;
	uint32_t agent; /* index */
};

enum { FAKE_COUNTED_SIZE = 1024 }; /* of the counted queue */

/* What hsa_amd_pointer_info says of some addresses. */
struct fake_memory {
	const void *base;
	uint64_t size;
	uint32_t type, agent; /* hsa_amd_pointer_type_t; index */
};

struct fake_hsa {
	/* set by the test, before or between calls */
	bool staging;	       /* a batch may go beyond an intercepted queue's ring */
	bool refuse_intercept; /* hsa_amd_queue_intercept_create fails */
	bool refuse_register;  /* hsa_amd_queue_intercept_register fails */
	bool refuse_destroy;   /* hsa_queue_destroy and hsa_amd_counted_queue_release fail */
	bool refuse_ours;      /* librtl cannot create queues */
	bool hold_ours;	       /* the GPU does not run librtl's queues */
	bool soft;	       /* hsa_queue_create makes queues with an ordinary doorbell */
	bool in_device;	       /* hsa_amd_pointer_info returns that for every ring */
	struct fake_memory memory[4];
	unsigned nr_memory;
	struct fake_queue *reuse; /* the next queue gets the memory of this one */
	uint32_t refuse_desc;	  /* 1 + the descriptor that hsa_amd_queue_create refuses */
	bool refuse_descs;	  /* it refuses the call and reads no descriptor */
	size_t desc_size;	  /* of its descriptors; 0: 96, as version 1 has it */
	size_t batch_stride;	  /* bytes of a batch copy's operation; 0: 128 */
	uint32_t refuse_op;	  /* 1 + the operation at which a batch copy fails */
	bool refuse_copy;	  /* hsa_amd_memory_async_copy fails */
	bool wake_first;	  /* the life thread must not sleep deeply when the GPU gets work */
	bool copy_by_kernel;	  /* async copies are dispatches on fake.internal */
	bool copy_at_once;	  /* async copies complete before the call returns */
	_Atomic bool no_times;	  /* the GPU writes no times */
	_Atomic bool inverted;	  /* it writes end before begin */
	_Atomic uint64_t no_signal_after; /* signal creation fails from this count on; 0: never */
	void (*in_copy)(void);		  /* runs inside of the real async copy call */
	/* runs at the end of the real hsa_queue_destroy of a program's queue */
	void (*in_destroy)(struct fake_queue *q);
	/* runs inside of the real functions that load and store write indices, with their handle */
	void (*in_index)(const hsa_queue_t *handle);
	/* runs inside of the real hsa_amd_counted_queue_acquire, before it returns */
	void (*in_acquire)(void);
	/* counted */
	_Atomic uint64_t nr_signals_made, nr_signals_destroyed, nr_async_handlers;
	_Atomic uint64_t nr_early_times;  /* requests for copy times before completion */
	_Atomic uint64_t nr_plain_queues; /* made by hsa_queue_create for the program */
	_Atomic uint64_t nr_own_queues;	  /* made by it for librtl, and not destroyed */
	_Atomic uint64_t nr_acquired;	  /* handles of counted queues that are not released */
	/* the runtime's own queue, when fake_internal_queue() made one */
	struct fake_queue *internal;
	/* the hardware queue behind all counted ones, and the cooperative one, when they were
	 * made */
	struct fake_queue *counted, *cooperative;
	hsa_amd_runtime_queue_notifier internal_notifier;
	hsa_amd_system_event_callback_t fault_handler;
	/* the tables */
	struct hsa_mirror_root root;
	struct {
		struct hsa_mirror_version version;
		void *entry[HSA_CORE_NR];
	} core;
	struct {
		struct hsa_mirror_version version;
		void *entry[FAKE_MAX_AMD];
	} amd;
};
extern struct fake_hsa fake;

/* Reads the environment, attaches the recording sink, makes life ON, builds a table with
 * `nr_amd` extension entries (0: 48, as in 5.2.3) and loads it in `mode` (NULL: standard). */
void fake_open(const char *mode, unsigned nr_amd);
/* The same with RTL_QUEUES=intercept. */
void fake_open_intercept(const char *mode, unsigned nr_amd);
/* As fake_open(), with the life thread, which then harvests, and ticks fake_source as well. */
extern const struct source *fake_source; /* NULL: none */
void fake_open_live(const char *mode, unsigned nr_amd);
/* Only the parts: for tests of how tables are taken. */
void fake_setup(const char *mode);
void fake_build_tables(unsigned nr_amd);
/* The value of an entry without a fake function. */
void *fake_stranger(unsigned index);

/* FAKE_CALL(core, queue_destroy)(q): a function of the tables as they are now. */
#define FAKE_CORE(name)                                                                            \
	((hsa_##name##_fn_t)__atomic_load_n(hsa_table_core_slot(&fake.core, HSA_CORE_##name),      \
					    __ATOMIC_ACQUIRE))
#define FAKE_AMD(name)                                                                             \
	((hsa_amd_##name##_fn_t)__atomic_load_n(hsa_table_amd_slot(&fake.amd, HSA_AMD_##name),     \
						__ATOMIC_ACQUIRE))

hsa_agent_t fake_agent(unsigned index);

/* ---- the program ---- */

struct fake_queue *fake_queue_create(uint32_t size); /* on agent 1 */
void fake_queue_destroy(struct fake_queue *q);
hsa_signal_t fake_signal(int64_t value);  /* as hsa_signal_create() */
void fake_signal_destroy(hsa_signal_t s); /* through the table */
void fake_signal_set(hsa_signal_t s, int64_t value);
int64_t fake_signal_get(hsa_signal_t s);

/* Reserve packets in the ring as programs do, by adding to the write index and by the other two
 * ways. */
uint64_t fake_reserve(struct fake_queue *q, uint64_t n);
uint64_t fake_reserve_cas(struct fake_queue *q, uint64_t expected, uint64_t value);
void fake_reserve_store(struct fake_queue *q, uint64_t value);
/* Writes packet `index` into its slot, which is free, the header last. Not for intercepted
 * queues. */
void fake_publish(struct fake_queue *q, uint64_t index, const union fake_packet *p);
/* Stores `value` to the doorbell. */
void fake_ring(struct fake_queue *q, uint64_t value);

union fake_packet fake_dispatch(uint32_t id, hsa_signal_t completion);
union fake_packet fake_ext_dispatch(uint32_t id, hsa_signal_t completion);
union fake_packet fake_barrier(hsa_signal_t dep, hsa_signal_t completion);
/* Reserves, writes and announces `n` packets with one doorbell (an intercepted queue: one
 * callback). When no slot is free it rings for the packets so far and waits. */
void fake_submit(struct fake_queue *q, const union fake_packet *packets, uint64_t n);
void fake_submit_dispatch(struct fake_queue *q, uint32_t id);

/* An asynchronous copy of `bytes` from agent 1 to the CPU, through the table. */
hsa_status_t fake_copy(uint64_t bytes, hsa_signal_t completion);

/* A handle of the counted queue. */
hsa_queue_t *fake_acquire(void);
void fake_release(hsa_queue_t *handle);

/* ---- the GPU ---- */

uint64_t fake_begin_ticks(uint32_t id);
uint64_t fake_end_ticks(uint32_t id);
uint64_t fake_ticks_to_ns(uint64_t ticks);

/* Processes up to `n` packets in order; returns how many (fewer: no more packets, or a waiting
 * barrier). Then it runs librtl's queues. */
uint64_t fake_gpu_run(struct fake_queue *q, uint64_t n);
/* librtl's queues alone. */
void fake_gpu_run_ours(void);
/* Takes the next packets out of the ring without completing them; completes one of those. */
void fake_gpu_launch(struct fake_queue *q, uint64_t n);
void fake_gpu_complete(struct fake_queue *q, uint64_t hw);
/* Packet `hw` of the hardware's ring, now or when the GPU took it. */
union fake_packet *fake_hw(struct fake_queue *q, uint64_t hw);
/* Packets that were announced to the hardware and not taken. */
uint64_t fake_in_ring(struct fake_queue *q);
/* A thread that runs the packets of `q` until it is stopped and the queue is empty. */
struct fake_gpu {
	struct fake_queue *q;
	unsigned pause_us; /* after each batch of packets */
	unsigned stretch;  /* 0: 64 */
	uint64_t nr_run;
	_Atomic bool stop;
	pthread_t thread;
};
void fake_gpu_start(struct fake_gpu *g);
void fake_gpu_stop(struct fake_gpu *g);
/* The `i`th store to the doorbell, from 0. */
struct fake_ring fake_ring_at(struct fake_queue *q, uint64_t i);
/* The `i`th of librtl's queues, in order of creation. */
struct fake_queue *fake_own_queue(unsigned i);
/* Completes the copy with signal `s`; 0 ticks: without times. */
void fake_copy_complete(hsa_signal_t s, uint64_t begin_ticks, uint64_t end_ticks);
/* The runtime creates an internal queue and notifies of it. */
struct fake_queue *fake_internal_queue(uint32_t size);
/* A packet on the internal queue, as of a blit kernel; completes at once if `run`. */
void fake_internal_dispatch(struct fake_queue *q, uint32_t id, hsa_signal_t completion, bool run);
/* The runtime or the GPU writes packets into a program's queue, past the HSA functions. */
void fake_bypass(struct fake_queue *q, const union fake_packet *packets, uint64_t n);
/* The program writes the hardware's doorbell. From here on the queue is `lax`. */
void fake_ring_hardware(struct fake_queue *q, uint64_t value);
/* The queue's real write index. */
uint64_t fake_write_index(const struct fake_queue *q);

/* ---- ticks of the source, and its events ---- */

/* One tick of the source, `ms` after the previous one. */
void fake_tick(unsigned ms);
/* Six ticks, far enough apart for full scans. */
void fake_harvest(void);
/* The GPU runs all packets, and the source harvests them. */
void fake_run_all(struct fake_queue *q);
/* Each dispatch with an id in [first, first + n) was recorded once, with its ticks. Every recorded
 * dispatch has `flags` and lacks `no_flags`. */
void fake_check_dispatches(uint32_t first, uint32_t n, uint16_t flags, uint16_t no_flags);

/* Executables: from a list of symbols. */
hsa_executable_t fake_executable(const struct fake_symbol *symbols, unsigned nr);

#endif
