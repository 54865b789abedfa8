/* SPDX-License-Identifier: MIT */
/* code_object.c - code objects and kernel symbols
 *
 * Owns:    a hash table from kernel object to the kernels that had this address, newest first.
 * Threads: look-ups any thread, without a lock: a symbol is published after it is filled and never
 *          removed, only marked as unloaded. Additions under `lock`.
 * Fails:   no memory for a symbol: the dispatch gets kernel id 0, and one warning is logged.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/code/code_object.h"

#include <stdio.h>
#include <string.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/str.h"
#include "event/bus.h"
#include "event/filter.h"
#include "event/registered.h"
#include "source/hsa/agent.h"
#include "source/hsa/memory/reach.h"
#include "source/hsa/table/real.h"

#define HASH_SIZE 16384u
#define BLOCK_SIZE 1024u
#define MAX_BLOCKS 4096u

struct symbol {
	/* set before publication, constant afterwards */
	uint64_t object;
	uint64_t executable;
	uint32_t id;
	uint32_t next; /* older symbol in the same bucket, index + 1 */
	uint32_t loaded;
	uint32_t kernarg_size;		   /* UINT32_MAX: not known */
	hsa_executable_symbol_t in_loader; /* handle 0: not known */
	bool is_left_out;		   /* dispatches of it, see filter.h */
	bool is_transfer;		   /* filter_is_transfer() */
	/* atomic */
	_Atomic uint32_t unloaded; /* epoch in which it was unloaded; UINT32_MAX while loaded */
	_Atomic uint32_t launches; /* code_object_launch() */
};

struct object {
	uint64_t executable;
	uint64_t load_base;
	uint32_t id;
	bool live;
};

_Atomic uint32_t code_object_epoch = 1;

static struct lock lock = LOCK_INIT(LOCK_CODE_OBJECT);
static _Atomic uint32_t bucket[HASH_SIZE];
static _Atomic(struct symbol *) block[MAX_BLOCKS];
static uint32_t nr_symbols RTL_GUARDED_BY(lock);
static struct object *objects RTL_GUARDED_BY(lock); /* allocated BLOCK_SIZE at a time */
static uint32_t nr_objects RTL_GUARDED_BY(lock);
static uint32_t objects_size RTL_GUARDED_BY(lock);
static uint32_t last_object_id RTL_GUARDED_BY(lock);
static hsa_ven_amd_loader_1_01_pfn_t loader;

static uint32_t hash(uint64_t object)
{
	return (uint32_t)((object >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % HASH_SIZE;
}

static struct symbol *symbol_at(uint32_t index)
{
	/* pairs with the release in publish() */
	struct symbol *b = atomic_load_explicit(&block[index / BLOCK_SIZE], memory_order_acquire);

	return b + index % BLOCK_SIZE;
}

static struct symbol *find(uint64_t object, uint32_t epoch)
{
	/* pairs with the release in publish(): a symbol is filled before it is in its bucket */
	uint32_t i = atomic_load_explicit(&bucket[hash(object)], memory_order_acquire);

	while (i) {
		struct symbol *s = symbol_at(i - 1);

		if (s->object == object && s->loaded <= epoch &&
		    epoch < atomic_load_explicit(&s->unloaded, memory_order_relaxed))
			return s;
		i = s->next;
	}
	return NULL;
}

/* The epochs in which an address may be one kernel. */
struct span {
	uint32_t loaded, unloaded;
};

/* The span around `epoch` in which no executable announced `object`. It makes the symbols of an
 * address disjoint, in any order of publication. */
RTL_REQUIRES(lock) static struct span unknown_span(uint64_t object, uint32_t epoch)
{
	struct span span = { 0, UINT32_MAX };
	uint32_t i = atomic_load_explicit(&bucket[hash(object)], memory_order_relaxed);

	while (i) {
		struct symbol *s = symbol_at(i - 1);
		uint32_t end = atomic_load_explicit(&s->unloaded, memory_order_relaxed);

		if (s->object == object && end <= epoch && end > span.loaded)
			span.loaded = end;
		if (s->object == object && s->loaded > epoch && s->loaded < span.unloaded)
			span.unloaded = s->loaded;
		i = s->next;
	}
	return span;
}

/* An executable announces `object` in `epoch`: ends its symbol of an unknown kernel. */
RTL_REQUIRES(lock) static void end_unknown(uint64_t object, uint32_t epoch)
{
	uint32_t i = atomic_load_explicit(&bucket[hash(object)], memory_order_relaxed);

	while (i) {
		struct symbol *s = symbol_at(i - 1);

		if (s->object == object && s->executable == 0 &&
		    atomic_load_explicit(&s->unloaded, memory_order_relaxed) > epoch)
			atomic_store_explicit(&s->unloaded, epoch, memory_order_relaxed);
		i = s->next;
	}
}

/* NULL: out of memory. */
RTL_REQUIRES(lock)
static struct symbol *publish(uint64_t object, uint64_t executable, struct span span,
			      uint32_t kernarg_size, bool is_left_out, bool is_transfer)
{
	uint32_t b = nr_symbols / BLOCK_SIZE;
	struct symbol *s;

	if (b == MAX_BLOCKS)
		return NULL;
	if (nr_symbols % BLOCK_SIZE == 0) {
		s = alloc_pages(BLOCK_SIZE * sizeof(*s));
		if (!s)
			return NULL;
		atomic_store_explicit(&block[b], s, memory_order_release);
	}
	s = symbol_at(nr_symbols);
	s->object = object;
	s->executable = executable;
	s->id = nr_symbols + 1;
	s->loaded = span.loaded;
	s->kernarg_size = kernarg_size;
	s->in_loader.handle = 0;
	s->is_left_out = is_left_out;
	s->is_transfer = is_transfer;
	atomic_store_explicit(&s->unloaded, span.unloaded, memory_order_relaxed);
	s->next = atomic_load_explicit(&bucket[hash(object)], memory_order_relaxed);
	nr_symbols++;
	/* pairs with the acquire in find() */
	atomic_store_explicit(&bucket[hash(object)], nr_symbols, memory_order_release);
	return s;
}

static void emit_unknown(uint32_t id, uint64_t object, uint32_t agent, bool internal)
{
	struct event ev = { .kind = EVENT_KERNEL };
	char name[64];

	snprintf(name, sizeof(name), internal ? "[runtime kernel 0x%llx]" : "[kernel 0x%llx]",
		 (unsigned long long)object);
	ev.kernel.id = id;
	ev.kernel.object = object;
	ev.kernel.agent = agent;
	ev.kernel.name = bus_string(name, SIZE_MAX);
	bus_emit(&ev);
}

uint32_t code_object_mark(void)
{
	return atomic_fetch_add_explicit(&code_object_epoch, 1, memory_order_relaxed) + 1;
}

uint32_t code_object_kernel(uint64_t object, uint32_t epoch, uint32_t agent, bool internal)
{
	struct symbol *s = find(object, epoch);
	bool made = false;

	if (s)
		return s->id;
	lock_take(&lock);
	s = find(object, epoch);
	if (!s) {
		s = publish(object, 0, unknown_span(object, epoch), UINT32_MAX,
			    filter_leaves_out_kernel(NULL), false);
		made = s != NULL;
	}
	lock_drop(&lock);
	if (!s) {
		log_warn("kernel 0x%llx: no memory for its symbol; dispatches of it have no name",
			 (unsigned long long)object);
		return 0;
	}
	if (made)
		emit_unknown(s->id, object, agent, internal);
	return s->id;
}

bool code_object_is_left_out(uint64_t object)
{
	const struct symbol *s = find(object, code_object_now());

	return s ? s->is_left_out && !s->is_transfer : filter_leaves_out_kernel(NULL);
}

bool code_object_is_not_counted(uint64_t object)
{
	const struct symbol *s = find(object, code_object_now());

	return s ? s->is_left_out : filter_leaves_out_kernel(NULL);
}

uint32_t code_object_launch(uint64_t object, uint32_t agent)
{
	uint32_t id = code_object_kernel(object, code_object_now(), agent, false);

	/* relaxed: launches of two threads are in no order */
	return id ? atomic_fetch_add_explicit(&symbol_at(id - 1)->launches, 1,
					      memory_order_relaxed) +
			       1 :
		    0;
}

uint32_t code_object_kernarg_size(uint64_t object)
{
	const struct symbol *s = find(object, code_object_now());

	return s ? s->kernarg_size : UINT32_MAX;
}

void code_object_name(uint64_t object, char *name, size_t size)
{
	const struct symbol *s = find(object, code_object_now());
	uint32_t length = 0;

	snprintf(name, size, "0x%llx", (unsigned long long)object);
	if (!s || !s->in_loader.handle)
		return;
	real.hsa_executable_symbol_get_info(s->in_loader, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH,
					    &length);
	if (length >= size)
		return;
	real.hsa_executable_symbol_get_info(s->in_loader, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
	name[length] = '\0';
	if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
		name[length - 3] = '\0';
}

struct freeze {
	hsa_executable_t executable;
	uint32_t epoch;
	uint32_t code_object; /* the last one of this executable */
	uint32_t agent[16], id[16], nr;
};

static uint64_t object_info(hsa_loaded_code_object_t o, uint32_t what)
{
	uint64_t v = 0;

	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		o, (hsa_ven_amd_loader_loaded_code_object_info_t)what, &v);
	return v;
}

/* Where the file was loaded from, for faces. */
static void describe_storage(hsa_loaded_code_object_t o, struct event_code_object *e)
{
	uint32_t storage = 0;
	int file = -1;

	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE, &storage);
	e->storage = storage;
	if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE) {
		loader.hsa_ven_amd_loader_loaded_code_object_get_info(
			o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE,
			&file);
		e->memory_base = (uint64_t)(int64_t)file;
		return;
	}
	e->memory_base = object_info(
		o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE);
	e->memory_size = object_info(
		o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE);
}

RTL_REQUIRES(lock)
static hsa_status_t on_object(hsa_executable_t ex, hsa_loaded_code_object_t o, void *data)
{
	struct freeze *f = data;
	struct event ev = { .kind = EVENT_CODE_OBJECT };
	hsa_agent_t agent = { .handle = 0 };
	uint32_t length = 0;
	char uri[2048] = "";

	if (nr_objects == objects_size) {
		struct object *more = alloc_pages((objects_size + BLOCK_SIZE) * sizeof(*more));

		if (!more)
			return HSA_STATUS_SUCCESS;
		if (nr_objects)
			memcpy(more, objects, nr_objects * sizeof(*more));
		alloc_pages_free(objects, objects_size * sizeof(*objects));
		objects = more;
		objects_size += BLOCK_SIZE;
	}
	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT, &agent);
	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &length);
	if (length && length < sizeof(uri))
		loader.hsa_ven_amd_loader_loaded_code_object_get_info(
			o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
	ev.code_object.id = ++last_object_id;
	ev.code_object.agent = agent_index(agent);
	ev.code_object.uri = bus_string(uri, length < sizeof(uri) ? length : 0);
	ev.code_object.load_base =
		object_info(o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE);
	ev.code_object.load_size =
		object_info(o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE);
	ev.code_object.load_delta =
		object_info(o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA);
	ev.code_object.time_ns = clock_now_ns();
	ev.code_object.executable = ex.handle;
	describe_storage(o, &ev.code_object);
	bus_emit(&ev);
	objects[nr_objects++] = (struct object){ .executable = ex.handle,
						 .load_base = ev.code_object.load_base,
						 .id = last_object_id,
						 .live = true };
	reach_add_code(ev.code_object.agent, ev.code_object.load_base, ev.code_object.load_size);
	if (f->nr < 16) {
		f->agent[f->nr] = ev.code_object.agent;
		f->id[f->nr++] = last_object_id;
	}
	return HSA_STATUS_SUCCESS;
}

static uint32_t symbol_u32(hsa_executable_symbol_t s, uint32_t what)
{
	uint32_t v = 0;

	real.hsa_executable_symbol_get_info(s, (hsa_executable_symbol_info_t)what, &v);
	return v;
}

/* Reads register and LDS use from the host's copy of the kernel descriptor. */
static void read_descriptor(struct event_kernel *k)
{
	const void *host = NULL;
	uint32_t word[15]; /* the host's copy may be unaligned */

	if (!loader.hsa_ven_amd_loader_query_host_address ||
	    loader.hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)k->object,
							 &host) != HSA_STATUS_SUCCESS ||
	    !host)
		return;
	memcpy(word, host, sizeof(word));
	/* The v3 descriptor and the older amd_kernel_code_t have rsrc1 and rsrc2 at the same
	 * offset; rsrc3 precedes them in v3 only. The older one begins with its version, 1. */
	k->rsrc1 = word[12];
	k->rsrc2 = word[13];
	if (word[0] == 1)
		return;
	k->rsrc3 = word[11];
	memcpy(&k->entry_offset, &word[4], sizeof(k->entry_offset));
	k->properties = word[14] & 0xffff;
}

/* A string id: their addresses in decimal, with commas. */
static uint32_t function_list(const uint64_t *functions, size_t nr)
{
	/* 20 digits and a comma each */
	size_t size = nr * 21 + 1;
	char few[8 * 21 + 1], *text = size <= sizeof(few) ? few : alloc_pages(size);
	struct str s;
	uint32_t id;

	if (!text)
		return 0;
	str_init(&s, text, size);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			str_add(&s, ",");
		str_add_uint(&s, functions[i]);
	}
	id = bus_string(text, SIZE_MAX);
	if (text != few)
		alloc_pages_free(text, size);
	return id;
}

/* A string id: the functions of the host that stand for the kernel with this name. A kernel of a
 * header has one in each library that uses it. */
static uint32_t host_functions_of(const char *name, uint32_t length)
{
	uint64_t few[8], *functions = few;
	size_t max = sizeof(few) / sizeof(few[0]), nr;
	uint32_t id = 0;

	/* the name of the descriptor */
	if (length > 3 && memcmp(name + length - 3, ".kd", 3) == 0)
		length -= 3;
	nr = registered_find(name, length, few, max);
	if (nr > max) {
		functions = alloc_pages(nr * sizeof(*functions));
		if (!functions)
			return 0;
		max = nr;
		/* more may have been registered meanwhile; they are of code that loads later */
		nr = registered_find(name, length, functions, max);
		nr = nr < max ? nr : max;
	}
	if (nr)
		id = function_list(functions, nr);
	if (functions != few)
		alloc_pages_free(functions, max * sizeof(*functions));
	return id;
}

RTL_REQUIRES(lock)
static hsa_status_t on_symbol(hsa_executable_t ex, hsa_executable_symbol_t sym, void *data)
{
	struct freeze *f = data;
	struct event ev = { .kind = EVENT_KERNEL };
	hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
	hsa_agent_t agent = { .handle = 0 };
	char name[16384];
	struct symbol *s;
	bool is_left_out, is_transfer = false;
	uint32_t length;

	real.hsa_executable_symbol_get_info(sym, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
	if (kind != HSA_SYMBOL_KIND_KERNEL)
		return HSA_STATUS_SUCCESS;
	real.hsa_executable_symbol_get_info(sym, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					    &ev.kernel.object);
	real.hsa_executable_symbol_get_info(sym, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, &agent);
	length = symbol_u32(sym, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH);
	if (length >= sizeof(name)) {
		char *big = alloc_pages(length + 1);

		if (big)
			real.hsa_executable_symbol_get_info(sym, HSA_EXECUTABLE_SYMBOL_INFO_NAME,
							    big);
		ev.kernel.name = bus_string(big, length);
		ev.kernel.host_functions = big ? host_functions_of(big, length) : 0;
		is_left_out = filter_leaves_out_kernel(big);
		alloc_pages_free(big, length + 1);
	} else {
		real.hsa_executable_symbol_get_info(sym, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
		ev.kernel.name = bus_string(name, length);
		ev.kernel.host_functions = host_functions_of(name, length);
		name[length] = '\0';
		is_left_out = filter_leaves_out_kernel(name);
		is_transfer = filter_is_transfer(name);
	}
	end_unknown(ev.kernel.object, f->epoch);
	ev.kernel.kernarg_size =
		symbol_u32(sym, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE);
	s = publish(ev.kernel.object, ex.handle, (struct span){ f->epoch, UINT32_MAX },
		    ev.kernel.kernarg_size, is_left_out, is_transfer);
	if (!s) {
		log_warn("kernel symbols: over the limit; later kernels have no name");
		return HSA_STATUS_SUCCESS;
	}
	s->in_loader = sym;
	ev.kernel.id = s->id;
	ev.kernel.agent = agent_index(agent);
	for (uint32_t i = 0; i < f->nr; i++)
		if (f->agent[i] == ev.kernel.agent)
			ev.kernel.code_object = f->id[i];
	ev.kernel.group_size =
		symbol_u32(sym, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE);
	ev.kernel.private_size =
		symbol_u32(sym, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE);
	ev.kernel.kernarg_align =
		symbol_u32(sym, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT);
	read_descriptor(&ev.kernel);
	bus_emit(&ev);
	return HSA_STATUS_SUCCESS;
}

void code_object_load(hsa_executable_t executable)
{
	struct freeze f = { .executable = executable };

	lock_take(&lock);
	f.epoch = atomic_fetch_add_explicit(&code_object_epoch, 1, memory_order_relaxed) + 1;
	if (loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects)
		loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable,
										 on_object, &f);
	if (real.hsa_executable_iterate_symbols && real.hsa_executable_symbol_get_info)
		real.hsa_executable_iterate_symbols(executable, on_symbol, &f);
	lock_drop(&lock);
}

/* executable 0: all executables. */
RTL_REQUIRES(lock) static void unload(uint64_t executable)
{
	uint32_t epoch = atomic_fetch_add_explicit(&code_object_epoch, 1, memory_order_relaxed) + 1;

	for (uint32_t i = 0; i < nr_symbols; i++) {
		struct symbol *s = symbol_at(i);

		if ((executable == 0 || s->executable == executable) &&
		    atomic_load_explicit(&s->unloaded, memory_order_relaxed) == UINT32_MAX)
			atomic_store_explicit(&s->unloaded, epoch, memory_order_relaxed);
	}
	for (uint32_t i = 0; i < nr_objects; i++) {
		struct event ev = { .kind = EVENT_CODE_OBJECT_END };

		if (!objects[i].live || (executable && objects[i].executable != executable))
			continue;
		objects[i].live = false;
		reach_remove_code(objects[i].load_base);
		ev.end.id = objects[i].id;
		ev.end.time_ns = clock_now_ns();
		bus_emit(&ev);
	}
	while (nr_objects && !objects[nr_objects - 1].live)
		nr_objects--;
}

void code_object_unload(hsa_executable_t executable)
{
	reach_settle();
	lock_take(&lock);
	unload(executable.handle);
	lock_drop(&lock);
}

void code_object_init(void)
{
	memset(&loader, 0, sizeof(loader));
	if (!real.hsa_system_get_major_extension_table ||
	    real.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader),
						      &loader) != HSA_STATUS_SUCCESS)
		memset(&loader, 0, sizeof(loader));
}

void code_object_reset(void)
{
	lock_take(&lock);
	unload(0);
	lock_drop(&lock);
}
