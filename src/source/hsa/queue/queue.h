/* SPDX-License-Identifier: MIT */
/* queue.h - the queues that are traced: kept, found, locked
 *
 * A queue has two locks of one word. Its *turn* is the right to submit its packets: on an interposed queue it is
 * taken at a doorbell and never waited for (interpose.h), on an intercepted one in the packet callback. Its
 * *harvest lock* is the right to record what has completed (collect.h). Who needs both takes the turn first.
 */
#ifndef RTL_SOURCE_HSA_QUEUE_H
#define RTL_SOURCE_HSA_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#ifndef HSA_LARGE_MODEL
#define HSA_LARGE_MODEL 1 /* amd_hsa_*.h: 64-bit pointers */
#endif
#include <hsa/amd_hsa_queue.h>

#include "source/hsa/agent.h"
#include "source/hsa/completion/inflight.h"
#include "source/hsa/queue/packet.h"

#define QUEUE_MAX 4096u /* alive at once; queues beyond are not traced, and counted */

struct back_pressure;
struct origin_note;

/* A hardware queue of ours beside one of the program's, see completer.h. */
struct queue_completer {
	hsa_queue_t *_Atomic hsa;    /* NULL: none yet */
	_Atomic uint64_t next;	     /* index of the next packet */
	_Atomic uint32_t nr_readers; /* threads in completer_settle() */
	bool refused;		     /* it could not be made */
};

enum queue_turn {
	QUEUE_IDLE,
	QUEUE_BUSY,
	QUEUE_AGAIN,  /* busy, and there is more: the holder looks once more */
	QUEUE_ENDING, /* the program destroys it */
	QUEUE_DEAD,   /* its memory may be used again */
};

struct queue {
	/* set in queue_open() and queue_attach(), constant while the queue lives */
	_Atomic bool live;
	_Atomic bool intercepted; /* else interposed */
	uint32_t index;		  /* in the trace */
	uint32_t agent;
	uint32_t size; /* packets in the ring */
	hsa_queue_t *_Atomic hsa;
	/* interposed: the same, where its indices are `write_index` and `read_index`; else NULL */
	hsa_queue_t *_Atomic direct;
	void (*user_callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *user_data;
	/* This queue of the runtime's could not be traced; NULL: it is. What is here is kept for its error callback. */
	const hsa_queue_t *_Atomic plain;
	struct origin_note *origin; /* a note for each packet in the ring, see origin.h */
	uint32_t origin_mask;
	uint64_t origin_salt; /* of this queue's notes */
	/* interposed: the program's ring, and its real indices; NULL: by the functions in `real` */
	union packet *packets;
	uint64_t packet_mask;
	_Atomic uint64_t *write_index, *read_index;
	_Atomic uint64_t doorbell; /* the signal's handle; 0: none */
	/* The same; 0: a doorbell takes the longer way, for the queue is bypassed, its packets are in device memory or
	 * its indices reached by functions. */
	_Atomic uint64_t direct_doorbell;
	bool in_device_memory; /* the packets: stores to it are fenced before a doorbell */
	/* intercepted */
	struct back_pressure *pressure;
	union packet *batch; /* room for the packets of a callback, made when needed */
	uint64_t batch_size; /* packets */

	/* interposed: atomic, written by producers. The index up to which packets are reserved, which is what
	 * the program takes for the write index. */
	_Alignas(64) _Atomic uint64_t reserved;
	/* Packets up to here were announced by a doorbell before they could be handed over; seldom written. */
	_Atomic uint64_t rung;
	/* Packets get past us by another way: since this was noticed indices are no longer held back. */
	_Atomic bool bypassed;

	_Alignas(64) _Atomic uint32_t turn; /* enum queue_turn */
	_Atomic uint32_t nr_lookers;	    /* threads that look at its indices without the turn */
	/* atomic, written by the holder of the turn: packets before this were handed to the hardware */
	_Atomic uint64_t published;
	/* owner: the holder of the turn */
	uint64_t room_end;    /* slots before this are known to be free for their packets */
	uint64_t stuck_at;    /* a packet that is there and was not announced, + 1; 0: none */
	uint32_t stuck_looks; /* of the harvester, since it is */
	uint64_t gave_up; /* oldest entry + 1 that filled up the largest in-flight ring, 0: none */
	struct queue_completer completer; /* interposed; made when needed */

	_Alignas(64) _Atomic bool harvest_lock;
	_Atomic bool failed; /* the runtime reported an error or inactivated it */
	/* under harvest_lock */
	uint32_t nr_held; /* entries that are INFLIGHT_HELD */
	uint64_t idle_since_ns;
	uint64_t stuck_scan_ns;
	struct agent_line line;
	bool line_is_new; /* in this round */
	/* the kernel of the last dispatch that was recorded: most follow one of the same */
	uint64_t last_object;
	uint32_t last_epoch, last_kernel;

	struct inflight_rings inflight;
};

/* Every queue that was ever opened, for the harvester: [0, queue_count()). May be dead. */
uint32_t queue_count(void);
struct queue *queue_at(uint32_t i);

/* A queue of `size` packets at most on agent `agent`, which the program does not know yet. NULL: no memory, or
 * QUEUE_MAX are alive. It is live from queue_attach() on. */
struct queue *queue_open(uint32_t agent, uint32_t size);

/* `hsa` is what the program knows `q` by, from now on. Another one for the same queue (a counted queue has a handle
 * for each user) may follow. -ENOSPC: there are too many handles. Emits the queue the first time. */
int queue_attach(struct queue *q, hsa_queue_t *hsa);

/* The program has been given `hsa` once more (cooperative queues). */
void queue_get(const hsa_queue_t *hsa);

/* The program has given `hsa` back; it is forgotten. true: it was the last handle of its queue. `again`: as often as
 * queue_get() was called, it stays. */
bool queue_put(const hsa_queue_t *hsa, bool *again);

/* The runtime went away: no handle means a queue any more. */
void queue_drop_handles(void);

/* The memory of `q` may be used by another queue. Under both of its locks, or not attached. */
void queue_close(struct queue *q);

/* The live queue that the program knows by `hsa`, whose doorbell it is, or whose ring begins at `packets`; NULL: none.
 * Any thread. Not for hot paths. */
struct queue *queue_find(const hsa_queue_t *hsa);
struct queue *queue_find_doorbell(uint64_t doorbell);
struct queue *queue_find_ring(const void *packets);

/* Emits a queue that is not one of ours; `flags` of enum rec_queue_flags. Returns its index. */
uint32_t queue_announce(const hsa_queue_t *hsa, uint32_t agent, uint32_t flags);

/* A packet is put into a queue that is none of ours, whatever it was made with: it is counted, once. Any thread;
 * HOT for the packets of such a queue. */
void queue_unseen(const hsa_queue_t *hsa);

/* queue_unseen() and queue_announce() forget `hsa`: its address may be another queue's from now on. */
void queue_forget(const hsa_queue_t *hsa);

/* HOT: takes the turn, if nobody has it. */
static inline bool queue_turn_try(struct queue *q)
{
	uint32_t idle = QUEUE_IDLE;

	/* acquire: pairs with queue_turn_end() */
	return atomic_compare_exchange_strong_explicit(&q->turn, &idle, QUEUE_BUSY,
						       memory_order_acquire, memory_order_relaxed);
}

/* HOT: gives the turn back. false: somebody came meanwhile, it stays the caller's, who looks again. */
static inline bool queue_turn_end(struct queue *q)
{
	uint32_t busy = QUEUE_BUSY;

	/* release: pairs with queue_turn_try() and with the exchange below */
	if (RTL_LIKELY(atomic_compare_exchange_strong_explicit(&q->turn, &busy, QUEUE_IDLE,
							       memory_order_release,
							       memory_order_relaxed)))
		return true;
	/* An exchange, not a store: what was written before QUEUE_AGAIN is seen from here on. */
	atomic_exchange_explicit(&q->turn, QUEUE_BUSY, memory_order_acq_rel);
	return false;
}

/* Takes the turn, waiting for it. Bounded by what its holder does. false: there is no turn any more, the queue was
 * destroyed. */
bool queue_turn_wait(struct queue *q);

static inline bool queue_try_lock(struct queue *q)
{
	return !atomic_load_explicit(&q->harvest_lock, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&q->harvest_lock, true, memory_order_acquire);
}

void queue_lock(struct queue *q); /* bounded by one harvest of one queue */

static inline void queue_unlock(struct queue *q)
{
	atomic_store_explicit(&q->harvest_lock, false, memory_order_release);
}

#endif
