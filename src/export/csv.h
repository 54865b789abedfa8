/* SPDX-License-Identifier: MIT */
/* csv.h - traces as the CSV files of rocprof (docs/formats/csv.md) */
#ifndef RTL_EXPORT_CSV_H
#define RTL_EXPORT_CSV_H

#include <sqlite3.h>

#include "export/export.h"
#include "export/json.h"

/* Contract: export_fn, but that it writes several files. `out` is a directory (there is one, or it ends in
 * "/"; that is made): out/hip_stats.csv; or what their names begin with: out.hip_stats.csv, where "x.csv" means
 * "x". Files that would hold no row are not written, but for the two of kernels; with `force` older ones of the
 * same name are removed. res->nr_processes: how many files were written. */
int csv_write(const char *const *inputs, size_t nr, const char *out, const struct rpd_options *opt,
	      struct rpd_result *res);

/* One of the tables, as csv_write() writes it: at most `rows` of it, 0: all. `db`: one of ours, or RPD's. 0,
 * -EINVAL when there is no table of that name for it or it can't be read, or the error of `write`. */
int csv_print(sqlite3 *db, const char *table, uint64_t rows, json_write_fn write, void *arg);

#endif
