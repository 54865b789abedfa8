/* SPDX-License-Identifier: MIT */
/* host_function.h - functions of the host that stand for kernels, as the compiler's code registers
 * them
 *
 * Code of hipcc registers each kernel before main(), or when its library is loaded. The wrapper of
 * __hipRegisterFunction() shows it, in front of the runtime's symbol or in its dispatch table.
 */
#ifndef RTL_SOURCE_HIP_HOST_FUNCTION_H
#define RTL_SOURCE_HIP_HOST_FUNCTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The arguments of a registration. Texts and triples belong to the caller; the triples and
 * `workgroup_size` may be NULL. */
struct host_function {
	void **modules; /* what the fat binary's registration has returned */
	const void *function;
	char *device_function;
	const char *name; /* the kernel's, mangled */
	unsigned int thread_limit;
	const void *thread_ids, *block_ids, *block_dims, *grid_dims; /* of three uint32_t */
	const int *workgroup_size;
};

/* Calls `fn` with each registration from now on, when it is over, on its thread. For faces. false:
 * there are HOST_FUNCTION_LISTENERS. */
#define HOST_FUNCTION_LISTENERS 2u
typedef void (*host_function_fn)(const struct host_function *f);
bool host_function_listen(host_function_fn fn);

/* Around the runtime's function, by the wrapper of __hipRegisterFunction(): of a call within
 * another one, as the runtime makes it by way of its dispatch table, the listeners get nothing. */
void host_function_begin(void);
void host_function_end(const struct host_function *f);

#endif
