/* SPDX-License-Identifier: MIT */
/* work.h - the computation of the kernels work() and work_more(), for the device and for the host
 *
 * It uses the array `own`: a wrong result shows that another work-item wrote there, too.
 */
#ifndef VGPU_WORK_H
#define VGPU_WORK_H

enum { WORK = 64, WORK_MORE = 1024 }; /* a power of two */

#ifdef __HIP__
#define WORK_WHERE __device__
#else
#define WORK_WHERE
#endif

WORK_WHERE static inline int worked(int *own, int size, int seed)
{
	int sum = 0;

	for (int i = 0; i < size; i++)
		own[i] = seed + i;
	for (int n = 0; n < 6400 / size; n++) {
		for (int i = 0; i < size; i++)
			own[(i * 7 + seed) & (size - 1)] += own[(i + n) & (size - 1)] & 255;
	}
	for (int i = 0; i < size; i++)
		sum += own[i];
	return sum;
}

#endif
