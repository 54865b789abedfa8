/* SPDX-License-Identifier: MIT */
/* rocr.h - what a libhsa-runtime64 can do, by its file: without loading it */
#ifndef RTL_BASE_ROCR_H
#define RTL_BASE_ROCR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rocr {
	uint32_t
		minor; /* of libhsa-runtime64.so.1.MINOR: 5 in ROCm 5.2, 13 in 6.1, 18 in 7.0; 0: not told */
	uint32_t
		rocm; /* 70002 for ROCm 7.0.2: AMD's builds have it in the file's name; 0: not told */
	/* It offers its tables to rocprofiler-register, from 6.1 on: whoever takes them there has them alone, unless
	 * HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 is known to it, and set. */
	bool registers, takes_both;
	bool finds_preloaded; /* tools by their symbol HSA_AMD_TOOL_PRIORITY, from 5.3 on */
	/* It has hsa_amd_queue_create(), from ROCm 10 on, by which HIP makes its queues there. */
	bool makes_unseen;
};

/* A fault of some builds, found to do harm while a tool intercepts queues. */
struct rocr_fault {
	uint32_t first, last; /* .rocm */
	uint32_t max_queue;   /* queues of no more packets are safe */
	const char *what;
};

/* The versions that a file's name tells. */
void rocr_version(struct rocr *out, const char *path);
/* And what is in the file. false: it can't be read. */
bool rocr_read(struct rocr *out, const char *path);
/* NULL: none is known. */
const struct rocr_fault *rocr_fault(const struct rocr *r);

/* Where a program that is started with this LD_LIBRARY_PATH (NULL: none) would find it, if it does not bring
 * its own: a real path, or false. */
bool rocr_find(const char *library_path, char *out, size_t size);

#endif
