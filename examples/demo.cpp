/* SPDX-License-Identifier: MIT */
/* demo.cpp - a two-layer network's forward and backward pass, small, on every GPU there is
 *
 *	demo [steps]
 *
 * What a trace of it shows: asynchronous copies that overlap with kernels on a second stream,
 * events between the streams, one host thread per GPU, roctx ranges around the phases. roctx is
 * looked up at run time, so the program links to nothing but HIP and runs untraced as well.
 * Results are not verified: the program is there to be looked at, also on a virtual GPU.
 */
#include <hip/hip_runtime.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err = (call);                                                           \
		if (err != hipSuccess) {                                                           \
			fprintf(stderr, "demo: %s: %s\n", #call, hipGetErrorString(err));          \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

namespace
{

constexpr int BATCH = 64;
constexpr int WIDTH = 256;
constexpr int TILE = 16;

/* roctx, where a tracer provides it */
struct Roctx {
	int (*push)(const char *) = nullptr;
	int (*pop)() = nullptr;
	void (*mark)(const char *) = nullptr;

	Roctx()
	{
		push = reinterpret_cast<int (*)(const char *)>(
			dlsym(RTLD_DEFAULT, "roctxRangePushA"));
		pop = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "roctxRangePop"));
		mark = reinterpret_cast<void (*)(const char *)>(dlsym(RTLD_DEFAULT, "roctxMarkA"));
	}
};

const Roctx roctx;

class Range
{
public:
	explicit Range(const std::string &name)
	{
		if (roctx.push)
			roctx.push(name.c_str());
	}
	~Range()
	{
		if (roctx.pop)
			roctx.pop();
	}
	Range(const Range &) = delete;
	Range &operator=(const Range &) = delete;
};

/* What one GPU works with. */
struct Net {
	float *x[2];	/* input, double-buffered */
	float *w1, *w2; /* weights */
	float *h, *y;	/* activations */
	float *gh, *gw; /* gradients */
	float *loss;
	float *host_x, *host_loss; /* pinned */
	hipStream_t compute, copy;
	hipEvent_t loaded[2], used[2], begin, end;
};

} // namespace

/* out[rows][WIDTH] = a[rows][WIDTH] * b[WIDTH][WIDTH] */
__global__ void matmul(const float *a, const float *b, float *out)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int col = blockIdx.x * TILE + threadIdx.x;
	int row = blockIdx.y * TILE + threadIdx.y;
	float sum = 0.0f;

	for (int t = 0; t < WIDTH; t += TILE) {
		ta[threadIdx.y][threadIdx.x] = a[row * WIDTH + t + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * WIDTH + col];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
		__syncthreads();
	}
	out[row * WIDTH + col] = sum;
}

__global__ void relu(float *v, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		v[i] = v[i] > 0.0f ? v[i] : 0.0f;
}

__global__ void softmax(float *v)
{
	__shared__ float part[WIDTH];
	int i = blockIdx.x * WIDTH + threadIdx.x;

	part[threadIdx.x] = expf(v[i]);
	__syncthreads();
	for (int s = WIDTH / 2; s > 0; s /= 2) {
		if (threadIdx.x < s)
			part[threadIdx.x] += part[threadIdx.x + s];
		__syncthreads();
	}
	v[i] = expf(v[i]) / part[0];
}

__global__ void cross_entropy(const float *y, float *loss, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(loss, -logf(y[i] + 1e-6f) / (float)n);
}

template <typename T> __global__ void sgd(T *w, const T *g, T rate, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		w[i] -= rate * g[i];
}

static int setup(Net &net)
{
	const size_t acts = BATCH * WIDTH * sizeof(float);
	const size_t weights = WIDTH * WIDTH * sizeof(float);
	Range range("setup");

	for (int i = 0; i < 2; i++) {
		HIP(hipMalloc(&net.x[i], acts));
		HIP(hipEventCreateWithFlags(&net.loaded[i], hipEventDisableTiming));
		HIP(hipEventCreateWithFlags(&net.used[i], hipEventDisableTiming));
	}
	HIP(hipMalloc(&net.w1, weights));
	HIP(hipMalloc(&net.w2, weights));
	HIP(hipMalloc(&net.h, acts));
	HIP(hipMalloc(&net.y, acts));
	HIP(hipMalloc(&net.gh, acts));
	HIP(hipMalloc(&net.gw, weights));
	HIP(hipMalloc(&net.loss, sizeof(float)));
	HIP(hipHostMalloc(&net.host_x, acts, hipHostMallocDefault));
	HIP(hipHostMalloc(&net.host_loss, sizeof(float), hipHostMallocDefault));
	HIP(hipStreamCreateWithFlags(&net.compute, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&net.copy, hipStreamNonBlocking));
	HIP(hipEventCreate(&net.begin));
	HIP(hipEventCreate(&net.end));

	std::vector<float> w(WIDTH * WIDTH);
	for (size_t i = 0; i < w.size(); i++)
		w[i] = 0.01f * (float)(i % 17) - 0.08f;
	for (int i = 0; i < BATCH * WIDTH; i++)
		net.host_x[i] = 0.001f * (float)(i % 251);
	HIP(hipMemcpy(net.w1, w.data(), weights, hipMemcpyHostToDevice));
	HIP(hipMemcpy(net.w2, w.data(), weights, hipMemcpyHostToDevice));
	return 0;
}

static int forward(Net &net, int slot)
{
	const dim3 grid(WIDTH / TILE, BATCH / TILE), block(TILE, TILE);
	Range range("forward");

	{
		Range layer("layer 1");
		matmul<<<grid, block, 0, net.compute>>>(net.x[slot], net.w1, net.h);
		relu<<<BATCH, WIDTH, 0, net.compute>>>(net.h, BATCH * WIDTH);
	}
	{
		Range layer("layer 2");
		matmul<<<grid, block, 0, net.compute>>>(net.h, net.w2, net.y);
		softmax<<<BATCH, WIDTH, 0, net.compute>>>(net.y);
	}
	HIP(hipGetLastError());
	return 0;
}

static int backward(Net &net)
{
	const dim3 grid(WIDTH / TILE, BATCH / TILE), block(TILE, TILE);
	Range range("backward");

	HIP(hipMemsetAsync(net.loss, 0, sizeof(float), net.compute));
	cross_entropy<<<BATCH, WIDTH, 0, net.compute>>>(net.y, net.loss, BATCH * WIDTH);
	matmul<<<grid, block, 0, net.compute>>>(net.y, net.w2, net.gh);
	matmul<<<grid, block, 0, net.compute>>>(net.gh, net.w1, net.gw);
	sgd<float><<<WIDTH, WIDTH, 0, net.compute>>>(net.w2, net.gw, 0.01f, BATCH * WIDTH);
	sgd<float><<<WIDTH, WIDTH, 0, net.compute>>>(net.w1, net.gw, 0.01f, BATCH * WIDTH);
	HIP(hipGetLastError());
	return 0;
}

static int step(Net &net, int nr)
{
	const int slot = nr % 2;
	Range range("step " + std::to_string(nr));

	/* the copy stream fills one buffer while the compute stream works on the other */
	if (nr >= 2)
		HIP(hipStreamWaitEvent(net.copy, net.used[slot], 0));
	HIP(hipMemcpyAsync(net.x[slot], net.host_x, BATCH * WIDTH * sizeof(float),
			   hipMemcpyHostToDevice, net.copy));
	HIP(hipEventRecord(net.loaded[slot], net.copy));
	HIP(hipStreamWaitEvent(net.compute, net.loaded[slot], 0));
	if (forward(net, slot) || backward(net))
		return 1;
	HIP(hipEventRecord(net.used[slot], net.compute));
	HIP(hipMemcpyAsync(net.host_loss, net.loss, sizeof(float), hipMemcpyDeviceToHost,
			   net.compute));
	return 0;
}

static int teardown(Net &net)
{
	Range range("teardown");

	for (int i = 0; i < 2; i++) {
		HIP(hipFree(net.x[i]));
		HIP(hipEventDestroy(net.loaded[i]));
		HIP(hipEventDestroy(net.used[i]));
	}
	for (float *p : { net.w1, net.w2, net.h, net.y, net.gh, net.gw, net.loss })
		HIP(hipFree(p));
	HIP(hipHostFree(net.host_x));
	HIP(hipHostFree(net.host_loss));
	HIP(hipEventDestroy(net.begin));
	HIP(hipEventDestroy(net.end));
	HIP(hipStreamDestroy(net.compute));
	HIP(hipStreamDestroy(net.copy));
	return 0;
}

static int train(int gpu, int steps)
{
	Net net = {};
	float ms = 0.0f;

	HIP(hipSetDevice(gpu));
	if (setup(net))
		return 1;
	HIP(hipEventRecord(net.begin, net.compute));
	for (int i = 0; i < steps; i++) {
		if (step(net, i))
			return 1;
	}
	HIP(hipEventRecord(net.end, net.compute));
	{
		Range range("wait for the GPU");
		HIP(hipEventSynchronize(net.end));
		HIP(hipDeviceSynchronize());
	}
	if (roctx.mark)
		roctx.mark("trained");
	HIP(hipEventElapsedTime(&ms, net.begin, net.end));
	printf("demo: GPU %d: %d steps in %.3f ms of GPU time\n", gpu, steps, ms);
	return teardown(net);
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 20;
	std::vector<std::thread> threads;
	std::atomic<int> failures{ 0 };
	int gpus = 0;

	HIP(hipGetDeviceCount(&gpus));
	for (int gpu = 0; gpu < gpus; gpu++)
		threads.emplace_back([&failures, gpu, steps] { failures += train(gpu, steps); });
	for (std::thread &t : threads)
		t.join();
	return failures != 0;
}
