/* SPDX-License-Identifier: MIT */
/* pmc_database.c - changes of the counters in a finished database, in one transaction */
#include "cli/pmc/pmc_database.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>

#include "base/dbfile.h"
#include "cli/ui.h"
#include "store/changed.h"

static int fail(struct pmc_database *d)
{
	char error[PATH_MAX + 512];

	if (d->db && dbfile_explain(d->path, sqlite3_extended_errcode(d->db), error, sizeof(error)))
		ui_error("%s", error);
	else
		ui_error("%s: its counters can't be changed: %s", d->path,
			 d->db ? sqlite3_errmsg(d->db) : "no memory");
	return -EIO;
}

int pmc_database_open(struct pmc_database *d, const char *path)
{
	*d = (struct pmc_database){ .path = path };
	if (sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE, NULL))
		return fail(d);
	return 0;
}

/* SQLite has no transaction while a database is attached. */
static int begin(struct pmc_database *d)
{
	return sqlite3_get_autocommit(d->db) &&
			       sqlite3_exec(d->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) ?
		       fail(d) :
		       0;
}

int pmc_database_attach(struct pmc_database *d, const char *path, const char *name)
{
	char *sql = sqlite3_mprintf("ATTACH %Q AS %s", path, name);
	int rc = sql ? sqlite3_exec(d->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc ? fail(d) : 0;
}

int pmc_database_run(struct pmc_database *d, const char *fmt, ...)
{
	va_list args;
	char *sql;
	int rc;

	if (begin(d))
		return -EIO;
	va_start(args, fmt);
	sql = sqlite3_vmprintf(fmt, args);
	va_end(args);
	rc = sql ? sqlite3_exec(d->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return rc ? fail(d) : 0;
}

int64_t pmc_database_number(struct pmc_database *d, const char *fmt, ...)
{
	sqlite3_stmt *stmt = NULL;
	int64_t number = 0;
	va_list args;
	char *sql;

	va_start(args, fmt);
	sql = sqlite3_vmprintf(fmt, args);
	va_end(args);
	if (sql && sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return number;
}

int pmc_database_close(struct pmc_database *d, int ret)
{
	if (ret == 0 && d->db && !sqlite3_get_autocommit(d->db)) {
		/* the counter in the file is incremented by this transaction's commit */
		ret = pmc_database_run(d, "UPDATE rocpd_metadata SET value = '%lld' WHERE tag = %Q",
				       (long long)changed_counter(d->path) + 1,
				       CHANGED_COUNTER_TAG);
		if (ret == 0 && sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL))
			ret = fail(d);
	}
	sqlite3_close(d->db);
	d->db = NULL;
	return ret;
}
