/* SPDX-License-Identifier: MIT */
/* queue.h - one hardware queue
 *
 * Times called _ns are host time (clock.h), times called _vns virtual time. In deterministic mode
 * both are
 * kept: a packet occupies its queue in host time, and is stamped with virtual time.
 */
#ifndef VGPU_QUEUE_H
#define VGPU_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "fault.h"
#include "log.h"

#define QUEUE_PACKET_SIZE 64
#define QUEUE_FLIGHTS_MAX 32
#define QUEUE_PM4_LEVELS 3 /* indirect buffers within each other */

#define QUEUE_NEVER UINT64_MAX
#define QUEUE_NOT_RUNG UINT64_MAX

struct gcn_run;
struct sqtt_waves;

/* A dispatch that has begun and not yet completed. */
struct queue_flight {
	unsigned char packet[QUEUE_PACKET_SIZE] __attribute__((aligned(QUEUE_PACKET_SIZE)));
	uint64_t index;
	uint64_t begin_ns, end_ns;
	uint64_t begin_vns, end_vns;
	struct gcn_run *run;	  /* NULL: it is timed only */
	struct sqtt_waves *waves; /* NULL: its waves are not traced */
	const struct fault_rule *hold;
	double factor;	/* of its duration, by VGPU_SLOW */
	bool executing; /* its end is unknown yet */
	bool never;	/* it hangs */
	bool slot_freed, stamp, swap, lose_event, lose_signal, skip;
	int64_t shift_ns, stretch_ns;
};

struct queue_sdma {
	uint64_t *read_ptr;	    /* shared with the runtime */
	uint64_t seen, seen_before; /* write pointer at the last two times that it moved */
	uint64_t seen_ns, seen_before_ns;
	uint64_t done_bytes; /* done of the copy packet at the head */
	bool begun;	     /* that packet has begun */
	uint64_t begin_ns, begin_vns;
	struct log_copy copy; /* transfers since the last completion */
};

/* A completion that is not visible to the host yet (deliver.c). */
struct queue_late {
	uint64_t handle, since_ns;
	uint32_t event_id;
	bool lose_event;
};

struct queue {
	/* constant after creation */
	uint64_t id;
	unsigned int gpu;
	bool is_sdma;
	unsigned char *ring;
	uint64_t size; /* packets (AQL) or bytes (SDMA) */
	amd_queue_t *aq;
	uint32_t error_event; /* id; 0: none */
	volatile int64_t
		*error_reason; /* NULL: errors are reported through the queue's inactive signal */
	uint64_t *doorbell;    /* written by the runtime; QUEUE_NOT_RUNG: not yet */

	/* engine's lock */
	bool paused, dead, named;
	bool scratch_asked;	    /* stopped until the runtime has allocated scratch memory */
	uint64_t number;	    /* hsa_queue_t.id */
	uint64_t next;		    /* index of the packet to begin next */
	uint64_t rung;		    /* packets below this were announced (VGPU_DOORBELL=strict) */
	uint64_t seen;		    /* packets below this have been seen to be valid ... */
	uint64_t *seen_ns;	    /* ... at this time, by slot */
	uint64_t gate_ns, gate_vns; /* no packet begins before this */
	uint64_t last_ns, last_vns; /* latest end of the packets begun */
	uint64_t completed;	    /* dispatches */
	struct queue_flight *flights;
	unsigned int nr_flights;
	uint32_t pm4_at[QUEUE_PM4_LEVELS]; /* dwords done of the PM4 packet at the head */
	/* of a level, up to so many dwords: packets that these dies alone execute (PRED_EXEC) */
	uint32_t pm4_dies, pm4_dies_level, pm4_dies_until;
	bool pm4_more;	   /* they continue at the next visit */
	bool counts_waves; /* performance counters count its waves */
	struct queue_late *late;
	unsigned int nr_late, cap_late;
	struct queue_sdma *sdma;
};

/* What a queue is made of; all of it is memory that the queue's owner keeps until
 * queue_destroy(). */
struct queue_wanted {
	unsigned int gpu;
	bool is_sdma, paused;
	void *ring;
	uint64_t bytes; /* of the ring: a power of two */
	/* SDMA: the queue's read pointer, in bytes. AQL: amd_queue_t.read_dispatch_id. */
	uint64_t *read_ptr;
	uint64_t *doorbell;
	uint32_t error_event;
	volatile int64_t *error_reason;
};

/* Makes a queue, which the engine serves from then on. 0 or -errno. Any thread. */
int queue_create(const struct queue_wanted *wanted, struct queue **out);

/* Lets it begin no more packets, or go on. Any thread. */
void queue_pause(struct queue *q, bool paused);

/* Ends it: nothing of it is accessed after. Any thread. */
void queue_destroy(struct queue *q);

/* The result of a visit of a queue. */
struct queue_visit {
	bool progress;	  /* a packet was begun or completed */
	bool waits;	  /* kernels were executed, but all of them wait for others */
	uint64_t wake_ns; /* time of the next event; QUEUE_NEVER: not before memory changes */
};

static inline struct log_where queue_where(const struct queue *q)
{
	return (struct log_where){ .gpu = q->gpu, .queue = q->number, .queue_id = q->id };
}

#endif
