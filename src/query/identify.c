/* SPDX-License-Identifier: MIT */
/* identify.c - what kind of file an input is, and whether a database is obviously damaged */
#include "query/identify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dbfile.h"
#include "base/fd.h"
#include "spool/format.h"

#define SQLITE_HEADER 100

static uint32_t big_endian(const unsigned char *p, int size)
{
	uint32_t value = 0;

	while (size--)
		value = value << 8 | *p++;
	return value;
}

/* Compares the file's length with the number of pages in the SQLite header. */
static int check_length(const char *path, const unsigned char *head, int64_t size, char *error,
			size_t error_size)
{
	uint64_t page = big_endian(head + 16, 2);
	uint64_t pages = big_endian(head + 28, 4);

	if (page == 1)
		page = 65536;
	/* the number of pages is valid only if the two change counters are equal */
	if (big_endian(head + 24, 4) != big_endian(head + 92, 4) || !pages ||
	    page * pages <= (uint64_t)size)
		return 0;
	snprintf(error, error_size,
		 "%s: the database is cut off at offset %" PRId64 ": its header counts %" PRIu64
		 " bytes; copy it again, or write it again from its spools (rtl recover)",
		 path, size, page * pages);
	return -EINVAL;
}

static int identify_tables(const char *path, enum identify_kind *kind, char *error, size_t size)
{
	static const char query[] =
		"SELECT max(name = 'rtl_process'), max(name = 'rocpd_op' OR name = "
		"'rocpd_api') FROM sqlite_master WHERE type = 'table'";
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	char name[DBFILE_NAME_SIZE];
	int rc = sqlite3_open_v2(dbfile_to_read(path, name), &db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
				 NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, query, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		bool ours = sqlite3_column_int(stmt, 0) == 1;
		bool rpd = sqlite3_column_int(stmt, 1) == 1;

		*kind = ours && rpd ? IDENTIFY_OURS : rpd ? IDENTIFY_RPD : IDENTIFY_SQLITE;
	} else if (!db || !dbfile_explain(path, sqlite3_extended_errcode(db), error, size)) {
		snprintf(error, size,
			 "%s: the database can't be read: %s; copy it again, or write it "
			 "again from its spools (rtl recover)",
			 path, db ? sqlite3_errmsg(db) : "out of memory");
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return rc == SQLITE_ROW ? 0 : -EINVAL;
}

bool identify_data_set(const char *dir)
{
	const struct dirent *entry = NULL;
	DIR *entries = opendir(dir);

	while (entries && (entry = readdir(entries)) && strncmp(entry->d_name, "job=", 4) != 0)
		;
	if (entries)
		closedir(entries);
	return entry;
}

int identify_file(const char *path, enum identify_kind *kind, char *error, size_t size)
{
	unsigned char head[SQLITE_HEADER] = { 0 };
	uint64_t magic;
	struct stat st;
	ssize_t n = -1;
	int err = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*kind = IDENTIFY_OTHER;
	error[0] = '\0';
	if (fd < 0 || fstat(fd, &st) < 0)
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
	else if ((n = pread(fd, head, sizeof(head), 0)) < 0)
		err = errno;
	if (fd >= 0)
		close(fd);
	if (err == ESPIPE) {
		snprintf(error, size, "%s: is %s; a trace is read from a file: copy it to one",
			 path, fd_kind(st.st_mode));
		return -err;
	}
	if (err == EISDIR && identify_data_set(path)) {
		snprintf(error, size, "%s: " IDENTIFY_DATA_SET, path, path);
		return -err;
	}
	if (err) {
		snprintf(error, size, "%s: can't be read: %s%s", path, strerror(err),
			 err == EISDIR ? "; name the files in it, or use rtl recover" : "");
		return -err;
	}
	if (n == 0 || (n >= 2 && head[0] == 0x1f && head[1] == 0x8b)) {
		snprintf(
			error, size,
			n ? "%s: is compressed with gzip: unpack it first (gunzip)" :
			    "%s: is empty: no trace was written to it; trace the program again, or give "
			    "another file",
			path);
		return -EINVAL;
	}
	memcpy(&magic, head, sizeof(magic));
	if (n >= 8 && magic == SPOOL_MAGIC) {
		*kind = IDENTIFY_SPOOL;
		return 0;
	}
	if (n < 16 || memcmp(head, "SQLite format 3", 16) != 0)
		return 0;
	if (n < SQLITE_HEADER) {
		snprintf(
			error, size,
			"%s: the database is cut off at offset %zd, within its header; copy it again",
			path, n);
		return -EINVAL;
	}
	err = check_length(path, head, st.st_size, error, size);
	return err < 0 ? err : identify_tables(path, kind, error, size);
}
