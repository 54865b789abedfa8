/* SPDX-License-Identifier: MIT */
/* visible.c - other libraries find librtl's symbols of HIP, RCCL and HSA, and librtlmpi's of MPI,
 * only where a library has the real ones
 *
 * librtl has wrappers for the functions of all releases, in front of the program's libraries. A
 * program that asks by a weak reference whether its HIP has a function must find what it would find
 * untraced; so must one without HIP. The loader gives no say in that but by the symbol table: so
 * librtl changes its own, in memory. When librtl is relocated
 *
 *   - the libraries that the program starts with are there. A name that none of them has, while
 *     they have others of its group, gets the value 0, with which the loader passes it over;
 *   - where a group is not there yet (HIP may be loaded by dlopen()), its names become indirect
 *     functions: the loader asks for the address when it binds a reference, and then all libraries
 *     of that dlopen() are there. 0: there is none, as the loader itself has it for a weak
 *     reference that it does not find. The first name that is there settles the rest of its group
 *     as above;
 *   - weak references in libraries that were relocated before librtl, which the order of relocation
 *     leaves to chance, are taken back.
 *
 * In librtlmpi the same is done for MPI's. docs/decisions/049 has the reasons. On processors other
 * than x86-64, and in builds with sanitizers, which are not set up yet when this runs, all names
 * are visible.
 *
 * Threads:  the one that loads librtl, in the loader, before any constructor; later any that the
 *           loader binds a reference on. The loader's look-ups in other threads see each symbol
 *           before or after a change, never between.
 * Fails:    where memory can't be made writable all names stay visible.
 * Before:   visible_start() has run nothing here calls the C library (source/hip/early.c says why).
 */
#include "visible.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "dynamic.h"

#if defined(__x86_64__) && !defined(RTL_SANITIZE_ADDRESS) && !defined(RTL_SANITIZE_THREAD) &&      \
	!defined(RTL_SANITIZE_UNDEFINED)

#define PAGE UINT64_C(4096)
/* tests/abi/early_calls.py: librtl's symbols are fewer */
#define NR_THUNKS 1024
#define STR(x) #x
#define TEXT(x) STR(x)

#if defined(VISIBLE_MPI) /* librtlmpi has this file, too */
/* the libraries that a name may be of */
enum group { GROUP_NONE, GROUP_MPI, GROUP_NR };
/* a function that every release has */
static const char group_probes[GROUP_NR][24] = { "", "MPI_Init" };
#else
enum group { GROUP_NONE, GROUP_HIP, GROUP_HIPRTC, GROUP_RCCL, GROUP_HSA, GROUP_NR };
static const char group_probes[GROUP_NR][24] = { "", "hipGetDeviceCount", "hiprtcGetErrorString",
						 "ncclGetVersion", "hsa_init" };
#endif

/* The tables of a loaded library. */
struct object {
	uintptr_t base;
	const ElfW(Dyn) * dynamic;
	ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;	  /* DT_GNU_HASH; NULL: has none */
	const uint32_t *old_hash; /* DT_HASH */
};

struct wanted {
	const char *name;
	uint32_t hash;
	uintptr_t first; /* the library to look at alone; 0: all */
	uintptr_t found; /* the one that has the name */
};

extern const char __ehdr_start[] RTL_HIDDEN; /* made by the linker: where librtl begins */
extern const char visible_thunks[] RTL_HIDDEN;
void *visible_resolve(uint32_t index);

static struct object self;
/* by the symbol's index: where the wrapper is */
static uintptr_t wrappers[NR_THUNKS];
static _Atomic bool is_settled[GROUP_NR];
static _Atomic bool is_started;
/* the library that the last name was found in: a hint, which may have been unloaded */
static _Atomic uintptr_t last_found;

/* ---- tables ---- */

static bool read_object(uintptr_t base, const ElfW(Dyn) * dynamic, struct object *o)
{
	*o = (struct object){ .base = base, .dynamic = dynamic };
	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		const void *at = dynamic_address(base, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			o->symbols = (ElfW(Sym) *)at;
		else if (d->d_tag == DT_STRTAB)
			o->names = at;
		else if (d->d_tag == DT_GNU_HASH)
			o->hash = at;
		else if (d->d_tag == DT_HASH)
			o->old_hash = at;
	}
	return o->symbols && o->names && (o->hash || o->old_hash);
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool begins(const char *name, const char *start)
{
	while (*start)
		if (*name++ != *start++)
			return false;
	return true;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

/* librtl's copy in a forked child has indirect ones */
static bool is_defined(const struct object *o, uint32_t at, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[at];
	unsigned int type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       (type == STT_FUNC || type == STT_NOTYPE) && is_same(o->names + s->st_name, name);
}

/* The layout is that of the loader's own look-up: a filter, buckets, chains whose last entry is
 * odd. */
static bool has(const struct object *o, const char *name, uint32_t hash)
{
	const uint64_t *filter;
	const uint32_t *buckets, *chain;
	uint64_t word;
	uint32_t at;

	if (!o->hash) {
		for (at = 1; at < o->old_hash[1]; at++)
			if (is_defined(o, at, name))
				return true;
		return false;
	}
	/* a library that defines no name has a table without buckets, or without a filter */
	if (!o->hash[0] || !o->hash[2])
		return false;
	filter = (const uint64_t *)(o->hash + 4);
	word = filter[hash / 64 & (o->hash[2] - 1)];
	if (!(word >> hash % 64 & word >> (hash >> o->hash[3]) % 64 & 1))
		return false;
	buckets = (const uint32_t *)(filter + o->hash[2]);
	chain = buckets + o->hash[0];
	at = buckets[hash % o->hash[0]];
	if (at < o->hash[1])
		return false;
	for (;; at++) {
		uint32_t its = chain[at - o->hash[1]];

		if ((its | 1) == (hash | 1) && is_defined(o, at, name))
			return true;
		if (its & 1)
			return false;
	}
}

static bool look_at(uintptr_t base, const ElfW(Dyn) * dynamic, struct wanted *w)
{
	struct object o;

	if (dynamic == _DYNAMIC || (w->first && w->first != (uintptr_t)dynamic) ||
	    !read_object(base, dynamic, &o) || !has(&o, w->name, w->hash))
		return false;
	w->found = (uintptr_t)dynamic;
	return true;
}

static int look_at_phdr(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
		    look_at(info->dlpi_addr,
			    (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), arg))
			return 1;
	return 0;
}

/* Before the start the loader's list is read as debuggers do: one thread runs, and
 * dl_iterate_phdr() may be a sanitizer's. */
static void walk(struct wanted *w)
{
	/* relaxed: either way is right on the thread that sets it */
	if (atomic_load_explicit(&is_started, memory_order_relaxed)) {
		dl_iterate_phdr(look_at_phdr, w);
		return;
	}
	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next)
		if (look_at(l->l_addr, l->l_ld, w))
			return;
}

/* Whether any library but librtl has that function. */
static bool is_there(const char *name)
{
	struct wanted w = { .name = name, .hash = hash_of(name) };

	/* relaxed: a hint */
	w.first = atomic_load_explicit(&last_found, memory_order_relaxed);
	if (w.first)
		walk(&w);
	if (!w.found && w.first) {
		w.first = 0;
		walk(&w);
	} else if (!w.first)
		walk(&w);
	if (w.found)
		atomic_store_explicit(&last_found, w.found, memory_order_relaxed);
	return w.found != 0;
}

/* ---- librtl's own table ---- */

static enum group group_of(const char *name)
{
#if defined(VISIBLE_MPI)
	return begins(name, "MPI_") || begins(name, "PMPI_") ? GROUP_MPI : GROUP_NONE;
#else
	if (begins(name, "hiprtc"))
		return GROUP_HIPRTC;
	if (begins(name, "hip") || begins(name, "__hip") || begins(name, "_Z"))
		return GROUP_HIP;
	if (begins(name, "nccl") || begins(name, "mscc"))
		return GROUP_RCCL;
	return is_same(name, "hsa_init") ? GROUP_HSA : GROUP_NONE;
#endif
}

/* The symbols with a hash are those that librtl defines; after them there is none. */
static uint32_t nr_symbols(void)
{
	const uint64_t *filter = (const uint64_t *)(self.hash + 4);
	const uint32_t *buckets = (const uint32_t *)(filter + self.hash[2]);
	const uint32_t *chain = buckets + self.hash[0];
	uint32_t last = 0;

	for (uint32_t i = 0; i < self.hash[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < self.hash[1])
		return 0;
	while (!(chain[last - self.hash[1]] & 1))
		last++;
	return last + 1;
}

/* The thread's system call itself. */
static long call(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	register uintptr_t fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return result;
}

static bool protect(const void *from, size_t bytes, int how)
{
	uintptr_t first = (uintptr_t)from & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)from + bytes + PAGE - 1) & ~(PAGE - 1);

	return call(SYS_mprotect, first, end - first, (uintptr_t)how, 0) == 0;
}

static void set_value(ElfW(Sym) * s, uintptr_t value)
{
	/* relaxed: looked at by the loader, which sees the old or the new one */
	__atomic_store_n(&s->st_value, value, __ATOMIC_RELAXED);
}

static void settle(enum group group, uint32_t nr)
{
	for (uint32_t i = self.hash[1]; i < nr; i++) {
		ElfW(Sym) *s = &self.symbols[i];
		const char *name = self.names + s->st_name;

		if (group_of(name) == group && s->st_value && !is_there(name))
			set_value(s, 0);
	}
}

/* Only before anybody else has librtl in its scope: type and value are two words. */
static void make_indirect(enum group group, uint32_t nr)
{
	for (uint32_t i = self.hash[1]; i < nr; i++) {
		ElfW(Sym) *s = &self.symbols[i];

		if (group_of(self.names + s->st_name) != group)
			continue;
		wrappers[i] = self.base + s->st_value;
		s->st_value = (uintptr_t)visible_thunks + 16 * i - self.base;
		s->st_info = ELF64_ST_INFO(ELF64_ST_BIND(s->st_info), STT_GNU_IFUNC);
	}
}

/* 16 bytes each: the symbol's index, then the common part, which the loader called without
 * arguments */
__asm__(".pushsection .text\n"
	".balign 16\n"
	"visible_thunks:\n"
	".set at, 0\n"
	".rept " TEXT(NR_THUNKS) "\n"
				 "	endbr64\n"
				 "	.byte 0x68\n" /* push $at */
				 "	.long at\n"
				 "	jmp visible_common\n"
				 "	.balign 16\n"
				 ".set at, at + 1\n"
				 ".endr\n"
				 "visible_common:\n"
				 "	popq %rdi\n"
				 "	jmp visible_resolve\n"
				 ".popsection\n");

/* The loader binds a reference to that symbol: its wrapper, or NULL. */
__attribute__((used)) void *visible_resolve(uint32_t index)
{
	const char *name = self.names + self.symbols[index].st_name;
	enum group group = group_of(name);
	uint32_t nr = nr_symbols();

	if (!is_there(name))
		return NULL;
	/* one thread does it; what another one binds meanwhile is answered one by one */
	if (!atomic_exchange_explicit(&is_settled[group], true, memory_order_relaxed) &&
	    protect(self.symbols, nr * sizeof(*self.symbols), PROT_READ | PROT_WRITE)) {
		settle(group, nr);
		protect(self.symbols, nr * sizeof(*self.symbols), PROT_READ);
	}
	return (void *)wrappers[index];
}

/* ---- references of libraries that were relocated before librtl ---- */

/* A library's relocated references may be in memory that has been made read-only. The kernel tells,
 * without a fault: it writes the thread's signal mask there, as long as a reference. */
static void clear_reference(uintptr_t *slot)
{
	if (call(SYS_rt_sigprocmask, 0, 0, (uintptr_t)slot, sizeof(*slot)) == 0) {
		*slot = 0;
	} else if (protect(slot, sizeof(*slot), PROT_READ | PROT_WRITE)) {
		*slot = 0;
		protect(slot, sizeof(*slot), PROT_READ);
	}
}

/* In one table of relocations: references by address to symbol `index`, that are bound to
 * librtl. */
static void clear_in_table(const struct object *o, const ElfW(Rela) * r, size_t bytes,
			   uint32_t index)
{
	for (const ElfW(Rela) *end = r + bytes / sizeof(*r); r < end; r++) {
		uintptr_t *slot = (uintptr_t *)(o->base + r->r_offset);
		uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);

		if (ELF64_R_SYM(r->r_info) != index ||
		    (type != R_X86_64_GLOB_DAT && type != R_X86_64_64))
			continue;
		for (uint32_t i = self.hash[1]; i < NR_THUNKS; i++)
			if (wrappers[i] && *slot == wrappers[i]) {
				clear_reference(slot);
				break;
			}
	}
}

static void clear_references(const struct object *o, uint32_t index)
{
	const ElfW(Rela) *r = NULL;
	size_t bytes = 0;

	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			r = dynamic_address(o->base, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			bytes = d->d_un.d_val;
	}
	if (r)
		clear_in_table(o, r, bytes, index);
}

/* What is undefined comes first in a table of symbols, and has no hash. */
static void clear_weak_references(const struct object *o)
{
	for (uint32_t i = 1; o->hash && i < o->hash[1]; i++) {
		const ElfW(Sym) *s = &o->symbols[i];

		if (ELF64_ST_BIND(s->st_info) == STB_WEAK && s->st_shndx == SHN_UNDEF &&
		    group_of(o->names + s->st_name) != GROUP_NONE)
			clear_references(o, i);
	}
}

/* ---- while librtl is relocated ---- */

static void change_table(uint32_t nr)
{
	for (enum group g = GROUP_NONE + 1; g < GROUP_NR; g++) {
		bool is_loaded = is_there(group_probes[g]);

		is_settled[g] = is_loaded;
		if (is_loaded)
			settle(g, nr);
		else
			make_indirect(g, nr);
	}
}

/* Keeps in wrappers[] those that are not visible any more: what references are taken back from. */
static void note_wrappers(uint32_t nr, bool is_before)
{
	for (uint32_t i = self.hash[1]; i < nr; i++) {
		const ElfW(Sym) *s = &self.symbols[i];

		if (group_of(self.names + s->st_name) == GROUP_NONE)
			continue;
		if (is_before)
			wrappers[i] = self.base + s->st_value;
		else if (s->st_value && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
			wrappers[i] = 0;
	}
}

static void take_over(void)
{
	struct object o;
	uint32_t nr;

	if (!read_object((uintptr_t)__ehdr_start, _DYNAMIC, &self) || !self.hash)
		return;
	nr = nr_symbols();
	if (nr > NR_THUNKS ||
	    !protect(self.symbols, nr * sizeof(*self.symbols), PROT_READ | PROT_WRITE))
		return;
	note_wrappers(nr, true);
	change_table(nr);
	note_wrappers(nr, false);
	protect(self.symbols, nr * sizeof(*self.symbols), PROT_READ);
	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next)
		if (l->l_ld != _DYNAMIC && read_object(l->l_addr, l->l_ld, &o))
			clear_weak_references(&o);
}

static void note_start(void)
{
	/* relaxed: as in walk() */
	atomic_store_explicit(&is_started, true, memory_order_relaxed);
}

/* The loader calls this, as the last of librtl's relocations, for the address of the function
 * below. */
__attribute__((used)) static void (*resolve_start(void))(void)
{
	take_over();
	return note_start;
}

static void relocated_start(void) __attribute__((ifunc("resolve_start")));

void visible_start(void)
{
	relocated_start();
}

#else
void visible_start(void)
{
}
#endif
