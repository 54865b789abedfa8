/* SPDX-License-Identifier: MIT */
/* csv.c - rocprof's CSV files: their names, lines and fields
 *
 * As Python's csv module writes them for rocprof: text in quotes (RFC 4180), numbers plain, a real number in
 * the shortest form that reads as itself. Rows are streamed; SQLite sorts and sums in its temporary files.
 *
 * Fails:    each file is a temporary one until it is whole; none is begun when one of them is in the way.
 * Not here: the tables (csv_tables.c).
 */
#include "export/csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "export/csv_internal.h"
#include "export/export_cause.h"
#include "export/perfetto_internal.h"
#include "store/verdict.h"

#define NAME_SIZE 4096

/* ---- fields and lines ---- */

static void put_text(struct json *j, const char *text)
{
	json_bytes(j, "\"", 1);
	for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
		json_bytes(j, text, (size_t)(quote - text) + 1);
		json_bytes(j, "\"", 1);
	}
	json_bytes(j, text, strlen(text));
	json_bytes(j, "\"", 1);
}

static void put_real(struct json *j, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	json_bytes(j, text, strlen(text));
	if (!strpbrk(text, ".en"))
		json_bytes(j, ".0", 2);
}

static void put_int(struct json *j, int64_t value)
{
	char text[24];

	json_bytes(j, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)value));
}

static void put_row(struct json *j, const struct csv_table *t, sqlite3_stmt *row, uint64_t index)
{
	int nr = sqlite3_column_count(row);

	for (int i = 0; i < nr; i++) {
		if (i)
			json_bytes(j, ",", 1);
		if (i == t->number)
			put_int(j, t->first + (int64_t)index);
		else if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
			put_int(j, sqlite3_column_int64(row, i));
		else if (sqlite3_column_type(row, i) == SQLITE_FLOAT)
			put_real(j, sqlite3_column_double(row, i));
		else if (sqlite3_column_type(row, i) != SQLITE_NULL)
			put_text(j, perfetto_column_text(row, i));
	}
	json_bytes(j, "\n", 1);
}

static void put_header(struct json *j, const struct csv_table *t)
{
	json_bytes(j, t->header, strlen(t->header));
	json_bytes(j, "\n", 1);
}

/* ---- one table on its own ---- */

static const struct csv_table *find(const char *name)
{
	for (const struct csv_table *t = csv_tables; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

int csv_print(sqlite3 *db, const char *table, uint64_t rows, json_write_fn write, void *arg)
{
	bool ours = export_cause_has(db, "rtl_op_kernel");
	const struct csv_table *t = find(table);
	const char *sql = !t ? NULL : ours ? t->ours : t->rpd;
	struct export_cause cause;
	sqlite3_stmt *row = NULL;
	struct json *j;
	int ret = 0, rc = SQLITE_ROW;

	if (!sql || export_cause_make(db, true, &cause) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
		return -EINVAL;
	j = alloc_heap(sizeof(*j));
	if (!j) {
		sqlite3_finalize(row);
		return -ENOMEM;
	}
	json_init(j, write, arg);
	put_header(j, t);
	for (uint64_t i = 0; !j->error && (!rows || i < rows); i++) {
		rc = sqlite3_step(row);
		if (rc != SQLITE_ROW)
			break;
		put_row(j, t, row, i);
	}
	ret = json_flush(j);
	if (!ret && rc != SQLITE_ROW && rc != SQLITE_DONE)
		ret = -EINVAL;
	alloc_free(j);
	sqlite3_finalize(row);
	return ret;
}

/* ---- files ---- */

struct target {
	const char *out;
	bool is_dir;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static int name_file(char name[NAME_SIZE], const struct target *to, const struct csv_table *t)
{
	size_t n = strlen(to->out) - (!to->is_dir && ends_with(to->out, ".csv") ? 4 : 0);
	const char *slash = to->is_dir && to->out[n - 1] != '/' ? "/" : "";
	bool is_plain = strcmp(t->name, "results") == 0;
	int m;

	if (to->is_dir)
		m = snprintf(name, NAME_SIZE, "%s%s%s.csv", to->out, slash, t->name);
	else
		m = snprintf(name, NAME_SIZE, "%.*s%s%s.csv", (int)n, to->out, is_plain ? "" : ".",
			     is_plain ? "" : t->name);
	return m < NAME_SIZE ? 0 : -ENAMETOOLONG;
}

static const char *rows_of(const struct perfetto *p, const struct csv_table *t)
{
	return t->no_file ? NULL : p->ours ? t->ours : t->rpd;
}

/* Whether anything is in the way of a file that may be written. */
static int check_names(struct perfetto *p, const struct target *to)
{
	char name[NAME_SIZE];

	for (const struct csv_table *t = csv_tables; t->name; t++) {
		if (!rows_of(p, t))
			continue;
		if (name_file(name, to, t))
			return perfetto_fail(p, -ENAMETOOLONG, "%s: the name is too long", to->out);
		if (!p->opt->force && access(name, F_OK) == 0)
			return perfetto_fail(p, -EEXIST, "%s: exists; --force replaces it", name);
	}
	return 0;
}

/* What perfetto_output() calls has no argument of its own. */
struct writing {
	struct perfetto p; /* first */
	const struct csv_table *table;
	sqlite3_stmt *row; /* at its first row, or the end */
	bool has_row;
};

static int write_rows(struct perfetto *p, const char *db_path)
{
	struct writing *w = (struct writing *)(void *)p;
	int ret = w->has_row;
	uint64_t i = 0;

	(void)db_path;
	put_header(&p->json, w->table);
	while (ret == 1) {
		put_row(&p->json, w->table, w->row, i++);
		ret = perfetto_step(p, w->row);
	}
	return ret;
}

/* 1: the file was written; 0: it has no rows. */
static int write_table(struct writing *w, const struct target *to, const char *sql)
{
	struct perfetto *p = &w->p;
	char name[NAME_SIZE];
	int ret = perfetto_prepare(p, &w->row, sql);

	p->json.error = 0;
	if (ret == 0)
		ret = perfetto_step(p, w->row);
	w->has_row = ret == 1;
	name_file(name, to, w->table);
	if (ret == 1 || (ret == 0 && w->table->always)) {
		ret = perfetto_output(p, name, write_rows, NULL);
		ret = ret == 0 ? 1 : ret;
	} else if (ret == 0 && p->opt->force && unlink(name) && errno != ENOENT) {
		ret = perfetto_fail(p, -errno, "%s: can't be removed: %s", name, strerror(errno));
	}
	sqlite3_finalize(w->row);
	w->row = NULL;
	return ret;
}

static int write_tables(struct perfetto *p, const struct target *to)
{
	struct writing *w = alloc_zero(1, sizeof(*w));
	uint64_t nr = 0;
	int ret = 0;

	if (!w)
		return perfetto_fail(p, -ENOMEM, "%s: out of memory", p->path);
	w->p = *p;
	/* calls and operations are each read twice */
	w->p.total = 2 * p->total;
	for (w->table = csv_tables; w->table->name && ret >= 0; w->table++) {
		const char *sql = rows_of(p, w->table);

		if (!sql)
			continue;
		ret = write_table(w, to, sql);
		nr += ret == 1;
	}
	alloc_free(w);
	p->res->nr_processes = nr;
	return ret < 0 ? ret : 0;
}

static void tell_verdict(struct perfetto *p, const char *db_path)
{
	struct verdict *v = alloc_zero(1, sizeof(*v));
	struct load_error error;

	if (!v)
		return;
	verdict_of_db(v, db_path, &error);
	p->res->complete = v->complete;
	p->res->nr_lost = v->nr_lost;
	snprintf(p->res->verdict, sizeof(p->res->verdict), "%s", v->line);
	alloc_free(v);
}

static int write_files(struct perfetto *p, const char *db_path, const char *out)
{
	struct target to = { .out = out };
	struct stat st;
	int ret;

	if (strcmp(out, "-") == 0)
		return perfetto_fail(p, -EINVAL, "these are several files: -o DIR or -o PREFIX");
	if (!*out)
		return perfetto_fail(p, -EINVAL, "the output has no name: -o DIR or -o PREFIX");
	to.is_dir = out[strlen(out) - 1] == '/' || (stat(out, &st) == 0 && S_ISDIR(st.st_mode));
	if (to.is_dir && mkdir(out, 0777) && errno != EEXIST)
		return perfetto_fail(p, -errno, "%s: can't be made: %s", out, strerror(errno));
	ret = check_names(p, &to);
	tell_verdict(p, db_path);
	return ret == 0 ? write_tables(p, &to) : ret;
}

int csv_write(const char *const *inputs, size_t nr, const char *out, const struct rpd_options *opt,
	      struct rpd_result *res)
{
	return perfetto_convert(inputs, nr, out, opt, res, write_files);
}
