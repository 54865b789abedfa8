/* SPDX-License-Identifier: MIT */
/* activity.c - HIP's calls and operations, by the callbacks of HIP up to 5.3; tracer.c has those of
 * later ones
 *
 * When a call begins HIP gets a structure from on_sync(), fills it, and calls on_user(). After the
 * call it calls on_user() again, then on_sync() with the registered argument. If on_sync() returns
 * NULL the call is not shown again.
 *
 * HIP numbers operations. on_number() gets the number on the thread that submits, on_op() when the
 * operation has completed; in between activity_map keeps the call's correlation id.
 *
 * Owns:     the subscribers of operations.
 * Threads:  any.
 * Hot path: on_sync(), on_user(), activity_begin() to activity_end(): no lock, and live.c's frames.
 *           on_number(), on_op(): a lock of one of many parts of the map.
 * Fails:    without memory for a frame subscribers don't see the call; without memory for the map
 *           they don't see the operation.
 */
#define LOG_TOPIC "hip"
#include "source/hip/activity.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/lock.h"
#include "base/log.h"
#include "event/corr.h"
#include "event/join.h"
#include "hip_ops_gen.h"
#include "source/hip/activity_internal.h"
#include "source/hip/activity_map.h"
#include "source/hip/callback.h"
#include "source/hip/frame.h"

typedef int (*register_fn)(uint32_t id, void *fn, void *arg);

/* the argument that HIP passes to on_sync() at the end of a call: any address */
static char is_end;
/* atomic */
static _Atomic activity_fn listeners[LIVE_MAX_SUBSCRIBERS];
static _Atomic uint32_t ops_mask, paused_mask; /* of subscribers, a bit each */
static _Atomic bool is_on;
static _Atomic bool ops_are_on;
static _Atomic bool join_calls; /* operations are joined to calls by the tracer's numbers */
static struct lock lock = LOCK_INIT(LOCK_ACTIVITY);
/* set in turn_on, constant after */
static uint32_t last_id;
static const char *(*kernel_name)(void *function);
static const char *(*kernel_name_by_ptr)(const void *function, void *stream);

/* The innermost HIP call that this thread is in. HSA calls may lie within. */
static struct live_frame *top_call(const struct thread *t)
{
	struct live_frame *f = live_top(t);

	while (f && f->call.domain != API_HIP_CALLBACKS)
		f = f->outer;
	return f;
}

/* The frame of the same call in API_HIP: a wrapper's, or the one that push() has made. NULL: there
 * is none. */
static struct live_frame *same_call(const struct live_frame *f, const struct hip_callback *c)
{
	struct live_frame *o = f->outer;

	return o && c && o->call.domain == API_HIP && o->call.operation == c->function ? o : NULL;
}

/* Sets the call's correlation id, and that of what it submits. `same`: of same_call(); `outer`: the
 * enclosing call. */
static void correlate(struct live_frame *f, struct live_frame *same, const struct live_frame *outer,
		      struct thread *t)
{
	uint64_t *id = &f->call.correlation;
	bool is_left_out = !f->is_recorded &&
			   (!f->outer_correlation || corr_is_left_out(f->outer_correlation));

	if (f->is_recorded)
		*id = f->record.correlation;
	else if (same && same->call.correlation) /* a wrapper's */
		*id = same->call.correlation;
	else if (!outer && f->outer_correlation) /* librtl's wrapper records this call */
		*id = f->outer_correlation & ~EVENT_LEFT_OUT;
	else
		*id = corr_new(t);
	if (same)
		same->call.correlation = *id;
	t->corr_current = is_left_out ? corr_mark(*id) : *id;
}

/* The subscribers of API_HIP that get the call here: it did not come through a wrapper that shows
 * it to them. */
static uint32_t wanted_in_hip(const struct thread *t, const struct hip_callback *c,
			      uintptr_t height)
{
	uint32_t mask = c ? api_wanted(API_HIP, c->function) & API_SUBSCRIBERS : 0;

	return RTL_UNLIKELY(mask) && !live_is_seen(t, API_HIP, c->function, height) ? mask : 0;
}

/* The frame of a call, and around it the one that subscribers of API_HIP see. NULL: no memory. */
static struct live_frame *push(struct thread *t, uint32_t id, uint32_t mask, uint32_t hip_mask,
			       uintptr_t height)
{
	const struct hip_callback *c = release_callback(id);
	struct live_frame *in_hip = NULL, *f;

	/* the outer frame has to lie above the inner one */
	if (hip_mask)
		in_hip = live_push(t, API_HIP, c->function, hip_mask, height + 1);
	f = live_push(t, API_HIP_CALLBACKS, id, mask, height);
	if (!f) {
		if (in_hip)
			live_pop(t, in_hip);
		return NULL;
	}
	f->in_hip = in_hip;
	f->shown_by = c;
	if (in_hip && c->has_status)
		callback_status_before(c->op, f);
	return f;
}

static void pop(struct thread *t, struct live_frame *f)
{
	live_pop(t, f);
	if (f->in_hip)
		live_pop(t, f->in_hip);
}

/* The runtime's structure for the arguments of the call; NULL: it uses the frame's. */
static RTL_INLINE struct hip_data *show(struct live_frame *f, void *data)
{
	struct hip_data *to = f->call.args = data ? data : f->args;

	to->correlation = f->call.correlation;
	to->phase = 0;
	return to;
}

/* Whether the call is recorded, or operations need the ids of the calls that submit them. */
static bool is_needed(const struct hip_callback *c)
{
	return (callback_is_on() && !callback_passes(c)) ||
	       atomic_load_explicit(&ops_mask, memory_order_relaxed) != 0;
}

static struct hip_data *begin_any(uint32_t id, uint32_t mask, uintptr_t height, void *data)
{
	const struct hip_callback *c = release_callback(id);
	bool joins = atomic_load_explicit(&join_calls, memory_order_relaxed);
	struct thread *t = thread_get();
	uint32_t hip_mask = wanted_in_hip(t, c, height);
	struct live_frame *f, *same;
	const struct live_frame *outer;

	if ((!mask && !hip_mask && !is_needed(c) && !(joins && t->corr_current)) ||
	    RTL_UNLIKELY(thread_kept_out(t)))
		return NULL;
	f = push(t, id, mask, hip_mask, height);
	if (!f)
		return NULL;
	same = same_call(f, c);
	outer = same ? same->outer : f->outer;
	if (callback_is_on() && !callback_passes(c))
		callback_begin(id, f);
	/* after an inner call that is shown, the runtime would use its number for the rest of the
	 * outer call */
	f->is_joined = joins && !outer && f->outer_correlation &&
		       !corr_is_left_out(f->outer_correlation);
	if (!mask && !hip_mask && !f->is_recorded && !f->is_joined &&
	    !atomic_load_explicit(&ops_mask, memory_order_relaxed)) {
		pop(t, f);
		return NULL;
	}
	correlate(f, same, outer, t);
	if (f->is_joined) {
		struct join_call call = { f->call.correlation, t->marker, t->tid };

		join_begins(&call);
	}
	return show(f, data);
}

/* The same, with errno as before. */
static RTL_NOINLINE struct hip_data *begin_quietly(uint32_t id, uint32_t mask, uintptr_t height,
						   void *data)
{
	int saved = errno;
	struct hip_data *to = begin_any(id, mask, height, data);

	errno = saved;
	return to;
}

/* Only records are wanted. Not inline: a call without subscribers would pay for its registers. */
static RTL_NOINLINE struct hip_data *begin_for_records(uint32_t id, uint32_t mask, uintptr_t height,
						       void *data)
{
	struct live_frame *f = live_begin_alone(&thread_self, API_HIP_CALLBACKS, id, mask, height);

	return RTL_LIKELY(f != NULL) ? show(f, data) : begin_quietly(id, mask, height, data);
}

/* No subscriber wants the call under this number. If one of API_HIP wants it, and no other call is
 * seen or recorded on the thread, this replaces begin_any(): the frames are the thread's first two,
 * and nothing is joined. */
static RTL_NOINLINE struct hip_data *begin_in_hip(uint32_t id, uintptr_t height, void *data)
{
	const struct hip_callback *c = release_callback(id);
	uint32_t wanted = c ? api_wanted(API_HIP, c->function) & API_SUBSCRIBERS : 0;
	uint32_t mask = live_unpaused(wanted);
	struct thread *t = &thread_self;
	struct live_frame *in_hip = t->live_first, *f = in_hip ? in_hip->inner : NULL;

	if (!wanted && !is_needed(c) && !atomic_load_explicit(&join_calls, memory_order_relaxed))
		return NULL;
	if (!wanted && callback_is_on() && !atomic_load_explicit(&ops_mask, memory_order_relaxed) &&
	    callback_leaves_out(c, height))
		return NULL;
	if (RTL_UNLIKELY(!mask || !f || t->live_top || (t->corr_current | t->kept_out) ||
			 special_any(SPECIAL_PAUSED) || callback_is_on()))
		return begin_quietly(id, 0, height, data);
	live_fill(in_hip, t, NULL, API_HIP, c->function, mask, height + 1);
	live_fill(f, t, in_hip, API_HIP_CALLBACKS, id, 0, height);
	t->live_top = f;
	f->in_hip = in_hip;
	f->shown_by = c;
	if (c->has_status)
		callback_status_before(c->op, f);
	in_hip->call.correlation = f->call.correlation = t->corr_current = corr_new(t);
	return show(f, data);
}

struct hip_data *activity_begin(uint32_t id, uintptr_t height, void *data)
{
	uint32_t mask;

	/* librtl asks HIP for the status of each call */
	if (RTL_UNLIKELY(thread_self.in_hook))
		return NULL;
	mask = live_unpaused(api_wanted(API_HIP_CALLBACKS, id % API_MAX_OPERATIONS));
	if (!mask)
		return begin_in_hip(id, height, data);
	return live_is_for_records(mask) ? begin_for_records(id, mask, height, data) :
					   begin_quietly(id, mask, height, data);
}

static RTL_NOINLINE void end_any(uint32_t id)
{
	struct thread *t = thread_get();
	struct live_frame *f = top_call(t);
	int saved = errno;

	if (!f || f->call.operation != id)
		return;
	if (f->is_alone) {
		live_end_alone(t, f);
		return;
	}
	if (f->is_recorded)
		callback_end(id, f);
	pop(t, f);
	if (f->mask & LIVE_ALL_RECORDS)
		live_notify(f, LIVE_RECORD);
	if (f->in_hip && f->in_hip->mask & LIVE_ALL_RECORDS)
		live_notify(f->in_hip, LIVE_RECORD);
	errno = saved;
}

void activity_end(uint32_t id)
{
	struct thread *t = &thread_self;
	struct live_frame *f = live_top(t);

	/* the call was left out */
	if (!f)
		return;
	if (RTL_UNLIKELY(f->call.operation != id))
		end_any(id);
	else if (f->is_alone)
		live_end_alone(t, f);
	else if (f->in_hip && !f->is_recorded && !f->mask && !(f->in_hip->mask & LIVE_ALL_RECORDS))
		pop(t, f);
	else
		end_any(id);
}

void *activity_current_data(void)
{
	const struct live_frame *f = top_call(thread_get());

	return f ? f->call.args : NULL;
}

/* HIP's activity_sync_callback_t: `arg` is the registered argument at the end of a call, NULL at
 * its begin. */
static void *on_sync(uint32_t id, void *record, const void *data, void *arg)
{
	(void)record;
	(void)data;
	if (!arg)
		return activity_begin(id, RTL_FRAME(), NULL);
	activity_end(id);
	return NULL;
}

/* The call's begin and end for subscribers of API_HIP. */
static RTL_INLINE void enter_in_hip(struct live_frame *f)
{
	const struct hip_callback *c = f->shown_by;
	const struct hip_data *data = f->call.args;

	if (c->copy) {
		c->copy(data->args, f->in_hip->args);
		f->in_hip->call.args = f->in_hip->args;
	}
	live_notify(f->in_hip, LIVE_ENTER);
}

static RTL_INLINE void exit_in_hip(struct live_frame *f)
{
	if (f->shown_by->has_status) {
		callback_status_after(f);
		f->in_hip->call.result = &f->status;
	}
	live_notify(f->in_hip, LIVE_EXIT);
}

static RTL_NOINLINE void notify(uint32_t id, const void *data)
{
	struct live_frame *f = top_call(thread_get());

	if (!f || f->is_alone || f->call.args != data || f->call.operation != id)
		return;
	if (!((const struct hip_data *)data)->phase) {
		if (f->in_hip)
			enter_in_hip(f);
		if (f->mask)
			live_notify(f, LIVE_ENTER);
	} else {
		if (f->mask)
			live_notify(f, LIVE_EXIT);
		if (f->in_hip)
			exit_in_hip(f);
	}
}

void activity_args_are_there(uint32_t id, const void *data)
{
	struct live_frame *f = live_top(&thread_self);

	/* the call, then, is the innermost one */
	if (f && f->is_alone)
		return;
	if (RTL_UNLIKELY(!f || !f->in_hip || f->mask)) {
		notify(id, data);
		return;
	}
	/* the usual call, of begin_in_hip() */
	if (f->call.args != data || f->call.operation != id)
		return;
	if (!((const struct hip_data *)data)->phase)
		enter_in_hip(f);
	else
		exit_in_hip(f);
}

/* HIP's activity_rtapi_callback_t */
static void on_user(uint32_t domain, uint32_t id, void *data, void *arg)
{
	(void)domain;
	(void)arg;
	activity_args_are_there(id, data);
}

static const char *name_of_kernel(const struct live_frame *f)
{
	const struct hip_data *d = f->call.args;
	void *function = (void *)(uintptr_t)d->args[0];
	const struct hip_callback *c = release_callback(f->call.operation);

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

/* HIP's activity_id_callback_t: this thread has submitted command `number`. */
static void on_number(uint64_t number)
{
	struct thread *t = thread_get();
	const struct live_frame *f = top_call(t);
	struct activity_origin o = { .number = number,
				     .correlation = t->corr_current & ~EVENT_LEFT_OUT,
				     .marker = t->marker,
				     .tid = t->tid };
	int saved = errno;

	o.wanted = activity_wanted_now();
	if (o.wanted || join_is_on()) {
		if (f)
			o.kernel = name_of_kernel(f);
		activity_map_put(&o);
	}
	errno = saved;
}

bool activity_wants_ops(void)
{
	/* relaxed: an operation that ends while the mask changes may be reported or not */
	return atomic_load_explicit(&ops_mask, memory_order_relaxed) != 0 || join_is_on();
}

uint32_t activity_wanted_now(void)
{
	/* relaxed: an operation that is submitted while the masks change may be reported or not */
	return atomic_load_explicit(&ops_mask, memory_order_relaxed) &
	       ~atomic_load_explicit(&paused_mask, memory_order_relaxed);
}

void activity_report_op(const struct activity_op *op, uint32_t wanted)
{
	/* acquire: pairs with activity_want_ops() */
	uint32_t mask = atomic_load_explicit(&ops_mask, memory_order_acquire) & wanted;

	for (; mask; mask &= mask - 1) {
		activity_fn fn =
			atomic_load_explicit(&listeners[__builtin_ctz(mask)], memory_order_relaxed);

		fn(op);
	}
}

/* Whether a command's times are those of its operation; kinds are OpenCL's numbers. */
static bool has_own_times(uint32_t kind)
{
	return (kind >= 0x11f0 && kind <= 0x11fa) || /* kernels, buffers, images */
	       (kind >= 0x1201 && kind <= 0x1203) || /* rectangles */
	       kind == 0x1207 || kind == 0x1208 ||   /* fills */
	       kind == 0x120a || kind == 0x120b; /* copies and fills of memory without buffers */
}

/* Markers and barriers have no operations; their times are their neighbours'. */
static bool is_marker(uint32_t kind)
{
	return kind == 0x11fe || kind == 0x1205;
}

/* A command has completed. */
static void join(const struct hip_record *r, const struct join_call *call)
{
	if (has_own_times(r->kind))
		join_reported(call, r->begin_ns, r->end_ns);
	else if (!is_marker(r->kind))
		join_reported_other();
}

void activity_join_op(const struct hip_record *r)
{
	struct join_call call = { 0 };

	if (!join_is_on())
		return;
	join_begun(r->number, &call);
	join(r, &call);
}

/* HIP's activity_async_callback_t */
static void on_op(uint32_t op, const void *record, void *arg)
{
	const struct hip_record *r = record;
	struct activity_origin o = { .number = r->number };
	struct activity_op out = { .op = op };
	struct join_call call;
	int saved = errno;

	(void)arg;
	activity_map_take(&o);
	call = (struct join_call){ o.correlation, o.marker, o.tid };
	if (join_is_on())
		join(r, &call);
	out.kind = r->kind;
	out.correlation = o.correlation;
	out.begin_ns = r->begin_ns;
	out.end_ns = r->end_ns;
	out.queue = r->queue;
	out.bytes = r->bytes;
	out.device = r->device;
	out.kernel = op == 0 ? o.kernel : NULL;
	/* without an entry no subscriber wanted it when it was submitted */
	activity_report_op(&out, o.wanted);
	errno = saved;
}

RTL_REQUIRES(lock)
static bool turn_on(void)
{
	register_fn sync = (register_fn)hip_find("hipRegisterActivityCallback");
	register_fn user = (register_fn)hip_find("hipRegisterApiCallback");
	uint32_t nr = 0;

	(void)status_find();
	if (!sync) {
		last_id = tracer_turn_on();
		/* the runtime asks for each operation whether it is wanted */
		atomic_store_explicit(&ops_are_on, last_id != 0, memory_order_relaxed);
		return last_id != 0;
	}
	kernel_name = (const char *(*)(void *))hip_find("hipKernelNameRef");
	kernel_name_by_ptr =
		(const char *(*)(const void *, void *))hip_find("hipKernelNameRefByPtr");
	for (uint32_t id = 1; id < API_MAX_OPERATIONS; id++) {
		if (sync(id, (void *)on_sync, &is_end) != 0)
			continue;
		if (user)
			user(id, (void *)on_user, NULL);
		last_id = id;
		nr++;
	}
	log_info("%u callbacks of HIP's", nr);
	return nr > 0;
}

static bool callbacks_are_on(void)
{
	/* acquire: pairs with activity_turn_on() */
	return atomic_load_explicit(&is_on, memory_order_acquire);
}

RTL_REQUIRES(lock)
static void turn_ops_on(void)
{
	void (*init)(void *, void *, void *);
	bool (*enable)(uint32_t, bool);

	init = (void (*)(void *, void *, void *))hip_find("hipInitActivityCallback");
	enable = (bool (*)(uint32_t, bool))hip_find("hipEnableActivityCallback");
	if (!init || !enable)
		return;
	activity_map_init();
	init((void *)on_number, (void *)on_op, NULL);
	for (uint32_t op = 0; op < ACTIVITY_NR_OPS; op++)
		enable(op, true);
	atomic_store_explicit(&ops_are_on, true, memory_order_relaxed);
}

bool activity_turn_on(void)
{
	bool on;

	/* relaxed: activity_want_ops() sets the mask, and then calls this */
	if (callbacks_are_on() && (!atomic_load_explicit(&ops_mask, memory_order_relaxed) ||
				   atomic_load_explicit(&ops_are_on, memory_order_relaxed)))
		return true;
	lock_take(&lock);
	on = callbacks_are_on();
	if (!on && hip_is_loaded()) {
		on = turn_on();
		atomic_store_explicit(&is_on, on, memory_order_release);
	}
	if (on && atomic_load_explicit(&ops_mask, memory_order_relaxed) &&
	    !atomic_load_explicit(&ops_are_on, memory_order_relaxed))
		turn_ops_on();
	lock_drop(&lock);
	return on;
}

RTL_REQUIRES(lock)
static bool join_by_tracer(void)
{
	bool on = callbacks_are_on() || turn_on();

	atomic_store_explicit(&is_on, on, memory_order_release);
	on = on && join_turn_on();
	atomic_store_explicit(&join_calls, on, memory_order_relaxed);
	return on;
}

bool activity_join(void)
{
	register_fn sync = (register_fn)hip_find("hipRegisterActivityCallback");
	bool on = sync && callbacks_are_on();

	if (!sync) {
		lock_take(&lock);
		on = join_by_tracer();
		lock_drop(&lock);
		return on;
	}
	/* one function that is seldom called: it puts the runtime into its timing mode */
	for (uint32_t id = 1; sync && !on && id < API_MAX_OPERATIONS; id++)
		on = release_callback(id) && release_callback(id)->op == HIP_OP_hipProfilerStop &&
		     sync(id, (void *)on_sync, &is_end) == 0;
	lock_take(&lock);
	if (on && !atomic_load_explicit(&ops_are_on, memory_order_relaxed))
		turn_ops_on();
	on = on && atomic_load_explicit(&ops_are_on, memory_order_relaxed) && join_turn_on();
	lock_drop(&lock);
	return on;
}

uint32_t activity_last_id(void)
{
	return callbacks_are_on() ? last_id : 0;
}

void activity_pause_ops(int index, bool paused)
{
	uint32_t bit = 1u << index;

	if (paused)
		atomic_fetch_or_explicit(&paused_mask, bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&paused_mask, ~bit, memory_order_relaxed);
}

void activity_settle(void)
{
	tracer_settle();
}

void activity_want_ops(int index, activity_fn fn)
{
	uint32_t bit = 1u << index;

	if (!fn) {
		atomic_fetch_and_explicit(&ops_mask, ~bit, memory_order_relaxed);
		return;
	}
	/* the function stays when the bit is cleared. release of the bit: pairs with
	 * activity_report_op() */
	atomic_store_explicit(&listeners[index], fn, memory_order_relaxed);
	atomic_fetch_or_explicit(&ops_mask, bit, memory_order_release);
	activity_turn_on();
}
