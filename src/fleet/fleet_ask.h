/* SPDX-License-Identifier: MIT */
/* fleet_ask.h - questions about a data set, and the engines that answer them
 *
 * A question is a file of SQL, src/fleet/sql/NAME.sql, in the part of the language that DuckDB,
 * ClickHouse, Spark and SQLite share. It begins with lines of comment: what it answers, and a line
 * "-- | KEY | UNIT | meaning |" for each column. Behind them is "WITH part AS (" with a query that
 * groups by job and rank, up to a line that begins with ")", and a query over part. An engine runs
 * it as a whole; SQLite runs part for each rank by itself.
 *
 * Threads:  one.
 */
#ifndef RTL_FLEET_FLEET_ASK_H
#define RTL_FLEET_FLEET_ASK_H

#include "analysis/sheet.h"
#include "fleet/fleet_set.h"

/* Of the build, src/fleet/embed.py: the questions, and behind them the scripts of Python. */
struct fleet_text {
	const char *name, *sql;
};
extern const struct fleet_text fleet_texts[]; /* ends in a row whose name is NULL */

struct fleet_question {
	const char *name;
	char *about;		      /* one clause */
	char *part, *rest;	      /* the two queries */
	char *columns[SHEET_COLUMNS]; /* keys */
	enum sheet_unit units[SHEET_COLUMNS];
	bool symbols[SHEET_COLUMNS]; /* names of kernels */
	char *titles[SHEET_COLUMNS], *meanings[SHEET_COLUMNS];
	size_t nr_columns;
};

/* 0; -ENOENT: there is no such question; -EINVAL: the file has another form. */
int fleet_question_open(struct fleet_question *q, const char *name);
void fleet_question_close(struct fleet_question *q);
/* The whole query, malloc'd. */
char *fleet_question_sql(const struct fleet_question *q);
/* Whether a table is asked, as a whole word. */
bool fleet_question_uses(const struct fleet_question *q, const char *table);
/* Adds a row to a sheet that has the question's columns: texts of numbers, NULL: no value. */
void fleet_question_columns(const struct fleet_question *q, struct sheet *t);
int fleet_question_row(const struct fleet_question *q, struct sheet *t, size_t nr,
		       const char *const *values);

#define FLEET_MESSAGE 2048

/* Fills the sheet. 0; -ENOSYS: the engine is not there; -EBADMSG: a file is damaged (engines of
 * others do not say which); -EIO: the engine failed; with `error`. */
typedef int (*fleet_engine)(const struct fleet_set *set, const struct fleet_question *q,
			    struct sheet *t, char error[FLEET_MESSAGE]);
int fleet_sqlite(const struct fleet_set *set, const struct fleet_question *q, struct sheet *t,
		 char error[FLEET_MESSAGE]);
/* DuckDB's command, or its library. */
int fleet_duckdb(const struct fleet_set *set, const struct fleet_question *q, struct sheet *t,
		 char error[FLEET_MESSAGE]);
/* A server of ClickHouse: clickhouse://[USER@]HOST[:PORT][/], the password in
 * CLICKHOUSE_PASSWORD. */
bool fleet_clickhouse_is_url(const char *text);
int fleet_clickhouse(const struct fleet_set *set, const struct fleet_question *q, const char *url,
		     struct sheet *t, char error[FLEET_MESSAGE]);
/* Whether one of them is there; *how says which: "duckdb" or "libduckdb.so". */
bool fleet_duckdb_is_there(const char **how);

/* The statements in front of a question that name the tables, as DuckDB has them; malloc'd. Only
 * those that the question asks; NULL: all. */
char *fleet_duckdb_views(const struct fleet_set *set, const struct fleet_question *q);

/* The question for an engine that a user runs: "clickhouse": SQL; "clickhouse://": one statement of
 * it, whose answer is CSV; "spark", "dask": a script of
 * Python. 0 with *text, malloc'd; -EINVAL: the engine can't have a folder of that name; -ENOMEM. */
int fleet_script(const struct fleet_set *set, const struct fleet_question *q, const char *engine,
		 char **text);

/* The body of a server's answer, `size` bytes and a NUL, which is changed. NULL: there is none;
 * `error` has what the server says. */
char *fleet_clickhouse_body(char *answer, size_t size, char error[FLEET_MESSAGE]);
/* The lines of CSV, of which an empty field without quotes, or \N, is no value. The text is
 * changed. */
int fleet_csv_text(char *text, const struct fleet_question *q, struct sheet *t,
		   char error[FLEET_MESSAGE]);
int fleet_csv(const char *path, const struct fleet_question *q, struct sheet *t,
	      char error[FLEET_MESSAGE]);

#endif
