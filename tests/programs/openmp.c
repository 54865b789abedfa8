/* SPDX-License-Identifier: MIT */
/* openmp.c - a sum by OpenMP offload
 *
 *	openmp [end=_exit]
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	enum { N = 10000 };
	static double a[N], b[N];
	double sum = 0, want = 0;
	int on_host = 1;

	for (int i = 0; i < N; i++) {
		a[i] = i;
		b[i] = 2.0 * i;
		want += a[i] * b[i];
	}
#pragma omp target map(from : on_host)
	on_host = omp_is_initial_device();
#pragma omp target teams distribute parallel for map(to : a, b) map(tofrom : sum) reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += a[i] * b[i];
	printf("openmp: %d GPU, on the %s, sum %s\n", omp_get_num_devices(),
	       on_host ? "host" : "GPU", sum == want ? "right" : "wrong");
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "end=_exit"))
		_exit(0);
	return 0;
}
