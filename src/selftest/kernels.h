/* SPDX-License-Identifier: MIT */
/* kernels.h - the kernels of the self-test, compiled at run time for the GPUs that are there
 *
 * By AMD's comgr, which every HIP runtime brings, or by hipRTC. No compiler needs to be installed.
 */
#ifndef RTL_SELFTEST_KERNELS_H
#define RTL_SELFTEST_KERNELS_H

#include <stddef.h>

/* Kernels; the first argument of each is the counter to which a dispatch adds 1. */
#define KERNELS_COUNT_A "rtl_selftest_count_a"
#define KERNELS_COUNT_B "rtl_selftest_count_b"
#define KERNELS_SPIN "rtl_selftest_spin" /* (counter, rounds): rounds of dependent arithmetic */

#define KERNELS_ERROR_SIZE 512

struct kernels_code {
	void *bytes; /* malloc'd code object */
	size_t size;
	char compiler[64]; /* "comgr 2.4" */
};

/* Compiles for an ISA: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-". `with`: "comgr", "hiprtc",
 * NULL: what is there. 0, or -1 with `error`. One thread. */
int kernels_compile(const char *isa, const char *with, struct kernels_code *out,
		    char error[KERNELS_ERROR_SIZE]);

#endif
