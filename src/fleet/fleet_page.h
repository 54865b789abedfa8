/* SPDX-License-Identifier: MIT */
/* fleet_page.h - bytes of a file of a data set as Thrift's structures and as values; of
 * fleet_file.c and fleet_page.c alone */
#ifndef RTL_FLEET_FLEET_PAGE_H
#define RTL_FLEET_FLEET_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of some bytes; bad: they end too early, or are not what they should be. All that is
 * taken then is 0. */
struct page_in {
	const unsigned char *at, *end;
	bool bad;
};

/* Thrift's types that matter. */
enum { PAGE_TRUE = 1, PAGE_FALSE = 2, PAGE_BINARY = 8, PAGE_LIST = 9, PAGE_STRUCT = 12 };
/* Rows of a row group, at most: rtl writes 524,288. */
#define PAGE_ROWS_MAX (UINT64_C(1) << 24)

struct page_field {
	int id, type;
};

/* The next field of a structure; false: it has no more. */
bool fleet_page_field(struct page_in *in, struct page_field *f);
uint64_t fleet_page_varint(struct page_in *in);
int64_t fleet_page_zigzag(struct page_in *in);
/* The number of items of a list, which are of that type. */
size_t fleet_page_list(struct page_in *in, int type);
/* malloc'd, with a NUL. */
char *fleet_page_string(struct page_in *in);
void fleet_page_skip(struct page_in *in, int type);

struct page_chunk {
	uint64_t offset, size, nr_values;
	int codec;
};

struct fleet_group {
	uint64_t nr_rows;
	struct page_chunk *chunks;
};

#endif
