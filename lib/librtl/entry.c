/* SPDX-License-Identifier: MIT */
/* entry.c - librtl.so: its entry points; connects sources and sinks
 *
 * ROCr loads it (HSA_TOOLS_LIB), or the loader (LD_PRELOAD), or both: one library and one core. The constructor only
 * reads the environment: a process that uses neither a GPU nor roctx writes nothing. A constructor of another library
 * may call our functions before ours has run; each of them calls boot() first.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/env.h"
#include "base/log.h"
#include "base/testpoint.h"
#include "control/service.h"
#include "core.h"
#include "event/bus.h"
#include "event/filter.h"
#include "event/life.h"
#include "event/pause.h"
#include "exec.h"
#include "forked.h"
#include "hsa_wrap_gen.h"
#include "rebind.h"
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
#include "visible.h"

static const struct source *const sources[] = { &harvest_source, &range_source, &service_source,
						&hsa_init_source, NULL };
static const struct sink *const sinks[] = { &recorder_sink, NULL };

/* HSA's runtime is loaded by HIP's first call: now is the time to turn HIP's activity callbacks on. */
static bool install_quirks(const struct hsa_mirror_root *root)
{
	if (life_start() && callback_on_runtime())
		quirk_stream_callback_install(root);
	return true;
}

/* Wrappers of HSA's calls, for the recorder and faces, stand in front of the core layer. */
static bool install_calls(const struct hsa_mirror_root *root)
{
	hsa_wrap_install(root);
	return true;
}

static const struct table_layer quirk_layer = { .name = "quirks", .install = install_quirks };
static const struct table_layer call_layer = { .name = "calls", .install = install_calls };

bool entry_wrap_hsa(void)
{
	return table_add_layer(&call_layer);
}

/* HSA's tables are patched in this order: each layer stands in front of those before it, the first in front of the
 * runtime's functions, those of table_add_layer() in front of all. The quirks layer has to see HIP's own handlers of
 * signals, which the core layer replaces. */
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
	selection_init();
	range_init();
	api_init();
	live_init();
	table_init(layers);
	if (env_bool(ENV_HSA_API)) {
		entry_wrap_hsa();
		api_switch(API_HSA, true);
	}
	hold_init();
	life_init(sources, sinks);
	service_init(&host);
	hip_forked_find = forked_find;
	hip_agents_of = copy_agents;
	lookup_front = &rccl_front;
	/* linked, or needed by a face: sessions record it */
	if (!core_is_requested())
		life_leave_sinks_out();
}

static void boot(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, boot_once);
}

void (*const hip_boot)(void) = boot;

__attribute__((constructor)) static void start(void)
{
	visible_start();
	exec_init();
	boot();
	/* linked: the loader may have bound the program's calls past it */
	if (!core_is_requested())
		rebind_unless_faces();
}

__attribute__((destructor)) static void stop(void)
{
	hsa_init_conclude();
	life_stop();
	recorder_last_words();
}

/* ROCr 5.3 and later finds loaded tools by this symbol and loads them in the order of its value. */
EXPORT extern const uint32_t HSA_AMD_TOOL_PRIORITY;
EXPORT const uint32_t HSA_AMD_TOOL_PRIORITY = 50;

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed);
EXPORT void OnUnload(void);

static bool load(void *table, uint64_t runtime_version)
{
	boot();
	if (forked_is())
		forked_load(table, runtime_version);
	else
		table_take(table);
	return true;
}

bool entry_load(void *table)
{
	return load(table, 0);
}

void entry_unload(void)
{
	if (forked_is())
		forked_unload();
	else
		table_drop();
}

/* true even when nothing is traced: else ROCr would unload librtl and print a message. */
EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed)
{
	(void)nr_failed;
	(void)failed;
	return load(table, runtime_version);
}

EXPORT void OnUnload(void)
{
	entry_unload();
}

EXPORT void roctxMarkA(const char *message);
EXPORT int roctxRangePushA(const char *message);
EXPORT int roctxRangePop(void);
EXPORT uint64_t roctxRangeStartA(const char *message);
EXPORT void roctxRangeStop(uint64_t id);
EXPORT void roctxMark(const char *message);
EXPORT int roctxProfilerPause(uint64_t tid);
EXPORT int roctxProfilerResume(uint64_t tid);
EXPORT int roctxGetThreadId(uint64_t *tid);
EXPORT int roctxNameOsThread(const char *name);
EXPORT int roctxNameHsaAgent(const char *name, const void *agent);
EXPORT int roctxNameHipDevice(const char *name, int device);
EXPORT int roctxNameHipStream(const char *name, const void *stream);
EXPORT int roctxRangePush(const char *message);
EXPORT uint64_t roctxRangeStart(const char *message);

/* A forked child's copy of librtl records the marker as well. What the program gets is this copy's answer: the child goes on with the
 * ranges that were open in its parent. */
static void mark_in_copy(const char *name, const char *message)
{
	void (*mark)(const char *message) = NULL;

	if (RTL_UNLIKELY(forked_is()))
		mark = (void (*)(const char *))forked_find(name);
	if (mark)
		mark(message);
}

static void mark(const char *message)
{
	range_mark(message);
	mark_in_copy("roctxMarkA", message);
}

static int push(const char *message)
{
	int level = range_push(message);

	mark_in_copy("roctxRangePushA", message);
	return level;
}

EXPORT void roctxMarkA(const char *message)
{
	mark(message);
}

EXPORT int roctxRangePushA(const char *message)
{
	return push(message);
}

EXPORT int roctxRangePop(void)
{
	int level = range_pop();

	mark_in_copy("roctxRangePop", NULL);
	return level;
}

EXPORT uint64_t roctxRangeStartA(const char *message)
{
	return range_start(message);
}

EXPORT void roctxRangeStop(uint64_t id)
{
	range_stop(id);
}

/* The rest is librocprofiler-sdk-roctx's, in front of which librtl is preloaded. */
EXPORT int roctxProfilerPause(uint64_t tid)
{
	return range_profiler(false, tid);
}

EXPORT int roctxProfilerResume(uint64_t tid)
{
	return range_profiler(true, tid);
}

EXPORT int roctxGetThreadId(uint64_t *tid)
{
	return range_thread_id(tid);
}

EXPORT int roctxNameOsThread(const char *name)
{
	return range_name(RANGE_NAME_OS_THREAD, name, 0);
}

EXPORT int roctxNameHsaAgent(const char *name, const void *agent)
{
	return range_name(RANGE_NAME_HSA_AGENT, name, (uintptr_t)agent);
}

EXPORT int roctxNameHipDevice(const char *name, int device)
{
	return range_name(RANGE_NAME_HIP_DEVICE, name, (uint32_t)device);
}

EXPORT int roctxNameHipStream(const char *name, const void *stream)
{
	return range_name(RANGE_NAME_HIP_STREAM, name, (uintptr_t)stream);
}

/* Macros in AMD's header; some programs look them up by name nevertheless. */
EXPORT void roctxMark(const char *message)
{
	mark(message);
}

EXPORT int roctxRangePush(const char *message)
{
	return push(message);
}

EXPORT uint64_t roctxRangeStart(const char *message)
{
	return range_start(message);
}
