/* SPDX-License-Identifier: MIT */
/* rpd_db.c - SQLite for the writer: a new file, no journal, every error as a message
 *
 * There is no journal, because the file is temporary until it is complete and removed after an
 * error. One that grows with its traces has a journal: it is kept.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/dbfile.h"
#include "base/temporary.h"
#include "base/text.h"
#include "query/rowfile.h"

#define BUSY_MS 60000
#define BUSY_PAUSE_MS 20

int rpd_db_fail(struct rpd *r, const char *what)
{
	int rc = r->db ? sqlite3_extended_errcode(r->db) : SQLITE_NOMEM;
	int sys = r->db ? sqlite3_system_errno(r->db) : 0;
	char who[DBFILE_HOLDER_SIZE];
	const char *words = r->db ? sqlite3_errmsg(r->db) : "out of memory";

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return rpd_fail(r, -ENOSPC,
				"%s: No space left on device; nothing was changed, the inputs are "
				"kept: free some space, or choose another file with -o",
				what);
	case SQLITE_NOMEM:
		return rpd_fail(r, -ENOMEM, "%s: out of memory", what);
	case SQLITE_BUSY:
		if (rpd_check_stopped(r))
			return -ECANCELED;
		if (!dbfile_holder(r->tmp, false, who))
			snprintf(who, sizeof(who), "another program");
		return rpd_fail(
			r, -EIO,
			"%s: %s has locked the database for a minute; end it, and continue with rtl recover",
			what, who);
	case SQLITE_INTERRUPT:
		return rpd_fail(r, -ECANCELED, "%s: interrupted", what);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return rpd_fail(r, -EINVAL, "%s: %s", what, words);
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return rpd_fail(r, sys ? -sys : -EIO, "%s: can't be written: %s", what,
				sys ? strerror(sys) : words);
	default:
		return rpd_fail(r, -EIO, "%s: %s", what, words);
	}
}

/* SQLite's progress handler: non-zero stops the statement. */
static int on_progress(void *arg)
{
	struct rpd *r = arg;

	return rpd_progress(r, r->done_of_input) != 0;
}

/* SQLite's busy handler: zero gives up. A database that grows may be looked at by others, who lock
 * it meanwhile. */
static int on_busy(void *arg, int times)
{
	static const struct timespec pause = { .tv_nsec = BUSY_PAUSE_MS * 1000000L };

	if (times >= BUSY_MS / BUSY_PAUSE_MS || rpd_check_stopped(arg))
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

/* The file itself. */
static int create_file(struct rpd *r)
{
	int fd;

	if (r->opt->unfinished)
		return 0;
	/* a file that a later process may continue with is not deleted by a signal */
	fd = r->keeps_state ?
		     open(r->tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) :
		     temporary_create(r->tmp);
	if (fd < 0 && r->keeps_state)
		fd = -errno;
	if (fd < 0)
		return rpd_fail(r, fd, "%s: can't be written: %s", r->out, strerror(-fd));
	close(fd);
	return 0;
}

int rpd_db_open(struct rpd *r)
{
	static const char settings[] = "PRAGMA page_size = 8192;"
				       "PRAGMA journal_mode = OFF;"
				       "PRAGMA synchronous = OFF;"
				       /* inputs are attached, which others may have open */
				       "PRAGMA main.locking_mode = EXCLUSIVE;"
				       "PRAGMA cache_size = -2048;"
				       "PRAGMA temp_store = FILE;"
				       "PRAGMA foreign_keys = OFF;"
				       "PRAGMA trusted_schema = OFF;"
				       "PRAGMA cell_size_check = ON;";
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
	int ret = create_file(r);

	if (ret < 0)
		return ret;
	if (sqlite3_open_v2(r->tmp, &r->db, flags, NULL) != SQLITE_OK)
		return rpd_db_fail(r, r->out);
	sqlite3_progress_handler(r->db, 100000, on_progress, r);
	sqlite3_busy_handler(r->db, on_busy, r);
	ret = rpd_db_exec(r, settings);
	if (ret == 0 && r->opt->rows && rowfile_attach(r->opt->rows, r->db) != SQLITE_OK)
		ret = rpd_db_fail(r, r->out);
	/* the journal undoes what a killed process had begun; the kernel writes what it had
	 * committed */
	if (ret == 0 && r->keeps_state)
		ret = rpd_db_exec(r, "PRAGMA journal_mode = TRUNCATE");
	return ret;
}

void rpd_db_close(struct rpd *r)
{
	sqlite3_close(r->db);
	r->db = NULL;
}

int rpd_db_exec(struct rpd *r, const char *sql)
{
	return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : rpd_db_fail(r, r->out);
}

int rpd_db_execf(struct rpd *r, const char *fmt, ...)
{
	va_list args;
	char *sql;
	int ret;

	va_start(args, fmt);
	sql = sqlite3_vmprintf(fmt, args);
	va_end(args);
	if (!sql)
		return rpd_fail(r, -ENOMEM, "%s: out of memory", r->out);
	ret = rpd_db_exec(r, sql);
	sqlite3_free(sql);
	return ret;
}

int rpd_db_prepare(struct rpd *r, sqlite3_stmt **stmt, const char *sql)
{
	return sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) ==
			       SQLITE_OK ?
		       0 :
		       rpd_db_fail(r, r->out);
}

int rpd_db_step(struct rpd *r, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
		int ret = rpd_db_fail(r, r->out);

		sqlite3_reset(stmt);
		return ret;
	}
	sqlite3_reset(stmt);
	return 0;
}

/* A reader of SQLite takes texts for UTF-8, and fails at a row where one is not. */
static void bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
	char *valid = text_valid(text);

	sqlite3_bind_text(stmt, i, valid ? valid : text, -1, valid ? alloc_free : SQLITE_STATIC);
}

int rpd_db_insert(struct rpd *r, sqlite3_stmt *stmt, const char *types, ...)
{
	const char *text;
	va_list args;

	va_start(args, types);
	for (int i = 1; types[i - 1]; i++) {
		switch (types[i - 1]) {
		case 'i':
			sqlite3_bind_int64(stmt, i, va_arg(args, int64_t));
			break;
		case 't':
			bind_text(stmt, i, va_arg(args, const char *));
			break;
		case 'e':
			text = va_arg(args, const char *);
			if (text[0])
				bind_text(stmt, i, text);
			else
				sqlite3_bind_null(stmt, i);
			break;
		default:
			(void)va_arg(args, int64_t);
			sqlite3_bind_null(stmt, i);
			break;
		}
	}
	va_end(args);
	return rpd_db_step(r, stmt);
}

int64_t rpd_db_int(struct rpd *r, int64_t fallback, const char *fmt, ...)
{
	sqlite3_stmt *stmt = NULL;
	va_list args;
	char *sql;

	va_start(args, fmt);
	sql = sqlite3_vmprintf(fmt, args);
	va_end(args);
	if (sql && sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		fallback = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return fallback;
}
