/* SPDX-License-Identifier: MIT */
/* fake_hsa.h - a runtime without a GPU, for tests of source/hsa
 *
 * It builds API tables of any layout, hands them to table_load(), and is then called by the source
 * in place of the runtime. Its GPU does nothing by itself: a test steps it, packet by packet, or
 * lets threads do so. What it checks all the time, ending the test:
 *   - the writer is called exactly once for each callback (never for a dead queue),
 *   - the hardware's ring never overflows, unless `fake.staging` (runtimes that batch have a
 *     buffer behind it),
 *   - a signal that is destroyed is ours to destroy, and was not destroyed before.
 *
 * A dispatch carries an id of the test in grid_size_x. Its ticks follow from the id, so that an
 * event can be checked against the dispatch that it claims to be.
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
#include "source/hsa/queue.h"
#include "source/hsa/signal.h"

#define FAKE_HW_SIZE (1u << 17) /* packets kept of each queue's ring */
#define FAKE_NR_AGENTS 3u	/* 0: CPU, 1 and 2: GPUs */
#define FAKE_MAX_AMD 80u

union fake_packet {
	uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier;
	unsigned char bytes[64];
};

struct fake_queue {
	hsa_queue_t hsa; /* what the program sees; must be first */
	uint64_t user_index;
	union fake_packet *hw;
	uint64_t hw_size; /* packets kept: FAKE_HW_SIZE, or hsa.size on a queue of the runtime */
	_Atomic uint64_t write, read; /* of the hardware's ring */
	_Atomic uint64_t reserved;    /* by the program, through the table's functions */
	hsa_amd_queue_intercept_handler handler;
	void *handler_data;
	void (*error)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *error_data;
	_Atomic bool profiled, destroyed, dead;
	unsigned nr_writes; /* writer calls within the running callback */
	uint64_t nr_callbacks;
	pthread_mutex_t lock; /* as the runtime serialises callbacks */
};

struct fake_symbol {
	const char *name;
	uint64_t object;
	uint32_t agent; /* index */
};

struct fake_hsa {
	/* set by the test, before or between calls */
	bool staging;			  /* a batch may go beyond the ring */
	bool refuse_intercept;		  /* hsa_amd_queue_intercept_create fails */
	bool refuse_register;		  /* hsa_amd_queue_intercept_register fails */
	bool refuse_destroy;		  /* hsa_queue_destroy fails */
	bool refuse_copy;		  /* hsa_amd_memory_async_copy fails */
	bool copy_by_kernel;		  /* async copies are dispatches on fake.rtqueue */
	bool copy_at_once;		  /* async copies complete before the call returns */
	_Atomic bool no_times;		  /* the GPU writes no times */
	_Atomic bool inverted;		  /* it writes end before begin */
	_Atomic uint64_t no_signal_after; /* signal creation fails from this count on; 0: never */
	void (*in_copy)(void);		  /* runs inside of the real async copy call */
	/* counted */
	_Atomic uint64_t nr_signals_made, nr_signals_destroyed, nr_async_handlers;
	_Atomic uint64_t nr_early_times; /* copy times asked for before they were there */
	_Atomic uint64_t nr_plain_queues, nr_error_calls;
	/* the runtime's own queue, when fake_runtime_queue() made one */
	struct fake_queue *rtqueue;
	hsa_amd_runtime_queue_notifier rtqueue_notifier;
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
/* The same with the life thread, which harvests by itself then. */
void fake_open_live(const char *mode, unsigned nr_amd);
/* Only the parts: for tests of table.c. */
void fake_setup(const char *mode);
void fake_build_tables(unsigned nr_amd);
/* What an entry holds that no fake function is in. */
void *fake_stranger(unsigned index);

hsa_agent_t fake_agent(unsigned index);

/* ---- what the program does ---- */

struct fake_queue *fake_queue_create(uint32_t size); /* on agent 1 */
void fake_queue_destroy(struct fake_queue *q);
hsa_signal_t fake_signal(int64_t value);  /* as hsa_signal_create() */
void fake_signal_destroy(hsa_signal_t s); /* through the table */
void fake_signal_set(hsa_signal_t s, int64_t value);
int64_t fake_signal_get(hsa_signal_t s);

/* Reserve places in the ring as programs do, by adding to the write index and by the other two ways. */
uint64_t fake_reserve(struct fake_queue *q, uint64_t n);
void fake_reserve_cas(struct fake_queue *q, uint64_t expected, uint64_t value);
void fake_reserve_store(struct fake_queue *q, uint64_t value);

union fake_packet fake_dispatch(uint32_t id, hsa_signal_t completion);
union fake_packet fake_barrier(hsa_signal_t dep, hsa_signal_t completion);
/* Rings the doorbell: one callback with `n` packets. */
void fake_submit(struct fake_queue *q, const union fake_packet *packets, uint64_t n);
void fake_submit_dispatch(struct fake_queue *q, uint32_t id);

/* An asynchronous copy of `bytes` from agent 1 to the CPU, through the table. */
hsa_status_t fake_copy(uint64_t bytes, hsa_signal_t completion);

/* ---- what the GPU does ---- */

uint64_t fake_begin_ticks(uint32_t id);
uint64_t fake_end_ticks(uint32_t id);
uint64_t fake_ticks_to_ns(uint64_t ticks);

/* Processes up to `n` packets in order; returns how many (less: empty, or a barrier that waits). */
uint64_t fake_gpu_run(struct fake_queue *q, uint64_t n);
/* Takes the next packet out of the ring without completing it; completes one that was taken. */
void fake_gpu_launch(struct fake_queue *q, uint64_t n);
void fake_gpu_complete(struct fake_queue *q, uint64_t hw);
union fake_packet *fake_hw(struct fake_queue *q, uint64_t hw);
uint64_t fake_in_ring(struct fake_queue *q);
/* Completes a copy that was given `s`; 0 ticks: without times. */
void fake_copy_complete(hsa_signal_t s, uint64_t begin_ticks, uint64_t end_ticks);
/* The runtime makes a queue of its own, and announces it. */
struct fake_queue *fake_runtime_queue(uint32_t size);
/* A packet on the runtime's queue, as its blit kernels are; completes at once if `run`. */
void fake_runtime_dispatch(struct fake_queue *q, uint32_t id, hsa_signal_t completion, bool run);

/* ---- the source's upkeep ---- */

/* One tick of the source, `ms` of time after the one before. */
void fake_tick(unsigned ms);
/* Ticks until nothing of `n` rounds changes; far enough apart for a full scan. */
void fake_harvest(void);

/* Executables: from a list of symbols. */
hsa_executable_t fake_executable(const struct fake_symbol *symbols, unsigned nr);

#endif
