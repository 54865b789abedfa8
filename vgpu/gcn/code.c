/* SPDX-License-Identifier: MIT */
/* code.c - decoded code, by address
 *
 * Owns:     the pages, in a hash table by address. All are dropped when memory that may contain code is freed.
 * Threads:  the engine's, under its lock.
 */
#include "code.h"

#include <stdlib.h>

#define BUCKETS 1024

static struct gcn_page *buckets[BUCKETS];
static unsigned int made_for; /* generation of the allocations */

static struct gcn_page **bucket(uint64_t base)
{
	return &buckets[base / CODE_PAGE % BUCKETS];
}

void gcn_code_changed(void)
{
	for (unsigned int n = 0; n < BUCKETS; n++) {
		while (buckets[n]) {
			struct gcn_page *page = buckets[n];

			buckets[n] = page->next;
			free(page);
		}
	}
}

void code_check(struct gcn_run *r)
{
	unsigned int generation = __atomic_load_n(r->host->generation, __ATOMIC_ACQUIRE);

	if (generation != made_for) {
		gcn_code_changed();
		made_for = generation;
	}
	r->page = NULL;
}

struct gcn_page *code_page(struct gcn_run *r, uint64_t pc)
{
	uint64_t base = pc & ~(uint64_t)(CODE_PAGE - 1), lo, hi;
	struct gcn_page *page;

	if (pc & 3)
		return NULL;
	for (page = *bucket(base); page; page = page->next) {
		if (page->base == base && pc >= page->lo && pc < page->hi &&
		    page->arch == r->launch.arch)
			return page;
	}
	if (!r->host->range(pc, &lo, &hi) || hi - pc < 4)
		return NULL;
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->base = base;
	page->arch = r->launch.arch;
	page->lo = lo > base ? (lo + 3) & ~3ull : base;
	page->hi = hi < base + CODE_PAGE ? hi & ~3ull : base + CODE_PAGE;
	page->more = hi >= base + CODE_PAGE + 4;
	page->next = *bucket(base);
	*bucket(base) = page;
	return page;
}

const struct gcn_inst *code_decode(struct gcn_page *page, uint64_t pc)
{
	struct gcn_inst *i = &page->inst[(pc - page->base) / 4];
	/* the second word may lie on the next page, which is there unless the allocation ends */
	bool more = pc + 8 <= page->hi || page->more;

	gcn_decode(i, page->arch, (const uint32_t *)(uintptr_t)pc, more ? 2 : 1);
	return i;
}

size_t gcn_predecode(struct gcn_run *r, uint64_t code, size_t size)
{
	size_t nr = 0;

	for (uint64_t pc = code; pc < code + size; nr++) {
		struct gcn_page *page = code_page(r, pc);

		if (!page)
			break;
		pc += code_decode(page, pc)->nr_words * 4u;
	}
	return nr;
}
