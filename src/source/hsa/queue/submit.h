/* SPDX-License-Identifier: MIT */
/* submit.h - instruments each packet before the hardware sees it
 *
 * The caller of every function here holds the queue's turn.
 */
#ifndef RTL_SOURCE_HSA_SUBMIT_H
#define RTL_SOURCE_HSA_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/special.h"
#include "event/thread.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/inflight.h"
#include "source/hsa/queue/origin.h"
#include "source/hsa/queue/packet.h"
#include "source/hsa/queue/queue.h"

/* HOT: submit_packet() for a kernel dispatch without a signal whose origin is noted, and for which
 * an entry is known to be free: makes no function call. `header`: that of the packet; `special`:
 * conditions that make it another kind. false: it is of another kind, and nothing was done. */
static RTL_INLINE bool submit_known(struct queue *q, union packet *p, uint64_t index,
				    uint16_t header, enum special special)
{
	const struct origin_note *n;
	struct inflight_ring *r;
	struct inflight *e;
	amd_signal_t *ours;
	uint64_t head;

	if (RTL_UNLIKELY(packet_type(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH ||
			 packet_signal(p).handle || special_any(special)))
		return false;
	n = origin_at(q, index);
	if (RTL_UNLIKELY(!origin_is_of(q, n, index)))
		return false;
	r = inflight_current(&q->inflight);
	head = inflight_head(r);
	if (RTL_UNLIKELY(head == r->free_end))
		return false;
	e = &r->entry[head & r->mask];
	/* acquire: pairs with inflight_prepare() */
	ours = atomic_load_explicit(&e->ours, memory_order_acquire);
	if (RTL_UNLIKELY(!ours))
		return false;
	inflight_set_signal(e, ours);
	packet_keep_head(&e->head, p);
	p->dispatch.completion_signal = signal_handle(ours);
	e->kind = INFLIGHT_DISPATCH;
	e->nr_looks = 0;
	e->flags = 0;
	e->epoch = code_object_now();
	e->correlation = atomic_load_explicit(&n->correlation, memory_order_relaxed);
	e->marker = atomic_load_explicit(&n->marker, memory_order_relaxed);
	e->submitter = atomic_load_explicit(&n->submitter, memory_order_relaxed);
	e->packet = index;
	atomic_store_explicit(&e->state, INFLIGHT_OURS, memory_order_relaxed);
	inflight_push_at(r, e, head);
	return true;
}

/* HOT: the same, and finds out which entries have become free. */
static RTL_INLINE bool submit_plain(struct queue *q, union packet *p, uint64_t index,
				    uint16_t header, enum special special)
{
	return inflight_next(inflight_current(&q->inflight)) &&
	       submit_known(q, p, index, header, special);
}

/* HOT: submit_plain() while recording is paused or kernels or GPUs are left out: a dispatch that is
 * left out is counted and stays as it is. */
bool submit_by_choice(struct queue *q, union packet *p, uint64_t index);

/* HOT: submit_packet() for the usual packet. false: it is of another kind, and nothing was done. */
static RTL_INLINE bool submit_usual(struct queue *q, union packet *p, uint64_t index,
				    uint16_t header)
{
	return RTL_LIKELY(submit_plain(q, p, index, header, SPECIAL_FOR_PACKETS)) ||
	       (special_any(SPECIAL_CHOICES) && submit_by_choice(q, p, index));
}

/* HOT: gives `p`, packet `index` of `q`, a completion signal of librtl's if it needs one, and an
 * in-flight entry. A packet that no sink wants is unchanged. `t`: the current thread, within a
 * hook; NULL: nothing is recorded.
 *
 * Returns NULL, or the entry of a dispatch whose owner's signal a barrier packet has to complete:
 * e->owner, after the signal of `p` (packet_make_completion()). Such an entry is not published yet:
 * submit_shared() publishes it. */
struct inflight *submit_packet(struct queue *q, struct thread *t, union packet *p, uint64_t index);

/* Before that, where SPECIAL_LISTENED is set: calls the listeners of submit_listen(), whose clients
 * may leave this call (callout.h). */
void submit_notify(const struct queue *q, const union packet *p, uint64_t index);

/* Publishes an entry that submit_packet() returned. `hw`: index of the barrier packet. */
void submit_shared(struct queue *q, struct inflight *e, uint64_t hw);

/* Counts packets that are not recorded since this thread can't be in a hook now (life.h). */
void submit_count_left_out(struct queue *q, const union packet *p, uint64_t count);

/* Calls `fn` with each packet before it is submitted, on the submitting thread. For faces.
 * `packet`: 64 bytes, valid during the call. false: SUBMIT_MAX_LISTENERS are registered already.
 * Any thread. */
#define SUBMIT_MAX_LISTENERS 5u
typedef void (*submit_listener_fn)(const hsa_queue_t *queue, const void *packet, uint64_t index);
bool submit_listen(submit_listener_fn fn);

/* Calls `fn` with each dispatch that is about to be submitted and will be recorded, on the
 * submitting thread: as its EVENT_DISPATCH will be, but without times. That event follows later,
 * once, also if the dispatch never completes. `fn` must not wait, nor call the program. For faces.
 * false: SUBMIT_MAX_TAKERS are registered already. Any thread. */
#define SUBMIT_MAX_TAKERS 2u
typedef void (*submit_taken_fn)(const struct event_dispatch *d);
bool submit_listen_taken(submit_taken_fn fn);

#endif
