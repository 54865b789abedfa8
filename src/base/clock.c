/* SPDX-License-Identifier: MIT */
/* clock.c - reads the clocks of the host, the common one from the processor's counter
 *
 * The kernel's clock as a function of the counter is piecewise linear. clock_tick() measures the
 * error of the newest line and publishes another that begins a little later, at the old one's value
 * there, and meets the kernel's clock at the next measurement. So the clock has no steps, and lines
 * are read without a lock: a reader that finds a newer line takes the slow path once.
 *
 * Owns:     the lines.
 * Threads:  see the table in clock.h.
 * Hot path: clock_now_ns() - the counter or the vDSO, no system call.
 * Fails:    the kernel's clock source is not the counter, a line is too old, the counter went back:
 *           the kernel's clock is read.
 */
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/compiler.h"
#include "base/fd.h"

#define FIRST_NS UINT64_C(10000000)
#define LAST_NS UINT64_C(1000000000)
#define AGAIN_NS UINT64_C(1000000) /* after an interrupted measurement */
/* A new line begins this long after it is made, so that no thread has read the old one beyond that
 * point. */
#define AHEAD_NS UINT64_C(2000000)
/* and is valid for this many times the interval that it was made for */
#define HOLDS 4u
#define STEP_NS INT64_C(2000000) /* a larger difference: the clock was set, or the machine slept */
#define NR_KEPT 4u /* number of lines that are certainly complete while the newest is the newest */
#define MAX_SLEW 500		  /* a line's slope differs by 1 / MAX_SLEW at most */
#define MAX_WIDTH UINT64_C(20000) /* ticks; a longer measurement was interrupted */
#define NR_TRIES 5
#define TICK_NS                                                                                    \
	INT64_C(10000000) /* of /proc: USER_HZ is 100 on all of Linux's architectures that have ROCm */
#define SOURCE_FILE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

_Atomic(int) clock_id = CLOCK_BOOTTIME;

struct sample {
	uint64_t ticks, ns;
	uint64_t width; /* ticks that the measurement took */
};

_Alignas(64) struct clock_line clock_lines[CLOCK_NR_LINES];
_Alignas(64) _Atomic uint64_t clock_line;
static _Atomic uint64_t newest_mult; /* of the newest line ever made */
/* of the thread that is in clock_tick() */
static _Atomic bool is_ticking;
static struct {
	bool known, good; /* whether the counter is usable */
	uint64_t nr;	  /* the last line's number */
	uint64_t due_ns;  /* CLOCK_MONOTONIC; 0: not started */
	uint64_t wait_ns; /* between the last measurement and the next */
	struct sample last;
	int id;
} cal;

void clock_select(clockid_t id)
{
	/* seq_cst: pairs with publish() */
	if (atomic_exchange(&clock_id, id) != id)
		atomic_store(&clock_line, 0);
}

uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

/* Whether this process is in the time namespace of its children, whose offsets the kernel shows. It
 * is not after unshare(CLONE_NEWTIME). */
static bool is_in_shown_namespace(void)
{
	struct stat own, shown;

	return stat("/proc/self/ns/time", &own) == 0 &&
	       stat("/proc/self/ns/time_for_children", &shown) == 0 && own.st_ino == shown.st_ino;
}

int64_t clock_offset_ns(clockid_t id)
{
	const char *name = id == CLOCK_BOOTTIME	 ? "boottime" :
			   id == CLOCK_MONOTONIC ? "monotonic" :
						   NULL;
	char text[256], *line, *end;
	ssize_t n = name ? fd_read_file("/proc/self/timens_offsets", text, sizeof(text) - 1) : 0;
	int64_t seconds;

	if (n <= 0 || !is_in_shown_namespace())
		return 0;
	text[n] = '\0';
	line = strstr(text, name); /* "boottime SECONDS NANOSECONDS" */
	if (!line)
		return 0;
	seconds = strtoll(line + strlen(name), &end, 10);
	return seconds * INT64_C(1000000000) + strtoll(end, NULL, 10);
}

static int64_t boot_offset(void)
{
	static _Atomic int64_t offset;
	static _Atomic bool is_known;

	/* acquire: pairs with the release below. Two threads store the same value. */
	if (!atomic_load_explicit(&is_known, memory_order_acquire)) {
		atomic_store_explicit(&offset, clock_offset_ns(CLOCK_BOOTTIME),
				      memory_order_relaxed);
		atomic_store_explicit(&is_known, true, memory_order_release);
	}
	return atomic_load_explicit(&offset, memory_order_relaxed);
}

uint64_t clock_boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME) - (uint64_t)boot_offset();
}

uint64_t clock_boot_ticks(uint64_t ticks)
{
	int64_t offset = boot_offset(), whole = offset / TICK_NS;

	if (offset % TICK_NS > 0)
		whole++;
	return ticks - (uint64_t)whole;
}

static RTL_NOINLINE uint64_t read_kernel(void)
{
	/* relaxed: an independent value */
	return clock_read_ns(atomic_load_explicit(&clock_id, memory_order_relaxed));
}

/* HOT: the time by line `nr`, while `newest` is the newest. false: the line does not cover it, or
 * there is a newer line. */
static inline bool read_old_line(uint64_t nr, uint64_t newest, uint64_t ticks, uint64_t *ns)
{
	struct clock_line *l = clock_line_at(nr);
	/* acquire, all of them: pair with the releases in publish(): a thread that reads a later
	 * line's values detects below that the line is not the newest */
	uint64_t t0 = atomic_load_explicit(&l->ticks, memory_order_acquire);
	uint64_t n0 = atomic_load_explicit(&l->ns, memory_order_acquire);
	uint64_t d = ticks - t0;

	if (RTL_LIKELY(d < atomic_load_explicit(&l->nr_ticks, memory_order_acquire))) {
		*ns = n0 +
		      (d * atomic_load_explicit(&l->mult, memory_order_acquire) >> CLOCK_SHIFT);
	} else {
		d = t0 - ticks;
		if (d > atomic_load_explicit(&l->nr_before, memory_order_acquire))
			return false;
		*ns = n0 -
		      (d * atomic_load_explicit(&l->before, memory_order_acquire) >> CLOCK_SHIFT);
	}
	return RTL_LIKELY(atomic_load_explicit(&clock_line, memory_order_relaxed) == newest);
}

/* HOT: the same for the newest line. */
static inline bool read_line(uint64_t nr, uint64_t ticks, uint64_t *ns)
{
	return read_old_line(nr, nr, ticks, ns);
}

uint64_t clock_now_ns(void)
{
	/* acquire: pairs with the release in publish(): the line */
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	uint64_t ns;

	while (RTL_LIKELY(nr)) {
		uint64_t again;

		if (RTL_LIKELY(read_line(nr, RTL_TICKS(), &ns)))
			return ns;
		again = atomic_load_explicit(&clock_line, memory_order_acquire);
		if (again == nr)
			break;
		nr = again;
	}
	return read_kernel();
}

/* A time in the past, by the newest line or the few before it. */
static bool read_back(uint64_t ticks, uint64_t *ns)
{
	uint64_t newest = atomic_load_explicit(&clock_line, memory_order_acquire);
	uint64_t kept = NR_KEPT * CLOCK_NEXT_LINE, oldest = newest > kept ? newest - kept : 0;

	for (uint64_t nr = newest; nr > oldest; nr -= CLOCK_NEXT_LINE) {
		if (read_old_line(nr, newest, ticks, ns))
			return true;
	}
	return false;
}

struct clock_span clock_span_ns(uint64_t begin, uint64_t end)
{
	/* relaxed: any rate so far is good enough */
	double rate = (double)atomic_load_explicit(&newest_mult, memory_order_relaxed) /
		      (double)(UINT64_C(1) << CLOCK_SHIFT);
	uint64_t ns = end > begin ? (uint64_t)((double)(end - begin) * rate) : 0;
	struct clock_span s;

	if (!read_back(end, &s.end_ns))
		s.end_ns = read_kernel();
	if (!read_back(begin, &s.begin_ns) || s.begin_ns > s.end_ns)
		s.begin_ns = s.end_ns > ns ? s.end_ns - ns : 0;
	return s;
}

bool clock_is_fast(void)
{
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	uint64_t ns;

	return nr && read_line(nr, RTL_TICKS(), &ns);
}

/* Whether the counter runs at one rate in all states of all processors. */
static bool is_invariant(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#else
	return false;
#endif
}

/* Whether the kernel uses the counter as clock source: it has checked that processors agree, which
 * librtl can't. */
static bool is_trusted(void)
{
	char name[32];

	return fd_read_line(SOURCE_FILE, name, sizeof(name)) == 0 && strcmp(name, "tsc") == 0;
}

/* The fastest of several attempts. false: all were interrupted. */
static bool measure(clockid_t id, struct sample *s)
{
	s->width = UINT64_MAX;
	for (int i = 0; i < NR_TRIES; i++) {
		uint64_t before = RTL_TICKS_ORDERED();
		uint64_t ns = clock_read_ns(id);
		uint64_t width = RTL_TICKS_ORDERED() - before;

		if (width < s->width)
			*s = (struct sample){ before, ns, width };
	}
	return s->width <= MAX_WIDTH;
}

static void publish(uint64_t ticks, uint64_t ns, uint64_t before, uint64_t mult, uint64_t holds_ns)
{
	uint64_t nr = cal.nr + CLOCK_NEXT_LINE;
	uint64_t most = (UINT64_C(1) << 62) / mult;
	uint64_t nr_ticks = (holds_ns << CLOCK_SHIFT) / mult;
	struct clock_line *l;

	if (nr % sizeof(clock_lines) == 0)
		nr += CLOCK_NEXT_LINE;
	l = clock_line_at(nr);

	/* release, all of them: pair with the acquires in read_line(); `clock_line` has moved on
	 * from the line stored here before */
	atomic_store_explicit(&l->ticks, ticks, memory_order_release);
	atomic_store_explicit(&l->ns, ns, memory_order_release);
	atomic_store_explicit(&l->before, before, memory_order_release);
	atomic_store_explicit(&l->mult, mult, memory_order_release);
	atomic_store_explicit(&l->nr_before, (2 * AHEAD_NS << CLOCK_SHIFT) / mult,
			      memory_order_release);
	atomic_store_explicit(&l->nr_ticks, nr_ticks < most ? nr_ticks : most,
			      memory_order_release);
	atomic_store_explicit(&newest_mult, mult, memory_order_relaxed);
	cal.nr = nr;
	/* seq_cst: either clock_select() removes it, or this thread sees its selection */
	atomic_store(&clock_line, nr);
	if (atomic_load(&clock_id) != cal.id)
		atomic_store(&clock_line, 0);
}

static uint64_t rate(const struct sample *from, const struct sample *to)
{
	uint64_t ticks = to->ticks + to->width / 2 - (from->ticks + from->width / 2);

	return ticks ? ((to->ns - from->ns) << CLOCK_SHIFT) / ticks : 0;
}

/* The second measurement: makes the first line, ahead of the kernel's clock by the measurement's
 * duration, so that time does not go back. */
static void begin(const struct sample *s)
{
	uint64_t mult = rate(&cal.last, s);

	if (mult)
		publish(s->ticks, s->ns, mult, mult, HOLDS * cal.wait_ns);
}

uint64_t clock_bent(uint64_t mult, int64_t off_ns, uint64_t wait_ns)
{
	int64_t most = (int64_t)(mult / MAX_SLEW);
	int64_t bend = off_ns * (int64_t)mult / (int64_t)wait_ns;

	bend = bend > most ? most : bend < -most ? -most : bend;
	return (uint64_t)((int64_t)mult + bend);
}

/* -ERANGE: the line has ended, or differs too much from the clock. -EAGAIN: this thread was
 * preempted during the measurement. */
static int continue_line(const struct sample *s)
{
	struct clock_line *old = clock_line_at(cal.nr);
	uint64_t old_mult = atomic_load_explicit(&old->mult, memory_order_relaxed);
	uint64_t mult = rate(&cal.last, s);
	uint64_t ahead = (AHEAD_NS << CLOCK_SHIFT) / old_mult;
	uint64_t ns, ns_then, ticks;
	int64_t off;

	if (!mult || !read_line(cal.nr, s->ticks + s->width / 2, &ns))
		return -ERANGE;
	off = (int64_t)(s->ns - ns);
	if (off > STEP_NS || off < -STEP_NS)
		return -ERANGE;
	ticks = s->ticks + ahead;
	if (!read_line(cal.nr, ticks, &ns_then))
		return -ERANGE;
	if (RTL_TICKS() - s->ticks > ahead / 2)
		return -EAGAIN;
	publish(ticks, ns_then, old_mult, clock_bent(mult, off, cal.wait_ns), HOLDS * cal.wait_ns);
	return 0;
}

static uint64_t restart(uint64_t now_ns, const struct sample *s)
{
	cal.last = *s;
	cal.wait_ns = FIRST_NS;
	cal.due_ns = now_ns + cal.wait_ns;
	cal.id = atomic_load(&clock_id);
	atomic_store(&clock_line, 0);
	return cal.wait_ns;
}

static uint64_t tick(void)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t wait_ns;
	struct sample s;
	int err = 0;

	if (!cal.known) {
		cal.known = true;
		cal.good = is_invariant() && is_trusted();
	}
	if (!cal.good)
		return UINT64_MAX;
	if (cal.due_ns && now_ns + cal.wait_ns / 8 < cal.due_ns)
		return cal.due_ns - now_ns;
	if (cal.wait_ns == LAST_NS && !is_trusted()) {
		cal.good = false;
		atomic_store(&clock_line, 0);
		return UINT64_MAX;
	}
	if (!measure(atomic_load(&clock_id), &s))
		return AGAIN_NS;
	if (!cal.due_ns || cal.id != atomic_load(&clock_id) || s.ticks <= cal.last.ticks)
		return restart(now_ns, &s);
	wait_ns = cal.wait_ns;
	cal.wait_ns = wait_ns * 2 < LAST_NS ? wait_ns * 2 : LAST_NS;
	if (atomic_load(&clock_line) == 0)
		begin(&s);
	else
		err = continue_line(&s);
	if (err == -EAGAIN) {
		cal.wait_ns = wait_ns;
		return AGAIN_NS;
	}
	if (err)
		return restart(now_ns, &s);
	cal.last = s;
	cal.due_ns = now_ns + cal.wait_ns;
	return cal.wait_ns;
}

uint64_t clock_tick(void)
{
	uint64_t ns;

	/* acquire, and the release: of two threads the later one finds what the earlier one has
	 * measured */
	if (atomic_exchange_explicit(&is_ticking, true, memory_order_acquire))
		return LAST_NS;
	ns = tick();
	atomic_store_explicit(&is_ticking, false, memory_order_release);
	return ns;
}
