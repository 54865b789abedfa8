/* SPDX-License-Identifier: MIT */
/* ranges.cpp - every use of roctx, valid and invalid
 *
 *	ranges           all of the following
 *	ranges handler   ranges in a signal handler that interrupts ranges, for a second
 *
 * Finds roctx with dlsym, as Python bindings do. Prints what the calls return; without roctx in the
 * process it prints "no roctx" and only launches.
 */
#include "hip_common.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>

#include <string>
#include <thread>

extern "C" __global__ void ranges_outside(int *p)
{
	p[threadIdx.x] = 1;
}
extern "C" __global__ void ranges_outer(int *p)
{
	p[threadIdx.x] = 2;
}
extern "C" __global__ void ranges_inner(int *p)
{
	p[threadIdx.x] = 3;
}
extern "C" __global__ void ranges_thread(int *p)
{
	p[threadIdx.x] = 4;
}
extern "C" __global__ void ranges_after(int *p)
{
	p[threadIdx.x] = 5;
}

static void (*mark)(const char *);
static int (*push)(const char *);
static int (*pop)(void);
static uint64_t (*start)(const char *);
static void (*stop)(uint64_t);
static int *memory;

#define LAUNCH(kernel) kernel<<<1, 64>>>(memory)

template <typename F> static F find(const char *name)
{
	return (F)dlsym(RTLD_DEFAULT, name);
}

static volatile long nr_handled;

static void on_alarm(int)
{
	int saved = errno;

	push("in the handler");
	mark("in the handler");
	pop();
	nr_handled = nr_handled + 1;
	errno = saved;
}

static int interrupted()
{
	struct itimerval every = { { 0, 300 }, { 0, 300 } }, off = {};
	struct timespec begin, now;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 100; i++) {
			int level = push("interrupted");

			mark("interrupted");
			if (level != 0 || pop() != 0) {
				printf("wrong level\n");
				return 1;
			}
		}
		usleep(300); /* without a pause the buffers would overflow */
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec <
		 1000000000L);
	setitimer(ITIMER_REAL, &off, NULL);
	printf("handler: %s\n", nr_handled > 100 ? "ran" : "hardly ran");
	return 0;
}

int main(int argc, char **argv)
{
	HIP(hipMalloc((void **)&memory, 4096));
	mark = find<void (*)(const char *)>("roctxMarkA");
	push = find<int (*)(const char *)>("roctxRangePushA");
	pop = find<int (*)(void)>("roctxRangePop");
	start = find<uint64_t (*)(const char *)>("roctxRangeStartA");
	stop = find<void (*)(uint64_t)>("roctxRangeStop");
	if (!mark || !push || !pop || !start || !stop) {
		printf("no roctx\n");
		LAUNCH(ranges_outside);
		HIP(hipDeviceSynchronize());
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "handler")) {
		LAUNCH(ranges_outside);
		HIP(hipDeviceSynchronize());
		return interrupted();
	}
	/* the names without suffix, which some bindings look up */
	printf("unsuffixed: %d%d%d\n", dlsym(RTLD_DEFAULT, "roctxMark") != NULL,
	       dlsym(RTLD_DEFAULT, "roctxRangePush") != NULL,
	       dlsym(RTLD_DEFAULT, "roctxRangeStart") != NULL);

	LAUNCH(ranges_outside);
	printf("push outer: %d\n", push("outer"));
	LAUNCH(ranges_outer);
	printf("push inner: %d\n", push("inner"));
	LAUNCH(ranges_inner);
	LAUNCH(ranges_inner);
	mark("mark in inner");
	printf("pop: %d\n", pop());
	LAUNCH(ranges_outer);
	printf("pop: %d\n", pop());
	LAUNCH(ranges_after);
	printf("pop of nothing: %d\n", pop());
	printf("pop of nothing: %d\n", pop());

	/* started and stopped on different threads, overlapping, in any order */
	uint64_t a = start("start a"), b = start("start b");
	printf("start: %s\n", a && b && a != b ? "two ids" : "ids are wrong");
	std::thread([=] {
		printf("push on thread: %d\n", push("thread range"));
		LAUNCH(ranges_thread);
		stop(a);
		printf("pop on thread: %d\n", pop());
	}).join();
	sleep_ms(5);
	stop(b);
	stop(123456789);
	stop(a);

	/* messages */
	mark(NULL);
	printf("push of NULL: %d\n", push(NULL));
	pop();
	mark("");
	mark("Schl\xc3\xbcssel \xe9\x94\xae \xf0\x9f\x94\x91");
	mark("not utf-8: \xff\xfe");
	mark("quotes ' \" \\ and\nnew line\tand tab");
	std::string text(5000, 'x');
	text += "end";
	mark(text.c_str());
	printf("push of 5003: %d\n", push(text.c_str()));
	pop();
	push(std::string(1024, 'y').c_str());
	pop();
	push(std::string(1023, 'z').c_str());
	pop();

	/* deep, and one left open at the end */
	for (int i = 0; i < 300; i++)
		if (push(("deep " + std::to_string(i)).c_str()) != i)
			printf("deep %d: wrong level\n", i);
	for (int i = 299; i >= 0; i--)
		if (pop() != i)
			printf("deep pop %d: wrong level\n", i);
	push("left open");
	start("never stopped");
	HIP(hipDeviceSynchronize());
	HIP(hipFree(memory));
	return 0;
}
