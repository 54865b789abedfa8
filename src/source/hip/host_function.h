/* SPDX-License-Identifier: MIT */
/* host_function.h - functions of the host that stand for kernels, as the compiler's code registers them
 *
 * Code of hipcc registers each kernel before main(), or when its library is loaded. librtl sees that by its symbol, in front of the
 * runtime's, or by the entry in the dispatch table of HIP 6 and later.
 */
#ifndef RTL_SOURCE_HIP_HOST_FUNCTION_H
#define RTL_SOURCE_HIP_HOST_FUNCTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The arguments of a registration. Texts and triples belong to the caller; the triples and `workgroup_size` may be NULL. */
struct host_function {
	void **modules; /* what the fat binary's registration has returned */
	const void *function;
	char *device_function;
	const char *name; /* the kernel's, mangled */
	unsigned int thread_limit;
	const uint32_t *thread_ids, *block_ids, *block_dims, *grid_dims;
	const int *workgroup_size;
};

/* Calls `fn` with each registration from now on, when it is over, on its thread. For faces. false: there are HOST_FUNCTION_LISTENERS. */
#define HOST_FUNCTION_LISTENERS 2u
typedef void (*host_function_fn)(const struct host_function *f);
bool host_function_listen(host_function_fn fn);

/* librtl's symbol was called: passes on to the runtime's. */
void host_function_register(const struct host_function *f);
/* The dispatch table's entry for registrations; it has librtl's function from now on. Once, while the runtime is initialised. */
void host_function_take(_Atomic(void *) *entry);

#endif
