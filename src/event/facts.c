/* SPDX-License-Identifier: MIT */
/* facts.c - facts about the process as strings and infos
 *
 * Owns:     a work buffer, the list of recorded libraries.
 * Threads:  one at a time: the one that starts, the life thread, the one that stops.
 * Fails:    a fact that can't be read is left out.
 */
#include "event/facts.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/location.h"
#include "base/rank.h"
#include "base/str.h"
#include "base/sys.h"
#include "event/bus.h"
#include "rtl_version.h"

#define MAX_LIBRARIES 128
#define LINE_MAX_SIZE 4352 /* of /proc/self/maps: a path and 73 bytes before it */

/* the caller guarantees exclusive use */
static char work[16384];
static char quoted[2 * sizeof(work)];
static uint32_t libraries[MAX_LIBRARIES];
static unsigned int nr_libraries;

static void info(const char *key, const char *value)
{
	struct event ev = { .kind = EVENT_INFO };

	if (!value || !*value)
		return;
	ev.info.key = bus_string(key, SIZE_MAX);
	ev.info.value = bus_string(value, SIZE_MAX);
	bus_emit(&ev);
}

static void info_int(const char *key, int64_t value)
{
	char text[24];
	struct str s;

	if (value < 0)
		return;
	str_init(&s, text, sizeof(text));
	str_add_uint(&s, (uint64_t)value);
	info(key, text);
}

static bool is_plain(const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=:,+@%^";

	return *arg && arg[strspn(arg, plain)] == '\0';
}

/* The names of the counters that the user wants: RTL_PMC without its numbers. */
static void counters(void)
{
	const char *value = env_str(ENV_PMC);
	struct str s;

	str_init(&s, work, sizeof(work));
	str_add_n(&s, value, strcspn(value, "="));
	info("counters", work);
	info("counter_metrics", env_str(ENV_PMC_METRICS));
}

/* The arguments quoted for a shell. */
static void command(void)
{
	ssize_t n = fd_read_file("/proc/self/cmdline", work, sizeof(work) - 1);
	struct str s;

	if (n <= 0)
		return;
	work[n] = '\0';
	str_init(&s, quoted, sizeof(quoted));
	for (const char *arg = work; arg < work + n; arg += strlen(arg) + 1) {
		if (s.used)
			str_add(&s, " ");
		if (is_plain(arg)) {
			str_add(&s, arg);
			continue;
		}
		str_add(&s, "'");
		for (const char *p = arg; *p; p++)
			str_add_n(&s, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
		str_add(&s, "'");
	}
	if (n == (ssize_t)sizeof(work) - 1)
		str_add(&s, " ...");
	info("command", quoted);
}

/* Whether something holds the wall clock, as chrony, ntpd and PTP's daemons tell the kernel, and
 * how far it may be off. */
static void clock_sync(void)
{
	struct timex state = { 0 };
	struct str s;
	int ret = adjtimex(&state);

	if (ret < 0)
		return;
	str_init(&s, work, sizeof(work));
	if (ret == TIME_ERROR || state.status & STA_UNSYNC) {
		str_add(&s, "free");
	} else {
		str_add(&s, "synchronised maxerror_us=");
		str_add_uint(&s, (uint64_t)state.maxerror);
		str_add(&s, " esterror_us=");
		str_add_uint(&s, (uint64_t)state.esterror);
		str_add(&s, " tai=");
		str_add_uint(&s, (uint64_t)state.tai);
	}
	info("clock_sync", work);
}

/* In a time namespace: what its clock is ahead of the boot's. */
static void time_offset(void)
{
	int64_t ns = clock_offset_ns(atomic_load_explicit(&clock_id, memory_order_relaxed));
	struct str s;

	if (!ns)
		return;
	str_init(&s, work, sizeof(work));
	str_add(&s, ns < 0 ? "-" : "");
	str_add_uint(&s, (uint64_t)llabs(ns));
	info("time_offset_ns", work);
}

void facts_emit(void)
{
	const struct rank *rank = location_rank();
	struct utsname names;
	ssize_t n;

	command();
	n = readlink("/proc/self/exe", work, sizeof(work) - 1);
	if (n > 0) {
		work[n] = '\0';
		info("exe", work);
	}
	if (getcwd(work, sizeof(work)))
		info("cwd", work);
	info("host", location_host());
	if (uname(&names) == 0)
		info("kernel", names.release);
	if (fd_read_line("/proc/sys/kernel/random/boot_id", work, 64) == 0)
		info("boot_id", work);
	time_offset();
	clock_sync();
	info("version", RTL_VERSION_STRING);
	info("mode", env_str(ENV_MODE));
	counters();
	if (env_is_set(ENV_TRACE_START))
		info("trace_start", env_str(ENV_TRACE_START));
	info("output", location_output());
	info_int("rank", rank->rank);
	info_int("world_size", rank->world_size);
	info_int("local_rank", rank->local_rank);
	info("job", rank->job);
	info_int("pid", getpid());
	info_int("ppid", getppid());
	info_int("uid", (int64_t)getuid());
}

void facts_emit_rank(int64_t rank, int64_t size)
{
	if (location_rank()->rank != RANK_NONE)
		return;
	info_int("rank", rank);
	info_int("world_size", size);
}

static bool is_rocm(const char *path)
{
	static const char *const fronts[] = {
		"libhsa-", "libamdhip", "libhsakmt",  "libamd_comgr", "librccl",
		"libroc",  "libhip",	"libMIOpen",  "libmigraphx",  "libamdocl",
		"librtl.", "libhiprtc", "libamd_smi",
	};
	const char *base = strrchr(path, '/');

	if (!base)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(fronts); i++) {
		if (strncmp(base + 1, fronts[i], strlen(fronts[i])) == 0)
			return true;
	}
	return false;
}

static void library(const char *path)
{
	uint32_t id = bus_string(path, SIZE_MAX);
	struct event ev = { .kind = EVENT_INFO };

	for (unsigned int i = 0; i < nr_libraries; i++) {
		if (libraries[i] == id)
			return;
	}
	if (nr_libraries == MAX_LIBRARIES)
		return;
	libraries[nr_libraries++] = id;
	ev.info.key = bus_string("library", SIZE_MAX);
	ev.info.value = id;
	bus_emit(&ev);
}

void facts_libraries(void)
{
	size_t used = 0;
	ssize_t n;
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	while ((n = sys_read(fd, work + used, sizeof(work) - 1 - used)) > 0) {
		char *line = work;
		char *end;

		used += (size_t)n;
		work[used] = '\0';
		while ((end = strchr(line, '\n')) != NULL) {
			char *path;

			*end = '\0';
			path = strchr(line, '/');
			if (path && is_rocm(path))
				library(path);
			line = end + 1;
		}
		used -= (size_t)(line - work);
		/* a longer line is not that of a library */
		if (used > LINE_MAX_SIZE)
			used = 0;
		memmove(work, line, used);
	}
	sys_close(fd);
}

void facts_clock(void)
{
	struct event ev = { .kind = EVENT_CLOCK };
	uint64_t best = UINT64_MAX;

	/* the wall clock between two readings of the trace's; the closest ones of three */
	for (int i = 0; i < 3; i++) {
		int id = atomic_load_explicit(&clock_id, memory_order_relaxed);
		uint64_t before = clock_read_ns(id), wall = clock_read_ns(CLOCK_REALTIME);
		uint64_t between = clock_read_ns(id) - before;

		if (between >= best)
			continue;
		best = between;
		ev.clock.system_ns = before + between / 2;
		ev.clock.realtime_ns = wall;
	}
	ev.clock.monotonic_ns = clock_read_ns(CLOCK_MONOTONIC);
	ev.clock.boottime_ns = clock_read_ns(CLOCK_BOOTTIME);
	bus_emit(&ev);
}
