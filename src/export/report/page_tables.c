/* SPDX-License-Identifier: MIT */
/* page_tables.c - the page's tables: those of rtl summary, row by row */
#include <errno.h>
#include <string.h>

#include "analysis/tables.h"
#include "export/json_cell.h"
#include "export/report/page_internal.h"

static const struct tables_want wanted[PAGE_TABLES] = {
	{ .kind = TABLES_KERNEL }, { .kind = TABLES_API },     { .kind = TABLES_COPY },
	{ .kind = TABLES_MARKER }, { .kind = TABLES_COUNTER }, { .kind = TABLES_METRICS }
};
static const char *const keys[PAGE_TABLES] = { "kernels", "calls",    "copies",
					       "ranges",  "counters", "roofline" };

int page_tables_read(struct page *page)
{
	struct tables t = { .q = page->q, .metrics = "roofline" };
	int ret = tables_read(&t, wanted, PAGE_TABLES, page->tables);

	tables_fini(&t);
	return ret;
}

/* Slices have their names by the same numbers. */
static int write_row(struct page *page, struct json *j, const struct sheet *table, size_t row)
{
	json_object(j);
	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct sheet_column *c = &table->columns[i];
		const struct sheet_cell *cell = sheet_cell(table, row, i);
		int64_t name;

		if (strcmp(c->key, "name") != 0 && strcmp(c->key, "kernel") != 0) {
			json_cell(j, c, cell);
			continue;
		}
		name = page_names_add(&page->names, *cell->text ? cell->text : PAGE_UNNAMED);
		if (name < 0)
			return -ENOMEM;
		json_member_int(j, c->key, name);
	}
	json_object_end(j);
	return 0;
}

/* Where the table's peaks come from. */
static void write_notes(struct json *j, const struct sheet *roofline)
{
	json_key(j, "roofline_notes");
	json_array(j);
	for (size_t i = 0; i < roofline->nr_notes; i++)
		json_text(j, roofline->notes[i]);
	json_array_end(j);
}

int page_tables_write(struct page *page, struct json *j)
{
	int ret = 0;

	json_key(j, "tables");
	json_object(j);
	for (int t = 0; t < PAGE_TABLES; t++) {
		json_key(j, keys[t]);
		json_array(j);
		for (size_t i = 0; i < page->tables[t].nr_rows && ret == 0; i++)
			ret = write_row(page, j, &page->tables[t], i);
		json_array_end(j);
	}
	json_object_end(j);
	write_notes(j, &page->tables[PAGE_TABLES - 1]);
	return ret;
}
