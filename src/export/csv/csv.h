/* SPDX-License-Identifier: MIT */
/* csv.h - traces as the CSV files of rocprof (docs/formats/csv.md) */
#ifndef RTL_EXPORT_CSV_CSV_H
#define RTL_EXPORT_CSV_CSV_H

#include "export/json.h"
#include "query/query.h"

/* rocprof's options: which of its files there are, and which columns of results.csv. */
struct csv_choice {
	bool times; /* when a kernel ran */
	bool stats; /* stats.csv, how long it ran, the header in quotes */
	bool hip, hsa;
};

/* An export_write_fn that writes several files and sets q->res->nr_files. `out` is a directory (it
 * exists, or ends in "/" and is made): out/hip_stats.csv; or else the prefix of the files' names:
 * out.hip_stats.csv, where "x.csv" means "x". Files without rows are not written, except the two of
 * kernels; with `force` older files of the same name are removed. */
int csv_write(struct query *q, const char *out);

/* Writes one table as csv_write() does: at most `rows` rows, 0: all. 0; -EINVAL if such a trace has
 * no table of that name; the output's error; or another one with q->res->error. */
int csv_print(struct query *q, const char *table, uint64_t rows, struct json *j);

/* Documents the columns of each file (struct export_format). */
void csv_document(void (*put)(const char *line));

#endif
