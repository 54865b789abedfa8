/* SPDX-License-Identifier: MIT */
/* hipcub.cpp - device-wide algorithms of hipCUB and rocPRIM, which are compiled from their headers,
 * against the standard library
 *
 * The scan looks back at flags of other workgroups, the sort makes several passes of them.
 */
#include "common.hpp"

#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <numeric>

static const int N = 5000;

/* Calls twice, as these interfaces want it: for the size of the temporary memory, then with it. */
template <typename Call> static void twice(Call call)
{
	size_t bytes = 0;

	OK(call(nullptr, bytes));
	Device<char> temporary(bytes ? bytes : 1);
	OK(call(temporary.p, bytes));
	OK(hipDeviceSynchronize());
}

static std::vector<int> integers()
{
	std::vector<int> v((size_t)N);
	uint32_t x = 1;

	for (int &i : v)
		i = (int)((x = x * 1664525 + 1013904223) >> 8) - (1 << 23);
	return v;
}

int main()
{
	std::vector<int> in = integers(), want(in.size()), order = in;
	std::vector<double> values((size_t)N);
	Device<int> d(in), out(in.size()), one(1);

	std::iota(values.begin(), values.end(), 0);
	twice([&](void *t, size_t &n) { return hipcub::DeviceReduce::Sum(t, n, d.p, one.p, N); });
	result("reduce, sum", one.host()[0] - std::accumulate(in.begin(), in.end(), 0), 0);
	twice([&](void *t, size_t &n) { return hipcub::DeviceReduce::Max(t, n, d.p, one.p, N); });
	result("reduce, maximum", one.host()[0] - *std::max_element(in.begin(), in.end()), 0);

	twice([&](void *t, size_t &n) {
		return hipcub::DeviceScan::InclusiveSum(t, n, d.p, out.p, N);
	});
	std::partial_sum(in.begin(), in.end(), want.begin());
	result("inclusive scan", out.host() == want ? 0 : 1, 0);

	Device<double> dv(values), sorted_values(values.size());
	twice([&](void *t, size_t &n) {
		return hipcub::DeviceRadixSort::SortPairs(t, n, d.p, out.p, dv.p, sorted_values.p,
							  N);
	});
	std::stable_sort(values.begin(), values.end(),
			 [&](double a, double b) { return in[(size_t)a] < in[(size_t)b]; });
	std::sort(order.begin(), order.end());
	result("radix sort, keys", out.host() == order ? 0 : 1, 0);
	result("radix sort, values", sorted_values.host() == values ? 0 : 1, 0);

	Device<int> bins(16);
	twice([&](void *t, size_t &n) {
		return hipcub::DeviceHistogram::HistogramEven(t, n, d.p, bins.p, 17, -(1 << 23),
							      1 << 23, N);
	});
	std::vector<int> count(16);
	for (int i : in)
		count[(size_t)((i + (1 << 23)) >> 20)]++;
	result("histogram", bins.host() == count ? 0 : 1, 0);
	return ended();
}
