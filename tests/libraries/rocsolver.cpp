/* SPDX-License-Identifier: MIT */
/* rocsolver.cpp - factorisations (LU, Cholesky, QR) and solutions, by their residuals */
#include "common.hpp"

#include <rocblas/rocblas.h>
#include <rocsolver/rocsolver.h>

static const int N = 40;

static std::vector<double> matrix(bool symmetric)
{
	std::vector<double> a = numbers<double>((size_t)N * N, 20);

	for (int i = 0; i < N; i++) {
		for (int j = 0; symmetric && j < i; j++)
			a[(size_t)(i + j * N)] = a[(size_t)(j + i * N)];
		a[(size_t)(i + i * N)] = symmetric ? N : 2;
	}
	return a;
}

static double residual(const std::vector<double> &a, const std::vector<double> &x,
		       const std::vector<double> &b)
{
	double worst = 0;

	for (int i = 0; i < N; i++) {
		double sum = -b[(size_t)i];

		for (int j = 0; j < N; j++)
			sum += a[(size_t)(i + j * N)] * x[(size_t)j];
		worst = std::fmax(worst, std::fabs(sum));
	}
	return worst;
}

static void lu(rocblas_handle h)
{
	std::vector<double> a = matrix(false), b = numbers<double>((size_t)N, 21);
	Device<double> da(a), db(b);
	Device<rocblas_int> pivots((size_t)N), info(1);

	OK(rocsolver_dgetrf(h, N, N, da.p, N, pivots.p, info.p));
	OK(rocsolver_dgetrs(h, rocblas_operation_none, N, 1, da.p, N, pivots.p, db.p, N));
	result("getrf and getrs", residual(a, db.host(), b) + info.host()[0], 1e-10);
}

static void cholesky(rocblas_handle h)
{
	std::vector<double> a = matrix(true), b = numbers<double>((size_t)N, 22);
	Device<double> da(a), db(b);
	Device<rocblas_int> info(1);

	OK(rocsolver_dpotrf(h, rocblas_fill_lower, N, da.p, N, info.p));
	OK(rocsolver_dpotrs(h, rocblas_fill_lower, N, 1, da.p, N, db.p, N));
	result("potrf and potrs", residual(a, db.host(), b) + info.host()[0], 1e-12);
}

static void least_squares(rocblas_handle h)
{
	std::vector<double> a = matrix(false), b = numbers<double>((size_t)N, 23);
	Device<double> da(a), db(b);
	Device<rocblas_int> info(1);

	OK(rocsolver_dgels(h, rocblas_operation_none, N, N, 1, da.p, N, db.p, N, info.p));
	result("gels", residual(a, db.host(), b) + info.host()[0], 1e-10);
}

int main()
{
	rocblas_handle h;

	OK(rocblas_create_handle(&h));
	lu(h);
	cholesky(h);
	least_squares(h);
	OK(rocblas_destroy_handle(h));
	return ended();
}
