/* SPDX-License-Identifier: MIT */
/* times.c - HSA's times as times of other clocks
 *
 * The distance of two clocks is measured once: the clock is read between two readings of HSA's,
 * many times, and the reading whose two neighbours are nearest to each other is taken. It is off by
 * half of their distance at most.
 *
 * Threads:  any.
 */
#include <pthread.h>
#include <time.h>

#include "v1.h"

#define NR_READINGS 200
#define NR_CLOCKS 5

static const clockid_t clocks[NR_CLOCKS] = {
	CLOCK_REALTIME,		CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC,
	CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW,
};
static struct {
	int64_t shift;
	uint64_t error;
} distances[NR_CLOCKS];
static bool is_measured;
static double ns_per_tick;

static uint64_t system_ns(void)
{
	uint64_t ticks = 0;

	hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
	return ns_per_tick == 1.0 ? ticks : (uint64_t)((double)ticks * ns_per_tick);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void measure_clock(int i)
{
	struct timespec resolution = { 0 };
	uint64_t least = UINT64_MAX;

	for (int n = 0; n < NR_READINGS; n++) {
		uint64_t before = system_ns(), there = clock_ns(clocks[i]), after = system_ns();

		if (after - before >= least)
			continue;
		least = after - before;
		distances[i].shift = (int64_t)(there - (before + least / 2));
	}
	clock_getres(clocks[i], &resolution);
	distances[i].error = (least + 1) / 2 + (uint64_t)resolution.tv_nsec;
}

static void measure(void)
{
	uint64_t frequency = 0;

	if (runtime_ready("rocprofiler_get_time") != HSA_STATUS_SUCCESS)
		return;
	runtime_quiet(true);
	if (hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) ==
		    HSA_STATUS_SUCCESS &&
	    frequency) {
		ns_per_tick = 1e9 / (double)frequency;
		for (int i = 0; i < NR_CLOCKS; i++)
			measure_clock(i);
		is_measured = true;
	}
	runtime_quiet(false);
}

EXPORT hsa_status_t rocprofiler_get_time(rocprofiler_time_id_t time_id, uint64_t timestamp,
					 uint64_t *value_ns, uint64_t *error_ns)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if ((unsigned)time_id >= NR_CLOCKS) {
		if (error_ns)
			*error_ns = 0;
		if (!value_ns)
			return HSA_STATUS_SUCCESS;
		*value_ns = 0;
		return FAIL("get_time", "there is no clock %u", (unsigned)time_id);
	}
	pthread_once(&once, measure);
	if (!is_measured)
		return FAIL("get_time", "HSA's system clock can't be read");
	if (error_ns)
		*error_ns = distances[time_id].error;
	if (value_ns)
		*value_ns = timestamp + (uint64_t)distances[time_id].shift;
	return HSA_STATUS_SUCCESS;
}
