/* SPDX-License-Identifier: MIT */
/* scratch.c - records of scratch memory that the runtime allocates, frees and takes back for queues
 *
 * A kernel that needs more scratch memory than its queue has makes the queue wait; a thread of the
 * runtime then allocates it.
 *
 * Threads:  the runtime's own, and one that destroys a queue.
 * Fails:    an event of which one half came within a hook is librtl's own, and is not recorded.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/memory/scratch.h"

#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/life.h"
#include "source/hsa/agent.h"
#include "source/hsa/memory/scratch_hooks.h"

void scratch_queue_ends(const struct queue *q)
{
	thread_self.queue_ending = q;
}

static void begin(const struct scratch_event *e, uint32_t kind)
{
	struct thread *t;

	(void)e;
	if (!life_enter(&t))
		return;
	t->scratch_begin_ns[kind] = 0;
	if (pause_is_on())
		bus_loss(SPOOL_REASON_paused, 1);
	else
		t->scratch_begin_ns[kind] = clock_now_ns();
	life_leave(t);
}

static void emit(struct thread *t, const struct scratch_event *e, uint32_t kind)
{
	bool is_alloc = kind == REC_SCRATCH_ALLOC;
	const struct queue *live = queue_find(e->queue), *q = live ? live : t->queue_ending;
	struct event ev = { .kind = EVENT_SCRATCH };

	ev.scratch.begin_ns = t->scratch_begin_ns[kind];
	ev.scratch.end_ns = clock_now_ns();
	ev.scratch.kind = kind;
	ev.scratch.tid = t->tid;
	ev.scratch.queue = q ? q->index : UINT32_MAX;
	ev.scratch.alloc_flags = (uint32_t)e->flags;
	if (!corr_is_left_out(t->corr_current))
		ev.scratch.correlation = t->corr_current & EVENT_ID;
	if (is_alloc) {
		ev.scratch.packet = e->dispatch_id;
		ev.scratch.bytes = e->size;
		ev.scratch.waves = (uint32_t)e->num_slots;
	}
	if (q && agent_is_left_out(queue_agent(q)))
		bus_loss(SPOOL_REASON_filtered_gpu, 1);
	else
		bus_emit(&ev);
}

static void end(const struct scratch_event *e, uint32_t kind)
{
	struct thread *t;

	if (!life_enter(&t))
		return;
	if (t->scratch_begin_ns[kind])
		emit(t, e, kind);
	t->scratch_begin_ns[kind] = 0;
	life_leave(t);
}

SCRATCH_HOOKS(REC_SCRATCH_ALLOC, REC_SCRATCH_FREE, REC_SCRATCH_RECLAIM)

/* A fact about the process, which rtl rocprofv3 reads. */
static void report_missing(void)
{
	struct event ev = { .kind = EVENT_INFO };

	ev.info.key = bus_string("scratch", SIZE_MAX);
	ev.info.value = bus_string("not reported by the runtime", SIZE_MAX);
	bus_emit(&ev);
	if (strcmp(env_str(ENV_SCRATCH), "auto") != 0)
		log_warn(
			"scratch memory: this HSA runtime does not report what it does with it; that of ROCm 6.1 and later does");
}

void scratch_install(const struct hsa_mirror_root *root)
{
	if (strcmp(env_str(ENV_SCRATCH), "0") != 0 && !hook_tools(root))
		report_missing();
}
