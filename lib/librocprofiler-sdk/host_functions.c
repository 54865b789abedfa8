/* SPDX-License-Identifier: MIT */
/* host_functions.c - librocprofiler-sdk: what the compiler's code registers for kernels
 *
 * Owns:     the functions, by the names of their kernels; never freed.
 * Threads:  any.
 * Fails:    without memory a function is not noted.
 */
#include "base/alloc.h"
#include "host_functions.h"

#include <stdlib.h>
#include <string.h>

#define NR_BUCKETS 4096u

static _Atomic(struct sdk_host_function *) buckets[NR_BUCKETS];

static _Atomic(struct sdk_host_function *) *bucket_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &buckets[hash % NR_BUCKETS];
}

const struct sdk_host_function *host_functions_find(const char *name,
						    const struct sdk_host_function *after)
{
	/* acquire: pairs with publish() */
	const struct sdk_host_function *f =
		after ? after->next : atomic_load_explicit(bucket_of(name), memory_order_acquire);

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	return f;
}

static void publish(struct sdk_host_function *f)
{
	_Atomic(struct sdk_host_function *) *bucket = bucket_of(f->name);

	f->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* release: pairs with host_functions_find() */
	while (!atomic_compare_exchange_weak_explicit(bucket, &f->next, f, memory_order_release,
						      memory_order_relaxed))
		;
}

static rocprofiler_dim3_t dim3_of(const void *at)
{
	const uint32_t *v = at;

	return v ? (rocprofiler_dim3_t){ v[0], v[1], v[2] } : (rocprofiler_dim3_t){ 0 };
}

static void on_registered(const struct host_function *from)
{
	size_t size = strlen(from->name) + 1;
	struct sdk_host_function *f = alloc_heap(sizeof(*f) + size);

	if (!f)
		return;
	f->function = (uintptr_t)from->function;
	f->modules = (uintptr_t)from->modules;
	f->thread_limit = from->thread_limit;
	f->thread_ids = dim3_of(from->thread_ids);
	f->block_ids = dim3_of(from->block_ids);
	f->block_dims = dim3_of(from->block_dims);
	f->grid_dims = dim3_of(from->grid_dims);
	f->workgroup_size = from->workgroup_size ? (uint32_t)*from->workgroup_size : 0;
	memcpy(f->name, from->name, size);
	publish(f);
}

void host_functions_listen(const struct rtl_core *core)
{
	/* 0.x has no use for them */
	if (ROCPROFILER_SDK_ABI > 0)
		core->host_function_listen(on_registered);
}
