/* SPDX-License-Identifier: MIT */
/* rowfile.h - rows of operations and calls beside a database that one command makes for itself
 *
 * A raw trace is converted to a temporary database before it is read. SQLite's B-trees take most of
 * that time, for rows that are read once or twice and in the order of their ids. Those rows are in
 * files without a name instead, in TMPDIR, and SQLite sees them as virtual tables with the names
 * and columns of the database's own.
 *
 * Memory: about 40 bytes for each 1024 ids. Threads: one that adds rows and reads; after
 * rowfile_seal(), any number that read, each with a connection of its own. A rowfile outlives the
 * connections that it is attached to.
 */
#ifndef RTL_QUERY_ROWFILE_H
#define RTL_QUERY_ROWFILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No value: a handle is '', a status is NULL. Not a valid address. */
#define ROWFILE_NONE INT64_MIN

/* rocpd_op and rocpd_api_ops; rtl_op_kernel, too, if is_kernel is 1. Names and units are those of
 * the columns. */
struct rowfile_op {
	int64_t id, api, gpu, queue, sequence, start, end, description, type, marker, correlation;
	int64_t is_kernel, thread, shape, flags, begin_ticks, end_ticks;
};

/* rocpd_api; rtl_api_data, too, if is_call is 1; and rocpd_kernelapi, if is_kernel is 1. */
struct rowfile_api {
	int64_t id, pid, tid, start, end, name, category, domain, args;
	int64_t is_call, status, correlation, parent;
	int64_t is_kernel, stream, grid[3], group[3], group_size, private_size, kernel_name;
};

struct rowfile;

/* 0 or -errno: of a file in TMPDIR, or -ENOMEM. */
int rowfile_new(struct rowfile **out);
void rowfile_free(struct rowfile *file);

/* Add rows with any ids. Of rows with the same id the first counts. 0 or -errno. */
int rowfile_add_ops(struct rowfile *file, const struct rowfile_op *rows, size_t nr);
int rowfile_add_apis(struct rowfile *file, const struct rowfile_api *rows, size_t nr);
/* No rows are added or changed any more. 0 or -errno. */
int rowfile_seal(struct rowfile *file);

/* Known without reading the rows: their numbers, and the earliest `start` above 0 of all;
 * INT64_MAX: there is none. */
struct rowfile_facts {
	uint64_t nr_ops, nr_apis;
	int64_t first_ns;
};
struct rowfile_facts rowfile_facts(const struct rowfile *file);

/* Whether the rows of that table are in a rowfile. */
bool rowfile_has(const char *table);
/* The name of SQLite's module: CREATE VIRTUAL TABLE name USING rtl_rows(column type, ...), with the
 * columns in the order of the table's. */
#define ROWFILE_MODULE "rtl_rows"
/* Lets a connection use the tables. Returns SQLite's code. */
int rowfile_attach(struct rowfile *file, sqlite3 *db);

/* 0x and the digits, without a NUL; nothing for ROWFILE_NONE. Returns the length. */
#define ROWFILE_HANDLE 18
size_t rowfile_handle(char text[ROWFILE_HANDLE], int64_t handle);

#endif
