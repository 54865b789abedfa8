/* SPDX-License-Identifier: MIT */
/* tracer.c - HIP's calls while they run, by the callback of HIP 5.4 and later
 *
 * The runtime has one function to call, tracer(). At the begin of each call it asks whether the call is of
 * interest, with a block of its stack that it fills with the arguments if so; behind them it wants to find
 * whom to tell when they are there, and when the call is over. The block is as large as the release's
 * hip_api_data_t, which grows: only releases that are known to the last call are served.
 *
 * Unlike with the callbacks of 5.3 and before, setting the function is one store and may be done at any
 * time, and commands get no timestamps unless operations are asked for.
 *
 * Owns:     the runtime's one place for such a function: it is taken from whoever had it.
 * Threads:  any.
 * Hot path: tracer() and what it gives the runtime to call: no lock, no allocation but live.c's.
 */
#define LOG_TOPIC "hip"
#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/log.h"
#include "source/hip/frame.h"
#include "source/hip/live_told.h"
#include "source/hip/release.h"

/* activity_domain_t */
enum { DOMAIN_HIP_OPS = 2, DOMAIN_HIP_API = 3 };

/* What is behind hip_api_data_t in the runtime's block. */
struct tail {
	uint64_t enter_ns;
	uint64_t phase_data;
	void (*enter)(uint32_t id, void *block);
	void (*leave)(uint32_t id, void *block);
};

/* The runtime hands a call's number back with each operation that the call submitted: in bits that no
 * correlation id uses it has which listeners did not want to be told. */
#define UNWANTED_SHIFT 56
#define ALL_LISTENERS ((1u << LIVE_MAX_LISTENERS) - 1)
#define UNWANTED ((uint64_t)ALL_LISTENERS << UNWANTED_SHIFT)

/* set in tracer_turn_on(), constant after */
static uint32_t data_size;

static void on_enter(uint32_t id, void *block)
{
	struct told_data *data = block;
	int saved = errno;

	/* the runtime has taken the number; this is what clients see */
	data->correlation &= ~UNWANTED;
	data->phase = 0;
	live_told_args(id, data);
	errno = saved;
}

static void on_leave(uint32_t id, void *block)
{
	struct told_data *data = block;
	int saved = errno;

	data->phase = 1;
	live_told_args(id, data);
	live_told_end(id);
	errno = saved;
}

static bool begin_call(uint32_t id, void *block, uintptr_t height)
{
	struct tail *tail = (struct tail *)((char *)block + data_size);
	struct told_data *data = live_told_begin(id, height, block);

	if (!data)
		return false;
	/* what the runtime's tools keep from enter to exit, by the last member of hip_api_data_t */
	((uint64_t **)(void *)tail)[-1] = &tail->phase_data;
	tail->enter_ns = tail->phase_data = 0;
	data->correlation |= (uint64_t)(~live_told_wanted() & ALL_LISTENERS) << UNWANTED_SHIFT;
	tail->enter = on_enter;
	tail->leave = on_leave;
	return true;
}

static void end_op(uint32_t op, const struct told_op *from)
{
	struct told_op clean = *from;
	const struct told_op *told = &clean;
	struct live_op out = { .op = op };
	uint32_t wanted = ~(uint32_t)(from->number >> UNWANTED_SHIFT);

	clean.number &= ~UNWANTED;
	/* of no call that was seen */
	if (!from->number)
		wanted = live_told_wanted();

	/* the number is the correlation id of the call: the runtime took it from the block */
	out.correlation = told->number;
	out.kind = told->kind;
	out.begin_ns = told->begin_ns;
	out.end_ns = told->end_ns;
	out.queue = told->queue;
	out.device = told->device;
	/* a dispatch has its kernel's name where others have bytes */
	if (op == 0)
		out.kernel = (const char *)(uintptr_t)told->bytes;
	else
		out.bytes = told->bytes;
	live_told_join(told);
	live_told_op(&out, wanted);
}

/* 0: of interest. */
static int tracer(uint32_t domain, uint32_t id, void *data)
{
	int saved = errno;
	bool wanted = false;

	if (domain == DOMAIN_HIP_API && data) {
		wanted = begin_call(id, data, RTL_FRAME());
	} else if (domain == DOMAIN_HIP_OPS) {
		wanted = live_told_wants_ops();
		if (wanted && data)
			end_op(id, data);
	}
	errno = saved;
	return wanted ? 0 : 1;
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
	set(tracer);
	log_info("callbacks as in HIP %s", r->version);
	return r->nr_callbacks - 1;
}
