/* SPDX-License-Identifier: MIT */
/* network.cpp - a two-layer network that learns XOR-like labels: streams, events, a graph, roctx
 * ranges
 *
 *	network [steps]
 *
 * A copy stream brings the next batch while the compute stream works on the current one; events
 * order the two. A step of the training is a graph, captured once and launched again and again. The
 * host does the same training, and the weights have to come out the same but for rounding, and the
 * error has to fall.
 */
#include "check.h"

#include <cmath>
#include <vector>

constexpr int BATCH = 64, IN = 8, HIDDEN = 16;

struct Net {
	float *x, *label, *w1, *w2, *h, *y, *dy;
};

#pragma clang fp contract(off)
__host__ __device__ static float squash(float v)
{
	return v / (1.0f + fabsf(v));
}

__host__ __device__ static float hidden_of(const float *x, const float *w1, int item, int unit)
{
	float sum = 0;

	for (int k = 0; k < IN; k++)
		sum += x[item * IN + k] * w1[k * HIDDEN + unit];
	return squash(sum);
}

__host__ __device__ static float output_of(const float *h, const float *w2, int item)
{
	float sum = 0;

	for (int k = 0; k < HIDDEN; k++)
		sum += h[item * HIDDEN + k] * w2[k];
	return sum;
}

__host__ __device__ static float grad2(const float *h, const float *dy, int unit)
{
	float sum = 0;

	for (int i = 0; i < BATCH; i++)
		sum += h[i * HIDDEN + unit] * dy[i];
	return sum / BATCH;
}

__host__ __device__ static float grad1(const float *x, const float *h, const float *dy,
				       const float *w2, int k, int unit)
{
	float sum = 0;

	for (int i = 0; i < BATCH; i++) {
		float slope = 1.0f - fabsf(h[i * HIDDEN + unit]);

		sum += x[i * IN + k] * dy[i] * w2[unit] * slope * slope;
	}
	return sum / BATCH;
}

__global__ void layer1(Net n)
{
	n.h[blockIdx.x * HIDDEN + threadIdx.x] =
		hidden_of(n.x, n.w1, (int)blockIdx.x, (int)threadIdx.x);
}

__global__ void layer2(Net n)
{
	int i = (int)threadIdx.x;

	n.y[i] = output_of(n.h, n.w2, i);
	n.dy[i] = n.y[i] - n.label[i];
}

__global__ void learn1(Net n, float rate)
{
	int k = (int)blockIdx.x, unit = (int)threadIdx.x;

	n.w1[k * HIDDEN + unit] -= rate * grad1(n.x, n.h, n.dy, n.w2, k, unit);
}

__global__ void learn2(Net n, float rate)
{
	n.w2[threadIdx.x] -= rate * grad2(n.h, n.dy, (int)threadIdx.x);
}

static void enqueue_step(const Net &n, float rate, hipStream_t stream)
{
	layer1<<<BATCH, HIDDEN, 0, stream>>>(n);
	layer2<<<1, BATCH, 0, stream>>>(n);
	learn1<<<IN, HIDDEN, 0, stream>>>(n, rate);
	learn2<<<1, HIDDEN, 0, stream>>>(n, rate);
}

/* the same on the host, in the same order; returns the error before the step */
static float host_step(const float *x, const float *label, std::vector<float> &w1,
		       std::vector<float> &w2, float rate)
{
	std::vector<float> h(BATCH * HIDDEN), dy(BATCH), new1 = w1, new2 = w2;
	float error = 0;

	for (int i = 0; i < BATCH; i++) {
		for (int u = 0; u < HIDDEN; u++)
			h[i * HIDDEN + u] = hidden_of(x, w1.data(), i, u);
		dy[i] = output_of(h.data(), w2.data(), i) - label[i];
		error += dy[i] * dy[i] / BATCH;
	}
	for (int k = 0; k < IN; k++) {
		for (int u = 0; u < HIDDEN; u++)
			new1[k * HIDDEN + u] -=
				rate * grad1(x, h.data(), dy.data(), w2.data(), k, u);
	}
	for (int u = 0; u < HIDDEN; u++)
		new2[u] -= rate * grad2(h.data(), dy.data(), u);
	w1 = new1;
	w2 = new2;
	return error;
}

static void make_batch(int step, float *x, float *label)
{
	for (int i = 0; i < BATCH; i++) {
		unsigned int bits = (unsigned)(i * 37 + step * 11) * 2654435761u >> 8;

		for (int k = 0; k < IN; k++)
			x[i * IN + k] = bits >> k & 1 ? 1.0f : -1.0f;
		label[i] = x[i * IN] * 0.5f + x[i * IN + 1] * x[i * IN + 2];
	}
}

static long run(int steps)
{
	const size_t x_bytes = BATCH * IN * sizeof(float), l_bytes = BATCH * sizeof(float);
	const float rate = 0.2f;
	std::vector<float> w1(IN * HIDDEN), w2(HIDDEN), have1(IN * HIDDEN), have2(HIDDEN);
	float *stage, *host, first = 0, last = 0;
	hipStream_t compute, copy;
	hipEvent_t loaded, used;
	hipGraphExec_t exec;
	hipGraph_t graph;
	Net n;
	long wrong = 0;

	for (size_t i = 0; i < w1.size(); i++)
		w1[i] = 0.05f * (float)((int)(i * 7 % 19) - 9);
	for (size_t i = 0; i < w2.size(); i++)
		w2[i] = 0.1f * (float)((int)(i * 5 % 7) - 3);
	HIP(hipMalloc(&n.x, x_bytes));
	HIP(hipMalloc(&n.label, l_bytes));
	HIP(hipMalloc(&n.w1, w1.size() * sizeof(float)));
	HIP(hipMalloc(&n.w2, w2.size() * sizeof(float)));
	HIP(hipMalloc(&n.h, BATCH * HIDDEN * sizeof(float)));
	HIP(hipMalloc(&n.y, l_bytes));
	HIP(hipMalloc(&n.dy, l_bytes));
	HIP(hipMalloc(&stage, x_bytes + l_bytes));
	HIP(hipHostMalloc(&host, x_bytes + l_bytes, hipHostMallocDefault));
	HIP(hipStreamCreate(&compute));
	HIP(hipStreamCreate(&copy));
	HIP(hipEventCreate(&loaded));
	HIP(hipEventCreate(&used));
	HIP(hipMemcpy(n.w1, w1.data(), w1.size() * sizeof(float), hipMemcpyHostToDevice));
	HIP(hipMemcpy(n.w2, w2.data(), w2.size() * sizeof(float), hipMemcpyHostToDevice));

	HIP(hipStreamBeginCapture(compute, hipStreamCaptureModeGlobal));
	enqueue_step(n, rate, compute);
	HIP(hipStreamEndCapture(compute, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));

	for (int step = 0; step < steps; step++) {
		Range range("step");
		float error;

		make_batch(step, host, host + BATCH * IN);
		HIP(hipMemcpyAsync(stage, host, x_bytes + l_bytes, hipMemcpyHostToDevice, copy));
		HIP(hipEventRecord(loaded, copy));
		HIP(hipStreamWaitEvent(compute, loaded, 0));
		HIP(hipMemcpyAsync(n.x, stage, x_bytes, hipMemcpyDeviceToDevice, compute));
		HIP(hipMemcpyAsync(n.label, stage + BATCH * IN, l_bytes, hipMemcpyDeviceToDevice,
				   compute));
		HIP(hipEventRecord(used, compute));
		HIP(hipStreamWaitEvent(copy, used, 0));
		HIP(hipGraphLaunch(exec, compute));
		{
			Range host_range("host");

			error = host_step(host, host + BATCH * IN, w1, w2, rate);
		}
		first = step ? first : error;
		last = error;
		/* the next step fills the host's buffer again */
		HIP(hipStreamSynchronize(copy));
	}
	HIP(hipStreamSynchronize(compute));
	HIP(hipMemcpy(have1.data(), n.w1, w1.size() * sizeof(float), hipMemcpyDeviceToHost));
	HIP(hipMemcpy(have2.data(), n.w2, w2.size() * sizeof(float), hipMemcpyDeviceToHost));
	for (size_t i = 0; i < w1.size(); i++)
		wrong += !(std::fabs(have1[i] - w1[i]) <= 1e-4f);
	for (size_t i = 0; i < w2.size(); i++)
		wrong += !(std::fabs(have2[i] - w2[i]) <= 1e-4f);
	if (steps >= 20)
		wrong += !(last < first);

	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipEventDestroy(loaded));
	HIP(hipEventDestroy(used));
	HIP(hipStreamDestroy(compute));
	HIP(hipStreamDestroy(copy));
	for (float *p : { n.x, n.label, n.w1, n.w2, n.h, n.y, n.dy, stage })
		HIP(hipFree(p));
	HIP(hipHostFree(host));
	return wrong;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 40;

	return on_every_gpu("network", [steps] { return run(steps); });
}
