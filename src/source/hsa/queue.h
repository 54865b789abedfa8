/* SPDX-License-Identifier: MIT */
/* queue.h - intercepted queues: made, found, locked, ended */
#ifndef RTL_SOURCE_HSA_QUEUE_H
#define RTL_SOURCE_HSA_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "hsa_table_gen.h"
#include "source/hsa/inflight.h"
#include "source/hsa/signal.h"

#define QUEUE_MAX 4096u /* alive at once; queues beyond are not traced, and counted */
#define QUEUE_NR_GATES 8u
#define QUEUE_NR_HELD 64u

union packet {
	uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier;
	unsigned char bytes[64];
};
_Static_assert(sizeof(union packet) == 64, "AQL packet");

/* A packet whose completion tells how far the hardware has come, where no dispatch of ours does. */
struct queue_gate {
	amd_signal_t *signal; /* value 0: free, or passed */
	uint64_t hw;
};

/* A signal of ours that a barrier packet in the ring still reads. */
struct queue_held {
	amd_signal_t *signal;
	uint64_t hw;
};

struct queue {
	/* set in create, constant while the queue lives */
	_Atomic bool live;
	uint32_t index; /* in the trace */
	uint32_t agent;
	uint32_t size;	/* packets in the hardware's ring */
	uint32_t limit; /* packets that may be in it at once */
	hsa_queue_t *_Atomic hsa;
	void (*user_callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *user_data;
	struct author *author; /* a note for each packet in the ring, see author.h; NULL: none */
	uint32_t author_mask;
	void *batch; /* mode full: room for a rewritten batch, as many packets as entries in `ring` */

	/* owner: the packet callback, which the runtime serialises for each queue */
	_Alignas(64) uint64_t written; /* packets handed to the hardware */
	uint64_t consumed;	       /* slots before this are known to be free again */
	uint64_t last_seen; /* hw index of the newest packet whose completion we will see */
	uint64_t gave_up;   /* oldest entry + 1 that filled up the in-flight ring, 0: none */
	struct queue_gate gate[QUEUE_NR_GATES];
	uint32_t next_gate;

	/* atomic */
	_Alignas(64) _Atomic uint64_t passed; /* as `consumed`, from the harvester's side */
	_Atomic uint64_t orphan;    /* newest amd_signal_t of ours that was given up, ... */
	_Atomic uint64_t orphan_hw; /* ... and its place: it may still tell of progress */
	_Atomic bool failed;	    /* the runtime reported an error or inactivated it */
	_Atomic bool waiting;	    /* the packet callback waits for room */
	_Atomic bool harvest_lock;

	/* under harvest_lock */
	struct queue_held held[QUEUE_NR_HELD];
	uint32_t nr_held;
	uint64_t high_water; /* most entries in flight since the last trim */
	uint64_t idle_since_ns;
	uint64_t stuck_scan_ns;

	struct inflight_ring ring;
	struct signal_pool pool;
};

/* Every queue that was ever made, for the harvester: [0, queue_count()). May be dead. */
uint32_t queue_count(void);
struct queue *queue_at(uint32_t i);

/* The live queue that the program knows by `hsa`, or NULL. Any thread. */
struct queue *queue_find(const hsa_queue_t *hsa);

bool queue_try_lock(struct queue *q);
void queue_lock(struct queue *q); /* bounded by one harvest of one queue */
void queue_unlock(struct queue *q);

/* Wrappers put into the table. */
hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
			  void *data, uint32_t private_segment_size, uint32_t group_segment_size,
			  hsa_queue_t **queue);
hsa_status_t queue_destroy(hsa_queue_t *queue);
hsa_status_t queue_inactivate(hsa_queue_t *queue);
hsa_status_t queue_set_profiler(hsa_queue_t *queue, int enable);

/* Emits a queue that is not one of ours; `flags` of enum rec_queue_flags. Returns its index. */
uint32_t queue_announce(const hsa_queue_t *hsa, uint32_t agent, uint32_t flags);

/* A packet is put into a queue that is none of ours, whatever it was made with (ROCm 10's HIP calls a function
 * of its own, hsa_amd_queue_create): it is counted, once. Any thread; HOT for the packets of such a queue. */
void queue_unseen(const hsa_queue_t *hsa);

/* The runtime went away: every queue is gone. */
void queue_reset(void);

#endif
