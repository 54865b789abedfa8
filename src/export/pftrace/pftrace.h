/* SPDX-License-Identifier: MIT */
/* pftrace.h - writes a trace in Perfetto's own format: Protocol Buffers */
#ifndef RTL_EXPORT_PFTRACE_PFTRACE_H
#define RTL_EXPORT_PFTRACE_PFTRACE_H

#include "query/query.h"

/* An export_write_fn. */
int pftrace_write(struct query *q, const char *out);

#endif
