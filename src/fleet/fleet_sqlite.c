/* SPDX-License-Identifier: MIT */
/* fleet_sqlite.c - the engine that is always there: SQLite, one rank after the other
 *
 * What a question wants of a rank becomes rows of the table `part`, in memory; the rest of it is
 * asked of that table.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_ask.h"
#include "fleet/fleet_table.h"

/* ---- sums that do not overflow ---- */

struct sum {
	__int128 whole;
	double real;
	sqlite3_int64 nr, nr_real;
};

static void sum_add(sqlite3_context *c, sqlite3_value *value, int sign)
{
	struct sum *s = sqlite3_aggregate_context(c, sizeof(*s));

	if (!s || sqlite3_value_type(value) == SQLITE_NULL)
		return;
	s->nr += sign;
	if (sqlite3_value_numeric_type(value) == SQLITE_INTEGER) {
		s->whole += (__int128)sqlite3_value_int64(value) * sign;
	} else {
		s->nr_real += sign;
		s->real += sqlite3_value_double(value) * sign;
	}
}

static void sum_step(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	(void)argc;
	sum_add(c, argv[0], 1);
}

static void sum_inverse(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	(void)argc;
	sum_add(c, argv[0], -1);
}

static void sum_value(sqlite3_context *c)
{
	const struct sum *s = sqlite3_aggregate_context(c, 0);

	if (!s || !s->nr)
		return;
	if (s->nr_real || s->whole > INT64_MAX || s->whole < INT64_MIN)
		sqlite3_result_double(c, (double)s->whole + s->real);
	else
		sqlite3_result_int64(c, (sqlite3_int64)s->whole);
}

/* ---- the statements ---- */

static int fail(sqlite3 *db, const struct fleet_scan *scan, char *error)
{
	if (*scan->error) {
		snprintf(error, FLEET_MESSAGE, "%.2000s", scan->error);
		return -EBADMSG;
	}
	snprintf(error, FLEET_MESSAGE, "SQLite: %s", sqlite3_errmsg(db));
	return -EIO;
}

static int run(sqlite3 *db, const struct fleet_scan *scan, const char *sql, char *error)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, scan, error);
}

static int add_ranks(sqlite3 *db, struct fleet_scan *scan, const struct fleet_question *q,
		     char *error)
{
	char *first = NULL, *more = NULL;
	bool made = false;
	int err = 0;

	if (asprintf(&first, "CREATE TEMP TABLE part AS %s", q->part) < 0)
		first = NULL;
	if (asprintf(&more, "INSERT INTO part %s", q->part) < 0)
		more = NULL;
	if (!first || !more)
		err = -ENOMEM;
	for (size_t i = 0; i < scan->set->nr && !err; i++) {
		scan->rank = &scan->set->ranks[i];
		if (!fleet_set_asks(scan->rank))
			continue;
		err = run(db, scan, made ? more : first, error);
		made = true;
	}
	free(first);
	free(more);
	return err;
}

static int take_rows(sqlite3 *db, const struct fleet_question *q, struct sheet *t, char *error,
		     const struct fleet_scan *scan)
{
	const char *values[SHEET_COLUMNS];
	char reals[SHEET_COLUMNS][32];
	sqlite3_stmt *stmt = NULL;
	int ret, err = 0;

	ret = sqlite3_prepare_v2(db, q->rest, -1, &stmt, NULL);
	while (ret == SQLITE_OK && !err && (ret = sqlite3_step(stmt)) == SQLITE_ROW) {
		int nr = sqlite3_column_count(stmt);

		for (int i = 0; i < nr && i < SHEET_COLUMNS; i++) {
			values[i] = reals[i];
			/* SQLite's own text of a real has 15 digits, other engines' all */
			if (sqlite3_column_type(stmt, i) == SQLITE_FLOAT)
				snprintf(reals[i], sizeof(reals[i]), "%.17g",
					 sqlite3_column_double(stmt, i));
			else
				values[i] = (const char *)sqlite3_column_text(stmt, i);
		}
		err = fleet_question_row(q, t, (size_t)nr, values);
		ret = SQLITE_OK;
	}
	if (!err && ret != SQLITE_DONE)
		err = fail(db, scan, error);
	sqlite3_finalize(stmt);
	return err;
}

int fleet_sqlite(const struct fleet_set *set, const struct fleet_question *q, struct sheet *t,
		 char error[FLEET_MESSAGE])
{
	struct fleet_scan scan = { .set = set };
	sqlite3 *db = NULL;
	int err = 0;

	*error = '\0';
	if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
	    sqlite3_create_window_function(db, "sum", 1, SQLITE_UTF8, NULL, sum_step, sum_value,
					   sum_value, sum_inverse, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) != SQLITE_OK ||
	    fleet_table_make(db, &scan) != SQLITE_OK)
		err = fail(db, &scan, error);
	if (!err)
		err = add_ranks(db, &scan, q, error);
	if (!err)
		err = take_rows(db, q, t, error, &scan);
	sqlite3_close(db);
	return err;
}
