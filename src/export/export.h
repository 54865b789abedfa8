/* SPDX-License-Identifier: MIT */
/* export.h - the formats that a trace can be written in: one row each in export.c */
#ifndef RTL_EXPORT_EXPORT_H
#define RTL_EXPORT_EXPORT_H

#include "query/query.h"

/* Writes an open trace, after rows_prepare(). 0 or -errno with q->res->error. */
typedef int (*export_write_fn)(struct query *q, const char *out);
/* Opens a trace, and prepares its rows. `opt` and `res` stay in use until query_close(). 0 or
 * -errno with res->error. */
typedef int (*export_open_fn)(struct query **q, const char *input, const struct job_options *opt,
			      struct job_result *res);

/* What is written under the name of the output. */
enum export_shape {
	EXPORT_STREAM,	 /* a file, or stdout */
	EXPORT_DATABASE, /* a file that is not written from its begin to its end */
	/* a file that is named, and those that belong to it; several traces make one archive */
	EXPORT_ARCHIVE,
	EXPORT_SET, /* the same in a directory, to which several traces are added; res->nr_files */
	/* several files (res->nr_files); the format checks itself that none exists */
	EXPORT_SEVERAL,
};

struct export_format {
	const char *name;      /* as in `rtl convert -f NAME` */
	const char *suffix;    /* of the default output: ".db" */
	export_write_fn write; /* NULL: the database itself */
	enum export_shape shape;
	bool reads_rows; /* as query.reads_rows */
	/* Documents its tables and columns as lines of Markdown; may be NULL. */
	void (*document)(void (*put)(const char *line));
};

/* Ends in a row whose name is NULL. */
extern const struct export_format export_formats[];
/* Texts for the command line: of all rows "|NAME|NAME..."; of the option, for one line; the use of
 * each; and what each writes, in paragraphs. */
extern const char export_names[], export_help[], export_uses[], export_about[];

const struct export_format *export_find(const char *name);
/* Why stdout, a pipe or a device can't be its output, and what can: words behind its name. NULL:
 * they can. */
const char *export_needs(const struct export_format *format);

/* docs/formats/tables.md, for all formats. */
void export_document(void (*put)(const char *line));

/* Like job_fn. Several inputs, or a raw trace, are first converted to a temporary database; of an
 * archive each input for itself. */
int export_run(const struct export_format *format, const char *const *inputs, size_t nr,
	       const char *out, const struct job_options *opt, struct job_result *res);

#endif
