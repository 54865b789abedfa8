/* SPDX-License-Identifier: MIT */
/* code.c - decoded code, by address
 *
 * Owns:     the pages, in a hash table by address. All are dropped when memory that may contain code is freed.
 * Threads:  all that run a dispatch; pages are dropped by the engine's, while the others don't.
 * Locks:    `lock`, for looking pages up and for decoding; the allocations' lock is taken under it.
 */
#include "code.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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

static struct gcn_page *page_locked(struct gcn_run *r, uint64_t pc)
{
	uint64_t base = pc & ~(uint64_t)(CODE_PAGE - 1), lo, hi;
	struct gcn_page *page;

	if (pc & 3)
		return NULL;
	for (page = *bucket(base); page; page = page->next) {
		if (!page->old && page->base == base && pc >= page->lo && pc < page->hi &&
		    page->arch == r->launch.arch)
			return page;
	}
	if (!r->host->range(pc, &lo, &hi) || hi - pc < 4)
		return NULL;
	page = aligned_alloc(_Alignof(struct gcn_page), sizeof(*page));
	if (!page)
		return NULL;
	memset(page, 0, sizeof(*page));
	page->base = base;
	page->arch = r->launch.arch;
	page->lo = lo > base ? (lo + 3) & ~3ull : base;
	page->hi = hi < base + CODE_PAGE ? hi & ~3ull : base + CODE_PAGE;
	page->more = hi >= base + CODE_PAGE + 4;
	page->next = *bucket(base);
	*bucket(base) = page;
	return page;
}

struct gcn_page *code_page(struct gcn_run *r, uint64_t pc)
{
	struct gcn_page *page;

	pthread_mutex_lock(&lock);
	page = page_locked(r, pc);
	pthread_mutex_unlock(&lock);
	return page;
}

static const struct gcn_inst *decode_locked(struct gcn_page *page, uint64_t pc)
{
	struct gcn_inst *to = &page->inst[(pc - page->base) / 4], i;
	/* the second word may lie on the next page, which is there unless the allocation ends */
	bool more = pc + 8 <= page->hi || page->more;

	gcn_decode(&i, page->arch, (const uint32_t *)(uintptr_t)pc, more ? 2 : 1);
	/* other threads look at `run`, which is written once; the release pairs with the acquire of code_is() */
	static_assert(offsetof(struct gcn_inst, run) == 0, "what follows it is copied");
	memcpy((char *)to + sizeof(to->run), (const char *)&i + sizeof(i.run),
	       sizeof(i) - sizeof(i.run));
	__atomic_store_n(&to->run, i.run, __ATOMIC_RELEASE);
	return to;
}

const struct gcn_inst *code_decode(struct gcn_run *r, struct gcn_page *page, uint64_t pc)
{
	const struct gcn_inst *i = &page->inst[(pc - page->base) / 4];
	uint32_t word;

	memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
	pthread_mutex_lock(&lock);
	if (i->run && i->word[0] != word) {
		page->old = true;
		page = page_locked(r, pc);
		r->page = page;
		i = page ? &page->inst[(pc - page->base) / 4] : NULL;
	}
	if (i && !i->run)
		i = decode_locked(page, pc);
	pthread_mutex_unlock(&lock);
	return i;
}

size_t gcn_predecode(struct gcn_run *r, uint64_t code, size_t size)
{
	size_t nr = 0;

	for (uint64_t pc = code; pc < code + size; nr++) {
		struct gcn_page *page = code_page(r, pc);
		const struct gcn_inst *i;

		if (!page)
			break;
		pthread_mutex_lock(&lock);
		i = decode_locked(page, pc);
		pthread_mutex_unlock(&lock);
		pc += i->nr_words * 4u;
	}
	return nr;
}
