/* SPDX-License-Identifier: MIT */
/* bench_common.h - shared by the measured programs: arguments, clock, pinning, thread times, JSON
 *
 * A measured program is an application like any other and links nothing of the product. It prints
 * one JSON object on one line.
 */
#ifndef BENCH_OVERHEAD_BENCH_COMMON_H
#define BENCH_OVERHEAD_BENCH_COMMON_H

#include <dirent.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline uint64_t bench_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Ticks of the cheapest clock; bench_tick_ns() converts them. */
static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return bench_ns();
#endif
}

static inline double bench_tick_ns(void)
{
	uint64_t ns = bench_ns(), ticks = bench_ticks(), end_ns;

	while ((end_ns = bench_ns()) - ns < 20000000)
		;
	return (double)(end_ns - ns) / (double)(bench_ticks() - ticks);
}

static inline const char *bench_text(int argc, char **argv, const char *name, const char *dflt)
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return argv[i] + len + 1;
	return dflt;
}

static inline uint64_t bench_num(int argc, char **argv, const char *name, uint64_t dflt)
{
	const char *text = bench_text(argc, argv, name, NULL);

	return text ? strtoull(text, NULL, 0) : dflt;
}

/* Pins this thread to the first processor, and threads that are started later to the last one: the
 * virtual GPU's thread must not share a processor with the measured one. */
static inline void bench_pin(int self)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (nr < 2)
		return;
	CPU_ZERO(&set);
	CPU_SET(self ? 0 : (size_t)nr - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Processor time of the thread named `name` in ns; 0 if there is none. */
static inline uint64_t bench_thread_ns(const char *name)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned long long ns = 0;
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char path[512], text[128] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
		text[strcspn(text, "\n")] = '\0';
		if (strcmp(text, name) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(text, sizeof(text), f))
			ns = strtoull(text, NULL, 10);
		fclose(f);
		break;
	}
	if (dir)
		closedir(dir);
	return ns;
}

static inline int bench_by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* The blocks' times, each for `per` operations, as ns of one operation. */
static inline void bench_print_blocks(uint64_t *ticks, uint64_t nr, uint64_t per, double tick_ns)
{
	double unit = tick_ns / (double)per, sum = 0;

	for (uint64_t i = 0; i < nr; i++)
		sum += (double)ticks[i];
	qsort(ticks, nr, sizeof(*ticks), bench_by_value);
	printf("{\"median\": %.3f, \"min\": %.3f, \"p10\": %.3f, \"p90\": %.3f, \"mean\": %.3f, \"blocks\": %llu}\n",
	       (double)ticks[nr / 2] * unit, (double)ticks[0] * unit, (double)ticks[nr / 10] * unit,
	       (double)ticks[nr * 9 / 10] * unit, sum / (double)nr * unit, (unsigned long long)nr);
}

#endif
