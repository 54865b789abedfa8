/* SPDX-License-Identifier: MIT */
/* back_pressure.h - tracks free space in the hardware ring of an intercept queue, and waits for it
 *
 * An interposed queue needs none of this: the program sees its own ring fill up. The caller holds
 * the queue's turn, unless a function says otherwise.
 */
#ifndef RTL_SOURCE_HSA_BACK_PRESSURE_H
#define RTL_SOURCE_HSA_BACK_PRESSURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/queue/queue.h"

#define BACK_PRESSURE_NR_GATES 8u

/* A packet whose completion reports the hardware's progress, where no traced dispatch does. */
struct back_pressure_gate {
	amd_signal_t *signal; /* value 0: free, or passed */
	uint64_t hw;
};

struct back_pressure {
	uint32_t limit;	    /* packets that may be in the ring at once */
	uint64_t written;   /* packets handed to the hardware */
	uint64_t consumed;  /* slots before this are known to be free again */
	uint64_t last_seen; /* hw index of the newest packet whose completion librtl can see */
	struct back_pressure_gate gate[BACK_PRESSURE_NR_GATES];
	uint32_t next_gate;

	/* atomic, written by the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t passed; /* as `consumed`, from the harvester's side */
	_Atomic uint64_t orphan;	      /* newest signal of librtl's that was given up, ... */
	_Atomic uint64_t orphan_hw; /* ... and its hw index: it may still report progress */
	/* atomic */
	_Atomic bool waiting; /* the packet callback waits for space */
};

/* Makes q->pressure for a ring of `size` packets, or reuses it. 0 or -ENOMEM: without a signal that
 * reports progress the ring could overflow. */
int back_pressure_init(struct queue *q, uint32_t size);

/* The queue ends. Under both of its locks. */
void back_pressure_fini(struct queue *q);

/* HOT: whether `n` more packets fit, as far as is known. */
static inline bool back_pressure_fits(const struct back_pressure *b, uint64_t n)
{
	return b->written + n <= b->consumed + b->limit;
}

bool back_pressure_wait_slow(struct queue *q, uint64_t n);

/* HOT: waits until `n` more packets fit into the ring, as an untraced launch would have waited for
 * the read index, or until no signal is left that could report progress. The latter happens behind
 * batches that were passed through; runtimes that batch do not overflow. false: the queue has
 * failed and will never have space. */
static inline bool back_pressure_wait(struct queue *q, uint64_t n)
{
	return back_pressure_fits(q->pressure, n) || back_pressure_wait_slow(q, n);
}

/* Ends all waits: the queue has failed. Any thread. Returns when no thread waits. */
void back_pressure_release(struct queue *q);

/* Pause between two polls of another thread's or the GPU's progress; longer with each round. Any
 * thread. */
void back_pressure_pause(unsigned round);

/* HOT: whether a quarter of the ring has no packet that reports progress. */
static inline bool back_pressure_wants_gate(const struct queue *q)
{
	return q->pressure->written - q->pressure->last_seen >= q->size / 4;
}

/* Puts a gate onto the last of `n` packets, or adds it behind them. Returns the new number of
 * packets. */
uint64_t back_pressure_add_gate(struct queue *q, union packet *out, uint64_t n);

/* For the harvester: the hardware has passed `hw`, or `s` was given up and will not be polled. */
void back_pressure_saw(struct queue *q, uint64_t hw);
void back_pressure_orphaned(struct queue *q, const amd_signal_t *s, uint64_t hw);

#endif
