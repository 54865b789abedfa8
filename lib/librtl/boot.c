/* SPDX-License-Identifier: MIT */
/* boot.c - connects sources, sinks and the layers of HSA's tables, and reads the environment: once,
 * before anything else
 *
 * Threads:  any; the constructor's as a rule. A constructor of another library may call a function
 *           of librtl's before ours has run.
 */
#include "boot.h"

#include <pthread.h>
#include <stddef.h>

#include "base/env.h"
#include "base/log.h"
#include "base/testpoint.h"
#include "control/service.h"
#include "event/filter.h"
#include "event/left_out.h"
#include "event/life.h"
#include "event/pause.h"
#include "forked.h"
#include "hsa_past.h"
#include "hsa_wrap_gen.h"
#include "sink/recorder/recorder.h"
#include "source/api/call.h"
#include "source/api/live.h"
#include "source/hip/callback.h"
#include "source/hip/frame.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/completion/hold.h"
#include "source/hsa/core_layer.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/table/quirk_stream_callback.h"
#include "source/hsa/table/table.h"
#include "source/rccl/rccl.h"
#include "source/roctx/range.h"
#include "source/roctx/selection.h"
#include "startenv.h"

static const struct source *const sources[] = { &harvest_source, &range_source, &service_source,
						&hsa_past_source, NULL };
static const struct sink *const sinks[] = { &recorder_sink, NULL };

/* HSA's runtime is loaded by HIP's first call: now is the time to turn HIP's activity callbacks
 * on. */
static bool install_quirks(const struct hsa_mirror_root *root)
{
	if (life_start() && callback_on_runtime())
		quirk_stream_callback_install(root);
	/* in front of the faces that are there by now, as where a face asks for it */
	if (env_bool(ENV_HSA_API))
		boot_wrap_hsa();
	return true;
}

/* Wrappers of HSA's calls, for the recorder and faces, stand in front of what faces do within
 * them. */
static bool install_calls(const struct hsa_mirror_root *root)
{
	hsa_wrap_install(root);
	return true;
}

static const struct table_layer quirk_layer = { .name = "quirks", .install = install_quirks };
static const struct table_layer call_layer = { .name = "calls", .install = install_calls };

bool boot_wrap_hsa(void)
{
	return table_add_layer(&call_layer);
}

/* HSA's tables are patched in this order: each layer stands in front of those before it, the first
 * in front of the runtime's functions, those of table_add_layer() in front of all. The quirks layer
 * has to see HIP's own handlers of signals, which the core layer replaces. */
static const struct table_layer *const layers[] = { &core_layer, &quirk_layer, NULL };

static const struct service_host host = {
	.flush = harvest_now,
	.is_busy = harvest_is_any_in_flight,
	.trace = recorder_trace,
	.open = recorder_open,
	.close = recorder_close,
};

static void boot_once(void)
{
	startenv_init();
	env_init();
	log_init();
	testpoint_init();
	pause_init();
	filter_init();
	left_out_init();
	selection_init();
	range_init();
	api_init();
	live_init();
	table_init(layers);
	if (env_bool(ENV_HSA_API))
		api_switch(API_HSA, true);
	hold_init();
	life_init(sources, sinks);
	service_init(&host);
	hip_forked_find = forked_find;
	hip_agents_of = copy_agents;
	lookup_front = &rccl_front;
	/* linked, or needed by a face: sessions record it */
	if (!startenv_is_requested())
		life_leave_sinks_out();
}

void boot(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, boot_once);
}

void (*const hip_boot)(void) = boot;
