/* SPDX-License-Identifier: MIT */
/* tracer.c - HIP's calls while they run, by the callback of HIP 5.4 and later
 *
 * The runtime calls one function, tracer(). At the begin of each call tracer() says whether the
 * call is of interest, and gets a block of the runtime's stack, into which the runtime then writes
 * the arguments. Behind them tracer() puts the functions to call when they have been written and
 * when the call has ended. The block is as large as the release's hip_api_data_t, which grows: only
 * releases of which every call is known are served.
 *
 * Unlike with the callbacks of 5.3 and before, setting the function is one store and may be done at
 * any time, and commands get no timestamps unless operations are wanted.
 *
 * Owns:     the runtime's one pointer to such a function: an earlier tool's function is replaced.
 * Threads:  any.
 * Hot path: tracer(), on_enter(), on_leave(): no lock, no allocation but for live.c's frames.
 */
#define LOG_TOPIC "hip"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/join.h"
#include "hip_ops_gen.h"
#include "source/hip/frame.h"
#include "source/hip/activity_internal.h"
#include "source/hip/release.h"

/* activity_domain_t */
enum { DOMAIN_HIP_OPS = 2, DOMAIN_HIP_API = 3 };

/* Follows hip_api_data_t in the runtime's block. */
struct tail {
	uint32_t phase, awaited; /* ours; a time stamp in AMD's tools */
	uint64_t phase_data;
	void (*enter)(uint32_t id, void *block);
	void (*leave)(uint32_t id, void *block);
};

/* The runtime passes a call's number back with each operation that the call submitted. Bits that no
 * correlation id uses hold the subscribers that did not want the operation, and the phase. */
#define UNWANTED_SHIFT 55
#define ALL_SUBSCRIBERS ((1u << LIVE_MAX_SUBSCRIBERS) - 1)
#define UNWANTED ((uint64_t)ALL_SUBSCRIBERS << UNWANTED_SHIFT)
#define PHASE_SHIFT 62
#define OURS (UNWANTED | UINT64_C(1) << PHASE_SHIFT)
_Static_assert(UNWANTED_SHIFT + LIVE_MAX_SUBSCRIBERS <= PHASE_SHIFT, "a bit for each");
_Static_assert((JOIN_ID & OURS) == 0, "ids and these bits do not overlap");

/* How many commands have been made and not been reported, in two phases. A call that waits for
 * commands begins a new phase if the previous one has no more commands. The commands made before it
 * are in the phases that it awaits. */
static _Atomic uint32_t phase;
static _Atomic uint64_t pending[2];
static _Atomic uint32_t owed; /* phases that calls have waited for, a bit each */
#define SETTLE_STEP_NS 100000
#define SETTLE_STEPS 2000

/* set in tracer_turn_on(), constant after */
static uint32_t data_size;
static bool announces;

static void on_enter(uint32_t id, void *block)
{
	struct hip_data *data = block;

	/* the runtime has read the number; clients see the correlation id alone */
	data->correlation &= ~OURS;
	data->phase = 0;
	activity_args_are_there(id, data);
}

/* Whether the call returns only when what was submitted before has completed: those that programs
 * use for that. */
static bool is_wait(uint32_t id)
{
	const struct hip_callback *c = release_callback(id);

	switch (c ? c->op : HIP_OP_NR) {
	case HIP_OP_hipDeviceSynchronize:
	case HIP_OP_hipStreamSynchronize:
	case HIP_OP_hipEventSynchronize:
	case HIP_OP_hipMemcpy:
	case HIP_OP_hipMemcpyDtoH:
		return true;
	default:
		return false;
	}
}

/* The phases of all commands that were made before. */
static uint32_t begin_wait(void)
{
	uint32_t p = atomic_load_explicit(&phase, memory_order_relaxed);

	if (atomic_load_explicit(&pending[!p], memory_order_relaxed))
		return 3;
	atomic_store_explicit(&phase, !p, memory_order_relaxed);
	return 1u << p;
}

static void on_leave(uint32_t id, void *block)
{
	const struct tail *tail = (const struct tail *)((const char *)block + data_size);
	struct hip_data *data = block;

	if (tail->awaited)
		atomic_fetch_or_explicit(&owed, tail->awaited, memory_order_relaxed);
	data->phase = 1;
	activity_args_are_there(id, data);
	activity_end(id);
}

static bool begin_call(uint32_t id, void *block, uintptr_t height)
{
	struct tail *tail = (struct tail *)((char *)block + data_size);
	struct hip_data *data = activity_begin(id, height, block);

	if (!data)
		return false;
	/* the last member of hip_api_data_t points to memory that clients keep from enter to
	 * exit */
	((uint64_t **)(void *)tail)[-1] = &tail->phase_data;
	tail->phase_data = 0;
	tail->awaited = is_wait(id) ? begin_wait() : 0;
	tail->phase = atomic_load_explicit(&phase, memory_order_relaxed);
	data->correlation |= (uint64_t)tail->phase << PHASE_SHIFT;
	data->correlation |= (uint64_t)(~activity_wanted_now() & ALL_SUBSCRIBERS) << UNWANTED_SHIFT;
	tail->enter = on_enter;
	tail->leave = on_leave;
	return true;
}

static void end_op(uint32_t op, const struct hip_record *from)
{
	struct hip_record clean = *from;
	const struct hip_record *r = &clean;
	struct activity_op out = { .op = op };
	uint32_t wanted = ~(uint32_t)(from->number >> UNWANTED_SHIFT);

	clean.number &= ~OURS;
	/* no call that was seen submitted it */
	if (!from->number)
		wanted = activity_wanted_now();

	/* the number is the call's correlation id: the runtime read it from the block */
	out.correlation = r->number;
	out.kind = r->kind;
	out.begin_ns = r->begin_ns;
	out.end_ns = r->end_ns;
	out.queue = r->queue;
	out.device = r->device;
	/* a dispatch has its kernel's name instead of bytes */
	if (op == 0)
		out.kernel = (const char *)(uintptr_t)r->bytes;
	else
		out.bytes = r->bytes;
	activity_join_op(r);
	activity_report_op(&out, wanted);
}

/* Instead of a record: a question whether operations are wanted, before the thread makes a command;
 * and from 7.2 on, which asks more often than that, the announcement of a record. */
#define ASKS NULL
#define ANNOUNCES ((void *)(uintptr_t)1)

static void count_made(const void *data_of_op)
{
	const char *data = activity_current_data();

	if (data_of_op == (announces ? ANNOUNCES : ASKS) && data)
		atomic_fetch_add_explicit(
			&pending[((const struct tail *)(data + data_size))->phase], 1,
			memory_order_relaxed);
}

static void count_over(uint64_t number)
{
	_Atomic uint64_t *of = &pending[number >> PHASE_SHIFT & 1];
	uint64_t n = atomic_load_explicit(of, memory_order_relaxed);

	/* 0: tracer_settle() has given up waiting for it; release: subscribers have had the
	 * operation */
	while (n && !atomic_compare_exchange_weak_explicit(of, &n, n - 1, memory_order_release,
							   memory_order_relaxed))
		;
}

static bool is_pending(uint32_t phases)
{
	/* acquire: pairs with count_over() */
	return (phases & 1 && atomic_load_explicit(&pending[0], memory_order_acquire)) ||
	       (phases & 2 && atomic_load_explicit(&pending[1], memory_order_acquire));
}

void tracer_settle(void)
{
	const struct timespec step = { 0, SETTLE_STEP_NS };
	uint32_t phases = atomic_load_explicit(&owed, memory_order_relaxed);
	int saved = errno;

	for (int i = 0; i < SETTLE_STEPS && is_pending(phases); i++)
		sys_nap(&step);
	/* some commands are never reported: do not wait for them again */
	for (uint32_t p = 0; p < 2; p++)
		if (is_pending(phases & 1u << p))
			atomic_store_explicit(&pending[p], 0, memory_order_relaxed);
	atomic_fetch_and_explicit(&owed, ~phases, memory_order_relaxed);
	errno = saved;
}

/* An operation, a question or an announcement. Returns whether operations are wanted. Preserves
 * errno. */
static bool see_op(uint32_t op, const void *data)
{
	bool wanted = activity_wants_ops();
	const struct hip_record *r = data;
	int saved = errno;

	if (data == ASKS || data == ANNOUNCES) {
		if (wanted)
			count_made(data);
		return wanted;
	}
	if (wanted)
		end_op(op, r);
	/* 0: not made in a call that was seen */
	if (r->number)
		count_over(r->number);
	errno = saved;
	return wanted;
}

/* Returns 0 if the call or operation is of interest. */
static int tracer(uint32_t domain, uint32_t id, void *data)
{
	if (domain == DOMAIN_HIP_API && data)
		return begin_call(id, data, RTL_FRAME()) ? 0 : 1;
	return domain == DOMAIN_HIP_OPS && see_op(id, data) ? 0 : 1;
}

uint32_t tracer_turn_on(void)
{
	void (*set)(int (*fn)(uint32_t, uint32_t, void *));
	const struct hip_release *r;

	set = (void (*)(int (*)(uint32_t, uint32_t, void *)))hip_find("hipRegisterTracerCallback");
	if (!set)
		return 0;
	r = release_exact((const char *(*)(uint32_t))hip_find("hipApiName"));
	if (!r)
		return 0;
	data_size = r->data_size;
	announces = r >= &hip_releases[HIP_RELEASE_7_2];
	set(tracer);
	log_info("callbacks as in HIP %s", r->version);
	return r->nr_callbacks - 1;
}
