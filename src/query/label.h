/* SPDX-License-Identifier: MIT */
/* label.h - names as people read them on a track */
#ifndef RTL_QUERY_LABEL_H
#define RTL_QUERY_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#define LABEL_SIZE 164

/* A kernel's name without its parameter list, and at most 160 bytes: cut with "...". "unnamed" for "". */
const char *label_kernel(char buf[LABEL_SIZE], const char *kernel);
/* "hip_api", "hsa_api" or "api": whose function that is. */
const char *label_domain(const char *function);
/* Of a stream's handle: "null", "per thread" or the handle as it is. */
const char *label_stream(const char *handle);

#endif
