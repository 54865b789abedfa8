/* SPDX-License-Identifier: MIT */
/* code.c - decoded code, by address
 *
 * Owns:     the pages, in a hash table by address. All are dropped when memory that may contain
 *           code is freed.
 * Threads:  all that run a dispatch; pages are dropped by the engine's, while the others don't.
 * Locks:    `lock`, for looking pages up and for decoding; the allocations' lock is taken under it.
 */
#include "code.h"

#include "plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

/* instructions of a block */
#define BLOCK_MAX PLAN_MAX

/* The steps of a block, in the page's list. */
struct gcn_steps {
	struct gcn_steps *next;
	struct gcn_step step[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gcn_page *buckets[BUCKETS];
static unsigned int made_for; /* generation of the allocations */

static struct gcn_page **bucket(uint64_t base)
{
	return &buckets[base / CODE_PAGE % BUCKETS];
}

static void free_page(struct gcn_page *page)
{
	while (page->steps) {
		struct gcn_steps *steps = page->steps;

		page->steps = steps->next;
		free(steps);
	}
	free(page);
}

void gcn_code_changed(void)
{
	for (unsigned int n = 0; n < BUCKETS; n++) {
		while (buckets[n]) {
			struct gcn_page *page = buckets[n];

			buckets[n] = page->next;
			free_page(page);
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
	uint64_t base = pc & ~(uint64_t)(CODE_PAGE - 1);
	struct gcn_range range;
	struct gcn_page *page;

	if (pc & 3)
		return NULL;
	for (page = *bucket(base); page; page = page->next) {
		if (!page->old && page->base == base && pc >= page->lo && pc < page->hi &&
		    page->arch == r->launch.arch)
			return page;
	}
	/* code is read at the GPU's addresses: runtimes load it to memory that they have
	 * allocated */
	if (!r->host->range(pc, &range) || range.hi - pc < 4 || range.shift)
		return NULL;
	page = aligned_alloc(_Alignof(struct gcn_page), sizeof(*page));
	if (!page)
		return NULL;
	memset(page, 0, sizeof(*page));
	page->base = base;
	page->arch = r->launch.arch;
	page->lo = range.lo > base ? (range.lo + 3) & ~3ull : base;
	page->hi = range.hi < base + CODE_PAGE ? range.hi & ~3ull : base + CODE_PAGE;
	page->more = range.hi >= base + CODE_PAGE + 4;
	page->next = *bucket(base);
	*bucket(base) = page;
	return page;
}

/* The entry at word `at`, decoded if it was not yet; NULL: memory has other words than before. */
static const struct gcn_inst *decode_locked(struct gcn_page *page, uint32_t at)
{
	struct gcn_inst *i = &page->inst[at];
	const uint32_t *code = (const uint32_t *)(uintptr_t)page->base + at;
	/* the second word may lie on the next page, which is there unless the allocation ends */
	bool more = at + 2 <= code_end(page) || page->more;

	if (!i->run)
		gcn_decode(i, page->arch, code, more ? 2 : 1);
	for (uint32_t n = 0; n < i->nr_words && at + n < code_end(page); n++) {
		uint64_t bit = 1ull << (at + n) % 64, *known = &page->known[(at + n) / 64];
		uint32_t word;

		memcpy(&word, code + n, sizeof(word));
		/* what was decoded, and what any instruction that has this word was decoded of */
		if (i->word[n] != word || (*known & bit && page->word[at + n] != word))
			return NULL;
		/* other threads may read words of blocks that are made */
		if (!(*known & bit))
			page->word[at + n] = word;
		*known |= bit;
	}
	return i;
}

/* false: the block counts too many classes of instructions. */
static bool count_class(struct gcn_block *b, uint8_t class)
{
	unsigned int n = 0;

	while (n < b->nr_classes && b->class[n] != class)
		n++;
	if (n == CODE_CLASSES)
		return false;
	if (n == b->nr_classes)
		b->class[b->nr_classes++] = class;
	b->count[n]++;
	return true;
}

/* Makes the steps of a block. Nothing is stored to global memory before its last instruction: what
 * a wait makes visible, the beginning of the block can. Without memory for the steps the block is
 * its first instruction alone. */
static void make_steps(struct gcn_page *page, struct gcn_block *b, uint32_t first)
{
	struct gcn_steps *steps = malloc(sizeof(*steps) + b->nr * sizeof(steps->step[0]));
	const struct gcn_inst *i = &page->inst[first];

	if (!steps) {
		b->nr = b->nr_classes = b->count[0] = 1;
		b->last = 0;
		return;
	}
	for (unsigned int n = 0; n + 1 < b->nr; n++, i += i->nr_words) {
		if (gcn_is_wait(i)) {
			b->nr_waits++;
			b->waits |= gcn_waits_for_all(i);
		}
	}
	gcn_make_end(&steps->step[plan_steps(steps->step, &page->inst[first], b->nr - 1u)], i,
		     b->last + i->nr_words);
	b->branches = i->enc == GCN_SOPP && i->class == GCN_BRANCH;
	b->step = steps->step;
	steps->next = page->steps;
	page->steps = steps;
}

/* false: memory has other words than before. */
static bool make_block(struct gcn_page *page, uint32_t first)
{
	struct gcn_block b = { 0 };
	uint32_t at = first;

	while (at < code_end(page)) {
		const struct gcn_inst *i = decode_locked(page, at);

		if (!i)
			return false;
		if (b.nr && (at + i->nr_words > code_end(page) || b.nr == BLOCK_MAX))
			break;
		if (!count_class(&b, i->class))
			break;
		b.last = (uint8_t)(at - first);
		b.nr++;
		at += i->nr_words;
		if (!i->plain)
			break;
	}
	at = at < code_end(page) ? at : code_end(page);
	/* others are reading: what is there already is the same, but for what may have changed in
	 * between */
	if (page->block[first].nr_words)
		return page->block[first].nr_words == at - first;
	make_steps(page, &b, first);
	at = first + b.last + page->inst[first + b.last].nr_words;
	at = at < code_end(page) ? at : code_end(page);
	memcpy((char *)&page->block[first] + 1, (const char *)&b + 1, sizeof(b) - 1);
	/* pairs with the acquire of code_is() */
	__atomic_store_n(&page->block[first].nr_words, (uint8_t)(at - first), __ATOMIC_RELEASE);
	return true;
}

const struct gcn_page *code_enter(struct gcn_run *r, uint64_t pc)
{
	struct gcn_page *page = r->page;

	if (page && pc >= page->lo && pc < page->hi && !(pc & 3) &&
	    code_is(page, (uint32_t)(pc - page->base) / 4))
		return page;
	pthread_mutex_lock(&lock);
	page = page_locked(r, pc);
	while (page && !make_block(page, (uint32_t)(pc - page->base) / 4)) {
		page->old = true;
		page = page_locked(r, pc);
	}
	pthread_mutex_unlock(&lock);
	r->page = page;
	return page;
}

size_t gcn_predecode(struct gcn_run *r, uint64_t code, size_t size)
{
	size_t nr = 0;

	pthread_mutex_lock(&lock);
	for (uint64_t pc = code; pc < code + size; nr++) {
		struct gcn_page *page = page_locked(r, pc);
		const struct gcn_inst *i;

		i = page ? decode_locked(page, (uint32_t)(pc - page->base) / 4) : NULL;
		if (!i)
			break;
		pc += i->nr_words * 4u;
	}
	pthread_mutex_unlock(&lock);
	return nr;
}
