/* SPDX-License-Identifier: MIT */
/* reference.cpp - twelve kernels of different nature, for counters: each is launched once in a
 * round
 *
 *	reference rounds=1
 *
 * Launches have no memory in common but what each kernel writes for itself. stdout: the number of
 * launches.
 */
#include "hip_common.hpp"

#define WORDS (1 << 18)

extern "C" __global__ void ref_valu(float *out)
{
	float x = threadIdx.x;

	for (int i = 0; i < 40; i++)
		x = x * 1.5f + 0.25f;
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void ref_salu(int *out, int n)
{
	unsigned int x = n;

	/* uniform: in scalar registers */
	for (int i = 0; i < n; i++)
		x = x * 3 + (x >> 3);
	if (threadIdx.x == 0)
		out[blockIdx.x] = (int)x;
}

extern "C" __global__ void ref_lds(int *out)
{
	__shared__ int tile[256];

	tile[threadIdx.x] = threadIdx.x * 3;
	__syncthreads();
	for (int i = 1; i < 8; i++)
		atomicAdd(&tile[(threadIdx.x * i) & 255], 1);
	__syncthreads();
	out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void ref_flat(int *out, int which)
{
	__shared__ int tile[64];
	int *p = which & blockIdx.x ? tile : out + blockIdx.x * 64;

	tile[threadIdx.x] = 1;
	__syncthreads();
	/* a pointer to either: flat instructions */
	p[threadIdx.x] += 7;
	__syncthreads();
	out[blockIdx.x * 64 + threadIdx.x] += tile[63 - threadIdx.x];
}

extern "C" __global__ void ref_scratch(int *out, int step)
{
	int stack[64];

	for (int i = 0; i < 64; i++)
		stack[(i * step) & 63] = i + threadIdx.x;
	out[blockIdx.x * blockDim.x + threadIdx.x] = stack[(threadIdx.x * step) & 63];
}

extern "C" __global__ void ref_atomics(int *out)
{
	atomicAdd(&out[threadIdx.x & 7], 1);
	atomicMax(&out[64 + blockIdx.x], (int)threadIdx.x);
}

extern "C" __global__ void ref_divergent(int *out)
{
	int x = threadIdx.x;

	if (x & 1)
		for (int i = 0; i < (x & 15); i++)
			x += i * x;
	else if (x & 2)
		x = x * x - 5;
	else
		x = -x;
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void ref_barrier(int *out)
{
	__shared__ int sum[256];

	sum[threadIdx.x] = 1;
	for (int half = 128; half; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half)
			sum[threadIdx.x] += sum[threadIdx.x + half];
	}
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum[0];
}

extern "C" __global__ void ref_small(int *out)
{
	*out = 42;
}

extern "C" __global__ void ref_many(int *out)
{
	out[blockIdx.x * 64 + threadIdx.x] = (int)blockIdx.x;
}

/* reads lines far from each other, and again */
extern "C" __global__ void ref_stride(int *out, const int *in, int stride)
{
	int at = (blockIdx.x * blockDim.x + threadIdx.x) * stride & (WORDS - 1);

	out[blockIdx.x * blockDim.x + threadIdx.x] =
		in[at] + in[at ^ 1] + in[(at + 4096) & (WORDS - 1)];
}

/* workgroups whose last wave is not full */
extern "C" __global__ void ref_odd(int *out)
{
	unsigned int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;

	out[(blockIdx.y * gridDim.x + blockIdx.x) * 105 + i] = (int)__shfl_xor((int)i, 1);
}

int main(int argc, char **argv)
{
	long rounds = arg_num(argc, argv, "rounds", 1);
	int *out[12], *in;

	HIP(hipMalloc(&in, WORDS * sizeof(int)));
	for (int i = 0; i < 12; i++)
		HIP(hipMalloc(&out[i], WORDS * sizeof(int)));
	for (long r = 0; r < rounds; r++) {
		ref_valu<<<8, 256>>>((float *)out[0]);
		ref_salu<<<5, 64>>>(out[1], 60);
		ref_lds<<<6, 256>>>(out[2]);
		ref_flat<<<9, 64>>>(out[3], 1);
		ref_scratch<<<2, 128>>>(out[4], 5);
		ref_atomics<<<11, 128>>>(out[5]);
		ref_divergent<<<4, 192>>>(out[6]);
		ref_barrier<<<7, 256>>>(out[7]);
		ref_small<<<1, 1>>>(out[8]);
		ref_many<<<500, 64>>>(out[9]);
		ref_stride<<<12, 64>>>(out[10], in, 37);
		ref_odd<<<dim3(3, 2), dim3(5, 7, 3)>>>(out[11]);
	}
	HIP(hipDeviceSynchronize());
	printf("%ld launches\n", rounds * 12);
	return 0;
}
