/* SPDX-License-Identifier: MIT */
/* operations.c - passes operations that have completed to the callbacks of sessions
 *
 * The harvester records an operation under the locks of its queue, where no function of the program
 * may run. So the sink puts it into a ring, and a thread of librtl's takes it out, or one that
 * flushes.
 *
 * Owns:     the ring, the texts and kernels that operations refer to, the thread "rtl-deliver".
 * Threads:  event() any; the thread ends when no operations are wanted.
 * Locks:    LOCK_DELIVERY around callbacks; LOCK_OPERATION_NAMES around texts.
 * Hot path: put(): no lock, no allocation.
 * Fails:    a full ring: the operation is dropped and counted. Without memory for a text, the name
 *           is "".
 */
#include "operations.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/alloc.h"
#include "base/callout.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "base/sys.h"
#include "event/bus.h"
#include "event/life.h"

#define RING_SIZE 32768u /* a power of two */
#define NAP_NS 2000000
#define STACK_SIZE ((size_t)512 << 10)

/* A bounded queue of many producers: `turn` says who uses the slot next. */
struct slot {
	_Atomic uint64_t turn;
	struct event event;
};

struct kernel {
	uint32_t name, agent;
};

/* An array by id. */
struct table {
	void *items;
	uint32_t cap;
};

/* set by the first operations_want(), constant afterwards */
static struct slot *ring;
static operations_fn callback;
/* atomic */
static _Atomic uint64_t head, tail, nr_dropped;
static _Atomic bool is_wanted;
/* the thread that calls operations_want() */
static bool is_attached, has_thread;
static _Thread_local bool is_own_thread;
static pthread_t thread;

static struct lock delivery_lock = LOCK_INIT(LOCK_DELIVERY);
static uint64_t nr_delivered RTL_GUARDED_BY(delivery_lock);
static struct lock names_lock = LOCK_INIT(LOCK_OPERATION_NAMES);
static struct table texts RTL_GUARDED_BY(names_lock);	/* char *, by string id */
static struct table kernels RTL_GUARDED_BY(names_lock); /* struct kernel, by kernel id */
static struct table queues RTL_GUARDED_BY(names_lock);	/* uint32_t, the agent, by queue */

/* The item `id`; NULL: no memory. Never freed: grown by doubling. */
RTL_REQUIRES(names_lock) static void *item(struct table *t, uint32_t id, size_t size)
{
	uint32_t cap = t->cap ? t->cap : 1024;
	void *more;

	while (cap <= id && cap < UINT32_C(1) << 30)
		cap *= 2;
	if (cap <= id)
		return NULL;
	if (cap != t->cap) {
		more = alloc_pages(cap * size);
		if (!more)
			return NULL;
		if (t->cap)
			memcpy(more, t->items, t->cap * size);
		alloc_pages_free(t->items, t->cap * size);
		t->items = more;
		t->cap = cap;
	}
	return (char *)t->items + id * size;
}

RTL_REQUIRES(names_lock) static void keep_text(const struct event_string *s)
{
	char **to = item(&texts, s->id, sizeof(*to));

	if (!to || *to)
		return;
	*to = alloc_heap((size_t)s->size + 1);
	if (!*to)
		return;
	memcpy(*to, s->text, s->size);
	(*to)[s->size] = '\0';
}

static void keep_name(const struct event *ev)
{
	struct kernel *k;
	uint32_t *agent;

	lock_take(&names_lock);
	switch (ev->kind) {
	case EVENT_STRING:
		keep_text(&ev->string);
		break;
	case EVENT_KERNEL:
		k = item(&kernels, ev->kernel.id, sizeof(*k));
		if (k)
			*k = (struct kernel){ ev->kernel.name, ev->kernel.agent };
		break;
	case EVENT_QUEUE:
		agent = item(&queues, ev->queue.index, sizeof(*agent));
		if (agent)
			*agent = ev->queue.agent;
		break;
	default:
		break;
	}
	lock_drop(&names_lock);
}

/* HOT */
static void put(const struct event *ev)
{
	uint64_t at = atomic_load_explicit(&head, memory_order_relaxed);

	for (;;) {
		struct slot *s = &ring[at % RING_SIZE];
		/* acquire: pairs with take() */
		uint64_t turn = atomic_load_explicit(&s->turn, memory_order_acquire);

		if (turn == at) {
			if (!atomic_compare_exchange_weak_explicit(&head, &at, at + 1,
								   memory_order_relaxed,
								   memory_order_relaxed))
				continue;
			s->event = *ev;
			/* release: pairs with take() */
			atomic_store_explicit(&s->turn, at + 1, memory_order_release);
			return;
		}
		if (turn < at) {
			atomic_fetch_add_explicit(&nr_dropped, 1, memory_order_relaxed);
			return;
		}
		at = atomic_load_explicit(&head, memory_order_relaxed);
	}
}

/* One thread at a time. */
static bool take(struct event *ev)
{
	uint64_t at = atomic_load_explicit(&tail, memory_order_relaxed);
	struct slot *s = &ring[at % RING_SIZE];

	if (atomic_load_explicit(&s->turn, memory_order_acquire) != at + 1)
		return false;
	*ev = s->event;
	atomic_store_explicit(&s->turn, at + RING_SIZE, memory_order_release);
	atomic_store_explicit(&tail, at + 1, memory_order_relaxed);
	return true;
}

static void event(const struct event *ev)
{
	if (ev->kind != EVENT_DISPATCH && ev->kind != EVENT_COPY)
		keep_name(ev);
	else if (atomic_load_explicit(&is_wanted, memory_order_relaxed))
		put(ev);
}

static const struct sink sink = {
	.name = "sessions",
	.wants = EVENT_BIT(EVENT_DISPATCH) | EVENT_BIT(EVENT_COPY) | EVENT_BIT(EVENT_STRING) |
		 EVENT_BIT(EVENT_KERNEL) | EVENT_BIT(EVENT_QUEUE),
	.event = event,
	.pauses = true,
};

static const char *name_of(const struct event_dispatch *d, uint32_t *agent)
{
	const char *name = NULL;

	lock_take(&names_lock);
	if (d->queue < queues.cap)
		*agent = ((uint32_t *)queues.items)[d->queue];
	if (d->kernel < kernels.cap) {
		uint32_t id = ((struct kernel *)kernels.items)[d->kernel].name;

		/* the text is never freed */
		if (id < texts.cap)
			name = ((char **)texts.items)[id];
	}
	lock_drop(&names_lock);
	return name ? name : "";
}

static void call_back(void *arg)
{
	callback(arg);
}

RTL_NO_TSA static void on_left(void *arg)
{
	(void)arg;
	lock_drop(&delivery_lock);
}

/* A callback need not return: on librtl's own thread the next operation follows, others are
 * gone. */
RTL_REQUIRES(delivery_lock) static void deliver(const struct event *ev)
{
	rtl_operation_t op = {
		.size = sizeof(op), .agent = UINT32_MAX, .queue = UINT32_MAX, .name = ""
	};
	const struct event_dispatch *d = &ev->dispatch;
	const struct event_copy *c = &ev->copy;

	if (ev->kind == EVENT_DISPATCH) {
		op.kind = RTL_KERNEL;
		op.thread = d->tid;
		op.correlation = d->correlation & EVENT_ID;
		op.begin_ns = d->begin_ns;
		op.end_ns = d->end_ns;
		op.queue = d->queue;
		op.name = name_of(d, &op.agent);
		for (int i = 0; i < 3; i++) {
			op.grid[i] = d->grid[i];
			op.group[i] = d->group[i];
		}
	} else {
		op.kind = RTL_COPY;
		op.thread = c->tid;
		op.correlation = c->correlation & EVENT_ID;
		op.begin_ns = c->begin_ns;
		op.end_ns = c->end_ns;
		op.agent = c->dst_agent;
		op.bytes = c->bytes;
	}
	if (is_own_thread)
		callout_outlive(call_back, &op);
	else
		callout(call_back, on_left, &op);
}

void operations_deliver(void)
{
	uint64_t end;
	struct event ev;

	if (!ring)
		return;
	end = atomic_load_explicit(&head, memory_order_acquire);
	lock_take(&delivery_lock);
	while (nr_delivered < end && take(&ev)) {
		nr_delivered++;
		/* while recording was paused */
		if (!(*event_correlation(&ev) & EVENT_LEFT_OUT))
			deliver(&ev);
	}
	lock_drop(&delivery_lock);
}

static void *deliver_all(void *arg)
{
	const struct timespec nap = { 0, NAP_NS };

	prctl(PR_SET_NAME, "rtl-deliver");
	is_own_thread = true;
	while (atomic_load_explicit(&is_wanted, memory_order_acquire)) {
		operations_deliver();
		sys_nap(&nap);
	}
	return arg;
}

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, deliver_all, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	has_thread = !err;
	return -err;
}

static int start(operations_fn fn)
{
	int err;

	callback = fn;
	if (!ring) {
		ring = alloc_pages(RING_SIZE * sizeof(*ring));
		for (uint32_t i = 0; ring && i < RING_SIZE; i++)
			atomic_store_explicit(&ring[i].turn, i, memory_order_relaxed);
	}
	if (!ring)
		return -ENOMEM;
	if (!is_attached) {
		err = bus_attach(&sink);
		if (err)
			return err;
		is_attached = true;
	}
	atomic_store_explicit(&is_wanted, true, memory_order_release);
	return start_thread();
}

int operations_want(bool on, operations_fn fn)
{
	int err = 0;

	if (on && !has_thread)
		err = start(fn);
	if (on && !err)
		return 0;
	atomic_store_explicit(&is_wanted, false, memory_order_release);
	sys_cancel_off();
	if (has_thread)
		pthread_join(thread, NULL);
	sys_cancel_on();
	has_thread = false;
	if (is_attached)
		bus_detach(&sink);
	is_attached = false;
	return err;
}

uint64_t operations_nr_dropped(void)
{
	return atomic_load_explicit(&nr_dropped, memory_order_relaxed);
}
