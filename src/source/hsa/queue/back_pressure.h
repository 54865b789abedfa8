/* SPDX-License-Identifier: MIT */
/* back_pressure.h - how much room there is in the ring of an intercepted queue, and waiting for it
 *
 * An interposed queue needs none of this: the program sees its own ring fill up. Everything here is called by the
 * holder of the queue's turn, unless it says otherwise.
 */
#ifndef RTL_SOURCE_HSA_BACK_PRESSURE_H
#define RTL_SOURCE_HSA_BACK_PRESSURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/queue/queue.h"

#define BACK_PRESSURE_NR_GATES 8u

/* A packet whose completion tells how far the hardware has come, where no dispatch of ours does. */
struct back_pressure_gate {
	amd_signal_t *signal; /* value 0: free, or passed */
	uint64_t hw;
};

struct back_pressure {
	uint32_t limit;	    /* packets that may be in the ring at once */
	uint64_t written;   /* packets handed to the hardware */
	uint64_t consumed;  /* slots before this are known to be free again */
	uint64_t last_seen; /* hw index of the newest packet whose completion we will see */
	struct back_pressure_gate gate[BACK_PRESSURE_NR_GATES];
	uint32_t next_gate;

	/* atomic, written by the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t passed; /* as `consumed`, from the harvester's side */
	_Atomic uint64_t orphan;    /* newest amd_signal_t of ours that was given up, ... */
	_Atomic uint64_t orphan_hw; /* ... and its index: it may still tell of progress */
	/* atomic */
	_Atomic bool waiting; /* the packet callback waits for room */
};

/* Makes q->pressure for a ring of `size` packets, or uses again what is there. 0 or -ENOMEM: without a signal to
 * tell of progress the ring may overflow. */
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
 * the read index, or until nothing is left that could tell of progress: that happens behind batches
 * that were passed through, and runtimes that batch can do without. false: the queue has failed,
 * nothing will ever fit. */
static inline bool back_pressure_wait(struct queue *q, uint64_t n)
{
	return back_pressure_fits(q->pressure, n) || back_pressure_wait_slow(q, n);
}

/* Makes waiting threads stop: the queue has failed. Any thread. Returns once none waits. */
void back_pressure_release(struct queue *q);

/* Between two looks at what another thread or the GPU does; longer with each round. Any thread. */
void back_pressure_pause(unsigned round);

/* HOT: whether a stretch of a quarter of the ring has no packet that would tell of progress. */
static inline bool back_pressure_wants_gate(const struct queue *q)
{
	return q->pressure->written - q->pressure->last_seen >= q->size / 4;
}

/* Puts a gate onto the last of `n` packets, or behind it. Returns the new number of packets. */
uint64_t back_pressure_add_gate(struct queue *q, union packet *out, uint64_t n);

/* The harvester: the hardware has passed `hw`; or it never will be known to, by signal `s`. */
void back_pressure_saw(struct queue *q, uint64_t hw);
void back_pressure_orphaned(struct queue *q, const amd_signal_t *s, uint64_t hw);

#endif
