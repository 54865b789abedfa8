/* SPDX-License-Identifier: MIT */
/* queue.c - intercepted queues: what happens to each packet before the hardware sees it
 *
 * Owns:     all struct queue; they and their memory are reused and never freed, since the
 *           runtime may still call back from an exit handler (seen in HIP 6.4).
 * Threads:  queue_on_submit() on whatever thread rings the doorbell, one at a time for each queue
 *           (InterceptQueue's lock in ROCr 5.2 to 7.0). Create and destroy any, under `lock`.
 * Hot path: queue_on_submit(): no lock, no malloc, no system call but in the waits below.
 *
 * A DISPATCH WITHOUT A SIGNAL gets one of ours. ONE WITH ITS OWNER'S keeps it; the times are taken
 * from that signal before the owner can use it again (watch.h). That leaves the owner's waits, its
 * values and its hsa_amd_profiling_get_dispatch_time() as they are. It does not work when several
 * operations share a signal, since each overwrites the times of the one before: those dispatches get
 * our signal, and a barrier packet behind them, which waits for ours, completes the owner's on the
 * GPU.
 *
 * Before the hardware's ring can overflow the callback waits (room.c).
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/log.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/join.h"
#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/agent.h"
#include "source/hsa/author.h"
#include "source/hsa/codeobj.h"
#include "source/hsa/copy.h"
#include "source/hsa/harvest.h"
#include "source/hsa/room.h"
#include "source/hsa/table.h"
#include "source/hsa/watch.h"

#include <hsa/hsa_ext_amd.h>

#define MAX_RING 65536u
/* Free slots that ROCr wants for its own retry packet, and one for the packet that runs. */
#define RING_RESERVE 3u
#define MIN_ENTRIES 1024u
/* Not a time: this thread may be the one that does not run. About 200 ms where all do. */
#define FULL_WAIT_ROUNDS 800u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *_Atomic queues[QUEUE_MAX];
static _Atomic uint32_t nr_queues; /* places of queues[] ever used */
static uint32_t next_index;	   /* under lock */

uint32_t queue_count(void)
{
	return atomic_load_explicit(&nr_queues, memory_order_acquire);
}

struct queue *queue_at(uint32_t i)
{
	return atomic_load_explicit(&queues[i], memory_order_acquire);
}

bool queue_try_lock(struct queue *q)
{
	return !atomic_load_explicit(&q->harvest_lock, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&q->harvest_lock, true, memory_order_acquire);
}

void queue_lock(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	while (!queue_try_lock(q))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

void queue_unlock(struct queue *q)
{
	atomic_store_explicit(&q->harvest_lock, false, memory_order_release);
}

/* ---- one packet --------------------------------------------------------------------------- */

/* The ring holds twice what the hardware's does, so when it is full the harvester is behind: this
 * thread does its work. NULL: even that got nowhere in FULL_WAIT_ROUNDS looks, because an old
 * operation goes on and on while those behind it complete. It is waited for once. */
static struct inflight *next_entry(struct queue *q)
{
	struct inflight *e = inflight_next(&q->ring);
	uint64_t oldest;
	unsigned rounds;

	if (RTL_LIKELY(e != NULL))
		return e;
	oldest = atomic_load_explicit(&q->ring.tail, memory_order_relaxed);
	rounds = q->gave_up == oldest + 1 ? 1 : FULL_WAIT_ROUNDS;
	for (unsigned i = 0; i < rounds; i++) {
		if (queue_try_lock(q)) {
			harvest_queue(q, clock_now_ns());
			queue_unlock(q);
		}
		e = inflight_next(&q->ring);
		if (e)
			return e;
		if (rounds > 1)
			room_pause(i);
	}
	q->gave_up = oldest + 1;
	return NULL;
}

/* Arms `e` for packet `p`, whose owner's signal stays on it. false: it can't be timed this way. */
static bool arm_owner(struct inflight *e, const union packet *p, const struct inflight_ring *r)
{
	amd_signal_t *s = signal_of(p->dispatch.completion_signal);

	if (signal_value(s) != 1) /* a counting signal is shared by those that it counts */
		return false;
	inflight_set_signal(e, s);
	e->owned = false;
	e->start_value = 1;
	e->nr_looks = 0;
	atomic_store_explicit(&e->tainted, false, memory_order_relaxed);
	/* pairs with inflight_uses() and lock_any(): who comes from a signal that this entry had
	 * before sees that it is not the same */
	atomic_store_explicit(&e->state, INFLIGHT_FREE, memory_order_release);
	if (watch_add(s, e, r) != 0)
		return false;
	signal_clear_ticks(s);
	harvest_forget(s);
	return true;
}

static void describe_dispatch(struct inflight *e, const hsa_kernel_dispatch_packet_t *p)
{
	e->kind = INFLIGHT_DISPATCH;
	e->object = p->kernel_object;
	e->grid[0] = p->grid_size_x;
	e->grid[1] = p->grid_size_y;
	e->grid[2] = p->grid_size_z;
	e->group[0] = p->workgroup_size_x;
	e->group[1] = p->workgroup_size_y;
	e->group[2] = p->workgroup_size_z;
	e->private_size = p->private_segment_size;
	e->group_size = p->group_segment_size;
	e->epoch = codeobj_now();
}

/* A packet that is not timed may still end the life of a signal that we watch. */
static void pass(const union packet *p)
{
	uint32_t type = p->header & 0xff;

	if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC || type == HSA_PACKET_TYPE_INVALID ||
	    !p->dispatch.completion_signal.handle)
		return;
	watch_reuse(signal_of(p->dispatch.completion_signal));
	harvest_forget(signal_of(p->dispatch.completion_signal));
}

/* The signal that tells when `e` completes, on packet `p`. false: there is none. */
static bool choose_signal(struct queue *q, struct inflight *e, union packet *p)
{
	hsa_signal_t owner = p->dispatch.completion_signal;
	amd_signal_t *ours;

	e->owner = NULL;
	if (owner.handle && arm_owner(e, p, &q->ring))
		return true;
	ours = signal_take(&q->pool);
	if (!ours)
		return false;
	inflight_set_signal(e, ours);
	e->owned = true;
	e->owner = signal_of(owner);
	p->dispatch.completion_signal = signal_handle(ours);
	return true;
}

/* Completes the owner's signal behind `p`, which carries ours. */
static void complete_owner(union packet *b, const union packet *p, amd_signal_t *owner)
{
	watch_reuse(owner);
	harvest_will_share(owner);
	room_empty_barrier(b, p->header & (uint16_t)~0x1ffu); /* fences yes, barrier bit no */
	b->barrier.dep_signal[0] = p->dispatch.completion_signal;
	b->barrier.completion_signal = signal_handle(owner);
}

/* A packet of a thread of HIP's own: from 5.4 on it carries the id of its call, else what the runtime asks and
 * tells names it later. */
static RTL_COLD void join_packet(const union packet *p, uint64_t owner, struct origin *o)
{
	struct join_call call;

	if ((p->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
	    join_begun(p->dispatch.reserved2, &call)) {
		o->correlation = call.correlation;
		o->marker = call.marker;
		o->tid = call.tid;
	} else if (owner) {
		join_wanted(owner, o->correlation);
	}
}

/* Instruments packet out[n]; returns the number of packets after it, n + 1 or n + 2. */
static uint64_t instrument(struct queue *q, struct thread *t, union packet *out, uint64_t n,
			   uint64_t index, uint16_t flags)
{
	union packet *p = &out[n];
	uint64_t owner = p->dispatch.completion_signal.handle;
	bool is_dispatch = (p->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
	struct inflight *e = next_entry(q);
	struct origin origin;

	if (!e) {
		bus_loss(SPOOL_REASON_inflight_full, 1);
		pass(p);
		return n + 1;
	}
	if (!choose_signal(q, e, p)) {
		bus_loss(SPOOL_REASON_signal_create, 1);
		pass(p);
		return n + 1;
	}
	e->flags = flags | (owner ? REC_F_HAD_SIGNAL : 0) | (e->owner ? REC_F_SHARED : 0);
	if (is_dispatch) {
		describe_dispatch(e, &p->dispatch);
	} else {
		e->kind = INFLIGHT_BARRIER;
		e->object = p->header & 0xff;
	}
	origin = author_of(q, index, t);
	if (RTL_UNLIKELY(join_is_on()) && !origin.in_call)
		join_packet(p, owner, &origin);
	e->correlation = origin.correlation;
	e->marker = origin.marker;
	e->tid = origin.tid;
	e->packet = index;
	e->hw = q->written + n;
	q->last_seen = e->hw;
	if (e->owner)
		complete_owner(&out[++n], p, e->owner);
	/* release: whoever finds the entry by its signal sees it whole */
	atomic_store_explicit(&e->state, INFLIGHT_ARMED, memory_order_release);
	inflight_push(&q->ring);
	return n + 1;
}

/* Recording is paused, and nobody else wants to know. Only what a recorded call submits goes on. */
static RTL_COLD bool leave_out(struct queue *q, struct thread *t, const union packet *p,
			       uint64_t index)
{
	if (bus_never_pauses() || !corr_is_left_out(author_of(q, index, t).correlation))
		return false;
	if ((p->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
		bus_loss(SPOOL_REASON_paused, 1);
	return true;
}

static bool wanted(struct queue *q, struct thread *t, const union packet *p, uint64_t index)
{
	static _Atomic int barriers = -1;
	uint32_t type = p->header & 0xff;
	int b;

	if (RTL_UNLIKELY(pause_is_on()) && leave_out(q, t, p, index))
		return false;
	if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		if (table_mode != TABLE_MODE_LITE || !p->dispatch.completion_signal.handle)
			return true;
		bus_loss(SPOOL_REASON_lite_signal, 1);
		return false;
	}
	if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR)
		return false;
	b = atomic_load_explicit(&barriers, memory_order_relaxed);
	if (b < 0) {
		b = env_bool(ENV_BARRIERS);
		atomic_store_explicit(&barriers, b, memory_order_relaxed);
	}
	return b;
}

static void submit_one(struct queue *q, struct thread *t, const union packet *in, uint64_t index,
		       hsa_amd_queue_intercept_packet_writer writer)
{
	union packet out[3];
	uint64_t n = 1;

	out[0] = *in;
	if (t && in->dispatch.completion_signal.handle)
		watch_expect(signal_of(in->dispatch.completion_signal));
	/* Room first: once the entry is published the harvester waits for its packet. */
	if (!room_make(q, 3))
		return; /* a dead queue: the hardware would never have looked at it */
	if (t && wanted(q, t, in, index))
		n = instrument(q, t, out, 0, index, 0);
	else
		pass(in);
	if (room_wants_gate(q))
		n = room_add_gate(q, out, n);
	q->written += n;
	writer(out, n);
}

/* Rewrites a batch; returns the new number of packets, at most 2 * count. */
static uint64_t instrument_batch(struct queue *q, struct thread *t, const union packet *in,
				 uint64_t count, uint64_t index)
{
	union packet *out = q->batch;
	uint64_t n = 0;

	for (uint64_t i = 0; i < count; i++) {
		out[n] = in[i];
		if (wanted(q, t, &in[i], index + i)) {
			n = instrument(q, t, out, n, index + i, REC_F_GRAPH);
		} else {
			pass(&in[i]);
			n++;
		}
	}
	return n;
}

static void submit_batch(struct queue *q, struct thread *t, const union packet *in, uint64_t count,
			 uint64_t index, hsa_amd_queue_intercept_packet_writer writer)
{
	bool full = t && table_mode == TABLE_MODE_FULL && q->batch && 2 * count <= q->ring.mask + 1;
	uint64_t dispatches = 0, room = count;

	for (uint64_t i = 0; full && i < count; i++)
		room += in[i].dispatch.completion_signal.handle !=
			0; /* may need a barrier behind */
	/* Room first, as above; the packets of the batch itself tell nothing until they are written. */
	if (!room_make(q, room))
		return;
	if (full) {
		count = instrument_batch(q, t, in, count, index);
		in = q->batch;
	} else {
		for (uint64_t i = 0; i < count; i++) {
			dispatches += (in[i].header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
			pass(&in[i]);
		}
		if (t && dispatches)
			bus_loss(pause_is_on() ? SPOOL_REASON_paused : SPOOL_REASON_graph_batch,
				 dispatches);
	}
	q->written += count;
	writer(in, count);
}

/* HIP 6.4 dispatches from exit handlers; a signal handler may do so within a hook of ours. The
 * child of a fork is another process, which has no trace. */
static void count_left_out(const union packet *p, uint64_t count)
{
	int state = atomic_load_explicit(&life_state, memory_order_relaxed);
	uint64_t n = 0;

	if (state != LIFE_ON && state != LIFE_STOPPING && state != LIFE_STOPPED)
		return;
	for (uint64_t i = 0; i < count; i++)
		n += (p[i].header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
	if (n)
		bus_loss(pause_is_on()	  ? SPOOL_REASON_paused :
			 state == LIFE_ON ? SPOOL_REASON_reentrant :
					    SPOOL_REASON_late,
			 n);
}

/* For join.h: whatever has a signal that somebody may ask for its times. */
static RTL_COLD void tell_join(const struct queue *q, const union packet *p, uint64_t count,
			       uint64_t index)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t type = p[i].header & 0xff;

		if (type != HSA_PACKET_TYPE_VENDOR_SPECIFIC && type != HSA_PACKET_TYPE_INVALID &&
		    p[i].dispatch.completion_signal.handle)
			join_submitted(p[i].dispatch.completion_signal.handle,
				       author_tid(q, index + i));
	}
}

void queue_on_submit(const void *packets, uint64_t count, uint64_t index, void *data,
		     hsa_amd_queue_intercept_packet_writer writer)
{
	struct queue *q = data;
	struct thread *t = NULL;

	/* Not ON (exit, fork): nothing is recorded, but the ring must not overflow all the same. */
	if (!life_enter(&t)) {
		t = NULL;
		count_left_out(packets, count);
	}
	if (RTL_UNLIKELY(join_is_on()) && t)
		tell_join(q, packets, count, index);
	if (count == 1)
		submit_one(q, t, packets, index, writer);
	else if (count > 1)
		submit_batch(q, t, packets, count, index, writer);
	else
		writer(packets, 0);
	if (t) {
		life_leave(t);
		/* a packet that is passed on leaves the harvester nothing to do */
		if (inflight_count(&q->ring))
			life_wake();
	}
}

/* ---- create and destroy ------------------------------------------------------------------- */

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 64;

	while (p < n && p < MAX_RING)
		p *= 2;
	return p;
}

/* Under lock: a dead queue whose memory fits, or a new one. NULL: no memory, or QUEUE_MAX live. */
static struct queue *find_room(uint32_t entries)
{
	uint32_t n = atomic_load_explicit(&nr_queues, memory_order_relaxed);
	struct queue *q;

	for (uint32_t i = 0; i < n; i++) {
		q = queue_at(i);
		/* pairs with the release in abandon() */
		if (!atomic_load_explicit(&q->live, memory_order_acquire) &&
		    (!q->ring.entry || q->ring.mask + 1 == entries))
			return q;
	}
	if (n == QUEUE_MAX)
		return NULL;
	q = alloc_pages(sizeof(*q));
	if (!q)
		return NULL;
	atomic_store_explicit(&queues[n], q, memory_order_release);
	atomic_store_explicit(&nr_queues, n + 1, memory_order_release);
	return q;
}

/* A thread that waits for room in the ring of a dead queue comes out of it. */
static void fail(struct queue *q)
{
	/* seq_cst: pairs with room_make(): it sees this, or we see it wait */
	atomic_store(&q->failed, true);
}

/* What hsa_queue_create() puts in place of a missing callback, and hsa_amd_queue_intercept_create()
 * does not (5.2.3): Queue::DefaultErrorHandler, which ends the program unless it is told to be quiet.
 * A program that would have died untraced must not hang instead. */
static void default_error(hsa_status_t status, const hsa_queue_t *source)
{
	const char *quiet = getenv("HSA_ENABLE_QUEUE_FAULT_MESSAGE"), *what = "UNKNOWN ERROR";
	char text[512];
	int n;

	if (quiet && strcmp(quiet, "0") == 0)
		return;
	if (real.hsa_status_string)
		real.hsa_status_string(status, &what);
	n = snprintf(text, sizeof(text), "Queue at %p inactivated due to async error:\n\t%s\n",
		     (const void *)source, what);
	if (n < 0 || write(STDERR_FILENO, text, strnlen(text, sizeof(text))) < 0)
		n = 0; /* as the runtime: it dies anyway */
	harvest_on_fault(NULL, NULL);
	abort();
}

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	struct queue *q = data;

	fail(q);
	/* HIP's callback aborts */
	harvest_give_up(q);
	if (q->user_callback)
		q->user_callback(status, source, q->user_data);
	else
		default_error(status, source);
}

static void emit_queue(uint32_t index, uint32_t agent, const hsa_queue_t *hsa, uint32_t flags)
{
	struct event ev = { .kind = EVENT_QUEUE };

	ev.queue.index = index;
	ev.queue.flags = flags;
	ev.queue.agent = agent;
	ev.queue.size = hsa->size;
	ev.queue.tid = thread_get()->tid;
	ev.queue.queue_type = hsa->type;
	ev.queue.hsa_id = hsa->id;
	ev.queue.handle = (uint64_t)(uintptr_t)hsa;
	ev.queue.time_ns = clock_now_ns();
	bus_emit(&ev);
}

uint32_t queue_announce(const hsa_queue_t *hsa, uint32_t agent, uint32_t flags)
{
	uint32_t index;

	pthread_mutex_lock(&lock);
	index = next_index++;
	pthread_mutex_unlock(&lock);
	emit_queue(index, agent, hsa, flags);
	return index;
}

/* Under its harvest lock, or not yet live. */
static void abandon(struct queue *q)
{
	signal_fini(&q->pool);
	for (uint32_t g = 0; g < QUEUE_NR_GATES; g++) {
		if (q->gate[g].signal)
			real.hsa_signal_destroy(signal_handle(q->gate[g].signal));
		q->gate[g] = (struct queue_gate){ 0 };
	}
	atomic_store_explicit(&q->orphan, 0, memory_order_relaxed);
	atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
	atomic_store_explicit(&q->live, false, memory_order_release);
}

/* Prepares a queue for packets of `agent`; it is not live yet. */
static struct queue *prepare(hsa_agent_t agent, uint32_t size)
{
	uint32_t entries = power_of_two(size) * 2 < MIN_ENTRIES ? MIN_ENTRIES :
								  power_of_two(size) * 2;
	struct queue *q;

	pthread_mutex_lock(&lock);
	q = find_room(entries);
	if (q) {
		q->index = next_index++;
		q->agent = agent_index(agent);
		q->written = q->consumed = q->last_seen = q->gave_up = 0;
		q->user_callback = NULL;
		q->nr_held = 0;
		q->high_water = 0;
		q->idle_since_ns = q->stuck_scan_ns = 0;
		atomic_store_explicit(&q->passed, 0, memory_order_relaxed);
		atomic_store_explicit(&q->orphan, 0, memory_order_relaxed);
		atomic_store_explicit(&q->failed, false, memory_order_relaxed);
		/* one gate at least: without any the ring may overflow */
		if (inflight_init(&q->ring, entries) != 0 || !room_make_gate(&q->gate[0]) ||
		    signal_init(&q->pool, entries) != 0) {
			abandon(q);
			q = NULL;
		} else {
			author_init(q, entries);
			atomic_store_explicit(&q->live, true, memory_order_release);
		}
	}
	pthread_mutex_unlock(&lock);
	return q;
}

/* After the hsa_queue_t exists: sizes, profiling, the callback. */
static hsa_status_t attach(struct queue *q, hsa_queue_t *hsa)
{
	hsa_status_t status;

	atomic_store_explicit(&q->hsa, hsa, memory_order_relaxed);
	q->size = hsa->size;
	q->limit = hsa->size > 2 * RING_RESERVE ? hsa->size - RING_RESERVE : 1;
	if (table_mode == TABLE_MODE_FULL && !q->batch)
		q->batch = alloc_pages(((size_t)q->ring.mask + 1) * sizeof(union packet));
	real.hsa_amd_profiling_set_profiler_enabled(hsa, 1);
	status = real.hsa_amd_queue_intercept_register(hsa, queue_on_submit, q);
	if (status == HSA_STATUS_SUCCESS)
		emit_queue(q->index, q->agent, hsa, 0);
	return status;
}

static hsa_status_t create_plain(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_size, uint32_t group_size, hsa_queue_t **queue,
				 hsa_status_t why)
{
	hsa_status_t status = real.hsa_queue_create(agent, size, type, callback, data, private_size,
						    group_size, queue);

	if (status == HSA_STATUS_SUCCESS) {
		queue_announce(*queue, agent_index(agent), REC_QUEUE_PLAIN);
		bus_loss(SPOOL_REASON_queue_plain, 1);
		log_warn("queue %llu: not intercepted (status 0x%x); its dispatches are not traced",
			 (unsigned long long)(*queue)->id, (unsigned)why);
	}
	return status;
}

hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
			  void *data, uint32_t private_segment_size, uint32_t group_segment_size,
			  hsa_queue_t **queue)
{
	struct queue *q;
	hsa_status_t status;

	if (!life_on())
		return real.hsa_queue_create(agent, size, type, callback, data,
					     private_segment_size, group_segment_size, queue);
	q = size <= table_max_queue ? prepare(agent, size) : NULL;
	if (!q)
		return create_plain(agent, size, type, callback, data, private_segment_size,
				    group_segment_size, queue, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	q->user_callback = callback;
	q->user_data = data;
	status = real.hsa_amd_queue_intercept_create(agent, size, type, on_error, q,
						     private_segment_size, group_segment_size,
						     queue);
	if (status == HSA_STATUS_SUCCESS) {
		status = attach(q, *queue);
		if (status == HSA_STATUS_SUCCESS)
			return status;
		real.hsa_queue_destroy(*queue);
	}
	queue_lock(q);
	abandon(q);
	queue_unlock(q);
	return create_plain(agent, size, type, callback, data, private_segment_size,
			    group_segment_size, queue, status);
}

struct queue *queue_find(const hsa_queue_t *hsa)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		/* relaxed: the caller knows of `hsa` since it was made */
		if (atomic_load_explicit(&q->hsa, memory_order_relaxed) == hsa &&
		    atomic_load_explicit(&q->live, memory_order_acquire))
			return q;
	}
	return NULL;
}

/* Everything that completed is recorded, the rest as unfinished. After fail(). */
static void finish(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	struct event ev = { .kind = EVENT_QUEUE_END };

	while (atomic_load(&q->waiting))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	queue_lock(q);
	harvest_finish(q, clock_now_ns());
	for (uint32_t i = 0; i < q->nr_held; i++)
		real.hsa_signal_destroy(signal_handle(q->held[i].signal));
	q->nr_held = 0;
	ev.end.id = q->index;
	ev.end.time_ns = clock_now_ns();
	bus_emit(&ev);
	abandon(q);
	queue_unlock(q);
}

static bool forked(void)
{
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED;
}

hsa_status_t queue_destroy(hsa_queue_t *queue)
{
	struct queue *q = forked() ? NULL : queue_find(queue);
	hsa_status_t status;

	if (q) {
		fail(q);
		/* its address may be another queue's as soon as the runtime has destroyed it */
		atomic_store_explicit(&q->hsa, NULL, memory_order_relaxed);
	}
	status = real.hsa_queue_destroy(queue);
	if (q && status == HSA_STATUS_SUCCESS) {
		finish(q);
	} else if (q) {
		atomic_store_explicit(&q->hsa, queue, memory_order_relaxed);
		atomic_store_explicit(&q->failed, false, memory_order_relaxed);
	}
	return status;
}

hsa_status_t queue_inactivate(hsa_queue_t *queue)
{
	struct queue *q = queue_find(queue);

	if (q)
		fail(q);
	return real.hsa_queue_inactivate(queue);
}

hsa_status_t queue_set_profiler(hsa_queue_t *queue, int enable)
{
	/* Switched off, our dispatches would have no times. Times in its signals don't disturb a
	 * program that did not ask for them. */
	return real.hsa_amd_profiling_set_profiler_enabled(queue, queue_find(queue) ? 1 : enable);
}

void queue_reset(void)
{
	uint32_t n = queue_count();

	for (uint32_t i = 0; i < n; i++) {
		struct queue *q = queue_at(i);

		if (!atomic_load_explicit(&q->live, memory_order_acquire))
			continue;
		fail(q);
		finish(q);
	}
}
