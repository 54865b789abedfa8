/* SPDX-License-Identifier: MIT */
/* signals.c - a program's view of its completion signals
 *
 *	signals kernel_ns=NS [case=NAME] [rounds=N]
 *
 * kernel_ns equals VGPU_KERNEL_NS: no signal may drop earlier than that after the doorbell.
 * Each case prints one line "NAME: ok" or the seen and the expected value; the exit
 * status is the number of cases that failed (at most 100). The output is the same on every run.
 */
#include "hsa_common.h"

static struct machine machine;
static uint64_t kernel_ns, rounds;
static char problem[512];
static _Atomic int handler_calls;

__attribute__((format(printf, 1, 2))) static int wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!problem[0])
		vsnprintf(problem, sizeof(problem), fmt, ap);
	va_end(ap);
	return 1;
}

static uint64_t system_ns(void)
{
	static uint64_t hz;
	uint64_t t;

	if (!hz)
		HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz));
	HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t));
	return t; /* 1e9 Hz on every ROCr */
}

static void launch(hsa_queue_t *queue, hsa_signal_t signal, bool barrier)
{
	hsa_kernel_dispatch_packet_t d =
		packet_dispatch(&machine, &machine.gpus[0].short_kernel, 64, 256, barrier, signal);

	submit(queue, &d);
}

/* The value is `expected` now and stays so. */
static int stays(hsa_signal_t signal, hsa_signal_value_t expected, unsigned int ms)
{
	uint64_t until = now_ns() + ms * 1000000ull;
	hsa_signal_value_t v;

	do {
		v = hsa_signal_load_scacquire(signal);
		if (v != expected)
			return wrong("the value is %lld, expected %lld", (long long)v,
				     (long long)expected);
		sleep_ms(1);
	} while (now_ns() < until);
	return 0;
}

static int check_time(hsa_signal_t signal, uint64_t rung, uint64_t seen)
{
	hsa_amd_profiling_dispatch_time_t t = { 0, 0 };
	hsa_status_t status =
		hsa_amd_profiling_get_dispatch_time(machine.gpus[0].agent, signal, &t);
	uint64_t took = t.end - t.start;

	if (status != HSA_STATUS_SUCCESS)
		return wrong("hsa_amd_profiling_get_dispatch_time: 0x%x", (unsigned)status);
	/* one tick of a 27 MHz counter is 37 ns, and both ends are rounded; the clock relation
	 * is a straight line through samples that are good to a few us */
	if (took + 100 < kernel_ns || took > kernel_ns + kernel_ns / 100 + 100)
		return wrong("the kernel's time is %llu ns, expected %llu",
			     (unsigned long long)took, (unsigned long long)kernel_ns);
	if (t.start + 50000 < rung)
		return wrong("begins %llu ns before its doorbell",
			     (unsigned long long)(rung - t.start));
	if (t.end > seen + 50000)
		return wrong("was seen done %llu ns before its end",
			     (unsigned long long)(t.end - seen));
	return 0;
}

/* One kernel, one signal: down by one, after the kernel, once. */
static int case_drops_once(void)
{
	static const hsa_signal_value_t values[] = { 1, 2, 1000, INT64_C(1) << 40 };
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	int bad = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && !bad; i++) {
		hsa_signal_t s = signal_new(values[i]);
		uint64_t rung = now_ns();

		launch(queue, s, true);
		signal_wait_le(s, values[i] - 1, "drops_once");
		if (now_ns() - rung + 1000 < kernel_ns)
			bad = wrong(
				"value %lld: dropped %llu ns after the doorbell; the kernel takes %llu",
				(long long)values[i], (unsigned long long)(now_ns() - rung),
				(unsigned long long)kernel_ns);
		bad |= stays(s, values[i] - 1, 60);
		HSA(hsa_signal_destroy(s));
	}
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* The signal's times, queried at once after the wait. */
static int case_times(void)
{
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	int bad = 0;

	HSA(hsa_amd_profiling_set_profiler_enabled(queue, 1));
	for (uint64_t i = 0; i < rounds && !bad; i++) {
		hsa_signal_t s = signal_new(1);
		uint64_t rung = system_ns();

		launch(queue, s, true);
		signal_wait_le(s, 0, "times");
		bad = check_time(s, rung, system_ns());
		HSA(hsa_signal_destroy(s));
	}
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* The same signal again as soon as it has dropped, by polling instead of waiting. */
static int case_reuse(void)
{
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t s = signal_new(1);
	int bad = 0;

	for (uint64_t i = 0; i < rounds && !bad; i++) {
		uint64_t rung = now_ns(), deadline = rung + 60000000000u;
		hsa_signal_value_t v;

		hsa_signal_store_screlease(s, 1);
		launch(queue, s, true);
		while ((v = hsa_signal_load_scacquire(s)) == 1)
			if (now_ns() > deadline)
				die(3, "reuse: round %llu never completed", (unsigned long long)i);
		if (v != 0)
			bad = wrong("round %llu: the value is %lld, expected 0",
				    (unsigned long long)i, (long long)v);
		if (now_ns() - rung + 1000 < kernel_ns)
			bad = wrong("round %llu: dropped %llu ns after the doorbell",
				    (unsigned long long)i, (unsigned long long)(now_ns() - rung));
	}
	bad = bad || stays(s, 0, 100);
	HSA(hsa_signal_destroy(s));
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* Destroyed as soon as the wait returns; the next one may get the same handle. */
static int case_destroy(void)
{
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t watch[64];
	int bad = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		hsa_signal_t s = signal_new(1);

		launch(queue, s, true);
		signal_wait_le(s, 0, "destroy");
		HSA(hsa_signal_destroy(s));
	}
	/* a late write to the destroyed signal hits one of these */
	for (size_t i = 0; i < 64; i++)
		watch[i] = signal_new(7);
	for (size_t i = 0; i < 64; i++) {
		bad = bad || stays(watch[i], 7, i ? 0 : 100);
		HSA(hsa_signal_destroy(watch[i]));
	}
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* One signal that N kernels on several queues count down. */
static int case_counting(void)
{
	enum { QUEUES = 3 };
	hsa_queue_t *queues[QUEUES];
	hsa_signal_t s = signal_new((hsa_signal_value_t)rounds + 5);
	hsa_signal_value_t last = (hsa_signal_value_t)rounds + 5, v;
	uint64_t deadline;
	int bad = 0;

	for (int q = 0; q < QUEUES; q++)
		queues[q] = queue_open(&machine, 0, 64, HSA_QUEUE_TYPE_SINGLE);
	for (uint64_t i = 0; i < rounds; i++) {
		launch(queues[i % QUEUES], s, true);
		v = hsa_signal_load_scacquire(s);
		if (v > last)
			bad = wrong("the value rose from %lld to %lld", (long long)last,
				    (long long)v);
		if (v < (hsa_signal_value_t)(rounds + 5 - i - 1))
			bad = wrong("the value is %lld after %llu launches of %llu", (long long)v,
				    (unsigned long long)i + 1, (unsigned long long)rounds);
		last = v;
	}
	deadline = now_ns() + 120000000000u;
	while ((v = hsa_signal_load_scacquire(s)) > 5) {
		if (v > last)
			bad = wrong("the value rose from %lld to %lld", (long long)last,
				    (long long)v);
		last = v;
		if (now_ns() > deadline)
			die(3, "counting: still at %lld", (long long)v);
		sched_yield();
	}
	bad = bad || stays(s, 5, 100);
	for (int q = 0; q < QUEUES; q++)
		HSA(hsa_queue_destroy(queues[q]));
	HSA(hsa_signal_destroy(s));
	return bad;
}

/* A signal of value 1 on two kernels at once: 0 after the first, -1 after the second. */
static int case_twice(void)
{
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	int bad = 0;

	for (uint64_t i = 0; i < 20 && !bad; i++) {
		hsa_signal_t s = signal_new(1);
		uint64_t rung = now_ns();

		launch(queue, s, true);
		launch(queue, s, true);
		signal_wait_le(s, 0, "twice");
		if (now_ns() - rung + 1000 < kernel_ns)
			bad = wrong("first drop %llu ns after the doorbell",
				    (unsigned long long)(now_ns() - rung));
		signal_wait_le(s, -1, "twice");
		if (now_ns() - rung + 1000 < 2 * kernel_ns)
			bad = wrong("second drop %llu ns after the doorbell",
				    (unsigned long long)(now_ns() - rung));
		bad = bad || stays(s, -1, i ? 0 : 100);
		HSA(hsa_signal_destroy(s));
	}
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* A barrier packet that depends on a kernel's signal on another queue holds until it drops. */
static int case_dependency(void)
{
	hsa_queue_t *a = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	hsa_queue_t *b = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	int bad = 0;

	for (uint64_t i = 0; i < 20 && !bad; i++) {
		hsa_signal_t first = signal_new(1), second = signal_new(1), none = { 0 };
		hsa_barrier_and_packet_t w =
			packet_barrier(HSA_PACKET_TYPE_BARRIER_AND, true, first, none);
		uint64_t rung = now_ns();

		submit(b, &w);
		launch(b, second, true);
		launch(a, first, true);
		signal_wait_le(second, 0, "dependency");
		if (now_ns() - rung + 1000 < 2 * kernel_ns)
			bad = wrong(
				"the second kernel was done %llu ns after the first one's doorbell",
				(unsigned long long)(now_ns() - rung));
		if (hsa_signal_load_scacquire(first) != 0)
			bad = wrong("the first signal is %lld",
				    (long long)hsa_signal_load_scacquire(first));
		HSA(hsa_signal_destroy(first));
		HSA(hsa_signal_destroy(second));
	}
	HSA(hsa_queue_destroy(a));
	HSA(hsa_queue_destroy(b));
	return bad;
}

static bool handler(hsa_signal_value_t value, void *arg)
{
	(void)arg;
	if (value == 0)
		atomic_fetch_add(&handler_calls, 1);
	return false;
}

/* An asynchronous handler is called once for each signal. */
static int case_handler(void)
{
	enum { N = 20 };
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t s[N];
	uint64_t deadline;
	int bad = 0;

	for (int i = 0; i < N; i++) {
		s[i] = signal_new(1);
		HSA(hsa_amd_signal_async_handler(s[i], HSA_SIGNAL_CONDITION_LT, 1, handler, NULL));
		launch(queue, s[i], true);
	}
	deadline = now_ns() + 60000000000u;
	while (handler_calls < N && now_ns() < deadline)
		sleep_ms(1);
	sleep_ms(50);
	if (handler_calls != N)
		bad = wrong("%d calls of the handler, expected %d", handler_calls, N);
	for (int i = 0; i < N; i++) {
		bad = bad || stays(s[i], 0, 0);
		HSA(hsa_signal_destroy(s[i]));
	}
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* No barrier bit, own signals, a queue full of them: each drops by one. */
static int case_overlap(void)
{
	enum { N = 64 };
	hsa_queue_t *queue = queue_open(&machine, 0, 64, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t s[N];
	int bad = 0;

	for (int i = 0; i < N; i++) {
		s[i] = signal_new(3);
		launch(queue, s[i], false);
	}
	for (int i = 0; i < N; i++)
		signal_wait_le(s[i], 2, "overlap");
	sleep_ms(50);
	for (int i = 0; i < N; i++) {
		bad = bad || stays(s[i], 2, 0);
		HSA(hsa_signal_destroy(s[i]));
	}
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* Memory of the program's that the GPU may access; *at is its address for the GPU, which may be
 * another. */
static char *lock_pages(hsa_agent_t gpu, size_t size, char **at)
{
	char *host;

	if (posix_memalign((void **)&host, 4096, size))
		die(1, "no memory");
	HSA(hsa_amd_memory_lock(host, size, &gpu, 1, (void **)at));
	return host;
}

static void unlock_pages(char *host)
{
	HSA(hsa_amd_memory_unlock(host));
	free(host);
}

/* A copy's signal: once, with its times; and a copy that waits for a kernel. */
static int case_copies(void)
{
	hsa_queue_t *queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
	hsa_agent_t gpu = machine.gpus[0].agent;
	char *from, *to, *src = lock_pages(gpu, 65536, &from), *dst = lock_pages(gpu, 65536, &to);
	int bad = 0;

	memset(src, 0x5a, 65536);
	HSA(hsa_amd_profiling_async_copy_enable(true));
	for (uint64_t i = 0; i < 20 && !bad; i++) {
		hsa_amd_profiling_async_copy_time_t t = { 0, 0 };
		hsa_signal_t kernel = signal_new(1), copy = signal_new(1);
		uint64_t rung = system_ns();

		memset(dst, 0, 65536);
		launch(queue, kernel, true);
		HSA(hsa_amd_memory_async_copy(to, gpu, from, machine.cpu, 65536, 1, &kernel, copy));
		signal_wait_le(copy, 0, "copies");
		if (system_ns() - rung + 1000 < kernel_ns)
			bad = wrong("the copy did not wait for the kernel");
		if (memcmp(src, dst, 65536))
			bad = wrong("the copy is wrong");
		HSA(hsa_amd_profiling_get_async_copy_time(copy, &t));
		if (t.end < t.start || t.start + 50000 < rung || t.end > system_ns() + 50000)
			bad = wrong("the copy's times are %llu to %llu after %llu",
				    (unsigned long long)t.start, (unsigned long long)t.end,
				    (unsigned long long)rung);
		bad = bad || stays(copy, 0, i ? 0 : 60);
		HSA(hsa_signal_destroy(kernel));
		HSA(hsa_signal_destroy(copy));
	}
	unlock_pages(src);
	unlock_pages(dst);
	HSA(hsa_queue_destroy(queue));
	return bad;
}

/* One signal that several copies count down. */
static int case_shared_copies(void)
{
	enum { N = 8 };
	hsa_agent_t gpu = machine.gpus[0].agent;
	hsa_signal_t s = signal_new(N);
	char *from, *to, *src = lock_pages(gpu, 65536, &from), *dst = lock_pages(gpu, 65536, &to);
	int bad;

	memset(src, 0x3c, 65536);
	memset(dst, 0, 65536);
	for (int i = 0; i < N; i++)
		HSA(hsa_amd_memory_async_copy(to + i * 8192, gpu, from + i * 8192, machine.cpu,
					      8192, 0, NULL, s));
	signal_wait_le(s, 0, "shared_copies");
	bad = stays(s, 0, 60);
	if (!bad && memcmp(src, dst, 65536))
		bad = wrong("the copy is wrong");
	unlock_pages(src);
	unlock_pages(dst);
	HSA(hsa_signal_destroy(s));
	return bad;
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "drops_once", case_drops_once },
	{ "times", case_times },
	{ "reuse", case_reuse },
	{ "destroy", case_destroy },
	{ "counting", case_counting },
	{ "twice", case_twice },
	{ "dependency", case_dependency },
	{ "handler", case_handler },
	{ "overlap", case_overlap },
	{ "copies", case_copies },
	{ "shared_copies", case_shared_copies },
};

int main(int argc, char **argv)
{
	const char *only = arg_text(argc, argv, "case", NULL);
	int failed = 0;

	kernel_ns = arg_num(argc, argv, "kernel_ns", 10000);
	rounds = arg_num(argc, argv, "rounds", 300);
	setvbuf(stdout, NULL, _IOLBF, 0);
	machine_open(&machine);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (only && strcmp(only, cases[i].name))
			continue;
		problem[0] = '\0';
		if (cases[i].run()) {
			printf("%s: %s\n", cases[i].name, problem);
			failed++;
		} else {
			printf("%s: ok\n", cases[i].name);
		}
	}
	HSA(hsa_shut_down());
	return failed;
}
