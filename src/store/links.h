/* SPDX-License-Identifier: MIT */
/* links.h - which call an operation belongs to, where its own record could not say so (struct rec_link)
 *
 * 16 bytes for each operation, and only of processes where HIP submits from threads of its own: their ids
 * mostly follow one another. They may come in any order. Single-threaded.
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
	struct map pages; /* number of the page to its place in `all` */
	struct links_page **all;
	uint32_t nr, cap;
};

/* A zeroed one is empty. */
void links_fini(struct links *links);
/* 0 or -ENOMEM. What can't be true (an id of 0, one beyond 40 bits) is left alone. */
int links_add(struct links *links, const struct rec_link *rec);
/* false: the operation's own record says all. */
bool links_get(const struct links *links, uint64_t operation, struct link *out);

#endif
