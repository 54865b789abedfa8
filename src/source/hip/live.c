/* SPDX-License-Identifier: MIT */
/* live.c - HIP's calls while they run, by the callbacks of HIP up to 5.3; tracer.c has those of later ones
 *
 * HIP asks on_sync() for a structure when a call begins, fills it, calls on_user(); after the call
 * on_user() again, then on_sync() with what was registered. A call that was given NULL ends untold.
 *
 * An operation has a private number of HIP's. on_number() is told it on the thread that submits, on_op()
 * when it is over; in between live_map keeps whose call it was.
 *
 * Owns:     the listeners and masks; a stack of frames for each thread.
 * Threads:  any.
 * Hot path: on_sync(), on_user(), live_told_*(): no lock, no allocation but for a call nested deeper than any before
 *           it on the thread. on_number(), on_op(): a lock of one of many parts of the map.
 * Fails:    without memory for a frame a call is not told; without memory for the map an operation
 *           is not told.
 */
#define LOG_TOPIC "hip"
#include "source/hip/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "event/corr.h"
#include "event/join.h"
#include "event/life.h"
#include "hip_ops_gen.h"
#include "source/hip/callback.h"
#include "source/hip/frame.h"
#include "source/hip/live_map.h"
#include "source/hip/live_told.h"

#define FRAME_SIZE 4096u
/* in a mask beside the listeners' bits: the call's operations are wanted */
#define WANTS_OPS 0x80u

struct frame {
	struct frame *outer, *inner; /* inner: the next one's memory, kept */
	uintptr_t height;	     /* address of the stack frame that it was made in */
	uint64_t outer_correlation;
	uint32_t mask;
	bool is_recorded; /* by callback.c, which has its own structure */
	bool is_joined;	  /* event/join.h knows it */
	struct live_call call;
	struct told_data data;
};
_Static_assert(sizeof(struct frame) + 2048 <= FRAME_SIZE, "room for the arguments of any release");

typedef int (*register_fn)(uint32_t id, void *fn, void *arg);

/* atomic */
static _Atomic(const struct live_listener *) listeners[LIVE_MAX_LISTENERS];
static _Atomic uint8_t masks[LIVE_MAX_IDS];
static _Atomic uint32_t ops_mask, paused_mask;
static _Atomic bool is_on;
static _Atomic bool ops_are_on;
static _Atomic bool join_calls; /* to what they submit, by the tracer's numbers */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* set in turn_on, constant after */
static uint32_t last_id;
static const char *(*kernel_name)(void *function);
static const char *(*kernel_name_by_ptr)(const void *function, void *stream);

static void on_thread_exit(struct thread *t)
{
	struct frame *f = t->live_first, *inner;

	t->live_first = t->live_top = NULL;
	for (; f; f = inner) {
		inner = f->inner;
		alloc_pages_free(f, FRAME_SIZE);
	}
}

void live_init(void)
{
	thread_at_exit(on_thread_exit);
}

int live_listen(const struct live_listener *l)
{
	for (int i = 0; i < LIVE_MAX_LISTENERS; i++) {
		const struct live_listener *there = NULL;

		if (atomic_compare_exchange_strong(&listeners[i], &there, l) || there == l)
			return i;
	}
	return -ENOSPC;
}

/* The call `inner` that a thread makes from inside of its `top`; calls that never came back, whose
 * frames lie below or where this one is, are forgotten. */
static struct frame *push(struct thread *t, uintptr_t height)
{
	struct frame *top = t->live_top, *f;

	while (top && top->height <= height) {
		t->corr_current = top->outer_correlation;
		top = top->outer;
	}
	t->live_top = top;
	f = top ? top->inner : t->live_first;
	if (!f) {
		f = alloc_pages(FRAME_SIZE);
		if (!f)
			return NULL;
		if (top)
			top->inner = f;
		else
			t->live_first = f;
	}
	f->outer = top;
	f->height = height;
	t->live_top = f;
	return f;
}

struct told_data *live_told_begin(uint32_t id, uintptr_t height, void *data)
{
	/* relaxed: a call that runs while the mask changes is told or not */
	uint32_t mask = atomic_load_explicit(&masks[id % LIVE_MAX_IDS], memory_order_relaxed);
	bool joins = atomic_load_explicit(&join_calls, memory_order_relaxed);
	struct thread *t = thread_get();
	struct told_data *recorded = NULL;
	struct frame *f;

	if ((!mask && !callback_is_on() && !(joins && t->corr_current)) ||
	    RTL_UNLIKELY(t->is_ours || t->in_hook))
		return NULL;
	f = push(t, height);
	if (!f)
		return NULL;
	if (callback_is_on())
		recorded = callback_begin(id, height);
	/* the runtime takes the number of a call within for what the outer one does after it, too */
	f->is_joined = joins && !f->outer && t->corr_current && !corr_is_left_out(t->corr_current);
	if (!mask && !recorded && !f->is_joined) {
		t->live_top = f->outer;
		return NULL;
	}
	f->mask = mask;
	f->is_recorded = recorded != NULL;
	f->outer_correlation = t->corr_current;
	memset(&f->call, 0, sizeof(f->call));
	f->call.id = id;
	f->call.tid = t->tid;
	f->call.data = data ? data : recorded ? recorded : &f->data;
	if (recorded)
		f->call.correlation = recorded->correlation;
	else if (!f->outer && t->corr_current) /* librtl's wrapper records this call */
		f->call.correlation = t->corr_current & ~EVENT_LEFT_OUT;
	else
		f->call.correlation = corr_new(t);
	t->corr_current = recorded || (t->corr_current && !corr_is_left_out(t->corr_current)) ?
				  f->call.correlation :
				  corr_mark(f->call.correlation);
	if (f->call.data != recorded) {
		struct told_data *told = f->call.data;

		told->correlation = f->call.correlation;
		told->phase = 0;
	}
	if (f->is_joined) {
		struct join_call call = { f->call.correlation, t->marker, t->tid };

		join_begins(&call);
	}
	f->call.begin_ns = clock_now_ns();
	return f->call.data;
}

enum moment { ENTER, LEAVE, DONE };

static void tell(struct frame *f, enum moment moment)
{
	for (int i = 0; i < LIVE_MAX_LISTENERS; i++) {
		const struct live_listener *l;
		void (*fn)(struct live_call *);

		if (!(f->mask & 1u << i))
			continue;
		/* acquire: pairs with live_listen() */
		l = atomic_load_explicit(&listeners[i], memory_order_acquire);
		fn = moment == ENTER ? l->enter : moment == LEAVE ? l->leave : l->done;
		if (fn)
			fn(&f->call);
	}
}

void live_told_end(uint32_t id)
{
	struct thread *t = thread_get();
	struct frame *f = t->live_top;

	if (!f || f->call.id != id)
		return;
	f->call.end_ns = clock_now_ns();
	t->live_top = f->outer;
	t->corr_current = f->outer_correlation;
	if (f->is_recorded)
		callback_end(id, ((struct told_data *)f->call.data)->args);
	if (f->mask)
		tell(f, DONE);
}

void *live_told_data(void)
{
	const struct frame *f = thread_get()->live_top;

	return f ? f->call.data : NULL;
}

/* HIP's activity_sync_callback_t: at the end `arg` is what was registered. */
static void *on_sync(uint32_t id, void *record, const void *data, void *arg)
{
	int saved = errno;
	void *to = NULL;

	(void)record;
	(void)data;
	if (arg)
		live_told_end(id);
	else
		to = live_told_begin(id, RTL_FRAME(), NULL);
	errno = saved;
	return to;
}

void live_told_args(uint32_t id, void *data)
{
	struct frame *f = thread_get()->live_top;

	if (!f || f->call.data != data || f->call.id != id)
		return;
	if (((const struct told_data *)data)->phase)
		tell(f, LEAVE);
	else
		tell(f, ENTER);
}

/* HIP's activity_rtapi_callback_t */
static void on_user(uint32_t domain, uint32_t id, void *data, void *arg)
{
	int saved = errno;

	(void)domain;
	(void)arg;
	live_told_args(id, data);
	errno = saved;
}

static const char *name_of_kernel(const struct frame *f)
{
	const struct told_data *d = f->call.data;
	void *function = (void *)(uintptr_t)d->args[0];
	const struct hip_callback *c = release_callback(f->call.id);

	switch (c ? c->op : HIP_OP_NR) {
	case HIP_OP_hipModuleLaunchKernel:
	case HIP_OP_hipExtModuleLaunchKernel:
	case HIP_OP_hipHccModuleLaunchKernel:
		return function && kernel_name ? kernel_name(function) : NULL;
	case HIP_OP_hipLaunchKernel:
	case HIP_OP_hipExtLaunchKernel:
	case HIP_OP_hipLaunchCooperativeKernel:
		return function && kernel_name_by_ptr ? kernel_name_by_ptr(function, NULL) : NULL;
	default:
		return NULL;
	}
}

/* HIP's activity_id_callback_t: this thread has submitted a command. */
static void on_number(uint64_t number)
{
	struct thread *t = thread_get();
	struct live_origin o = { .number = number,
				 .correlation = t->corr_current & ~EVENT_LEFT_OUT,
				 .marker = t->marker,
				 .tid = t->tid };
	int saved = errno;

	o.wanted = live_told_wanted();
	if (o.wanted || join_is_on()) {
		if (t->live_top)
			o.kernel = name_of_kernel(t->live_top);
		live_map_put(&o);
	}
	errno = saved;
}

bool live_told_wants_ops(void)
{
	/* relaxed: what ends while the mask changes is told or not */
	return atomic_load_explicit(&ops_mask, memory_order_relaxed) != 0 || join_is_on();
}

uint32_t live_told_wanted(void)
{
	/* relaxed: what is submitted while the masks change is told or not */
	return atomic_load_explicit(&ops_mask, memory_order_relaxed) &
	       ~atomic_load_explicit(&paused_mask, memory_order_relaxed);
}

void live_told_op(const struct live_op *op, uint32_t wanted)
{
	uint32_t mask = atomic_load_explicit(&ops_mask, memory_order_relaxed) & wanted;

	for (int i = 0; i < LIVE_MAX_LISTENERS; i++) {
		const struct live_listener *l;

		if (!(mask & 1u << i))
			continue;
		l = atomic_load_explicit(&listeners[i], memory_order_acquire);
		if (l && l->op)
			l->op(op);
	}
}

/* Of what commands the times are those of their operations; the kinds are OpenCL's numbers. */
static bool has_own_times(uint32_t kind)
{
	return (kind >= 0x11f0 && kind <= 0x11fa) || /* kernels, buffers, images */
	       (kind >= 0x1201 && kind <= 0x1203) || /* rectangles */
	       kind == 0x1207 || kind == 0x1208 ||   /* fills */
	       kind == 0x120a || kind == 0x120b; /* copies and fills of memory without buffers */
}

/* Markers and barriers: they have no operations, and their neighbours' times. */
static bool is_marker(uint32_t kind)
{
	return kind == 0x11fe || kind == 0x1205;
}

/* A command is over. */
static void join(const struct told_op *told, const struct join_call *call)
{
	if (has_own_times(told->kind))
		join_told(call, told->begin_ns, told->end_ns);
	else if (!is_marker(told->kind))
		join_told_other();
}

void live_told_join(const struct told_op *told)
{
	struct join_call call = { 0 };

	if (!join_is_on())
		return;
	join_begun(told->number, &call);
	join(told, &call);
}

/* HIP's activity_async_callback_t */
static void on_op(uint32_t op, const void *record, void *arg)
{
	const struct told_op *told = record;
	struct live_origin o = { .number = told->number };
	struct live_op out = { .op = op };
	struct join_call call;
	int saved = errno;

	(void)arg;
	live_map_take(&o);
	call = (struct join_call){ o.correlation, o.marker, o.tid };
	if (join_is_on())
		join(told, &call);
	out.kind = told->kind;
	out.correlation = o.correlation;
	out.begin_ns = told->begin_ns;
	out.end_ns = told->end_ns;
	out.queue = told->queue;
	out.bytes = told->bytes;
	out.device = told->device;
	out.kernel = op == 0 ? o.kernel : NULL;
	/* without an entry it was submitted when nobody wanted it */
	live_told_op(&out, o.wanted);
	errno = saved;
}

/* Under lock. */
static bool turn_on(void)
{
	register_fn sync = (register_fn)hip_find("hipRegisterActivityCallback");
	register_fn user = (register_fn)hip_find("hipRegisterApiCallback");
	uint32_t nr = 0;

	if (!sync) {
		last_id = tracer_turn_on();
		/* it asks for each operation whether it is wanted */
		atomic_store_explicit(&ops_are_on, last_id != 0, memory_order_relaxed);
		return last_id != 0;
	}
	kernel_name = (const char *(*)(void *))hip_find("hipKernelNameRef");
	kernel_name_by_ptr =
		(const char *(*)(const void *, void *))hip_find("hipKernelNameRefByPtr");
	for (uint32_t id = 1; id < LIVE_MAX_IDS; id++) {
		if (sync(id, (void *)on_sync, masks) != 0)
			continue;
		if (user)
			user(id, (void *)on_user, NULL);
		last_id = id;
		nr++;
	}
	log_info("%u callbacks of HIP's", nr);
	return nr > 0;
}

bool live_is_on(void)
{
	/* acquire: pairs with live_turn_on() */
	return atomic_load_explicit(&is_on, memory_order_acquire);
}

/* Under lock. */
static void turn_ops_on(void)
{
	void (*init)(void *, void *, void *);
	bool (*enable)(uint32_t, bool);

	init = (void (*)(void *, void *, void *))hip_find("hipInitActivityCallback");
	enable = (bool (*)(uint32_t, bool))hip_find("hipEnableActivityCallback");
	if (!init || !enable)
		return;
	live_map_init();
	init((void *)on_number, (void *)on_op, NULL);
	for (uint32_t op = 0; op < LIVE_NR_OPS; op++)
		enable(op, true);
	atomic_store_explicit(&ops_are_on, true, memory_order_relaxed);
}

bool live_turn_on(void)
{
	bool on;

	/* relaxed: set under the lock by whoever wants operations, who comes here after that */
	if (live_is_on() && (!atomic_load_explicit(&ops_mask, memory_order_relaxed) ||
			     atomic_load_explicit(&ops_are_on, memory_order_relaxed)))
		return true;
	pthread_mutex_lock(&lock);
	on = live_is_on();
	if (!on && hip_is_loaded()) {
		on = turn_on();
		atomic_store_explicit(&is_on, on, memory_order_release);
	}
	if (on && atomic_load_explicit(&ops_mask, memory_order_relaxed) &&
	    !atomic_load_explicit(&ops_are_on, memory_order_relaxed))
		turn_ops_on();
	pthread_mutex_unlock(&lock);
	return on;
}

/* Under lock. */
static bool join_by_tracer(void)
{
	bool on = live_is_on() || turn_on();

	atomic_store_explicit(&is_on, on, memory_order_release);
	on = on && join_turn_on();
	atomic_store_explicit(&join_calls, on, memory_order_relaxed);
	return on;
}

bool live_join(void)
{
	register_fn sync = (register_fn)hip_find("hipRegisterActivityCallback");
	bool on = sync && live_is_on();

	if (!sync) {
		pthread_mutex_lock(&lock);
		on = join_by_tracer();
		pthread_mutex_unlock(&lock);
		return on;
	}
	/* one function that nobody wants to be told of: it is enough for the runtime's timing mode */
	for (uint32_t id = 1; sync && !on && id < LIVE_MAX_IDS; id++)
		on = release_callback(id) && release_callback(id)->op == HIP_OP_hipProfilerStop &&
		     sync(id, (void *)on_sync, masks) == 0;
	pthread_mutex_lock(&lock);
	if (on && !atomic_load_explicit(&ops_are_on, memory_order_relaxed))
		turn_ops_on();
	on = on && atomic_load_explicit(&ops_are_on, memory_order_relaxed) && join_turn_on();
	pthread_mutex_unlock(&lock);
	return on;
}

uint32_t live_last_id(void)
{
	return live_is_on() ? last_id : 0;
}

void live_want(int index, uint32_t id, bool on)
{
	uint8_t bit = (uint8_t)(1u << index);

	if (id >= LIVE_MAX_IDS)
		return;
	if (on)
		atomic_fetch_or_explicit(&masks[id], bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&masks[id], (uint8_t)~bit, memory_order_relaxed);
}

void live_pause_ops(int index, bool paused)
{
	uint32_t bit = 1u << index;

	if (paused)
		atomic_fetch_or_explicit(&paused_mask, bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&paused_mask, ~bit, memory_order_relaxed);
}

void live_settle(void)
{
	tracer_settle();
}

void live_want_ops(int index, bool on)
{
	uint32_t bit = 1u << index, before;

	if (on)
		before = atomic_fetch_or_explicit(&ops_mask, bit, memory_order_relaxed);
	else
		before = atomic_fetch_and_explicit(&ops_mask, ~bit, memory_order_relaxed);
	if (on)
		live_turn_on();
	if (on ? before : before & ~bit)
		return;
	/* the calls that submit have to be seen for their ids */
	for (uint32_t id = 1; id < LIVE_MAX_IDS; id++) {
		if (on)
			atomic_fetch_or_explicit(&masks[id], WANTS_OPS, memory_order_relaxed);
		else
			atomic_fetch_and_explicit(&masks[id], (uint8_t)~WANTS_OPS,
						  memory_order_relaxed);
	}
}
