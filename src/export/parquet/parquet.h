/* SPDX-License-Identifier: MIT */
/* parquet.h - a trace as a data set of Parquet files: DIR/job=JOB/rank=RANK/TABLE.parquet */
#ifndef RTL_EXPORT_PARQUET_PARQUET_H
#define RTL_EXPORT_PARQUET_PARQUET_H

#include "query/query.h"

/* Options of the format: job_options.format. */
struct parquet_choice {
	const char *job; /* the job of all processes; NULL: as the trace has it */
};

/* For export_run(). `out` is DIR. A folder of a rank appears as a whole; one that is there is
 * -EEXIST without force. */
int parquet_write(struct query *q, const char *out);
/* docs/formats/parquet.md's list of tables and columns, as lines of Markdown. */
void parquet_document(void (*put)(const char *line));

#endif
