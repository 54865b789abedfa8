/* SPDX-License-Identifier: MIT */
/* code.h - decoded code, by address
 *
 * A page of 4 KiB is decoded lazily, instruction by instruction. Each entry keeps its instruction's first word, and is
 * decoded again when memory has another one.
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
	struct gcn_inst inst[CODE_PAGE / 4]; /* run is NULL: not decoded yet */
};

/* The page of `pc`; NULL if no code can be read there. */
struct gcn_page *code_page(struct gcn_run *r, uint64_t pc);

/* At the start of a slice: drops all decoded code if an allocation was freed. */
void code_check(struct gcn_run *r);

/* The entry of `pc`, decoded anew. */
const struct gcn_inst *code_decode(struct gcn_page *page, uint64_t pc);

/* The instruction at `pc`; NULL if no code can be read there. */
static inline const struct gcn_inst *code_fetch(struct gcn_run *r, uint64_t pc)
{
	struct gcn_page *page = r->page;
	const struct gcn_inst *i;
	uint32_t word;

	if (!page || pc < page->lo || pc >= page->hi || pc & 3) {
		page = code_page(r, pc);
		if (!page)
			return NULL;
		r->page = page;
	}
	i = &page->inst[(pc - page->base) / 4];
	memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
	return i->run && i->word[0] == word ? i : code_decode(page, pc);
}

#endif
