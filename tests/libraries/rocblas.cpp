/* SPDX-License-Identifier: MIT */
/* rocblas.cpp - matrix products of six types, and a triangular solve, against the CPU */
#include "common.hpp"

#include <rocblas/rocblas.h>

#include <cstring>

/* the upper half of a float, to nearest even; no NaN here */
struct Bfloat {
	uint16_t bits = 0;

	Bfloat() = default;
	explicit Bfloat(double d)
	{
		float f = (float)d;
		uint32_t u;

		std::memcpy(&u, &f, sizeof(u));
		bits = (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
	}
	explicit operator double() const
	{
		uint32_t u = (uint32_t)bits << 16;
		float f;

		std::memcpy(&f, &u, sizeof(f));
		return f;
	}
};

static const int M = 48, N = 40, K = 56;

/* C = A B with column-major operands, in double precision */
template <typename T, typename Wide>
static std::vector<Wide> product(const std::vector<T> &a, const std::vector<T> &b)
{
	std::vector<Wide> c((size_t)M * N);

	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++)
			for (int k = 0; k < K; k++)
				c[i + (size_t)j * M] +=
					(Wide)a[i + (size_t)k * M] * (Wide)b[k + (size_t)j * K];
	return c;
}

template <typename T, typename Gemm>
static void real(const char *what, rocblas_handle h, Gemm gemm, double bound)
{
	std::vector<T> a = numbers<T>((size_t)M * K, 1), b = numbers<T>((size_t)K * N, 2);
	std::vector<double> want = product<T, double>(a, b);
	Device<T> da(a), db(b), dc((size_t)M * N);
	T one = 1, zero = 0;
	double worst = 0;

	OK(gemm(h, rocblas_operation_none, rocblas_operation_none, M, N, K, &one, da.p, M, db.p, K,
		&zero, dc.p, M));
	std::vector<T> c = dc.host();
	for (size_t i = 0; i < c.size(); i++)
		worst = std::fmax(worst, std::fabs((double)c[i] - want[i]));
	result(what, worst, bound);
}

static void complex_product(rocblas_handle h)
{
	using C = std::complex<float>;
	std::vector<C> a((size_t)M * K), b((size_t)K * N);
	Numbers r(3);

	for (C &x : a)
		x = C((float)r.next(), (float)r.next());
	for (C &x : b)
		x = C((float)r.next(), (float)r.next());
	std::vector<std::complex<double>> want = product<C, std::complex<double>>(a, b);
	Device<C> da(a), db(b), dc((size_t)M * N);
	rocblas_float_complex one(1, 0), zero(0, 0);
	double worst = 0;

	OK(rocblas_cgemm(h, rocblas_operation_none, rocblas_operation_none, M, N, K, &one,
			 (rocblas_float_complex *)da.p, M, (rocblas_float_complex *)db.p, K, &zero,
			 (rocblas_float_complex *)dc.p, M));
	std::vector<C> c = dc.host();
	for (size_t i = 0; i < c.size(); i++)
		worst = std::fmax(worst, std::abs(std::complex<double>(c[i]) - want[i]));
	result("cgemm", worst, 1e-4);
}

/* 16 bits in and out, sums in single precision */
template <typename T>
static void half_product(const char *what, rocblas_handle h, rocblas_datatype type, double bound)
{
	std::vector<T> a = numbers<T>((size_t)M * K, 4), b = numbers<T>((size_t)K * N, 5);
	std::vector<double> want = product<T, double>(a, b);
	Device<T> da(a), db(b), dc((size_t)M * N);
	float one = 1, zero = 0;
	double worst = 0;

	OK(rocblas_gemm_ex(h, rocblas_operation_none, rocblas_operation_none, M, N, K, &one, da.p,
			   type, M, db.p, type, K, &zero, dc.p, type, M, dc.p, type, M,
			   rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0, 0));
	std::vector<T> c = dc.host();
	for (size_t i = 0; i < c.size(); i++)
		worst = std::fmax(worst, std::fabs((double)c[i] - want[i]));
	result(what, worst, bound);
}

static void integer_product(rocblas_handle h)
{
	std::vector<int8_t> a((size_t)M * K), b((size_t)K * N);
	Numbers r(6);

	for (int8_t &x : a)
		x = (int8_t)(r.next() * 100);
	for (int8_t &x : b)
		x = (int8_t)(r.next() * 100);
	std::vector<int64_t> want = product<int8_t, int64_t>(a, b);
	Device<int8_t> da(a), db(b);
	Device<int32_t> dc((size_t)M * N);
	int32_t one = 1, zero = 0;
	double worst = 0;

	OK(rocblas_gemm_ex(h, rocblas_operation_none, rocblas_operation_none, M, N, K, &one, da.p,
			   rocblas_datatype_i8_r, M, db.p, rocblas_datatype_i8_r, K, &zero, dc.p,
			   rocblas_datatype_i32_r, M, dc.p, rocblas_datatype_i32_r, M,
			   rocblas_datatype_i32_r, rocblas_gemm_algo_standard, 0, 0));
	std::vector<int32_t> c = dc.host();
	for (size_t i = 0; i < c.size(); i++)
		worst = std::fmax(worst, std::fabs((double)(c[i] - want[i])));
	result("i8 gemm", worst, 0);
}

/* L X = B with a lower triangle whose diagonal dominates */
static void triangle(rocblas_handle h)
{
	std::vector<float> l = numbers<float>((size_t)M * M, 7),
			   b = numbers<float>((size_t)M * N, 8);
	float one = 1;
	double worst = 0;

	for (int i = 0; i < M; i++)
		l[i + (size_t)i * M] = (float)M;
	Device<float> dl(l), dx(b);
	OK(rocblas_strsm(h, rocblas_side_left, rocblas_fill_lower, rocblas_operation_none,
			 rocblas_diagonal_non_unit, M, N, &one, dl.p, M, dx.p, M));
	std::vector<float> x = dx.host();
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double sum = -(double)b[i + (size_t)j * M];

			for (int k = 0; k <= i; k++)
				sum += (double)l[i + (size_t)k * M] * x[k + (size_t)j * M];
			worst = std::fmax(worst, std::fabs(sum));
		}
	result("strsm", worst, 1e-4);
}

int main()
{
	rocblas_handle h;

	OK(rocblas_create_handle(&h));
	real<float>("sgemm", h, rocblas_sgemm, 1e-4);
	real<double>("dgemm", h, rocblas_dgemm, 1e-12);
	half_product<_Float16>("hgemm", h, rocblas_datatype_f16_r, 0.02);
	half_product<Bfloat>("bf16 gemm", h, rocblas_datatype_bf16_r, 0.08);
	complex_product(h);
	integer_product(h);
	triangle(h);
	OK(rocblas_destroy_handle(h));
	return ended();
}
