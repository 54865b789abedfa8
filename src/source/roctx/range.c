/* SPDX-License-Identifier: MIT */
/* range.c - roctx: ranges and marks of the program
 *
 * If librtl is preloaded, its symbols come before those of a real libroctx64, so librtl passes
 * calls on to that library: another tool that listens there must get them. The program may load it
 * at any time, so librtl looks for it each time the number of calls has doubled.
 *
 * Owns:     the stack of open push ranges of each thread; the map from librtl's ids of started
 *           ranges to the real library's.
 * Threads:  any.
 * Hot path: all, once the stack exists: no lock, no malloc, no system call.
 * Ids:      a marker's id in the trace is 2 n for marks and pushed ranges, 2 id + 1 for started
 * ranges, so that range_stop() can compute it from the id alone, on any thread.
 */
#define LOG_TOPIC "roctx"
#include "source/roctx/range.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "event/bus.h"
#include "event/pause.h"
#include "event/thread.h"
#include "source/roctx/selection.h"

#define STACK_BYTES 4096u
#define MAX_DEPTH (1u << 20)
/* in an entry of the stack */
#define SELECTED (UINT64_C(1) << 63)
#define MAP_SIZE 65536u
#define MAP_WINDOW 64u

struct stack {
	size_t size; /* bytes of this block */
	uint32_t capacity;
	uint32_t reserved;
	/* ids of the open ranges, outermost first; 0: not recorded. SELECTED: selection_close() at
	 * its end */
	uint64_t marker[];
};

struct real_roctx {
	void (*mark)(const char *message);
	int (*push)(const char *message);
	int (*pop)(void);
	uint64_t (*start)(const char *message);
	void (*stop)(uint64_t id);
	/* librocprofiler-sdk-roctx has them; NULL: another library */
	int (*pause)(uint64_t tid);
	int (*resume)(uint64_t tid);
	int (*thread_id)(uint64_t *tid);
	void *names[RANGE_NR_NAMES];
};

struct pair {
	_Atomic uint64_t ours, theirs; /* ours 0: the slot is free */
};

/* atomic; filled from the first on */
static _Atomic range_listener_fn listeners[RANGE_MAX_LISTENERS];
static _Atomic range_end_fn end_listeners[RANGE_MAX_LISTENERS];
static _Atomic(void *) fronts[RANGE_MAX_LISTENERS];
static struct real_roctx found;
static _Atomic(struct real_roctx *) real_lib;
static _Atomic uint64_t nr_calls;
static _Atomic uint64_t next_marker = 1, next_start = 1;
static struct pair map[MAP_SIZE];

int range_listen(range_listener_fn fn)
{
	for (int i = 0; i < RANGE_MAX_LISTENERS; i++) {
		range_listener_fn there = NULL;

		/* release: pairs with the acquire in notify_slow(): publishes the listener's
		 * data */
		if (atomic_compare_exchange_strong_explicit(&listeners[i], &there, fn,
							    memory_order_release,
							    memory_order_relaxed) ||
		    there == fn)
			return 0;
	}
	return -ENOSPC;
}

static void notify_slow(enum range_call call, const char *message, uint64_t id)
{
	int saved = errno;

	for (int i = 0; i < RANGE_MAX_LISTENERS; i++) {
		range_listener_fn fn = atomic_load_explicit(&listeners[i], memory_order_acquire);

		if (!fn)
			break;
		fn(call, message, id);
	}
	errno = saved;
}

int range_listen_end(range_end_fn fn)
{
	for (int i = 0; i < RANGE_MAX_LISTENERS; i++) {
		range_end_fn there = NULL;

		/* release: pairs with the acquire in notify_end_slow() */
		if (atomic_compare_exchange_strong_explicit(&end_listeners[i], &there, fn,
							    memory_order_release,
							    memory_order_relaxed) ||
		    there == fn)
			return 0;
	}
	return -ENOSPC;
}

static RTL_NOINLINE void notify_end_slow(enum range_call call, uint64_t result)
{
	int saved = errno;

	for (int i = 0; i < RANGE_MAX_LISTENERS; i++) {
		range_end_fn fn = atomic_load_explicit(&end_listeners[i], memory_order_acquire);

		if (!fn)
			break;
		fn(call, result);
	}
	errno = saved;
}

static inline void notify_end(enum range_call call, uint64_t result)
{
	/* relaxed: as notify() */
	if (RTL_UNLIKELY(atomic_load_explicit(&end_listeners[0], memory_order_relaxed) != NULL))
		notify_end_slow(call, result);
}

static inline void notify(enum range_call call, const char *message, uint64_t id)
{
	/* relaxed: a call that misses a new listener counts as made before it */
	if (RTL_UNLIKELY(atomic_load_explicit(&listeners[0], memory_order_relaxed) != NULL))
		notify_slow(call, message, id);
}

void range_front(const void *fn)
{
	Dl_info info;

	if (!dladdr(fn, &info))
		return;
	for (int i = 0; i < RANGE_MAX_LISTENERS; i++) {
		void *there = NULL;

		/* relaxed: only the address is used */
		if (atomic_compare_exchange_strong_explicit(&fronts[i], &there, info.dli_fbase,
							    memory_order_relaxed,
							    memory_order_relaxed) ||
		    there == info.dli_fbase)
			return;
	}
}

static bool is_front(const void *base)
{
	for (int i = 0; i < RANGE_MAX_LISTENERS; i++) {
		if (atomic_load_explicit(&fronts[i], memory_order_relaxed) == base)
			return true;
	}
	return false;
}

/* Whether the function is librtl's, found through a library that depends on librtl, or a
 * front's. */
static bool is_our_own(const void *fn)
{
	Dl_info ours, theirs;

	return fn && dladdr(fn, &theirs) && dladdr((void *)range_mark, &ours) &&
	       (theirs.dli_fbase == ours.dli_fbase || is_front(theirs.dli_fbase));
}

/* NULL: the library has no such function, or ours. */
static void *look_up(void *handle, const char *name)
{
	void *fn = dlsym(handle, name);

	/* the program must not find our failure in dlerror() */
	if (!fn)
		dlerror();
	return is_our_own(fn) ? NULL : fn;
}

/* Functions that libroctx64 lacks. */
static void resolve_more(void *handle, struct real_roctx *r)
{
	static const char *const names[RANGE_NR_NAMES] = { "roctxNameOsThread", "roctxNameHsaAgent",
							   "roctxNameHipDevice",
							   "roctxNameHipStream" };

	r->pause = (int (*)(uint64_t))look_up(handle, "roctxProfilerPause");
	r->resume = (int (*)(uint64_t))look_up(handle, "roctxProfilerResume");
	r->thread_id = (int (*)(uint64_t *))look_up(handle, "roctxGetThreadId");
	for (uint32_t i = 0; i < RANGE_NR_NAMES; i++)
		r->names[i] = look_up(handle, names[i]);
}

/* Looks the functions up by `handle`: RTLD_NEXT or a library. Succeeds only if all five of ranges
 * and marks are found.
 */
static bool resolve(void *handle)
{
	struct real_roctx r;

	r.mark = (void (*)(const char *))dlsym(handle, "roctxMarkA");
	r.push = (int (*)(const char *))dlsym(handle, "roctxRangePushA");
	r.pop = (int (*)(void))dlsym(handle, "roctxRangePop");
	r.start = (uint64_t(*)(const char *))dlsym(handle, "roctxRangeStartA");
	r.stop = (void (*)(uint64_t))dlsym(handle, "roctxRangeStop");
	if (!r.mark || !r.push || !r.pop || !r.start || !r.stop)
		return false;
	if (is_our_own((const void *)r.mark))
		return false;
	resolve_more(handle, &r);
	found = r;
	return true;
}

static void look_for_real(void)
{
	static const char *const names[] = { "libroctx64.so.4", "libroctx64.so.1",
					     "libroctx64.so" };
	static _Atomic bool looking;

	if (atomic_exchange_explicit(&looking, true, memory_order_acquire))
		return;
	if (!atomic_load_explicit(&real_lib, memory_order_relaxed)) {
		bool ok = resolve(RTLD_NEXT);

		for (unsigned i = 0; !ok && i < sizeof(names) / sizeof(names[0]); i++) {
			/* RTLD_NOLOAD: only a library that the program has loaded itself */
			void *lib = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

			ok = lib && resolve(lib);
		}
		if (ok) /* pairs with the acquire in get_real() */
			atomic_store_explicit(&real_lib, &found, memory_order_release);
	}
	atomic_store_explicit(&looking, false, memory_order_release);
}

static const struct real_roctx *get_real(void)
{
	struct real_roctx *r = atomic_load_explicit(&real_lib, memory_order_acquire);
	uint64_t n;

	if (r)
		return r;
	n = atomic_fetch_add_explicit(&nr_calls, 1, memory_order_relaxed) + 1;
	if ((n & (n - 1)) == 0)
		look_for_real();
	return atomic_load_explicit(&real_lib, memory_order_acquire);
}

static struct stack *grow(struct thread *t)
{
	struct stack *old = t->marker_stack;
	size_t size = old ? old->size * 2 : STACK_BYTES;
	struct stack *s;

	if (old && old->capacity >= MAX_DEPTH)
		return NULL;
	s = alloc_pages(size);
	if (!s)
		return NULL;
	s->size = size;
	s->capacity = (uint32_t)((size - sizeof(*s)) / sizeof(s->marker[0]));
	if (old) {
		memcpy(s->marker, old->marker, old->capacity * sizeof(s->marker[0]));
		alloc_pages_free(old, old->size);
	}
	t->marker_stack = s;
	return s;
}

static void on_thread_exit(struct thread *t)
{
	struct stack *s = t->marker_stack;

	for (uint32_t i = 0; s && i < t->stack_depth && i < s->capacity; i++)
		if (s->marker[i] & SELECTED)
			selection_close();
	/* a later destructor may open ranges again */
	t->marker_stack = NULL;
	t->stack_depth = 0;
	t->marker = 0;
	if (s)
		alloc_pages_free(s, s->size);
}

static uint64_t emit(struct thread *t, enum rec_marker_kind kind, uint64_t id, const char *message,
		     uint64_t time_ns)
{
	struct event ev = { .kind = EVENT_MARKER };

	if (!bus_wants(EVENT_MARKER))
		return id;
	ev.marker.time_ns = time_ns;
	ev.marker.marker = id;
	ev.marker.parent = t->marker;
	ev.marker.kind = kind;
	ev.marker.level = t->stack_depth;
	ev.marker.tid = t->tid;
	ev.marker.text = message;
	ev.marker.size = (uint32_t)strnlen(message, UINT32_MAX / 2);
	bus_emit_wanted(&ev);
	return id;
}

static uint64_t new_marker(void)
{
	return 2 * atomic_fetch_add_explicit(&next_marker, 1, memory_order_relaxed);
}

static void emit_end(struct thread *t, uint64_t marker, uint64_t time_ns)
{
	struct event ev = { .kind = EVENT_MARKER_END };

	ev.end.id = t->tid;
	ev.end.marker = marker;
	ev.end.time_ns = time_ns;
	bus_emit(&ev);
}

/* Starts the trace with the first call; false: this call is not recorded. */
static bool enter(struct thread **t)
{
	if (!life_on() && !life_start())
		return false;
	return life_enter(t);
}

/* For the begin of a marker: it is left out while recording is paused. */
static bool enter_new(struct thread **t)
{
	if (!enter(t))
		return false;
	if (RTL_LIKELY(!pause_is_on()))
		return true;
	bus_loss(SPOOL_REASON_paused, 1);
	life_leave(*t);
	return false;
}

void range_mark(const char *message)
{
	const struct real_roctx *r = get_real();
	struct thread *t;

	notify(RANGE_MARK, message, 0);
	message = message ? message : "";
	if (enter_new(&t)) {
		emit(t, REC_MARKER_MARK, new_marker(), message, clock_now_ns());
		life_leave(t);
	}
	if (r)
		r->mark(message);
	notify_end(RANGE_MARK, 0);
}

int range_push(const char *message)
{
	const struct real_roctx *r = get_real();
	struct thread *self = thread_get(), *t;
	struct stack *s;
	uint64_t id = 0;
	bool selected;
	int level;

	notify(RANGE_PUSH, message, 0);
	s = self->marker_stack;
	level = (int)self->stack_depth;
	message = message ? message : "";
	selected = selection_open(message);
	if (r)
		level = r->push(message);
	if (enter_new(&t)) {
		id = emit(t, REC_MARKER_PUSH, new_marker(), message, clock_now_ns());
		life_leave(t);
	}
	if (!s || self->stack_depth >= s->capacity)
		s = grow(self);
	if (s && self->stack_depth < s->capacity)
		s->marker[self->stack_depth] = id | (selected ? SELECTED : 0);
	else if (selected)
		selection_close();
	/* without memory the depth is still counted, so that levels stay correct */
	self->stack_depth++;
	if (id)
		self->marker = id;
	notify_end(RANGE_PUSH, (uint64_t)(int64_t)level);
	return level;
}

static uint64_t innermost(const struct stack *s, uint32_t depth)
{
	while (s && depth > 0) {
		depth--;
		if (depth < s->capacity && s->marker[depth] & ~SELECTED)
			return s->marker[depth] & ~SELECTED;
	}
	return 0;
}

int range_pop(void)
{
	const struct real_roctx *r = get_real();
	struct thread *self = thread_get(), *t;
	struct stack *s;
	uint64_t id = 0;
	int level;

	notify(RANGE_POP, NULL, 0);
	s = self->marker_stack;
	level = (int)self->stack_depth - 1;
	if (self->stack_depth) {
		self->stack_depth--;
		if (s && self->stack_depth < s->capacity)
			id = s->marker[self->stack_depth];
		self->marker = innermost(s, self->stack_depth);
	}
	if (id & ~SELECTED && enter(&t)) {
		emit_end(t, id & ~SELECTED, clock_now_ns());
		life_leave(t);
	}
	if (RTL_UNLIKELY(id & SELECTED))
		selection_close();
	if (r)
		level = r->pop();
	notify_end(RANGE_POP, (uint64_t)(int64_t)level);
	return level;
}

static struct pair *slot_of(uint64_t id)
{
	return &map[(uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (MAP_SIZE - MAP_WINDOW)];
}

static void remember(uint64_t ours, uint64_t theirs)
{
	struct pair *p = slot_of(ours);

	for (uint32_t i = 0; i < MAP_WINDOW; i++, p++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong_explicit(&p->ours, &none, ours,
							    memory_order_acq_rel,
							    memory_order_relaxed)) {
			/* the program gets `ours` only after this, so no thread looks it up
			 * before */
			atomic_store_explicit(&p->theirs, theirs, memory_order_relaxed);
			return;
		}
	}
	log_warn("range %llu: too many ranges are open; a loaded libroctx64 will miss its end",
		 (unsigned long long)ours);
}

static bool recall(uint64_t ours, uint64_t *theirs)
{
	struct pair *p = slot_of(ours);

	for (uint32_t i = 0; ours && i < MAP_WINDOW; i++, p++) {
		uint64_t expected = ours;

		/* pairs with the exchange in remember() */
		if (atomic_load_explicit(&p->ours, memory_order_acquire) != ours)
			continue;
		*theirs = atomic_load_explicit(&p->theirs, memory_order_relaxed);
		/* of two threads that stop the range one succeeds; `theirs` is read before the slot
		 * is free */
		return atomic_compare_exchange_strong_explicit(&p->ours, &expected, 0,
							       memory_order_acq_rel,
							       memory_order_relaxed);
	}
	return false;
}

uint64_t range_start(const char *message)
{
	const struct real_roctx *r = get_real();
	uint64_t id = atomic_fetch_add_explicit(&next_start, 1, memory_order_relaxed);
	struct thread *t;

	notify(RANGE_START, message, id);
	message = message ? message : "";
	selection_start(id, message);
	if (enter_new(&t)) {
		emit(t, REC_MARKER_START, 2 * id + 1, message, clock_now_ns());
		life_leave(t);
	}
	if (r)
		remember(id, r->start(message));
	notify_end(RANGE_START, id);
	return id;
}

void range_stop(uint64_t id)
{
	const struct real_roctx *r = get_real();
	uint64_t theirs;
	struct thread *t;

	notify(RANGE_STOP, NULL, id);
	if (enter(&t)) {
		emit_end(t, 2 * id + 1, clock_now_ns());
		life_leave(t);
	}
	selection_stop(id);
	if (r && recall(id, &theirs))
		r->stop(theirs);
	notify_end(RANGE_STOP, 0);
}

int range_profiler(bool resume, uint64_t tid)
{
	const struct real_roctx *r = get_real();
	int (*fn)(uint64_t) = NULL;
	int status;

	notify(resume ? RANGE_RESUME : RANGE_PAUSE, NULL, tid);
	/* a tid may select one thread; recording has no parts, as AMD's tools */
	pause_ask(resume);
	if (r)
		fn = resume ? r->resume : r->pause;
	status = fn ? fn(tid) : 0;
	notify_end(resume ? RANGE_RESUME : RANGE_PAUSE, (uint64_t)(int64_t)status);
	return status;
}

int range_thread_id(uint64_t *tid)
{
	const struct real_roctx *r = get_real();
	int status = 0;

	notify(RANGE_THREAD_ID, NULL, (uintptr_t)tid);
	if (r && r->thread_id)
		status = r->thread_id(tid);
	else if (tid)
		*tid = thread_get()->tid;
	notify_end(RANGE_THREAD_ID, (uint64_t)(int64_t)status);
	return status;
}

/* By the function's own type: a device is an int. */
static int name_real(void *fn, enum range_call call, const char *name, uint64_t of)
{
	switch (call) {
	case RANGE_NAME_OS_THREAD:
		return ((int (*)(const char *))fn)(name);
	case RANGE_NAME_HIP_DEVICE:
		return ((int (*)(const char *, int))fn)(name, (int)of);
	default:
		return ((int (*)(const char *, const void *))fn)(name, (const void *)(uintptr_t)of);
	}
}

int range_name(enum range_call call, const char *name, uint64_t of)
{
	const struct real_roctx *r = get_real();
	void *fn = r ? r->names[call - RANGE_NAME_OS_THREAD] : NULL;
	int status;

	notify(call, name, of);
	status = fn ? name_real(fn, call, name, of) : 0;
	notify_end(call, (uint64_t)(int64_t)status);
	return status;
}

void range_init(void)
{
	thread_at_exit(THREAD_EXIT_RANGES, on_thread_exit);
}

const struct source range_source = { .name = "roctx" };
