/* SPDX-License-Identifier: MIT */
/* symbol.c - the name of a kernel, from the loaded code object
 *
 * A loaded code object begins, at a page, with its ELF header, and its dynamic symbols are loaded
 * with it. The program may have changed that memory: every step is checked.
 */
#include "symbol.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gcn.h"

#define PAGE 4096u
#define PAGES_MAX 4096u
#define SYMBOLS_MAX 65536u

struct image {
	const struct gcn_host *host;
	uint64_t base;
	struct gcn_range in;
};

static bool get(const struct image *im, uint64_t at, void *out, size_t size)
{
	uint64_t addr = im->base + at;

	if (addr < im->in.lo || addr >= im->in.hi || size > im->in.hi - addr)
		return false;
	memcpy(out, (const void *)(uintptr_t)(addr + im->in.shift), size);
	return true;
}

static bool find_base(struct image *im, uint64_t object)
{
	for (unsigned int n = 0; n < PAGES_MAX; n++) {
		char magic[SELFMAG];

		im->base = (object & ~(uint64_t)(PAGE - 1)) - (uint64_t)n * PAGE;
		if (im->base < im->in.lo || !get(im, 0, magic, sizeof(magic)))
			return false;
		if (!memcmp(magic, ELFMAG, SELFMAG))
			return true;
	}
	return false;
}

struct tables {
	uint64_t symtab, strtab, strsz, hash;
};

static bool find_tables(const struct image *im, struct tables *t)
{
	uint64_t dynamic = 0;
	Elf64_Ehdr eh;
	Elf64_Dyn d = { .d_tag = DT_NULL };

	if (!get(im, 0, &eh, sizeof(eh)) || eh.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned int n = 0; n < eh.e_phnum && n < 64; n++) {
		Elf64_Phdr ph;

		if (!get(im, eh.e_phoff + n * sizeof(ph), &ph, sizeof(ph)))
			return false;
		if (ph.p_type == PT_DYNAMIC)
			dynamic = ph.p_vaddr;
	}
	for (unsigned int n = 0; dynamic && n < 256; n++) {
		if (!get(im, dynamic + n * sizeof(d), &d, sizeof(d)) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_SYMTAB)
			t->symtab = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRTAB)
			t->strtab = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRSZ)
			t->strsz = d.d_un.d_val;
		else if (d.d_tag == DT_HASH)
			t->hash = d.d_un.d_ptr;
	}
	return t->symtab && t->strtab && t->hash;
}

static bool find_name(const struct image *im, const struct tables *t, uint64_t object, char *out,
		      size_t size)
{
	uint32_t hash[2];
	Elf64_Sym sym;

	/* the hash table's second word is the number of symbols */
	if (!get(im, t->hash, hash, sizeof(hash)))
		return false;
	for (uint32_t n = 0; n < hash[1] && n < SYMBOLS_MAX; n++) {
		size_t len = 0;

		if (!get(im, t->symtab + n * sizeof(sym), &sym, sizeof(sym)))
			return false;
		if (im->base + sym.st_value != object || !sym.st_name)
			continue;
		while (len + 1 < size && sym.st_name + len < t->strsz &&
		       get(im, t->strtab + sym.st_name + len, &out[len], 1) && out[len])
			len++;
		out[len] = '\0';
		/* the descriptor's symbol */
		if (len > 3 && !strcmp(out + len - 3, ".kd"))
			out[len - 3] = '\0';
		return len > 0;
	}
	return false;
}

void symbol_name(const struct gcn_host *host, uint64_t object, char *out, size_t size)
{
	struct image im = { .host = host };
	struct tables t = { 0 };

	if (host->range(object, &im.in) && find_base(&im, object) && find_tables(&im, &t) &&
	    find_name(&im, &t, object, out, size))
		return;
	snprintf(out, size, "0x%llx", (unsigned long long)object);
}
