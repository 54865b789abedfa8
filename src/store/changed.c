/* SPDX-License-Identifier: MIT */
/* changed.c - whether another program has changed a database since rtl wrote it
 *
 * Fails:    a query that fails counts nothing: damage is reported by those who read the rows.
 */
#include "store/changed.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define COUNTER_OFFSET 24 /* "File change counter" of SQLite's database header, big-endian */

const char *const changed_tables[] = { "rocpd_op", "rocpd_api", NULL };

int64_t changed_counter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char b[4];
	int64_t value = -1;

	if (fd < 0)
		return -1;
	if (pread(fd, b, sizeof(b), COUNTER_OFFSET) == (ssize_t)sizeof(b))
		value = (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
	close(fd);
	return value;
}

/* The number that `sql` gives; -1: none. */
static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t value = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static int64_t tagged(sqlite3 *db, const char *tag, const char *rest)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
		 "SELECT CAST(value AS INTEGER) FROM rocpd_metadata WHERE tag = '%s%s'", tag, rest);
	return number(db, sql);
}

void changed_add(struct verdict *v, sqlite3 *db, const char *path)
{
	int64_t counter = tagged(db, CHANGED_COUNTER_TAG, "");
	uint64_t removed = 0;

	if (counter < 0 || counter == changed_counter(path))
		return;
	for (const char *const *table = changed_tables; *table; table++) {
		int64_t wrote = tagged(db, CHANGED_ROWS_TAG, *table), has;
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", *table);
		has = number(db, sql);
		if (has >= 0 && wrote > has)
			removed += (uint64_t)(wrote - has);
	}
	if (removed)
		verdict_add(v, 0, CHANGED_REMOVED, LOAD_LOSS, removed, 0, 0,
			    "rows that another program removed after the file was written");
	else
		verdict_add(
			v, 0, CHANGED_OTHERWISE, LOAD_NOTE, 1, 0, 0,
			"another program changed the file after it was written; no row is gone");
}

bool changed_rpd(sqlite3 *db)
{
	static const char *const checks[] = {
		"SELECT S.seq > coalesce((SELECT max(id) FROM rocpd_op), 0) FROM sqlite_sequence S "
		"WHERE S.name = 'rocpd_op'",
		"SELECT S.seq > coalesce((SELECT max(id) FROM rocpd_api), 0) FROM sqlite_sequence S "
		"WHERE S.name = 'rocpd_api'",
		"SELECT EXISTS (SELECT 1 FROM rocpd_api_ops L LEFT JOIN rocpd_op O ON O.id = L.op_id "
		"LEFT JOIN rocpd_api A ON A.id = L.api_id WHERE O.id IS NULL OR A.id IS NULL)",
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (number(db, checks[i]) == 1)
			return true;
	return false;
}
