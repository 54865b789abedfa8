/* SPDX-License-Identifier: MIT */
/* folded.h - writes the GPU's time as folded stacks, for flame graphs */
#ifndef RTL_EXPORT_STACKS_FOLDED_H
#define RTL_EXPORT_STACKS_FOLDED_H

#include "query/query.h"

/* An export_write_fn. */
int folded_write(struct query *q, const char *out);

#endif
