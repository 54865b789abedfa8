/* SPDX-License-Identifier: MIT */
/* queue.h - the traced queues: storage, look-up, locks
 *
 * A queue has two locks of one word. Its *turn* is the right to submit its packets: on an
 * interposed queue a doorbell takes it without waiting (interpose.h), on an intercept queue the
 * packet callback takes it. Its *harvest lock* is the right to record what has completed
 * (collect.h). A thread that needs both takes the turn first.
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

#define QUEUE_MAX 4096u /* alive at once; further queues are not traced, and counted */

struct back_pressure;
struct client_answers;
struct origin_note;

/* A hardware queue of librtl's for one queue of the program, see completer.h. */
struct queue_completer {
	hsa_queue_t *_Atomic hsa;    /* NULL: none yet */
	_Atomic uint64_t next;	     /* index of the next packet */
	_Atomic uint32_t nr_readers; /* threads in completer_settle() */
	bool refused;		     /* it could not be made */
};

enum queue_turn {
	QUEUE_IDLE,
	QUEUE_BUSY,
	QUEUE_AGAIN,  /* busy, and another thread rang meanwhile: the holder serves once more */
	QUEUE_ENDING, /* the program is destroying it */
	QUEUE_DEAD,   /* its memory may be used again */
};

struct queue {
	/* set in queue_open() and queue_attach(), constant while the queue lives */
	_Atomic bool live;
	_Atomic bool intercepted; /* else interposed */
	/* Threads that visit a queue which may end, and be another one, use queue_index() and
	 * queue_agent(). */
	uint32_t index; /* in the trace */
	uint32_t agent;
	uint32_t size;	  /* packets in the ring */
	bool is_left_out; /* the user leaves out its GPU */
	/* Its dispatches may be held back, and run one at a time while counters count
	 * (counter/counter.h). Dispatches before `granted` may be submitted. `counting`: 1 + index
	 * of the dispatch that is being counted; `recorded`: it was recorded. */
	_Atomic bool is_counted;
	bool user_counts; /* for RTL_PMC */
	_Atomic uint64_t granted, counting, recorded;
	uint64_t counted_begin_ns, counted_end_ns; /* of the dispatch `recorded` */
	/* owner: the holder of the turn: clients were asked for the dispatches before `asked`
	 * (counter/client.h); NULL: they are not asked */
	uint64_t asked, asked_from; /* without a gap from there on */
	/* of the same owner: behind the last packet that may wait for a signal */
	uint64_t barrier_end;
	struct client_answers *answers; /* a ring */
	uint32_t nr_answers;
	const char *not_counted; /* why not, where granted is UINT64_MAX */
	hsa_queue_t *_Atomic hsa;
	/* interposed: the queue itself if its indices are `write_index` and `read_index`; else
	 * NULL */
	hsa_queue_t *_Atomic direct;
	void (*user_callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *user_data;
	/* A queue that could not be traced; its `struct queue` is kept for the error callback.
	 * NULL: it is traced. */
	const hsa_queue_t *_Atomic plain;
	struct origin_note *origin; /* a note for each packet in the ring, see origin.h */
	uint32_t origin_mask;
	uint64_t origin_salt; /* of this queue's notes */
	/* interposed: the program's ring and its real indices; NULL: use the functions in `real`.
	 * Threads that look for a ring in all queues use queue_ring(). */
	union packet *packets;
	uint64_t packet_mask;
	_Atomic uint64_t *write_index, *read_index;
	_Atomic uint64_t doorbell; /* the signal's handle; 0: none */
	/* The same; 0: a doorbell takes the slow path, since the queue is bypassed, its packets are
	 * in device memory, or only functions can read its indices. */
	_Atomic uint64_t direct_doorbell;
	bool in_device_memory; /* the packets: stores are fenced before a doorbell */
	/* intercepted */
	struct back_pressure *pressure;
	union packet *batch; /* space for the packets of one callback, made when needed */
	uint64_t batch_size; /* packets */

	/* interposed: atomic, written by producers. Packets before this index are reserved; the
	 * program sees it as the write index. */
	_Alignas(64) _Atomic uint64_t reserved;
	/* A doorbell announced packets before this index while they could not be submitted yet;
	 * seldom written. */
	_Atomic uint64_t rung;
	/* Packets reach the hardware past librtl: since this was detected the indices are the
	 * hardware's. */
	_Atomic bool bypassed;

	_Alignas(64) _Atomic uint32_t turn; /* enum queue_turn */
	_Atomic uint32_t nr_lookers;	    /* threads that read its indices without the turn */
	_Atomic uint32_t nr_announcing;	    /* threads between announce.h and their doorbell */
	/* atomic, written by the holder of the turn: packets before this were passed to the
	 * hardware */
	_Atomic uint64_t published;
	/* owner: the holder of the turn */
	uint64_t free_end;    /* slots before this are known to be free for their packets */
	uint64_t stuck_at;    /* 1 + index of a valid packet that no doorbell announced; 0: none */
	bool is_detaching;    /* in interpose_detach() */
	uint32_t stuck_looks; /* harvester visits since then */
	uint32_t nr_stuck;    /* submissions by the harvester since the last doorbell */
	uint64_t stuck_end;   /* where the last of them ended */
	uint64_t gave_up; /* 1 + index of the oldest entry that filled the largest in-flight ring;
			   * 0: none */
	/* code_object_is_left_out() of the last dispatch: most dispatches repeat it. Epoch 0:
	 * none */
	uint64_t filter_object;
	uint32_t filter_epoch;
	bool filter_result;
	struct queue_completer completer; /* interposed; made when needed */

	_Alignas(64) _Atomic bool harvest_lock;
	_Atomic bool failed; /* the runtime reported an error or inactivated it */
	bool is_held;	     /* by hold.c: it has both locks */
	/* under harvest_lock */
	uint32_t nr_held; /* entries that are INFLIGHT_HELD */
	uint64_t idle_since_ns;
	uint64_t stuck_scan_ns;
	struct gpu_clock_piece clock; /* of the last operation's end */
	/* the kernel of the last recorded dispatch: most dispatches repeat it */
	uint64_t last_object;
	uint32_t last_epoch, last_kernel;

	struct inflight_rings inflight;
};

/* The packet of an index; `packets` is a ring. */
static inline union packet *queue_packet(const struct queue *q, uint64_t index)
{
	return &q->packets[index & q->packet_mask];
}

/* For threads that have no lock of the queue. Relaxed, as the stores in reset(): the queue may be
 * another one at once, so who depends on the answer asks again under the turn. */
static inline uint32_t queue_index(const struct queue *q)
{
	return __atomic_load_n(&q->index, __ATOMIC_RELAXED);
}
static inline uint32_t queue_agent(const struct queue *q)
{
	return __atomic_load_n(&q->agent, __ATOMIC_RELAXED);
}

static inline const void *queue_ring(const struct queue *q)
{
	return __atomic_load_n(&q->packets, __ATOMIC_RELAXED);
}
/* By the queue's opener, before it is live. Relaxed: who reads it without a lock orders it by
 * `live`. */
static inline void queue_set_ring(struct queue *q, void *packets)
{
	__atomic_store_n(&q->packets, (union packet *)packets, __ATOMIC_RELAXED);
}

/* Whether a queue of the GPU is in use whose dispatches are submitted without being held back. */
bool queue_any_unheld(uint32_t agent);

/* Every queue that was ever opened, for the harvester: [0, queue_count()). May be dead. */
uint32_t queue_count(void);
struct queue *queue_at(uint32_t i);

/* Opens a queue of at most `size` packets on `agent`, before the program gets it. NULL: no memory,
 * or QUEUE_MAX are alive. It is live from queue_attach() on. */
struct queue *queue_open(uint32_t agent, uint32_t size);

/* `hsa` is a handle of `q` from now on. One queue may have several (a counted queue has one for
 * each user). -ENOSPC: too many handles. The first call emits the queue. */
int queue_attach(struct queue *q, hsa_queue_t *hsa);

/* The program got `hsa` once more (cooperative queues). */
void queue_get(const hsa_queue_t *hsa);

/* The program gave `hsa` back; the handle is removed. true: it was the last handle of its queue.
 * `again`: true if queue_get() was called for it, so it stays. */
bool queue_put(const hsa_queue_t *hsa, bool *again);

/* The runtime went away: all handles are invalid. */
void queue_drop_handles(void);

/* Releases the memory of `q` for another queue. Under both of its locks, or not attached. */
void queue_close(struct queue *q);

/* The live queue with handle `hsa`, with that doorbell, or with the ring at `packets` and not about
 * to end; NULL: none. Any thread. Not for hot paths. */
struct queue *queue_find(const hsa_queue_t *hsa);
struct queue *queue_find_doorbell(uint64_t doorbell);
struct queue *queue_find_ring(const void *packets);

/* Emits a queue that is not traced; `flags` of enum rec_queue_flags. Returns its index. */
uint32_t queue_announce(const hsa_queue_t *hsa, uint32_t agent, uint32_t flags);

/* A packet is put into a queue that is not traced, made by any function: counts the queue once. Any
 * thread; HOT for the packets of such a queue. */
void queue_unseen(const hsa_queue_t *hsa);

/* queue_unseen() and queue_announce() forget `hsa`: another queue may get its address. */
void queue_forget(const hsa_queue_t *hsa);

/* HOT: takes the turn if it is free. */
static inline bool queue_turn_try(struct queue *q)
{
	uint32_t idle = QUEUE_IDLE;

	/* acquire: pairs with queue_turn_end() */
	return atomic_compare_exchange_strong_explicit(&q->turn, &idle, QUEUE_BUSY,
						       memory_order_acquire, memory_order_relaxed);
}

/* HOT: gives the turn back. false: another thread rang meanwhile; the caller keeps the turn and
 * serves again. */
static inline bool queue_turn_end(struct queue *q)
{
	uint32_t busy = QUEUE_BUSY;

	/* release: pairs with queue_turn_try() and with the exchange below */
	if (RTL_LIKELY(atomic_compare_exchange_strong_explicit(&q->turn, &busy, QUEUE_IDLE,
							       memory_order_release,
							       memory_order_relaxed)))
		return true;
	/* An exchange, not a store: makes the writes before QUEUE_AGAIN visible. */
	atomic_exchange_explicit(&q->turn, QUEUE_BUSY, memory_order_acq_rel);
	return false;
}

/* Waits for the turn, bounded by what its holder does. false: there is no turn, the queue was
 * destroyed. */
bool queue_turn_wait(struct queue *q);
/* Takes the turn if it is free within microseconds: its holder may be this thread, in a signal
 * handler, or in a tool. */
bool queue_turn_soon(struct queue *q);

static inline bool queue_try_lock(struct queue *q)
{
	return !atomic_load_explicit(&q->harvest_lock, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&q->harvest_lock, true, memory_order_acquire);
}

void queue_lock(struct queue *q); /* waits for one harvest of one queue at most */

static inline void queue_unlock(struct queue *q)
{
	atomic_store_explicit(&q->harvest_lock, false, memory_order_release);
}

#endif
