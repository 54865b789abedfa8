/* SPDX-License-Identifier: MIT */
/* exec_test.cpp - kernels whose results are compared with the same code on the host
 *
 *	exec_test [name...]
 *	exec_test bad wild|trap|illegal|assert|missing
 *
 * Prints "ok NAME" or "wrong NAME: ..." for each part; the exit status says whether all were right.
 * The functions that compute are compiled for both sides, so the test needs no table of results.
 */
#include <hip/hip_fp16.h>

#include <cassert>
#include <cmath>

#include "hip_parts.hpp"

#define BOTH __host__ __device__

namespace
{

void report(const char *name, size_t wrong, size_t first, double have, double want)
{
	if (wrong)
		printf("wrong %s: %zu, the first at %zu: %.17g, not %.17g\n", name, wrong, first,
		       have, want);
	else
		printf("ok %s\n", name);
	failures += wrong != 0;
}

template <typename T> class Buffer
{
public:
	explicit Buffer(size_t n) : host(n)
	{
		HIP(hipMalloc(&dev, n * sizeof(T)));
	}
	~Buffer()
	{
		(void)hipFree(dev);
	}
	Buffer(const Buffer &) = delete;
	Buffer &operator=(const Buffer &) = delete;
	void up()
	{
		HIP(hipMemcpy(dev, host.data(), bytes(), hipMemcpyHostToDevice));
	}
	void down()
	{
		HIP(hipMemcpy(host.data(), dev, bytes(), hipMemcpyDeviceToHost));
	}
	size_t bytes() const
	{
		return host.size() * sizeof(T);
	}
	std::vector<T> host;
	T *dev;
};

uint32_t next()
{
	uint32_t r = random_word();

	return r >> 3 ^ r << 17;
}

/* numbers with frequent edge cases */
uint32_t edge()
{
	static const uint32_t edges[] = { 0,  1,  2,  0x7fffffff, 0x80000000, 0xffffffff,
					  31, 32, 33, 255,	  65535 };
	uint32_t r = next();

	return r % 4 ? r : edges[r / 4 % (sizeof(edges) / sizeof(edges[0]))];
}

} // namespace

/* ---- functions of two integers, one result each ---- */
BOTH uint32_t int_ops(uint32_t a, uint32_t b, int which)
{
	int32_t x = (int32_t)a, y = (int32_t)b;

	switch (which) {
	case 0:
		return a + b * 3 - (a >> (b & 31));
	case 1:
		return b ? a / b : a;
	case 2:
		return b ? a % b : a;
	case 3:
		return y && !(x == INT32_MIN && y == -1) ? (uint32_t)(x / y) : 7;
	case 4:
		return y && !(x == INT32_MIN && y == -1) ? (uint32_t)(x % y) : 7;
	case 5:
		return (uint32_t)((uint64_t)a * b >> 32) ^ (uint32_t)((int64_t)x * y >> 32);
	case 6:
		return (uint32_t)(x < y ? x : y) + (uint32_t)(x > y ? x : y) * 5 + (a < b ? a : b);
	case 7:
		return (uint32_t)(int8_t)a + (uint32_t)(int16_t)b + (uint8_t)a * (uint16_t)b;
	case 8:
		return (a << 7 | a >> 25) ^ (b << (a & 31)) ^ (uint32_t)(x >> (b & 31));
	case 9:
		return (uint32_t)__builtin_popcount(a) + (uint32_t)__builtin_clz(b | 1) * 64 +
		       (uint32_t)__builtin_ctz(a | 0x80000000) * 4096;
	case 10: {
		uint32_t n = 0;

		/* lanes leave at different times */
		while (a > 1 && n < 60) {
			a = a & 1 ? a * 3 + 1 : a >> 1;
			n++;
		}
		return n;
	}
	case 11: {
		uint8_t u = (uint8_t)(a + b);
		int8_t s = (int8_t)(a - b);
		uint16_t h = (uint16_t)(a * b);

		return (uint32_t)(u >> 1) + (uint32_t)(s >> 2) * 256 + (uint32_t)(h >> 3) * 65536;
	}
	default:
		return a > b ? a & ~b : x >= y ? a | b : a ^ b;
	}
}

BOTH uint64_t long_ops(uint64_t a, uint64_t b, int which)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (which) {
	case 0:
		return a * b + (a >> (b & 63)) - (b << (a & 63));
	case 1:
		return b ? a / b : a;
	case 2:
		return b ? a % b : a;
	case 3:
		return y && !(x == INT64_MIN && y == -1) ? (uint64_t)(x / y) : 7;
	case 4:
		return y && !(x == INT64_MIN && y == -1) ? (uint64_t)(x % y) : 7;
	case 5:
		return (uint64_t)(x >> (a & 63)) ^ (x < y ? a : b) ^ (a < b);
	case 6:
		return (uint64_t)__builtin_popcountll(a) + (uint64_t)__builtin_clzll(b | 1) * 64 +
		       (uint64_t)__builtin_ctzll(a | 1ull << 63) * 4096;
	default:
		return (uint64_t)(double)(a >> 12) + (uint64_t)(int64_t)((double)x / 4096) +
		       (uint64_t)(float)(a >> 40);
	}
}

/* exact by IEEE 754, without contraction */
#pragma clang fp contract(off)
BOTH float float_ops(float a, float b, int which)
{
	switch (which) {
	case 0:
		return a + b;
	case 1:
		return a - b;
	case 2:
		return a * b;
	case 3:
		return a / b;
	case 4:
		return sqrtf(a);
	case 5:
		return fmaf(a, b, a);
	case 6:
		/* the sign of a zero result is unspecified in both */
		return fminf(a, b) + fmaxf(a, b) * 2.0f + 0.0f;
	case 7:
		return floorf(a) + ceilf(b) * 2.0f + truncf(a) * 4.0f + rintf(b) * 8.0f;
	case 8:
		return (float)(int)(fabsf(a) < 1e9f ? a : 0.0f) +
		       (float)(unsigned)(b > 0 && b < 1e9f ? b : 0);
	case 9:
		return a < b ? -a : a > b ? b : a == b ? 1.0f : 2.0f;
	case 10:
		return (float)((double)a * (double)b);
	default:
		return ldexpf(a, (int)((unsigned)(b > 0 && b < 40 ? b : 3)));
	}
}

BOTH double double_ops(double a, double b, int which)
{
	switch (which) {
	case 0:
		return a + b;
	case 1:
		return a * b;
	case 2:
		return a / b;
	case 3:
		return sqrt(a);
	case 4:
		return fma(a, b, a);
	case 5:
		return floor(a) + ceil(b) * 2 + trunc(a) * 4 + rint(b) * 8;
	case 6:
		return fmin(a, b) + fmax(a, b) * 2 + 0.0;
	case 7:
		return (double)(int)(fabs(a) < 1e9 ? a : 0) +
		       (double)(unsigned)(b > 0 && b < 1e9 ? b : 0) + (double)(float)a;
	default:
		return a < b ? -a : a > b ? b : 1.0;
	}
}

/* within a few ULP of the host's */
BOTH float math_ops(float a, int which)
{
	switch (which) {
	case 0:
		return sinf(a);
	case 1:
		return cosf(a);
	case 2:
		return expf(a / 16);
	case 3:
		return logf(fabsf(a) + 0.001f);
	case 4:
		return powf(fabsf(a) + 0.1f, 1.7f);
	case 5:
		return tanhf(a);
	case 6:
		return atan2f(a, 1.5f);
	case 7:
		return 1.0f / sqrtf(fabsf(a) + 0.01f);
	case 8:
		return cbrtf(a);
	case 9:
		return fmodf(a, 0.7f);
	default:
		return (float)(sin((double)a) * exp((double)a / 32) + log(fabs((double)a) + 1) +
			       pow(fabs((double)a), 0.3));
	}
}

template <typename T, typename F>
__global__ void apply2(const T *a, const T *b, T *out, int n, int nr, F f)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		for (int k = 0; k < nr; k++)
			out[k * n + i] = f(a[i], b[i], k);
	}
}

#define FUNCTOR(name, T, fn)                                                                       \
	struct name {                                                                              \
		BOTH T operator()(T a, T b, int k) const                                           \
		{                                                                                  \
			return fn;                                                                 \
		}                                                                                  \
	};
FUNCTOR(IntOps, uint32_t, int_ops(a, b, k))
FUNCTOR(LongOps, uint64_t, long_ops(a, b, k))
FUNCTOR(FloatOps, float, float_ops(a, b, k))
FUNCTOR(DoubleOps, double, double_ops(a, b, k))
FUNCTOR(MathOps, float, math_ops(a + 0 * b, k))

template <typename T> static bool same(T a, T b, double tolerance)
{
	if (!memcmp(&a, &b, sizeof(a)) || (a != a && b != b))
		return true;
	return tolerance > 0 &&
	       std::fabs((double)a - (double)b) <= tolerance * (std::fabs((double)b) + 1e-3);
}

template <typename T, typename F, typename G>
static void apply(const char *name, int nr, F f, G make, double tolerance = 0)
{
	const int n = 1000;
	Buffer<T> a(n), b(n), out((size_t)n * nr);

	for (int i = 0; i < n; i++) {
		a.host[i] = make();
		b.host[i] = make();
	}
	a.up();
	b.up();
	apply2<T, F><<<(n + 127) / 128, 128>>>(a.dev, b.dev, out.dev, n, nr, f);
	out.down();
	for (int k = 0; k < nr; k++) {
		size_t wrong = 0, first = 0;
		char part[64];
		T have{}, want{};

		for (int i = 0; i < n; i++) {
			T w = f(a.host[i], b.host[i], k);

			if (!same(out.host[(size_t)k * n + i], w, tolerance) && !wrong++) {
				first = i;
				have = out.host[(size_t)k * n + i];
				want = w;
			}
		}
		snprintf(part, sizeof(part), "%s %d", name, k);
		report(part, wrong, first, (double)have, (double)want);
	}
}

static void arithmetic()
{
	apply<uint32_t>("int", 13, IntOps(), edge);
	apply<uint64_t>("long", 8, LongOps(), [] { return (uint64_t)edge() << 32 | edge(); });
	apply<float>("float", 12, FloatOps(), [] {
		static const float edges[] = { 0.0f, -0.0f,  1.0f,  INFINITY, -INFINITY,
					       NAN,  1e-40f, 3e38f, 0.5f,     2.5f };
		uint32_t r = next(), bits;
		float f;

		if (r % 5 == 0)
			return edges[r / 5 % 10];
		if (r % 5 == 1) {
			bits = next();
			memcpy(&f, &bits, sizeof(f));
			return f;
		}
		return (float)(int)next() / 65536.0f;
	});
	apply<double>("double", 9, DoubleOps(), [] {
		static const double edges[] = { 0.0, -0.0,   1.0,   INFINITY, -INFINITY,
						NAN, 4e-320, 1e308, 0.5,      2.5 };
		uint32_t r = next();

		return r % 4 ? (double)(int)next() / 65536.0 + next() * 1e-12 : edges[r / 4 % 10];
	});
	apply<float>(
		"math", 11, MathOps(), [] { return (float)((int)next() % 100000) / 1000.0f; },
		4e-6);
}

/* ---- control flow ---- */
__device__ __noinline__ uint32_t leaf(uint32_t v, uint32_t n)
{
	return v * 31 + n;
}

__device__ __noinline__ uint32_t twig(uint32_t v, uint32_t n)
{
	return n & 1 ? leaf(v, n) ^ 0x55 : leaf(v + 1, n + 2);
}

typedef uint32_t (*op_fn)(uint32_t, uint32_t);
__device__ op_fn table[4] = { leaf, twig, leaf, twig };
__constant__ uint32_t factors[16];

__global__ void control(const uint32_t *in, uint32_t *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t v, local[32];

	if (i >= n)
		return;
	v = in[i];
	for (int k = 0; k < 32; k++)
		local[(k * 7 + i) % 32] = v + (uint32_t)k;
	for (uint32_t k = 0; k < v % 8; k++) {
		if (k == 5)
			continue;
		v = table[(v + k) & 3](v, k);
		v += local[(v + k) % 32] * factors[k];
	}
	switch (v % 5) {
	case 0:
		v ^= 1;
		break;
	case 1:
		v += 17;
		/* fall through */
	case 2:
		v *= 3;
		break;
	default:
		v = ~v;
	}
	out[i] = v;
}

static uint32_t host_leaf(uint32_t v, uint32_t n)
{
	return v * 31 + n;
}

static uint32_t host_twig(uint32_t v, uint32_t n)
{
	return n & 1 ? host_leaf(v, n) ^ 0x55 : host_leaf(v + 1, n + 2);
}

static uint32_t host_control(uint32_t v, uint32_t i, const uint32_t *f)
{
	uint32_t local[32];

	for (uint32_t k = 0; k < 32; k++)
		local[(k * 7 + i) % 32] = v + k;
	for (uint32_t k = 0; k < v % 8; k++) {
		if (k == 5)
			continue;
		v = (v + k) & 1 ? host_twig(v, k) : host_leaf(v, k);
		v += local[(v + k) % 32] * f[k];
	}
	switch (v % 5) {
	case 0:
		return v ^ 1;
	case 1:
		return (v + 17) * 3;
	case 2:
		return v * 3;
	default:
		return ~v;
	}
}

static void control_flow()
{
	const int n = 700;
	Buffer<uint32_t> in(n), out(n);
	uint32_t f[16];
	size_t wrong = 0, first = 0;

	for (int i = 0; i < 16; i++)
		f[i] = (uint32_t)i * 2654435761u;
	for (int i = 0; i < n; i++)
		in.host[i] = next();
	HIP(hipMemcpyToSymbol(HIP_SYMBOL(factors), f, sizeof(f)));
	in.up();
	control<<<(n + 95) / 96, 96>>>(in.dev, out.dev, n);
	out.down();
	for (int i = 0; i < n; i++) {
		if (out.host[i] != host_control(in.host[i], (uint32_t)i, f) && !wrong++)
			first = i;
	}
	report("control", wrong, first, out.host[first],
	       host_control(in.host[first], (uint32_t)first, f));
}

/* ---- cooperation of work-items ---- */
__global__ void together(const int *in, int *out, int *total, unsigned long long *big, float *sum,
			 int n)
{
	extern __shared__ int shared[];
	__shared__ int extra[64];
	int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
	int v = i < n ? in[i] : 0;

	shared[t] = v;
	if (t < 64)
		extra[t] = 0;
	__syncthreads();
	for (int s = blockDim.x / 2; s; s >>= 1) {
		if (t < s)
			shared[t] += shared[t + s];
		__syncthreads();
	}
	atomicAdd(&extra[v & 63], 1);
	__syncthreads();
	if (t == 0)
		atomicAdd(&total[0], shared[0]);
	if (t < 64)
		atomicAdd(&total[1 + t], extra[t]);
	atomicMax(&total[65], v);
	atomicMin(&total[66], v);
	atomicXor((unsigned *)&total[67], (unsigned)v);
	atomicOr((unsigned *)&total[68], 1u << (v & 31));
	atomicInc((unsigned *)&total[69], 1000);
	atomicAdd(big, (unsigned long long)v << 20);
	atomicAdd(sum, 0.5f);
	if (i < n) {
		int up = __shfl_up(v, 1), x = __shfl_xor(v, 5), first = __shfl(v, 3);

		out[i] = up + x * 3 + first * 5 + (int)__popcll(__ballot(v & 1)) * 7 +
			 (__any(v == 77) ? 1 : 0) + (__all(v >= 0) ? 2 : 0);
	}
}

static void cooperation()
{
	const int n = 1024, block = 256;
	Buffer<int> in(n), out(n), total(70);
	Buffer<unsigned long long> big(1);
	Buffer<float> sum(1);
	std::vector<int> want(70, 0);
	unsigned long long want_big = 0;
	size_t wrong = 0, first = 0;

	for (int i = 0; i < n; i++)
		in.host[i] = (int)(next() % 100000) - 20000;
	for (int v : in.host) {
		want[0] += v;
		want[1 + (v & 63)]++;
		want[65] = v > want[65] ? v : want[65];
		want[66] = v < want[66] ? v : want[66];
		want[67] ^= v;
		want[68] |= (int)(1u << (v & 31));
		want_big += (unsigned long long)v << 20;
	}
	want[69] = n % 1001;
	in.up();
	total.up();
	big.up();
	sum.up();
	together<<<n / block, block, block * sizeof(int)>>>(in.dev, out.dev, total.dev, big.dev,
							    sum.dev, n);
	out.down();
	total.down();
	big.down();
	sum.down();
	for (int i = 0; i < 70; i++) {
		if (total.host[i] != want[i] && !wrong++)
			first = i;
	}
	report("atomics", wrong, first, total.host[first], want[first]);
	report("atomics64", big.host[0] != want_big, 0, (double)big.host[0], (double)want_big);
	report("atomic float", sum.host[0] != 0.5f * n, 0, sum.host[0], 0.5f * n);
	wrong = 0;
	for (int w = 0; w < n; w += 64) {
		int odd = 0, any = 0, all = 1;

		for (int l = 0; l < 64; l++) {
			odd += in.host[w + l] & 1;
			any |= in.host[w + l] == 77;
			all &= in.host[w + l] >= 0;
		}
		for (int l = 0; l < 64; l++) {
			int want_out = in.host[w + (l ? l - 1 : 0)] + in.host[w + (l ^ 5)] * 3 +
				       in.host[w + 3] * 5 + odd * 7 + any + all * 2;

			wrong += out.host[w + l] != want_out;
		}
	}
	report("lanes", wrong, 0, 0, 0);
}

/* ---- shapes ---- */
__global__ void shape(uint32_t *out, int nx, int ny, int nz)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	int z = blockIdx.z * blockDim.z + threadIdx.z;

	if (x < nx && y < ny && z < nz)
		out[(z * ny + y) * nx + x] =
			(uint32_t)(x | y << 8 | z << 16) + gridDim.y * 0x1000000u;
}

static void shapes()
{
	const int nx = 37, ny = 21, nz = 5;
	const dim3 block(8, 4, 2), grid((nx + 7) / 8, (ny + 3) / 4, (nz + 1) / 2);
	Buffer<uint32_t> out((size_t)nx * ny * nz);
	size_t wrong = 0;

	shape<<<grid, block>>>(out.dev, nx, ny, nz);
	out.down();
	for (int z = 0; z < nz; z++) {
		for (int y = 0; y < ny; y++) {
			for (int x = 0; x < nx; x++)
				wrong += out.host[(z * ny + y) * nx + x] !=
					 (uint32_t)(x | y << 8 | z << 16) + grid.y * 0x1000000u;
		}
	}
	report("shape", wrong, 0, 0, 0);
}

/* ---- half precision ---- */
__global__ void halves(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		__half a = __float2half(in[i]), b = __float2half(in[n - 1 - i]);
		__half2 p = __halves2half2(a, b), q = __halves2half2(b, a);
		__half2 r = __hfma2(p, q, p), s = __hadd2(p, q);

		out[i * 4] = __half2float(__hadd(a, b));
		out[i * 4 + 1] = __half2float(__hmul(a, b));
		out[i * 4 + 2] = __low2float(s) - __high2float(s);
		out[i * 4 + 3] = __low2float(r) - __half2float(__hfma(a, b, a));
	}
}

static void half_precision()
{
	const int n = 256;
	Buffer<float> in(n), out(n * 4);
	size_t wrong = 0;

	for (int i = 0; i < n; i++)
		in.host[i] = (float)((int)(next() % 2048) - 1024) / 64.0f;
	in.up();
	halves<<<n / 64, 64>>>(in.dev, out.dev, n);
	out.down();
	for (int i = 0; i < n; i++) {
		float a = in.host[i], b = in.host[n - 1 - i];

		/* sums of these are exact; products have 22 bits at most, and are rounded to 11 */
		wrong += out.host[i * 4] != (float)(_Float16)(a + b);
		wrong += out.host[i * 4 + 1] != (float)(_Float16)(a * b);
		wrong += out.host[i * 4 + 2] != 0.0f;
		wrong += out.host[i * 4 + 3] != 0.0f;
	}
	report("half", wrong, 0, 0, 0);
}

/* ---- fills and copies ---- */
static void fills()
{
	const size_t area = 70000;
	Buffer<unsigned char> a(area), b(area);
	size_t wrong = 0, first = 0;

	for (size_t at : { 0, 1, 2, 3, 4, 5, 7, 16, 61 }) {
		for (size_t len : { 64, 65, 66, 67, 100, 1000, 4096, 4099, 65537 }) {
			for (size_t i = 0; i < area; i++)
				a.host[i] = (unsigned char)(i * 7 + at);
			std::vector<unsigned char> want = a.host;

			a.up();
			HIP(hipMemset(a.dev + at, (int)(len & 255), len));
			memset(want.data() + at, (int)(len & 255), len);
			HIP(hipMemcpy(b.dev, a.dev, area, hipMemcpyDeviceToDevice));
			HIP(hipMemcpy(b.dev + 3, a.dev + at, len, hipMemcpyDeviceToDevice));
			b.down();
			for (size_t i = 0; i < area; i++) {
				unsigned char w = i >= 3 && i < 3 + len ? want[at + i - 3] :
									  want[i];

				if (b.host[i] != w && !wrong++)
					first = i;
			}
		}
	}
	report("fill and copy", wrong, first, 0, 0);
}

static void rectangles()
{
	const size_t pitch = 512, rows = 40;
	Buffer<unsigned char> a(pitch * rows), b(pitch * rows);
	size_t wrong = 0;

	for (size_t width : { 1, 3, 4, 17, 64, 129, 512 }) {
		for (size_t i = 0; i < a.host.size(); i++) {
			a.host[i] = (unsigned char)(i * 13 + width);
			b.host[i] = 0;
		}
		a.up();
		b.up();
		HIP(hipMemcpy2D(b.dev, pitch, a.dev, pitch, width, rows, hipMemcpyDeviceToDevice));
		HIP(hipMemset2D(a.dev, pitch, 0x5a, width, rows));
		std::vector<unsigned char> src = a.host;
		a.down();
		b.down();
		for (size_t i = 0; i < src.size(); i++) {
			bool in = i % pitch < width;

			wrong += b.host[i] != (in ? src[i] : 0);
			wrong += a.host[i] != (in ? 0x5a : src[i]);
		}
	}
	report("rectangles", wrong, 0, 0, 0);
}

static void words()
{
	Buffer<uint32_t> a(1001);
	size_t wrong = 0;

	a.up();
	HIP(hipMemsetD32((hipDeviceptr_t)a.dev, (int)0xdeadbeef, 999));
	a.down();
	for (size_t i = 0; i < 1001; i++)
		wrong += a.host[i] != (i < 999 ? 0xdeadbeef : 0);
	HIP(hipMemsetD16((hipDeviceptr_t)a.dev, 0x1234, 1001));
	a.down();
	for (size_t i = 0; i < 500; i++)
		wrong += a.host[i] != 0x12341234;
	report("words", wrong, 0, 0, 0);
}

__global__ void say(int v)
{
	if (threadIdx.x < 2)
		printf("lane %d of %d\n", (int)threadIdx.x, v);
}

static void speak()
{
	say<<<1, 64>>>(42);
	HIP(hipDeviceSynchronize());
	report("printf", 0, 0, 0, 0);
}

__global__ void wild(int *p)
{
	p[threadIdx.x] = 1;
}

__global__ void trap()
{
	__builtin_trap();
}

__global__ void missing()
{
	/* a graphics instruction */
	asm volatile("v_cubeid_f32 v0, v0, v0, v0");
}

__global__ void illegal()
{
	asm volatile(".long 0xbfff0000");
}

__global__ void doubtful(int n)
{
	assert(n < 3);
}

/* Runs good kernels first, which have completed before the bad one. */
static void bad(const char *name)
{
	for (int i = 0; i < 5; i++)
		shapes();
	fflush(stdout);
	if (!strcmp(name, "wild"))
		wild<<<1, 64>>>((int *)0x123456789000);
	else if (!strcmp(name, "trap"))
		trap<<<1, 64>>>();
	else if (!strcmp(name, "illegal"))
		illegal<<<1, 64>>>();
	else if (!strcmp(name, "assert"))
		doubtful<<<1, 64>>>(7);
	else
		missing<<<1, 64>>>();
	(void)hipDeviceSynchronize();
	printf("survived\n");
}

int main(int argc, char **argv)
{
	static const Part parts[] = {
		{ "arithmetic", arithmetic }, { "control", control_flow },
		{ "together", cooperation },  { "shapes", shapes },
		{ "half", half_precision },   { "fills", fills },
		{ "rectangles", rectangles }, { "words", words },
		{ "printf", speak },
	};
	int gpus = 0;

	if (argc == 3 && !strcmp(argv[1], "bad")) {
		bad(argv[2]);
		return 0;
	}
	HIP(hipGetDeviceCount(&gpus));
	for (int gpu = 0; gpu < gpus; gpu++) {
		HIP(hipSetDevice(gpu));
		run_parts(parts, argc, argv, [](const Part &part) { part.run(); });
	}
	HIP(hipDeviceSynchronize());
	return verdict();
}
