/* SPDX-License-Identifier: MIT */
/* deliver.c - when the completion of a packet becomes visible to the host
 *
 * Owns:     the delayed completions, in order, in their queue.
 * Threads:  under the engine's lock.
 * Fails:    out of memory: delivers the completion at once.
 */
#include "deliver.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "host.h"
#include "knobs.h"
#include "mem.h"
#include "queue.h"
#include "vtime.h"

static amd_signal_t *signal_of(uint64_t handle)
{
	return mem_ptr(handle);
}

static void complete(uint64_t handle, bool lose_event)
{
	amd_signal_t *s = signal_of(handle);
	/* read before the value is decremented: then the owner may reuse or free the signal */
	uint64_t mailbox = s->event_mailbox_ptr;
	uint32_t id = s->event_id;

	/* pairs with the acquire of the waiting thread: results and timestamps come before the
	 * value */
	__atomic_fetch_sub(&s->value, 1, __ATOMIC_RELEASE);
	if (mailbox && !lose_event) {
		mem_store64(mem_ptr(mailbox), id);
		host_event_set(id);
	}
}

static bool keep_back(struct queue *q, uint64_t handle, bool lose_event)
{
	if (q->nr_late == q->cap_late) {
		unsigned int cap = q->cap_late ? q->cap_late * 2 : 64;
		struct queue_late *late = realloc(q->late, cap * sizeof(*late));

		if (!late)
			return false;
		q->late = late;
		q->cap_late = cap;
	}
	if (!vtime_pend(handle, 1))
		return false;
	q->late[q->nr_late++] = (struct queue_late){
		.handle = handle,
		.since_ns = clock_now(),
		.event_id = signal_of(handle)->event_id,
		.lose_event = lose_event,
	};
	return true;
}

void deliver_signal(struct queue *q, uint64_t handle, uint64_t vns, bool lose_event)
{
	if (knobs.clock == KNOBS_CLOCK_DETERMINISTIC) {
		vtime_set(handle, vns);
		/* one that no thread can block on is not kept, unless earlier ones are: it is
		 * visible no sooner than they */
		if (knobs.settle_us && (signal_of(handle)->event_mailbox_ptr || q->nr_late) &&
		    keep_back(q, handle, lose_event))
			return;
	}
	complete(handle, lose_event);
}

static void hand_out(struct queue *q, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		vtime_pend(q->late[i].handle, -1);
		complete(q->late[i].handle, q->late[i].lose_event);
	}
	q->nr_late -= nr;
	memmove(q->late, q->late + nr, q->nr_late * sizeof(*q->late));
}

bool deliver_serve(struct queue *q, uint64_t now, uint64_t *wake_ns)
{
	uint64_t settle_ns = knobs.settle_us * 1000;
	unsigned int nr = 0;

	/* in order: delivers the completion that a thread waits for, and all before it */
	for (unsigned int i = 0; i < q->nr_late; i++) {
		if (now >= q->late[i].since_ns + settle_ns ||
		    host_event_blocks(q->late[i].event_id))
			nr = i + 1;
	}
	if (nr)
		hand_out(q, nr);
	if (q->nr_late && q->late[0].since_ns + settle_ns < *wake_ns)
		*wake_ns = q->late[0].since_ns + settle_ns;
	return nr != 0;
}

void deliver_all(struct queue *q)
{
	if (q->nr_late)
		hand_out(q, q->nr_late);
}

int64_t deliver_value(uint64_t handle)
{
	int64_t value = (int64_t)mem_load64(&signal_of(handle)->value);

	return knobs.clock == KNOBS_CLOCK_DETERMINISTIC ? value - vtime_pending(handle) : value;
}
