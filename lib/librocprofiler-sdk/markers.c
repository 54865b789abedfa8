/* SPDX-License-Identifier: MIT */
/* markers.c - librocprofiler-sdk: calls of roctx become callbacks and records
 *
 * Owns:     how deep each thread is in calls of roctx: tools may make such calls themselves.
 * Threads:  any.
 * Hot path: on_begin(), on_end(): as calls.c.
 */
#include "markers.h"

#include <string.h>
#include <unistd.h>

#include "base/callout.h"
#include "correlate.h"
#include "effects.h"
#include "marker_ranges.h"
#include "shown.h"
#include "state.h"

struct marker {
	uint8_t kind, operation;
};

/* By enum range_call: the kinds' numbers have the order of AMD's tables. */
static const struct marker markers[] = {
	[RANGE_MARK] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
			 ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA },
	[RANGE_PUSH] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
			 ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA },
	[RANGE_POP] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
			ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop },
	[RANGE_START] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
			  ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA },
	[RANGE_STOP] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
			 ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop },
	[RANGE_PAUSE] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
			  ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause },
	[RANGE_RESUME] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
			   ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerResume },
	[RANGE_THREAD_ID] = { ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
			      ROCPROFILER_MARKER_CORE_API_ID_roctxGetThreadId },
	[RANGE_NAME_OS_THREAD] = { ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
				   ROCPROFILER_MARKER_NAME_API_ID_roctxNameOsThread },
	[RANGE_NAME_HSA_AGENT] = { ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
				   ROCPROFILER_MARKER_NAME_API_ID_roctxNameHsaAgent },
	[RANGE_NAME_HIP_DEVICE] = { ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
				    ROCPROFILER_MARKER_NAME_API_ID_roctxNameHipDevice },
	[RANGE_NAME_HIP_STREAM] = { ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
				    ROCPROFILER_MARKER_NAME_API_ID_roctxNameHipStream },
};

static const struct rtl_core *core;
/* calls that have begun; the address of an element is the owner of a block */
static _Thread_local uint32_t depth;
static _Thread_local char owners[16];
#define MAX_DEPTH ((uint32_t)sizeof(owners))

/* Each argument structure has the text, the number, or both in this order. */
static void fill(struct shown_call *s, enum range_call call, const char *text, uint64_t number)
{
	rocprofiler_callback_tracing_marker_api_data_t *m = &s->payload.marker;

	memset(m, 0, sizeof(*m));
	m->size = sizeof(*m);
	switch (call) {
	case RANGE_MARK:
	case RANGE_PUSH:
	case RANGE_START:
		m->args.roctxMarkA.message = text;
		break;
	case RANGE_POP:
		break;
	case RANGE_STOP:
	case RANGE_PAUSE:
	case RANGE_RESUME:
	case RANGE_THREAD_ID:
		m->args.roctxRangeStop.id = number;
		break;
	default:
		m->args.roctxNameHipStream.name = text;
		memcpy(&m->args.roctxNameHipStream.stream, &number, sizeof(number));
	}
}

static void show_begin(enum range_call call, const char *message, uint64_t id, uint32_t level)
{
	const struct marker *m = &markers[call];
	struct shown_wish wish = shown_wish_of(m->kind, m->operation);
	struct shown_call *s = shown_wish_any(&wish) ? shown_call_get(&owners[level]) : NULL;

	if (!s)
		return;
	s->wish = wish;
	shown_call_is(s, m->kind, m->operation);
	s->tid = (uint64_t)gettid();
	s->correlation = (rocprofiler_correlation_id_t){ .internal = core->corr_new_id() };
#if ROCPROFILER_SDK_ABI > 0
	s->correlation.ancestor = correlate_now();
#endif
	fill(s, call, message, id);
	shown_call_begin(s, (rocprofiler_external_correlation_id_request_kind_t)m->kind);
	if (wish.recorded)
		s->begin_ns = core->now_ns();
}

struct begin {
	enum range_call call;
	const char *message;
	uint64_t id;
	uint32_t level;
};

static void show_both(void *arg)
{
	const struct begin *b = arg;

	state_first_use();
	if (b->level >= MAX_DEPTH || state_is_over())
		return;
	effects_runtime(EFFECTS_MARKER, ROCPROFILER_VERSION, 0);
	show_begin(b->call, b->message, b->id, b->level);
	marker_ranges_begin(b->call, b->message, b->id);
}

/* A tool has left the program's call: it has no end. */
static void leave_call(void *arg)
{
	const struct begin *b = arg;

	depth = b->level;
}

static void on_begin(enum range_call call, const char *message, uint64_t id)
{
	struct begin b = { call, message, id, depth++ };

	callout(show_both, leave_call, &b);
}

static void show_end(uint64_t result)
{
	struct shown_call *s = depth < MAX_DEPTH ? shown_call_find(&owners[depth]) : NULL;

	if (!s || !shown_wish_any(&s->wish))
		return;
	if (s->wish.recorded)
		s->end_ns = core->now_ns();
	memcpy(&s->payload.marker.retval, &result, sizeof(result));
	shown_call_end(s);
}

static void on_end(enum range_call call, uint64_t result)
{
	if (!depth)
		return;
	if (--depth < MAX_DEPTH)
		marker_ranges_end(call, result);
	show_end(result);
}

void markers_start(const struct rtl_core *of)
{
	core = of;
	core->range_listen(on_begin);
	core->range_listen_end(on_end);
}
