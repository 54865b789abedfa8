/* SPDX-License-Identifier: MIT */
/* host_function.c - notes what the compiler's code registers for kernels, and passes it to faces
 *
 * Owns:     the listeners.
 * Threads:  any; also before librtl's constructor.
 */
#include "source/hip/host_function.h"

#include <stddef.h>

#include "event/registered.h"

static _Atomic host_function_fn listeners[HOST_FUNCTION_LISTENERS];
/* calls of the runtime's function that run */
static _Thread_local unsigned int depth;

bool host_function_listen(host_function_fn fn)
{
	for (uint32_t i = 0; i < HOST_FUNCTION_LISTENERS; i++) {
		host_function_fn none = NULL;

		/* release: pairs with host_function_end() */
		if (atomic_compare_exchange_strong_explicit(&listeners[i], &none, fn,
							    memory_order_release,
							    memory_order_relaxed))
			return true;
	}
	return false;
}

void host_function_begin(void)
{
	depth++;
}

void host_function_end(const struct host_function *f)
{
	depth--;
	if (depth || !f->name)
		return;
	registered_add(f->name, f->function);
	for (uint32_t i = 0; i < HOST_FUNCTION_LISTENERS; i++) {
		/* acquire: pairs with host_function_listen() */
		host_function_fn fn = atomic_load_explicit(&listeners[i], memory_order_acquire);

		if (fn)
			fn(f);
	}
}
