/* SPDX-License-Identifier: MIT */
/* rocr.h - what a libhsa-runtime64 supports, from its file, without loading it */
#ifndef RTL_BASE_ROCR_H
#define RTL_BASE_ROCR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCR_BUILD_ID_SIZE 41 /* 20 bytes in hexadecimal, and a NUL */

struct rocr {
	uint32_t minor; /* of libhsa-runtime64.so.1.MINOR: 5 in ROCm 5.2, 13 in 6.1, 18 in 7.0; 0:
		        * unknown */
	uint32_t
		rocm; /* 70002 for ROCm 7.0.2: AMD's builds have it in the file's name; 0: unknown */
	/* It passes its tables to rocprofiler-register, from 6.1 on. A tool registered there gets
	 * them exclusively, unless the runtime supports HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 and it is
	 * set. */
	bool registers, takes_both;
	bool finds_preloaded; /* finds tools by their symbol HSA_AMD_TOOL_PRIORITY, from 5.3 on */
	/* The minimum size of its AMD extension table, from the newest function that it exports:
	 * 712 (ROCm 10) or 624 (7.2); 0: neither. */
	uint32_t amd_ext_bytes;
	char build_id[ROCR_BUILD_ID_SIZE]; /* "": it has none */
};

/* Fills the versions that the file's name contains. */
void rocr_version(struct rocr *out, const char *path);
/* Fills the rest from the file's contents. false: it can't be read. */
bool rocr_read(struct rocr *out, const char *path);

/* The build id of this process's library that contains the function `fn`; "" if there is none. */
void rocr_build_id_of(const void *fn, char out[ROCR_BUILD_ID_SIZE]);

/* The reason why a runtime's queues must not be made as intercept queues; NULL: there is none.
 * `amd_ext_bytes`: the size of its AMD extension table (its minor_id). */
const char *rocr_intercept_fault(uint32_t amd_ext_bytes, const char *build_id);

/* Where a program started with this LD_LIBRARY_PATH (NULL: none) would find it, unless it brings
 * its own: a real path, or false. */
bool rocr_find(const char *library_path, char *out, size_t size);

#endif
