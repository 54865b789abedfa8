/* SPDX-License-Identifier: MIT */
/* rocsparse.cpp - products of a sparse matrix with a vector and a matrix, and a triangular solve,
 * against the CPU */
#include "common.hpp"

#include <rocsparse/rocsparse.h>

/* A band matrix in compressed rows: 0 to 8 entries in a row, the diagonal among them if `lower`. */
struct Sparse {
	rocsparse_int rows = 300;
	std::vector<rocsparse_int> start, column;
	std::vector<double> value;

	explicit Sparse(bool lower)
	{
		Numbers r(lower ? 11 : 12);

		for (rocsparse_int i = 0; i < rows; i++) {
			start.push_back((rocsparse_int)column.size());
			for (rocsparse_int j = i - 7; j <= (lower ? i : i + 7); j++) {
				double x = r.next();

				if (j < 0 || j >= rows || (x < 0.25 && j != i))
					continue;
				column.push_back(j);
				value.push_back(lower && j == i ? 8 : x);
			}
		}
		start.push_back((rocsparse_int)column.size());
	}
	double row(rocsparse_int i, const double *x) const
	{
		double sum = 0;

		for (rocsparse_int k = start[(size_t)i]; k < start[(size_t)i + 1]; k++)
			sum += value[(size_t)k] * x[column[(size_t)k]];
		return sum;
	}
};

struct OnGpu {
	Device<rocsparse_int> start, column;
	Device<double> value;
	rocsparse_mat_descr descr;
	rocsparse_int entries;

	explicit OnGpu(const Sparse &m)
		: start(m.start), column(m.column), value(m.value),
		  entries((rocsparse_int)m.column.size())
	{
		OK(rocsparse_create_mat_descr(&descr));
	}
	~OnGpu()
	{
		(void)rocsparse_destroy_mat_descr(descr);
	}
};

static void vector_product(rocsparse_handle h, const Sparse &m, const OnGpu &gpu)
{
	std::vector<double> x = numbers<double>((size_t)m.rows, 13);
	Device<double> dx(x), dy((size_t)m.rows);
	double one = 1, zero = 0, worst = 0;

	OK(rocsparse_dcsrmv(h, rocsparse_operation_none, m.rows, m.rows, gpu.entries, &one,
			    gpu.descr, gpu.value.p, gpu.start.p, gpu.column.p, nullptr, dx.p, &zero,
			    dy.p));
	std::vector<double> y = dy.host();
	for (rocsparse_int i = 0; i < m.rows; i++)
		worst = std::fmax(worst, std::fabs(y[(size_t)i] - m.row(i, x.data())));
	result("csrmv", worst, 1e-12);
}

static void matrix_product(rocsparse_handle h, const Sparse &m, const OnGpu &gpu)
{
	const rocsparse_int n = 5;
	std::vector<double> b = numbers<double>((size_t)(m.rows * n), 14);
	Device<double> db(b), dc(b.size());
	double one = 1, zero = 0, worst = 0;

	OK(rocsparse_dcsrmm(h, rocsparse_operation_none, rocsparse_operation_none, m.rows, n,
			    m.rows, gpu.entries, &one, gpu.descr, gpu.value.p, gpu.start.p,
			    gpu.column.p, db.p, m.rows, &zero, dc.p, m.rows));
	std::vector<double> c = dc.host();
	for (rocsparse_int j = 0; j < n; j++)
		for (rocsparse_int i = 0; i < m.rows; i++)
			worst = std::fmax(worst, std::fabs(c[(size_t)(i + j * m.rows)] -
							   m.row(i, &b[(size_t)(j * m.rows)])));
	result("csrmm", worst, 1e-12);
}

/* Rows wait for rows before them by flags in memory: workgroups poll each other. */
static void solve(rocsparse_handle h, const Sparse &m, const OnGpu &gpu)
{
	std::vector<double> b = numbers<double>((size_t)m.rows, 15);
	Device<double> db(b), dx((size_t)m.rows);
	rocsparse_mat_info info;
	size_t bytes;
	double one = 1, worst = 0;

	OK(rocsparse_set_mat_fill_mode(gpu.descr, rocsparse_fill_mode_lower));
	OK(rocsparse_create_mat_info(&info));
	OK(rocsparse_dcsrsv_buffer_size(h, rocsparse_operation_none, m.rows, gpu.entries, gpu.descr,
					gpu.value.p, gpu.start.p, gpu.column.p, info, &bytes));
	Device<char> buffer(bytes);
	OK(rocsparse_dcsrsv_analysis(h, rocsparse_operation_none, m.rows, gpu.entries, gpu.descr,
				     gpu.value.p, gpu.start.p, gpu.column.p, info,
				     rocsparse_analysis_policy_force, rocsparse_solve_policy_auto,
				     buffer.p));
	OK(rocsparse_dcsrsv_solve(h, rocsparse_operation_none, m.rows, gpu.entries, &one, gpu.descr,
				  gpu.value.p, gpu.start.p, gpu.column.p, info, db.p, dx.p,
				  rocsparse_solve_policy_auto, buffer.p));
	std::vector<double> x = dx.host();
	for (rocsparse_int i = 0; i < m.rows; i++)
		worst = std::fmax(worst, std::fabs(m.row(i, x.data()) - b[(size_t)i]));
	OK(rocsparse_destroy_mat_info(info));
	result("csrsv", worst, 1e-12);
}

int main()
{
	Sparse band(false), lower(true);
	rocsparse_handle h;

	OK(rocsparse_create_handle(&h));
	{
		OnGpu gpu(band), triangle(lower);

		vector_product(h, band, gpu);
		matrix_product(h, band, gpu);
		solve(h, lower, triangle);
	}
	OK(rocsparse_destroy_handle(h));
	return ended();
}
