/* SPDX-License-Identifier: MIT */
/* sqlite_floor.c - the time that SQLite alone needs to insert the rows of a database
 *
 *	sqlite_floor FROM.db TO.db
 *
 * Makes the tables of FROM in TO and inserts the same rows with INSERT ... SELECT, in one
 * transaction without a journal; then the indices. Of all ways to insert rows that were measured
 * this is the fastest (prepared statements for single rows take twice as long); copying whole
 * pages, which SQLite does when it can, is prevented by a WHERE clause.
 */
#include "overhead/bench_common.h"

#include <sqlite3.h>

#define MAX_TABLES 128

static sqlite3 *db;
static uint64_t nr_rows;

static void run(const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK)
		return;
	fprintf(stderr, "sqlite_floor: %s: %s\n", sql, error ? error : "?");
	exit(1);
}

/* The first column of the rows of `sql`, which live as long as the program. */
static int list(const char *sql, char **out)
{
	sqlite3_stmt *s = NULL;
	int nr = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
		fprintf(stderr, "sqlite_floor: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	while (sqlite3_step(s) == SQLITE_ROW && nr < MAX_TABLES)
		out[nr++] = strdup((const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return nr;
}

static void run_each(char **sql, int nr)
{
	for (int i = 0; i < nr; i++)
		run(sql[i]);
}

static void insert_all(char **names, int nr)
{
	char sql[1024];

	for (int i = 0; i < nr; i++) {
		snprintf(
			sql, sizeof(sql),
			"INSERT INTO main.\"%s\" SELECT * FROM source.\"%s\" WHERE rowid IS NOT NULL",
			names[i], names[i]);
		run(sql);
		nr_rows += (uint64_t)sqlite3_changes(db);
	}
}

int main(int argc, char **argv)
{
	char *names[MAX_TABLES], *sql[MAX_TABLES];
	uint64_t begin, tables_ns, index_ns;
	char attach[4200];
	int nr;

	if (argc != 3 || sqlite3_open(argv[2], &db) != SQLITE_OK) {
		fprintf(stderr, "sqlite_floor FROM.db TO.db\n");
		return 2;
	}
	snprintf(attach, sizeof(attach), "ATTACH '%s' AS source", argv[1]);
	run(attach);
	run("PRAGMA main.journal_mode = OFF");
	run("PRAGMA main.synchronous = OFF");
	run("PRAGMA main.locking_mode = EXCLUSIVE");
	nr = list("SELECT sql FROM source.sqlite_master WHERE type = 'table' AND "
		  "name NOT LIKE 'sqlite_%'",
		  sql);
	run("BEGIN");
	run_each(sql, nr);
	nr = list("SELECT name FROM source.sqlite_master WHERE type = 'table' AND "
		  "name NOT LIKE 'sqlite_%'",
		  names);
	begin = bench_ns();
	insert_all(names, nr);
	tables_ns = bench_ns() - begin;
	nr = list("SELECT sql FROM source.sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
		  sql);
	begin = bench_ns();
	run_each(sql, nr);
	index_ns = bench_ns() - begin;
	begin = bench_ns();
	run("COMMIT");
	tables_ns += bench_ns() - begin;
	sqlite3_close(db);
	printf("{\"rows\": %llu, \"seconds\": %.3f, \"index_seconds\": %.3f}\n",
	       (unsigned long long)nr_rows, (double)tables_ns / 1e9, (double)index_ns / 1e9);
	return 0;
}
