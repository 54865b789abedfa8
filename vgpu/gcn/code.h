/* SPDX-License-Identifier: MIT */
/* code.h - decoded code, by address
 *
 * A page of 4 KiB is decoded lazily, instruction by instruction. Each entry keeps its instruction's first word; when memory has
 * another one, a new page replaces the old one. So an entry is written once, and threads read it without a lock.
 */
#ifndef VGPU_GCN_CODE_H
#define VGPU_GCN_CODE_H

#include "wave.h"

#define CODE_PAGE 4096u

struct gcn_page {
	uint64_t base;
	uint64_t lo, hi; /* code can be read here */
	bool more;	 /* and behind the page too */
	enum gcn_arch_id arch;
	struct gcn_page *next;
	bool old;			     /* another one replaces it */
	struct gcn_inst inst[CODE_PAGE / 4]; /* run is NULL: not decoded yet */
};

/* The page of `pc`; NULL if no code can be read there. Any thread. */
struct gcn_page *code_page(struct gcn_run *r, uint64_t pc);

/* At the start of a slice: drops all decoded code if an allocation was freed. */
void code_check(struct gcn_run *r);

/* The entry of `pc`, decoded if it was not yet, or memory has changed: then on another page, which becomes the run's. NULL: no memory.
 * Any thread. */
const struct gcn_inst *code_decode(struct gcn_run *r, struct gcn_page *page, uint64_t pc);

/* Whether the entry of `pc` is what memory has there. */
static inline bool code_is(const struct gcn_inst *i, uint64_t pc)
{
	uint32_t word;

	memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
	/* pairs with the release of code_decode(): all of the entry is there */
	return __atomic_load_n(&i->run, __ATOMIC_ACQUIRE) && i->word[0] == word;
}

/* The instruction at `pc`; NULL if no code can be read there. */
static inline const struct gcn_inst *code_fetch(struct gcn_run *r, uint64_t pc)
{
	struct gcn_page *page = r->page;
	const struct gcn_inst *i;

	if (!page || pc < page->lo || pc >= page->hi || pc & 3) {
		page = code_page(r, pc);
		if (!page)
			return NULL;
		r->page = page;
	}
	i = &page->inst[(pc - page->base) / 4];
	if (code_is(i, pc))
		return i;
	return code_decode(r, page, pc);
}

#endif
