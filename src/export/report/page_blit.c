/* SPDX-License-Identifier: MIT */
/* page_blit.c - kernels with which HIP copies or fills: they count as copies, with the bytes of their call (query/transfer.h) */
#include <errno.h>
#include <stdio.h>

#include "export/report/page_internal.h"
#include "query/transfer.h"

int page_blit_prepare(struct page *page)
{
	struct query *q = page->q;
	int ret;

	if (!q->ours ||
	    !query_number(q->db,
			  "SELECT EXISTS (SELECT 1 FROM rocpd_string WHERE " TRANSFER_IS(
				  "string") ")",
			  0))
		return 0;
	ret = query_run(
		q,
		"DROP VIEW IF EXISTS temp.rtl_transfer; CREATE TEMP " TRANSFER_VIEW
		"; CREATE TEMP TABLE page_blit (op_id INTEGER PRIMARY KEY, kind TEXT, bytes INTEGER); "
		"INSERT OR IGNORE INTO page_blit SELECT op_id, CASE kind WHEN 'Fill' THEN 'FillBuffer' WHEN "
		"'Unknown' THEN 'Copy' ELSE 'Copy' || kind END, coalesce(bytes, 0) FROM temp.rtl_transfer "
		"WHERE " TRANSFER_IS("means"));
	return ret ? ret :
		     query_prepare(q, &page->blit,
				   "SELECT kind, bytes FROM page_blit WHERE op_id = ?1");
}

int page_blit_apply(struct page *page, const char *shape, struct page_slice *slice)
{
	const char *kernel = page->names.texts[slice->name];
	enum transfer transfer = transfer_of(kernel);
	sqlite3_stmt *row = NULL;
	char text[640];

	if (transfer == TRANSFER_NONE)
		return 0;
	if (page->blit)
		row = query_row(page->blit, slice->id);
	snprintf(text, sizeof(text), "kernel %.200s%s%s", kernel, *shape ? ", " : "", shape);
	slice->text = page_names_add(&page->names, text);
	slice->bytes = row ? sqlite3_column_int64(row, 1) : 0;
	slice->name = page_names_add(&page->names, row			     ? query_text(row, 0) :
						   transfer == TRANSFER_FILL ? "FillBuffer" :
									       "Copy");
	return slice->text < 0 || slice->name < 0 ? -ENOMEM : 1;
}
