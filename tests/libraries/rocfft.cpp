/* SPDX-License-Identifier: MIT */
/* rocfft.cpp - transforms of several sizes, radices and types, against sums on the CPU, and back
 * again */
#include "common.hpp"

#include <rocfft/rocfft.h>

using Complex = std::complex<double>;

static const double TURN = 2 * M_PI;

/* The forward transform of rows of n points, by its definition. */
static std::vector<Complex> transform(const std::vector<Complex> &in, size_t n)
{
	std::vector<Complex> out(in.size());

	for (size_t row = 0; row < in.size(); row += n)
		for (size_t k = 0; k < n; k++)
			for (size_t i = 0; i < n; i++)
				out[row + k] +=
					in[row + i] *
					std::polar(1.0, -TURN * (double)(i * k % n) / (double)n);
	return out;
}

/* Runs a plan, with the work buffer that it asks for. */
static void run(rocfft_transform_type type, rocfft_precision precision,
		const std::vector<size_t> &lengths, size_t batch, void *in, void *out)
{
	rocfft_plan plan;
	rocfft_execution_info info;
	size_t work = 0;

	OK(rocfft_plan_create(&plan,
			      in == out ? rocfft_placement_inplace : rocfft_placement_notinplace,
			      type, precision, lengths.size(), lengths.data(), batch, nullptr));
	OK(rocfft_execution_info_create(&info));
	OK(rocfft_plan_get_work_buffer_size(plan, &work));
	Device<char> buffer(work ? work : 1);
	if (work)
		OK(rocfft_execution_info_set_work_buffer(info, buffer.p, work));
	OK(rocfft_execute(plan, &in, in == out ? nullptr : &out, info));
	OK(hipDeviceSynchronize());
	OK(rocfft_execution_info_destroy(info));
	OK(rocfft_plan_destroy(plan));
}

template <typename T>
static double distance(const std::vector<std::complex<T>> &a, const std::vector<Complex> &b,
		       double scale)
{
	double worst = 0;

	for (size_t i = 0; i < b.size(); i++)
		worst = std::fmax(worst, std::abs(Complex(a[i]) * scale - b[i]));
	return worst;
}

/* Rows of n points, forward and back. */
template <typename T>
static void rows(const char *what, rocfft_precision precision, size_t n, size_t batch, double bound)
{
	Numbers r(n);
	std::vector<Complex> in(n * batch);
	std::vector<std::complex<T>> data;
	char label[64];

	for (Complex &x : in) {
		x = Complex(r.next(), r.next());
		data.emplace_back((T)x.real(), (T)x.imag());
	}
	Device<std::complex<T>> d(data);
	run(rocfft_transform_type_complex_forward, precision, { n }, batch, d.p, d.p);
	std::snprintf(label, sizeof(label), "%s of %zu x %zu", what, n, batch);
	result(label, distance(d.host(), transform(in, n), 1), bound);
	run(rocfft_transform_type_complex_inverse, precision, { n }, batch, d.p, d.p);
	std::snprintf(label, sizeof(label), "%s of %zu x %zu and back", what, n, batch);
	result(label, distance(d.host(), in, 1.0 / (double)n), bound);
}

/* A plane: rows are transformed, then columns. */
static void plane(size_t n)
{
	std::vector<double> numbers_ = numbers<double>(n * n, 9);
	std::vector<Complex> want(numbers_.begin(), numbers_.end());
	std::vector<std::complex<float>> data(n * n);

	for (size_t i = 0; i < n * n; i++)
		data[i] = std::complex<float>((float)numbers_[i], 0);
	for (int pass = 0; pass < 2; pass++) {
		std::vector<Complex> rows_ = transform(want, n);

		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++)
				want[j * n + i] = rows_[i * n + j];
	}
	Device<std::complex<float>> d(data);
	run(rocfft_transform_type_complex_forward, rocfft_precision_single, { n, n }, 1, d.p, d.p);
	result("plane", distance(d.host(), want, 1), 1e-3);
}

/* Real numbers have the first half of the complex transform. */
static void real(size_t n)
{
	std::vector<float> in = numbers<float>(n, 10);
	std::vector<Complex> want = transform(std::vector<Complex>(in.begin(), in.end()), n);
	Device<float> d(in);
	Device<std::complex<float>> out(n / 2 + 1);

	want.resize(n / 2 + 1);
	run(rocfft_transform_type_real_forward, rocfft_precision_single, { n }, 1, d.p, out.p);
	result("real to complex", distance(out.host(), want, 1), 1e-3);
}

int main()
{
	OK(rocfft_setup());
	rows<float>("single", rocfft_precision_single, 64, 4, 1e-4);
	rows<float>("single", rocfft_precision_single, 105, 2, 1e-3);
	rows<double>("double", rocfft_precision_double, 128, 2, 1e-10);
	plane(16);
	real(256);
	OK(rocfft_cleanup());
	return ended();
}
