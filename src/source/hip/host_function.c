/* SPDX-License-Identifier: MIT */
/* host_function.c - passes __hipRegisterFunction() on, and what was registered to faces
 *
 * Owns:     the runtime's functions behind librtl's.
 * Threads:  any; also before librtl's constructor.
 * Fails:    without a runtime behind librtl's symbol nothing is registered.
 */
#include "source/hip/host_function.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/compiler.h"
#include "source/hip/frame.h"
#include "source/hip/lookup.h"

#define NAME "__hipRegisterFunction"

typedef void (*register_fn)(void **modules, const void *function, char *device_function,
			    const char *name, unsigned int thread_limit, const uint32_t *thread_ids,
			    const uint32_t *block_ids, const uint32_t *block_dims,
			    const uint32_t *grid_dims, const int *workgroup_size);

static _Atomic host_function_fn listeners[HOST_FUNCTION_LISTENERS];
static _Atomic(register_fn) behind_symbol, behind_entry;
/* the runtime's function may call the entry of its table */
static _Thread_local unsigned int depth;

bool host_function_listen(host_function_fn fn)
{
	for (uint32_t i = 0; i < HOST_FUNCTION_LISTENERS; i++) {
		host_function_fn none = NULL;

		/* release: pairs with call() */
		if (atomic_compare_exchange_strong_explicit(&listeners[i], &none, fn,
							    memory_order_release,
							    memory_order_relaxed))
			return true;
	}
	return false;
}

static void call(register_fn real, const struct host_function *f)
{
	depth++;
	real(f->modules, f->function, f->device_function, f->name, f->thread_limit, f->thread_ids,
	     f->block_ids, f->block_dims, f->grid_dims, f->workgroup_size);
	depth--;
	if (depth || !f->name)
		return;
	for (uint32_t i = 0; i < HOST_FUNCTION_LISTENERS; i++) {
		/* acquire: pairs with host_function_listen() */
		host_function_fn fn = atomic_load_explicit(&listeners[i], memory_order_acquire);

		if (fn)
			fn(f);
	}
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

void host_function_register(const struct host_function *f)
{
	register_fn real = find_real();

	if (real)
		call(real, f);
}

static void from_table(void **modules, const void *function, char *device_function,
		       const char *name, unsigned int thread_limit, const uint32_t *thread_ids,
		       const uint32_t *block_ids, const uint32_t *block_dims,
		       const uint32_t *grid_dims, const int *workgroup_size)
{
	const struct host_function f = { modules,      function,      device_function, name,
					 thread_limit, thread_ids,    block_ids,       block_dims,
					 grid_dims,    workgroup_size };

	/* acquire: pairs with host_function_take() */
	call(atomic_load_explicit(&behind_entry, memory_order_acquire), &f);
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
