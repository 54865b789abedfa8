/* SPDX-License-Identifier: MIT */
/* embed_work.cpp - GPU work for the examples of embedding: a shared library with two C functions
 *
 * embed_work() copies, launches a kernel `launches` times, copies back and returns how many results
 * are wrong. embed_threads() launches on `threads` threads, each on a stream of its own, and
 * returns when each has launched once; they go on until embed_threads_end(), which returns the
 * number of launches.
 */
#include "check.h"

#include <atomic>
#include <thread>
#include <vector>

__global__ void add_one(int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 1;
}

extern "C" long embed_work(int launches)
{
	const int n = 1024;
	std::vector<int> host(n, 1);
	long wrong = 0;
	int *x;

	HIP(hipMalloc(&x, n * sizeof(int)));
	HIP(hipMemcpy(x, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
	for (int i = 0; i < launches; i++)
		add_one<<<n / 256, 256>>>(x, n);
	HIP(hipGetLastError());
	HIP(hipMemcpy(host.data(), x, n * sizeof(int), hipMemcpyDeviceToHost));
	HIP(hipFree(x));
	for (int i = 0; i < n; i++)
		wrong += host[i] != 1 + launches;
	return wrong;
}

static std::atomic<bool> over;
static std::atomic<int> nr_begun;
static std::atomic<long> nr_launches;
static std::vector<std::thread> *running;

static void launch_until_the_end()
{
	hipStream_t stream;
	int *x;

	HIP(hipStreamCreate(&stream));
	HIP(hipMalloc(&x, sizeof(int)));
	add_one<<<1, 64, 0, stream>>>(x, 1);
	nr_launches++;
	nr_begun++;
	while (!over) {
		add_one<<<1, 64, 0, stream>>>(x, 1);
		if (++nr_launches % 64 == 0)
			HIP(hipStreamSynchronize(stream));
	}
	HIP(hipStreamSynchronize(stream));
	HIP(hipFree(x));
	HIP(hipStreamDestroy(stream));
}

extern "C" void embed_threads(int threads)
{
	over = false;
	nr_begun = 0;
	nr_launches = 0;
	running = new std::vector<std::thread>;
	for (int i = 0; i < threads; i++)
		running->emplace_back(launch_until_the_end);
	while (nr_begun < threads)
		std::this_thread::yield();
}

extern "C" long embed_threads_end(void)
{
	over = true;
	for (std::thread &t : *running)
		t.join();
	delete running;
	return nr_launches;
}
