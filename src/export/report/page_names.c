/* SPDX-License-Identifier: MIT */
/* page_names.c - texts of the trace, each once, by a number */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/report/page_internal.h"
#include "query/label.h"

int64_t page_names_add(struct page_names *names, const char *text)
{
	uint64_t hash = map_hash(text, strlen(text)), number;
	char **grown;

	for (; map_get(&names->by_text, hash, &number); hash++)
		if (strcmp(names->texts[number], text) == 0)
			return (int64_t)number;
	grown = alloc_grow(names->texts, names->nr, &names->max, 64, sizeof(*grown));
	if (!grown)
		return query_fail_memory(names->q);
	names->texts = grown;
	grown[names->nr] = alloc_string(text);
	if (!grown[names->nr])
		return query_fail_memory(names->q);
	names->nr++;
	if (map_put(&names->by_text, hash, names->nr - 1))
		return query_fail_memory(names->q);
	return (int64_t)names->nr - 1;
}

/* "grid 1024 x 1 x 1 work-items, ..." */
static void describe_shape(sqlite3_stmt *row, char *text, size_t size)
{
	long long n[9];
	int used;

	for (int i = 0; i < 9; i++)
		n[i] = sqlite3_column_int64(row, i);
	used = snprintf(
		text, size,
		"grid %lld \xc3\x97 %lld \xc3\x97 %lld work-items, workgroup %lld \xc3\x97 %lld \xc3\x97 %lld, "
		"LDS %lld bytes per workgroup, scratch %lld bytes per work-item",
		n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
	if (sqlite3_column_type(row, 8) != SQLITE_NULL && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, ", %lld vector registers", n[8]);
}

static const char *text_of(enum page_space space, sqlite3_stmt *row, int64_t id, char *buf,
			   size_t size)
{
	if (!row)
		return "";
	if (space == PAGE_SHAPE) {
		describe_shape(row, buf, size);
		return buf;
	}
	if (space == PAGE_STREAM) {
		snprintf(buf, size, "stream %lld (%s)", (long long)(id >> 32),
			 label_stream(query_text(row, 0)));
		return buf;
	}
	return query_text(row, 0);
}

int64_t page_names_of(struct page_names *names, enum page_space space, int64_t id)
{
	char buf[320];
	uint64_t number;
	int64_t ret;

	if (!id)
		return 0;
	if (map_get(&names->by_id[space], (uint64_t)id, &number))
		return (int64_t)number;
	if (!names->look_up[space])
		return 0;
	ret = page_names_add(names, text_of(space, query_row(names->look_up[space], id), id, buf,
					    sizeof(buf)));
	if (ret >= 0 && map_put(&names->by_id[space], (uint64_t)id, (uint64_t)ret))
		return query_fail_memory(names->q);
	return ret;
}

int page_names_init(struct page_names *names, struct query *q)
{
	const struct query_sql all[] = {
		{ &names->look_up[PAGE_STRING], ROWS_TYPE_NAME },
		{ &names->look_up[PAGE_MESSAGE], query_args_sql(q) },
		{ &names->look_up[PAGE_STREAM], ROWS_STREAM_NAME },
		/* databases of rtl only */
		{ &names->look_up[PAGE_SYMBOL],
		  "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" },
		{ &names->look_up[PAGE_SHAPE],
		  "SELECT S.grid_x, S.grid_y, S.grid_z, S.group_x, S.group_y, S.group_z, "
		  "S.group_size, S.private_size, Y.vgpr_count FROM rtl_shape S LEFT JOIN "
		  "rtl_kernel_symbol Y ON Y.id = S.kernel_id WHERE S.id = ?1" },
		{ &names->look_up[PAGE_AGENT], "SELECT label FROM rtl_agent WHERE id = ?1" },
	};

	names->q = q;
	if (page_names_add(names, "") < 0)
		return -ENOMEM;
	return query_prepare_all(q, all, q->ours ? sizeof(all) / sizeof(all[0]) : 3);
}

void page_names_fini(struct page_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		alloc_free(names->texts[i]);
	alloc_free(names->texts);
	map_fini(&names->by_text);
	for (int i = 0; i < PAGE_SPACES; i++) {
		map_fini(&names->by_id[i]);
		sqlite3_finalize(names->look_up[i]);
	}
}
