/* SPDX-License-Identifier: MIT */
/* hip_test.cpp - scenarios of a HIP program on the virtual GPU; see hsa_test.c for the form */
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err_ = (call);                                                          \
		if (err_ != hipSuccess) {                                                          \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				hipGetErrorString(err_));                                          \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

__global__ void vadd(const float *a, const float *b, float *c)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	c[i] = a[i] + b[i];
}

__global__ void touch(float *a)
{
	a[threadIdx.x] = 1;
}

__global__ void spill(float *a, int n)
{
	float big[256];

	for (int i = 0; i < n; i++)
		big[(i * 7) & 255] = a[i];
	a[0] = big[n & 255];
}

static void devices(void)
{
	int n;

	HIP(hipGetDeviceCount(&n));
	printf("devices %d\n", n);
	for (int i = 0; i < n; i++) {
		hipDeviceProp_t p;
		float *d;

		HIP(hipSetDevice(i));
		HIP(hipGetDeviceProperties(&p, i));
		printf("device %d %s\n", i, p.gcnArchName);
		HIP(hipMalloc(&d, 1 << 20));
		touch<<<1, 64>>>(d);
		HIP(hipGetLastError());
		HIP(hipDeviceSynchronize());
		HIP(hipFree(d));
	}
}

static void fill(std::vector<unsigned char> &v, unsigned int seed)
{
	for (size_t i = 0; i < v.size(); i++) {
		seed = seed * 1664525 + 1013904223;
		v[i] = (unsigned char)(seed >> 24);
	}
}

static void same(const unsigned char *a, const unsigned char *b, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] != b[i]) {
			fprintf(stderr, "%s: byte %zu of %zu is %u, not %u\n", what, i, n, a[i],
				b[i]);
			_exit(1);
		}
	}
}

static void linear_copies(size_t size, size_t shift)
{
	std::vector<unsigned char> src(size), back(size, 0xee);
	unsigned char *d, *pinned;

	fill(src, (unsigned int)size + 1);
	HIP(hipMalloc(&d, size + 64));
	HIP(hipHostMalloc(&pinned, size + 64));
	HIP(hipMemcpy(d + shift, src.data(), size, hipMemcpyHostToDevice));
	HIP(hipMemcpy(back.data(), d + shift, size, hipMemcpyDeviceToHost));
	same(back.data(), src.data(), size, "pageable copy");

	memcpy(pinned + shift, src.data(), size);
	memset(back.data(), 0, size);
	HIP(hipMemset(d, 0, 1));
	HIP(hipMemcpyAsync(d, pinned + shift, size, hipMemcpyHostToDevice, 0));
	memset(pinned, 0, shift);
	HIP(hipDeviceSynchronize());
	memset(pinned, 0, size + 64);
	HIP(hipMemcpyAsync(pinned, d, size, hipMemcpyDeviceToHost, 0));
	HIP(hipDeviceSynchronize());
	same(pinned, src.data(), size, "pinned copy");
	HIP(hipFree(d));
	HIP(hipHostFree(pinned));
}

static void rect_copies(size_t width, size_t height, size_t pitch)
{
	std::vector<unsigned char> src(pitch * height), back(pitch * height, 0);
	unsigned char *d, *h;
	size_t dpitch;

	fill(src, 99);
	HIP(hipMallocPitch((void **)&d, &dpitch, width, height));
	HIP(hipHostMalloc(&h, pitch * height));
	memcpy(h, src.data(), pitch * height);
	HIP(hipMemcpy2D(d, dpitch, h, pitch, width, height, hipMemcpyHostToDevice));
	memset(h, 0, pitch * height);
	HIP(hipMemcpy2D(h, pitch, d, dpitch, width, height, hipMemcpyDeviceToHost));
	for (size_t y = 0; y < height; y++) {
		same(h + y * pitch, src.data() + y * pitch, width, "2D copy");
		for (size_t x = width; x < pitch; x++) {
			if (h[y * pitch + x]) {
				fprintf(stderr, "2D copy: wrote outside of the rectangle\n");
				_exit(1);
			}
		}
	}
	HIP(hipFree(d));
	HIP(hipHostFree(h));
}

static void peer_copies(void)
{
	std::vector<unsigned char> src(3 << 20), back(3 << 20);
	unsigned char *d[2];
	int n;

	HIP(hipGetDeviceCount(&n));
	if (n < 2)
		return;
	fill(src, 5);
	for (int i = 0; i < 2; i++) {
		HIP(hipSetDevice(i));
		HIP(hipMalloc(&d[i], src.size()));
	}
	HIP(hipMemcpy(d[0], src.data(), src.size(), hipMemcpyHostToDevice));
	HIP(hipMemcpyPeer(d[1], 1, d[0], 0, src.size()));
	HIP(hipMemcpy(back.data(), d[1], back.size(), hipMemcpyDeviceToHost));
	same(back.data(), src.data(), src.size(), "peer copy");
	printf("peer ok\n");
}

static void copies(void)
{
	static const size_t sizes[] = { 1, 3, 64, 4095, 65537, 1 << 20, (9 << 20) + 5 };

	for (size_t s : sizes) {
		linear_copies(s, 0);
		linear_copies(s, 13);
	}
	rect_copies(100, 50, 128);
	rect_copies(1021, 33, 2048);
	rect_copies(4096, 700, 4096);
	peer_copies();
	printf("copies ok\n");
}

static void events(int n)
{
	hipEvent_t a, b;
	float *d, ms;

	HIP(hipMalloc(&d, 1 << 20));
	HIP(hipEventCreate(&a));
	HIP(hipEventCreate(&b));
	touch<<<1, 64>>>(d);
	HIP(hipDeviceSynchronize());
	HIP(hipEventRecord(a, 0));
	for (int i = 0; i < n; i++)
		vadd<<<64, 256>>>(d, d, d);
	HIP(hipEventRecord(b, 0));
	HIP(hipDeviceSynchronize());
	HIP(hipEventElapsedTime(&ms, a, b));
	printf("elapsed %.7f\n", ms);
	hipExtLaunchKernelGGL(touch, dim3(7), dim3(64), 0, 0, a, b, 0, d);
	HIP(hipDeviceSynchronize());
	HIP(hipEventElapsedTime(&ms, a, b));
	printf("ext %.7f\n", ms);
	printf("memory %p\n", (void *)d);
}

static void elapsed(const char *what, int i, hipEvent_t a, hipEvent_t b)
{
	float ms;

	HIP(hipEventElapsedTime(&ms, a, b));
	printf("%s %d %.7f\n", what, i, ms);
}

/* Times of streams that wait for each other, copies between kernels, launches with events. */
static void times(void)
{
	const int nr = 4;
	hipStream_t s[nr];
	hipEvent_t ev[40];
	float *d;
	char *h;

	HIP(hipMalloc(&d, 8 << 20));
	HIP(hipHostMalloc(&h, 8 << 20));
	for (hipStream_t &x : s)
		HIP(hipStreamCreate(&x));
	for (hipEvent_t &x : ev)
		HIP(hipEventCreate(&x));
	for (int i = 0; i < 3; i++) {
		hipExtLaunchKernelGGL(touch, dim3(64), dim3(64), 0, s[0], ev[0], ev[1], 0, d);
		HIP(hipStreamSynchronize(s[0]));
		elapsed("ext", i, ev[0], ev[1]);
	}
	HIP(hipEventRecord(ev[2], s[0]));
	for (int i = 0; i < 20; i++) {
		touch<<<1 << i % 7, 64, 0, s[i % nr]>>>(d);
		HIP(hipEventRecord(ev[3 + i], s[i % nr]));
		HIP(hipStreamWaitEvent(s[(i + 1) % nr], ev[3 + i], 0));
	}
	HIP(hipDeviceSynchronize());
	for (int i = 0; i < 20; i++)
		elapsed("chain", i, ev[2 + i], ev[3 + i]);

	HIP(hipEventRecord(ev[0], s[1]));
	touch<<<64, 64, 0, s[1]>>>(d);
	HIP(hipEventRecord(ev[1], s[1]));
	HIP(hipMemcpyAsync(h, d, 1 << 20, hipMemcpyDeviceToHost, s[1]));
	HIP(hipEventRecord(ev[2], s[1]));
	touch<<<64, 64, 0, s[1]>>>(d);
	HIP(hipEventRecord(ev[3], s[1]));
	HIP(hipMemcpyAsync(d, h, 4 << 20, hipMemcpyHostToDevice, s[1]));
	HIP(hipEventRecord(ev[4], s[1]));
	HIP(hipStreamSynchronize(s[1]));
	for (int i = 0; i < 4; i++)
		elapsed("copy", i, ev[i], ev[i + 1]);

	HIP(hipEventRecord(ev[0], s[0]));
	for (int i = 1; i < nr; i++) {
		HIP(hipStreamWaitEvent(s[i], ev[0], 0));
		for (int j = 0; j < i * 3; j++)
			touch<<<8, 64, 0, s[i]>>>(d);
		HIP(hipEventRecord(ev[i], s[i]));
		HIP(hipStreamWaitEvent(s[0], ev[i], 0));
	}
	touch<<<8, 64, 0, s[0]>>>(d);
	HIP(hipEventRecord(ev[10], s[0]));
	HIP(hipDeviceSynchronize());
	elapsed("join", 0, ev[0], ev[10]);
	for (int i = 1; i < nr; i++)
		elapsed("branch", i, ev[0], ev[i]);
}

static void launches(int n)
{
	hipStream_t s[4];
	float *d;

	HIP(hipMalloc(&d, 1 << 16));
	for (hipStream_t &x : s)
		HIP(hipStreamCreate(&x));
	for (int i = 0; i < n; i++)
		touch<<<3, 64, 0, s[i % 4]>>>(d);
	for (hipStream_t &x : s)
		HIP(hipStreamSynchronize(x));
}

/* Four threads with four streams each, no synchronisation before the end. */
static void threads(int n)
{
	std::vector<std::thread> t;

	for (int i = 0; i < 4; i++)
		t.emplace_back(launches, n * 4);
	for (std::thread &x : t)
		x.join();
	printf("launched %d\n", n * 16);
}

static void scratch(void)
{
	float *d;

	HIP(hipMalloc(&d, 1 << 16));
	spill<<<100, 256>>>(d, 300);
	HIP(hipDeviceSynchronize());
	printf("scratch ok\n");
}

static void leave(int n)
{
	float *d;

	HIP(hipMalloc(&d, 1 << 16));
	for (int i = 0; i < n; i++)
		touch<<<1, 64>>>(d);
	exit(6);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? (int)strtol(argv[2], nullptr, 0) : 1;

	if (!strcmp(what, "devices"))
		devices();
	else if (!strcmp(what, "copies"))
		copies();
	else if (!strcmp(what, "events"))
		events(n);
	else if (!strcmp(what, "times"))
		times();
	else if (!strcmp(what, "threads"))
		threads(n);
	else if (!strcmp(what, "scratch"))
		scratch();
	else if (!strcmp(what, "leave"))
		leave(n);
	else
		return 2;
	return 0;
}
