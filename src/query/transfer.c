/* SPDX-License-Identifier: MIT */
/* transfer.c - copies and fills that HIP makes with kernels of its own */
#include "query/transfer.h"

#include <string.h>

#define PREFIX "__amd_rocclr_"

enum transfer transfer_of(const char *kernel)
{
	if (strncmp(kernel, PREFIX, strlen(PREFIX)) != 0)
		return TRANSFER_NONE;
	kernel += strlen(PREFIX);
	return strncmp(kernel, "copy", 4) == 0 ? TRANSFER_COPY :
	       strncmp(kernel, "fill", 4) == 0 ? TRANSFER_FILL :
						 TRANSFER_NONE;
}
