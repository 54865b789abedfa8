/* SPDX-License-Identifier: MIT */
/* dispatch.c - librocprofiler-sdk: kernel dispatches become callbacks and records
 *
 * A thread that rings a doorbell has its dispatches announced by the core first: their enter is
 * shown before the packets are passed on, their exit when the doorbell was rung. No lock is held
 * meanwhile. The core tells of each dispatch once more while it submits the packet. One that was
 * not announced begins then: its enter and exit are shown together, when the call that rang the
 * doorbell is back from the core; those of a dispatch that a thread of librtl's submits, on this
 * library's thread.
 *
 * Owns:     each thread's dispatches that are to be shown; those of each queue that were announced
 *           and not submitted; which contexts got records when.
 * Threads:  any.
 * Hot path: on_taken(), dispatch_over(), the functions in HSA's table: no lock.
 */
#include "dispatch.h"

#include <stddef.h>
#include <unistd.h>

#include "../face/buffer.h"
#include "../face/fork_guard.h"
#include "base/callout.h"
#include "context.h"
#include "correlate.h"
#include "counting.h"
#include "dispatch_ids.h"
#include "effects.h"
#include "external.h"
#include "operations.h"
#include "retire.h"
#include "state.h"

typedef void (*store_fn)(hsa_signal_t signal, hsa_signal_value_t value);

static const struct rtl_core *core; /* set before is_on */
static _Atomic bool is_started;
static _Atomic bool is_on; /* dispatches are noted when they are submitted */
/* calls that may ring a doorbell */
static _Thread_local uint32_t depth;
static _Thread_local struct op *first, *last;

/* ---- records alone --------------------------------------------------------------------------- */

/* Where tools get records of dispatches and nothing else, nothing is noted when a dispatch is
 * submitted: the core's event has all, and an epoch, by which the contexts are found that were
 * active then. */
#define NR_CHANGES 4096u

static struct change {
	_Atomic uint32_t epoch; /* its first */
	_Atomic uint64_t mask;	/* contexts that get records without an operation */
} changes[NR_CHANGES];
static _Atomic uint64_t nr_changes;
GUARDED_LOCK(lock, LOCK_SDK_DISPATCH);
static bool is_taker RTL_GUARDED_BY(lock);

/* Whether dispatches have to be noted when they are submitted, for what tools have asked for. */
static bool needs_operations(void)
{
	return context_has(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY) ||
#if ROCPROFILER_SDK_ABI > 0
	       context_has(ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_HIP_STREAM) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH) || correlate_is_nested() ||
#endif
	       context_has_records(ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) ||
	       effects_has_graphs() || external_any() ||
	       counting_is_configured(); /* a counted dispatch has its id before it is submitted */
}

/* More changes than there is space for while a dispatch is in flight: the oldest that is kept
 * counts for it. */
static uint64_t mask_in(uint32_t epoch)
{
	/* acquire: pairs with add_change() */
	uint64_t nr = atomic_load_explicit(&nr_changes, memory_order_acquire);
	uint64_t oldest = nr > NR_CHANGES / 2 ? nr - NR_CHANGES / 2 : 0, mask = 0;

	while (nr-- > oldest) {
		const struct change *c = &changes[nr % NR_CHANGES];

		mask = atomic_load_explicit(&c->mask, memory_order_relaxed);
		/* epochs wrap */
		if ((int32_t)(epoch - atomic_load_explicit(&c->epoch, memory_order_relaxed)) >= 0)
			return mask;
	}
	return oldest ? mask : 0;
}

RTL_REQUIRES(lock) static void add_change(uint64_t mask)
{
	uint64_t nr = atomic_load_explicit(&nr_changes, memory_order_relaxed);
	struct change *c = &changes[nr % NR_CHANGES];

	if (nr && atomic_load_explicit(&changes[(nr - 1) % NR_CHANGES].mask,
				       memory_order_relaxed) == mask)
		return;
	atomic_store_explicit(&c->mask, mask, memory_order_relaxed);
	atomic_store_explicit(&c->epoch, core->submit_mark(), memory_order_relaxed);
	/* release: pairs with mask_in() */
	atomic_store_explicit(&nr_changes, nr + 1, memory_order_release);
}

static void on_taken(const struct event_dispatch *d);
static void choose_ways(void);

/* A dispatch that was noted has its record from that, whatever its epoch. */
void dispatch_update(void)
{
	uint64_t mask = context_buffered_mask(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
					      ROCPROFILER_KERNEL_DISPATCH_COMPLETE);

	/* acquire: pairs with dispatch_start() */
	if (!atomic_load_explicit(&is_started, memory_order_acquire))
		return;
	lock_take(&lock);
	if (!is_taker && needs_operations()) {
		is_taker = core->submit_listen_taken(on_taken);
		atomic_store(&is_on, is_taker);
		dispatch_ids_keep(is_taker);
		choose_ways();
	}
	add_change(is_taker ? 0 : mask);
	lock_drop(&lock);
}

bool dispatch_is_direct(uint64_t *nr_ids)
{
	*nr_ids = dispatch_ids_count();
	return atomic_load_explicit(&nr_changes, memory_order_relaxed) != 0;
}

/* It is over, and has no operation. */
static void put_record(const struct event_dispatch *d, const struct op_queue *l)
{
	uint64_t mask = mask_in(core->submit_epoch_of_event()) & ~context_over();

	if (!mask || atomic_load(&state_end) > 0)
		return;
	records_put_dispatch(mask, d, l, dispatch_ids_new());
}

/* ---- operations ------------------------------------------------------------------------------ */

/* The whole payload. */
static void fill(struct op *op, const struct event_dispatch *d, const struct op_queue *l)
{
	op->payload.dispatch.size = sizeof(op->payload.dispatch);
	op->payload.dispatch.start_timestamp = op->payload.dispatch.end_timestamp = 0;
	dispatch_info_fill(&op->payload.dispatch.dispatch_info, d, l, op->number);
}

static struct op *make(const struct event_dispatch *d, const struct op_queue *l)
{
	uint64_t begin = context_mask(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
				      ROCPROFILER_KERNEL_DISPATCH_ENQUEUE);
	uint64_t end = context_mask(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
				    ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
	uint64_t records = context_buffered_mask(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
						 ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
	bool is_plain = !(begin | end) && !external_any();
	struct op *launch = effects_launch_of(d->tid);
	struct op *op = is_plain ? op_new_plain(records, launch) :
				   op_new_unset(begin, end, records,
						ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);

	if (!op)
		return NULL;
	op->launch = launch;
	if (RTL_UNLIKELY(launch != NULL))
		effects_launch_hold(launch);
	op->in_flight.key = d->packet;
	op->number = dispatch_ids_take(d->queue, d->packet);
	if (!op->number)
		op->number = dispatch_ids_new();
	op->kind = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH;
	op->begin_operation = ROCPROFILER_KERNEL_DISPATCH_ENQUEUE;
	op->end_operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH;
	op->tid = d->tid;
	op->correlation.internal = d->correlation & EVENT_ID;
#if ROCPROFILER_SDK_ABI > 0
	if (depth)
		correlate_packet(d->tid, &op->correlation);
#endif
	if (!is_plain)
		fill(op, d, l);
	return op;
}

/* Whether a tool's function on this thread has written the packet. */
static bool is_of_tool(const struct event_dispatch *d)
{
	return op_is_in_callback() && d->tid == (uint32_t)gettid();
}

static struct op *begin(const struct event_dispatch *d, struct op_queue *l)
{
	struct op *op = l && !state_is_over() && !is_of_tool(d) ? make(d, l) : NULL;

	if (!op)
		return NULL;
	op->next = NULL;
	operations_add();
	retire_hold(op->correlation.internal);
	return op;
}

/* This thread shows it, when the doorbell was rung. */
static void append(struct op *op)
{
	if (first)
		last->next = op;
	else
		first = op;
	last = op;
}

static struct op *op_of(struct pending_item *item)
{
	return (struct op *)(void *)((char *)item - offsetof(struct op, in_flight));
}

/* Under the queue's turn. */
static struct pending_item **find_announced(struct op_queue *l, uint64_t key)
{
	struct pending_item **link = &l->announced;

	while (*link && (*link)->key != key)
		link = &(*link)->next;
	return link;
}

/* Under the queue's turn, of packets that stay where they are: what was announced and not submitted
 * is announced once. */
static void on_announced(const struct event_dispatch *d)
{
	struct op_queue *l = operations_queue(d->queue);
	struct pending_item **link = l ? find_announced(l, d->packet) : NULL;
	struct op *op = link && !*link ? begin(d, l) : NULL;

	if (!op)
		return;
	op->in_flight.next = NULL;
	*link = &op->in_flight;
	if (op->is_plain)
		atomic_store_explicit(&op->parts, OP_BEGUN, memory_order_relaxed);
	else
		append(op);
}

/* It is submitted. true: it was announced. */
static bool take_announced(const struct event_dispatch *d, struct op_queue *l)
{
	struct pending_item **link = find_announced(l, d->packet), *item = *link;

	if (!item)
		return false;
	*link = item->next;
	atomic_fetch_or_explicit(&op_of(item)->parts, OP_RETURNED, memory_order_relaxed);
	pending_put(&l->in_flight, item);
	return true;
}

/* Under the queue's turn. */
static void on_taken(const struct event_dispatch *d)
{
	struct op_queue *l = operations_queue(d->queue);
	struct op *op = l && l->announced && take_announced(d, l) ? NULL : begin(d, l);
	bool is_plain;

	if (!op)
		return;
	is_plain = op->is_plain;
	atomic_store_explicit(&op->parts, is_plain ? OP_RETURNED | OP_BEGUN : OP_RETURNED,
			      memory_order_relaxed);
	/* before it is in flight: its begin is shown first, or its end waits */
	pending_put(&l->in_flight, &op->in_flight);
	if (is_plain)
		return;
	if (depth)
		append(op);
	else
		operations_send(op);
}

static struct op *take(struct op_queue *l, uint64_t packet)
{
	struct pending_item *item = pending_take(&l->in_flight, packet);

	return item ? op_of(item) : NULL;
}

void dispatch_over(const struct event_dispatch *d)
{
	/* a copy's kernel, on a queue of the runtime's */
	struct op_queue *l = d->flags & REC_F_INTERNAL ? NULL : operations_queue(d->queue);
	struct op *op = l ? take(l, d->packet) : NULL;

	if (!op && l)
		put_record(d, l);
	if (!op)
		return;
	if (op->is_plain) {
		op_clear_ids(op);
		fill(op, d, l);
	}
	op->begin_ns = d->begin_ns;
	op->end_ns = d->end_ns;
	operations_done(op, OP_OVER);
}

/* A tool has left the thread's calls that ring doorbells (callout.h): the library's thread shows
 * what they had still to show. */
static void send_rest(void)
{
	struct op *op;

	depth = 0;
	while ((op = first) != NULL) {
		first = op->next;
		operations_send(op);
	}
}

struct entering {
	struct queue *q;
	uint64_t end;
};

static void enter_each(void *arg)
{
	(void)arg;
	for (struct op *op = first; op; op = op->next) {
		op->is_entered = true;
		op_show_enter(op);
	}
}

static void stop_entering(void *arg)
{
	const struct entering *e = arg;

	send_rest();
	core->announce_left(e->q, e->end);
}

/* No lock is held: a tool may dispatch kernels itself. */
static RTL_NOINLINE void show_enters(hsa_signal_t signal, hsa_signal_value_t value)
{
	struct entering e = { core->announce_dispatches(signal, value, on_announced),
			      (uint64_t)value + 1 };

	callout(enter_each, stop_entering, &e);
	core->announce_over(e.q);
}

static void begin_each(void *showing)
{
	struct op *op, **current = showing;

	while ((op = *current = first) != NULL) {
		first = op->next;
		if (!op->is_entered)
			op_show_enter(op);
		op_show_entered(op);
		operations_done(op, OP_BEGUN);
	}
}

static void stop_beginning(void *showing)
{
	struct op **current = showing;

	operations_done(*current, OP_BEGUN);
	send_rest();
}

static RTL_NOINLINE void show_begins(void)
{
	struct op *current = NULL;

	callout(begin_each, stop_beginning, &current);
}

/* Whether dispatches have to be known before they are submitted: to be shown, or to be counted for
 * the graph that this thread launches. */
static bool is_enter_wanted(void)
{
	return context_mask(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
			    ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) ||
	       effects_launching();
}

/* ---- the functions that ring doorbells ------------------------------------------------------- */

struct store {
	store_fn next;
	hsa_signal_t signal;
	hsa_signal_value_t value;
};

static void store_now(void *arg)
{
	const struct store *s = arg;

	s->next(s->signal, s->value);
}

static void leave_store(void *arg)
{
	(void)arg;
	send_rest();
}

/* Tools are asked within it. */
static RTL_NOINLINE void store_counted(store_fn next, hsa_signal_t signal, hsa_signal_value_t value)
{
	struct store s = { next, signal, value };

	callout(store_now, leave_store, &s);
}

static RTL_NOINLINE void store_watched(store_fn next, hsa_signal_t signal, hsa_signal_value_t value)
{
	/* relaxed: dispatches that are submitted meanwhile are shown on the library's thread */
	if (!atomic_load_explicit(&is_on, memory_order_relaxed)) {
		next(signal, value);
		buffer_relieve();
		return;
	}
	if (depth++ == 0 && is_enter_wanted() && !op_is_in_callback())
		show_enters(signal, value);
	if (RTL_UNLIKELY(counting_is_configured()))
		store_counted(next, signal, value);
	else
		next(signal, value);
	/* 0: a tool's function left the calls around this one */
	if (depth && --depth == 0 && RTL_UNLIKELY(first != NULL) && !op_is_in_callback())
		show_begins();
	buffer_relieve();
}

/* What is in the table's slots jumps by way_NAME: to the function that was there, or to
 * watched_NAME. */
#define STORE(name)                                                                                \
	static store_fn next_##name;                                                               \
	static _Atomic(store_fn) way_##name;                                                       \
	static void watched_##name(hsa_signal_t signal, hsa_signal_value_t value)                  \
	{                                                                                          \
		store_watched(next_##name, signal, value);                                         \
	}                                                                                          \
	/* HOT: nothing but a jump where dispatches are not noted */                               \
	static void signal_##name(hsa_signal_t signal, hsa_signal_value_t value)                   \
	{                                                                                          \
		/* relaxed: either way is right */                                                 \
		atomic_load_explicit(&way_##name, memory_order_relaxed)(signal, value);            \
	}
STORE(store_relaxed)
STORE(store_screlease)
STORE(silent_store_relaxed)
STORE(silent_store_screlease)
#undef STORE

static bool is_watched(void)
{
	return atomic_load(&is_on) || atomic_load(&buffer_nr_pressed);
}

/* After each change of what is_watched() says, by any thread, also under a buffer's lock. */
static void choose_ways(void)
{
	bool watched;

	do {
		watched = is_watched();
#define STORE(name) atomic_store(&way_##name, watched ? watched_##name : next_##name)
		STORE(store_relaxed);
		STORE(store_screlease);
		STORE(silent_store_relaxed);
		STORE(silent_store_screlease);
#undef STORE
		/* another thread may have chosen by something newer before this one has stored */
	} while (is_watched() != watched);
}

static void replace(const struct hsa_mirror_root *root, enum hsa_core_id id, store_fn *next,
		    store_fn ours)
{
	void **slot = hsa_table_core_slot(root->core, id);

	if (!slot || !*slot)
		return;
	*next = (store_fn)*slot;
	choose_ways();
	*slot = (void *)ours;
}

void dispatch_install(const struct hsa_mirror_root *root)
{
	atomic_store(&buffer_on_pressed, choose_ways);
#define STORE(name) replace(root, HSA_CORE_signal_##name, &next_##name, signal_##name)
	STORE(store_relaxed);
	STORE(store_screlease);
	STORE(silent_store_relaxed);
	STORE(silent_store_screlease);
#undef STORE
}

void dispatch_start(const struct rtl_core *of)
{
	core = of;
	/* release: pairs with dispatch_update() */
	if (context_has(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) ||
	    context_has_records(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) || effects_has_graphs())
		atomic_store_explicit(&is_started, true, memory_order_release);
	dispatch_update();
	external_on_use(dispatch_update);
}
