/* SPDX-License-Identifier: MIT */
/* changed.h - whether another program has changed a database since rtl wrote it
 *
 * rocpd_metadata has the number of rows that rtl wrote (tags "rtl_rows.TABLE") and SQLite's change
 * counter of the finished file (tag "rtl_change_counter"), which every later transaction of any
 * program increments.
 */
#ifndef RTL_STORE_CHANGED_H
#define RTL_STORE_CHANGED_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/verdict.h"

#define CHANGED_ROWS_TAG "rtl_rows."
#define CHANGED_COUNTER_TAG "rtl_change_counter"
/* Reasons of verdict rows; see changed_add(). */
#define CHANGED_REMOVED "removed"
#define CHANGED_OTHERWISE "changed"

/* The tables whose rows are counted, up to NULL. */
extern const char *const changed_tables[];

/* The change counter in the header of a database file; -1: it can't be read. */
int64_t changed_counter(const char *path);

/* Adds what another program changed in a database of rtl: rows that are gone are a loss, other
 * changes a note. Nothing for files of versions that wrote no counts. */
void changed_add(struct verdict *v, sqlite3 *db, const char *path);

/* Whether rows are gone from a file of RPD, which has no counts: links to rows that do not exist,
 * or ids below the highest that SQLite ever assigned. */
bool changed_rpd(sqlite3 *db);

#endif
