/* SPDX-License-Identifier: MIT */
/* output.h - a file that is written as a stream, or stdout */
#ifndef RTL_EXPORT_OUTPUT_H
#define RTL_EXPORT_OUTPUT_H

#include "export/json.h"
#include "query/query.h"

/* Writes what `fill` gives to the writer. A name that ends in ".gz" is compressed, "-" is stdout; an existing file
 * is replaced with q->opt->force alone, and when the new one is whole. 0 or -errno with q->res->error. */
int output_write(struct query *q, const char *out, int (*fill)(void *arg, struct json *j),
		 void *arg);
/* Whether a name has something before that ending. */
bool output_has_ending(const char *name, const char *ending);

#endif
