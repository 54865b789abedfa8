/* SPDX-License-Identifier: MIT */
/* call.c - the frame around API calls
 *
 * Owns:     the masks, and for each domain the names of its functions and which of them have been
 *           recorded.
 * Threads:  any.
 * Hot path: api_enter_slow(), api_leave() - no lock, no allocation, no system call but a thread's
 *           first; the first call of each function emits its name.
 * Fails:    calls after the end of the trace are passed on; the sink counts them.
 */
#include "source/api/call.h"

#include <errno.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/env.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/filter.h"
#include "event/lane.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/special.h"
#include "source/api/quick.h"

/* Atomic: a second thread that defines the domain stores the same. */
struct domain {
	const struct api_op *_Atomic ops;
	_Atomic uint8_t *_Atomic named;
	_Atomic uint32_t nr;
};

/* Where a domain's calls go. Subscribers come at any time, so that it is read while it is set. */
struct ways {
	_Atomic(_Atomic(void *) *) entries;
	_Atomic(void *const *) ordinary;
	_Atomic uint32_t nr;
};

_Atomic uint16_t api_masks[API_NR_DOMAINS][API_MAX_OPERATIONS] = {
	[API_HIP] = { [0 ... API_MAX_OPERATIONS - 1] = API_RECORDED },
};
/* set in init, constant after */
bool api_args = true;
static struct domain domains[REC_API_NR_DOMAINS];

static const struct api_op *op_of(const struct domain *d, uint32_t op)
{
	return atomic_load_explicit(&d->ops, memory_order_relaxed) + op;
}

/* Whether the name of an operation has been emitted. HOT. */
static inline _Atomic uint8_t *named_of(enum api_domain domain, uint32_t op)
{
	return atomic_load_explicit(&domains[domain].named, memory_order_relaxed) + op;
}

/* atomic; a second thread that defines the domain stores the same */
enum choice { RECORDED, LEFT_OUT, PART };
static _Atomic uint8_t choices[API_NR_DOMAINS][API_MAX_OPERATIONS];
static struct ways ways[API_NR_DOMAINS];

void api_init(void)
{
	api_args = env_bool(ENV_ARGS);
}

static bool is_chosen(enum api_domain domain, uint32_t operation, enum choice choice)
{
	return operation < API_MAX_OPERATIONS &&
	       atomic_load_explicit(&choices[domain][operation], memory_order_relaxed) == choice;
}

bool api_is_left_out(enum api_domain domain, uint32_t operation)
{
	return is_chosen(domain, operation, LEFT_OUT);
}

bool api_has_record(enum api_domain domain, uint32_t operation)
{
	const struct domain *d = (uint32_t)domain < REC_API_NR_DOMAINS ? &domains[domain] : NULL;

	return (!d || operation >= atomic_load_explicit(&d->nr, memory_order_acquire) ||
		op_of(d, operation)->signature) &&
	       !is_chosen(domain, operation, PART);
}

/* Records calls of the function from now on, or counts them, if the user leaves them out. */
static void record(enum api_domain domain, uint32_t operation, bool on)
{
	bool out = api_is_left_out(domain, operation);

	if (on && !api_has_record(domain, operation))
		return;
	api_want(domain, operation, API_RECORDED, on && !out);
	if (RTL_UNLIKELY(filter_has_calls))
		api_want(domain, operation, API_LEFT_OUT, on && out);
}

/* Calls that prepare a launch are part of it, and have no record of their own unless the user asks
 * for them. */
static enum choice choose(const struct api_op *op)
{
	bool prepares = op->step == API_PREPARES || op->step == API_PREPARES_LAST;

	if (prepares && !filter_asks_for_part(op->name))
		return PART;
	return filter_leaves_out_call(op->name) ? LEFT_OUT : RECORDED;
}

void api_define(enum api_domain domain, const struct api_op *ops, _Atomic uint8_t *named,
		_Atomic(void *) *entries, void *const *ordinary, uint32_t nr)
{
	struct domain *d = &domains[domain];

	atomic_store_explicit(&d->ops, ops, memory_order_relaxed);
	atomic_store_explicit(&d->named, named, memory_order_relaxed);
	/* release: who sees the number sees the rest */
	atomic_store_explicit(&d->nr, nr, memory_order_release);
	for (uint32_t i = 0; i < nr && i < API_MAX_OPERATIONS; i++) {
		enum choice choice = choose(&ops[i]);

		atomic_store_explicit(&choices[domain][i], choice, memory_order_relaxed);
		if (!api_has_record(domain, i))
			api_want(domain, i, API_RECORDED, false);
		else if (choice == LEFT_OUT && api_wanted(domain, i) & API_RECORDED)
			record(domain, i, true);
	}
	/* relaxed: constants; release: pairs with take_ordinary_way() */
	atomic_store_explicit(&ways[domain].nr, nr, memory_order_relaxed);
	atomic_store_explicit(&ways[domain].ordinary, ordinary, memory_order_relaxed);
	atomic_store_explicit(&ways[domain].entries, entries, memory_order_release);
}

/* The operation's mask has changed: its calls take the ordinary way, at least once. */
static void take_ordinary_way(enum api_domain domain, uint32_t operation)
{
	struct ways *w = &ways[domain];
	/* acquire: pairs with api_define() */
	_Atomic(void *) *entries = atomic_load_explicit(&w->entries, memory_order_acquire);
	void *const *ordinary = atomic_load_explicit(&w->ordinary, memory_order_relaxed);

	/* seq_cst: pairs with hip_take_way(), which looks at the mask after it has set the entry */
	if (entries && operation < atomic_load_explicit(&w->nr, memory_order_relaxed))
		atomic_store(&entries[operation], ordinary[operation]);
}

void api_want(enum api_domain domain, uint32_t operation, uint16_t bits, bool on)
{
	_Atomic uint16_t *mask = &api_masks[domain][operation];

	if (operation >= API_MAX_OPERATIONS)
		return;
	/* a call that runs meanwhile may be seen or not; seq_cst: see take_ordinary_way() */
	if (on)
		atomic_fetch_or(mask, bits);
	else
		atomic_fetch_and(mask, (uint16_t)~bits);
	if (bits)
		take_ordinary_way(domain, operation);
}

void api_switch(enum api_domain domain, bool on)
{
	if (domain == API_HIP)
		special_set(SPECIAL_NO_HIP, !on);
	for (uint32_t i = 0; i < API_MAX_OPERATIONS; i++)
		record(domain, i, on);
}

bool api_inside(enum api_domain domain)
{
	return thread_self.api_inside & 1u << domain;
}

/* Whether no other call of the domain runs on the thread, on which some call runs. Forgets calls
 * whose stack frames are
 * gone: stacks grow down, and a wrapper's callees lie below it. */
static RTL_NOINLINE bool is_outermost(struct thread *t, enum api_domain domain, uintptr_t frame)
{
	for (uint32_t d = 1; d < REC_API_NR_DOMAINS; d++) {
		if (t->api_inside & 1u << d && frame >= t->api_frame[d])
			t->api_inside &= ~(1u << d);
	}
	if (!(t->api_inside & ~API_AROUND))
		t->corr_current = 0;
	return !(t->api_inside & 1u << domain);
}

/* A call that begins while a special bit is set, or within another call. */
static RTL_NOINLINE bool enter_any(enum api_domain domain, struct api_call *c, uintptr_t frame,
				   bool is_origin)
{
	/* relaxed: a stale value loses one event at start or end, which is counted */
	int state = atomic_load_explicit(&life_state, memory_order_relaxed);
	struct thread *t;

	/* calls from exit handlers are recorded as long as the sink takes them */
	if (RTL_UNLIKELY(state < LIFE_ON || state == LIFE_FORKED))
		return false;
	t = thread_get();
	if (RTL_UNLIKELY(thread_kept_out(t)))
		return false;
	if (RTL_UNLIKELY(t->api_inside) && !is_outermost(t, domain, frame))
		return false;
	/* a call within a recorded call is recorded, although recording is paused by now */
	if (RTL_UNLIKELY(pause_is_on()) && !t->api_inside) {
		if (!t->call_left_out || frame >= t->call_left_out)
			thread_leave_out(t, frame);
		bus_loss(SPOOL_REASON_paused, 1);
		return false;
	}
	if (RTL_UNLIKELY(t->call_left_out != 0) &&
	    !(frame < t->call_left_out && t->domain_left_out))
		thread_leave_out(t, 0);
	else if (RTL_UNLIKELY(t->domain_left_out == domain))
		return false; /* the library's own, within a call that a filter left out */
	t->api_inside |= 1u << domain;
	t->api_frame[domain] = frame;
	c->thread = t;
	c->parent = t->corr_current & ~EVENT_LEFT_OUT;
	c->correlation = corr_new(t);
	if (!c->parent && is_origin)
		t->corr_current = c->correlation;
	c->flags = 0;
	c->begin_ns = clock_now_ns();
	return true;
}

bool api_enter_around(enum api_domain domain, struct api_call *c, uintptr_t frame)
{
	struct thread *t = &thread_self;

	if (RTL_LIKELY(!special_any(SPECIAL_FOR_CALLS) && !thread_kept_out(t) &&
		       !(t->api_inside | t->call_left_out | t->corr_current))) {
		t->api_inside = 1u << domain;
		t->api_frame[domain] = frame;
		c->thread = t;
		c->parent = 0;
		c->flags = 0;
		c->correlation = corr_new(t);
		c->begin_ns = clock_now_inline_ns();
		return true;
	}
	return enter_any(domain, c, frame, false);
}

bool api_enter_slow(enum api_domain domain, struct api_call *c, uintptr_t frame)
{
	struct thread *t = &thread_self;

	if (RTL_UNLIKELY(special_any(SPECIAL_FOR_CALLS) || thread_kept_out(t) ||
			 (t->api_inside | t->call_left_out | t->corr_current)))
		return enter_any(domain, c, frame, true);
	t->api_inside = 1u << domain;
	t->api_frame[domain] = frame;
	c->thread = t;
	c->parent = 0;
	c->flags = 0;
	c->correlation = t->corr_current = corr_new(t);
	c->begin_ns = clock_now_inline_ns();
	return true;
}

RTL_NOINLINE void api_leave_out(enum api_domain domain, uintptr_t frame)
{
	/* relaxed: as in enter_any() */
	int state = atomic_load_explicit(&life_state, memory_order_relaxed);
	struct thread *t;

	if (state < LIFE_ON || state == LIFE_FORKED)
		return;
	t = thread_get();
	if (thread_kept_out(t) || (t->api_inside && !is_outermost(t, domain, frame)))
		return;
	if (frame < t->call_left_out) {
		if (t->domain_left_out == domain)
			return;
	} else if (!t->api_inside) {
		thread_leave_out(t, frame);
		t->domain_left_out = domain;
	}
	bus_loss(pause_is_on() ? SPOOL_REASON_paused : SPOOL_REASON_filtered_call, 1);
}

/* Emits the function's name and signature. */
static RTL_COLD void emit_op(enum api_domain domain, uint32_t op)
{
	struct domain *d = &domains[domain];
	struct thread *t = thread_get();
	struct event ev = { .kind = EVENT_OP };
	int saved = errno;

	/* acq_rel: of several threads one emits it */
	if (atomic_exchange_explicit(named_of(domain, op), 1, memory_order_acq_rel))
		return;
	/* a signal handler of the program that interrupts us must not take our lock */
	t->in_hook = true;
	ev.op.domain = domain;
	ev.op.op = op;
	ev.op.name = bus_string(op_of(d, op)->name, SIZE_MAX);
	ev.op.signature = bus_string(op_of(d, op)->signature, SIZE_MAX);
	bus_emit(&ev);
	t->in_hook = false;
	errno = saved;
}

/* As an event, to all sinks. */
static RTL_NOINLINE void emit_call(enum api_domain domain, uint32_t op, const struct api_call *c,
				   uint64_t end_ns, int32_t status, const uint64_t *words,
				   uint32_t nr_words)
{
	struct event ev;

	if (!bus_wants(EVENT_API))
		return;
	ev.kind = EVENT_API;
	ev.api.begin_ns = c->begin_ns;
	ev.api.end_ns = end_ns;
	ev.api.correlation = c->correlation;
	ev.api.parent = c->parent;
	ev.api.tid = c->thread->tid;
	ev.api.status = status;
	ev.api.flags = c->flags;
	ev.api.op = (uint16_t)op;
	ev.api.domain = (uint8_t)domain;
	ev.api.nr_words = (uint8_t)nr_words;
	ev.api.words = words;
	bus_emit_wanted(&ev);
}

static RTL_INLINE void leave(enum api_domain domain, uint32_t op, struct api_call *c,
			     uint64_t end_ns, int32_t status, const uint64_t *words,
			     uint32_t nr_words)
{
	uint32_t size = (uint32_t)sizeof(struct rec_api) + nr_words * 8u;
	struct thread *t = c->thread;
	struct rec_api *r;

	/* the clock's parameters may have changed in between */
	if (RTL_UNLIKELY(end_ns < c->begin_ns))
		end_ns = c->begin_ns;
	/* relaxed: a name that another thread is emitting may come after the first record that
	 * refers to it */
	if (RTL_UNLIKELY(!atomic_load_explicit(named_of(domain, op), memory_order_relaxed)))
		emit_op(domain, op);
	t->api_inside &= ~(1u << domain);
	if (!c->parent)
		t->corr_current = 0;
	if (RTL_UNLIKELY(special_any(SPECIAL_FOR_CALLS) || !lane_begin(t->lane, size))) {
		emit_call(domain, op, c, end_ns, status, words, nr_words);
		return;
	}
	r = (struct rec_api *)(void *)t->lane->pos;
	r->h = (struct rec_head){ REC_API, (uint8_t)(size / 8), c->flags, t->tid };
	r->begin_ns = c->begin_ns;
	r->end_ns = end_ns;
	r->correlation = c->correlation;
	r->parent = c->parent;
	r->op = (uint16_t)op;
	r->domain = (uint8_t)domain;
	r->nr_words = (uint8_t)nr_words;
	r->status = status;
	for (uint32_t i = 0; i < nr_words; i++)
		r->words[i] = words[i];
	lane_end(t->lane, (uint8_t *)(r->words + nr_words));
}

void api_leave(enum api_domain domain, uint32_t op, struct api_call *c, int32_t status,
	       const uint64_t *words, uint32_t nr_words)
{
	leave(domain, op, c, clock_now_inline_ns(), status, words, nr_words);
}

void api_leave_at(enum api_domain domain, uint32_t op, struct api_call *c, uint64_t end_ns,
		  int32_t status, const uint64_t *words, uint32_t nr_words)
{
	leave(domain, op, c, end_ns, status, words, nr_words);
}

void api_quick_bare(struct lane *l, uint64_t *word)
{
	struct rec_api *r = (struct rec_api *)(void *)l->pos;

	r->h.size8 = (uint8_t)(sizeof(*r) / 8);
	r->nr_words = 0;
	lane_end(l, (uint8_t *)word);
}

void api_quick_late(enum api_domain domain, uint32_t op, uint64_t begin, uint64_t correlation,
		    uint16_t flags, int32_t status, const uint64_t *words, uint32_t nr_words)
{
	struct clock_span span = clock_span_ns(begin, RTL_TICKS());
	struct api_call c = { thread_get(), span.begin_ns, correlation, 0, flags };

	emit_call(domain, op, &c, span.end_ns, status, words, nr_words);
}

bool api_is_named(enum api_domain domain, uint32_t op)
{
	/* acquire: pairs with emit_op(): the name is recorded before records that refer to it */
	return atomic_load_explicit(named_of(domain, op), memory_order_acquire);
}
