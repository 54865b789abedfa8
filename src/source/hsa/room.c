/* SPDX-License-Identifier: MIT */
/* room.c - how much room there is in a hardware ring, and waiting for it
 *
 * Threads:  the packet callback of the queue.
 * Hot path: room_make() when there is room; room_add_gate() once in a quarter of a ring at most.
 *
 * An intercepted queue takes packets at once, and ROCr 5.2 to 5.7 abort when the
 * hardware's ring overflows ("overflow buffer not empty", InterceptQueue::Submit, seen in 5.2.3).
 * Untraced, the program would have waited for the read index. The hardware's read index is
 * not visible through an intercepted queue; but completion of packet i says that all slots before
 * i are free. So we know how far it came from the signals of our dispatches, and where a stretch
 * of a quarter of the ring has none, a gate signal goes onto a packet, or an empty
 * barrier packet with one is added. Before the ring can overflow the callback waits, on the
 * thread that would have waited.
 */
#include "source/hsa/room.h"

#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "event/life.h"
#include "source/hsa/table.h"

#include <hsa/hsa_ext_amd.h>

static void see(struct queue *q, uint64_t hw)
{
	if (hw > q->consumed)
		q->consumed = hw;
}

/* How far the hardware has come, as far as signals tell. false: all of them have told. */
static bool look(struct queue *q)
{
	uint64_t head = atomic_load_explicit(&q->ring.head, memory_order_relaxed); /* owner */
	/* pairs with the release in harvest_queue(): entries before tail may be used again */
	uint64_t i = atomic_load_explicit(&q->ring.tail, memory_order_acquire);
	/* pairs with the release in harvest.c's give_up() */
	const amd_signal_t *orphan =
		(amd_signal_t *)(uintptr_t)atomic_load_explicit(&q->orphan, memory_order_acquire);
	bool more;

	see(q, atomic_load_explicit(&q->passed, memory_order_relaxed));
	if (i < q->ring.peek)
		i = q->ring.peek;
	for (; i < head; i++) {
		struct inflight *e = &q->ring.entry[i & q->ring.mask];

		if (!inflight_completed(e))
			break;
		see(q, e->hw);
	}
	q->ring.peek = i;
	more = i < head;
	for (uint32_t g = 0; g < QUEUE_NR_GATES; g++) {
		if (!q->gate[g].signal)
			continue;
		if (signal_value(q->gate[g].signal) <= 0)
			see(q, q->gate[g].hw);
		else
			more = true;
	}
	if (orphan && signal_value(orphan) <= 0)
		see(q, atomic_load_explicit(&q->orphan_hw, memory_order_relaxed));
	return more || (orphan && signal_value(orphan) > 0);
}

void room_pause(unsigned round)
{
	struct timespec nap = { .tv_nsec = round < 64 ? 20000 : 200000 };

	if (round < 16)
		for (int i = 0; i < 64; i++)
			__builtin_ia32_pause();
	else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static bool wait_for_room(struct queue *q, uint64_t n)
{
	for (unsigned round = 0; !room_has(q, n); round++) {
		bool more;

		/* seq_cst: pairs with fail() */
		if (atomic_load(&q->failed))
			return false;
		more = look(q);
		if (room_has(q, n) || !more)
			break;
		room_pause(round);
	}
	return true;
}

bool room_make_slow(struct queue *q, uint64_t n)
{
	bool ok;

	if (n > q->limit)
		n = q->limit; /* a batch of a whole ring: runtimes that batch keep the rest themselves */
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return true;
	/* seq_cst: pairs with fail(), whose caller takes the signals away when we don't look */
	atomic_store(&q->waiting, true);
	ok = wait_for_room(q, n);
	atomic_store_explicit(&q->waiting, false, memory_order_release);
	return ok;
}

bool room_make_gate(struct queue_gate *g)
{
	hsa_signal_t s;

	if (!g->signal && real.hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s) ==
				  HSA_STATUS_SUCCESS)
		g->signal = signal_of(s);
	return g->signal != NULL;
}

/* A gate signal that is free. NULL: those that could be made are in the ring, and will tell. */
static amd_signal_t *take_gate(struct queue *q, uint64_t hw)
{
	for (uint32_t i = 0; i < QUEUE_NR_GATES; i++) {
		struct queue_gate *g = &q->gate[(q->next_gate + i) % QUEUE_NR_GATES];

		if (!room_make_gate(g) || signal_value(g->signal) > 0)
			continue;
		see(q, g->hw);
		__atomic_store_n(&g->signal->value, 1, __ATOMIC_RELAXED);
		g->hw = hw;
		q->next_gate = (q->next_gate + i + 1) % QUEUE_NR_GATES;
		q->last_seen = hw;
		return g->signal;
	}
	return NULL;
}

void room_empty_barrier(union packet *p, uint16_t fences)
{
	memset(p, 0, sizeof(*p));
	p->barrier.header = (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE) |
			    fences;
}

/* Puts a gate onto the last of `n` packets, or behind it. Returns the new number of packets. */
uint64_t room_add_gate(struct queue *q, union packet *out, uint64_t n)
{
	union packet *last = &out[n - 1];
	uint32_t type = last->header & 0xff;
	bool has_place = type == HSA_PACKET_TYPE_BARRIER_AND ||
			 type == HSA_PACKET_TYPE_BARRIER_OR ||
			 type == HSA_PACKET_TYPE_KERNEL_DISPATCH;
	bool onto = has_place && last->dispatch.completion_signal.handle == 0;
	amd_signal_t *s = take_gate(q, q->written + n - (onto ? 1 : 0));

	if (!s)
		return n;
	if (!onto) {
		last = &out[n++];
		room_empty_barrier(last, 0);
	}
	last->dispatch.completion_signal = signal_handle(s);
	return n;
}
