/* SPDX-License-Identifier: MIT */
/* dbfile.h - the files beside an SQLite database, and who has locked it
 *
 * SQLite applies a rollback journal or a write-ahead log by its name: one that a killed program
 * left behind belongs to the file that was there then, and would change the pages of a file that
 * gets the name later.
 */
#ifndef RTL_BASE_DBFILE_H
#define RTL_BASE_DBFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define DBFILE_HOLDER_SIZE 128

/* Whether another process has locked the database; `text` gets who: "python3 (pid 4711)". With
 * `writes` one that only reads does not count. Not while this process has the file open with
 * SQLite: closing a descriptor releases the locks of the whole process. */
bool dbfile_holder(const char *path, bool writes, char text[DBFILE_HOLDER_SIZE]);

/* Keeps writers out while `fd` is open. 0, or -1 with errno: EAGAIN if there is one. */
int dbfile_lock_for_reading(int fd);

/* Whether a new file may get the name of `path`, which may exist. -EBUSY: a program writes to the
 * database, or has it open with a journal;
 * -EEXIST: a file beside it has the name of a journal and is none. 0, or -errno with a sentence
 * that names the file. */
int dbfile_check(const char *path, char *error, size_t size);

/* Removes the journals of the database that had the name, and first that database: without its
 * journal it might be half of a transaction. Only if there are any, and all are SQLite's. Directly
 * before another file gets the name. 0 or -errno. */
int dbfile_clear(const char *path);

#define DBFILE_NAME_SIZE (3 * PATH_MAX + 32)
/* The address by which SQLite reads a database (SQLITE_OPEN_URI, ATTACH). Of one with a write-ahead
 * log's mode, without a log, in a directory in which SQLite can't make one, it says that no other
 * program changes it. Returns `name`. */
const char *dbfile_to_read(const char *path, char name[DBFILE_NAME_SIZE]);

/* Why SQLite's extended result code `rc` came, and what to do, if the database is locked, or has a
 * transaction that a killed program left: or a write-ahead log in a directory that can't be written
 * to: a sentence that names the file. false: it is something else. */
bool dbfile_explain(const char *path, int rc, char *text, size_t size);

#endif
