/* SPDX-License-Identifier: MIT */
/* identify.h - what kind of file an input is */
#ifndef RTL_QUERY_IDENTIFY_H
#define RTL_QUERY_IDENTIFY_H

#include <stdbool.h>
#include <stddef.h>

enum identify_kind {
	IDENTIFY_OTHER,	 /* another kind */
	IDENTIFY_SPOOL,	 /* a trace's disk or memory half */
	IDENTIFY_OURS,	 /* a database written by rtl */
	IDENTIFY_RPD,	 /* an RPD database without rtl_ tables */
	IDENTIFY_SQLITE, /* some other SQLite database */
};

/* 0 with *kind, or -errno with error (of size bytes) filled if the file can't be read, is empty or
 * compressed. */
int identify_file(const char *path, enum identify_kind *kind, char *error, size_t size);

/* Whether a directory has the folder of a job: a data set of Parquet files. */
bool identify_data_set(const char *dir);
/* What a command that reads traces says of it; the path once more. */
#define IDENTIFY_DATA_SET "is a data set of many ranks, which rtl fleet reads: rtl fleet %s"

#endif
