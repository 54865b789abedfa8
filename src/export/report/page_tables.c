/* SPDX-License-Identifier: MIT */
/* page_tables.c - the page's tables: those of rtl summary, row by row */
#include <errno.h>
#include <string.h>

#include "analysis/tables.h"
#include "export/json_cell.h"
#include "export/report/page_internal.h"

static const struct tables_want wanted[PAGE_TABLES] = {
	[PAGE_TABLE_KERNELS] = { .kind = TABLES_KERNEL },
	[PAGE_TABLE_CALLS] = { .kind = TABLES_API },
	[PAGE_TABLE_COPIES] = { .kind = TABLES_COPY },
	[PAGE_TABLE_RANGES] = { .kind = TABLES_MARKER },
	[PAGE_TABLE_WORK] = { .kind = TABLES_RANGE_NAME },
	[PAGE_TABLE_COUNTERS] = { .kind = TABLES_COUNTER },
	[PAGE_TABLE_ROOFLINE] = { .kind = TABLES_METRICS },
	[PAGE_TABLE_IMBALANCE] = { .kind = TABLES_IMBALANCE }
};
static const char *const keys[PAGE_TABLES] = {
	[PAGE_TABLE_KERNELS] = "kernels",   [PAGE_TABLE_CALLS] = "calls",
	[PAGE_TABLE_COPIES] = "copies",	    [PAGE_TABLE_RANGES] = "ranges",
	[PAGE_TABLE_WORK] = "work",	    [PAGE_TABLE_COUNTERS] = "counters",
	[PAGE_TABLE_ROOFLINE] = "roofline", [PAGE_TABLE_IMBALANCE] = "imbalance"
};

int page_tables_read(struct page *page)
{
	/* lanes: that of all, and one for each GPU */
	bool has_several = page->q->nr_processes > 1 || page->digest->nr_gpus > 2;
	size_t nr = has_several ? PAGE_TABLES : PAGE_TABLE_IMBALANCE;

	return tables_read(&page->analysis, wanted, nr, page->tables);
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

static void write_notes(struct json *j, const char *key, const struct sheet *table)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < table->nr_notes; i++)
		json_text(j, table->notes[i]);
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
	/* where the peaks come from; who is slow, in words */
	write_notes(j, "roofline_notes", &page->tables[PAGE_TABLE_ROOFLINE]);
	write_notes(j, "imbalance_notes", &page->tables[PAGE_TABLE_IMBALANCE]);
	return ret;
}
