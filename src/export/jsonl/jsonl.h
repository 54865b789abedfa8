/* SPDX-License-Identifier: MIT */
/* jsonl.h - writes a trace as JSON lines (docs/formats/jsonl.md) */
#ifndef RTL_EXPORT_JSONL_JSONL_H
#define RTL_EXPORT_JSONL_JSONL_H

#include "query/query.h"

/* An export_write_fn. */
int jsonl_write(struct query *q, const char *out);

#endif
