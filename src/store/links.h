/* SPDX-License-Identifier: MIT */
/* links.h - the calls of operations whose own records did not have them (struct rec_link)
 *
 * 16 bytes for each operation. Only processes where HIP submits from threads of its own have links.
 * Operation ids are mostly consecutive, and may be added in any order. Single-threaded.
 */
#ifndef RTL_STORE_LINKS_H
#define RTL_STORE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/map.h"

struct rec_link;

struct link {
	uint64_t correlation, marker;
	uint32_t tid;
};

struct links {
	struct map pages; /* number of the page to its index in `all` */
	struct links_page **all;
	size_t nr, cap;
};

/* A zeroed structure is empty. */
void links_fini(struct links *links);
/* 0 or -ENOMEM. Ignores impossible links (an id of 0, one beyond 40 bits). */
int links_add(struct links *links, const struct rec_link *rec);
/* false: the operation has no link; its own record is right. */
bool links_get(const struct links *links, uint64_t operation, struct link *out);

#endif
