/* SPDX-License-Identifier: MIT */
/* parquet_rows.c - the rows of a process, added to the files of its rank: tables as SQL, in the
 * order of the statements
 *
 * Not here: dispatches and copies (parquet_ops.c), which are most rows.
 */
#include <string.h>

#include "base/alloc.h"
#include "export/parquet/parquet_internal.h"

/* ---- tables as SQL ---- */

/* A text that is not there is empty, or NULL. */
static void put_text_of(struct parquet_rows *r, struct parquet_chunk *c, int64_t id)
{
	sqlite3_stmt *row;

	if (parquet_chunk_known(c, id))
		return;
	row = c->column->is_string ? query_row(r->text, id) : query_next_row(&r->args, id);
	if (row || !c->column->optional)
		parquet_chunk_string_of(c, id, query_text(row, c->column->is_args));
	else
		parquet_chunk_null(c);
}

static void put_value(struct parquet_rows *r, struct parquet_chunk *c, sqlite3_value *value)
{
	const struct parquet_column *column = c->column;
	bool is_null = sqlite3_value_type(value) == SQLITE_NULL;
	int64_t number = sqlite3_value_int64(value);
	const char *text;

	if (column->optional && (is_null || (column->is_id && number == 0))) {
		parquet_chunk_null(c);
		return;
	}
	switch (column->type) {
	case PARQUET_INT:
		parquet_chunk_int(c, column->is_id ? number - r->first : number);
		break;
	case PARQUET_BOOL: /* of all tables `complete` alone */
		parquet_chunk_int(c, number && !r->is_changed);
		break;
	case PARQUET_REAL:
		parquet_chunk_real(c, sqlite3_value_double(value));
		break;
	case PARQUET_TEXT:
		if (column->is_string || column->is_args) {
			put_text_of(r, c, number);
			break;
		}
		text = (const char *)sqlite3_value_text(value);
		parquet_chunk_string(c, text ? text : "");
		break;
	}
}

static const char *sql_of(const struct parquet_rows *r, const struct parquet_column *c)
{
	return r->q->ours ? c->ours : c->rpd;
}

static int take_row(void *arg, sqlite3_value **values)
{
	struct parquet_rows *r = arg;
	struct parquet_chunk *c = parquet_file_columns(r->file);

	for (size_t i = 0; i < r->table->nr; i++)
		if (sql_of(r, c[i].column))
			put_value(r, &c[i], *values++);
		else
			parquet_chunk_null(&c[i]);
	return parquet_file_row(r->file);
}

static int scan_table(struct parquet_rows *r, const char *rows)
{
	sqlite3_str *columns = sqlite3_str_new(NULL);
	char *sql;
	int ret;

	for (size_t i = 0; i < r->table->nr; i++)
		if (sql_of(r, &r->table->columns[i]))
			sqlite3_str_appendf(columns, "%s%s",
					    sqlite3_str_length(columns) ? ", " : "",
					    sql_of(r, &r->table->columns[i]));
	sql = sqlite3_str_finish(columns);
	ret = sql ? query_scan(r->q, sql, rows, take_row, r) : query_fail_memory(r->q);
	sqlite3_free(sql);
	return ret;
}

static int add_table(struct parquet_rows *r, size_t i)
{
	const struct parquet_table *table = &parquet_tables[i];
	const char *from = r->q->ours ? table->ours : table->rpd;

	r->table = table;
	r->file = r->files[i];
	if (!from || (r->q->ours && table->needs && !query_has(r->q->db, table->needs)))
		return 0;
	return scan_table(r, from);
}

/* ---- all ---- */

int parquet_rows_begin(struct parquet_rows **out, struct query *q)
{
	struct parquet_rows *r = alloc_zero(1, sizeof(*r));
	int ret = 0;

	*out = r;
	if (!r)
		return query_fail_memory(q);
	r->q = q;
	r->is_changed =
		q->ours && !q->verdict.complete &&
		!query_number(q->db,
			      "SELECT EXISTS (SELECT 1 FROM rtl_loss_data WHERE class = 'loss') OR "
			      "EXISTS (SELECT 1 FROM rtl_process WHERE state = 'running')",
			      0);
	if (q->ours)
		ret = query_prepare(q, &r->process, "SELECT os_pid FROM rtl_process WHERE id = ?1");
	if (ret == 0)
		ret = query_texts_begin(q, &r->args);
	return ret ? ret : parquet_ops_begin(r);
}

int parquet_rows_add(struct parquet_rows *r, struct parquet_file *const *files)
{
	const struct query_process *process = r->q->only;
	sqlite3_stmt *row = process ? query_row(r->process, process->id) : NULL;
	int ret;

	r->files = files;
	r->first = process ? process->id_first : 0;
	r->pid = row ? sqlite3_column_int64(row, 0) : -1;
	ret = parquet_ops_add(r);
	for (size_t i = PARQUET_OTHERS; ret == 0 && parquet_tables[i].name; i++)
		ret = add_table(r, i);
	return ret;
}

void parquet_rows_end(struct parquet_rows *r)
{
	if (!r)
		return;
	parquet_ops_end(r);
	query_texts_end(&r->args);
	sqlite3_finalize(r->process);
	alloc_free(r);
}
