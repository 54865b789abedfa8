/* SPDX-License-Identifier: MIT */
/* parquet.h - a trace as a data set of Parquet files: DIR/job=JOB/rank=RANK/TABLE.parquet */
#ifndef RTL_EXPORT_PARQUET_PARQUET_H
#define RTL_EXPORT_PARQUET_PARQUET_H

#include "query/query.h"

/* Options of the format: job_options.format. */
struct parquet_choice {
	const char *job; /* the job of all processes; NULL: as the trace has it */
	/* Of processes that the trace has no rank of, if has_own: those of who recorded them. */
	bool has_own;
	const char *own_job;
	int64_t own_rank;
};

/* For export_run(). `out` is DIR. A folder of a rank appears as a whole; one that is there is
 * -EEXIST without force. */
int parquet_write(struct query *q, const char *out);
/* The folder of a rank in the data set `out`; `job` "": it has none. 0, -ENOMEM or
 * -ENAMETOOLONG. */
int parquet_folder(char *buf, size_t size, const char *out, const char *job, int64_t rank);
/* The columns of a table as SQLite declares them, with job and rank in front: "job, rank, id
 * INTEGER, ...", from malloc; NULL: out of memory, or there is no such table. */
char *parquet_columns(const char *table);
/* docs/formats/parquet.md's list of tables and columns, as lines of Markdown. */
void parquet_document(void (*put)(const char *line));

#endif
