/* SPDX-License-Identifier: MIT */
/* code.h - decoded code, by address
 *
 * A page of 4 KiB is decoded lazily, block by block. A block is the instructions from an address on
 * up to the first that may jump, wait for others, or store to global memory: all but the last one
 * run without a look at the wave's state. A block's steps are what there is to do before the last
 * one, and one that ends with it: instructions that do nothing are not among them, and one step may
 * be two instructions.
 * The page keeps the words that were decoded; when memory has others, a new page replaces the old
 * one. So all is written once, and threads read it without a lock.
 */
#ifndef VGPU_GCN_CODE_H
#define VGPU_GCN_CODE_H

#include "wave.h"

#define CODE_PAGE 4096u
#define CODE_WORDS (CODE_PAGE / 4)
#define CODE_CLASSES 12

struct gcn_block {
	uint8_t nr_words; /* on this page; 0: the block is not made yet */
	uint8_t nr;	  /* instructions */
	uint8_t last;	  /* words before the last instruction */
	uint8_t nr_classes;
	uint8_t nr_waits; /* s_waitcnt that are not the last instruction */
	uint8_t waits;	  /* one of these is for all instructions of a kind */
	uint8_t class[CODE_CLASSES], count[CODE_CLASSES];
	uint8_t branches; /* the last instruction changes the program counter, and nothing else */
	const struct gcn_step *step; /* NULL: there is no memory for the steps */
};

struct gcn_page {
	uint64_t base;
	uint64_t lo, hi; /* code can be read here */
	bool more;	 /* and behind the page too */
	enum gcn_arch_id arch;
	struct gcn_page *next;
	struct gcn_steps *steps;	 /* of all its blocks */
	bool old;			 /* another one replaces it */
	uint64_t known[CODE_WORDS / 64]; /* a bit for each word that was decoded */
	uint32_t word[CODE_WORDS];
	struct gcn_block block[CODE_WORDS]; /* by the first instruction */
	struct gcn_inst inst[CODE_WORDS];   /* run is NULL: not decoded yet */
};

/* At the start of a slice: drops all decoded code if an allocation was freed. */
void code_check(struct gcn_run *r);

/* The page on which the block at `pc` is made, and is what memory has; it becomes the run's. NULL:
 * no code can be read there. Any thread. */
const struct gcn_page *code_enter(struct gcn_run *r, uint64_t pc);

/* Words of a page that are before its end. */
static inline uint32_t code_end(const struct gcn_page *page)
{
	return (uint32_t)(page->hi - page->base) / 4;
}

/* Whether the block at word `at` of a page is made, and what memory has there. */
static inline bool code_is(const struct gcn_page *page, uint32_t at)
{
	/* pairs with the release of make_block(): all of the block is there */
	unsigned int nr = __atomic_load_n(&page->block[at].nr_words, __ATOMIC_ACQUIRE), n = 0;
	const unsigned char *mine = (const unsigned char *)&page->word[at];
	const unsigned char *memory = (const unsigned char *)(uintptr_t)page->base + at * 4u;
	uint64_t a, b;
	uint32_t c, d;

	if (!nr)
		return false;
	for (; n + 2 <= nr; n += 2) {
		memcpy(&a, mine + n * 4, sizeof(a));
		memcpy(&b, memory + n * 4, sizeof(b));
		if (a != b)
			return false;
	}
	if (n == nr)
		return true;
	memcpy(&c, mine + n * 4, sizeof(c));
	memcpy(&d, memory + n * 4, sizeof(d));
	return c == d;
}

#endif
