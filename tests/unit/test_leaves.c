/* SPDX-License-Identifier: MIT */
/* test_leaves.c - rows taken from a table's pages are those of SQL, or none */
#include "query/leaves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/db.h"
#include "support/test.h"

#define ROWS 3000
#define COLUMNS "T.b, T.\"end\", T.id, 0, T.a"
#define VALUES 5

static sqlite3 *open_to_read(const char *path)
{
	sqlite3 *db;

	CHECK_EQ_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM sqlite_master", NULL, NULL,
				  NULL),
		     SQLITE_OK);
	return db;
}

/* A table with numbers of every size, some of them NULL, and texts between them. */
static const char *make_table(int page_size, const char *more)
{
	static char sql[2048];
	const char *path = test_tmpfile("leaves.db");

	unlink(path);
	snprintf(
		sql, sizeof(sql),
		"PRAGMA page_size = %d; CREATE TABLE t (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, a "
		"integer, s text, \"end\" integer, b bigint, c integer); WITH RECURSIVE n(i) AS (SELECT 0 UNION "
		"ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t SELECT i * 3 - 1000 + (i > 2000) * "
		"70000000000, CASE WHEN i %% 7 THEN (1 << (i %% 63)) * (1 - i %% 2 * 2) END, "
		"substr(hex(zeroblob(100)), 1, i %% 150), i, (i %% 5 - 2) * (1 << (i %% 40)), 0 FROM n; %s",
		page_size, ROWS - 1, more);
	db_exec(path, sql);
	return path;
}

/* Compares the rows of the ids; whether they were read. */
static bool compare(sqlite3 *db, struct leaves *l, int64_t first, int64_t last)
{
	static int64_t rows[ROWS * VALUES];
	int64_t nr = leaves_read(l, first, last, rows, ROWS), at = 0;
	sqlite3_stmt *sql;

	CHECK_EQ_INT(sqlite3_prepare_v2(db,
					"SELECT " COLUMNS " FROM t T WHERE id BETWEEN ?1 AND ?2",
					-1, &sql, NULL),
		     SQLITE_OK);
	sqlite3_bind_int64(sql, 1, first);
	sqlite3_bind_int64(sql, 2, last);
	for (; nr >= 0 && sqlite3_step(sql) == SQLITE_ROW; at++)
		for (int i = 0; at < nr && i < VALUES; i++)
			CHECK_EQ_INT(rows[at * VALUES + i], sqlite3_column_int64(sql, i));
	sqlite3_finalize(sql);
	CHECK(nr < 0 || nr == at);
	return nr >= 0;
}

TEST(rows_of_leaves_are_those_of_sql)
{
	static const int page_sizes[] = { 512, 8192, 65536 };

	for (size_t i = 0; i < sizeof(page_sizes) / sizeof(page_sizes[0]); i++) {
		sqlite3 *db = open_to_read(make_table(page_sizes[i], ""));
		struct leaves *l = leaves_open(db, "t", COLUMNS);
		int64_t rows[2 * VALUES];

		CHECK(l);
		CHECK(compare(db, l, INT64_MIN, INT64_MAX));
		CHECK(compare(db, l, 69999990000, INT64_MAX));
		CHECK(compare(db, l, INT64_MIN, -1001));
		CHECK(compare(db, l, 6000, 60000000000));
		/* blocks of ids, as two threads take them in turns, and back */
		for (int64_t id = -1100; id < 9000; id += 2 * 128)
			CHECK(compare(db, l, id, id + 127));
		for (int64_t id = 9000; id > -1100; id -= 97)
			CHECK(compare(db, l, id, id + 96));
		/* more rows than there is space for */
		CHECK_EQ_INT(leaves_read(l, -1000, -995, rows, 2), 2);
		CHECK_EQ_INT(leaves_read(l, -1000, -994, rows, 2), -1);
		leaves_close(l);
		sqlite3_close(db);
	}
	leaves_close(NULL);
}

TEST(what_leaves_do_not_have_is_left_to_sql)
{
	static const struct {
		const char *what, *sql;
		bool opens;
	} cases[] = {
		{ "a real number", "UPDATE t SET a = 1.5 WHERE id = 500", true },
		{ "a text", "UPDATE t SET b = '17x' WHERE id = 500", true },
		{ "a row of several pages", "UPDATE t SET s = hex(zeroblob(20000)) WHERE id = 500",
		  true },
		{ "a column without values",
		  "ALTER TABLE t RENAME COLUMN b TO x; ALTER TABLE t ADD COLUMN b DEFAULT 7",
		  true },
		{ "a computed column",
		  "ALTER TABLE t ADD COLUMN g AS (a + 1); ALTER TABLE t ADD COLUMN h DEFAULT 7; ALTER TABLE t "
		  "RENAME COLUMN b TO x; ALTER TABLE t RENAME COLUMN h TO b",
		  false },
		{ "a write-ahead log", "PRAGMA journal_mode = WAL", false },
		{ "no such column", "ALTER TABLE t RENAME COLUMN b TO x", false },
		{ "a view", "ALTER TABLE t RENAME TO u; CREATE VIEW t AS SELECT * FROM u", false },
		{ "rows by a key of texts",
		  "ALTER TABLE t RENAME TO u; CREATE TABLE t (id TEXT PRIMARY KEY, a, \"end\", b); INSERT INTO t "
		  "SELECT id, a, \"end\", b FROM u",
		  false },
		{ "a key that is no id",
		  "ALTER TABLE t RENAME TO u; CREATE TABLE t (id INTEGER PRIMARY KEY DESC, a, \"end\", b); INSERT "
		  "INTO t SELECT id, a, \"end\", b FROM u",
		  false },
		{ "no row ids",
		  "ALTER TABLE t RENAME TO u; CREATE TABLE t (id INTEGER PRIMARY KEY, a, \"end\", b) WITHOUT "
		  "ROWID; INSERT INTO t SELECT id, a, \"end\", b FROM u",
		  false },
		{ "no rows", "DELETE FROM t", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sqlite3 *db = open_to_read(make_table(4096, cases[i].sql));
		struct leaves *l = leaves_open(db, "t", COLUMNS);

		CHECK_MSG(!l == !cases[i].opens, "%s", cases[i].what);
		if (l)
			CHECK_MSG(!compare(db, l, 300, 1000), "%s", cases[i].what);
		/* other rows are read, but for a column that none has */
		if (l && strstr(cases[i].sql, "id = 500"))
			CHECK_MSG(compare(db, l, 600, 700), "%s", cases[i].what);
		leaves_close(l);
		sqlite3_close(db);
	}
}

/* Bytes of a table's pages, one after the other, become others: no reading leaves a page, gives
 * more rows than there is space for, or an id twice. */
TEST(damaged_pages_are_not_believed)
{
	static const unsigned char others[] = { 0x00, 0x05, 0x0d, 0x80, 0xff };
	const char *path = make_table(512, "DELETE FROM t WHERE id > -800");
	static int64_t rows[128 * VALUES];
	sqlite3 *db = open_to_read(path);
	FILE *f = fopen(path, "r+b");
	uint64_t nr_read = 0, nr_left = 0;
	long size;

	CHECK(f);
	CHECK_OK(fseek(f, 0, SEEK_END));
	size = ftell(f);
	size = size < 8 * 512 ? size : 8 * 512;
	for (long at = 512; at < size; at++) {
		int was;

		CHECK_OK(fseek(f, at, SEEK_SET));
		was = fgetc(f);
		for (size_t i = 0; i < sizeof(others); i++) {
			struct leaves *l;
			int64_t nr;

			CHECK_OK(fseek(f, at, SEEK_SET));
			fputc(others[i], f);
			fflush(f);
			l = leaves_open(db, "t", COLUMNS);
			nr = l ? leaves_read(l, -1000, -700, rows, 128) : -1;
			CHECK(nr <= 128);
			for (int64_t n = 1; n < nr; n++)
				CHECK(rows[n * VALUES + 2] > rows[(n - 1) * VALUES + 2]);
			nr_read += nr >= 0;
			nr_left += nr < 0;
			leaves_close(l);
		}
		CHECK_OK(fseek(f, at, SEEK_SET));
		fputc(was, f);
	}
	fclose(f);
	sqlite3_close(db);
	CHECK(nr_read > 1000 && nr_left > 500);
}
