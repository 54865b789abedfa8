/* SPDX-License-Identifier: MIT */
/* label.c - short, readable names for tracks and events */
#include "query/label.h"

#include <stdio.h>
#include <string.h>

#define KERNEL_MAX 160u

/* Where the parameter list begins, if there is one. */
static size_t size_without_parameters(const char *name)
{
	size_t n = strlen(name), depth = 0;

	if (n && name[n - 1] == ')')
		for (size_t i = n; i-- > 0;) {
			depth += name[i] == ')';
			depth -= name[i] == '(' && depth;
			if (!depth)
				return i ? i : n;
		}
	return n;
}

const char *label_kernel(char buf[LABEL_SIZE], const char *kernel)
{
	size_t n = size_without_parameters(kernel);
	bool cut = n > KERNEL_MAX;

	if (!*kernel)
		return "unnamed";
	snprintf(buf, LABEL_SIZE, "%.*s%s", (int)(cut ? KERNEL_MAX - 3 : n), kernel,
		 cut ? "..." : "");
	return buf;
}

const char *label_domain(const char *function)
{
	function += strspn(function, "_");
	return strncmp(function, "hip", 3) == 0	 ? "hip_api" :
	       strncmp(function, "hsa_", 4) == 0 ? "hsa_api" :
	       strncmp(function, "nccl", 4) == 0 ? "rccl_api" :
	       strncmp(function, "MPI_", 4) == 0 ? "mpi_api" :
						   "api";
}

const char *label_status_type(const char *function)
{
	const char *domain = label_domain(function);

	return strcmp(domain, "hsa_api") == 0  ? "hsa_status_t" :
	       strcmp(domain, "rccl_api") == 0 ? "" :
	       strcmp(domain, "mpi_api") == 0  ? "" :
						 "hipError_t";
}

const char *label_stream(const char *handle)
{
	return strcmp(handle, "0x0") == 0 ? "null" :
	       strcmp(handle, "0x2") == 0 ? "per thread" : /* hipStreamPerThread */
					    handle;
}
