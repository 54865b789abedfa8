/* SPDX-License-Identifier: MIT */
/* host_function.h - functions of the host that stand for kernels, as the compiler's code registers them
 *
 * Code of hipcc registers each kernel before main(), or when its library is loaded. librtl sees that by its symbol, in front of the
 * runtime's, or by the entry in the dispatch table of HIP 6 and later.
 */
#ifndef RTL_SOURCE_HIP_HOST_FUNCTION_H
#define RTL_SOURCE_HIP_HOST_FUNCTION_H

#include <stdatomic.h>
#include <stdint.h>

/* Constant, and stays for the process. */
struct host_function {
	struct host_function *next; /* host_function.c's */
	const void *function;
	void **modules; /* what the fat binary's registration has returned */
	uint32_t thread_limit;
	uint32_t thread_ids[3], block_ids[3], block_dims[3], grid_dims[3]; /* 0: not given */
	uint32_t workgroup_size;
	char name[]; /* the kernel's, mangled */
};

/* Registrations from now on are kept. */
void host_function_keep(void);
/* The newest function that was registered for the kernel, before `after` if that is not NULL. NULL: there is none. Any thread, no lock. */
const struct host_function *host_function_find(const char *name, const struct host_function *after);
/* The dispatch table's entry for registrations; it has librtl's function from now on. Once, while the runtime is initialised. */
void host_function_take(_Atomic(void *) *entry);

#endif
