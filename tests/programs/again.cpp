/* SPDX-License-Identifier: MIT */
/* again.cpp - kernels that change what they read, so that a kernel that ran twice gives other
 * results
 *
 *	again rounds=6 streams=2 gpus=1 big=0 parts=isgrdca size=4096
 *
 * Each stream has its own thread; they take the GPUs in turn. A round is one pass over the parts:
 *	i  increments its buffer	s  a sum by atomics to a counter in memory
 *	g  a variable of the module	r  a reduction of three kernels over one buffer
 *	d  data that is copied in, changed, and copied out on the same stream, without waiting
 *	c  copies between two buffers on a stream of their own, beside the others
 *	a  a new allocation, used once, freed
 * and, alone:
 *	h  increments memory of the host	p  prints
 *	w  two kernels on two streams that wait for each other
 *	x  increments memory before and after another process has opened it and increments it, and
 *	   memory that is no other's
 * `big`: MiB of an allocation that no kernel uses.
 *
 * stdout: the number of launches, and of wrong results; "0 wrong" is the end.
 */
#include "hip_common.hpp"

#include <sys/wait.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

static __device__ unsigned module_counter;
static std::atomic<long> launches, wrong;
static long size;

extern "C" __global__ void again_increment(unsigned *p, unsigned by)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

extern "C" __global__ void again_count(unsigned *counter, const unsigned *p)
{
	atomicAdd(counter, p[blockIdx.x * blockDim.x + threadIdx.x] & 1);
}

extern "C" __global__ void again_module(unsigned by)
{
	if (threadIdx.x == 0)
		atomicAdd(&module_counter, by);
}

/* Adds the upper half of the values to the lower one. */
extern "C" __global__ void again_fold(unsigned *p, unsigned half)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < half)
		p[i] += p[i + half];
}

extern "C" __global__ void again_print(unsigned *p)
{
	if (threadIdx.x == 0)
		printf("printed %u\n", atomicAdd(p, 1));
}

/* Sets one flag and waits for the other. */
extern "C" __global__ void again_wait(unsigned *mine, unsigned *other)
{
	if (threadIdx.x)
		return;
	atomicExch(mine, 1);
	while (!atomicAdd(other, 0))
		;
}

#define LAUNCH(kernel, threads, stream, ...)                                                       \
	do {                                                                                       \
		hipLaunchKernelGGL(kernel, dim3(((threads) + 63) / 64), dim3(64), 0, stream,       \
				   __VA_ARGS__);                                                   \
		HIP(hipGetLastError());                                                            \
		launches++;                                                                        \
	} while (0)

static void check(bool right, const char *what)
{
	if (right)
		return;
	wrong++;
	fprintf(stderr, "wrong: %s\n", what);
}

struct lane {
	hipStream_t stream, side;
	unsigned *data, *counter, *fold, *pinned, *from, *to;
	std::vector<unsigned> host;
	unsigned sum; /* what `counter` has to be */
	unsigned rounds;
};

static void setup(lane &l)
{
	HIP(hipStreamCreateWithFlags(&l.stream, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&l.side, hipStreamNonBlocking));
	HIP(hipMalloc((void **)&l.data, size * 4));
	HIP(hipMalloc((void **)&l.counter, 4));
	HIP(hipMalloc((void **)&l.fold, size * 4));
	HIP(hipMalloc((void **)&l.from, size * 4));
	HIP(hipMalloc((void **)&l.to, size * 4));
	HIP(hipHostMalloc((void **)&l.pinned, size * 4, 0));
	l.host.resize(size);
	for (long i = 0; i < size; i++)
		l.host[i] = (unsigned)i;
	HIP(hipMemcpy(l.data, l.host.data(), size * 4, hipMemcpyHostToDevice));
	HIP(hipMemcpy(l.from, l.host.data(), size * 4, hipMemcpyHostToDevice));
	HIP(hipMemset(l.counter, 0, 4));
	/* streams that do not block do not wait for it */
	HIP(hipDeviceSynchronize());
}

static void fold(lane &l)
{
	unsigned want = 0, have;

	HIP(hipMemcpyAsync(l.fold, l.host.data(), size * 4, hipMemcpyHostToDevice, l.stream));
	for (long i = 0; i < size; i++)
		want += l.host[i];
	for (long half = size / 2; half; half /= 2)
		LAUNCH(again_fold, half, l.stream, l.fold, (unsigned)half);
	HIP(hipMemcpyAsync(&have, l.fold, 4, hipMemcpyDeviceToHost, l.stream));
	HIP(hipStreamSynchronize(l.stream));
	check(have == want, "sum of a reduction");
}

static void there_and_back(lane &l)
{
	for (long i = 0; i < size; i++)
		l.pinned[i] = (unsigned)(i * 3);
	HIP(hipMemcpyAsync(l.fold, l.pinned, size * 4, hipMemcpyHostToDevice, l.stream));
	LAUNCH(again_increment, size, l.stream, l.fold, 5u);
	HIP(hipMemcpyAsync(l.pinned, l.fold, size * 4, hipMemcpyDeviceToHost, l.stream));
	HIP(hipStreamSynchronize(l.stream));
	for (long i = 0; i < size; i++)
		if (l.pinned[i] != (unsigned)(i * 3) + 5)
			return check(false, "data that came back");
}

static void one_round(lane &l, const char *parts)
{
	unsigned *fresh, have = 0;

	if (strchr(parts, 'c')) {
		HIP(hipMemcpyAsync(l.to, l.from, size * 4, hipMemcpyDeviceToDevice, l.side));
		HIP(hipMemcpyAsync(l.from, l.host.data(), size * 4, hipMemcpyHostToDevice, l.side));
	}
	if (strchr(parts, 'i'))
		LAUNCH(again_increment, size, l.stream, l.data, 2u);
	if (strchr(parts, 's')) {
		LAUNCH(again_count, size, l.stream, l.counter, l.data);
		l.sum += (unsigned)size / 2;
	}
	if (strchr(parts, 'g'))
		LAUNCH(again_module, 64, l.stream, 3u);
	if (strchr(parts, 'r'))
		fold(l);
	if (strchr(parts, 'd'))
		there_and_back(l);
	if (strchr(parts, 'a')) {
		HIP(hipMalloc((void **)&fresh, 4096));
		HIP(hipMemsetAsync(fresh, 0, 4096, l.stream));
		LAUNCH(again_increment, 1024, l.stream, fresh, 7u);
		HIP(hipMemcpyAsync(&have, fresh + 1023, 4, hipMemcpyDeviceToHost, l.stream));
		HIP(hipStreamSynchronize(l.stream));
		check(have == 7, "a new allocation");
		HIP(hipFree(fresh));
	}
	l.rounds++;
}

static void finish(lane &l, const char *parts)
{
	std::vector<unsigned> have(size);
	unsigned counted;

	HIP(hipStreamSynchronize(l.stream));
	HIP(hipStreamSynchronize(l.side));
	HIP(hipMemcpy(have.data(), l.data, size * 4, hipMemcpyDeviceToHost));
	HIP(hipMemcpy(&counted, l.counter, 4, hipMemcpyDeviceToHost));
	check(counted == l.sum, "the counter");
	for (long i = 0; i < size; i++)
		if (have[i] != l.host[i] + (strchr(parts, 'i') ? 2 * l.rounds : 0))
			return check(false, "increments");
	if (!strchr(parts, 'c'))
		return;
	HIP(hipMemcpy(have.data(), l.to, size * 4, hipMemcpyDeviceToHost));
	check(have == l.host, "copies between buffers");
}

static void on_host_memory(void)
{
	unsigned *host, *at;

	HIP(hipHostMalloc((void **)&host, 4096, hipHostMallocMapped));
	HIP(hipHostGetDevicePointer((void **)&at, host, 0));
	memset(host, 0, 4096);
	LAUNCH(again_increment, 1024, 0, at, 1u);
	HIP(hipDeviceSynchronize());
	check(host[0] == 1 && host[1023] == 1, "memory of the host");
}

static void print(void)
{
	unsigned *p;

	HIP(hipMalloc((void **)&p, 4));
	HIP(hipMemset(p, 0, 4));
	LAUNCH(again_print, 1, 0, p);
	HIP(hipDeviceSynchronize());
}

static void wait_for_each_other(void)
{
	hipStream_t streams[2];
	unsigned *flags;

	HIP(hipMalloc((void **)&flags, 8));
	HIP(hipMemset(flags, 0, 8));
	HIP(hipDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		HIP(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
	for (int i = 0; i < 2; i++)
		LAUNCH(again_wait, 1, streams[i], flags + i, flags + !i);
	for (int i = 0; i < 2; i++)
		HIP(hipStreamSynchronize(streams[i]));
}

/* The other process: this program, given the handle in hexadecimal. Its status is that of what it
 * did. */
static int open_memory(const char *hex)
{
	hipIpcMemHandle_t handle;
	unsigned *p;

	for (size_t i = 0; i < sizeof(handle); i++) {
		char two[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		((unsigned char *)&handle)[i] = (unsigned char)strtoul(two, NULL, 16);
	}
	/* the flag, of which there is one, is 0 in older versions and 1 in newer ones */
	if (hipIpcOpenMemHandle((void **)&p, handle, 0) != hipSuccess)
		HIP(hipIpcOpenMemHandle((void **)&p, handle, 1));
	LAUNCH(again_increment, size, 0, p, 10u);
	HIP(hipDeviceSynchronize());
	HIP(hipIpcCloseMemHandle(p));
	return 0;
}

static void run_other(const hipIpcMemHandle_t &handle)
{
	std::string text = "opened=", of = "size=" + std::to_string(size);
	int status = -1;
	pid_t child;

	for (size_t i = 0; i < sizeof(handle); i++) {
		char two[3];

		snprintf(two, sizeof(two), "%02x", ((const unsigned char *)&handle)[i]);
		text += two;
	}
	child = fork();
	if (!child) {
		execl("/proc/self/exe", "again", text.c_str(), of.c_str(), (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	check(status == 0, "the other process");
	launches++;
}

static void share_with_process(void)
{
	std::vector<unsigned> have(size);
	hipIpcMemHandle_t handle;
	unsigned *shared, *own;

	HIP(hipMalloc((void **)&shared, size * 4));
	HIP(hipMalloc((void **)&own, size * 4));
	HIP(hipMemset(shared, 0, size * 4));
	HIP(hipMemset(own, 0, size * 4));
	LAUNCH(again_increment, size, 0, shared, 1u);
	HIP(hipDeviceSynchronize());
	HIP(hipIpcGetMemHandle(&handle, shared));
	run_other(handle);
	LAUNCH(again_increment, size, 0, shared, 100u);
	LAUNCH(again_increment, size, 0, own, 5u);
	HIP(hipMemcpy(have.data(), shared, size * 4, hipMemcpyDeviceToHost));
	check(have == std::vector<unsigned>(size, 111), "memory that two processes have");
	HIP(hipMemcpy(have.data(), own, size * 4, hipMemcpyDeviceToHost));
	check(have == std::vector<unsigned>(size, 5), "memory beside it");
	HIP(hipFree(shared));
	HIP(hipFree(own));
}

static void run_stream(const char *parts, long rounds, int gpu)
{
	lane l = {};

	HIP(hipSetDevice(gpu));
	setup(l);
	for (long i = 0; i < rounds; i++)
		one_round(l, parts);
	finish(l, parts);
}

/* Its device is the current one afterwards. */
static void check_module(int gpu, long want)
{
	unsigned counted = 0;

	HIP(hipSetDevice(gpu));
	HIP(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(module_counter), 4));
	check(counted == want, "the module's variable");
}

int main(int argc, char **argv)
{
	const char *parts = arg_text(argc, argv, "parts", "isgrdca");
	long rounds = arg_num(argc, argv, "rounds", 6), big = arg_num(argc, argv, "big", 0);
	long nr_streams = arg_num(argc, argv, "streams", 2);
	std::vector<std::thread> threads;
	long nr_gpus = arg_num(argc, argv, "gpus", 1);
	const char *opened = arg_text(argc, argv, "opened", NULL);
	void *unused;

	size = arg_num(argc, argv, "size", 4096);
	if (opened)
		return open_memory(opened);
	if (big)
		HIP(hipMalloc(&unused, (size_t)big << 20));
	for (long i = 0; i < nr_streams; i++)
		threads.emplace_back(run_stream, parts, rounds, (int)(i % nr_gpus));
	for (std::thread &t : threads)
		t.join();
	for (long g = nr_gpus; g--;)
		check_module((int)g,
			     strchr(parts, 'g') ?
				     3 * ((nr_streams + nr_gpus - 1 - g) / nr_gpus) * rounds :
				     0);
	if (strchr(parts, 'h'))
		on_host_memory();
	if (strchr(parts, 'x'))
		share_with_process();
	if (strchr(parts, 'p'))
		print();
	if (strchr(parts, 'w'))
		wait_for_each_other();
	printf("again: %ld launches, %ld wrong\n", launches.load(), wrong.load());
	return wrong != 0;
}
