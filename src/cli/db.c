/* SPDX-License-Identifier: MIT */
/* db.c - a database opened for reading
 *
 * Fails:    what can't be read ends the process (ui_die): every command that reads wants that.
 */
#include "cli/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/ui.h"

static int open_file(sqlite3 **sql, const char *path)
{
	/* No "immutable": another program may hold the file open in WAL mode. */
	int rc = sqlite3_open_v2(path, sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(*sql, 2000);
		sqlite3_exec(*sql, "PRAGMA cache_size=-32768", NULL, NULL, NULL);
	}
	return rc;
}

static void remove_temporary(struct db *db)
{
	if (db->temporary[0])
		unlink(db->temporary);
	db->temporary[0] = 0;
}

/* A spool becomes a database in a temporary file. */
static void convert_spool(struct db *db)
{
	const char *dir = getenv("TMPDIR");
	struct rpd_result *res = calloc(1, sizeof(*res));
	struct rpd_options opt = { .force = true };
	struct ui_progress progress;
	int fd, err;

	if (!res)
		ui_die_memory();
	snprintf(db->temporary, sizeof(db->temporary), "%s/rtl-XXXXXX.db",
		 dir && *dir ? dir : "/tmp");
	fd = mkstemps(db->temporary, 3);
	if (fd < 0)
		ui_die(STATUS_FAILED, "%s: %s; TMPDIR names another place", db->temporary,
		       strerror(errno));
	close(fd);
	ui_progress_start(&progress, "reading the raw trace", UI_PROGRESS_AUTO);
	opt.progress = ui_progress_step;
	opt.progress_arg = &progress;
	err = rpd_write(&db->path, 1, db->temporary, &opt, res);
	ui_progress_end(&progress);
	if (err) {
		remove_temporary(db);
		ui_die(STATUS_FAILED, "%s", res->error[0] ? res->error : strerror(-err));
	}
	if (res->warning[0])
		ui_say("%s", res->warning);
	free(res);
}

void db_open(struct db *db, const char *path)
{
	char error[1024] = "";
	int err;

	memset(db, 0, sizeof(*db));
	db->path = path;
	err = rpd_identify(path, &db->kind, error, sizeof(error));
	if (err)
		ui_die(STATUS_FAILED, "%s", error[0] ? error : strerror(-err));
	switch (db->kind) {
	case RPD_KIND_OTHER:
		ui_die(STATUS_FAILED,
		       "%s: is no trace: neither a database of rtl trace nor a raw trace", path);
	case RPD_KIND_SQLITE:
		ui_die(STATUS_FAILED,
		       "%s: is a SQLite database, but none of a trace (it has no rocpd_op)", path);
	case RPD_KIND_SPOOL:
		convert_spool(db);
		db->kind = RPD_KIND_OURS;
		db->spool = true;
		break;
	case RPD_KIND_OURS:
	case RPD_KIND_RPD:
		break;
	}
	if (open_file(&db->sql, db->temporary[0] ? db->temporary : path) != SQLITE_OK)
		ui_die(STATUS_FAILED, "%s: %s", path, sqlite3_errmsg(db->sql));
	/* On Linux the file lives on until it is closed: nothing is left behind, whatever happens. */
	remove_temporary(db);
}

void db_close(struct db *db)
{
	sqlite3_close(db->sql);
	db->sql = NULL;
}

sqlite3_stmt *db_query(struct db *db, const char *sql)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
		ui_die(STATUS_FAILED, "%s: can't be read as a trace: %s", db->path,
		       sqlite3_errmsg(db->sql));
	return stmt;
}

bool db_step(struct db *db, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		ui_die(STATUS_FAILED, "%s: damaged: %s", db->path, sqlite3_errmsg(db->sql));
	return false;
}

const char *db_text(sqlite3_stmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt, column);

	return text ? (const char *)text : "";
}

bool db_has(struct db *db, const char *name)
{
	sqlite3_stmt *stmt = db_query(db, "SELECT 1 FROM sqlite_master WHERE name = ?1");
	bool has;

	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	has = db_step(db, stmt);
	sqlite3_finalize(stmt);
	return has;
}

int64_t db_number(struct db *db, const char *sql, int64_t otherwise)
{
	int64_t number = otherwise;
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
		return otherwise;
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

int db_count_gpus(const char *path)
{
	struct db db = { .path = path };
	int64_t n = 0;

	if (open_file(&db.sql, path) == SQLITE_OK)
		n = db_number(&db, "SELECT count(DISTINCT gpuId) FROM rocpd_op WHERE gpuId >= 0",
			      0);
	sqlite3_close(db.sql);
	return (int)n;
}
