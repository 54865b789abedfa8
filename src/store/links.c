/* SPDX-License-Identifier: MIT */
/* links.c - the calls of operations: an array in pages */
#include "store/links.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "spool/format.h"

#define PAGE 1024u
#define MAX_ID (UINT64_C(1) << 40)
#define MAX_TID (1u << 24) /* Linux has fewer: PID_MAX_LIMIT */

/* id of the call << 24 | its tid, or 0: no link; and the marker */
struct entry {
	uint64_t call, marker;
};

struct links_page {
	struct entry entry[PAGE];
};

void links_fini(struct links *links)
{
	for (uint32_t i = 0; i < links->nr; i++)
		alloc_free(links->all[i]);
	alloc_free(links->all);
	map_fini(&links->pages);
	memset(links, 0, sizeof(*links));
}

/* A new page for `number`; NULL: out of memory. */
static struct links_page *add_page(struct links *links, uint64_t number)
{
	struct links_page **all =
		alloc_grow(links->all, links->nr, &links->cap, 16, sizeof(struct links_page *));
	struct links_page *page;

	if (!all)
		return NULL;
	links->all = all;
	page = alloc_zero(1, sizeof(*page));
	if (!page)
		return NULL;
	links->all[links->nr++] = page;
	return map_put(&links->pages, number, links->nr - 1) < 0 ? NULL : page;
}

int links_add(struct links *links, const struct rec_link *rec)
{
	struct links_page *page;
	uint64_t at;

	if (!rec->operation || rec->operation >= MAX_ID || !rec->correlation ||
	    rec->correlation >= MAX_ID || rec->h.id >= MAX_TID)
		return 0;
	if (map_get(&links->pages, rec->operation / PAGE, &at))
		page = links->all[at];
	else
		page = add_page(links, rec->operation / PAGE);
	if (!page)
		return -ENOMEM;
	page->entry[rec->operation % PAGE] =
		(struct entry){ rec->correlation << 24 | rec->h.id, rec->marker };
	return 0;
}

bool links_get(const struct links *links, uint64_t operation, struct link *out)
{
	const struct entry *e;
	uint64_t at;

	if (!links->nr || !map_get(&links->pages, operation / PAGE, &at))
		return false;
	e = &links->all[at]->entry[operation % PAGE];
	out->correlation = e->call >> 24;
	out->marker = e->marker;
	out->tid = (uint32_t)(e->call & (MAX_TID - 1));
	return e->call != 0;
}
