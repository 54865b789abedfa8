/* SPDX-License-Identifier: MIT */
/* chrome_trace.h - traces as Chrome JSON, which ui.perfetto.dev and chrome://tracing read
 *
 * docs/formats/perfetto.md describes it.
 */
#ifndef RTL_EXPORT_CHROME_TRACE_H
#define RTL_EXPORT_CHROME_TRACE_H

#include "query/query.h"

/* An export_write_fn. */
int chrome_trace_write(struct query *q, const char *out);

#endif
