/* SPDX-License-Identifier: MIT */
/* parquet_internal.h - shared by the writer of Parquet
 *
 *	parquet.c	  processes by job and rank, and their folders
 *	parquet_rows.c	  the rows of a process: tables as SQL
 *	parquet_ops.c	  the rows of a process: dispatches and copies
 *	parquet_tables.c  tables and columns
 *	parquet_file.c	  a file: row groups and the footer
 *	parquet_column.c  a column of a row group: pages, dictionary, statistics
 *	parquet_encode.c  encodings
 */
#ifndef RTL_EXPORT_PARQUET_PARQUET_INTERNAL_H
#define RTL_EXPORT_PARQUET_PARQUET_INTERNAL_H

#include <string.h>

#include "export/parquet/parquet_encode.h"
#include "query/query.h"
#include "store/map.h"

/* ---- tables ---- */

enum parquet_type { PARQUET_INT, PARQUET_REAL, PARQUET_BOOL, PARQUET_TEXT };
/* How values are encoded: numbers that are near the one before as differences; others, and texts,
 * by a dictionary, as long as it is small. */
enum parquet_how { PARQUET_DELTA, PARQUET_DICTIONARY, PARQUET_PLAIN };

struct parquet_column {
	const char *name;
	enum parquet_type type;
	enum parquet_how how;
	bool optional;	/* it may be NULL */
	bool is_packed; /* with gzip: long texts that mostly differ, and are alike */
	bool is_id;	/* the value counts from the first id of its process; 0 is none */
	/* the value is the id of a text: of rocpd_string, or as query_texts_begin() has them */
	bool is_string, is_args;
	const char *ours,
		*rpd; /* SQL; NULL: the value is NULL, or the table has rows of another source */
	const char *note; /* unit and meaning */
};

struct parquet_table {
	const char *name, *note;
	const struct parquet_column *columns;
	size_t nr;
	const char *ours,
		/* FROM ... of a process, of which ?1 is the first id and ?2 the last; NULL: no
		 * rows */
		*rpd;
	const char *needs; /* a table that older databases lack; NULL: none */
};

/* Positions in parquet_tables of those that parquet_ops.c fills; of their columns:
 * parquet_columns.h. */
enum { PARQUET_DISPATCHES, PARQUET_COPIES, PARQUET_OTHERS };

/* Ends in a row whose name is NULL. */
extern const struct parquet_table parquet_tables[];
#define PARQUET_MAX_TABLES 16
/* Of the tables: a column is only ever added. In the metadata of each file, key rtl.schema. */
#define PARQUET_SCHEMA "2"

/* ---- a column of a row group ---- */

#define PARQUET_PAGE 8192u /* values of a page, at most */
#define PARQUET_RECENT_BITS 9
#define PARQUET_RECENT_IDS 4096u
#define PARQUET_SHAPES 1024u

struct parquet_chunk {
	const struct parquet_column *column;
	enum parquet_how how; /* of the values that come next */
	/* the page that is being filled */
	size_t nr_rows, nr;	      /* with and without NULLs */
	int64_t values[PARQUET_PAGE]; /* numbers, the bits of real ones; of texts slots in the
				       * dictionary */
	int64_t levels[PARQUET_PAGE]; /* 1: there is a value, 0: NULL */
	struct parquet_bytes plain;   /* texts without a dictionary */
	/* the pages before */
	struct parquet_bytes pages;
	uint64_t nr_values, nr_nulls,
		used;	/* of the row group; used: 1 << enum parquet_how, of its pages */
	uint64_t saved; /* bytes of the row group, by gzip */
	/* the dictionary: its entries as they are in the file, and where each one is */
	struct parquet_bytes entries;
	struct map index;
	uint32_t *offsets;
	size_t nr_entries, max_entries;
	/* those that were asked for last: a number, or a text's hash, and its slot + 1; 0: none */
	struct parquet_recent {
		uint64_t key;
		size_t slot_plus_1;
	} recent[1 << PARQUET_RECENT_BITS];
	/* as long as there is a dictionary: those that were asked for last by the ids of texts */
	struct parquet_recent recent_ids[PARQUET_RECENT_IDS];
	/* statistics of numbers, and of texts that are not in the dictionary */
	bool has_range, too_long;
	int64_t least, most;
	struct parquet_bytes first_text, last_text;
};

/* Of a zeroed one, and for the next row group. */
void parquet_chunk_begin(struct parquet_chunk *c, const struct parquet_column *column);
void parquet_chunk_fini(struct parquet_chunk *c);
/* Ends the page that is being filled. */
void parquet_page_end(struct parquet_chunk *c);

static inline void parquet_end_value(struct parquet_chunk *c, int64_t level)
{
	c->levels[c->nr_rows++] = level;
	if (c->nr_rows == PARQUET_PAGE)
		parquet_page_end(c);
}

/* A value each. HOT: no allocation but the growth of buffers; numbers wait for the page's end. */
static inline void parquet_chunk_int(struct parquet_chunk *c, int64_t value)
{
	c->values[c->nr++] = value;
	parquet_end_value(c, 1);
}

static inline void parquet_chunk_real(struct parquet_chunk *c, double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	parquet_chunk_int(c, bits);
}

static inline void parquet_chunk_null(struct parquet_chunk *c)
{
	parquet_end_value(c, 0);
}

/* `hash`: map_hash() of the text, which any bytes may be in. */
void parquet_chunk_text(struct parquet_chunk *c, const char *text, size_t size, uint64_t hash);
/* A text of which the hash is not known. */
void parquet_chunk_string(struct parquet_chunk *c, const char *text);
/* The text of an id, if it is one of those that the dictionary had last; else false, and there is
 * no value. parquet_chunk_string_of() gives the text of an id, which is the same each time. */
bool parquet_chunk_known(struct parquet_chunk *c, int64_t id);
void parquet_chunk_string_of(struct parquet_chunk *c, int64_t id, const char *text);
/* Bytes that it will be in the file, nearly. */
size_t parquet_chunk_size(const struct parquet_chunk *c);
/* The dictionary's page and the pages as they are in the file, and the ColumnChunk of the footer,
 * whose first page is at `offset`. */
void parquet_chunk_end(struct parquet_chunk *c, struct parquet_bytes *out,
		       struct parquet_thrift *meta, uint64_t offset);
bool parquet_chunk_failed(const struct parquet_chunk *c);

/* ---- a file ---- */

struct parquet_file;

/* Creates it in a directory. 0 or -errno with q->res->error. */
int parquet_file_create(struct parquet_file **out, struct query *q, const char *path,
			const struct parquet_table *table);
/* The columns, each of which gets one value of each row. */
struct parquet_chunk *parquet_file_columns(struct parquet_file *f);
/* Ends a row. 0 or -errno with q->res->error. */
int parquet_file_row(struct parquet_file *f);
/* Ends the file, or gives it up if `ret` is an error; NULL is ignored. */
int parquet_file_close(struct parquet_file *f, int ret);

/* ---- rows ---- */

struct parquet_shape;
struct parquet_name;

struct parquet_rows {
	struct query *q;
	struct parquet_file *const *files;
	int64_t first;	 /* id 0 of the process */
	int64_t pid;	 /* -1: unknown */
	bool is_changed; /* rows were removed by another program: no process is complete */
	/* of parquet_ops.c; recent: shapes that were asked for last, by their ids */
	struct map shape_index, name_index;
	struct parquet_shape *shapes;
	struct parquet_name *names;
	size_t nr_shapes, max_shapes, nr_names, max_names, name_bytes;
	struct {
		int64_t id;
		size_t slot_plus_1;
	} recent[PARQUET_SHAPES];
	struct query_texts shape; /* a reader of rows in the order of their ids */
	sqlite3_stmt *kernel, *text, *copy, *type, *description, *cause;
	sqlite3_stmt *launch, *thread;
	struct collective_calls *rccl; /* NULL: of RPD */
	int64_t thread_id, tid;	       /* the last one that was looked up */
	struct cause_reader *causes;
	int64_t cause_op; /* the operation of the row of `cause`; INT64_MAX: there are no more */
	/* of parquet_rows.c */
	sqlite3_stmt *process;
	struct query_texts args;
	const struct parquet_table *table; /* that is read */
	struct parquet_file *file;
};

/* After rows_prepare(): what the rows of all processes need. 0 or -errno with q->res->error. */
int parquet_rows_begin(struct parquet_rows **out, struct query *q);
/* Adds the rows of q->only, or of all without one, to files of all tables in the order of
 * parquet_tables. */
int parquet_rows_add(struct parquet_rows *r, struct parquet_file *const *files);
void parquet_rows_end(struct parquet_rows *r);

/* Operations alone: dispatches and copies. */
int parquet_ops_begin(struct parquet_rows *r);
int parquet_ops_add(struct parquet_rows *r);
void parquet_ops_end(struct parquet_rows *r);

#endif
