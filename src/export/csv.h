/* SPDX-License-Identifier: MIT */
/* csv.h - traces as the CSV files of rocprof (docs/formats/csv.md) */
#ifndef RTL_EXPORT_CSV_H
#define RTL_EXPORT_CSV_H

#include "export/json.h"
#include "query/query.h"

/* An export_write_fn that writes several files, as many as q->res->nr_files says. `out` is a directory (there is
 * one, or it ends in "/"; that is made): out/hip_stats.csv; or what their names begin with: out.hip_stats.csv, where
 * "x.csv" means "x". Files that would hold no row are not written, but for the two of kernels; with `force` older
 * ones of the same name are removed. */
int csv_write(struct query *q, const char *out);

/* One of the tables, as csv_write() writes it: at most `rows` of it, 0: all. 0; -EINVAL when there is no table of
 * that name for such a trace; the output's error; or another one with q->res->error. */
int csv_print(struct query *q, const char *table, uint64_t rows, struct json *j);

/* An export_document_fn: the columns of each file. */
void csv_document(void (*put)(const char *line));

#endif
