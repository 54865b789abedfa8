/* SPDX-License-Identifier: MIT */
/* row.h - rows of numbers: structs that have int64_t members alone, one for each column of SQL
 *
 * SQL sets the members in the order of its columns. sorter.h and timeline.h move such structs as
 * they are; who reads them knows what they are of.
 */
#ifndef RTL_QUERY_ROW_H
#define RTL_QUERY_ROW_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* The number of columns in front of a member, and of all; the bytes of columns. */
#define ROW_BEFORE(type, member) (offsetof(type, member) / sizeof(int64_t))
#define ROW_SIZE(columns) ((columns) * sizeof(int64_t))
#define ROW_COLUMNS(type) (sizeof(type) / sizeof(int64_t))
/* A type that has a number of columns, of which `last` is the last one: nothing is between them. */
#define ROW_CHECK(type, nr, last)                                                                  \
	_Static_assert(ROW_COLUMNS(type) == (nr) && ROW_BEFORE(type, last) == (nr)-1, #type)

/* Sets the first `nr` members by the arguments of a function of SQL, or by the row of a
 * statement. */
static inline void row_take(void *row, sqlite3_value **values, size_t nr)
{
	int64_t *columns = row;

	for (size_t i = 0; i < nr; i++)
		columns[i] = sqlite3_value_int64(values[i]);
}

static inline void row_read(void *row, sqlite3_stmt *stmt, size_t nr)
{
	int64_t *columns = row;

	for (size_t i = 0; i < nr; i++)
		columns[i] = sqlite3_column_int64(stmt, (int)i);
}

#endif
