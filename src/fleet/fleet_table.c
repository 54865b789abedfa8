/* SPDX-License-Identifier: MIT */
/* fleet_table.c - the tables of one rank of a data set as tables of SQLite
 *
 * A scan reads a row group at a time, and of it the columns that the statement asks for. A column
 * that the file lacks, which an older rtl has written, is NULL.
 */
#include "fleet/fleet_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	sqlite3_vtab base;
	struct fleet_scan *scan;
	size_t table; /* in fleet_tables */
	char **names; /* of the columns, of which the first two are job and rank */
	size_t nr;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct fleet_file *file;
	int *columns;		     /* in the file; -1: it has none */
	struct fleet_values *values; /* of each */
	bool *is_read;		     /* of this group */
	size_t group, row;
	sqlite3_int64 rowid;
};

static void free_names(struct table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->names[i]);
	free(t->names);
}

/* The names of "job, rank INTEGER, "id" INTEGER, ...". */
static bool take_names(struct table *t, const char *columns)
{
	for (const char *at = columns; at; at = strchr(at, ',')) {
		char **more = reallocarray(t->names, t->nr + 1, sizeof(*more));

		if (!more)
			return false;
		t->names = more;
		at += strspn(at, ", \"");
		more[t->nr] = strndup(at, strcspn(at, "\", "));
		if (!more[t->nr])
			return false;
		t->nr++;
	}
	return true;
}

static int table_connect(sqlite3 *db, void *scan, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **error)
{
	struct table *t = calloc(1, sizeof(*t));
	char *columns = NULL, *sql = NULL;
	int ret = SQLITE_NOMEM;

	(void)argc;
	(void)error;
	if (!t)
		return SQLITE_NOMEM;
	t->scan = scan;
	while (t->table < FLEET_TABLES && strcmp(fleet_tables[t->table], argv[2]) != 0)
		t->table++;
	if (t->table < FLEET_TABLES)
		columns = fleet_set_columns(t->table);
	if (columns && take_names(t, columns))
		sql = sqlite3_mprintf("CREATE TABLE x (%s)", columns);
	if (sql)
		ret = sqlite3_declare_vtab(db, sql);
	free(columns);
	sqlite3_free(sql);
	if (ret != SQLITE_OK) {
		free_names(t);
		free(t);
		return ret;
	}
	*out = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base)
{
	struct table *t = (struct table *)base;

	free_names(t);
	free(t);
	return SQLITE_OK;
}

static int table_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *t = (const struct table *)base;
	const struct fleet_rank *r = t->scan->rank;

	info->estimatedRows = r ? (sqlite3_int64)r->rows[t->table] : 1000000;
	info->estimatedCost = 10 * (double)info->estimatedRows;
	return SQLITE_OK;
}

static int fail(struct table *t, const char *error)
{
	if (!*t->scan->error)
		snprintf(t->scan->error, sizeof(t->scan->error), "%s.parquet: %s",
			 fleet_tables[t->table], error);
	sqlite3_free(t->base.zErrMsg);
	t->base.zErrMsg = sqlite3_mprintf("%s", t->scan->error);
	return SQLITE_CORRUPT;
}

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct table *t = (const struct table *)base;
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->columns = calloc(t->nr, sizeof(*c->columns));
	c->values = calloc(t->nr, sizeof(*c->values));
	c->is_read = calloc(t->nr, sizeof(*c->is_read));
	*out = &c->base;
	return c->columns && c->values && c->is_read ? SQLITE_OK : SQLITE_NOMEM;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;
	const struct table *t = (const struct table *)base->pVtab;

	for (size_t i = 0; c->values && i < t->nr; i++)
		fleet_page_fini(&c->values[i]);
	fleet_file_close(c->file);
	free(c->columns);
	free(c->values);
	free(c->is_read);
	free(c);
	return SQLITE_OK;
}

/* The next group that has rows. */
static void find_group(struct cursor *c, const struct table *t)
{
	while (c->group < c->file->nr_groups && !fleet_file_group_rows(c->file, c->group))
		c->group++;
	memset(c->is_read, 0, t->nr * sizeof(*c->is_read));
	c->row = 0;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *name, int argc,
			 sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct table *t = (struct table *)base->pVtab;
	const struct fleet_scan *scan = t->scan;
	char path[PATH_MAX * 2], error[FLEET_ERROR];
	int err;

	(void)number;
	(void)name;
	(void)argc;
	(void)argv;
	fleet_file_close(c->file);
	snprintf(path, sizeof(path), "%s/%s/%s.parquet", scan->set->dir, scan->rank->folder,
		 fleet_tables[t->table]);
	err = fleet_file_open(&c->file, path, error);
	if (err)
		return err == -ENOMEM ? SQLITE_NOMEM : fail(t, error);
	for (size_t i = 0; i < t->nr; i++)
		c->columns[i] = fleet_file_column(c->file, t->names[i]);
	c->group = 0;
	c->rowid = 0;
	find_group(c, t);
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->rowid++;
	if (++c->row < fleet_file_group_rows(c->file, c->group))
		return SQLITE_OK;
	c->group++;
	find_group(c, (const struct table *)base->pVtab);
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->group >= c->file->nr_groups;
}

static void put_job(sqlite3_context *context, const struct fleet_rank *r)
{
	int64_t number;

	/* as engines take the folder's name */
	if (fleet_set_number(r->job, &number))
		sqlite3_result_int64(context, number);
	else
		sqlite3_result_text(context, r->job, -1, SQLITE_STATIC);
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	struct cursor *c = (struct cursor *)base;
	struct table *t = (struct table *)base->pVtab;
	struct fleet_values *v = &c->values[i];
	char error[FLEET_ERROR];
	double real;
	int err;

	if (i == 0)
		put_job(context, t->scan->rank);
	else if (i == 1)
		sqlite3_result_int64(context, t->scan->rank->rank);
	if (i < 2 || c->columns[i] < 0)
		return SQLITE_OK;
	if (!c->is_read[i]) {
		err = fleet_page_read(c->file, c->group, (size_t)c->columns[i], v, error);
		if (err)
			return err == -ENOMEM ? SQLITE_NOMEM : fail(t, error);
		c->is_read[i] = true;
	}
	if (!v->there[c->row])
		return SQLITE_OK;
	switch (c->file->columns[c->columns[i]].type) {
	case FLEET_TEXT:
		sqlite3_result_text(context, v->texts[c->row], (int)v->sizes[c->row],
				    SQLITE_TRANSIENT);
		break;
	case FLEET_REAL:
		memcpy(&real, &v->numbers[c->row], sizeof(real));
		sqlite3_result_double(context, real);
		break;
	case FLEET_BOOL:
	case FLEET_INT:
		sqlite3_result_int64(context, v->numbers[c->row]);
		break;
	}
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = ((const struct cursor *)base)->rowid;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xCreate = table_connect,
	.xConnect = table_connect,
	.xBestIndex = table_best,
	.xDisconnect = table_disconnect,
	.xDestroy = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

int fleet_table_make(sqlite3 *db, struct fleet_scan *scan)
{
	int ret = sqlite3_create_module(db, "fleet", &module, scan);

	for (size_t i = 0; i < FLEET_TABLES && ret == SQLITE_OK; i++) {
		char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.%s USING fleet",
					    fleet_tables[i]);

		ret = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	return ret;
}
