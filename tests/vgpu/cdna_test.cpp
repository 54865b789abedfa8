/* SPDX-License-Identifier: MIT */
/* cdna_test.cpp - what gfx90a has beside gfx900: matrix instructions of every shape and type,
 * packed and wide arithmetic, atomics
 *
 *     cdna_test [part...]
 *
 * Matrices are random numbers, divided among the lanes as AMD's tables have it, and compared with
 * sums in double precision.
 */
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "hip_parts.hpp"

static void check(const char *what, bool right)
{
	printf("%s %s\n", right ? "ok" : "wrong", what);
	failures += !right;
}

enum Type { F32, F16, BF16, I8, F64 };

typedef float float4v __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));
typedef float float32v __attribute__((ext_vector_type(32)));
typedef int int4v __attribute__((ext_vector_type(4)));
typedef int int16v __attribute__((ext_vector_type(16)));
typedef int int32v __attribute__((ext_vector_type(32)));
typedef double double4v __attribute__((ext_vector_type(4)));
typedef _Float16 half4v __attribute__((ext_vector_type(4)));
typedef short short2v __attribute__((ext_vector_type(2)));
typedef short short4v __attribute__((ext_vector_type(4)));

/* X(name, type, rows, k, blocks, elements of a lane, the registers' type of A and B, that of C and
 * D) */
#define SHAPES                                                                                     \
	X(f32_32x32x1f32, F32, 32, 1, 2, 1, float, float32v)                                       \
	X(f32_16x16x1f32, F32, 16, 1, 4, 1, float, float16v)                                       \
	X(f32_4x4x1f32, F32, 4, 1, 16, 1, float, float4v)                                          \
	X(f32_32x32x2f32, F32, 32, 2, 1, 1, float, float16v)                                       \
	X(f32_16x16x4f32, F32, 16, 4, 1, 1, float, float4v)                                        \
	X(f32_32x32x4f16, F16, 32, 4, 2, 4, half4v, float32v)                                      \
	X(f32_16x16x4f16, F16, 16, 4, 4, 4, half4v, float16v)                                      \
	X(f32_4x4x4f16, F16, 4, 4, 16, 4, half4v, float4v)                                         \
	X(f32_32x32x8f16, F16, 32, 8, 1, 4, half4v, float16v)                                      \
	X(f32_16x16x16f16, F16, 16, 16, 1, 4, half4v, float4v)                                     \
	X(i32_32x32x4i8, I8, 32, 4, 2, 4, int, int32v)                                             \
	X(i32_16x16x4i8, I8, 16, 4, 4, 4, int, int16v)                                             \
	X(i32_4x4x4i8, I8, 4, 4, 16, 4, int, int4v)                                                \
	X(i32_32x32x8i8, I8, 32, 8, 1, 4, int, int16v)                                             \
	X(i32_16x16x16i8, I8, 16, 16, 1, 4, int, int4v)                                            \
	X(f32_32x32x2bf16, BF16, 32, 2, 2, 2, short2v, float32v)                                   \
	X(f32_16x16x2bf16, BF16, 16, 2, 4, 2, short2v, float16v)                                   \
	X(f32_4x4x2bf16, BF16, 4, 2, 16, 2, short2v, float4v)                                      \
	X(f32_32x32x4bf16, BF16, 32, 4, 1, 2, short2v, float16v)                                   \
	X(f32_16x16x8bf16, BF16, 16, 8, 1, 2, short2v, float4v)                                    \
	X(f32_32x32x4bf16_1k, BF16, 32, 4, 2, 4, short4v, float32v)                                \
	X(f32_16x16x4bf16_1k, BF16, 16, 4, 4, 4, short4v, float16v)                                \
	X(f32_4x4x4bf16_1k, BF16, 4, 4, 16, 4, short4v, float4v)                                   \
	X(f32_32x32x8bf16_1k, BF16, 32, 8, 1, 4, short4v, float16v)                                \
	X(f32_16x16x16bf16_1k, BF16, 16, 16, 1, 4, short4v, float4v)                               \
	X(f64_16x16x4f64, F64, 16, 4, 1, 1, double, double4v)                                      \
	X(f64_4x4x4f64, F64, 4, 4, 4, 1, double, double)

#define X(name, type, rows, k, blocks, per, In, Out)                                               \
	__global__ void kernel_##name(const In *a, const In *b, Out *c)                            \
	{                                                                                          \
		unsigned int l = threadIdx.x;                                                      \
		c[l] = __builtin_amdgcn_mfma_##name(a[l], b[l], c[l], 0, 0, 0);                    \
	}
SHAPES
#undef X

/* A number as the type holds it, and its bits. */
static double rounded(Type t, double v, uint64_t *bits)
{
	float f = (float)v;
	uint32_t u;

	*bits = 0;
	switch (t) {
	case F64:
		memcpy(bits, &v, 8);
		return v;
	case F32:
		memcpy(bits, &f, 4);
		return f;
	case I8: {
		int8_t n = (int8_t)lrint(v * 60);
		memcpy(bits, &n, 1);
		return n;
	}
	case F16: {
		_Float16 h = (_Float16)f;
		memcpy(bits, &h, 2);
		return (double)(float)h;
	}
	default:
		memcpy(&u, &f, 4);
		u &= 0xffff0000;
		*bits = u >> 16;
		memcpy(&f, &u, 4);
		return f;
	}
}

static unsigned int bytes_of(Type t)
{
	return t == F64 ? 8 : t == F32 ? 4 : t == I8 ? 1 : 2;
}

struct Shape {
	const char *name;
	Type type;
	int rows, k, blocks, per;
};

/* Block, row (or column) and first k of a lane's part of A (or B). */
static void in_lane(const Shape &s, int lane, int *block, int *row, int *k)
{
	*row = lane % s.rows;
	if (s.type == F64 && s.rows == 4) {
		*block = lane / 4 % 4;
		*k = lane / 16;
	} else {
		*block = s.blocks > 1 ? lane / s.rows : 0;
		*k = s.blocks > 1 ? 0 : lane / s.rows * s.per;
	}
}

/* Block, row and column of element n of a lane's part of C and D. */
static void in_out(const Shape &s, int lane, int n, int *block, int *row, int *column)
{
	*column = lane % s.rows;
	if (s.rows == 4) {
		*block = s.type == F64 ? lane / 4 % 4 : lane / 4;
		*row = s.type == F64 ? lane / 16 : n;
	} else if (s.rows == 16) {
		*block = s.type == F64 ? 0 : n / 4;
		*row = s.type == F64 ? 4 * n + lane / 16 : lane / 16 * 4 + n % 4;
	} else {
		*block = n / 16;
		*row = n % 16 / 4 * 8 + lane / 32 * 4 + n % 4;
	}
}

template <class In, class Out>
static void one_shape(const Shape &s, void (*kernel)(const In *, const In *, Out *))
{
	int nr_out = s.rows * s.rows * s.blocks / 64, block, row, k0, column;
	size_t out_bytes = s.type == F64 ? 8 : 4;
	std::mt19937 rng(s.rows * 100 + s.k);
	/* no denormals of half floats: they are zero to the GPU */
	std::uniform_real_distribution<double> size(0.001, 2);
	auto any = [&size](std::mt19937 &r) { return r() & 1 ? size(r) : -size(r); };
	std::vector<double> a(s.blocks * s.rows * s.k), b(a.size()), c(64 * nr_out);
	std::vector<unsigned char> bits[3];
	void *on_gpu[3];

	bits[0].resize(64 * sizeof(In));
	bits[1].resize(64 * sizeof(In));
	bits[2].resize(64 * sizeof(Out));
	for (int lane = 0; lane < 64; lane++) {
		in_lane(s, lane, &block, &row, &k0);
		for (int n = 0; n < s.per; n++) {
			size_t at = (size_t)(block * s.rows + row) * s.k + k0 + n;
			uint64_t u[2];

			a[at] = rounded(s.type, any(rng), &u[0]);
			b[at] = rounded(s.type, any(rng), &u[1]);
			for (int m = 0; m < 2; m++)
				memcpy(&bits[m][lane * sizeof(In) + n * bytes_of(s.type)], &u[m],
				       bytes_of(s.type));
		}
		for (int n = 0; n < nr_out; n++) {
			uint64_t u;

			c[lane * nr_out + n] =
				rounded(s.type == F64 ? F64 : F32, floor(any(rng) * 9), &u);
			if (s.type == I8)
				u = (uint32_t)(int32_t)c[lane * nr_out + n];
			memcpy(&bits[2][lane * sizeof(Out) + n * out_bytes], &u, out_bytes);
		}
	}
	for (int m = 0; m < 3; m++) {
		HIP(hipMalloc(&on_gpu[m], bits[m].size()));
		HIP(hipMemcpy(on_gpu[m], bits[m].data(), bits[m].size(), hipMemcpyHostToDevice));
	}
	kernel<<<1, 64>>>((const In *)on_gpu[0], (const In *)on_gpu[1], (Out *)on_gpu[2]);
	HIP(hipMemcpy(bits[2].data(), on_gpu[2], bits[2].size(), hipMemcpyDeviceToHost));
	bool right = true;
	for (int lane = 0; lane < 64; lane++) {
		for (int n = 0; n < nr_out; n++) {
			const unsigned char *p = &bits[2][lane * sizeof(Out) + n * out_bytes];
			double want = c[lane * nr_out + n], have, sum = fabs(want);
			float f;
			int32_t i;

			in_out(s, lane, n, &block, &row, &column);
			for (int k = 0; k < s.k; k++) {
				double v = a[(size_t)(block * s.rows + row) * s.k + k] *
					   b[(size_t)(block * s.rows + column) * s.k + k];
				want += v;
				sum += fabs(v);
			}
			memcpy(&have, p, out_bytes);
			memcpy(&f, p, 4);
			memcpy(&i, p, 4);
			have = s.type == F64 ? have : s.type == I8 ? i : f;
			right &= fabs(have - want) <= sum * (s.type == F64 ? 1e-15 :
							     s.type == I8  ? 0 :
									     1e-6);
		}
	}
	check(s.name, right);
	for (void *p : on_gpu)
		HIP(hipFree(p));
}

static void matrices()
{
#define X(name, type, rows, k, blocks, per, In, Out)                                               \
	one_shape<In, Out>({ #name, type, rows, k, blocks, per }, kernel_##name);
	SHAPES
#undef X
}

/* ---- packed and wide arithmetic, atomics, a workgroup's ids ---------------------------------- */

__global__ void packed(const float2 *x, const float2 *y, float2 *out, double *wide)
{
	unsigned int l = threadIdx.x;
	float2 a = x[l], b = y[l], r;

	for (int n = 0; n < 5; n++) {
		r.x = fmaf(a.x, b.x, 0.5f) * 0.25f + b.x;
		r.y = fmaf(a.y, b.y, 0.5f) * 0.25f + b.y;
		a = r;
		wide[l] = fma(wide[l], 1.0 + a.x, b.y);
	}
	out[l] = a;
}

static void pairs()
{
	std::vector<float2> x(64), y(64), out(64);
	std::vector<double> wide(64), want(64);
	float2 *gx, *gy, *go;
	double *gw;
	bool right = true;

	for (int l = 0; l < 64; l++) {
		x[l] = { l * 0.75f - 20, 3.0f - l * 0.125f };
		y[l] = { 1.0f / (l + 1), l * 0.03125f - 1 };
		wide[l] = want[l] = l - 30.5;
	}
	HIP(hipMalloc(&gx, 512));
	HIP(hipMalloc(&gy, 512));
	HIP(hipMalloc(&go, 512));
	HIP(hipMalloc(&gw, 512));
	HIP(hipMemcpy(gx, x.data(), 512, hipMemcpyHostToDevice));
	HIP(hipMemcpy(gy, y.data(), 512, hipMemcpyHostToDevice));
	HIP(hipMemcpy(gw, wide.data(), 512, hipMemcpyHostToDevice));
	packed<<<1, 64>>>(gx, gy, go, gw);
	HIP(hipMemcpy(out.data(), go, 512, hipMemcpyDeviceToHost));
	HIP(hipMemcpy(wide.data(), gw, 512, hipMemcpyDeviceToHost));
	for (int l = 0; l < 64; l++) {
		float2 a = x[l], b = y[l];

		for (int n = 0; n < 5; n++) {
			a.x = fmaf(a.x, b.x, 0.5f) * 0.25f + b.x;
			a.y = fmaf(a.y, b.y, 0.5f) * 0.25f + b.y;
			want[l] = fma(want[l], 1.0 + a.x, b.y);
		}
		right &= fabsf(out[l].x - a.x) <= 1e-5f * (1 + fabsf(a.x)) &&
			 fabsf(out[l].y - a.y) <= 1e-5f * (1 + fabsf(a.y)) &&
			 fabs(wide[l] - want[l]) <= 1e-5 * (1 + fabs(want[l]));
	}
	check("packed", right);
}

__global__ void sums(double *d, float *f, double *least)
{
	__shared__ double in_lds;

	if (!threadIdx.x && !threadIdx.y)
		in_lds = 0;
	__syncthreads();
	unsafeAtomicAdd(&d[0], 0.5 * (threadIdx.x + 1));
	unsafeAtomicAdd(&f[0], 0.25f * threadIdx.y);
	unsafeAtomicAdd(&in_lds, 1.5);
	__builtin_amdgcn_global_atomic_fmin_f64((__attribute__((address_space(1))) double *)least,
						(double)threadIdx.x - 7 * threadIdx.y);
	__syncthreads();
	if (!threadIdx.x && !threadIdx.y)
		d[1] = in_lds;
}

static void atomics()
{
	double zero[2] = { 0, 0 }, d[2], least = 5;
	float f = 0;
	double *gd, *gl;
	float *gf;

	HIP(hipMalloc(&gd, 16));
	HIP(hipMalloc(&gl, 8));
	HIP(hipMalloc(&gf, 4));
	HIP(hipMemcpy(gd, zero, 16, hipMemcpyHostToDevice));
	HIP(hipMemcpy(gl, &least, 8, hipMemcpyHostToDevice));
	HIP(hipMemcpy(gf, &f, 4, hipMemcpyHostToDevice));
	/* ids of two dimensions, which lie in one register */
	sums<<<1, dim3(32, 6)>>>(gd, gf, gl);
	HIP(hipMemcpy(d, gd, 16, hipMemcpyDeviceToHost));
	HIP(hipMemcpy(&least, gl, 8, hipMemcpyDeviceToHost));
	HIP(hipMemcpy(&f, gf, 4, hipMemcpyDeviceToHost));
	check("atomics",
	      d[0] == 0.5 * 528 * 6 && d[1] == 1.5 * 192 && f == 0.25f * 15 * 32 && least == -35);
}

static void links()
{
	int gpus = 0;
	uint32_t type, hops;
	hipDeviceProp_t p;

	HIP(hipGetDeviceProperties(&p, 0));
	printf("%d CUs, %d MiB of L2, waves of %d\n", p.multiProcessorCount, p.l2CacheSize >> 20,
	       p.warpSize);
	HIP(hipGetDeviceCount(&gpus));
	if (gpus < 2)
		return;
	HIP(hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops));
	printf("%s, %u hop\n", type == 4 ? "xGMI" : "other", hops);
}

int main(int argc, char **argv)
{
	static const Part parts[] = { { "matrices", matrices },
				      { "pairs", pairs },
				      { "atomics", atomics },
				      { "links", links } };
	hipDeviceProp_t props;

	HIP(hipGetDeviceProperties(&props, 0));
	printf("%s\n", props.gcnArchName);
	run_parts(parts, argc, argv, [](const Part &part) { part.run(); });
	return verdict();
}
