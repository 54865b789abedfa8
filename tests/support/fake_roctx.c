/* SPDX-License-Identifier: MIT */
/* fake_roctx.c - a libroctx64.so.4 that counts its calls
 *
 * Threads:  one.
 */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define FIRST_ID 5000u

static struct {
	uint64_t nr_marks, nr_pushes, nr_pops, nr_starts, nr_stops, last_stop, bad_stops;
} counts;

EXPORT const void *fake_roctx_counts(void);
EXPORT void roctxMarkA(const char *message);
EXPORT int roctxRangePushA(const char *message);
EXPORT int roctxRangePop(void);
EXPORT uint64_t roctxRangeStartA(const char *message);
EXPORT void roctxRangeStop(uint64_t id);
EXPORT int roctxProfilerPause(uint64_t tid);
EXPORT int roctxProfilerResume(uint64_t tid);
EXPORT int roctxGetThreadId(uint64_t *tid);
EXPORT int roctxNameOsThread(const char *name);
EXPORT int roctxNameHsaAgent(const char *name, const void *agent);
EXPORT int roctxNameHipDevice(const char *name, int device);
EXPORT int roctxNameHipStream(const char *name, const void *stream);

const void *fake_roctx_counts(void)
{
	return &counts;
}

void roctxMarkA(const char *message)
{
	counts.nr_marks += message != 0;
}

int roctxRangePushA(const char *message)
{
	return message ? 100 + (int)counts.nr_pushes++ : -1;
}

int roctxRangePop(void)
{
	return 100 + (int)counts.nr_pops++;
}

uint64_t roctxRangeStartA(const char *message)
{
	return message ? FIRST_ID + counts.nr_starts++ : 0;
}

void roctxRangeStop(uint64_t id)
{
	if (id < FIRST_ID || id >= FIRST_ID + counts.nr_starts)
		counts.bad_stops++;
	counts.nr_stops++;
	counts.last_stop = id;
}

int roctxProfilerPause(uint64_t tid)
{
	return 50 + (int)tid;
}

int roctxProfilerResume(uint64_t tid)
{
	return 60 + (int)tid;
}

int roctxGetThreadId(uint64_t *tid)
{
	*tid = 77;
	return 1;
}

int roctxNameOsThread(const char *name)
{
	return name[0];
}

int roctxNameHsaAgent(const char *name, const void *agent)
{
	return name[0] + (int)(uintptr_t)agent;
}

int roctxNameHipDevice(const char *name, int device)
{
	return name[0] + device;
}

int roctxNameHipStream(const char *name, const void *stream)
{
	return name[0] - (int)(uintptr_t)stream;
}
