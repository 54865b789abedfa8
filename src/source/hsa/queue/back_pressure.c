/* SPDX-License-Identifier: MIT */
/* back_pressure.c - tracks free space in the hardware ring of an intercept queue, and waits for it
 *
 * Threads:  the packet callback of the queue.
 * Hot path: back_pressure_wait() when there is space; back_pressure_add_gate() once in a quarter of
 *           a ring at most.
 *
 * An intercept queue accepts packets at once, and ROCr 5.2 to 5.7 abort when the hardware's ring
 * overflows ("overflow buffer not empty", InterceptQueue::Submit, seen in 5.2.3). Untraced, the
 * program would have waited for the read index. An intercept queue hides the hardware's read index,
 * but completion of packet i implies that all slots before i are free. So librtl derives the read
 * index from the signals of its dispatches. Where a quarter of the ring has no such signal, a gate
 * signal goes onto a packet, or onto an empty barrier packet that is added. The callback waits
 * before the ring can overflow, on the thread that would have waited untraced.
 */
#include "source/hsa/queue/back_pressure.h"

#include <errno.h>
#include <time.h>

#include <hsa/hsa_ext_amd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/sys.h"
#include "event/life.h"
#include "source/hsa/completion/poll.h"
#include "source/hsa/table/real.h"

/* Slots that ROCr needs for its own retry packet, and one for the packet in execution. */
#define RING_RESERVE 3u

static void see(struct back_pressure *b, uint64_t hw)
{
	if (hw > b->consumed)
		b->consumed = hw;
}

/* false: all entries of `r` have completed. */
static bool look_at_ring(struct back_pressure *b, struct inflight_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* owner */
	/* pairs with the release in collect.c's advance(): entries before tail may be used again */
	uint64_t i = atomic_load_explicit(&r->tail, memory_order_acquire);

	if (i < r->peek)
		i = r->peek;
	for (; i < head; i++) {
		struct inflight *e = &r->entry[i & r->mask];

		if (!poll_completed(e))
			break;
		see(b, e->hw);
	}
	r->peek = i;
	return i < head;
}

static bool look_at_gates(struct back_pressure *b)
{
	bool more = false;

	for (uint32_t g = 0; g < BACK_PRESSURE_NR_GATES; g++) {
		if (!b->gate[g].signal)
			continue;
		if (signal_value(b->gate[g].signal) <= 0)
			see(b, b->gate[g].hw);
		else
			more = true;
	}
	return more;
}

/* Advances `consumed` as far as signals show. false: all of them have completed. */
static bool look(struct queue *q)
{
	struct back_pressure *b = q->pressure;
	/* pairs with the release in back_pressure_orphaned() */
	const amd_signal_t *orphan =
		(amd_signal_t *)(uintptr_t)atomic_load_explicit(&b->orphan, memory_order_acquire);
	bool more = false;

	see(b, atomic_load_explicit(&b->passed, memory_order_relaxed));
	for (struct inflight_ring *r = q->inflight.ring; r <= inflight_current(&q->inflight); r++)
		more |= look_at_ring(b, r);
	more |= look_at_gates(b);
	if (orphan && signal_value(orphan) <= 0)
		see(b, atomic_load_explicit(&b->orphan_hw, memory_order_relaxed));
	return more || (orphan && signal_value(orphan) > 0);
}

void back_pressure_pause(unsigned round)
{
	struct timespec nap = { .tv_nsec = round < 64 ? 20000 : 200000 };

	if (round < 16)
		for (int i = 0; i < 64; i++)
			RTL_RELAX();
	else
		sys_nap(&nap);
}

static bool wait_for_space(struct queue *q, uint64_t n)
{
	for (unsigned round = 0; !back_pressure_fits(q->pressure, n); round++) {
		bool more;

		/* seq_cst: pairs with back_pressure_release() */
		if (atomic_load(&q->failed))
			return false;
		more = look(q);
		if (back_pressure_fits(q->pressure, n) || !more)
			break;
		back_pressure_pause(round);
	}
	return true;
}

bool back_pressure_wait_slow(struct queue *q, uint64_t n)
{
	struct back_pressure *b = q->pressure;
	bool ok;

	if (n > b->limit)
		n = b->limit; /* a batch of a whole ring: runtimes that batch hold back the rest
			       * themselves */
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return true;
	/* seq_cst: pairs with back_pressure_release(), whose caller destroys the signals once
	 * no thread waits */
	atomic_store(&b->waiting, true);
	ok = wait_for_space(q, n);
	atomic_store_explicit(&b->waiting, false, memory_order_release);
	return ok;
}

void back_pressure_release(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	/* seq_cst: pairs with wait_for_space(): either it sees this flag, or this thread sees it
	 * waiting */
	atomic_store(&q->failed, true);
	while (q->pressure && atomic_load(&q->pressure->waiting))
		sys_nap(&nap);
}

static bool make_gate(struct back_pressure_gate *g)
{
	hsa_signal_t s;

	if (!g->signal && real.hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s) ==
				  HSA_STATUS_SUCCESS)
		g->signal = signal_of(s);
	return g->signal != NULL;
}

int back_pressure_init(struct queue *q, uint32_t size)
{
	struct back_pressure *b = q->pressure;

	if (!b)
		b = q->pressure = alloc_pages(sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->limit = size > 2 * RING_RESERVE ? size - RING_RESERVE : 1;
	b->written = b->consumed = b->last_seen = 0;
	b->next_gate = 0;
	atomic_store_explicit(&b->passed, 0, memory_order_relaxed);
	atomic_store_explicit(&b->orphan, 0, memory_order_relaxed);
	/* at least one gate */
	return make_gate(&b->gate[0]) ? 0 : -ENOMEM;
}

void back_pressure_fini(struct queue *q)
{
	struct back_pressure *b = q->pressure;

	for (uint32_t g = 0; b && g < BACK_PRESSURE_NR_GATES; g++) {
		if (b->gate[g].signal)
			real.hsa_signal_destroy(signal_handle(b->gate[g].signal));
		b->gate[g] = (struct back_pressure_gate){ 0 };
	}
	if (b)
		atomic_store_explicit(&b->orphan, 0, memory_order_relaxed);
}

void back_pressure_saw(struct queue *q, uint64_t hw)
{
	/* relaxed, here and below: written by the harvester alone */
	if (hw > atomic_load_explicit(&q->pressure->passed, memory_order_relaxed))
		atomic_store_explicit(&q->pressure->passed, hw, memory_order_relaxed);
}

void back_pressure_orphaned(struct queue *q, const amd_signal_t *s, uint64_t hw)
{
	/* pairs with look(): its index comes before it */
	atomic_store_explicit(&q->pressure->orphan_hw, hw, memory_order_relaxed);
	atomic_store_explicit(&q->pressure->orphan, (uint64_t)(uintptr_t)s, memory_order_release);
}

/* A free gate signal. NULL: all that could be made are in the ring and will report progress. */
static amd_signal_t *take_gate(struct back_pressure *b, uint64_t hw)
{
	for (uint32_t i = 0; i < BACK_PRESSURE_NR_GATES; i++) {
		struct back_pressure_gate *g =
			&b->gate[(b->next_gate + i) % BACK_PRESSURE_NR_GATES];

		if (!make_gate(g) || signal_value(g->signal) > 0)
			continue;
		see(b, g->hw);
		__atomic_store_n(&g->signal->value, 1, __ATOMIC_RELAXED);
		g->hw = hw;
		b->next_gate = (b->next_gate + i + 1) % BACK_PRESSURE_NR_GATES;
		b->last_seen = hw;
		return g->signal;
	}
	return NULL;
}

uint64_t back_pressure_add_gate(struct queue *q, union packet *out, uint64_t n)
{
	union packet *last = &out[n - 1];
	uint32_t type = packet_type(last->header);
	bool has_signal_field = type == HSA_PACKET_TYPE_BARRIER_AND ||
				type == HSA_PACKET_TYPE_BARRIER_OR ||
				type == HSA_PACKET_TYPE_KERNEL_DISPATCH;
	bool onto = has_signal_field && packet_signal(last).handle == 0;
	amd_signal_t *s = take_gate(q->pressure, q->pressure->written + n - (onto ? 1 : 0));

	if (!s)
		return n;
	if (!onto) {
		last = &out[n++];
		packet_make_barrier(last, 0);
	}
	last->dispatch.completion_signal = signal_handle(s);
	return n;
}
