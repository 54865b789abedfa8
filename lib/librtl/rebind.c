/* SPDX-License-Identifier: MIT */
/* rebind.c - makes references that the loader has bound past librtl refer to librtl's functions
 *
 * A reference is a slot of memory: of the global offset table (each object has its own), or of its
 * data. One that is bound has the address of the runtime's function. One that will be bound at its
 * first call points into its own object; then the first object that has the name tells where the
 * loader would bind it.
 *
 * A reference to a function of anyone else's stays as it is: the program's own, an interposer's,
 * that of a library which needs librtl.
 *
 * Threads:  the one that runs the constructor; others may call through the slots meanwhile.
 * Locks:    the loader's, in which the objects can't go away.
 * Fails:    without memory, or where pages can't be made writable: references stay as they are,
 *           with a message.
 * Not here: references of objects that are loaded later. Those of a program that has librtl from
 * its start find it first.
 */
#define LOG_TOPIC "entry"
#include "rebind.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/log.h"
#include "dynamic.h"

static _Atomic bool is_done;

bool rebind_is_done(void)
{
	/* relaxed: set before the program's own code runs */
	return atomic_load_explicit(&is_done, memory_order_relaxed);
}

#if defined(__x86_64__)

/* beyond that no list of objects is believed */
#define MAX_OBJECTS 65536u
/* several versions of one may be loaded */
#define MAX_RUNTIMES 32u

struct object {
	uintptr_t base, first, last; /* last: the first address behind it */
	uintptr_t relro, relro_end;  /* whole pages that the loader has made read-only */
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const Elf64_Rela *relocs, *jumps;
	size_t nr_relocs, nr_jumps;
	bool is_runtime; /* its functions are those that librtl's stand for */
	bool is_ours;	 /* librtl, or it needs librtl */
	bool needs_librtl;
	bool is_writable;
};

struct objects {
	struct object *items;
	size_t nr, size;
	const struct object *own;
	const struct object *runtimes[MAX_RUNTIMES];
	size_t nr_runtimes;
	uint64_t nr_rebound, nr_failed;
	uint32_t nr_faces, nr_others; /* objects that need librtl */
	bool unless_faces;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool is_runtime_name(const char *name)
{
	static const char *const names[] = { "libamdhip64.so",	    "libhiprtc.so",
					     "libhsa-runtime64.so", "librccl.so",
					     "libroctx64.so",	    "librocprofiler-sdk-roctx.so" };

	return is_one_of(name, names, sizeof(names) / sizeof(*names));
}

static bool is_face_name(const char *name)
{
	static const char *const names[] = { "libroctx64.so", "libroctracer64.so",
					     "librocprofiler64.so", "librocprofiler-sdk.so",
					     "librocprofiler-sdk-roctx.so" };

	return is_one_of(name, names, sizeof(names) / sizeof(*names));
}

static void note_segment(struct object *o, const Elf64_Phdr *p)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = o->base + p->p_vaddr;
	uintptr_t to = from + p->p_memsz;

	if (p->p_type == PT_LOAD) {
		if (!o->first || from < o->first)
			o->first = from;
		if (to > o->last)
			o->last = to;
	} else if (p->p_type == PT_GNU_RELRO) {
		/* as the loader rounds */
		o->relro = from & ~(page - 1);
		o->relro_end = to & ~(page - 1);
	}
}

static void note_dynamic(struct object *o, const Elf64_Dyn *first)
{
	for (const Elf64_Dyn *d = first; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = dynamic_address(o->base, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->strings = dynamic_address(o->base, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			o->gnu_hash = dynamic_address(o->base, d->d_un.d_ptr);
			break;
		case DT_RELA:
			o->relocs = dynamic_address(o->base, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			o->nr_relocs = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_JMPREL:
			o->jumps = dynamic_address(o->base, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			o->nr_jumps = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		default:
			break;
		}
	}
	if (!o->strings)
		return;
	for (const Elf64_Dyn *d = first; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED &&
		    strncmp(o->strings + d->d_un.d_val, "librtl.so", strlen("librtl.so")) == 0)
			o->is_ours = o->needs_librtl = true;
}

static int count_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	((struct objects *)arg)->size++;
	return 0;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct objects *all = arg;
	struct object *o = &all->items[all->nr];
	const Elf64_Dyn *dynamic = NULL;

	(void)size;
	if (all->nr == all->size)
		return 1;
	memset(o, 0, sizeof(*o));
	o->base = info->dlpi_addr;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
		note_segment(o, &info->dlpi_phdr[i]);
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(o->base + info->dlpi_phdr[i].p_vaddr);
	}
	if (!dynamic)
		return 0;
	note_dynamic(o, dynamic);
	if ((uintptr_t)rebind_all >= o->first && (uintptr_t)rebind_all < o->last) {
		o->is_ours = true;
		all->own = o;
	}
	o->is_runtime = !o->is_ours && is_runtime_name(base_name(info->dlpi_name));
	if (o->needs_librtl && is_face_name(base_name(info->dlpi_name)))
		all->nr_faces++;
	else if (o->needs_librtl)
		all->nr_others++;
	all->nr++;
	return 0;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

/* The address of the function of that name that the object has, or 0. */
static uintptr_t find(const struct object *o, const char *name, uint32_t hash)
{
	const uint32_t *header = o->gnu_hash, *buckets, *chain;
	const uint64_t *bloom;
	uint64_t word;
	uint32_t i;

	if (!header || !o->symbols || !o->strings || !header[0] || !header[2])
		return 0;
	bloom = (const void *)(header + 4);
	buckets = (const void *)(bloom + header[2]);
	chain = buckets + header[0];
	word = bloom[hash / 64 % header[2]];
	if (!(word >> hash % 64 & word >> (hash >> header[3]) % 64 & 1))
		return 0;
	i = buckets[hash % header[0]];
	if (i < header[1])
		return 0;
	for (;; i++) {
		uint32_t of = chain[i - header[1]];
		const Elf64_Sym *s = &o->symbols[i];

		if ((of | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF && s->st_value &&
		    ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
		    strcmp(o->strings + s->st_name, name) == 0)
			return o->base + s->st_value;
		if (of & 1)
			return 0;
	}
}

static bool is_within(const struct object *o, uintptr_t address)
{
	return address >= o->first && address < o->last;
}

/* Whether the address is one of a runtime's. What a runtime calls of its own is not the
 * program's. */
static bool is_runtimes(const struct objects *all, const struct object *o, uintptr_t address)
{
	for (size_t i = 0; i < all->nr_runtimes; i++)
		if (all->runtimes[i] != o && is_within(all->runtimes[i], address))
			return true;
	return false;
}

/* Whether the loader will bind the name to a function of a runtime. */
static bool is_found_in_runtime(const struct objects *all, const struct object *o, const char *name,
				uint32_t hash)
{
	/* objects are listed in the order in which the loader searches the program's */
	for (size_t i = 0; i < all->nr; i++)
		if (find(&all->items[i], name, hash))
			return all->items[i].is_runtime && &all->items[i] != o;
	return false;
}

/* 0, or -errno. */
static int make_writable(struct object *o, uintptr_t address)
{
	if (o->is_writable || address < o->relro || address >= o->relro_end)
		return 0;
	if (mprotect((void *)o->relro, o->relro_end - o->relro, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	o->is_writable = true;
	return 0;
}

/* Large libraries have references by the 100 000, few of them to a runtime: their values are looked
 * at first. */
static void rebind_slot(struct objects *all, struct object *o, const Elf64_Rela *r)
{
	const Elf64_Sym *s = &o->symbols[ELF64_R_SYM(r->r_info)];
	const char *name = o->strings + s->st_name;
	_Atomic uintptr_t *slot = (void *)(o->base + r->r_offset);
	uintptr_t value = atomic_load_explicit(slot, memory_order_relaxed), own;
	bool is_bound = is_runtimes(all, o, value);
	uint32_t hash;
	int err;

	if (!is_bound && (ELF64_R_TYPE(r->r_info) != R_X86_64_JUMP_SLOT || !is_within(o, value)))
		return;
	hash = hash_of(name);
	own = find(all->own, name, hash);
	if (!own || s->st_shndx != SHN_UNDEF ||
	    (!is_bound && !is_found_in_runtime(all, o, name, hash)))
		return;
	err = make_writable(o, (uintptr_t)slot);
	if (err < 0) {
		if (!all->nr_failed++)
			log_warn(
				"%s: the program's calls pass librtl, whose references can't be changed: %s; preload librtl.so.1",
				name, strerror(-err));
		return;
	}
	/* relaxed: whichever of the two functions another thread finds is right */
	atomic_store_explicit(slot, own, memory_order_relaxed);
	all->nr_rebound++;
}

static void rebind_list(struct objects *all, struct object *o, const Elf64_Rela *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t type = ELF64_R_TYPE(list[i].r_info);

		if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		    (type == R_X86_64_64 && !list[i].r_addend && ELF64_R_SYM(list[i].r_info)))
			rebind_slot(all, o, &list[i]);
	}
}

static void rebind_object(struct objects *all, struct object *o)
{
	if (o->is_ours || !o->symbols || !o->strings)
		return;
	if (o->jumps)
		rebind_list(all, o, o->jumps, o->nr_jumps);
	if (o->relocs)
		rebind_list(all, o, o->relocs, o->nr_relocs);
	if (o->is_writable)
		mprotect((void *)o->relro, o->relro_end - o->relro, PROT_READ);
}

static void list_runtimes(struct objects *all)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->items[i].is_runtime && all->nr_runtimes < MAX_RUNTIMES)
			all->runtimes[all->nr_runtimes++] = &all->items[i];
}

/* A forked child's copy of librtl is not searched, and what it stands for is found by the first. */
static bool is_first_librtl(const struct objects *all)
{
	for (size_t i = 0; i < all->nr; i++)
		if (find(&all->items[i], "rtl_core_get", hash_of("rtl_core_get")))
			return &all->items[i] == all->own;
	return false;
}

static void rebind_objects(struct objects *all)
{
	list_runtimes(all);
	if (!all->own || !all->nr_runtimes || !is_first_librtl(all))
		return;
	for (size_t i = 0; i < all->nr; i++)
		rebind_object(all, &all->items[i]);
	atomic_store_explicit(&is_done, !all->nr_failed, memory_order_relaxed);
}

/* Called once, for the program itself: the loader keeps its lock until this returns. */
static int rebind_locked(struct dl_phdr_info *info, size_t size, void *arg)
{
	/* how many objects had been loaded, ever, at the last time; of one thread, by the loader's
	 * lock */
	static unsigned long long nr_seen;
	struct objects *all = arg;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) && info->dlpi_adds == nr_seen)
		return 1;
	dl_iterate_phdr(count_object, all);
	if (all->size > MAX_OBJECTS)
		return 1;
	all->items = alloc_pages(all->size * sizeof(*all->items));
	if (!all->items) {
		log_warn(
			"no memory to find the program's references to HIP and HSA; preload librtl.so.1");
		return 1;
	}
	dl_iterate_phdr(note_object, all);
	if (!all->unless_faces || !all->nr_faces || all->nr_others) {
		nr_seen = info->dlpi_adds;
		rebind_objects(all);
	}
	alloc_pages_free(all->items, all->size * sizeof(*all->items));
	return 1;
}

static void rebind(bool unless_faces)
{
	struct objects all = { .unless_faces = unless_faces };
	int saved = errno;

	dl_iterate_phdr(rebind_locked, &all);
	if (all.nr_rebound)
		log_info("%llu references to functions of ROCm refer to librtl's now",
			 (unsigned long long)all.nr_rebound);
	errno = saved;
}

void rebind_all(void)
{
	rebind(false);
}

void rebind_unless_faces(void)
{
	rebind(true);
}

#else

void rebind_unless_faces(void)
{
}

void rebind_all(void)
{
}

#endif
