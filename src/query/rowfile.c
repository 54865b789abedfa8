/* SPDX-License-Identifier: MIT */
/* rowfile.c - the files of rows, and their index by id
 *
 * Ids are dense but for holes, and come nearly in order: rows of threads are added in turns, and a
 * call is recorded after those inside it. A page of the index is read, changed and written back
 * when the next row is in another page.
 */
#include "query/rowfile_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/temporary.h"

_Static_assert(sizeof(struct rowfile_op) <= ROWFILE_COLUMNS * sizeof(int64_t), "a reader's copy");
_Static_assert(sizeof(struct rowfile_api) <= ROWFILE_COLUMNS * sizeof(int64_t), "a reader's copy");

int rowfile_new(struct rowfile **out)
{
	static const struct {
		size_t size, start;
	} layouts[ROWFILE_NR] = {
		{ sizeof(struct rowfile_op), offsetof(struct rowfile_op, start) },
		{ sizeof(struct rowfile_api), offsetof(struct rowfile_api, start) },
	};
	struct rowfile *file = alloc_zero(1, sizeof(*file));
	int ret = file ? 0 : -ENOMEM;

	for (int i = 0; file && i < ROWFILE_NR; i++) {
		struct rowfile_rows *rows = &file->kinds[i];

		rows->columns = layouts[i].size / sizeof(int64_t);
		rows->start = layouts[i].start / sizeof(int64_t);
		rows->first_ns = INT64_MAX;
		rows->rows = ret ? ret : temporary_unnamed("rtl-rows");
		ret = rows->rows < 0 ? rows->rows : 0;
		rows->index = ret ? ret : temporary_unnamed("rtl-rows");
		ret = rows->index < 0 ? rows->index : 0;
	}
	if (ret) {
		rowfile_free(file);
		file = NULL;
	}
	*out = file;
	return ret;
}

void rowfile_free(struct rowfile *file)
{
	if (!file)
		return;
	for (int i = 0; i < ROWFILE_NR; i++) {
		struct rowfile_rows *rows = &file->kinds[i];

		if (rows->rows >= 0)
			close(rows->rows);
		if (rows->index >= 0)
			close(rows->index);
		map_fini(&rows->pages);
		alloc_free(rows->order);
	}
	alloc_free(file);
}

/* ---- adding ---- */

static int write_page(struct rowfile_rows *rows)
{
	int ret = 0;

	if (rows->dirty)
		ret = fd_pwrite(rows->index, rows->slots, sizeof(rows->slots),
				rows->location * sizeof(rows->slots));
	rows->dirty = rows->dirty && ret;
	return ret;
}

static int new_page(struct rowfile_rows *rows, uint64_t page)
{
	uint64_t *order =
		alloc_grow(rows->order, rows->nr_pages, &rows->max_pages, 64, sizeof(*order));

	if (!order)
		return -ENOMEM;
	rows->order = order;
	if (map_put(&rows->pages, page, rows->nr_pages) < 0)
		return -ENOMEM;
	rows->sorted = (rows->sorted || !rows->nr_pages) &&
		       (!rows->nr_pages || order[rows->nr_pages - 1] < page);
	rows->location = rows->nr_pages;
	order[rows->nr_pages++] = page;
	memset(rows->slots, 0, sizeof(rows->slots));
	return 0;
}

/* Makes it the page in memory. */
static int take_page(struct rowfile_rows *rows, uint64_t page)
{
	uint64_t location;
	int ret;

	if (rows->nr_pages && rows->page == page)
		return 0;
	ret = write_page(rows);
	if (ret)
		return ret;
	if (map_get(&rows->pages, page, &location)) {
		ret = fd_pread(rows->index, rows->slots, sizeof(rows->slots),
			       location * sizeof(rows->slots));
		rows->location = location;
	} else {
		ret = new_page(rows, page);
	}
	if (ret == 0)
		rows->page = page;
	return ret;
}

static void note_begin(struct rowfile_rows *rows, int64_t ns)
{
	if (ns > 0 && ns < rows->first_ns)
		rows->first_ns = ns;
}

int rowfile_add(struct rowfile_rows *rows, const int64_t *words, size_t nr)
{
	size_t size = rows->columns * sizeof(*words);
	int ret = rows->nr + nr < UINT32_MAX ? 0 : -EFBIG;

	if (ret == 0)
		ret = fd_pwrite(rows->rows, words, nr * size, rows->nr * size);
	for (size_t i = 0; i < nr && ret == 0; i++) {
		uint64_t id = (uint64_t)words[i * rows->columns];
		uint32_t *slot = &rows->slots[id % ROWFILE_PAGE];

		ret = take_page(rows, id / ROWFILE_PAGE);
		if (ret || *slot)
			continue;
		*slot = (uint32_t)(rows->nr + i + 1);
		rows->nr_ids++;
		note_begin(rows, words[i * rows->columns + rows->start]);
		rows->dirty = true;
	}
	rows->nr += nr;
	rows->changes++;
	return ret;
}

int rowfile_add_ops(struct rowfile *file, const struct rowfile_op *rows, size_t nr)
{
	return rowfile_add(&file->kinds[ROWFILE_OPS], &rows->id, nr);
}

int rowfile_add_apis(struct rowfile *file, const struct rowfile_api *rows, size_t nr)
{
	return rowfile_add(&file->kinds[ROWFILE_APIS], &rows->id, nr);
}

static int compare_pages(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int rowfile_sync(struct rowfile_rows *rows)
{
	if (!rows->sorted && rows->nr_pages) {
		qsort(rows->order, rows->nr_pages, sizeof(*rows->order), compare_pages);
		rows->sorted = true;
	}
	return write_page(rows);
}

struct rowfile_facts rowfile_facts(const struct rowfile *file)
{
	const struct rowfile_rows *ops = &file->kinds[ROWFILE_OPS],
				  *apis = &file->kinds[ROWFILE_APIS];

	return (struct rowfile_facts){ ops->nr_ids, apis->nr_ids,
				       ops->first_ns < apis->first_ns ? ops->first_ns :
									apis->first_ns };
}

int rowfile_seal(struct rowfile *file)
{
	int ret = 0;

	for (int i = 0; i < ROWFILE_NR && ret == 0; i++)
		ret = rowfile_sync(&file->kinds[i]);
	return ret;
}

/* ---- reading ---- */

static int read_page(struct rowfile_reader *r, uint64_t page)
{
	uint64_t location;
	int ret;

	if (r->has_page && r->page == page)
		return 1;
	if (!map_get(&r->rows->pages, page, &location))
		return 0;
	r->has_page = false;
	ret = fd_pread(r->rows->index, r->slots, sizeof(r->slots), location * sizeof(r->slots));
	if (ret)
		return ret;
	r->has_page = true;
	r->page = page;
	return 1;
}

/* location: from 0. */
static int read_row(struct rowfile_reader *r, uint64_t location, const int64_t **words)
{
	size_t columns = r->rows->columns, size = columns * sizeof(int64_t);
	uint64_t block = location / ROWFILE_BLOCK, first = block * ROWFILE_BLOCK;

	if (!r->has_block || r->block != block) {
		uint64_t nr = r->rows->nr - first;
		int ret = fd_pread(r->rows->rows, r->values,
				   (nr < ROWFILE_BLOCK ? nr : ROWFILE_BLOCK) * size, first * size);

		r->has_block = ret == 0;
		if (ret)
			return ret;
		r->block = block;
	}
	*words = r->values + (location - first) * columns;
	return 1;
}

static void forget_copies(struct rowfile_reader *r)
{
	if (r->changes != r->rows->changes)
		r->has_page = r->has_block = false;
	r->changes = r->rows->changes;
}

int rowfile_find(struct rowfile_reader *r, int64_t id, const int64_t **words)
{
	uint32_t slot;
	int ret;

	forget_copies(r);
	ret = read_page(r, (uint64_t)id / ROWFILE_PAGE);
	if (ret != 1)
		return ret;
	slot = r->slots[(uint64_t)id % ROWFILE_PAGE];
	return slot ? read_row(r, slot - UINT64_C(1), words) : 0;
}

void rowfile_range(struct rowfile_reader *r, int64_t first, int64_t last)
{
	uint64_t page = first > 0 ? (uint64_t)first / ROWFILE_PAGE : 0;
	size_t low = 0, high = r->rows->nr_pages;

	forget_copies(r);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->rows->order[middle] < page)
			low = middle + 1;
		else
			high = middle;
	}
	r->at = low;
	r->slot = 0;
	if (low < r->rows->nr_pages && r->rows->order[low] == page && first > 0)
		r->slot = (uint32_t)((uint64_t)first % ROWFILE_PAGE);
	r->last = last;
}

int rowfile_next(struct rowfile_reader *r, const int64_t **words)
{
	for (; r->at < r->rows->nr_pages; r->at++, r->slot = 0) {
		uint64_t page = r->rows->order[r->at];
		int ret = read_page(r, page);

		if (ret < 0)
			return ret;
		while (r->slot < ROWFILE_PAGE && !r->slots[r->slot])
			r->slot++;
		if (r->slot == ROWFILE_PAGE)
			continue;
		if ((int64_t)(page * ROWFILE_PAGE + r->slot) > r->last)
			return 0;
		return read_row(r, r->slots[r->slot++] - UINT64_C(1), words);
	}
	return 0;
}

int rowfile_change(struct rowfile_reader *r, const int64_t *words)
{
	size_t size = r->rows->columns * sizeof(*words);
	const int64_t *old;
	int ret = rowfile_find(r, words[0], &old);

	if (ret != 1)
		return ret ? ret : -ENOENT;
	note_begin(r->rows, words[r->rows->start]);
	/* the slot is of the page that was read */
	ret = fd_pwrite(r->rows->rows, words, size,
			(r->slots[(uint64_t)words[0] % ROWFILE_PAGE] - UINT64_C(1)) * size);
	r->rows->changes++;
	return ret;
}

size_t rowfile_handle(char text[ROWFILE_HANDLE], int64_t handle)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t value = (uint64_t)handle;
	size_t nr = 1;

	if (handle == ROWFILE_NONE)
		return 0;
	while (nr < 16 && value >> 4 * nr)
		nr++;
	text[0] = '0';
	text[1] = 'x';
	for (size_t i = 0; i < nr; i++)
		text[2 + i] = digits[value >> 4 * (nr - 1 - i) & 15];
	return 2 + nr;
}
