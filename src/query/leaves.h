/* SPDX-License-Identifier: MIT */
/* leaves.h - rows of numbers of a table, taken from its pages
 *
 * SQLite takes four times as long for a row of seven numbers as reading them from the table's
 * leaves (docs/decisions/062-rows-are-taken-from-pages.md). Pages are read by the connection's own
 * file, under its locks.
 *
 * It reads what the usual file has: a rollback journal, numbers, rows within one page. Whatever
 * else it meets is the caller's to read by SQL, which also has the words for a damaged file.
 */
#ifndef RTL_QUERY_LEAVES_H
#define RTL_QUERY_LEAVES_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct leaves;

/* Of a table in `db`, which has read in a transaction that lasts until leaves_close(): no page
 * changes meanwhile. `columns`: a list of its columns, as "O.start, O.\"end\"", or 0. NULL: they
 * can't be read so, or there is no memory. The thread that uses the connection. */
struct leaves *leaves_open(sqlite3 *db, const char *table, const char *columns);
/* The rows of the ids from `first` to `last`, of which there are at most `max`, in their order: so
 * many values of each as there are columns. Returns the number of rows, or -1: SQL has to read
 * them. */
int64_t leaves_read(struct leaves *l, int64_t first, int64_t last, int64_t *to, size_t max);
/* Accepts NULL. */
void leaves_close(struct leaves *l);

#endif
