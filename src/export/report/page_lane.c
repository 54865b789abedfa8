/* SPDX-License-Identifier: MIT */
/* page_lane.c - lanes of the timeline: rows without overlap, blocks of slices, groups of slices
 *
 * A group is up to 64 neighbours without a long gap: the page draws it instead of them where it is
 * a few pixels wide.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/varint.h"
#include "export/report/page_internal.h"

#define BLOCK_SLICES 16384u /* inflated and decoded in some milliseconds */
#define GROUP_SLICES 64u
#define GROUP_GAPS 4096 /* a gap of more than this part of the trace begins a new group */

enum { DELTA, PLAIN };

#define COLUMN(name, how) COLUMN_##name,
enum { PAGE_COLUMNS(COLUMN) COLUMNS };

struct group {
	uint32_t count;
	int64_t name; /* of its longest slice */
	int64_t begin, end, busy, longest;
};

struct block {
	uint64_t number;
	uint32_t count;
	bool texts;
	int64_t begin, end;
};

struct row {
	struct page_bytes columns[COLUMNS], values, texts;
	struct page_slice last; /* of the block */
	uint32_t count;		/* slices in the block */
	int64_t begin, end;	/* of the block; end: of the row, too */
	struct block *blocks;
	size_t nr_blocks, max_blocks;
	struct group *groups;
	size_t nr_groups, max_groups;
};

struct page_lane {
	struct page *page;
	enum page_kind kind;
	char *group, *name;
	int64_t pid;
	struct row *rows[PAGE_ROWS_MAX];
	size_t nr_rows;
	uint64_t count, crowded;
	double max_value;
};

static const char *const kinds[PAGE_KINDS] = { "kernels", "copies", "runtime", "barriers",
					       "calls",	  "ranges", "counter", "collectives" };

struct page_lane *page_lane_begin(struct page *page, enum page_kind kind, const char *group,
				  const char *name, int64_t pid)
{
	struct page_lane **grown = alloc_grow(page->lanes, page->nr_lanes, &page->max_lanes, 16,
					      sizeof(struct page_lane *));
	struct page_lane *lane;

	if (!grown)
		return NULL;
	page->lanes = grown;
	lane = alloc_zero(1, sizeof(*lane));
	if (!lane)
		return NULL;
	page->lanes[page->nr_lanes++] = lane;
	lane->page = page;
	lane->kind = kind;
	lane->pid = pid;
	lane->group = alloc_string(group);
	lane->name = alloc_string(name);
	return lane->group && lane->name ? lane : NULL;
}

static void free_columns(struct row *row)
{
	for (int i = 0; i < COLUMNS; i++)
		alloc_free(row->columns[i].bytes);
	alloc_free(row->values.bytes);
	alloc_free(row->texts.bytes);
	memset(row->columns, 0, sizeof(row->columns));
	memset(&row->values, 0, sizeof(row->values));
	memset(&row->texts, 0, sizeof(row->texts));
}

static int write_texts(struct page *page, struct row *row, uint64_t number)
{
	struct page_pack *pack;
	char id[32];

	snprintf(id, sizeof(id), "t%llu", (unsigned long long)number);
	pack = page_pack_open(page->out, id);
	if (!pack)
		return -ENOMEM;
	page_pack_write(pack, (const char *)row->texts.bytes, row->texts.nr);
	row->texts.nr = 0;
	return page_pack_close(pack);
}

static int write_block(struct page *page, struct row *row)
{
	struct block *grown;
	struct page_pack *pack;
	char id[32];
	int ret;

	if (!row->count)
		return 0;
	grown = alloc_grow(row->blocks, row->nr_blocks, &row->max_blocks, 4, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	row->blocks = grown;
	grown[row->nr_blocks++] = (struct block){ .number = page->nr_blocks++,
						  .count = row->count,
						  .texts = row->texts.nr > 0,
						  .begin = row->begin,
						  .end = row->end };
	snprintf(id, sizeof(id), "b%llu", (unsigned long long)page->nr_blocks - 1);
	pack = page_pack_open(page->out, id);
	if (!pack)
		return -ENOMEM;
	for (int i = 0; i < COLUMNS; i++) {
		page_pack_write(pack, (const char *)row->columns[i].bytes, row->columns[i].nr);
		row->columns[i].nr = 0;
	}
	page_pack_write(pack, (const char *)row->values.bytes, row->values.nr);
	row->values.nr = 0;
	ret = page_pack_close(pack);
	if (ret == 0 && row->texts.nr)
		ret = write_texts(page, row, page->nr_blocks - 1);
	row->count = 0;
	memset(&row->last, 0, sizeof(row->last));
	return ret;
}

static int put_columns(struct row *row, const struct page_slice *slice)
{
	int error = 0;

#define PUT_DELTA(name)                                                                            \
	page_bytes_put(&row->columns[COLUMN_##name],                                               \
		       varint_difference((uint64_t)slice->name, (uint64_t)row->last.name))
#define PUT_PLAIN(name) page_bytes_put(&row->columns[COLUMN_##name], (uint64_t)slice->name)
#define PUT(name, how) error |= PUT_##how(name);
	PAGE_COLUMNS(PUT)
	row->last = *slice;
	return error;
}

static int put_raw(struct page_bytes *b, const void *bytes, size_t size)
{
	if (b->max - b->nr < size) {
		size_t max = 2 * b->max + size + 1024;
		unsigned char *grown = alloc_resize(b->bytes, max, 1);

		if (!grown)
			return -ENOMEM;
		b->bytes = grown;
		b->max = max;
	}
	memcpy(b->bytes + b->nr, bytes, size);
	b->nr += size;
	return 0;
}

static int add_to_groups(struct row *row, const struct page_slice *slice, int64_t span)
{
	struct group *g = row->nr_groups ? &row->groups[row->nr_groups - 1] : NULL;
	int64_t end = slice->begin + slice->duration;

	if (!g || g->count == GROUP_SLICES || slice->begin - g->end > span / GROUP_GAPS) {
		g = alloc_grow(row->groups, row->nr_groups, &row->max_groups, 16, sizeof(*g));
		if (!g)
			return -ENOMEM;
		row->groups = g;
		g = &row->groups[row->nr_groups++];
		*g = (struct group){ .begin = slice->begin, .end = end, .longest = -1 };
	}
	g->count++;
	g->busy = (int64_t)((uint64_t)g->busy +
			    (uint64_t)slice->duration); /* damaged times may overflow */
	if (end > g->end)
		g->end = end;
	if (slice->duration > g->longest) {
		g->longest = slice->duration;
		g->name = slice->name;
	}
	return 0;
}

/* The first row that is free at the begin of the slice; NULL: out of memory. */
static struct row *find_row(struct page_lane *lane, int64_t begin)
{
	for (size_t i = 0; i < lane->nr_rows; i++)
		if (lane->rows[i]->end <= begin)
			return lane->rows[i];
	if (lane->nr_rows == PAGE_ROWS_MAX) {
		lane->crowded++;
		return lane->rows[PAGE_ROWS_MAX - 1];
	}
	lane->rows[lane->nr_rows] = alloc_zero(1, sizeof(struct row));
	return lane->rows[lane->nr_rows] ? lane->rows[lane->nr_rows++] : NULL;
}

int page_lane_add(struct page_lane *lane, const struct page_slice *slice, const char *args)
{
	struct row *row = find_row(lane, slice->begin);
	int64_t end = slice->begin + slice->duration;
	int ret;

	if (!row)
		return -ENOMEM;
	if (!row->count)
		row->begin = slice->begin;
	/* a slice without length takes its nanosecond: two at the same time would be one on the
	 * screen */
	if (end + !slice->duration > row->end)
		row->end = end + !slice->duration;
	if (end > lane->page->until)
		lane->page->until = end;
	ret = put_columns(row, slice);
	if (ret == 0 && lane->kind == PAGE_COUNTER)
		ret = put_raw(&row->values, &slice->value, sizeof(slice->value));
	if (ret == 0 && args)
		ret = put_raw(&row->texts, args, strlen(args) + 1);
	if (ret == 0)
		ret = add_to_groups(row, slice, lane->page->span);
	if (slice->value > lane->max_value)
		lane->max_value = slice->value;
	row->count++;
	lane->count++;
	lane->page->nr_slices++;
	if (ret == 0 && row->count == BLOCK_SLICES)
		ret = write_block(lane->page, row);
	return ret;
}

int page_lane_end(struct page_lane *lane)
{
	int ret = 0;

	for (size_t i = 0; lane && i < lane->nr_rows; i++) {
		if (ret == 0)
			ret = write_block(lane->page, lane->rows[i]);
		free_columns(lane->rows[i]);
	}
	return ret;
}

static void write_row(struct json *j, const struct row *row)
{
	json_array(j);
	for (size_t i = 0; i < row->nr_blocks; i++) {
		const struct block *b = &row->blocks[i];

		json_array(j);
		json_uint(j, b->number);
		json_uint(j, b->count);
		json_int(j, b->begin);
		json_int(j, b->end);
		json_int(j, b->texts);
		json_array_end(j);
	}
	json_array_end(j);
}

void page_lane_write(struct page *page, struct json *j)
{
	json_key(j, "lanes");
	json_array(j);
	for (size_t i = 0; i < page->nr_lanes; i++) {
		const struct page_lane *lane = page->lanes[i];

		json_object(j);
		json_member_text(j, "kind", kinds[lane->kind]);
		json_member_text(j, "group", lane->group);
		json_member_text(j, "name", lane->name);
		json_member_int(j, "pid", lane->pid);
		json_member_int(j, "count", (int64_t)lane->count);
		json_member_int(j, "crowded", (int64_t)lane->crowded);
		if (lane->kind == PAGE_COUNTER) {
			json_key(j, "max");
			json_double(j, lane->max_value);
		}
		/* each block: number, slices, begin, end, whether it has texts */
		json_key(j, "rows");
		json_array(j);
		for (size_t k = 0; k < lane->nr_rows; k++)
			write_row(j, lane->rows[k]);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static int put_groups(struct page_bytes *b, const struct row *row)
{
	int error = page_bytes_put(b, row->nr_groups);
	int64_t before = 0;

	for (size_t i = 0; i < row->nr_groups; i++) {
		const struct group *g = &row->groups[i];

		error |= page_bytes_put(b, g->count);
		error |= page_bytes_put(b, (uint64_t)(g->begin - before));
		error |= page_bytes_put(b, (uint64_t)(g->end - g->begin));
		error |= page_bytes_put(b, (uint64_t)g->busy);
		error |= page_bytes_put(b, (uint64_t)g->name);
		before = g->begin;
	}
	return error;
}

int page_lane_write_levels(struct page *page)
{
	struct page_pack *pack = page_pack_open(page->out, "levels");
	struct page_bytes b = { NULL, 0, 0 };
	int ret = pack ? 0 : -ENOMEM;

	for (size_t i = 0; i < page->nr_lanes; i++)
		for (size_t k = 0; ret == 0 && k < page->lanes[i]->nr_rows; k++) {
			ret = put_groups(&b, page->lanes[i]->rows[k]);
			page_pack_write(pack, (const char *)b.bytes, b.nr);
			b.nr = 0;
		}
	alloc_free(b.bytes);
	return page_pack_close(pack) ? -EIO : ret;
}

void page_lane_free(struct page *page)
{
	for (size_t i = 0; i < page->nr_lanes; i++) {
		struct page_lane *lane = page->lanes[i];

		for (size_t k = 0; k < lane->nr_rows; k++) {
			free_columns(lane->rows[k]);
			alloc_free(lane->rows[k]->blocks);
			alloc_free(lane->rows[k]->groups);
			alloc_free(lane->rows[k]);
		}
		alloc_free(lane->group);
		alloc_free(lane->name);
		alloc_free(lane);
	}
	alloc_free(page->lanes);
}
