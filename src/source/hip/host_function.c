/* SPDX-License-Identifier: MIT */
/* host_function.c - notes __hipRegisterFunction() while a face wants to know, and calls the runtime's
 *
 * Owns:     the functions, which are never freed.
 * Threads:  any; also before librtl's constructor.
 * Fails:    without memory a function is not noted. Without a runtime behind librtl's symbol nothing is registered.
 */
#include "source/hip/host_function.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "source/hip/frame.h"
#include "source/hip/lookup.h"

#define NAME "__hipRegisterFunction"
#define NR_BUCKETS 4096u

/* As the compiler calls it; the triples and `workgroup_size` may be NULL. */
typedef void (*register_fn)(void **modules, const void *function, char *device_function,
			    const char *name, unsigned int thread_limit, const uint32_t *thread_ids,
			    const uint32_t *block_ids, const uint32_t *block_dims,
			    const uint32_t *grid_dims, const int *workgroup_size);

static _Atomic(struct host_function *) buckets[NR_BUCKETS];
static _Atomic bool is_kept;
static _Atomic(register_fn) behind_symbol, behind_entry;
/* the runtime's function may call the entry of its table */
static _Thread_local unsigned int depth;

EXPORT void __hipRegisterFunction(void **modules, const void *function, char *device_function,
				  const char *name, unsigned int thread_limit,
				  const uint32_t *thread_ids, const uint32_t *block_ids,
				  const uint32_t *block_dims, const uint32_t *grid_dims,
				  const int *workgroup_size);

void host_function_keep(void)
{
	/* relaxed: registrations at the same time are kept or not */
	atomic_store_explicit(&is_kept, true, memory_order_relaxed);
}

static _Atomic(struct host_function *) *bucket_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &buckets[hash % NR_BUCKETS];
}

const struct host_function *host_function_find(const char *name, const struct host_function *after)
{
	/* acquire: pairs with publish() */
	const struct host_function *f =
		after ? after->next :
			atomic_load_explicit(bucket_of(name), memory_order_acquire);

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	return f;
}

static void publish(struct host_function *f)
{
	_Atomic(struct host_function *) *bucket = bucket_of(f->name);

	f->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* release: pairs with host_function_find() */
	while (!atomic_compare_exchange_weak_explicit(bucket, &f->next, f, memory_order_release,
						      memory_order_relaxed))
		;
}

static void copy3(uint32_t to[3], const uint32_t *from)
{
	if (from)
		memcpy(to, from, 3 * sizeof(*to));
}

static void call(register_fn real, void **modules, const void *function, char *device_function,
		 const char *name, unsigned int thread_limit, const uint32_t *thread_ids,
		 const uint32_t *block_ids, const uint32_t *block_dims, const uint32_t *grid_dims,
		 const int *workgroup_size)
{
	bool is_noted = !depth && name && atomic_load_explicit(&is_kept, memory_order_relaxed);
	struct host_function *f =
		is_noted ? calloc(1, sizeof(*f) + strlen(name) + 1) : NULL;

	depth++;
	real(modules, function, device_function, name, thread_limit, thread_ids, block_ids,
	     block_dims, grid_dims, workgroup_size);
	depth--;
	if (!f)
		return;
	f->function = function;
	f->modules = modules;
	f->thread_limit = thread_limit;
	copy3(f->thread_ids, thread_ids);
	copy3(f->block_ids, block_ids);
	copy3(f->block_dims, block_dims);
	copy3(f->grid_dims, grid_dims);
	f->workgroup_size = workgroup_size ? (uint32_t)*workgroup_size : 0;
	memcpy(f->name, name, strlen(name) + 1);
	publish(f);
}

/* The runtime's function is not kept loaded by this, nor asked for its release: that is left to the first call of HIP. */
static register_fn find_real(void)
{
	register_fn real = atomic_load_explicit(&behind_symbol, memory_order_relaxed);
	void *fn = NULL;

	if (real)
		return real;
	if (!lookup_next)
		lookup_find();
	if (lookup_next)
		fn = lookup_libc()(RTLD_NEXT, NAME);
	if (!fn || hip_is_ours(fn)) {
		dlerror();
		fn = hip_find(NAME);
	}
	/* relaxed: all threads find the same one */
	atomic_store_explicit(&behind_symbol, (register_fn)fn, memory_order_relaxed);
	return (register_fn)fn;
}

void __hipRegisterFunction(void **modules, const void *function, char *device_function,
			   const char *name, unsigned int thread_limit, const uint32_t *thread_ids,
			   const uint32_t *block_ids, const uint32_t *block_dims,
			   const uint32_t *grid_dims, const int *workgroup_size)
{
	register_fn real = find_real();

	if (real)
		call(real, modules, function, device_function, name, thread_limit, thread_ids,
		     block_ids, block_dims, grid_dims, workgroup_size);
}

static void from_table(void **modules, const void *function, char *device_function,
		       const char *name, unsigned int thread_limit, const uint32_t *thread_ids,
		       const uint32_t *block_ids, const uint32_t *block_dims,
		       const uint32_t *grid_dims, const int *workgroup_size)
{
	call(atomic_load_explicit(&behind_entry, memory_order_acquire), modules, function,
	     device_function, name, thread_limit, thread_ids, block_ids, block_dims, grid_dims,
	     workgroup_size);
}

void host_function_take(_Atomic(void *) *entry)
{
	void *real = atomic_load_explicit(entry, memory_order_relaxed);

	if (!real || real == (void *)from_table)
		return;
	/* release, both: from_table() finds what to call */
	atomic_store_explicit(&behind_entry, (register_fn)real, memory_order_release);
	atomic_store_explicit(entry, (void *)from_table, memory_order_release);
}
