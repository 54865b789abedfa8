/* SPDX-License-Identifier: MIT */
/* interpose.c - interposition: librtl stands between the program's indices and the hardware's
 *
 * Owns:     the index that the program reserves from, and how many packets were submitted.
 * Threads:  any, see the table in interpose.h.
 * Hot path: the functions put into the table: no waiting for a lock, no malloc, no system call.
 * Fails:    if packets reach the hardware past librtl (the program writes the doorbell itself, the
 *           GPU enqueues packets), the queue's packets are no longer held back, and the ones missed
 *           are counted (queue_bypassed).
 * Quirk:    virtual GPUs and some tools read only the write index, hardware only the doorbell:
 *           librtl advances both only over packets that it instrumented, and rings with the last of
 *           them, never with the program's value, which may name a packet that is not written yet.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue/interpose.h"

#include <time.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/testpoint.h"
#include "event/bus.h"
#include "event/life.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/counter/client.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/queue/bypassed.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/origin.h"
#include "source/hsa/queue/real_index.h"
#include "source/hsa/queue/submit.h"
#include "source/hsa/table/real.h"
#include "source/hsa/table/table.h"

#define NR_RECENT 64u
/* Packets submitted at a time: the GPU begins with the first while this thread instruments the
 * last. */
#define CHUNK 32u
/* Rounds in which a thread serves other threads' doorbells; then the harvester does. */
#define MAX_ROUNDS 64u
/* Harvester visits, 0.1 to 1 s apart, that find the next packet valid and not announced, until
 * the harvester submits it. Visits, not a time: a debugger may have stopped the program. */
#define STUCK_LOOKS 5u
/* Submissions by the harvester with no doorbell between them, until librtl concludes that the
 * program rings the hardware's doorbell itself. A thread that was only preempted rings in the
 * end. */
#define STUCK_MAX 3u
/* bound for waiting for a destroyed queue's last reader, 2 s */
#define DETACH_ROUNDS 100000u

/* ---- finding queues -------------------------------------------------------------------------- */

/* Hints: each is compared with the queue's own data. Only interposed queues, and one dummy, so that
 * there is no NULL. */
static struct queue dummy_queue;
static struct queue *_Atomic recent_queue[NR_RECENT], *_Atomic recent_doorbell[NR_RECENT];

static inline uint32_t hash(uint64_t handle)
{
	return (uint32_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static RTL_NOINLINE struct queue *find_queue_slow(const hsa_queue_t *hsa)
{
	struct queue *q = queue_find(hsa);

	if (!q || q->intercepted)
		return NULL;
	atomic_store_explicit(&recent_queue[hash((uintptr_t)hsa)], q, memory_order_release);
	return q;
}

static inline struct queue *recent(const hsa_queue_t *hsa)
{
	/* acquire: pairs with the release above; queues are never freed */
	return atomic_load_explicit(&recent_queue[hash((uintptr_t)hsa)], memory_order_acquire);
}

static inline bool is_known_by(const struct queue *q, const hsa_queue_t *hsa)
{
	/* relaxed: the caller has known `hsa` since its creation */
	return atomic_load_explicit(&q->hsa, memory_order_relaxed) == hsa;
}

/* The interposed queue with handle `hsa`, or NULL. */
static inline struct queue *find_queue(const hsa_queue_t *hsa)
{
	struct queue *q = recent(hsa);

	return RTL_LIKELY(is_known_by(q, hsa)) ? q : find_queue_slow(hsa);
}

static RTL_NOINLINE struct queue *find_doorbell_slow(uint64_t doorbell)
{
	struct queue *q = queue_find_doorbell(doorbell);

	if (!q || q->intercepted)
		return &dummy_queue;
	atomic_store_explicit(&recent_doorbell[hash(doorbell)], q, memory_order_release);
	return q;
}

/* The interposed queue of `doorbell`, or the dummy, which is bypassed. */
static inline struct queue *find_doorbell(uint64_t doorbell)
{
	struct queue *q =
		atomic_load_explicit(&recent_doorbell[hash(doorbell)], memory_order_acquire);

	if (RTL_LIKELY(atomic_load_explicit(&q->doorbell, memory_order_relaxed) == doorbell))
		return q;
	return find_doorbell_slow(doorbell);
}

/* ---- submitting packets ---------------------------------------------------------------------- */

static RTL_COLD void complete_shared(struct queue *q, const union packet *p, struct inflight *e)
{
	submit_shared(q, e, completer_add(q, p, inflight_signal(e), e->owner));
}

/* Publishes everything before `end`, which was instrumented. The harvester is woken first: a system
 * call behind the doorbell would delay the next packet of this thread, whose start event the GPU
 * may have executed already. */
static inline void advance(struct queue *q, uint64_t end)
{
	life_wake();
	/* relaxed: a thread that compares with it checks again under the turn */
	atomic_store_explicit(&q->published, end, memory_order_relaxed);
	real_index_store_write(q, end);
	if (RTL_UNLIKELY(q->in_device_memory))
		RTL_STORE_FENCE();
	real_index_ring(q, end - 1);
}

/* A packet that submit_usual() does not handle. */
struct other_packet {
	struct queue *q;
	struct thread *t; /* NULL: not in a hook */
	union packet *p;
	uint64_t index;
};

static RTL_INLINE void pass_on(struct queue *q, struct thread *t, union packet *p, uint64_t index)
{
	struct inflight *e = submit_packet(q, t, p, index);

	if (RTL_UNLIKELY(e != NULL))
		complete_shared(q, p, e);
}

static void call_listeners(void *arg)
{
	const struct other_packet *o = arg;

	submit_notify(o->q, o->p, o->index);
}

/* A client was called for the packet, and did not return: it is submitted here, since the caller's
 * frame is gone. */
static void on_listener_left(void *arg)
{
	const struct other_packet *o = arg;

	pass_on(o->q, o->t, o->p, o->index);
	interpose_leave(o->q, o->index + 1);
}

static RTL_COLD void notify_all(struct queue *q, struct thread *t, union packet *p, uint64_t index)
{
	struct other_packet o = { q, t, p, index };

	sys_cancel_off(); /* under the turn */
	life_callout(call_listeners, on_listener_left, &o);
	sys_cancel_on();
}

/* `t`: this thread, within a hook; NULL: not in a hook yet. */
static RTL_INLINE void submit_any(struct queue *q, struct thread *t, union packet *p,
				  uint64_t index)
{
	struct thread *entered = NULL;

	if (!t && life_enter(&entered))
		t = entered;
	if (!t)
		submit_count_left_out(q, p, 1);
	if (RTL_UNLIKELY(special_any(SPECIAL_LISTENED)))
		notify_all(q, t, p, index);
	pass_on(q, t, p, index);
	if (entered)
		life_leave(entered);
}

/* The same, not in line. */
static RTL_NOINLINE void submit_other(struct queue *q, struct thread *t, union packet *p,
				      uint64_t index)
{
	submit_any(q, t, p, index);
}

void interpose_expect(struct queue *q, uint64_t end)
{
	store_max(&q->rung, end);
	life_kick();
}

void interpose_leave(struct queue *q, uint64_t end)
{
	if (end > atomic_load_explicit(&q->published, memory_order_relaxed))
		advance(q, end);
	/* before the turn is given back: the harvester looks again until nothing is pending */
	interpose_expect(q, atomic_load_explicit(&q->reserved, memory_order_acquire));
	if (q->is_detaching)
		counter_let_go(q->agent);
	q->is_detaching = false;
	while (!queue_turn_end(q))
		;
	if (atomic_load_explicit(&q->is_counted, memory_order_relaxed))
		counter_hand_over();
}

/* The end of the slots that are free for their packets, at most `end`. */
static RTL_NOINLINE uint64_t find_free_end(struct queue *q, uint64_t end)
{
	q->free_end = real_index_read(q) + q->size;
	return end < q->free_end ? end : q->free_end;
}

uint64_t interpose_free_end(struct queue *q, uint64_t end)
{
	return end > q->free_end ? find_free_end(q, end) : end;
}

/* A doorbell that takes the turn when packets are no longer held back: the program's packets are
 * the hardware's. */
static RTL_COLD uint64_t ring_unheld(const struct queue *q)
{
	uint64_t end = real_index_write(q);

	if (end)
		real_index_ring(q, end - 1);
	return UINT64_MAX;
}

/* Submits the valid packets; returns the index of the first invalid one, or of a dispatch that has
 * to wait. `t`: as in submit_other(). Under the turn. */
static RTL_INLINE uint64_t submit_valid(struct queue *q, struct thread *t)
{
	uint64_t from = atomic_load_explicit(&q->published, memory_order_relaxed), i, stop;
	bool is_counted = atomic_load_explicit(&q->is_counted, memory_order_relaxed);
	uint64_t end;

	if (RTL_UNLIKELY(atomic_load_explicit(&q->bypassed, memory_order_relaxed)))
		return ring_unheld(q);
	if (RTL_UNLIKELY(real_index_write(q) != from))
		from = skip_foreign(q, from);
	/* acquire: pairs with the release of the reserving thread; packets have their own, below */
	end = atomic_load_explicit(&q->reserved, memory_order_acquire);
	if (RTL_UNLIKELY(end > q->free_end))
		end = find_free_end(q, end);
	if (RTL_UNLIKELY(is_counted) && client_is_any(q->agent))
		end = client_ask(q, t, from, end);
	for (i = from; i < end; from = i) {
		stop = end - from > CHUNK ? from + CHUNK : end;
		for (; i < stop; i++) {
			union packet *p = queue_packet(q, i);
			/* pairs with the release by which the program publishes a packet */
			uint16_t header = __atomic_load_n(&p->header, __ATOMIC_ACQUIRE);

			if (packet_type(header) == HSA_PACKET_TYPE_INVALID ||
			    (RTL_UNLIKELY(is_counted) && client_holds(q, t, i, end)))
				break;
			RTL_TESTPOINT("submit_valid");
			if (RTL_UNLIKELY(!submit_usual(q, p, i, header)))
				submit_other(q, t, p, i);
		}
		if (i != from)
			advance(q, i);
		if (i != stop)
			break;
	}
	return i;
}

/* Whether announced packets were not submitted yet. */
static inline bool is_pending(const struct queue *q)
{
	/* relaxed: a hint; a thread that makes it true wakes the harvester afterwards */
	return atomic_load_explicit(&q->rung, memory_order_relaxed) >
		       atomic_load_explicit(&q->published, memory_order_relaxed) &&
	       !atomic_load_explicit(&q->bypassed, memory_order_relaxed);
}

/* Packets before `end` were announced and could not all be submitted: leaves them to the harvester.
 * Usually another thread is between reserving and publishing and its own doorbell follows; if the
 * announced packet itself is missing, no doorbell may follow. */
static RTL_COLD void leave_to_harvester(struct queue *q, uint64_t end)
{
	store_max(&q->rung, end);
	if (atomic_load_explicit(&q->is_counted, memory_order_relaxed)) {
		counter_help(true);
		if (is_pending(q))
			counter_hand_over();
	}
	if (end > atomic_load_explicit(&q->reserved, memory_order_relaxed) ||
	    packet_type(__atomic_load_n(&queue_packet(q, end - 1)->header, __ATOMIC_RELAXED)) ==
		    HSA_PACKET_TYPE_INVALID)
		life_kick();
	else
		life_wake();
}

/* Another thread rang while this one held the turn. true: this thread serves once more. */
static RTL_COLD bool look_again(struct queue *q, unsigned *round)
{
	if (++*round < MAX_ROUNDS)
		return true;
	/* This thread must get on with its own work. */
	store_max(&q->rung, atomic_load_explicit(&q->reserved, memory_order_relaxed));
	life_kick();
	return !queue_turn_end(q);
}

/* With the turn: submits valid packets and gives the turn back. Returns the index it reached. */
static RTL_INLINE uint64_t serve(struct queue *q, struct thread *t)
{
	unsigned round = 0;
	uint64_t done;

	do {
		done = submit_valid(q, t);
		RTL_TESTPOINT("turn_end");
	} while (RTL_UNLIKELY(!queue_turn_end(q)) && look_again(q, &round));
	return done;
}

void interpose_end_turn(struct queue *q)
{
	struct thread *t = life_on() ? thread_get() : NULL;

	if (!queue_turn_end(q))
		serve(q, t);
}

/* The turn was taken. true: this thread has it now after all. */
static RTL_NOINLINE bool take_turn_slow(struct queue *q, uint64_t end)
{
	uint32_t turn = atomic_load_explicit(&q->turn, memory_order_relaxed);

	/* before the holder is notified: if it does not get as far, the harvester is informed by
	 * `rung` */
	if (end > atomic_load_explicit(&q->published, memory_order_relaxed))
		store_max(&q->rung, end);
	while (turn < QUEUE_ENDING) {
		uint32_t next = turn == QUEUE_IDLE ? QUEUE_BUSY : QUEUE_AGAIN;

		/* An exchange even if the value is QUEUE_AGAIN already: the thread that takes that
		 * value back sees this thread's packets. acq_rel: pairs with queue_turn_end() in
		 * both directions. */
		if (atomic_compare_exchange_weak_explicit(&q->turn, &turn, next,
							  memory_order_acq_rel,
							  memory_order_relaxed))
			return next == QUEUE_BUSY;
	}
	return false;
}

/* The general doorbell, under the turn. */
static RTL_NOINLINE void serve_doorbell(struct queue *q, uint64_t end)
{
	sys_cancel_off(); /* clients of counters are asked under the turn */
	q->nr_stuck = 0;
	if (RTL_UNLIKELY(serve(q, NULL) < end))
		leave_to_harvester(q, end);
	sys_cancel_on();
}

typedef void (*store_fn)(hsa_signal_t signal, hsa_signal_value_t value);

/* The doorbell of a queue that was not the last used, is special, or whose turn is taken. */
static RTL_NOINLINE void on_any_doorbell(hsa_signal_t doorbell, hsa_signal_value_t value,
					 store_fn store)
{
	struct queue *q = find_doorbell(doorbell.handle);
	uint64_t end = (uint64_t)value + 1;

	if (RTL_UNLIKELY(atomic_load_explicit(&q->bypassed, memory_order_relaxed)))
		store(doorbell, value);
	else if (queue_turn_try(q) || take_turn_slow(q, end))
		serve_doorbell(q, end);
}

/* Under the turn: whether packet `index` is the only one that is announced. */
static inline bool is_alone(const struct queue *q, uint64_t index, uint64_t value)
{
	return value <= index &&
	       atomic_load_explicit(q->write_index, memory_order_relaxed) == index &&
	       atomic_load_explicit(&q->reserved, memory_order_acquire) == index + 1 &&
	       index < q->free_end;
}

/* Publishes packet `index`, which is_alone(), as advance() does, and gives the turn back. The life
 * thread is awake. */
static RTL_INLINE void publish_alone(struct queue *q, hsa_signal_t doorbell, uint64_t index)
{
	atomic_store_explicit(&q->published, index + 1, memory_order_relaxed);
	/* release: the packet is written before the index */
	atomic_store_explicit(q->write_index, index + 1, memory_order_release);
	real.hsa_signal_store_screlease(doorbell, (hsa_signal_value_t)index);
	RTL_TESTPOINT("turn_end");
	/* only the queue is in a saved register */
	RTL_AS_ONE(q);
	if (RTL_UNLIKELY(!queue_turn_end(q)))
		serve_doorbell(q, 0);
}

static RTL_COLD void wake_and_publish(struct queue *q, hsa_signal_t doorbell, uint64_t index)
{
	life_wake_slow();
	publish_alone(q, doorbell, index);
}

/* Packet `index`, which is alone, but not of submit_known(), or not valid. `value`: the
 * doorbell's. */
static RTL_NOINLINE void ring_other(struct queue *q, hsa_signal_t doorbell, union packet *p,
				    uint64_t index, uint64_t value)
{
	/* acquire: as in on_doorbell() */
	uint16_t header = __atomic_load_n(&p->header, __ATOMIC_ACQUIRE);

	if (RTL_UNLIKELY(packet_type(header) == HSA_PACKET_TYPE_INVALID)) {
		serve_doorbell(q, value + 1);
		return;
	}
	RTL_TESTPOINT("submit_valid");
	if (RTL_LIKELY(packet_signal(p).handle) || !submit_usual(q, p, index, header))
		submit_any(q, NULL, p, index);
	life_wake(); /* before the index and the doorbell, as in advance() */
	publish_alone(q, doorbell, index);
}

/* HOT: usually one thread submits one packet: serve() specialised for that case. Only the queue is
 * needed after the runtime's
 * function: few registers are saved, and all that needs more is in functions that are called
 * last. */
static RTL_NOINLINE void on_doorbell(hsa_signal_t doorbell, hsa_signal_value_t value,
				     store_fn store)
{
	struct queue *q =
		atomic_load_explicit(&recent_doorbell[hash(doorbell.handle)], memory_order_acquire);
	union packet *p;
	uint64_t index;
	uint16_t header;

	if (RTL_UNLIKELY(atomic_load_explicit(&q->direct_doorbell, memory_order_relaxed) !=
				 doorbell.handle ||
			 !queue_turn_try(q))) {
		on_any_doorbell(doorbell, value, store);
		return;
	}
	index = atomic_load_explicit(&q->published, memory_order_relaxed);
	if (RTL_UNLIKELY(!is_alone(q, index, (uint64_t)value))) {
		serve_doorbell(q, (uint64_t)value + 1);
		return;
	}
	p = queue_packet(q, index);
	/* pairs with the release by which the program publishes a packet */
	header = __atomic_load_n(&p->header, __ATOMIC_ACQUIRE);
	if (RTL_UNLIKELY(!submit_known(q, p, index, header, SPECIAL_FOR_PACKETS))) {
		ring_other(q, doorbell, p, index, (uint64_t)value);
		return;
	}
	RTL_TESTPOINT("submit_valid");
	/* before the index and the doorbell, as in advance() */
	if (life_sleeps())
		wake_and_publish(q, doorbell, index);
	else
		publish_alone(q, doorbell, index);
}

void interpose_submit(struct queue *q)
{
	submit_valid(q, life_on() ? thread_get() : NULL);
}

void interpose_submit_announced(struct queue *q)
{
	if (is_pending(q))
		submit_valid(q, thread_get());
}

/* The processor has taken packets that librtl did not submit: the program rings the real doorbell.
 * From now on the program's indices are the hardware's, as untraced. Under the turn. */
static RTL_COLD void stop_holding(struct queue *q)
{
	uint64_t rung = atomic_load_explicit(&q->rung, memory_order_relaxed);

	if (q->answers)
		client_fail(q, atomic_load_explicit(&q->published, memory_order_relaxed), q->asked,
			    "packets reach its queue past librtl");
	atomic_store_explicit(&q->bypassed, true, memory_order_relaxed);
	atomic_store_explicit(&q->direct_doorbell, 0, memory_order_relaxed);
	/* so that reservations detect it with one comparison */
	atomic_store_explicit(&q->rung, UINT64_MAX, memory_order_relaxed);
	real_index_store_write(q, atomic_load_explicit(&q->reserved, memory_order_acquire));
	if (rung > atomic_load_explicit(&q->published, memory_order_relaxed))
		/* announced to librtl, and not yet to the hardware */
		real_index_ring(q, rung - 1);
}

/* A queue whose packets are not held back: counts the ones executed since the last visit. Under the
 * turn. */
static RTL_COLD void count_past(struct queue *q)
{
	uint64_t from = atomic_load_explicit(&q->published, memory_order_relaxed);
	uint64_t to = real_index_read(q);

	if (to > from) {
		count_bypassed(q, from, to);
		atomic_store_explicit(&q->published, to, memory_order_relaxed);
	}
}

/* Whether the next packet is valid and no doorbell announced it. */
static bool is_unannounced(const struct queue *q, uint64_t published)
{
	return atomic_load_explicit(&q->reserved, memory_order_relaxed) > published &&
	       !is_pending(q) && !atomic_load_explicit(&q->is_counted, memory_order_relaxed) &&
	       !atomic_load_explicit(&q->nr_announcing, memory_order_relaxed) &&
	       packet_type(__atomic_load_n(&queue_packet(q, published)->header,
					   __ATOMIC_RELAXED)) != HSA_PACKET_TYPE_INVALID;
}

/* Whether the next packet waits for a doorbell that may never come: its thread is preempted, or the
 * program announces packets to the hardware itself, and a processor that follows only the write
 * index never reaches them. */
static bool is_stuck(struct queue *q, uint64_t published)
{
	/* if the slot is not free yet, it contains an older packet */
	if (!is_unannounced(q, published) || find_free_end(q, published + 1) == published) {
		q->stuck_at = 0;
	} else if (q->stuck_at != published + 1) {
		q->stuck_at = published + 1;
		q->stuck_looks = 0;
	}
	return q->stuck_at && q->stuck_looks++ == STUCK_LOOKS;
}

/* Submits packets that no doorbell announced: a valid packet may be processed before it is
 * announced. */
static RTL_COLD void submit_stuck(struct queue *q, struct thread *t, uint64_t published)
{
	if (q->stuck_end != published)
		q->nr_stuck = 0; /* a doorbell submitted packets meanwhile */
	if (++q->nr_stuck > STUCK_MAX)
		stop_holding(q);
	else
		q->stuck_end = submit_valid(q, t);
}

static RTL_COLD void look_under_turn(struct queue *q, struct thread *t)
{
	uint64_t published = atomic_load_explicit(&q->published, memory_order_relaxed);

	if (!atomic_load_explicit(&q->bypassed, memory_order_relaxed)) {
		if (real_index_read(q) > published && real_index_write(q) == published)
			stop_holding(q);
		else if (is_stuck(q, published))
			submit_stuck(q, t, published);
		else if (is_pending(q) || real_index_write(q) != published)
			submit_valid(q, t);
	}
	if (atomic_load_explicit(&q->bypassed, memory_order_relaxed))
		count_past(q);
}

/* Whether packets may have reached the hardware past librtl. Runs without the turn: if the
 * harvester were preempted while holding it, doorbells would wait. */
static bool may_be_past(struct queue *q)
{
	uint64_t published;
	bool may = false;

	/* seq_cst, all: pairs with interpose_detach(), which either sees this reader or has ended
	 * the queue; a queue being made is not live */
	atomic_fetch_add(&q->nr_lookers, 1);
	if (atomic_load(&q->live) && atomic_load(&q->turn) < QUEUE_ENDING) {
		published = atomic_load_explicit(&q->published, memory_order_relaxed);
		/* only functions read its indices: its handle may be released unless the turn is
		 * taken */
		may = !q->write_index || real_index_write(q) != published ||
		      real_index_read(q) > published || is_unannounced(q, published) ||
		      atomic_load_explicit(&q->bypassed, memory_order_relaxed);
	}
	atomic_fetch_sub(&q->nr_lookers, 1);
	return may;
}

bool interpose_look(struct queue *q, bool all)
{
	/* the queue's memory exists as long as its turn can be taken */
	if ((is_pending(q) || (all && may_be_past(q))) && queue_turn_try(q)) {
		look_under_turn(q, life_on() ? thread_get() : NULL);
		interpose_end_turn(q);
	}
	/* announced packets that are not reserved wake the harvester when they are; those to be
	 * counted are counter.c's */
	return is_pending(q) &&
	       !(atomic_load_explicit(&q->is_counted, memory_order_relaxed) && counter_is_busy()) &&
	       atomic_load_explicit(&q->reserved, memory_order_relaxed) >
		       atomic_load_explicit(&q->published, memory_order_relaxed);
}

/* ---- the functions that reserve packets: one for each memory order --------------------------- */

/* Notes packets [index, end) of a queue that is not interposed, which its own function reserved. */
static RTL_NOINLINE void note_foreign(const hsa_queue_t *hsa, uint64_t index, uint64_t end)
{
	struct queue *q = queue_find(hsa);
	struct thread *t;

	if (q) {
		origin_note(q, index, end);
	} else if (life_enter(&t)) {
		queue_unseen(hsa);
		life_leave(t);
	}
}

/* Before a reservation: the runtime itself may have put packets into an idle queue. */
static inline void follow_foreign(struct queue *q, const hsa_queue_t *hsa)
{
	uint64_t index = RTL_LIKELY(q->write_index != NULL) ?
				 real_index_write(q) :
				 real.hsa_queue_load_write_index_relaxed(hsa);

	if (RTL_UNLIKELY(index > atomic_load_explicit(&q->reserved, memory_order_relaxed)))
		store_max(&q->reserved, index);
}

/* The packets before `end` were announced before they were reserved, or packets are no longer held
 * back. */
static RTL_COLD void on_late_reservation(struct queue *q, const hsa_queue_t *hsa, uint64_t end)
{
	if (!atomic_load_explicit(&q->bypassed, memory_order_relaxed))
		life_kick(); /* possibly no doorbell follows */
	else if (q->write_index)
		store_max(q->write_index, end);
	else
		real_index_raise_write(hsa, end);
}

/* After a reservation. */
static inline void on_reservation(struct queue *q, const hsa_queue_t *hsa, uint64_t index,
				  uint64_t end)
{
	origin_note(q, index, end);
	if (RTL_UNLIKELY(atomic_load_explicit(&q->rung, memory_order_relaxed) > index))
		on_late_reservation(q, hsa, end);
}

/* Packet `index` was reserved on a special queue or thread, or needs more than a note. */
static RTL_NOINLINE uint64_t on_special_reservation(struct queue *q, const hsa_queue_t *hsa,
						    uint64_t index)
{
	uint64_t others;

	/* Other packets took that index first. Bypassed: the real index follows librtl's. acquire:
	 * pairs with stop_holding(), which stores the flag before it moves the real index */
	while ((others = atomic_load_explicit(q->write_index, memory_order_acquire)) > index &&
	       !atomic_load_explicit(&q->bypassed, memory_order_relaxed)) {
		store_max(&q->reserved, others);
		index = atomic_fetch_add_explicit(&q->reserved, 1, memory_order_acq_rel);
	}
	on_reservation(q, hsa, index, index + 1);
	return index;
}

/* As it is when packet `index` is reserved. */
static inline bool is_special_reservation(const struct queue *q, const struct thread *t,
					  uint64_t index)
{
	return atomic_load_explicit(q->write_index, memory_order_relaxed) > index ||
	       atomic_load_explicit(&q->rung, memory_order_relaxed) > index ||
	       special_any(SPECIAL_FOR_ORIGINS) || thread_kept_out(t);
}

typedef uint64_t (*add_fn)(const hsa_queue_t *hsa, uint64_t value);

/* More than one packet, or a queue that was not the last used. */
static RTL_NOINLINE uint64_t add_any(const hsa_queue_t *hsa, uint64_t value, add_fn add)
{
	struct queue *q = find_queue(hsa);
	uint64_t index;

	if (!q) {
		index = add(hsa, value);
		note_foreign(hsa, index, index + value);
		return index;
	}
	follow_foreign(q, hsa);
	/* the strongest order that the program can request */
	index = atomic_fetch_add_explicit(&q->reserved, value, memory_order_acq_rel);
	on_reservation(q, hsa, index, index + value);
	return index;
}

/* HOT: programs usually reserve a packet by adding 1. */
#define RESERVE(order, c_order)                                                                    \
	static uint64_t add_##order(const hsa_queue_t *hsa, uint64_t value)                        \
	{                                                                                          \
		struct queue *q = recent(hsa);                                                     \
		uint64_t index;                                                                    \
                                                                                                   \
		if (RTL_UNLIKELY(atomic_load_explicit(&q->direct, memory_order_relaxed) != hsa ||  \
				 value != 1))                                                      \
			return add_any(hsa, value, real.hsa_queue_add_write_index_##order);        \
		index = atomic_fetch_add_explicit(&q->reserved, 1, c_order);                       \
		if (RTL_UNLIKELY(is_special_reservation(q, &thread_self, index)))                  \
			return on_special_reservation(q, hsa, index);                              \
		origin_put(q, &thread_self, index);                                                \
		return index;                                                                      \
	}                                                                                          \
	static uint64_t cas_##order(const hsa_queue_t *hsa, uint64_t expected, uint64_t value)     \
	{                                                                                          \
		struct queue *q = find_queue(hsa);                                                 \
		uint64_t index = expected;                                                         \
                                                                                                   \
		if (RTL_UNLIKELY(!q)) {                                                            \
			index = real.hsa_queue_cas_write_index_##order(hsa, expected, value);      \
			if (index == expected)                                                     \
				note_foreign(hsa, index, value);                                   \
			return index;                                                              \
		}                                                                                  \
		follow_foreign(q, hsa);                                                            \
		if (atomic_compare_exchange_strong_explicit(&q->reserved, &index, value, c_order,  \
							    memory_order_relaxed))                 \
			on_reservation(q, hsa, expected, value);                                   \
		return index;                                                                      \
	}
RESERVE(relaxed, memory_order_relaxed)
RESERVE(scacquire, memory_order_acquire)
RESERVE(screlease, memory_order_release)
RESERVE(scacq_screl, memory_order_acq_rel)
#undef RESERVE

/* A queue with one producer: the indices between the old value and the new one are its own. */
#define STORE(order, c_order)                                                                      \
	static void store_##order(const hsa_queue_t *hsa, uint64_t value)                          \
	{                                                                                          \
		struct queue *q = find_queue(hsa);                                                 \
		uint64_t was;                                                                      \
                                                                                                   \
		if (RTL_UNLIKELY(!q)) {                                                            \
			was = real.hsa_queue_load_write_index_relaxed(hsa);                        \
			note_foreign(hsa, was, value);                                             \
			real.hsa_queue_store_write_index_##order(hsa, value);                      \
			return;                                                                    \
		}                                                                                  \
		was = atomic_load_explicit(&q->reserved, memory_order_relaxed);                    \
		atomic_store_explicit(&q->reserved, value, c_order);                               \
		on_reservation(q, hsa, was, value);                                                \
	}
STORE(relaxed, memory_order_relaxed)
STORE(screlease, memory_order_release)
#undef STORE

#define LOAD(order, c_order)                                                                       \
	static uint64_t load_##order(const hsa_queue_t *hsa)                                       \
	{                                                                                          \
		struct queue *q = find_queue(hsa);                                                 \
                                                                                                   \
		if (RTL_UNLIKELY(!q))                                                              \
			return real.hsa_queue_load_write_index_##order(hsa);                       \
		follow_foreign(q, hsa);                                                            \
		return atomic_load_explicit(&q->reserved, c_order);                                \
	}
LOAD(relaxed, memory_order_relaxed)
LOAD(scacquire, memory_order_acquire)
#undef LOAD

/* ---- the functions that store to signals ----------------------------------------------------- */

/* HOT: six more instructions if the signal is not a doorbell. */
#define SIGNAL_STORE(name)                                                                         \
	static void signal_##name(hsa_signal_t signal, hsa_signal_value_t value)                   \
	{                                                                                          \
		if (RTL_UNLIKELY(signal_is_doorbell(signal)))                                      \
			on_doorbell(signal, value, real.hsa_signal_##name);                        \
		else                                                                               \
			real.hsa_signal_##name(signal, value);                                     \
	}
SIGNAL_STORE(store_relaxed)
SIGNAL_STORE(store_screlease)
SIGNAL_STORE(silent_store_relaxed)
SIGNAL_STORE(silent_store_screlease)
#undef SIGNAL_STORE

/* ---- making and destroying queues ------------------------------------------------------------ */

bool interpose_possible(const hsa_queue_t *hsa)
{
	return hsa->features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH && hsa->base_address &&
	       hsa->size && !(hsa->size & (hsa->size - 1)) &&
	       signal_is_doorbell(hsa->doorbell_signal);
}

/* Sets the look-up keys that the hot paths use for `q`. */
static void set_handles(struct queue *q, hsa_queue_t *hsa)
{
	uint64_t doorbell = hsa->doorbell_signal.handle;
	bool longer = !q->write_index || q->in_device_memory ||
		      atomic_load_explicit(&q->is_counted, memory_order_relaxed) ||
		      atomic_load_explicit(&q->bypassed, memory_order_relaxed);

	atomic_store_explicit(&q->direct, q->write_index ? hsa : NULL, memory_order_relaxed);
	atomic_store_explicit(&q->doorbell, doorbell, memory_order_relaxed);
	atomic_store_explicit(&q->direct_doorbell, longer ? 0 : doorbell, memory_order_relaxed);
}

int interpose_attach(struct queue *q, hsa_queue_t *hsa, bool by_functions)
{
	amd_queue_t *aq = (amd_queue_t *)hsa;
	uint64_t index = real.hsa_queue_load_write_index_relaxed(hsa);

	queue_set_ring(q, hsa->base_address);
	q->packet_mask = hsa->size - 1;
	q->write_index = NULL;
	q->read_index = NULL;
	if (!by_functions) {
		q->write_index = (_Atomic uint64_t *)&aq->write_dispatch_id;
		q->read_index = (_Atomic uint64_t *)&aq->read_dispatch_id;
	}
	atomic_store_explicit(&q->reserved, index, memory_order_relaxed);
	atomic_store_explicit(&q->published, index, memory_order_relaxed);
	atomic_store_explicit(&q->rung, 0, memory_order_relaxed);
	q->free_end = real_index_read(q) + hsa->size;
	set_handles(q, hsa);
	return queue_attach(q, hsa);
}

void interpose_detach(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	uint64_t from, asked;

	sys_cancel_off();
	counter_hold_off(q->agent);
	/* The holder submits a few packets at most. The bound is for a thread that was cancelled
	 * asynchronously there, or whose client's callback did not return. */
	for (unsigned round = 0; round < DETACH_ROUNDS && !queue_turn_try(q); round++) {
		if (round < 1024)
			RTL_RELAX();
		else
			sys_nap(&nap);
	}
	from = atomic_load_explicit(&q->published, memory_order_relaxed);
	asked = q->asked;
	q->is_detaching = true;
	q->not_counted = "its queue was destroyed";
	atomic_store_explicit(&q->granted, UINT64_MAX, memory_order_relaxed);
	client_release(q->agent, from, asked);
	look_under_turn(q, NULL);
	if (q->answers)
		client_fail(q, from, asked, q->not_counted);
	q->is_detaching = false;
	counter_let_go(q->agent);
	/* another queue may have both as soon as the runtime has destroyed this one */
	atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
	atomic_store_explicit(&q->direct, NULL, memory_order_relaxed);
	atomic_store_explicit(&q->doorbell, 0, memory_order_relaxed);
	atomic_store_explicit(&q->direct_doorbell, 0, memory_order_relaxed);
	/* seq_cst, both: pairs with may_be_past() */
	atomic_store(&q->turn, QUEUE_ENDING);
	for (unsigned round = 0; round < DETACH_ROUNDS && atomic_load(&q->nr_lookers); round++)
		sys_nap(&nap);
	sys_cancel_on();
}

void interpose_reattach(struct queue *q, hsa_queue_t *hsa)
{
	atomic_store_explicit(&q->hsa, hsa, memory_order_relaxed);
	set_handles(q, hsa);
	atomic_store_explicit(&q->granted, 0, memory_order_relaxed);
	atomic_store_explicit(&q->turn, QUEUE_IDLE, memory_order_release);
}

static void forget_recent(void)
{
	atomic_store_explicit(&dummy_queue.bypassed, true, memory_order_relaxed);
	for (uint32_t i = 0; i < NR_RECENT; i++) {
		atomic_store_explicit(&recent_queue[i], &dummy_queue, memory_order_relaxed);
		atomic_store_explicit(&recent_doorbell[i], &dummy_queue, memory_order_relaxed);
	}
}

void interpose_install(const struct hsa_mirror_root *root)
{
#define INDEX(what, order) TABLE_CORE(root, queue_##what##_write_index_##order, what##_##order)
#define SIGNAL(name) TABLE_CORE(root, signal_##name, signal_##name)
	forget_recent();
	INDEX(add, relaxed);
	INDEX(add, scacquire);
	INDEX(add, screlease);
	INDEX(add, scacq_screl);
	INDEX(cas, relaxed);
	INDEX(cas, scacquire);
	INDEX(cas, screlease);
	INDEX(cas, scacq_screl);
	INDEX(store, relaxed);
	INDEX(store, screlease);
	INDEX(load, relaxed);
	INDEX(load, scacquire);
	SIGNAL(store_relaxed);
	SIGNAL(store_screlease);
	SIGNAL(silent_store_relaxed);
	SIGNAL(silent_store_screlease);
#undef INDEX
#undef SIGNAL
}
