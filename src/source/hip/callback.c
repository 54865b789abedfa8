/* SPDX-License-Identifier: MIT */
/* callback.c - HIP calls recorded by the runtime's own callbacks
 *
 * hipRegisterActivityCallback() of HIP up to 5.3: at the begin of a call the runtime asks for a
 * structure and writes the arguments into it; at its end it calls back again. It does not pass the
 * status (status.h).
 *
 * Turning callbacks on changes the runtime: from then on it takes GPU timestamps of its own. In HIP
 * 5.2 a call that is in progress on any thread at that moment ends the process ("sem corrupted").
 * So they are turned on at one moment only, when the first HIP call loads HSA's runtime, before
 * another call can be in progress; and never off.
 *
 * Threads:  callback_on_runtime() under ROCr's init lock; the rest any.
 * Hot path: callback_begin(), callback_end() - no lock, no allocation.
 * Fails:    where that moment has passed calls are not recorded, and operations without a call are
 *           counted.
 */
#define LOG_TOPIC "hip"
#include "source/hip/callback.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "event/corr.h"
#include "event/join.h"
#include "event/left_out.h"
#include "event/pause.h"
#include "event/special.h"
#include "hip_ops_gen.h"
#include "source/hip/activity_internal.h"
#include "source/hip/frame.h"
#include "source/hip/status.h"

/* atomic */
_Atomic bool callback_on;
static _Atomic uint64_t nr_orphans;
static _Atomic bool is_loaded;

/* Handles that it frees may become another kernel's before the call returns, as in the wrappers. */
static bool unloads(uint32_t op)
{
	return op == HIP_OP_hipModuleUnload || op == HIP_OP_hipLibraryUnload;
}

void callback_begin(uint32_t id, struct live_frame *f)
{
	const struct hip_callback *c = release_callback(id);

	uint16_t flags = 0;

	/* refuses calls within a recorded one */
	f->is_recorded = false;
	if (c && hip_ops[c->op].step == API_LAUNCHES)
		flags = thread_take_configured();
	if (c && api_is_left_out(API_HIP, c->op)) {
		api_leave_out(API_HIP, f->height);
		/* its end may not be seen: the next call is not within it */
		thread_self.domain_left_out = 0;
	} else if (c) {
		f->is_recorded = api_enter_slow(API_HIP, &f->record, f->height);
	}
	if (!f->is_recorded)
		return;
	f->record.flags = flags;
	callback_status_before(c->op, f);
	if (RTL_UNLIKELY(unloads(c->op)))
		hip_forget_names();
}

void callback_end(uint32_t id, struct live_frame *f)
{
	const struct hip_callback *c = release_callback(id);
	const struct hip_data *data = f->call.args;
	uint64_t words[REC_API_MAX_WORDS];
	uint32_t nr = 0;

	callback_status_after(f);
	if (api_args)
		nr = c->decode(data->args, words, f->status == 0);
	if (RTL_UNLIKELY(unloads(c->op)))
		hip_forget_names();
	hip_leave(c->op, &f->record, f->status, words, nr);
}

static bool turn_on(void)
{
	api_define(API_HIP, hip_ops, hip_named, hip_entries, hip_ordinary, hip_nr_ops);
	if (status_find() && activity_turn_on())
		return true;
	log_warn("this HIP runtime's callbacks are of a kind that is not known; HIP calls are not "
		 "recorded");
	return false;
}

/* An operation on a thread that is not in a call: a thread of the runtime, or no provider has seen
 * the call. */
static bool on_orphan(void)
{
	uint64_t n;

	/* join.c counts those whose call it can't find */
	if (join_is_on())
		return false;
	if (atomic_load_explicit(&is_loaded, memory_order_relaxed))
		return true;
	n = atomic_fetch_add_explicit(&nr_orphans, 1, memory_order_relaxed) + 1;
	/* HIP may be loaded at any time: look for it whenever their number has doubled, and after a
	 * wrapper was called */
	if (((n & (n - 1)) != 0 && !atomic_load_explicit(&hip_started, memory_order_relaxed)) ||
	    !hip_is_loaded())
		return false;
	atomic_store_explicit(&is_loaded, true, memory_order_relaxed);
	return true;
}

/* The first HIP call did not come through our symbols: librtl is not preloaded. Where it is, the
 * program itself called hsa_init(). */
static void warn_of_missed_calls(void)
{
	const char *preload = getenv("LD_PRELOAD");

	if (preload && strstr(preload, "librtl.so"))
		return;
	log_warn("HIP calls are not recorded: librtl.so.1 is not preloaded; use rtl trace, or "
		 "RTL_HIP_BACKEND=callback, which changes how the runtime works");
}

/* HIP's own rule for its variable, which is on by default. */
static bool submits_from_threads(void)
{
	const char *direct = getenv("AMD_DIRECT_DISPATCH");

	/* an empty value is 0 from 5.4 on, and as if unset before */
	if (direct && !direct[0])
		return hip_find("hipRegisterTracerCallback") != NULL;
	return direct && strcmp(direct, "true") != 0 && (int)strtol(direct, NULL, 10) == 0;
}

bool callback_passes(const struct hip_callback *c)
{
	if (!c || api_has_record(API_HIP, c->op))
		return false;
	if (hip_ops[c->op].step == API_PREPARES_LAST)
		thread_self.configured = REC_F_CONFIGURED;
	return true;
}

RTL_NO_TSAN bool callback_leaves_out(const struct hip_callback *c, uintptr_t height)
{
	struct thread *t = &thread_self;

	if (!c || !api_is_left_out(API_HIP, c->op) || special_any(SPECIAL_NOT_ON) ||
	    t->kept_out_or_inside || t->corr_current)
		return false;
	if (t->call_left_out) {
		/* else that call is over, as in api_enter_slow() */
		if (pause_is_on() || (height < t->call_left_out && t->domain_left_out))
			return false;
		thread_leave_out(t, 0);
	}
	/* as HIP_LEFT() does */
	if (RTL_UNLIKELY(++*t->left_out < 0)) {
		left_out_begin();
		return false;
	}
	if (hip_ops[c->op].step == API_LAUNCHES)
		t->configured = 0;
	return true;
}

bool callback_on_runtime(void)
{
	const char *backend = env_str(ENV_HIP_BACKEND);

	if (strcmp(env_str(ENV_MODE), "hip") != 0 || callback_is_on())
		return callback_is_on();
	/* callbacks may miss a call as well. release: pairs with the acquire in corr_take() */
	atomic_store_explicit(&corr_orphan, on_orphan, memory_order_release);
	if (strcmp(backend, "callback") == 0 && hip_is_loaded() && turn_on()) {
		atomic_store_explicit(&callback_on, true, memory_order_relaxed);
		special_set(SPECIAL_HIP_SHOWN, true);
		if (submits_from_threads())
			activity_join();
		return true;
	}
	if (strcmp(backend, "auto") == 0 && hip_is_loaded() && !api_inside(API_HIP) &&
	    !thread_self.call_left_out)
		warn_of_missed_calls();
	/* calls are recorded, but not on HIP's threads, which submit the packets */
	if ((api_inside(API_HIP) || thread_self.call_left_out) && submits_from_threads())
		activity_join();
	return false;
}
