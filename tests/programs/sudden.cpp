/* SPDX-License-Identifier: MIT */
/* sudden.cpp - dies as soon as it knows that its GPU work has completed
 *
 *	sudden HOW [wait=stream] [launches=200] [streams=1] [rounds=1] [idle=0] [pause=0]
 *
 * Each round sleeps `idle` ms, launches `launches` kernels on each of `streams` streams and copies
 * a few bytes back, waits, and writes "seen N", the number of kernels that it knows to have
 * completed, with one write(). After the last it sleeps `pause` ms and ends by HOW: _exit,
 * quick_exit, abort, kill, exec, execlong (of a program that sleeps), segv (with a handler of its
 * own that calls _exit), forever (goes on until somebody kills it).
 * wait: stream, device, event, streamquery, eventquery, memcpy, callback.
 */
#include "hip_common.hpp"

#include <atomic>
#include <vector>

extern "C" __global__ void sudden_work(int *p)
{
	p[threadIdx.x] = 1;
}

static int *memory;
static int host[64];
static std::vector<hipStream_t> streams;
static std::atomic<size_t> nr_called;

static void on_stream(hipStream_t, hipError_t, void *)
{
	nr_called++;
}

static void wait_events(bool query)
{
	std::vector<hipEvent_t> events(streams.size());

	for (size_t i = 0; i < streams.size(); i++) {
		HIP(hipEventCreateWithFlags(&events[i], hipEventDisableTiming));
		HIP(hipEventRecord(events[i], streams[i]));
	}
	for (hipEvent_t e : events) {
		if (query)
			while (hipEventQuery(e) == hipErrorNotReady)
				;
		else
			HIP(hipEventSynchronize(e));
		HIP(hipEventDestroy(e));
	}
}

static void wait_called()
{
	while (nr_called < streams.size())
		;
	nr_called = 0;
}

static void wait_for_work(const char *how)
{
	if (!strcmp(how, "device"))
		HIP(hipDeviceSynchronize());
	else if (!strcmp(how, "event") || !strcmp(how, "eventquery"))
		wait_events(!strcmp(how, "eventquery"));
	else if (!strcmp(how, "callback"))
		wait_called();
	else
		for (hipStream_t s : streams) {
			if (!strcmp(how, "streamquery"))
				while (hipStreamQuery(s) == hipErrorNotReady)
					;
			else if (strcmp(how, "memcpy"))
				HIP(hipStreamSynchronize(s));
		}
}

static void round(const char *how, long launches)
{
	for (hipStream_t s : streams) {
		for (long i = 0; i < launches; i++)
			sudden_work<<<1 + (unsigned)(i % 7), 64, 0, s>>>(memory);
		HIP(hipGetLastError());
		if (!strcmp(how, "memcpy"))
			HIP(hipMemcpyWithStream(host, memory, sizeof(host), hipMemcpyDeviceToHost,
						s));
		else
			HIP(hipMemcpyAsync(host, memory, sizeof(host), hipMemcpyDeviceToHost, s));
		if (!strcmp(how, "callback"))
			HIP(hipStreamAddCallback(s, on_stream, NULL, 0));
	}
	wait_for_work(how);
}

static void on_fault(int)
{
	_exit(3);
}

static int end_now(const char *how)
{
	char *const args[] = { (char *)"sh", (char *)"-c", (char *)"exit 6", NULL };
	char *const sleeps[] = { (char *)"sleep", (char *)"60", NULL };

	end_suddenly(how);
	if (!strcmp(how, "exec"))
		execv("/bin/sh", args);
	if (!strcmp(how, "execlong"))
		execv("/bin/sleep", sleeps);
	if (!strcmp(how, "segv")) {
		signal(SIGSEGV, on_fault);
		raise(SIGSEGV);
	}
	fprintf(stderr, "sudden: unknown '%s'; see the head of sudden.cpp\n", how);
	return 2;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const char *wait = arg_text(argc, argv, "wait", "stream");
	long launches = arg_num(argc, argv, "launches", 200), seen = 0;
	bool forever = !strcmp(how, "forever");
	char text[64];

	HIP(hipMalloc((void **)&memory, 1 << 16));
	streams.resize((size_t)arg_num(argc, argv, "streams", 1));
	for (hipStream_t &s : streams)
		HIP(hipStreamCreate(&s));
	for (long i = 0; forever || i < arg_num(argc, argv, "rounds", 1); i++) {
		sleep_ms(arg_num(argc, argv, "idle", 0));
		round(wait, launches);
		seen += launches * (long)streams.size();
		if (write(1, text, (size_t)snprintf(text, sizeof(text), "seen %ld\n", seen)) < 0)
			return 1;
	}
	sleep_ms(arg_num(argc, argv, "pause", 0));
	return end_now(how);
}
