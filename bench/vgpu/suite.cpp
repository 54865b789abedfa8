/* SPDX-License-Identifier: MIT */
/* suite.cpp - ten typical GPU programs, for timing the virtual GPU; each one checks its results on
 * the host
 *
 *	suite NAME [REPEAT [spin]]
 *
 * NAME is stencil, reduce, sort, nbody, matmul (and matmul_lds, the same with tiles in LDS), fft,
 * histogram, scan, spmv or montecarlo. Prints the seconds of REPEAT runs of its kernels, by the
 * clock and of the virtual GPU's processor time, as JSON; ends with 1 if a result is wrong.
 *
 * The program blocks while it waits, so that all processors are the virtual GPU's: on a machine
 * with two, one thread that spins, which is the runtime's default, takes half of what there is, and
 * what a second thread of the virtual GPU gains can't be seen. With `spin` it waits as by default.
 */
#include <hip/hip_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err = (call);                                                           \
		if (err != hipSuccess) {                                                           \
			fprintf(stderr, "suite: %s: %s\n", #call, hipGetErrorString(err));         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static int repeat = 1;
static double seconds, cpu_seconds;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

template <typename T> static T *to_gpu(const std::vector<T> &v)
{
	T *p;

	HIP(hipMalloc(&p, v.size() * sizeof(T)));
	HIP(hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice));
	return p;
}

template <typename T> static std::vector<T> from_gpu(const T *p, size_t nr)
{
	std::vector<T> v(nr);

	HIP(hipMemcpy(v.data(), p, nr * sizeof(T), hipMemcpyDeviceToHost));
	return v;
}

/* Of all threads but this one, which may spin while it waits. */
static double gpu_seconds()
{
	struct timespec all, mine;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine);
	return (double)(all.tv_sec - mine.tv_sec) + (double)(all.tv_nsec - mine.tv_nsec) * 1e-9;
}

template <typename F> static void timed(F launch)
{
	auto begin = std::chrono::steady_clock::now();
	double cpu = gpu_seconds();

	for (int n = 0; n < repeat; n++)
		launch();
	HIP(hipGetLastError());
	HIP(hipDeviceSynchronize());
	seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
	cpu_seconds = gpu_seconds() - cpu;
}

static bool close_to(double got, double want, double tolerance)
{
	return fabs(got - want) <= tolerance * (1 + fabs(want));
}

static std::vector<float> random_floats(size_t nr)
{
	std::vector<float> v(nr);
	uint32_t state = 1;

	for (float &f : v)
		f = (float)next_random(&state) / (1 << 24);
	return v;
}

/* ---- stencil: five points, two dimensions ---------------------------------------------------- */

__global__ void stencil_kernel(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1)
		return;
	out[y * width + x] = 0.5f * in[y * width + x] +
			     0.125f * (in[y * width + x - 1] + in[y * width + x + 1] +
				       in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}

static bool stencil()
{
	const int width = 1024, height = 512;
	std::vector<float> in = random_floats((size_t)width * height);
	float *a = to_gpu(in), *b = to_gpu(in);

	timed([&] {
		stencil_kernel<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(a, b, width, height);
	});
	std::vector<float> out = from_gpu(b, in.size());
	for (int y = 1; y < height - 1; y++) {
		for (int x = 1; x < width - 1; x++) {
			const float *p = &in[(size_t)y * width + x];
			float want = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-width] + p[width]);

			if (!close_to(out[(size_t)y * width + x], want, 1e-6))
				return false;
		}
	}
	return true;
}

/* ---- reduction: a tree in LDS, one atomic for each workgroup --------------------------------- */

__global__ void reduce_kernel(const unsigned int *in, unsigned int *sum, int nr)
{
	__shared__ unsigned int part[256];
	unsigned int mine = 0;

	for (int n = blockIdx.x * 256 + threadIdx.x; n < nr; n += gridDim.x * 256)
		mine += in[n];
	part[threadIdx.x] = mine;
	__syncthreads();
	for (unsigned int half = 128; half; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (!threadIdx.x)
		atomicAdd(sum, part[0]);
}

static bool reduce()
{
	std::vector<unsigned int> in(1 << 21), zero(1);
	uint32_t state = 2, want = 0;

	for (unsigned int &v : in) {
		v = next_random(&state);
		want += v;
	}
	unsigned int *a = to_gpu(in), *sum = to_gpu(zero);
	timed([&] { reduce_kernel<<<512, 256>>>(a, sum, (int)in.size()); });
	return from_gpu(sum, 1)[0] == want * (uint32_t)repeat;
}

/* ---- sort: bitonic --------------------------------------------------------------------------- */

__global__ void sort_kernel(unsigned int *v, unsigned int size, unsigned int stride)
{
	unsigned int n = blockIdx.x * blockDim.x + threadIdx.x, other = n ^ stride;
	unsigned int a, b;

	if (other < n)
		return;
	a = v[n];
	b = v[other];
	if ((a > b) == !(n & size)) {
		v[n] = b;
		v[other] = a;
	}
}

static bool sort()
{
	const unsigned int nr = 1 << 17;
	std::vector<unsigned int> in(nr);
	uint32_t state = 3;
	uint64_t sum = 0;

	for (unsigned int &v : in)
		sum += v = next_random(&state);
	unsigned int *a = to_gpu(in);
	timed([&] {
		for (unsigned int size = 2; size <= nr; size *= 2) {
			for (unsigned int stride = size / 2; stride; stride /= 2)
				sort_kernel<<<nr / 256, 256>>>(a, size, stride);
		}
	});
	std::vector<unsigned int> out = from_gpu(a, nr);
	for (unsigned int n = 0; n < nr; n++) {
		sum -= out[n];
		if (n && out[n - 1] > out[n])
			return false;
	}
	return !sum;
}

/* ---- n-body: forces of all on all, by tiles in LDS ------------------------------------------- */

__global__ void nbody_kernel(const float4 *body, float4 *force, int nr)
{
	__shared__ float4 tile[128];
	int n = blockIdx.x * 128 + threadIdx.x;
	float4 me = body[n];
	float fx = 0, fy = 0, fz = 0;

	for (int first = 0; first < nr; first += 128) {
		tile[threadIdx.x] = body[first + threadIdx.x];
		__syncthreads();
		for (int k = 0; k < 128; k++) {
			float x = tile[k].x - me.x, y = tile[k].y - me.y, z = tile[k].z - me.z;
			float r = rsqrtf(x * x + y * y + z * z + 0.01f), s = tile[k].w * r * r * r;

			fx += x * s;
			fy += y * s;
			fz += z * s;
		}
		__syncthreads();
	}
	force[n] = make_float4(fx, fy, fz, 0);
}

static bool nbody()
{
	const int nr = 4096;
	std::vector<float> f = random_floats((size_t)nr * 4);
	std::vector<float4> body(nr);

	memcpy(body.data(), f.data(), f.size() * sizeof(float));
	float4 *a = to_gpu(body), *b = to_gpu(body);
	timed([&] { nbody_kernel<<<nr / 128, 128>>>(a, b, nr); });
	std::vector<float4> out = from_gpu(b, nr);
	for (int n = 0; n < nr; n += 37) {
		double fx = 0, fy = 0;

		for (const float4 &o : body) {
			double x = o.x - body[n].x, y = o.y - body[n].y, z = o.z - body[n].z;
			double s = o.w / pow(x * x + y * y + z * z + 0.01, 1.5);

			fx += x * s;
			fy += y * s;
		}
		if (!close_to(out[n].x, fx, 1e-3) || !close_to(out[n].y, fy, 1e-3))
			return false;
	}
	return true;
}

/* ---- matrix product -------------------------------------------------------------------------- */

__global__ void matmul_kernel(const float *a, const float *b, float *c, int n)
{
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += a[y * n + k] * b[k * n + x];
	c[y * n + x] = sum;
}

__global__ void matmul_lds_kernel(const float *a, const float *b, float *c, int n)
{
	__shared__ float s[16][16], t[16][16];
	int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
	float sum = 0;

	for (int first = 0; first < n; first += 16) {
		s[ty][tx] = a[y * n + first + tx];
		t[ty][tx] = b[(first + ty) * n + x];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += s[ty][k] * t[k][tx];
		__syncthreads();
	}
	c[y * n + x] = sum;
}

static bool product(bool lds)
{
	const int n = 256;
	std::vector<float> ha = random_floats((size_t)n * n), hb = ha;
	float *a, *b, *c;

	for (float &f : hb)
		f = 1 - f;
	a = to_gpu(ha);
	b = to_gpu(hb);
	c = to_gpu(ha);
	timed([&] {
		if (lds)
			matmul_lds_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
		else
			matmul_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
	});
	std::vector<float> out = from_gpu(c, (size_t)n * n);
	for (int y = 0; y < n; y += 7) {
		for (int x = 0; x < n; x++) {
			double want = 0;

			for (int k = 0; k < n; k++)
				want += (double)ha[(size_t)y * n + k] * hb[(size_t)k * n + x];
			if (!close_to(out[(size_t)y * n + x], want, 1e-5))
				return false;
		}
	}
	return true;
}

static bool matmul()
{
	return product(false);
}

static bool matmul_lds()
{
	return product(true);
}

/* ---- FFT: 512 points in LDS, one transform for each workgroup, double precision -------------- */

__global__ void fft_kernel(const double2 *in, double2 *out)
{
	__shared__ double2 v[512];
	unsigned int t = threadIdx.x, at = blockIdx.x * 512;

	v[__brev(t) >> 23] = in[at + t];
	v[__brev(t + 256) >> 23] = in[at + t + 256];
	for (unsigned int half = 1; half < 512; half *= 2) {
		unsigned int k = t & (half - 1), i = (t - k) * 2 + k;
		double s, c, x, y;

		sincospi(-(double)k / half, &s, &c);
		__syncthreads();
		x = v[i + half].x * c - v[i + half].y * s;
		y = v[i + half].x * s + v[i + half].y * c;
		v[i + half] = make_double2(v[i].x - x, v[i].y - y);
		v[i] = make_double2(v[i].x + x, v[i].y + y);
	}
	__syncthreads();
	out[at + t] = v[t];
	out[at + t + 256] = v[t + 256];
}

static bool fft()
{
	const int nr = 512, groups = 128;
	std::vector<double2> in((size_t)nr * groups);
	uint32_t state = 5;

	for (double2 &v : in)
		v = make_double2(next_random(&state) / 16777216.0,
				 next_random(&state) / 16777216.0);
	double2 *a = to_gpu(in), *b = to_gpu(in);
	timed([&] { fft_kernel<<<groups, 256>>>(a, b); });
	std::vector<double2> out = from_gpu(b, in.size());
	for (int g = 0; g < groups; g += 31) {
		for (int k = 0; k < nr; k += 13) {
			double re = 0, im = 0;

			for (int n = 0; n < nr; n++) {
				const double2 v = in[(size_t)g * nr + n];
				double angle = -2 * M_PI * ((long)k * n % nr) / nr;

				re += v.x * cos(angle) - v.y * sin(angle);
				im += v.x * sin(angle) + v.y * cos(angle);
			}
			if (!close_to(out[(size_t)g * nr + k].x, re, 1e-10) ||
			    !close_to(out[(size_t)g * nr + k].y, im, 1e-10))
				return false;
		}
	}
	return true;
}

/* ---- histogram: bins in LDS, then in global memory ------------------------------------------- */

__global__ void histogram_kernel(const unsigned int *in, unsigned int *bins, int nr)
{
	__shared__ unsigned int mine[256];

	mine[threadIdx.x] = 0;
	__syncthreads();
	for (int n = blockIdx.x * 256 + threadIdx.x; n < nr; n += gridDim.x * 256) {
		unsigned int v = in[n];

		for (int byte = 0; byte < 4; byte++)
			atomicAdd(&mine[v >> 8 * byte & 255], 1);
	}
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

static bool histogram()
{
	std::vector<unsigned int> in(1 << 19), zero(256), want(256);
	uint32_t state = 6;

	for (unsigned int &v : in) {
		v = next_random(&state);
		for (int byte = 0; byte < 4; byte++)
			want[v >> 8 * byte & 255] += (unsigned int)repeat;
	}
	unsigned int *a = to_gpu(in), *bins = to_gpu(zero);
	timed([&] { histogram_kernel<<<128, 256>>>(a, bins, (int)in.size()); });
	return from_gpu(bins, 256) == want;
}

/* ---- scan: by wave with shuffles, by workgroup in LDS, then the sums of workgroups are added - */

__global__ void scan_kernel(const unsigned int *in, unsigned int *out, unsigned int *sums)
{
	__shared__ unsigned int wave[4];
	unsigned int t = threadIdx.x, n = blockIdx.x * 256 + t, v = in[n], before = 0;

	for (unsigned int by = 1; by < 64; by *= 2) {
		unsigned int other = __shfl_up(v, by);

		if (t % 64 >= by)
			v += other;
	}
	if (t % 64 == 63)
		wave[t / 64] = v;
	__syncthreads();
	for (unsigned int w = 0; w < t / 64; w++)
		before += wave[w];
	out[n] = v + before;
	if (t == 255)
		sums[blockIdx.x] = v + before;
}

__global__ void scan_add_kernel(unsigned int *out, const unsigned int *sums)
{
	unsigned int before = 0;

	for (unsigned int n = 0; n < blockIdx.x; n++)
		before += sums[n];
	out[blockIdx.x * 256 + threadIdx.x] += before;
}

static bool scan()
{
	const int nr = 1 << 17;
	std::vector<unsigned int> in(nr);
	uint32_t state = 7, want = 0;

	for (unsigned int &v : in)
		v = next_random(&state);
	unsigned int *a = to_gpu(in), *b = to_gpu(in), *sums = to_gpu(in);
	timed([&] {
		scan_kernel<<<nr / 256, 256>>>(a, b, sums);
		scan_add_kernel<<<nr / 256, 256>>>(b, sums);
	});
	std::vector<unsigned int> out = from_gpu(b, nr);
	for (int n = 0; n < nr; n++) {
		want += in[n];
		if (out[n] != want)
			return false;
	}
	return true;
}

/* ---- sparse matrix times vector: rows of different lengths, compressed ----------------------- */

__global__ void spmv_kernel(const int *row, const int *column, const float *value, const float *x,
			    float *y, int nr)
{
	int n = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (n >= nr)
		return;
	for (int k = row[n]; k < row[n + 1]; k++)
		sum += value[k] * x[column[k]];
	y[n] = sum;
}

static bool spmv()
{
	const int nr = 40000;
	std::vector<int> row(1), column;
	std::vector<float> x = random_floats(nr), value;
	uint32_t state = 8;

	for (int n = 0; n < nr; n++) {
		int length = 8 + (int)(next_random(&state) % 32);

		for (int k = 0; k < length; k++)
			column.push_back((int)(next_random(&state) % nr));
		row.push_back((int)column.size());
	}
	value = random_floats(column.size());
	int *r = to_gpu(row), *c = to_gpu(column);
	float *v = to_gpu(value), *vx = to_gpu(x), *vy = to_gpu(x);
	timed([&] { spmv_kernel<<<(nr + 255) / 256, 256>>>(r, c, v, vx, vy, nr); });
	std::vector<float> y = from_gpu(vy, nr);
	for (int n = 0; n < nr; n++) {
		double want = 0;

		for (int k = row[n]; k < row[n + 1]; k++)
			want += (double)value[k] * x[column[k]];
		if (!close_to(y[n], want, 1e-5))
			return false;
	}
	return true;
}

/* ---- Monte Carlo: the price of an option from normal random numbers -------------------------- */

__global__ void montecarlo_kernel(float *price, int paths)
{
	unsigned int n = blockIdx.x * blockDim.x + threadIdx.x, state = n * 2654435761u + 12345;
	float sum = 0;

	for (int k = 0; k < paths; k++) {
		float u, v, normal, end;

		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		u = ((float)(state >> 8) + 0.5f) / 16777216.0f;
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		v = (float)(state >> 8) / 16777216.0f;
		normal = sqrtf(-2 * __logf(u)) * __cosf(6.2831853f * v);
		end = 100 * __expf(0.03f + 0.2f * normal);
		sum += end > 105 ? end - 105 : 0;
	}
	price[n] = sum / (float)paths;
}

static bool montecarlo()
{
	const int nr = 16384, paths = 64;
	std::vector<float> zero(nr);
	float *a = to_gpu(zero);
	double sum = 0;

	timed([&] { montecarlo_kernel<<<nr / 256, 256>>>(a, paths); });
	for (float f : from_gpu(a, nr))
		sum += f;
	/* Black and Scholes, forward: 100 e^0.05 N(d1) - 105 N(d2) */
	const double d1 = (log(100 / 105.0) + 0.05 + 0.02) / 0.2, d2 = d1 - 0.2;
	const double want =
		100 * exp(0.05) * erfc(-d1 / sqrt(2)) / 2 - 105 * erfc(-d2 / sqrt(2)) / 2;
	return close_to(sum / nr, want, 0.02);
}

static const struct {
	const char *name;
	bool (*run)();
} programs[] = {
	{ "stencil", stencil }, { "reduce", reduce },	      { "sort", sort },
	{ "nbody", nbody },	{ "matmul", matmul },	      { "matmul_lds", matmul_lds },
	{ "fft", fft },		{ "histogram", histogram },   { "scan", scan },
	{ "spmv", spmv },	{ "montecarlo", montecarlo },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		repeat = (int)strtol(argv[2], nullptr, 10);
	if (argc < 4 || strcmp(argv[3], "spin") != 0)
		HIP(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	for (const auto &p : programs) {
		if (argc < 2 || strcmp(argv[1], p.name) != 0)
			continue;
		if (!p.run()) {
			fprintf(stderr, "suite: %s: wrong result\n", p.name);
			return 1;
		}
		printf("{\"seconds\": %.9f, \"cpu_seconds\": %.9f}\n", seconds, cpu_seconds);
		return 0;
	}
	fprintf(stderr, "suite: usage: suite NAME [REPEAT [spin]]; the names:");
	for (const auto &p : programs)
		fprintf(stderr, " %s", p.name);
	fprintf(stderr, "\n");
	return 2;
}
