/* SPDX-License-Identifier: MIT */
/* label.h - short, readable names for tracks and events */
#ifndef RTL_QUERY_LABEL_H
#define RTL_QUERY_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#define LABEL_SIZE 164

/* A kernel's name without its parameter list, cut with "..." at 160 bytes. "unnamed" for "". */
const char *label_kernel(char buf[LABEL_SIZE], const char *kernel);
/* The function's domain: "hip_api", "hsa_api", "rccl_api", "mpi_api" or "api". */
const char *label_domain(const char *function);
/* The enumeration of what the function returns, for args_enum(); "": statuses of RCCL and MPI have
 * no names. */
const char *label_status_type(const char *function);
/* For a stream's handle: "null", "per thread" or the handle itself. */
const char *label_stream(const char *handle);

#endif
