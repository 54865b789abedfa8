/* SPDX-License-Identifier: MIT */
/* near.h - for messages: the names of a trace that are most like a text of the user's */
#ifndef RTL_QUERY_NEAR_H
#define RTL_QUERY_NEAR_H

#include "query/query.h"

#define NEAR_SIZE 640

/* Up to three kernels, with commas: those that are most like a regular expression that matches
 * none, or else those that were dispatched most, and whether they are alike. "" without kernels.
 * Reads all operations. 0 or -errno with q->res->error. */
int near_kernels(struct query *q, const char *regex, char out[NEAR_SIZE], bool *alike);

#endif
