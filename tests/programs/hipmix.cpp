/* SPDX-License-Identifier: MIT */
/* hipmix.cpp - every kind of launch, copy, fill and graph, from many threads, each one identifiable
 *
 *	hipmix threads=8 streams=4 rounds=2 devices=1 burst=20 parts=abc... account=FILE
 *
 * Each launch has a unique grid, and each copy a unique number of bytes. The program writes its
 * calls, their threads and their GPU operations to FILE, so that a test can check which call caused
 * an operation without the trace's correlation ids.
 *
 * Thread t works on device t % devices, with streams of its own. A round is one pass over the
 * parts:
 *	k  launches in every way of HIP	  m  modules from memory, compiled by hipRTC
 *	c  copies, pinned and pageable		  2  copies in two and three dimensions
 *	s  symbols				  f  fills
 *	t  the default stream of each thread
 *	g  graphs, captured and built		  e  events between streams, a callback
 *	p  copies between devices (two or more)	  b  a burst of `burst` launches without waiting
 *
 * stdout: the number of calls by name and of copies with wrong data; the same on every run.
 */
#include "hip_account.hpp"

#include <hip/hiprtc.h>

#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <shared_mutex>
#include <thread>

/* HIP 7 has hipRTC in a separate library, which this program is not linked to. */
#pragma weak hiprtcCreateProgram
#pragma weak hiprtcCompileProgram
#pragma weak hiprtcGetCodeSize
#pragma weak hiprtcGetCode
#pragma weak hiprtcDestroyProgram

static __device__ int symbol_memory[1 << 14];

extern "C" __global__ void mix_plain(int *p)
{
	p[threadIdx.x] = 1;
}

template <typename T> __global__ void mix_template(T *p, T value)
{
	p[threadIdx.x] = value;
}

extern "C" __global__ void mix_node(int *p, int n)
{
	p[threadIdx.x] = n;
}

static long nr_threads, nr_streams, nr_rounds, nr_devices, burst;
static const char *parts;
static std::vector<char> rtc_code;
static int runtime_version;
/* What one thread does alone on some versions of HIP holds it exclusively; the parts share it. */
static std::shared_mutex alone;
/* The threads between the making of their streams, the parts, and the end of their streams; see
 * streams_are_walked() and end_thread(). */
static pthread_barrier_t all_threads;
static std::atomic<long> wrong_copies, callbacks;

/* kernels write behind the memory that is copied */
enum { BUFFER = 24 << 20, KERNELS_AT = 20 << 20, GROUP = 64 };

struct worker {
	long index, launches, copies, moves, rows, fills, boxes;
	int device;
	std::vector<hipStream_t> streams;
	size_t next_stream;
	hipEvent_t start, stop;
	char *pinned, *back, *dev, *dev2;
	std::vector<char> pageable;
};

/* Unique numbers for launches and copies. */
static unsigned int launch_number(worker &w)
{
	return (unsigned int)(1 + w.launches++ * nr_threads + w.index);
}

static size_t copy_length(worker &w, size_t base)
{
	return base + 16 * (size_t)(1 + w.copies++ * nr_threads + w.index);
}

/* An operation by a kernel of the runtime is identified by the kernel's grid: a step of `n` is one
 * more workgroup, or several where another release's kernel does less in each. */
static size_t step_length(worker &w, long *count, size_t step)
{
	return 8192 + step * (size_t)(1 + (*count)++ * nr_threads + w.index);
}

/* A length that is unique among copies by engines and by kernels. */
static size_t either_length(worker &w)
{
	return (1 << 20) + step_length(w, &w.moves, 8192);
}

/* A copy of `n` bytes, a unique length. */
#define COPY(stream, base, kind, fn, ...)                                                          \
	do {                                                                                       \
		n = copy_length(w, base);                                                          \
		CALL_OPS(stream, OPS(copied(n, kind)), fn, __VA_ARGS__);                           \
	} while (0)
/* Copies within the device, between devices, and fills; with four rows. */
#define MOVE(stream, fn, ...)                                                                      \
	do {                                                                                       \
		n = step_length(w, &w.moves, 8192);                                                \
		CALL_OPS(stream, OPS({ "move", "DeviceToDevice", n, dim3(), dim3() }), fn,         \
			 __VA_ARGS__);                                                             \
	} while (0)
#define PEER(stream, fn, ...)                                                                      \
	do {                                                                                       \
		n = either_length(w);                                                              \
		CALL_OPS(stream, OPS({ "either", "DeviceToDevice", n, dim3(), dim3() }), fn,       \
			 __VA_ARGS__);                                                             \
	} while (0)
#define MOVE_ROWS(stream, fn, ...)                                                                 \
	do {                                                                                       \
		n = step_length(w, &w.rows, 1024);                                                 \
		CALL_OPS(stream, OPS({ "move_rows", "DeviceToDevice", n, dim3(), dim3() }), fn,    \
			 __VA_ARGS__);                                                             \
	} while (0)
#define FILL(stream, fn, ...)                                                                      \
	do {                                                                                       \
		n = step_length(w, &w.fills, 4096);                                                \
		CALL_OPS(stream, OPS({ "fill", "", n, dim3(), dim3() }), fn, __VA_ARGS__);         \
	} while (0)
#define FILL_ROWS(stream, fn, ...)                                                                 \
	do {                                                                                       \
		n = step_length(w, &w.boxes, 64);                                                  \
		CALL_OPS(stream, OPS({ "fill_rows", "", n, dim3(), dim3() }), fn, __VA_ARGS__);    \
	} while (0)

static hipStream_t next_stream(worker &w)
{
	return w.streams[w.next_stream++ % w.streams.size()];
}

static void check(const void *a, const void *b, size_t size)
{
	if (memcmp(a, b, size))
		wrong_copies++;
}

/* ---- launches ------------------------------------------------------------------------------ */

static void launches(worker &w)
{
	int *p = (int *)(w.dev + KERNELS_AT);
	void *args[] = { &p };
	dim3 group(GROUP);
	hipStream_t s = next_stream(w);
	dim3 grid(launch_number(w));

	LAUNCH(s, OPS(kernel("mix_plain", grid, group)), mix_plain, grid, group, p);
	s = next_stream(w);
	grid = dim3(launch_number(w), 2, 3);
	LAUNCH(s, OPS(kernel("mix_template", grid, dim3(32, 2))), mix_template<double>, grid,
	       dim3(32, 2), (double *)p, 1.0);
	s = next_stream(w);
	grid = dim3(launch_number(w));
	CALL_OPS(s, OPS(kernel("mix_plain", grid, group)), hipLaunchKernel, (const void *)mix_plain,
		 grid, group, args, 0, s);
	s = next_stream(w);
	grid = dim3(launch_number(w));
	CALL_OPS(s, OPS(kernel("mix_plain", grid, group)), hipExtLaunchKernel,
		 (const void *)mix_plain, grid, group, args, 0, s, w.start, w.stop, 0);
	CALL(hipEventSynchronize, w.stop);
	s = next_stream(w);
	grid = dim3(launch_number(w));
	CALL_OPS(s, OPS(kernel("mix_plain", grid, group)), hipExtLaunchKernel,
		 (const void *)mix_plain, grid, group, args, 0, s, NULL, w.stop, 0);
	s = next_stream(w);
	grid = dim3(launch_number(w));
	CALL_OPS(s, OPS(kernel("mix_plain", grid, group)), hipExtLaunchKernel,
		 (const void *)mix_plain, grid, group, args, 0, s, NULL, NULL, 0);
	/* the thread's default stream, and the shared one */
	grid = dim3(launch_number(w));
	CALL_OPS(hipStreamPerThread, OPS(kernel("mix_plain", grid, group)), hipLaunchKernel,
		 (const void *)mix_plain, grid, group, args, 0, hipStreamPerThread);
	grid = dim3(launch_number(w));
	CALL_OPS(NULL, OPS(kernel("mix_plain", grid, group)), hipLaunchKernel,
		 (const void *)mix_plain, grid, group, args, 0, (hipStream_t)NULL);
	/* the old way in three calls */
	s = next_stream(w);
	grid = dim3(launch_number(w));
	CALL(hipConfigureCall, grid, group, 0, s);
	CALL(hipSetupArgument, (const void *)&p, sizeof(p), 0);
	CALL_OPS(s, OPS(kernel("mix_plain", grid, group)), hipLaunchByPtr, (const void *)mix_plain);
	s = next_stream(w);
	grid = dim3(launch_number(w));
	hipLaunchParams several = { (void *)mix_plain, grid, group, args, 0, s };
	/* HIP 7.2.4 returns 400 for a list that begins with another device than the first,
	 * whichever is current */
	if (w.device == 0 || runtime_version < 70000000)
		CALL_OPS(s, OPS(kernel("mix_plain", grid, group)),
			 hipExtLaunchMultiKernelMultiDevice, &several, 1, 0);
}

/* The functions of programs that are built for one default stream per thread. */
static void per_thread(worker &w)
{
	int *p = (int *)(w.dev + KERNELS_AT);
	void *args[] = { &p };
	dim3 grid(launch_number(w)), group(GROUP);
	size_t n;

	CALL_OPS(NULL, OPS(kernel("mix_plain", grid, group)), hipLaunchKernel_spt,
		 (const void *)mix_plain, grid, group, args, 0, (hipStream_t)NULL);
	COPY(NULL, 8192, "HostToDevice", hipMemcpy_spt, w.dev, w.pinned, n, hipMemcpyHostToDevice);
	COPY(NULL, 8192, "DeviceToHost", hipMemcpyAsync_spt, w.back, w.dev, n,
	     hipMemcpyDeviceToHost, (hipStream_t)NULL);
	COPY(NULL, 8192, "HostToDevice", hipMemcpyToSymbol_spt, HIP_SYMBOL(symbol_memory), w.pinned,
	     n, 0, hipMemcpyHostToDevice);
	FILL(NULL, hipMemset_spt, w.dev2, 7, n);
	CALL(hipStreamSynchronize_spt, (hipStream_t)NULL);
}

static void module_launches(worker &w)
{
	int *p = (int *)(w.dev + KERNELS_AT);
	void *args[] = { &p };
	size_t args_size = sizeof(p);
	void *packed[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &p, HIP_LAUNCH_PARAM_BUFFER_SIZE,
			   &args_size, HIP_LAUNCH_PARAM_END };
	dim3 group(GROUP);
	hipModule_t module;
	hipFunction_t function;

	CALL(hipModuleLoadData, &module, rtc_code.data());
	CALL(hipModuleGetFunction, &function, module, "mix_compiled");
	for (int i = 0; i < 4; i++) {
		hipStream_t s = next_stream(w);
		unsigned int n = launch_number(w);
		account_ops ops = OPS(kernel("mix_compiled", dim3(n), group));

		if (i == 0)
			CALL_OPS(s, ops, hipModuleLaunchKernel, function, n, 1, 1, GROUP, 1, 1, 0,
				 s, args, (void **)NULL);
		else if (i == 1)
			CALL_OPS(s, ops, hipModuleLaunchKernel, function, n, 1, 1, GROUP, 1, 1, 0,
				 s, (void **)NULL, packed);
		else if (i == 2)
			CALL_OPS(s, ops, hipExtModuleLaunchKernel, function, n * GROUP, 1, 1, GROUP,
				 1, 1, 0, s, args, (void **)NULL, w.start, w.stop, 0);
		else
			CALL_OPS(s, ops, hipExtModuleLaunchKernel, function, n * GROUP, 1, 1, GROUP,
				 1, 1, 0, s, args, (void **)NULL, (hipEvent_t)NULL,
				 (hipEvent_t)NULL, 0);
	}
	for (hipStream_t s : w.streams)
		CALL(hipStreamSynchronize, s);
	CALL(hipModuleUnload, module);
}

static void many_launches(worker &w)
{
	int *p = (int *)(w.dev + KERNELS_AT);
	void *args[] = { &p };

	for (long i = 0; i < burst; i++) {
		hipStream_t s = next_stream(w);
		dim3 grid(launch_number(w));

		CALL_OPS(s, OPS(kernel("mix_plain", grid, dim3(GROUP))), hipLaunchKernel,
			 (const void *)mix_plain, grid, dim3(GROUP), args, 0, s);
	}
}

/* ---- copies -------------------------------------------------------------------------------- */

/* HIP 6 renumbered the types of memory: Host of a program compiled with HIP 5 is Unregistered
 * there. */
static hipMemoryType memory_type(hipMemoryType type)
{
	return (hipMemoryType)(type + (runtime_version >= 60000000));
}

static void fill_host(worker &w, char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 64)
		p[i] = (char)(i / 64 * 7 + (size_t)w.index + (size_t)w.copies);
}

static void copies(worker &w)
{
	/* pageable ones: small, staged in pieces, and large enough to be pinned for the copy */
	static const size_t sizes[] = { 8192, 300 << 10, 3 << 20, 17 << 20 };
	hipStream_t s = next_stream(w);
	size_t n;

	fill_host(w, w.pinned, 1 << 20);
	COPY(s, 8192, "HostToDevice", hipMemcpyAsync, w.dev, w.pinned, n, hipMemcpyHostToDevice, s);
	COPY(s, 8192, "DeviceToHost", hipMemcpyAsync, w.back, w.dev, n, hipMemcpyDeviceToHost, s);
	CALL(hipStreamSynchronize, s);
	check(w.back, w.pinned, 4096);
	COPY(NULL, 8192, "HostToDevice", hipMemcpy, w.dev, w.pinned, n, hipMemcpyHostToDevice);
	COPY(NULL, 8192, "DeviceToHost", hipMemcpy, w.back, w.dev, n, hipMemcpyDefault);
	COPY(s, 8192, "HostToDevice", hipMemcpyWithStream, w.dev, w.pinned, n,
	     hipMemcpyHostToDevice, s);
	COPY(NULL, 8192, "HostToDevice", hipMemcpyHtoD, w.dev, w.pinned, n);
	COPY(NULL, 8192, "DeviceToHost", hipMemcpyDtoH, w.back, w.dev, n);
	s = next_stream(w);
	COPY(s, 8192, "HostToDevice", hipMemcpyHtoDAsync, w.dev, w.pinned, n, s);
	COPY(s, 8192, "DeviceToHost", hipMemcpyDtoHAsync, w.back, w.dev, n, s);
	/* within the device: by kernels of the runtime */
	MOVE(s, hipMemcpyDtoDAsync, w.dev2, w.dev, n, s);
	MOVE(NULL, hipMemcpyDtoD, w.dev2, w.dev, n);
	MOVE(s, hipMemcpyAsync, w.dev2, w.dev, n, hipMemcpyDeviceToDevice, s);
	MOVE(NULL, hipMemcpy, w.dev2, w.dev, n, hipMemcpyDeviceToDevice);
	/* host to host: by the CPU, or by an engine between pinned memory */
	COPY(NULL, 8192, "HostToHost", hipMemcpy, w.back, w.pinned, n, hipMemcpyHostToHost);
	COPY(s, 8192, "HostToHost", hipMemcpyAsync, w.back, w.pinned, n, hipMemcpyHostToHost, s);
	CALL(hipStreamSynchronize, s);
	for (size_t size : sizes) {
		n = copy_length(w, size);
		fill_host(w, w.pageable.data(), n);
		CALL_OPS(NULL, OPS(copied(n, "HostToDevice")), hipMemcpy, w.dev, w.pageable.data(),
			 n, hipMemcpyHostToDevice);
		COPY(NULL, size, "DeviceToHost", hipMemcpy, w.back, w.dev, n,
		     hipMemcpyDeviceToHost);
		check(w.back, w.pageable.data(), size);
		memset(w.pageable.data(), 0, n);
		COPY(s, size, "DeviceToHost", hipMemcpyAsync, w.pageable.data(), w.dev, n,
		     hipMemcpyDeviceToHost, s);
		CALL(hipStreamSynchronize, s);
		check(w.back, w.pageable.data(), size);
	}
}

/* Copies of a length that is the product of their sides. */
static void shaped_copies(worker &w)
{
	hipStream_t s = next_stream(w);
	size_t n;
	hipMemcpy3DParms three = {};
	hip_Memcpy2D param = {};
	HIP_MEMCPY3D drv = {};

	fill_host(w, w.pinned, 1 << 20);
	COPY(NULL, 8192, "HostToDevice", hipMemcpy2D, w.dev, 16384, w.pinned, 8192, n / 4, 4,
	     hipMemcpyHostToDevice);
	COPY(NULL, 8192, "DeviceToHost", hipMemcpy2D, w.back, 8192, w.dev, 16384, n / 4, 4,
	     hipMemcpyDeviceToHost);
	for (size_t row = 0; row < 4; row++)
		check(w.back + row * 8192, w.pinned + row * 8192, 2048);
	COPY(s, 8192, "HostToDevice", hipMemcpy2DAsync, w.dev, 16384, w.pinned, 8192, n / 4, 4,
	     hipMemcpyHostToDevice, s);
	MOVE_ROWS(s, hipMemcpy2DAsync, w.dev2, 131072, w.dev, 65536, n / 4, 4,
		  hipMemcpyDeviceToDevice, s);
	CALL(hipStreamSynchronize, s);
	for (int i = 0; i < 2; i++) {
		n = copy_length(w, 8192);
		three.srcPtr = make_hipPitchedPtr(w.pinned, 8192, 8192, 2);
		three.dstPtr = make_hipPitchedPtr(w.dev, 16384, 16384, 4);
		three.extent = make_hipExtent(n / 4, 2, 2);
		three.kind = hipMemcpyHostToDevice;
		if (i)
			CALL_OPS(s, OPS(copied(n, "HostToDevice")), hipMemcpy3DAsync, &three, s);
		else
			CALL_OPS(NULL, OPS(copied(n, "HostToDevice")), hipMemcpy3D, &three);
	}
	for (int i = 0; i < 2; i++) {
		n = copy_length(w, 8192);
		param.srcMemoryType = memory_type(hipMemoryTypeHost);
		param.srcHost = w.pinned;
		param.srcPitch = 8192;
		param.dstMemoryType = memory_type(hipMemoryTypeDevice);
		param.dstDevice = w.dev;
		param.dstPitch = 16384;
		param.WidthInBytes = n / 4;
		param.Height = 4;
		if (i)
			CALL_OPS(s, OPS(copied(n, "HostToDevice")), hipMemcpyParam2DAsync, &param,
				 s);
		else
			CALL_OPS(NULL, OPS(copied(n, "HostToDevice")), hipMemcpyParam2D, &param);
	}
	for (int i = 0; i < 2; i++) {
		n = copy_length(w, 8192);
		drv.srcMemoryType = memory_type(hipMemoryTypeHost);
		drv.srcHost = w.pinned;
		drv.srcPitch = 8192;
		drv.srcHeight = 2;
		drv.dstMemoryType = memory_type(hipMemoryTypeDevice);
		drv.dstDevice = w.dev;
		drv.dstPitch = 16384;
		drv.dstHeight = 2;
		drv.WidthInBytes = (unsigned int)(n / 4);
		drv.Height = 2;
		drv.Depth = 2;
		if (i)
			CALL_OPS(s, OPS(copied(n, "HostToDevice")), hipDrvMemcpy3DAsync, &drv, s);
		else
			CALL_OPS(NULL, OPS(copied(n, "HostToDevice")), hipDrvMemcpy3D, &drv);
	}
	CALL(hipStreamSynchronize, s);
}

static void symbols(worker &w)
{
	hipStream_t s = next_stream(w);
	size_t n, size = 0;
	void *address = NULL;

	CALL(hipGetSymbolAddress, &address, HIP_SYMBOL(symbol_memory));
	CALL(hipGetSymbolSize, &size, HIP_SYMBOL(symbol_memory));
	if (size != sizeof(symbol_memory) || !address)
		wrong_copies++;
	COPY(NULL, 8192, "HostToDevice", hipMemcpyToSymbol, HIP_SYMBOL(symbol_memory), w.pinned, n,
	     0, hipMemcpyHostToDevice);
	COPY(NULL, 8192, "DeviceToHost", hipMemcpyFromSymbol, w.back, HIP_SYMBOL(symbol_memory), n,
	     0, hipMemcpyDeviceToHost);
	COPY(s, 8192, "HostToDevice", hipMemcpyToSymbolAsync, HIP_SYMBOL(symbol_memory), w.pinned,
	     n, 0, hipMemcpyHostToDevice, s);
	COPY(s, 8192, "DeviceToHost", hipMemcpyFromSymbolAsync, w.back, HIP_SYMBOL(symbol_memory),
	     n, 0, hipMemcpyDeviceToHost, s);
	CALL(hipStreamSynchronize, s);
}

static void peers(worker &w)
{
	int other = (w.device + 1) % (int)nr_devices;
	hipStream_t s = next_stream(w);
	char *there;
	size_t n;

	CALL(hipSetDevice, other);
	CALL(hipMalloc, &there, (size_t)BUFFER);
	CALL(hipSetDevice, w.device);
	PEER(NULL, hipMemcpyPeer, there, other, w.dev, w.device, n);
	PEER(s, hipMemcpyPeerAsync, there, other, w.dev, w.device, n, s);
	PEER(s, hipMemcpyAsync, w.dev, there, n, hipMemcpyDefault, s);
	CALL(hipStreamSynchronize, s);
	CALL(hipFree, there);
}

/* ---- fills, events ------------------------------------------------------------------------- */

static void fills(worker &w)
{
	hipStream_t s = next_stream(w);
	size_t n;
	hipPitchedPtr pitched = make_hipPitchedPtr(w.dev2, 65536, 65536, 2);

	FILL(NULL, hipMemset, w.dev2, 1, n);
	FILL(s, hipMemsetAsync, w.dev2, 2, n, s);
	FILL(NULL, hipMemsetD8, w.dev2, 3, n);
	FILL(s, hipMemsetD8Async, w.dev2, 3, n, s);
	FILL(NULL, hipMemsetD16, w.dev2, 4, n / 2);
	FILL(s, hipMemsetD16Async, w.dev2, 4, n / 2, s);
	FILL(NULL, hipMemsetD32, w.dev2, 5, n / 4);
	FILL(s, hipMemsetD32Async, w.dev2, 5, n / 4, s);
	FILL_ROWS(NULL, hipMemset2D, w.dev2, 65536, 6, n / 4, 4);
	FILL_ROWS(s, hipMemset2DAsync, w.dev2, 65536, 6, n / 4, 4, s);
	FILL_ROWS(NULL, hipMemset3D, pitched, 7, make_hipExtent(n / 4, 2, 2));
	FILL_ROWS(s, hipMemset3DAsync, pitched, 7, make_hipExtent(n / 4, 2, 2), s);
	CALL(hipStreamSynchronize, s);
}

static void count_callback(hipStream_t, hipError_t, void *)
{
	callbacks++;
}

static void events(worker &w)
{
	hipStream_t a = next_stream(w), b = next_stream(w);
	int *p = (int *)(w.dev + KERNELS_AT);
	void *args[] = { &p };
	dim3 group(GROUP);
	dim3 grid(launch_number(w));
	float ms = -1;

	CALL(hipEventRecord, w.start, a);
	CALL_OPS(a, OPS(kernel("mix_plain", grid, group)), hipLaunchKernel, (const void *)mix_plain,
		 grid, group, args, 0, a);
	CALL(hipEventRecord, w.stop, a);
	CALL(hipStreamWaitEvent, b, w.stop, 0);
	grid = dim3(launch_number(w));
	CALL_OPS(b, OPS(kernel("mix_plain", grid, group)), hipLaunchKernel, (const void *)mix_plain,
		 grid, group, args, 0, b);
	CALL(hipStreamAddCallback, b, count_callback, (void *)NULL, 0);
	CALL(hipStreamSynchronize, b);
	CALL(hipEventSynchronize, w.stop);
	CALL(hipEventElapsedTime, &ms, w.start, w.stop);
	if (!(ms >= 0))
		wrong_copies++;
}

/* ---- graphs -------------------------------------------------------------------------------- */

/* HIP 7 refuses synchronous calls of every thread while a stream captures, and invalidates the
 * capture. */
static bool capture_is_alone()
{
	return runtime_version >= 70000000;
}

/* HIP 5.7.1 walks the set of its streams without its lock when a call on a default stream waits for
 * another stream. Untraced programs die of it, too, when another thread makes or destroys a stream
 * meanwhile. 5.2.3, 6.4.3 and 7.2.4 don't have this fault. */
static bool streams_are_walked()
{
	return runtime_version / 100000 == 507;
}

template <typename lock> static lock hold_if(bool needed)
{
	return needed ? lock(alone) : lock();
}

static hipGraph_t capture(worker &w, hipStream_t a, hipStream_t b, hipEvent_t fork, hipEvent_t join,
			  account_ops &ops)
{
	auto held = hold_if<std::unique_lock<std::shared_mutex>>(capture_is_alone());
	int *p = (int *)(w.dev + KERNELS_AT), n = 1;
	void *args[] = { &p, &n };
	dim3 group(GROUP);
	hipGraph_t graph;

	CALL(hipStreamBeginCapture, a, hipStreamCaptureModeThreadLocal);
	for (int i = 0; i < 3; i++) {
		dim3 grid(launch_number(w));

		ops.push_back(kernel("mix_node", grid, group));
		CALL_OPS(a, OPS(), hipLaunchKernel, (const void *)mix_node, grid, group, args, 0,
			 a);
	}
	/* a branch, on a stream that is not used again: HIP 5.2.3 leaves it capturing */
	dim3 grid(launch_number(w));
	CALL(hipEventRecord, fork, a);
	CALL(hipStreamWaitEvent, b, fork, 0);
	ops.push_back(kernel("mix_node", grid, group));
	CALL_OPS(b, OPS(), hipLaunchKernel, (const void *)mix_node, grid, group, args, 0, b);
	CALL(hipEventRecord, join, b);
	CALL(hipStreamWaitEvent, a, join, 0);
	/* HIP 7.2.4 copies by a kernel in graphs, whatever its settings */
	size_t size = either_length(w);
	ops.push_back({ "either", "HostToDevice", size, dim3(), dim3() });
	CALL(hipMemcpyAsync, w.dev, w.pinned, size, hipMemcpyHostToDevice, a);
	CALL(hipStreamEndCapture, a, &graph);
	return graph;
}

static void captured_graph(worker &w)
{
	hipStream_t b;
	account_ops ops;
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipEvent_t fork, join;

	CALL(hipStreamCreateWithFlags, &b, hipStreamNonBlocking);
	CALL(hipEventCreate, &fork);
	CALL(hipEventCreate, &join);
	graph = capture(w, w.streams[0], b, fork, join, ops);
	CALL(hipGraphInstantiate, &exec, graph, (hipGraphNode_t *)NULL, (char *)NULL, 0);
	for (int i = 0; i < 4; i++) {
		hipStream_t s = w.streams[(size_t)i / 2 % w.streams.size()];

		CALL_EXEC(s, exec, ops, hipGraphLaunch, exec, s);
		CALL(hipStreamSynchronize, s);
	}
	CALL(hipGraphExecDestroy, exec);
	CALL(hipGraphDestroy, graph);
	CALL(hipEventDestroy, fork);
	CALL(hipEventDestroy, join);
	CALL(hipStreamDestroy, b);
}

static void built_graph(worker &w)
{
	int *p = (int *)(w.dev + KERNELS_AT), n = 1;
	void *args[] = { &p, &n };
	account_ops ops;
	hipGraph_t graph, child;
	hipGraphExec_t exec;
	hipGraphNode_t nodes[5], inner;
	hipKernelNodeParams params = {};
	hipMemsetParams set = {};
	size_t size;

	params.func = (void *)mix_node;
	params.blockDim = dim3(GROUP);
	params.kernelParams = args;
	CALL(hipGraphCreate, &graph, 0);
	for (int i = 0; i < 3; i++) {
		params.gridDim = dim3(launch_number(w));
		ops.push_back(kernel("mix_node", params.gridDim, params.blockDim));
		CALL(hipGraphAddKernelNode, &nodes[i], graph,
		     i ? &nodes[i - 1] : (hipGraphNode_t *)NULL, (size_t)(i ? 1 : 0), &params);
	}
	size = either_length(w);
	ops.push_back({ "either", "HostToDevice", size, dim3(), dim3() });
	CALL(hipGraphAddMemcpyNode1D, &nodes[3], graph, &nodes[2], (size_t)1, w.dev, w.pinned, size,
	     hipMemcpyHostToDevice);
	set.dst = w.dev2;
	set.elementSize = 1;
	set.height = 1;
	set.width = size = step_length(w, &w.fills, 4096);
	set.pitch = size;
	set.value = 9;
	ops.push_back({ "fill", "", size, dim3(), dim3() });
	CALL(hipGraphAddMemsetNode, &nodes[4], graph, &nodes[3], (size_t)1, &set);
	CALL(hipGraphCreate, &child, 0);
	params.gridDim = dim3(launch_number(w));
	ops.push_back(kernel("mix_node", params.gridDim, params.blockDim));
	CALL(hipGraphAddKernelNode, &inner, child, (hipGraphNode_t *)NULL, (size_t)0, &params);
	CALL(hipGraphAddChildGraphNode, &inner, graph, &nodes[4], (size_t)1, child);
	CALL(hipGraphInstantiate, &exec, graph, (hipGraphNode_t *)NULL, (char *)NULL, 0);
	for (int i = 0; i < 3; i++)
		CALL_EXEC(w.streams[0], exec, ops, hipGraphLaunch, exec, w.streams[0]);
	CALL(hipStreamSynchronize, w.streams[0]);
	CALL(hipGraphExecDestroy, exec);
	CALL(hipGraphDestroy, child);
	CALL(hipGraphDestroy, graph);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void compile()
{
	static const char source[] = "extern \"C\" __global__ void mix_compiled(int *p)\n"
				     "{ p[threadIdx.x] = blockIdx.x; }\n";
	const char *options[] = { "--gpu-architecture=gfx900" };
	void *lib = runtime_version >= 70000000 ? dlopen("libhiprtc.so.7", RTLD_NOW | RTLD_LOCAL) :
						  NULL;
	hiprtcProgram program;
	size_t size;
/* by the functions' names, which CALL() records */
#define FIND(name) decltype(&::name) name = lib ? (decltype(&::name))dlsym(lib, #name) : &::name
	FIND(hiprtcCreateProgram);
	FIND(hiprtcCompileProgram);
	FIND(hiprtcGetCodeSize);
	FIND(hiprtcGetCode);
	FIND(hiprtcDestroyProgram);
#undef FIND

	CALL(hiprtcCreateProgram, &program, source, "mix.hip", 0, (const char **)NULL,
	     (const char **)NULL);
	CALL(hiprtcCompileProgram, program, 1, options);
	CALL(hiprtcGetCodeSize, program, &size);
	rtc_code.resize(size);
	CALL(hiprtcGetCode, program, rtc_code.data());
	CALL(hiprtcDestroyProgram, &program);
}

static void run_part(worker &w, char part)
{
	if (part == 'g') {
		/* makes streams, HIP itself those of a graph's branches */
		auto held = hold_if<std::unique_lock<std::shared_mutex>>(streams_are_walked());

		captured_graph(w);
		return built_graph(w);
	}
	auto held = hold_if<std::shared_lock<std::shared_mutex>>(capture_is_alone() ||
								 streams_are_walked());
	switch (part) {
	case 'k':
		return launches(w);
	case 't':
		return per_thread(w);
	case 'm':
		return module_launches(w);
	case 'c':
		return copies(w);
	case '2':
		return shaped_copies(w);
	case 's':
		return symbols(w);
	case 'f':
		return fills(w);
	case 'e':
		return events(w);
	case 'p':
		return nr_devices > 1 ? peers(w) : (void)0;
	case 'b':
		return many_launches(w);
	}
	fprintf(stderr, "hipmix: no part '%c'\n", part);
	_exit(1);
}

static void begin_thread(worker &w, long t)
{
	auto held = hold_if<std::shared_lock<std::shared_mutex>>(capture_is_alone());

	w.index = t;
	w.device = (int)(t % nr_devices);
	w.streams.resize((size_t)nr_streams);
	w.pageable.resize(BUFFER);
	CALL(hipSetDevice, w.device);
	for (hipStream_t &s : w.streams)
		CALL(hipStreamCreateWithFlags, &s, hipStreamNonBlocking);
	if (streams_are_walked()) {
		/* HIP makes the default streams when they are first used, the thread's own one,
		 * too */
		CALL(hipStreamSynchronize, (hipStream_t)NULL);
		if (strchr(parts, 't'))
			CALL(hipStreamSynchronize_spt, (hipStream_t)NULL);
		pthread_barrier_wait(&all_threads);
	}
	for (hipEvent_t *e : { &w.start, &w.stop })
		CALL(hipEventCreate, e);
	CALL(hipHostMalloc, (void **)&w.pinned, (size_t)BUFFER, 0);
	CALL(hipHostMalloc, (void **)&w.back, (size_t)BUFFER, 0);
	CALL(hipMalloc, &w.dev, (size_t)BUFFER);
	CALL(hipMalloc, &w.dev2, (size_t)BUFFER);
}

/* Host memory is freed when no thread allocates any more. HIP 5.2.3 can give the memory of another
 * thread's hipMalloc() back once more that came to lie where the host memory was: untraced programs
 * fault, too, one run in 30 with two GPUs on a loaded machine. */
static void end_thread(worker &w)
{
	{
		auto held = hold_if<std::shared_lock<std::shared_mutex>>(capture_is_alone());

		for (hipStream_t s : w.streams)
			CALL(hipStreamSynchronize, s);
		CALL(hipDeviceSynchronize);
	}
	pthread_barrier_wait(&all_threads);
	auto held = hold_if<std::shared_lock<std::shared_mutex>>(capture_is_alone());

	for (hipStream_t s : w.streams)
		CALL(hipStreamDestroy, s);
	for (hipEvent_t e : { w.start, w.stop })
		CALL(hipEventDestroy, e);
	CALL(hipHostFree, w.pinned);
	CALL(hipHostFree, w.back);
	CALL(hipFree, w.dev);
	CALL(hipFree, w.dev2);
}

static void run_thread(long t)
{
	worker w = {};

	begin_thread(w, t);
	for (long r = 0; r < nr_rounds; r++) {
		/* each thread begins with another part, so that different parts overlap */
		size_t nr = strlen(parts);

		for (size_t i = 0; i < nr; i++)
			run_part(w, parts[(i + (size_t)t) % nr]);
	}
	end_thread(w);
}

int main(int argc, char **argv)
{
	const char *account = arg_text(argc, argv, "account", NULL);
	std::vector<std::thread> threads;
	int found = 0;

	nr_threads = arg_num(argc, argv, "threads", 8);
	nr_streams = arg_num(argc, argv, "streams", 4);
	nr_rounds = arg_num(argc, argv, "rounds", 2);
	nr_devices = arg_num(argc, argv, "devices", 1);
	burst = arg_num(argc, argv, "burst", 20);
	parts = arg_text(argc, argv, "parts", "kmtc2sfgepb");
	CALL(hipRuntimeGetVersion, &runtime_version);
	CALL(hipGetDeviceCount, &found);
	if (found < nr_devices) {
		fprintf(stderr, "hipmix: %ld devices asked for, %d there\n", nr_devices, found);
		return 1;
	}
	if (strchr(parts, 'm'))
		compile();
	pthread_barrier_init(&all_threads, NULL, (unsigned)nr_threads);
	for (long t = 0; t < nr_threads; t++)
		threads.emplace_back(run_thread, t);
	for (std::thread &t : threads)
		t.join();
	account_print();
	printf("hipmix: %ld callbacks, %ld wrong copies\n", callbacks.load(), wrong_copies.load());
	if (account && account_write(account))
		return 1;
	return wrong_copies ? 1 : 0;
}
