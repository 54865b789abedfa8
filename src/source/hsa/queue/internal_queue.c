/* SPDX-License-Identifier: MIT */
/* internal_queue.c - the runtime's internal queues
 *
 * Owns:    for each such queue, which packet indices were recorded already.
 * Threads: any; `lock` of the queue, taken once for each wrapped call, never on a launch.
 * Fails:   a ring that wrapped around before it was read: runtime_overwritten.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue/internal_queue.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/filter.h"
#include "event/life.h"
#include "event/special.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/signal.h"
#include "source/hsa/memory/copy_table.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/real.h"

#define MAX_QUEUES 512u

struct internal_queue {
	struct lock lock;
	/* written under lock, read without */
	const hsa_queue_t *_Atomic hsa; /* NULL: gone, the slot may be used again */
	_Atomic uint64_t seen;		/* packets before this were examined */
	/* under lock */
	uint32_t index, agent;
	uint32_t size;
	uint64_t *claimed; /* by ring slot: index + 1 of the packet that was recorded */
};

static struct internal_queue queues[MAX_QUEUES];
static _Atomic uint32_t nr_queues;
static struct lock lock = LOCK_INIT(LOCK_INTERNAL_QUEUES); /* taken to assign a slot */

/* Calls that run now (low 32 bits) and calls begun so far (high): two equal reads with one call
 * running mean that the call ran alone. */
static _Atomic uint64_t calls;
#define CALL_BEGUN (UINT64_C(1) << 32)
#define CALLS_NOW(v) ((uint32_t)(v))

/* A slot that was never used, or whose queue is gone. */
RTL_REQUIRES(lock) static struct internal_queue *find_slot(void)
{
	uint32_t n = atomic_load_explicit(&nr_queues, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++)
		if (!atomic_load_explicit(&queues[i].hsa, memory_order_relaxed))
			return &queues[i];
	if (n == MAX_QUEUES)
		return NULL;
	lock_init(&queues[n].lock, LOCK_INTERNAL_QUEUE);
	/* pairs with the acquire in count() */
	atomic_store_explicit(&nr_queues, n + 1, memory_order_release);
	return &queues[n];
}

RTL_REQUIRES(lock) static bool watch_queue(const hsa_queue_t *queue, hsa_agent_t agent)
{
	struct internal_queue *q = find_slot();

	if (!q)
		return false;
	lock_take(&q->lock);
	q->claimed = alloc_pages(queue->size * sizeof(*q->claimed));
	if (q->claimed) {
		q->size = queue->size;
		q->agent = agent_index(agent);
		q->index = queue_announce(queue, q->agent, REC_QUEUE_INTERNAL);
		atomic_store_explicit(&q->seen, real.hsa_queue_load_write_index_relaxed(queue),
				      memory_order_relaxed);
		atomic_store_explicit(&q->hsa, queue, memory_order_release);
	}
	lock_drop(&q->lock);
	return q->claimed != NULL;
}

void internal_queue_on_create(const hsa_queue_t *queue, hsa_agent_t agent, void *data)
{
	bool ok;

	(void)data;
	if (!life_on())
		return;
	lock_take(&lock);
	ok = watch_queue(queue, agent);
	lock_drop(&lock);
	if (!ok) {
		bus_loss(SPOOL_REASON_queue_plain, 1);
		log_warn("queue %llu of the runtime: too many; its dispatches are not traced",
			 (unsigned long long)queue->id);
		return;
	}
	/* The runtime enables profiling only with the first profiled copy. */
	real.hsa_amd_profiling_set_profiler_enabled((hsa_queue_t *)(uintptr_t)queue, 1);
}

static uint64_t write_index(const struct internal_queue *q)
{
	return real.hsa_queue_load_write_index_scacquire(
		atomic_load_explicit(&q->hsa, memory_order_relaxed));
}

static uint32_t count(void)
{
	return atomic_load_explicit(&nr_queues, memory_order_acquire);
}

static const union packet *packet_at(const struct internal_queue *q, uint64_t index)
{
	const hsa_queue_t *hsa = atomic_load_explicit(&q->hsa, memory_order_relaxed);
	const union packet *ring = hsa->base_address;

	return &ring[index % q->size];
}

static bool is_dispatch(const union packet *p)
{
	return packet_was_dispatch(p) && packet_signal(p).handle;
}

static void describe(const struct internal_queue *q, const union packet *p, uint64_t index,
		     struct event_dispatch *d)
{
	*d = (struct event_dispatch){
		.packet = index,
		.kernel = code_object_kernel(p->dispatch.kernel_object, code_object_now(), q->agent,
					     true),
		.queue = q->index,
		.grid = { p->dispatch.grid_size_x, p->dispatch.grid_size_y,
			  p->dispatch.grid_size_z },
		.group = { p->dispatch.workgroup_size_x, p->dispatch.workgroup_size_y,
			   p->dispatch.workgroup_size_z },
		.private_size = p->dispatch.private_segment_size,
		.group_size = p->dispatch.group_segment_size,
		.flags = REC_F_INTERNAL | REC_F_HAD_SIGNAL,
	};
}

/* The times of a packet, if they are certain to be its own: its signal is completed, and no packet
 * before `end` (the write index) could have reused the signal before the times were read. */
static void read_times(const struct internal_queue *q, const union packet *p, uint64_t end,
		       bool newest, struct event_dispatch *d)
{
	const amd_signal_t *s = signal_of(packet_signal(p));

	/* acquire: both are read before the write index */
	d->end_ticks = signal_end_ticks(s);
	d->begin_ticks = __atomic_load_n(&s->start_ts, __ATOMIC_ACQUIRE);
	if (!newest || d->end_ticks == 0 || write_index(q) != end) {
		d->begin_ticks = d->end_ticks = 0;
		d->flags |= REC_F_NO_TIME;
		bus_loss_of(d->correlation, SPOOL_REASON_signal_reused);
		return;
	}
	d->end_ns = agent_system_ns(q->agent, d->end_ticks);
	d->begin_ns = agent_system_ns(q->agent, d->begin_ticks);
}

static bool claim(struct internal_queue *q, uint64_t index)
{
	uint64_t *slot = &q->claimed[index % q->size];

	if (*slot == index + 1)
		return false;
	*slot = index + 1;
	return true;
}

/* Whether a later packet in the ring carries the same signal. */
static bool is_newest(const struct internal_queue *q, uint64_t index, uint64_t end)
{
	hsa_signal_t s = packet_signal(packet_at(q, index));

	for (uint64_t i = index + 1; i < end; i++)
		if (is_dispatch(packet_at(q, i)) &&
		    packet_signal(packet_at(q, i)).handle == s.handle)
			return false;
	return true;
}

/* Assigns packet `i` to the call of `c`, which put it there. */
static void assign(struct internal_queue *q, struct internal_queue_call *c, uint64_t i)
{
	c->found = claim(q, i);
	if (c->found && c->dispatch)
		describe(q, packet_at(q, i), i, c->dispatch);
	else if (
		/* the copy table is full, so its copy is not recorded, which was counted */
		c->found)
		bus_loss_of(c->correlation, SPOOL_REASON_inflight_full);
}

/* The bits of a left-out operation's correlation id if the user leaves out the GPU, or kernels
 * without a name, else 0. */
static uint64_t filtered(const struct internal_queue *q)
{
	if (agent_is_left_out(q->agent))
		return EVENT_LEFT_OUT | EVENT_BY_GPU;
	return filter_leaves_out_kernel(NULL) ? EVENT_LEFT_OUT | EVENT_BY_KERNEL : 0;
}

static void emit(struct internal_queue *q, const struct internal_queue_call *c, struct thread *t,
		 uint64_t i, uint64_t end)
{
	uint64_t left_out = special_any(SPECIAL_FILTERED) ? filtered(q) : 0;
	struct event ev = { .kind = EVENT_DISPATCH };

	if (RTL_UNLIKELY(!bus_wants(EVENT_DISPATCH)))
		return;
	if (RTL_UNLIKELY(left_out) && !bus_never_pauses()) {
		bus_loss(corr_why_left_out(left_out), 1);
		return;
	}
	describe(q, packet_at(q, i), i, &ev.dispatch);
	/* a real call is never guessed */
	ev.dispatch.correlation = c ? c->correlation : corr_mark(corr_new(t));
	if (RTL_UNLIKELY(left_out))
		ev.dispatch.correlation = (ev.dispatch.correlation & ~EVENT_MISSED) | left_out;
	read_times(q, packet_at(q, i), end, is_newest(q, i, end), &ev.dispatch);
	ev.dispatch.tid = c ? t->tid : 0;
	ev.dispatch.marker = c ? t->marker : 0;
	bus_emit_wanted(&ev);
}

/* Examines packet `i`. false: it belongs to another call, or is still running. `c`: the call that
 * just returned, NULL for the life thread. */
static bool examine(struct internal_queue *q, struct internal_queue_call *c, struct thread *t,
		    bool alone, uint64_t i, uint64_t end)
{
	const union packet *p = packet_at(q, i);
	const amd_signal_t *s = signal_of(packet_signal(p));

	if (!is_dispatch(p) || q->claimed[i % q->size] == i + 1)
		return true;
	if (c && c->signal == s && !c->found) {
		assign(q, c, i);
		return true;
	}
	if (copy_table_has(s)) /* an asynchronous copy's signal: that copy's call takes it */
		return false;
	if (is_newest(q, i, end) && signal_value(s) > 0)
		return false; /* still running, within another thread's call */
	if (!c && CALLS_NOW(atomic_load_explicit(&calls, memory_order_relaxed)))
		return false; /* the call that submitted it will examine it */
	claim(q, i);
	emit(q, alone ? c : NULL, t, i, end);
	return true;
}

/* A packet that the hardware has not taken yet may be reserved and not written: it is left for
 * later, unless the call `c` certainly submitted it just now. */
static void look_ahead(struct internal_queue *q, struct internal_queue_call *c, uint64_t i)
{
	const union packet *p = packet_at(q, i);

	if (c && c->signal && !c->found && is_dispatch(p) &&
	    c->signal == signal_of(packet_signal(p)))
		assign(q, c, i);
}

static void look(struct internal_queue *q, struct internal_queue_call *c, struct thread *t,
		 bool alone) RTL_REQUIRES(q->lock);

static void look(struct internal_queue *q, struct internal_queue_call *c, struct thread *t,
		 bool alone)
{
	uint64_t seen = atomic_load_explicit(&q->seen, memory_order_relaxed);
	/* in this order: packets taken by then are before the write index that is read next */
	uint64_t taken = real.hsa_queue_load_read_index_scacquire(
		atomic_load_explicit(&q->hsa, memory_order_relaxed));
	uint64_t end = write_index(q);
	bool all = true;

	if (end - seen > q->size) {
		bus_loss(pause_is_on() ? SPOOL_REASON_paused : SPOOL_REASON_runtime_overwritten,
			 end - seen - q->size);
		seen = end - q->size;
	}
	for (uint64_t i = seen; i < taken; i++)
		all = examine(q, c, t, alone, i, end) && all;
	for (uint64_t i = taken > seen ? taken : seen; i < end; i++)
		look_ahead(q, c, i);
	if (all && taken > seen)
		seen = taken;
	atomic_store_explicit(&q->seen, seen, memory_order_relaxed);
}

void internal_queue_enter(struct internal_queue_call *c)
{
	uint64_t v = atomic_fetch_add_explicit(&calls, CALL_BEGUN + 1, memory_order_acq_rel);

	c->found = false;
	c->began_alone = CALLS_NOW(v) == 0 ? v + CALL_BEGUN + 1 : 0;
}

/* Whether there are packets that were not examined. Without the lock: a hint. The runtime's queues
 * live as long as the runtime, but for cooperative ones: those are forgotten when they are the
 * program's. */
static bool has_news(const struct internal_queue *q)
{
	const hsa_queue_t *hsa = atomic_load_explicit(&q->hsa, memory_order_acquire);

	return hsa && real.hsa_queue_load_write_index_relaxed(hsa) !=
			      atomic_load_explicit(&q->seen, memory_order_relaxed);
}

void internal_queue_leave(struct internal_queue_call *c, struct thread *t)
{
	uint32_t n = count();
	bool alone = c->began_alone != 0 &&
		     c->began_alone == atomic_load_explicit(&calls, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct internal_queue *q = &queues[i];

		if (!has_news(q))
			continue;
		lock_take(&q->lock);
		if (atomic_load_explicit(&q->hsa, memory_order_relaxed))
			look(q, c, t, alone);
		lock_drop(&q->lock);
	}
	atomic_fetch_sub_explicit(&calls, 1, memory_order_acq_rel);
}

void internal_queue_tick(void)
{
	uint32_t n = count();

	for (uint32_t i = 0; i < n; i++) {
		struct internal_queue *q = &queues[i];

		if (!has_news(q) || !lock_try(&q->lock))
			continue;
		if (atomic_load_explicit(&q->hsa, memory_order_relaxed))
			look(q, NULL, thread_get(), false);
		lock_drop(&q->lock);
	}
}

/* Under the queue's lock. */
static void end_watch(struct internal_queue *q)
{
	struct event ev = { .kind = EVENT_QUEUE_END };

	ev.end.id = q->index;
	ev.end.time_ns = clock_now_ns();
	bus_emit(&ev);
	alloc_pages_free(q->claimed, q->size * sizeof(*q->claimed));
	atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
}

void internal_queue_forget(const hsa_queue_t *hsa)
{
	uint32_t n = count();

	for (uint32_t i = 0; i < n; i++) {
		struct internal_queue *q = &queues[i];

		if (atomic_load_explicit(&q->hsa, memory_order_relaxed) != hsa)
			continue;
		lock_take(&q->lock);
		if (atomic_load_explicit(&q->hsa, memory_order_relaxed) == hsa)
			end_watch(q);
		lock_drop(&q->lock);
	}
}

void internal_queue_reset(void)
{
	uint32_t n = count();

	for (uint32_t i = 0; i < n; i++) {
		struct internal_queue *q = &queues[i];

		lock_take(&q->lock);
		if (atomic_load_explicit(&q->hsa, memory_order_relaxed))
			end_watch(q);
		lock_drop(&q->lock);
	}
}
