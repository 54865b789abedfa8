/* SPDX-License-Identifier: MIT */
/* speedscope.h - writes a trace in speedscope's own format */
#ifndef RTL_EXPORT_STACKS_SPEEDSCOPE_H
#define RTL_EXPORT_STACKS_SPEEDSCOPE_H

#include "query/query.h"

/* An export_write_fn. */
int speedscope_write(struct query *q, const char *out);

#endif
