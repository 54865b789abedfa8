/* SPDX-License-Identifier: MIT */
/* csv_table.c - a table as a CSV file: lines and fields
 *
 * As Python's csv module writes them for rocprof: text in quotes (RFC 4180) and UTF-8, numbers
 * plain, a real number in the shortest form that reads as itself. Rows are streamed; SQLite sorts
 * and sums in its temporary files.
 *
 * Not here: the tables, and names of files (csv/, rocprofv3/).
 */
#include "export/csv_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/owned.h"
#include "export/csv_field.h"
#include "export/output.h"

/* ---- fields and lines ---- */

static void put_bytes(void *json, const char *bytes, size_t size)
{
	json_bytes(json, bytes, size);
}

static void put_text(struct json *j, const char *text)
{
	csv_field(put_bytes, j, text, true);
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

/* Of a column that is a counter's value; its name follows. */
#define COUNTER_COLUMN "counter "

static const char counter_names[] =
	"SELECT W.string FROM rocpd_counter C JOIN rocpd_string W ON W.id = C.name_id GROUP BY "
	"W.string ORDER BY min(C.id)";

static void put_int(struct json *j, int64_t value)
{
	char text[24];

	json_bytes(j, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)value));
}

/* Whether column i is named count_from_N: its values are N, N + 1, ... */
static bool is_counter_column(sqlite3_stmt *row, int i, int64_t *from)
{
	static const char name[] = "count_from_";
	const char *column = sqlite3_column_name(row, i);

	if (strncmp(column, name, sizeof(name) - 1) != 0)
		return false;
	*from = column[sizeof(name) - 1] - '0';
	return true;
}

static void put_row(struct json *j, sqlite3_stmt *row, uint64_t index)
{
	int nr = sqlite3_column_count(row);
	int64_t from;

	for (int i = 0; i < nr; i++) {
		if (i)
			json_bytes(j, ",", 1);
		if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
			put_int(j, sqlite3_column_int64(row, i));
		else if (sqlite3_column_type(row, i) == SQLITE_FLOAT)
			put_real(j, sqlite3_column_double(row, i));
		else if (sqlite3_column_type(row, i) != SQLITE_NULL)
			put_text(j, query_text(row, i));
		else if (is_counter_column(row, i, &from))
			put_int(j, from + (int64_t)index);
	}
	json_bytes(j, "\n", 1);
}

static bool has_column(const struct query *q, const struct csv_table *t, size_t i)
{
	return !t->has_column || t->has_column(q, t->columns[i].name);
}

/* Columns of counters are not in the table, but in the statement. */
static void put_header(struct json *j, const struct query *q, const struct csv_table *t,
		       sqlite3_stmt *row)
{
	bool is_plain = t->is_plain && t->is_plain(q);
	int nr = sqlite3_column_count(row);
	size_t at = 0;

	for (int i = 0; i < nr; i++) {
		const char *name = sqlite3_column_name(row, i);
		bool is_counter = strncmp(name, COUNTER_COLUMN, strlen(COUNTER_COLUMN)) == 0;

		if (i)
			json_bytes(j, ",", 1);
		while (!is_counter && !has_column(q, t, at))
			at++;
		name = is_counter ? name + strlen(COUNTER_COLUMN) : t->columns[at++].name;
		if (is_plain)
			json_bytes(j, name, strlen(name));
		else
			put_text(j, name);
	}
	json_bytes(j, "\n", 1);
}

const char *csv_table_rows(const struct query *q, const struct csv_table *t)
{
	return q->ours ? t->ours : t->rpd;
}

/* Each counter of the trace as a column of the dispatch's row. */
static int put_counters(struct query *q, sqlite3_str *sql)
{
	sqlite3_stmt *name = NULL;
	int ret = query_prepare(q, &name, counter_names);

	if (ret == 0)
		ret = query_step(q, name);
	for (; ret == 1; ret = query_step(q, name)) {
		const char *text = query_text(name, 0);

		sqlite3_str_appendf(sql,
				    ", (SELECT C.value FROM rocpd_counter C JOIN rocpd_string W ON "
				    "W.id = C.name_id WHERE C.op_id = O.id AND W.string = %Q) AS "
				    "\"" COUNTER_COLUMN "%w\"",
				    text, text);
	}
	sqlite3_finalize(name);
	return ret;
}

int csv_table_prepare(struct query *q, const struct csv_table *t, sqlite3_stmt **row)
{
	bool has_counters = t->before_counters && q->ours;
	const char *form = csv_table_rows(q, t), *at = strchr(form, '$');
	sqlite3_str *sql = sqlite3_str_new(q->db);
	char *text;
	int ret = 0;

	sqlite3_str_append(sql, form, (int)(at - form));
	for (size_t i = 0; i < t->nr && ret == 0; i++) {
		if (!has_column(q, t, i))
			continue;
		sqlite3_str_appendf(sql, "%s%s", i ? ", " : "",
				    q->ours ? t->columns[i].ours : t->columns[i].rpd);
		if (has_counters && strcmp(t->columns[i].name, t->before_counters) == 0)
			ret = put_counters(q, sql);
	}
	sqlite3_str_appendall(sql, at + 1);
	text = sqlite3_str_finish(sql);
	if (ret < 0) {
		sqlite3_free(text);
		return ret;
	}
	ret = text ? query_prepare(q, row, text) : query_fail_memory(q);
	if (ret == 0)
		query_bind_range(q, *row);
	sqlite3_free(text);
	return ret;
}

/* ---- one table ---- */

int csv_table_put(struct json *j, struct query *q, const struct csv_table *t, sqlite3_stmt *row,
		  int more, uint64_t rows)
{
	put_header(j, q, t, row);
	for (uint64_t i = 0; more == 1 && (!rows || i < rows); i++) {
		put_row(j, row, i);
		more = j->error ? j->error : query_step(q, row);
	}
	return more == 1 ? 0 : more;
}

struct writing {
	struct query *q;
	const struct csv_table *table;
	sqlite3_stmt *row; /* at its first row, or the end */
	bool has_row;
};

static int fill_table(void *arg, struct json *j)
{
	struct writing *w = arg;

	return csv_table_put(j, w->q, w->table, w->row, w->has_row, 0);
}

/* The begin of a table's file, up to the name of its first column. */
struct head {
	char text[64];
	size_t size;
};

static int keep_head(void *arg, const char *bytes, size_t size)
{
	struct head *h = arg;
	size_t n = size < sizeof(h->text) - h->size ? size : sizeof(h->text) - h->size;

	memcpy(h->text + h->size, bytes, n);
	h->size += n;
	return 0;
}

/* The table of an earlier run, which this trace does not have. */
static int remove_table(struct query *q, const struct writing *w, const char *name)
{
	struct json *j = alloc_heap(sizeof(*j));
	struct head head = { .size = 0 };
	const char *comma;
	int ret;

	if (!j)
		return query_fail_memory(q);
	json_init(j, keep_head, &head);
	put_header(j, q, w->table, w->row);
	json_flush(j);
	alloc_free(j);
	comma = memchr(head.text, ',', head.size);
	ret = owned_remove_path(name, head.text, comma ? (size_t)(comma - head.text) : head.size);
	if (ret == -EMEDIUMTYPE)
		return query_fail(
			q, ret,
			"%s: is no table of rtl's, and is left alone; choose another name with -o",
			name);
	return ret && ret != -ENOENT ?
		       query_fail(q, ret, "%s: can't be removed: %s", name, strerror(-ret)) :
		       0;
}

int csv_table_write(struct query *q, const struct csv_table *t, const char *name)
{
	struct writing w = { .q = q, .table = t };
	int ret = csv_table_prepare(q, t, &w.row);

	if (ret == 0)
		ret = query_step(q, w.row);
	w.has_row = ret == 1;
	if (ret == 1 || (ret == 0 && t->always)) {
		ret = output_write(q, name, fill_table, &w);
		ret = ret == 0 ? 1 : ret;
	} else if (ret == 0 && q->opt->force) {
		ret = remove_table(q, &w, name);
	}
	sqlite3_finalize(w.row);
	return ret;
}

void csv_table_document(void (*put)(const char *line), const struct csv_table *t)
{
	sqlite3_str *line = sqlite3_str_new(NULL);
	char *text;

	sqlite3_str_appendf(line, "| `%s.csv` | ", t->name);
	for (size_t i = 0; i < t->nr; i++)
		sqlite3_str_appendf(line, "%s`%s`", i ? ", " : "", t->columns[i].name);
	sqlite3_str_appendall(line, " |");
	text = sqlite3_str_finish(line);
	if (text)
		put(text);
	sqlite3_free(text);
}
