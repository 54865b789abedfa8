/* SPDX-License-Identifier: MIT */
/* more.c - librocprofiler-sdk-roctx: what libroctx64 lacks
 *
 * Marks and ranges are libroctx64's source (forward.c).
 *
 * Owns:     nothing.
 * Threads:  any.
 * Fails:    with a librtl of another build calls do nothing and return 0.
 */
#include "../libroctx64/roctx.h"
#include "../librtl/core.h"
#include "rocprofiler-sdk-roctx/roctx.h"

static int profiler(bool resume, roctx_thread_id_t tid)
{
	const struct rtl_core *core = roctx_core();

	return core ? core->range_profiler(resume, tid) : 0;
}

static int name_it(enum range_call call, const char *name, uint64_t of)
{
	const struct rtl_core *core = roctx_core();

	return core ? core->range_name(call, name, of) : 0;
}

EXPORT int roctxProfilerPause(roctx_thread_id_t tid)
{
	return profiler(false, tid);
}

EXPORT int roctxProfilerResume(roctx_thread_id_t tid)
{
	return profiler(true, tid);
}

EXPORT int roctxGetThreadId(roctx_thread_id_t *tid)
{
	const struct rtl_core *core = roctx_core();

	return core ? core->range_thread_id(tid) : 0;
}

EXPORT int roctxNameOsThread(const char *name)
{
	return name_it(RANGE_NAME_OS_THREAD, name, 0);
}

EXPORT int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
	return name_it(RANGE_NAME_HSA_AGENT, name, (uintptr_t)agent);
}

EXPORT int roctxNameHipDevice(const char *name, int device_id)
{
	return name_it(RANGE_NAME_HIP_DEVICE, name, (uint32_t)device_id);
}

EXPORT int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
	return name_it(RANGE_NAME_HIP_STREAM, name, (uintptr_t)stream);
}
