/* SPDX-License-Identifier: MIT */
/* markers.c - librocprofiler-sdk: calls of roctx become callbacks and records
 *
 * Owns:     how deep each thread is in calls of roctx: tools may make such calls themselves.
 * Threads:  any.
 * Hot path: on_begin(), on_end(): as calls.c.
 */
#include <string.h>
#include <unistd.h>

#include "sdk.h"

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
};

static const struct rtl_core *core;
/* calls that have begun; the address of an element is the owner of a block */
static _Thread_local uint32_t depth;
static _Thread_local char owners[16];
#define MAX_DEPTH ((uint32_t)sizeof(owners))

/* The first member of each argument structure. */
static void fill(struct shown_call *s, enum range_call call, const char *message, uint64_t id)
{
	rocprofiler_callback_tracing_marker_api_data_t *m = &s->payload.marker;

	memset(m, 0, sizeof(*m));
	m->size = sizeof(*m);
	if (call == RANGE_MARK || call == RANGE_PUSH || call == RANGE_START)
		m->args.roctxMarkA.message = message;
	else if (call != RANGE_POP && call != RANGE_PUSH)
		m->args.roctxRangeStop.id = id;
}

static void on_begin(enum range_call call, const char *message, uint64_t id)
{
	const struct marker *m = &markers[call];
	uint32_t level = depth++;
	struct shown_wish wish;
	struct shown_call *s;

	registration_first_use();
	if (level >= MAX_DEPTH || registration_is_over())
		return;
	wish = shown_wish_of(m->kind, m->operation);
	s = shown_wish_any(&wish) ? shown_call_get(&owners[level]) : NULL;
	if (!s)
		return;
	s->wish = wish;
	s->kind = m->kind;
	s->operation = m->operation;
	s->tid = (uint64_t)gettid();
	s->correlation = (rocprofiler_correlation_id_t){ .internal = core->corr_new_id() };
	fill(s, call, message, id);
	shown_call_begin(s, (rocprofiler_external_correlation_id_request_kind_t)m->kind);
	if (wish.recorded)
		s->begin_ns = core->now_ns();
}

static void on_end(enum range_call call, uint64_t result)
{
	struct shown_call *s;

	(void)call;
	if (!depth)
		return;
	depth--;
	s = depth < MAX_DEPTH ? shown_call_find(&owners[depth]) : NULL;
	if (!s || !shown_wish_any(&s->wish))
		return;
	if (s->wish.recorded)
		s->end_ns = core->now_ns();
	memcpy(&s->payload.marker.retval, &result, sizeof(result));
	shown_call_end(s);
}

void markers_start(const struct rtl_core *of)
{
	core = of;
	core->range_listen(on_begin);
	core->range_listen_end(on_end);
}
