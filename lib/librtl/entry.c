/* SPDX-License-Identifier: MIT */
/* entry.c - librtl.so: its entry points
 *
 * ROCr loads it (HSA_TOOLS_LIB), or the loader (LD_PRELOAD), or both: one library and one core. The
 * constructor only reads the environment: a process that uses neither a GPU nor roctx writes
 * nothing. A constructor of another library may call our functions before ours has run; each of
 * them calls boot() first.
 */
#include "entry.h"

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "boot.h"
#include "event/life.h"
#include "exec.h"
#include "forked.h"
#include "hsa_past.h"
#include "rebind.h"
#include "sink/recorder/recorder.h"
#include "source/hsa/table/table.h"
#include "source/roctx/range.h"
#include "startenv.h"
#include "visible.h"

__attribute__((constructor)) static void start(void)
{
	visible_start();
	exec_init();
	boot();
	/* linked: the loader may have bound the program's calls past it */
	if (!startenv_is_requested())
		rebind_unless_faces();
}

__attribute__((destructor)) static void stop(void)
{
	hsa_past_conclude();
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
	hsa_past_begin();
	if (forked_is())
		forked_load(table, runtime_version);
	else
		table_take(table);
	hsa_past_end();
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

/* A forked child's copy of librtl records the marker as well. What the program gets is this copy's
 * answer: the child goes on with the ranges that were open in its parent. */
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
