/* SPDX-License-Identifier: MIT */
/* roctx.h - annotations of a program: marks, nested ranges of a thread, ranges of the process,
 * names; pauses of a tool
 *
 * Link with -lrocprofiler-sdk-roctx. Texts are borrowed for the call; NULL is taken for the empty
 * text. Without a tool a call takes nanoseconds. Any thread. Functions whose result has no other
 * meaning return 0.
 */
#ifndef ROCPROFILER_SDK_ROCTX_ROCTX_H
#define ROCPROFILER_SDK_ROCTX_ROCTX_H

#include <rocprofiler-sdk-roctx/defines.h>
#include <rocprofiler-sdk-roctx/types.h>
#include <rocprofiler-sdk-roctx/version.h>

ROCTX_EXTERN_C_INIT

struct hsa_agent_s;
struct ihipStream_t;

/* Marks this moment. */
void roctxMarkA(const char *message) ROCTX_PUBLIC_API;
/* Opens a range in this thread. Returns its level, 0 for the outermost. */
int roctxRangePushA(const char *message) ROCTX_PUBLIC_API;
/* Closes the innermost range of this thread. Returns its level, -1 if none is open. */
int roctxRangePop(void) ROCTX_PUBLIC_API;
/* Begins a range that any thread may end. Returns its id, from 1. */
roctx_range_id_t roctxRangeStartA(const char *message) ROCTX_PUBLIC_API;
void roctxRangeStop(roctx_range_id_t id) ROCTX_PUBLIC_API;

#ifndef roctxMark
#define roctxMark(message) roctxMarkA(message)
#define roctxRangePush(message) roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)
#endif

/* Tools pause, or go on, for the thread `tid`; 0: for the process. Recording by rtl does so for the
 * process, whatever `tid` is. */
int roctxProfilerPause(roctx_thread_id_t tid) ROCTX_PUBLIC_API;
int roctxProfilerResume(roctx_thread_id_t tid) ROCTX_PUBLIC_API;

/* The calling thread's id for the two functions above; `tid` may be NULL. */
int roctxGetThreadId(roctx_thread_id_t *tid) ROCTX_PUBLIC_API;

/* Tells tools the name of the calling thread, of an agent, a device, a stream. */
int roctxNameOsThread(const char *name) ROCTX_PUBLIC_API;
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent) ROCTX_PUBLIC_API;
int roctxNameHipDevice(const char *name, int device_id) ROCTX_PUBLIC_API;
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream) ROCTX_PUBLIC_API;

ROCTX_EXTERN_C_FINI

#endif
