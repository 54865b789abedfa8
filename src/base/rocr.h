/* SPDX-License-Identifier: MIT */
/* rocr.h - what a libhsa-runtime64 supports, from its file, without loading it */
#ifndef RTL_BASE_ROCR_H
#define RTL_BASE_ROCR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCR_BUILD_ID_SIZE 41 /* 20 bytes in hexadecimal, and a NUL */

struct rocr {
	/* It passes its tables to rocprofiler-register, from 6.1 on. A tool registered there gets
	 * them exclusively, unless the runtime supports HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 and it is
	 * set. */
	bool registers, takes_both;
	/* The minimum size of its AMD extension table, from the newest function that it exports:
	 * 712 (ROCm 10) or 624 (7.2); 0: neither. */
	uint32_t amd_ext_bytes;
	char build_id[ROCR_BUILD_ID_SIZE]; /* "": it has none */
};

/* false: the file can't be read. */
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
