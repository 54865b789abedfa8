/* SPDX-License-Identifier: MIT */
/* output.h - a file that is written as a stream, or stdout */
#ifndef RTL_EXPORT_OUTPUT_H
#define RTL_EXPORT_OUTPUT_H

#include "export/json.h"
#include "query/query.h"

/* Calls `fill` to write the file. A name that ends in ".gz" is compressed, "-" is stdout; an
 * existing file is replaced only with q->opt->force, when the new one is complete. 0 or -errno with
 * q->res->error. */
int output_write(struct query *q, const char *out, int (*fill)(void *arg, struct json *j),
		 void *arg);
/* The same for a database that `fill` opens by its temporary name itself, which exists and is
 * empty. */
int output_write_database(struct query *q, const char *out, int (*fill)(void *arg, const char *tmp),
			  void *arg);
/* Whether a name ends so and is longer than the ending. */
bool output_has_ending(const char *name, const char *ending);

#endif
