/* SPDX-License-Identifier: MIT */
/* perfetto.h - traces as Chrome JSON, which ui.perfetto.dev and chrome://tracing read
 *
 * Reads a database row by row: memory grows with names, threads and queues, not with events. A
 * name that ends in ".gz" is compressed; "-" is stdout. docs/formats/perfetto.md describes it.
 */
#ifndef RTL_EXPORT_PERFETTO_H
#define RTL_EXPORT_PERFETTO_H

#include "export/export.h"

/* Contract: export_fn. Several inputs, or a raw trace, go through a temporary database. */
int perfetto_write(const char *const *inputs, size_t nr, const char *out,
		   const struct rpd_options *opt, struct rpd_result *res);

#endif
