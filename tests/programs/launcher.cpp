/* SPDX-License-Identifier: MIT */
/* launcher.cpp - a known number of launches, from many threads and streams
 *
 *	launcher threads=1 streams=1 launches=1000 devices=1 sync=0 copies=0 roctx=0 seed=0 hold=
 *
 * `launches` is the number of kernels in all, `streams` the streams of each thread; stream s of
 * thread t is on device (t * streams + s) % devices. sync=N waits for the stream after every N
 * launches of a thread, 0 only at the end. copies=N does N rounds of copies and fills in each
 * thread, between launches, and checks the data. roctx=1 puts ranges around launches. ext=1 uses
 * hipExtLaunchKernel with events for some launches; waits=1 lets streams wait for each other.
 * hold=FILE: each thread waits for that file after half of its launches, 120 s at most.
 *
 * Kernel i of the table has a unique size of workgroups, which identifies it in the trace. stdout:
 * one line per kernel with its launches, and a total; the same on every run.
 */
#include "hip_common.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

extern "C" __global__ void k00_plain(float *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] += 1;
}

__global__ void k01_two_dimensions(float *p, int n)
{
	int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] *= 2;
}

namespace tensor
{
namespace detail
{
template <typename T, int N> struct vec {
	T data[N];
};

struct add_op {
	template <typename T> __device__ T operator()(T a, T b) const
	{
		return a + b;
	}
};

struct mul_op {
	template <typename T> __device__ T operator()(T a, T b) const
	{
		return a * b;
	}
};
} // namespace detail

template <typename T, typename Op, int Unroll>
__global__ void k02_elementwise(T *out, const T *in, Op op, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < Unroll; k++)
		if (i * Unroll + k < n)
			out[i * Unroll + k] = op(out[i * Unroll + k], in[i * Unroll + k]);
}

template <typename... Ts> __global__ void k04_variadic(float *p, Ts... values)
{
	float sum = (0.0f + ... + (float)values);

	p[threadIdx.x] = sum;
}

/* A name of more than a thousand characters, as template libraries make them. */
template <typename A, typename B> struct pair_of {
	A a;
	B b;
};
using p1 = pair_of<detail::vec<double, 4>, detail::vec<unsigned long long, 8>>;
using p2 = pair_of<pair_of<p1, p1>, pair_of<p1, detail::vec<p1, 3>>>;
using p3 = pair_of<pair_of<p2, detail::vec<p2, 17>>, pair_of<detail::vec<p1, 5>, p2>>;
using p4 = pair_of<detail::vec<float, 11>, pair_of<p3, pair_of<p3, detail::vec<p3, 29>>>>;

template <typename T, typename Op> __global__ void k05_long_name(float *p, T *unused, Op)
{
	p[threadIdx.x] = unused ? 1.0f : 0.0f;
}
} // namespace tensor

__global__ void k06_shared(float *p, int n)
{
	__shared__ float tile[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	tile[threadIdx.x % 256] = i < n ? p[i] : 0;
	__syncthreads();
	if (i < n)
		p[i] = tile[(threadIdx.x + 1) % 256];
}

__global__ void k07_dynamic_shared(float *p)
{
	extern __shared__ float all[];

	all[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

__global__ void k08_three_dimensions(float *p)
{
	p[threadIdx.x] = (float)(blockIdx.z + blockIdx.y);
}

__global__ __launch_bounds__(1024) void k09_wide(float *p)
{
	p[threadIdx.x % 64] = (float)threadIdx.x;
}

static __global__ void k10_local(float *p, int n)
{
	if ((int)threadIdx.x < n)
		p[threadIdx.x] -= 1;
}

enum { NR_KERNELS = 11 };
static const char *const kernel_names[NR_KERNELS] = {
	"k00_plain",	   "k01_two_dimensions", "k02_elementwise",
	"k02_elementwise", "k04_variadic",	 "k05_long_name",
	"k06_shared",	   "k07_dynamic_shared", "k08_three_dimensions",
	"k09_wide",	   "k10_local",
};
/* x, y, z: different for each kernel */
static const unsigned int groups[NR_KERNELS][3] = {
	{ 64, 1, 1 },  { 32, 2, 1 },  { 128, 1, 1 }, { 192, 1, 1 },  { 16, 1, 1 },  { 48, 1, 1 },
	{ 256, 1, 1 }, { 320, 1, 1 }, { 8, 4, 2 },   { 1024, 1, 1 }, { 100, 1, 1 },
};

static long nr_threads, nr_streams, nr_launches, nr_devices, sync_every, nr_copies, use_roctx,
	use_ext, use_waits, seed;
static const char *hold;
static std::atomic<long> counts[NR_KERNELS];
static std::atomic<long> wrong_copies;
static int (*range_push)(const char *);
static int (*range_pop)(void);

static void launch(long i, int kernel, hipStream_t stream, float *p, hipEvent_t start,
		   hipEvent_t stop)
{
	/* grids of many sizes: not a multiple of anything in particular */
	unsigned int blocks = 1 + (unsigned int)((i * 7 + seed) % 61);
	dim3 group(groups[kernel][0], groups[kernel][1], groups[kernel][2]);
	dim3 grid(blocks);
	using namespace tensor;

	counts[kernel]++;
	if (start || stop) {
		int n = 64;
		void *args[] = { &p, &n };

		HIP(hipExtLaunchKernel((const void *)k10_local, grid, group, args, 0, stream, start,
				       stop, 0));
		return;
	}
	switch (kernel) {
	case 0:
		k00_plain<<<grid, group, 0, stream>>>(p, 64);
		break;
	case 1:
		k01_two_dimensions<<<dim3(blocks, 3), group, 0, stream>>>(p, 64);
		break;
	case 2:
		k02_elementwise<float, detail::add_op, 4>
			<<<grid, group, 0, stream>>>(p, p, detail::add_op(), 64);
		break;
	case 3:
		k02_elementwise<double, detail::mul_op, 8>
			<<<grid, group, 0, stream>>>((double *)p, (double *)p, detail::mul_op(),
						     32);
		break;
	case 4:
		k04_variadic<<<grid, group, 0, stream>>>(p, 1, 2u, 3.0f, 4.0, 'a', 6ll);
		break;
	case 5:
		k05_long_name<p4, detail::add_op>
			<<<grid, group, 0, stream>>>(p, (p4 *)NULL, detail::add_op());
		break;
	case 6:
		k06_shared<<<grid, group, 0, stream>>>(p, 64);
		break;
	case 7:
		k07_dynamic_shared<<<grid, group, group.x * sizeof(float), stream>>>(p);
		break;
	case 8:
		k08_three_dimensions<<<dim3(blocks, 2, 5), group, 0, stream>>>(p);
		break;
	case 9:
		k09_wide<<<grid, group, 0, stream>>>(p);
		break;
	case 10:
		k10_local<<<grid, group, 0, stream>>>(p, 64);
		break;
	}
	HIP(hipGetLastError());
}

/* Each round: to the device, back, within it, to another one, in two dimensions, and a fill. */
static void copy_round(long round, int device, hipStream_t stream)
{
	size_t size = 4096 + (size_t)(round * 12345 + seed) % 200000;
	int other = (device + 1) % (int)nr_devices;
	char *host, *back, *dev, *dev2, *peer;

	size &= ~(size_t)15;
	HIP(hipHostMalloc((void **)&host, size, 0));
	HIP(hipHostMalloc((void **)&back, size, 0));
	HIP(hipMalloc((void **)&dev, size));
	HIP(hipMalloc((void **)&dev2, size));
	for (size_t i = 0; i < size; i++)
		host[i] = (char)(i * 31 + (size_t)round);
	memset(back, 0, size);
	HIP(hipMemcpyAsync(dev, host, size, hipMemcpyHostToDevice, stream));
	HIP(hipMemcpyAsync(back, dev, size, hipMemcpyDeviceToHost, stream));
	HIP(hipStreamSynchronize(stream));
	if (memcmp(host, back, size))
		wrong_copies++;
	HIP(hipMemcpyAsync(dev2, dev, size, hipMemcpyDeviceToDevice, stream));
	HIP(hipMemcpy2DAsync(dev2, 256, host, 128, 100, size / 256, hipMemcpyHostToDevice, stream));
	HIP(hipMemsetAsync(dev2, 0x33, size, stream));
	if (nr_devices > 1) {
		HIP(hipSetDevice(other));
		HIP(hipMalloc((void **)&peer, size));
		HIP(hipSetDevice(device));
		HIP(hipMemcpyPeerAsync(peer, other, dev, device, size, stream));
		HIP(hipStreamSynchronize(stream));
		HIP(hipFree(peer));
	}
	HIP(hipStreamSynchronize(stream));
	/* and with memory that the runtime stages */
	std::vector<char> plain(size), plain_back(size);
	memcpy(plain.data(), host, size);
	HIP(hipMemcpy(dev, plain.data(), size, hipMemcpyHostToDevice));
	HIP(hipMemcpy(plain_back.data(), dev, size, hipMemcpyDeviceToHost));
	if (memcmp(plain.data(), plain_back.data(), size))
		wrong_copies++;
	HIP(hipFree(dev));
	HIP(hipFree(dev2));
	HIP(hipHostFree(host));
	HIP(hipHostFree(back));
}

static void wait_for_file(hipStream_t stream)
{
	HIP(hipStreamSynchronize(stream));
	for (int i = 0; i < 12000 && access(hold, F_OK) != 0; i++)
		usleep(10000);
}

static void run_thread(long t)
{
	long first = nr_launches * t / nr_threads, end = nr_launches * (t + 1) / nr_threads;
	std::vector<hipStream_t> streams((size_t)nr_streams);
	std::vector<float *> memory((size_t)nr_streams);
	std::vector<hipEvent_t> events((size_t)nr_streams * 2);
	long copies_done = 0;

	for (long s = 0; s < nr_streams; s++) {
		HIP(hipSetDevice((int)((t * nr_streams + s) % nr_devices)));
		HIP(hipStreamCreateWithFlags(&streams[(size_t)s], hipStreamNonBlocking));
		HIP(hipMalloc((void **)&memory[(size_t)s], 1 << 16));
		HIP(hipEventCreate(&events[(size_t)s * 2]));
		HIP(hipEventCreate(&events[(size_t)s * 2 + 1]));
	}
	for (long i = first; i < end; i++) {
		size_t s = (size_t)((i - first) % nr_streams);
		int device = (int)((t * nr_streams + (long)s) % nr_devices);
		int kernel = (int)((i + seed) % NR_KERNELS);
		bool ext = use_ext && kernel == 10;

		HIP(hipSetDevice(device));
		if (hold && i == first + (end - first) / 2)
			wait_for_file(streams[s]);
		if (range_push && i % 4 == 0)
			range_push(("launch " + std::to_string(i % 16)).c_str());
		launch(i, kernel, streams[s], memory[s], ext ? events[s * 2] : NULL,
		       ext ? events[s * 2 + 1] : NULL);
		if (range_pop && i % 4 == 3)
			range_pop();
		if (use_waits && nr_streams > 1 && i % 50 == 49) {
			size_t next = (s + 1) % (size_t)nr_streams;

			if ((t * nr_streams + (long)next) % nr_devices == device) {
				HIP(hipEventRecord(events[s * 2], streams[s]));
				HIP(hipStreamWaitEvent(streams[next], events[s * 2], 0));
			}
		}
		if (sync_every && (i - first) % sync_every == sync_every - 1)
			HIP(hipStreamSynchronize(streams[s]));
		if (copies_done < nr_copies &&
		    (i - first) * nr_copies / (end - first) >= copies_done) {
			copy_round(t * 1000 + copies_done, device, streams[s]);
			copies_done++;
		}
	}
	for (long s = 0; s < nr_streams; s++) {
		HIP(hipSetDevice((int)((t * nr_streams + s) % nr_devices)));
		HIP(hipStreamSynchronize(streams[(size_t)s]));
	}
	/* HIP 5.2.3, untraced: its completion handler looks at signals after all is over, and one
	 * in a hundred runs died ("IsValid(signal)") when a stream was destroyed meanwhile. */
	usleep(20000);
	for (long s = 0; s < nr_streams; s++) {
		HIP(hipSetDevice((int)((t * nr_streams + s) % nr_devices)));
		HIP(hipStreamDestroy(streams[(size_t)s]));
		HIP(hipEventDestroy(events[(size_t)s * 2]));
		HIP(hipEventDestroy(events[(size_t)s * 2 + 1]));
		HIP(hipFree(memory[(size_t)s]));
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	int found = 0;
	long total = 0;

	nr_threads = arg_num(argc, argv, "threads", 1);
	nr_streams = arg_num(argc, argv, "streams", 1);
	nr_launches = arg_num(argc, argv, "launches", 1000);
	nr_devices = arg_num(argc, argv, "devices", 1);
	sync_every = arg_num(argc, argv, "sync", 0);
	nr_copies = arg_num(argc, argv, "copies", 0);
	use_roctx = arg_num(argc, argv, "roctx", 0);
	use_ext = arg_num(argc, argv, "ext", 0);
	use_waits = arg_num(argc, argv, "waits", 0);
	seed = arg_num(argc, argv, "seed", 0);
	hold = arg_text(argc, argv, "hold", NULL);
	if (use_roctx) {
		range_push = (int (*)(const char *))dlsym(RTLD_DEFAULT, "roctxRangePushA");
		range_pop = (int (*)(void))dlsym(RTLD_DEFAULT, "roctxRangePop");
	}
	HIP(hipGetDeviceCount(&found));
	if (found < nr_devices) {
		fprintf(stderr, "launcher: %ld devices asked for, %d there\n", nr_devices, found);
		return 1;
	}
	for (long t = 0; t < nr_threads; t++)
		threads.emplace_back(run_thread, t);
	for (std::thread &t : threads)
		t.join();
	for (int k = 0; k < NR_KERNELS; k++) {
		printf("%s group %u,%u,%u: %ld launches\n", kernel_names[k], groups[k][0],
		       groups[k][1], groups[k][2], counts[k].load());
		total += counts[k];
	}
	printf("launcher: %ld launches, %ld wrong copies\n", total, wrong_copies.load());
	return wrong_copies ? 1 : 0;
}
