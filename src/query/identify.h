/* SPDX-License-Identifier: MIT */
/* identify.h - what kind of file an input is */
#ifndef RTL_QUERY_IDENTIFY_H
#define RTL_QUERY_IDENTIFY_H

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

#endif
