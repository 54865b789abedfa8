/* SPDX-License-Identifier: MIT */
/* rpd_page.c - rows in SQLite's file format
 *
 * A page begins with its header and the offsets of its rows, 2 bytes each; the rows are at its end,
 * the first one last. A row is the size of its record, its id, and the record: the size of the
 * record's header, a type for each value, and the values. Numbers are big-endian. Every number of
 * the record's header is below 128 here, and takes one byte.
 */
#include "export/rpd/rpd_page.h"

#define HEADER 8u
#define LEAF_OF_TABLE 13

static void put_16(unsigned char *at, size_t value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static void put_header(struct rpd_page *page)
{
	page->bytes[0] = LEAF_OF_TABLE;
	put_16(page->bytes + 1, 0); /* no free space between rows */
	put_16(page->bytes + 3, page->nr);
	put_16(page->bytes + 5, page->begin);
	page->bytes[7] = 0;
}

void rpd_page_clear(struct rpd_page *page)
{
	page->nr = 0;
	page->begin = RPD_PAGE_SIZE;
	put_header(page);
}

/* 7 bits in a byte, the highest ones first; the ninth byte has 8. Returns the size. */
static size_t put_number(unsigned char *at, uint64_t value)
{
	unsigned char bytes[9];
	size_t nr = 0;

	if (value >> 56) {
		bytes[nr++] = (unsigned char)value;
		value >>= 8;
		while (nr < 9) {
			bytes[nr++] = (unsigned char)(value | 0x80);
			value >>= 7;
		}
	} else {
		bytes[nr++] = value & 0x7f;
		while (value >>= 7)
			bytes[nr++] = (unsigned char)(value | 0x80);
	}
	for (size_t i = 0; i < nr; i++)
		at[i] = bytes[nr - 1 - i];
	return nr;
}

bool rpd_page_add(struct rpd_page *page, const struct rpd_cell *cell)
{
	unsigned char front[2 * 9 + 1], *to;
	size_t record = 1 + cell->nr + cell->size;
	size_t size = put_number(front, record), offsets = HEADER + 2 * page->nr;

	size += put_number(front + size, (uint64_t)cell->id);
	front[size++] = (unsigned char)(1 + cell->nr);
	if (page->begin < offsets + 2 + size + cell->nr + cell->size)
		return false;
	page->begin -= size + cell->nr + cell->size;
	to = page->bytes + page->begin;
	memcpy(to, front, size);
	memcpy(to + size, cell->types, cell->nr);
	memcpy(to + size + cell->nr, cell->values, cell->size);
	put_16(page->bytes + offsets, page->begin);
	page->nr++;
	put_header(page);
	return true;
}
