/* SPDX-License-Identifier: MIT */
/* session.c - sessions: the public functions of librtl (include/rtl/rtl.h)
 *
 * Owns:     the sessions, and the subscriber of calls that serves them.
 * Threads:  any. A callback runs on the thread that calls HIP, or where operations.c delivers.
 * Locks:    LOCK_SESSIONS: opening, closing and changing sessions; callbacks run without it.
 * Fails:    with a status; the program's calls are unaffected.
 */
#include <rtl/rtl.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/callout.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/str.h"
#include "base/sys.h"
#include "boot.h"
#include "core.h"
#include "event/life.h"
#include "event/pause.h"
#include "hsa_past.h"
#include "operations.h"
#include "rebind.h"
#include "sink/recorder/finish.h"
#include "sink/recorder/recorder.h"
#include "source/hip/frame.h"
#include "source/hip/lookup.h"
#include "source/hsa/completion/harvest.h"
#include "startenv.h"

#define MAX_SESSIONS 4u
#define NAP_NS 100000
#define INDEX_BITS 8

struct session {
	/* atomic: read by callbacks */
	_Atomic uint64_t handle; /* 0: free */
	_Atomic bool is_stopped;
	_Atomic(rtl_call_fn) call_fn;
	_Atomic(rtl_operation_fn) operation_fn;
	void *_Atomic call_user, *_Atomic operation_user;
	_Atomic uint32_t nr_running; /* callbacks */
	_Atomic uint64_t nr_delivered;
	/* under the lock */
	bool has_trace;
	uint64_t dropped_before;
	struct recorder_counts before; /* when it was opened */
	char database[PATH_MAX];
	char path[PATH_MAX]; /* of the raw trace, once it is closed */
};

static struct lock lock = LOCK_INIT(LOCK_SESSIONS);
static struct session sessions[MAX_SESSIONS];
static uint64_t generation RTL_GUARDED_BY(lock);
static int subscriber_index RTL_GUARDED_BY(lock) = -1;
static _Thread_local bool in_callback;

static struct session *find(rtl_session_t handle)
{
	uint32_t i = (uint32_t)(handle & ((1u << INDEX_BITS) - 1)) - 1;

	return i < MAX_SESSIONS && atomic_load_explicit(&sessions[i].handle,
							memory_order_acquire) == handle ?
		       &sessions[i] :
		       NULL;
}

static rtl_status_t check_caller(void)
{
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return RTL_ERROR_FORKED;
	return in_callback ? RTL_ERROR_IN_CALLBACK : RTL_OK;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* The session may be used by a callback until leave(). `even_stopped`: what the callback gets began
 * before the stop. */
static bool enter(struct session *s, bool even_stopped)
{
	/* seq_cst: pairs with wait_for_callbacks() */
	atomic_fetch_add(&s->nr_running, 1);
	if (atomic_load(&s->handle) &&
	    (even_stopped || !atomic_load_explicit(&s->is_stopped, memory_order_relaxed)))
		return true;
	atomic_fetch_sub(&s->nr_running, 1);
	return false;
}

static void leave(struct session *s)
{
	atomic_fetch_sub_explicit(&s->nr_running, 1, memory_order_release);
}

static void wait_for_callbacks(struct session *s)
{
	const struct timespec nap = { 0, NAP_NS };

	while (atomic_load(&s->nr_running))
		sys_nap(&nap);
}

struct calling {
	struct session *s;
	const rtl_call_t *call;
	rtl_call_fn call_fn;
	const rtl_operation_t *op;
	rtl_operation_fn operation_fn;
};

static void call_for_call(void *arg)
{
	const struct calling *k = arg;

	k->call_fn(k->call, atomic_load_explicit(&k->s->call_user, memory_order_relaxed));
}

static void call_for_operation(void *arg)
{
	const struct calling *k = arg;

	k->operation_fn(k->op, atomic_load_explicit(&k->s->operation_user, memory_order_relaxed));
}

static void leave_calling(void *arg)
{
	const struct calling *k = arg;

	in_callback = false;
	leave(k->s);
}

static void notify(const struct live_call *call, uint32_t phase)
{
	rtl_call_t c = { .size = sizeof(c),
			 .phase = phase,
			 .thread = call->tid,
			 .correlation = call->correlation,
			 .name = hip_ops[call->operation].name,
			 .signature = hip_ops[call->operation].signature };

	if (in_callback)
		return;
	if (phase == RTL_CALL_END) {
		c.words = call->words;
		c.nr_words = call->nr_words;
		c.status = call->status;
	}
	in_callback = true;
	for (uint32_t i = 0; i < MAX_SESSIONS; i++) {
		struct session *s = &sessions[i];
		/* acquire: `call_user` */
		rtl_call_fn fn = atomic_load_explicit(&s->call_fn, memory_order_acquire);
		struct calling k = { .s = s, .call = &c, .call_fn = fn };

		if (!fn || !enter(s, false))
			continue;
		callout(call_for_call, leave_calling, &k);
		leave(s);
	}
	in_callback = false;
}

static void on_enter(struct live_call *call)
{
	notify(call, RTL_CALL_BEGIN);
}

static void on_exit(struct live_call *call)
{
	notify(call, RTL_CALL_END);
}

static void on_operation(const rtl_operation_t *op)
{
	in_callback = true;
	for (uint32_t i = 0; i < MAX_SESSIONS; i++) {
		struct session *s = &sessions[i];
		rtl_operation_fn fn = atomic_load_explicit(&s->operation_fn, memory_order_acquire);
		struct calling k;

		/* what is submitted during a pause does not come here */
		if (!fn || !enter(s, pause_is_on()))
			continue;
		k = (struct calling){ .s = s, .op = op, .operation_fn = fn };
		atomic_fetch_add_explicit(&s->nr_delivered, 1, memory_order_relaxed);
		callout(call_for_operation, leave_calling, &k);
		leave(s);
	}
	in_callback = false;
}

static bool any_calls(void)
{
	for (uint32_t i = 0; i < MAX_SESSIONS; i++)
		if (atomic_load_explicit(&sessions[i].call_fn, memory_order_relaxed))
			return true;
	return false;
}

static bool any_operations(void)
{
	for (uint32_t i = 0; i < MAX_SESSIONS; i++)
		if (atomic_load_explicit(&sessions[i].operation_fn, memory_order_relaxed))
			return true;
	return false;
}

RTL_REQUIRES(lock) static rtl_status_t want_calls(void)
{
	static const struct live_subscriber subscriber = { .enter = on_enter, .exit = on_exit };
	unsigned int what = any_calls() ? LIVE_CALLS : LIVE_NOTHING;

	if (subscriber_index < 0 && what)
		subscriber_index = live_subscribe(&subscriber);
	if (subscriber_index < 0)
		return what ? RTL_ERROR_MEMORY : RTL_OK;
	if (what)
		live_want_words();
	for (uint32_t op = 0; op < hip_nr_ops; op++)
		live_want(subscriber_index, API_HIP, op, what);
	return RTL_OK;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Whether the program's calls of `name` reach librtl, by the loader's order or by new references;
 * true if there is no such function. */
static bool is_in_front(const char *name)
{
	void *fn;

	if (!lookup_next)
		early_find();
	fn = lookup_next ? lookup_libc()(RTLD_DEFAULT, name) : NULL;
	dlerror();
	return !fn || hip_is_ours(fn) || rebind_is_done();
}

static rtl_status_t prepare(void)
{
	rtl_status_t status = check_caller();

	if (status)
		return status;
	boot();
	if (life_on())
		return RTL_OK;
	if (env_bool(ENV_DISABLE))
		return RTL_ERROR_DISABLED;
	if (!is_in_front("hsa_init") && !startenv_is_requested())
		return RTL_ERROR_NOT_IN_FRONT;
	if (hsa_past_is())
		return RTL_ERROR_TOO_LATE;
	/* else the process is recorded from its start */
	if (!startenv_is_requested()) {
		env_set_default(ENV_MODE, "hip");
		life_attach_sinks_later();
	}
	if (!life_start())
		return RTL_ERROR_DISABLED;
	/* constructors of HIP's programs call HIP before main() */
	hip_decide();
	return RTL_OK;
}

EXPORT rtl_status_t rtl_prepare(void)
{
	return prepare();
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Absolute: the program may change its directory. */
static bool make_absolute(char *out, const char *path, const char *suffix)
{
	char cwd[PATH_MAX];
	struct str s;

	str_init(&s, out, PATH_MAX);
	if (path[0] != '/') {
		if (!getcwd(cwd, sizeof(cwd)))
			return false;
		str_add(&s, cwd);
		str_add(&s, "/");
	}
	str_add(&s, path);
	str_add(&s, suffix);
	return !s.cut && *path;
}

/* A failure of recorder_open() or recorder_close(). */
static rtl_status_t status_of(int err)
{
	switch (err) {
	case 0:
		return RTL_OK;
	case -EBUSY:
		return RTL_ERROR_BUSY;
	case -EDEADLK:
		return RTL_ERROR_IN_CALLBACK;
	case -ESHUTDOWN:
		return RTL_ERROR_DISABLED;
	case -ENOMEM:
		return RTL_ERROR_MEMORY;
	default:
		return RTL_ERROR_OUTPUT;
	}
}

static uint32_t nr_open(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MAX_SESSIONS; i++)
		n += atomic_load_explicit(&sessions[i].handle, memory_order_relaxed) != 0;
	return n;
}

static bool any_trace(void)
{
	for (uint32_t i = 0; i < MAX_SESSIONS; i++)
		if (atomic_load_explicit(&sessions[i].handle, memory_order_relaxed) &&
		    sessions[i].has_trace)
			return true;
	return false;
}

/* Recording is held back while any session with a trace, or the only one, is stopped. */
static void update_pause(void)
{
	uint32_t nr_stopped = 0;

	for (uint32_t i = 0; i < MAX_SESSIONS; i++) {
		struct session *s = &sessions[i];

		if (atomic_load_explicit(&s->handle, memory_order_relaxed) &&
		    atomic_load_explicit(&s->is_stopped, memory_order_relaxed))
			nr_stopped += s->has_trace ? MAX_SESSIONS : 1;
	}
	/* the trace of `rtl trace --trace-start always` goes on */
	pause_hold(PAUSE_SESSION,
		   nr_stopped && nr_stopped >= nr_open() && (any_trace() || !pause_is_refused()));
	recorder_keep_sources(nr_open() > 0);
}

RTL_REQUIRES(lock) static rtl_status_t open_trace(struct session *s, const rtl_session_options_t *o)
{
	char dir[PATH_MAX];
	bool good = true;

	s->has_trace = false;
	s->database[0] = s->path[0] = '\0';
	if (!o->directory && !o->database)
		return RTL_OK;
	if (any_trace())
		return RTL_ERROR_BUSY;
	/* of `rtl trace`, or of a program that librtl records from its start */
	if (recorder_is_open())
		return RTL_OK;
	if (o->database)
		good = make_absolute(s->database, o->database, "");
	good = good && make_absolute(dir, o->directory ? o->directory : o->database,
				     o->directory ? "" : ".spool");
	if (!good)
		return RTL_ERROR_ARGUMENT;
	if (o->database && fd_is_taken(s->database) && !(o->flags & RTL_SESSION_REPLACE))
		return RTL_ERROR_OUTPUT;
	s->has_trace = true;
	return status_of(recorder_open(dir, s->database));
}

RTL_REQUIRES(lock)
static rtl_status_t open_session(const rtl_session_options_t *o, rtl_session_t *out)
{
	struct session *s = NULL;
	rtl_status_t status;
	uint32_t i;

	for (i = 0; i < MAX_SESSIONS && !s; i++)
		if (!atomic_load_explicit(&sessions[i].handle, memory_order_relaxed))
			s = &sessions[i];
	if (!s)
		return RTL_ERROR_BUSY;
	atomic_store_explicit(&s->is_stopped, !!(o->flags & RTL_SESSION_STOPPED),
			      memory_order_relaxed);
	if (o->flags & RTL_SESSION_STOPPED && (o->directory || o->database))
		pause_hold(PAUSE_SESSION, true);
	status = open_trace(s, o);
	if (status) {
		s->has_trace = false;
		update_pause();
		return status;
	}
	recorder_count(&s->before);
	s->dropped_before = operations_nr_dropped();
	atomic_store_explicit(&s->nr_delivered, 0, memory_order_relaxed);
	*out = ++generation << INDEX_BITS | i;
	atomic_store_explicit(&s->handle, *out, memory_order_release);
	update_pause();
	if (!recorder_is_open())
		pause_hold(PAUSE_CLOSED, false);
	return RTL_OK;
}

EXPORT rtl_status_t rtl_session_open(const rtl_session_options_t *options, rtl_session_t *session)
{
	static const rtl_session_options_t none = { .size = sizeof(none) };
	const rtl_session_options_t *o = options ? options : &none;
	rtl_status_t status;

	if (!session || o->size < sizeof(*o))
		return RTL_ERROR_ARGUMENT;
	status = prepare();
	if (status)
		return status;
	lock_take(&lock);
	status = open_session(o, session);
	lock_drop(&lock);
	return status;
}

/* The raw trace of a closed session becomes its database. */
static rtl_status_t write_database(const struct session *s)
{
	/* a session without RTL_SESSION_REPLACE was not opened if the file was there */
	finish_run(s->path, s->database, true);
	return fd_is_taken(s->database) && access(s->path, F_OK) != 0 ? RTL_OK : RTL_ERROR_OUTPUT;
}

RTL_REQUIRES(lock) static rtl_status_t close_session(struct session *s)
{
	bool has_trace = s->has_trace;
	rtl_status_t status = RTL_OK;

	atomic_store_explicit(&s->call_fn, NULL, memory_order_relaxed);
	atomic_store_explicit(&s->operation_fn, NULL, memory_order_relaxed);
	/* seq_cst: pairs with enter() */
	atomic_store(&s->handle, 0);
	wait_for_callbacks(s);
	want_calls();
	if (!any_operations())
		operations_want(false, on_operation);
	recorder_keep_sources(nr_open() > 0);
	if (has_trace)
		status = status_of(recorder_close(s->path, sizeof(s->path)));
	else if (!recorder_is_open() && !nr_open() && !bus_never_pauses())
		pause_hold(PAUSE_CLOSED, true);
	s->has_trace = false;
	update_pause();
	if (has_trace && !status && s->database[0])
		status = write_database(s);
	return status;
}

EXPORT rtl_status_t rtl_session_close(rtl_session_t session)
{
	rtl_status_t status = check_caller();
	struct session *s;

	if (status)
		return status;
	harvest_flush();
	operations_deliver();
	lock_take(&lock);
	s = find(session);
	status = s ? close_session(s) : RTL_ERROR_SESSION;
	lock_drop(&lock);
	return status;
}

/* ---- what is done with an open session ------------------------------------------------------- */

static rtl_status_t stop(rtl_session_t session, bool is_stopped)
{
	rtl_status_t status = check_caller();
	struct session *s;

	if (status)
		return status;
	lock_take(&lock);
	s = find(session);
	if (s) {
		atomic_store_explicit(&s->is_stopped, is_stopped, memory_order_relaxed);
		update_pause();
	}
	lock_drop(&lock);
	return s ? RTL_OK : RTL_ERROR_SESSION;
}

EXPORT rtl_status_t rtl_session_start(rtl_session_t session)
{
	return stop(session, false);
}

EXPORT rtl_status_t rtl_session_stop(rtl_session_t session)
{
	return stop(session, true);
}

EXPORT rtl_status_t rtl_session_flush(rtl_session_t session)
{
	rtl_status_t status = check_caller();

	if (status)
		return status;
	if (!find(session))
		return RTL_ERROR_SESSION;
	harvest_flush();
	operations_deliver();
	return RTL_OK;
}

EXPORT rtl_status_t rtl_session_output(rtl_session_t session, char *path, size_t size)
{
	rtl_status_t status = check_caller();
	struct session *s;
	struct str text;

	if (status)
		return status;
	if (!path || !size)
		return RTL_ERROR_ARGUMENT;
	str_init(&text, path, size);
	lock_take(&lock);
	s = find(session);
	if (!s)
		status = RTL_ERROR_SESSION;
	else if (s->has_trace && s->database[0])
		str_add(&text, s->database);
	else if (s->has_trace)
		recorder_path(path, size);
	else
		status = recorder_is_open() && !any_trace() ? RTL_SHARED : RTL_OK;
	lock_drop(&lock);
	return status;
}

EXPORT rtl_status_t rtl_session_on_calls(rtl_session_t session, rtl_call_fn fn, void *user)
{
	rtl_status_t status = check_caller();
	struct session *s;

	if (status)
		return status;
	if (fn && !is_in_front("hipLaunchKernel"))
		return RTL_ERROR_NOT_IN_FRONT;
	lock_take(&lock);
	s = find(session);
	if (s) {
		atomic_store_explicit(&s->call_fn, NULL, memory_order_relaxed);
		wait_for_callbacks(s);
		atomic_store_explicit(&s->call_user, user, memory_order_relaxed);
		/* release: pairs with notify() */
		atomic_store_explicit(&s->call_fn, fn, memory_order_release);
		status = want_calls();
	}
	lock_drop(&lock);
	return s ? status : RTL_ERROR_SESSION;
}

EXPORT rtl_status_t rtl_session_on_operations(rtl_session_t session, rtl_operation_fn fn,
					      void *user)
{
	rtl_status_t status = check_caller();
	struct session *s;
	int err = 0;

	if (status)
		return status;
	lock_take(&lock);
	s = find(session);
	if (s) {
		atomic_store_explicit(&s->operation_fn, NULL, memory_order_relaxed);
		wait_for_callbacks(s);
		atomic_store_explicit(&s->operation_user, user, memory_order_relaxed);
		atomic_store_explicit(&s->operation_fn, fn, memory_order_release);
		err = operations_want(any_operations(), on_operation);
	}
	lock_drop(&lock);
	if (!s)
		return RTL_ERROR_SESSION;
	return err ? RTL_ERROR_MEMORY : RTL_OK;
}

/* ---- figures --------------------------------------------------------------------------------- */

static const struct {
	const char *name, *text;
	bool is_loss, is_skipped;
} reasons[] = {
#define LOSS true, false
#define SKIPPED false, true
#define NOTE false, false
#define X(name, class, text) { #name, text, class },
	SPOOL_REASONS(X)
#undef X
#undef LOSS
#undef SKIPPED
#undef NOTE
};

/* Since its opening. */
static void count(const struct session *s, struct recorder_counts *c)
{
	recorder_count(c);
	c->calls -= s->before.calls;
	c->kernels -= s->before.kernels;
	c->copies -= s->before.copies;
	c->markers -= s->before.markers;
	for (int r = 0; r < SPOOL_NR_REASONS; r++)
		c->loss[r] -= s->before.loss[r];
}

EXPORT rtl_status_t rtl_session_statistics(rtl_session_t session, rtl_statistics_t *statistics)
{
	rtl_statistics_t out = { .size = sizeof(out) };
	rtl_status_t status = check_caller();
	struct recorder_counts c;
	struct session *s;

	if (status)
		return status;
	if (!statistics || statistics->size < sizeof(statistics->size))
		return RTL_ERROR_ARGUMENT;
	lock_take(&lock);
	s = find(session);
	if (s) {
		count(s, &c);
		out.calls = c.calls;
		out.kernels = c.kernels;
		out.copies = c.copies;
		out.markers = c.markers;
		for (int r = 0; r < SPOOL_NR_REASONS; r++) {
			out.lost += reasons[r].is_loss ? c.loss[r] : 0;
			out.skipped += reasons[r].is_skipped ? c.loss[r] : 0;
		}
		out.delivered = atomic_load_explicit(&s->nr_delivered, memory_order_relaxed);
		out.undelivered = operations_nr_dropped() - s->dropped_before;
		if (out.size > statistics->size)
			out.size = statistics->size;
		memcpy(statistics, &out, out.size);
	}
	lock_drop(&lock);
	return s ? RTL_OK : RTL_ERROR_SESSION;
}

EXPORT rtl_status_t rtl_session_loss(rtl_session_t session, uint32_t nth, rtl_loss_t *loss)
{
	rtl_status_t status = check_caller();
	struct recorder_counts c;
	struct session *s;

	if (status)
		return status;
	if (!loss || loss->size < sizeof(*loss))
		return RTL_ERROR_ARGUMENT;
	lock_take(&lock);
	s = find(session);
	if (s)
		count(s, &c);
	lock_drop(&lock);
	if (!s)
		return RTL_ERROR_SESSION;
	for (int r = 0; r < SPOOL_NR_REASONS; r++) {
		if (!c.loss[r] || nth-- > 0)
			continue;
		*loss = (rtl_loss_t){ sizeof(*loss),   c.loss[r],	   reasons[r].name,
				      reasons[r].text, reasons[r].is_loss, 0 };
		return RTL_OK;
	}
	return RTL_ERROR_END;
}

EXPORT rtl_status_t rtl_write_tables(const char *trace, const char *tables, const char *format,
				     const char *file)
{
	rtl_status_t status = check_caller();
	int err;

	if (status)
		return status;
	if (!trace || !format || !file)
		return RTL_ERROR_ARGUMENT;
	err = finish_tables(trace, tables, format, file);
	return !err ? RTL_OK : err == -EINVAL ? RTL_ERROR_ARGUMENT : RTL_ERROR_OUTPUT;
}
