/* SPDX-License-Identifier: MIT */
/* registered.h - functions of the host that code of hipcc has registered for kernels, by the
 * kernels' names
 *
 * Code registers its kernels before they are loaded: HIP's side notes them, and HSA's side asks
 * when it sees the kernels of a code object. A name is kept as a hash of 64 bits alone.
 */
#ifndef RTL_EVENT_REGISTERED_H
#define RTL_EVENT_REGISTERED_H

#include <stddef.h>
#include <stdint.h>

/* `function` stands for the kernel with this name, mangled. Any thread, also before librtl's
 * constructor. Without memory, or if it is known, nothing is noted. */
void registered_add(const char *name, const void *function);

/* Stores at most `max` addresses of functions of the kernel whose name is the first `size` bytes of
 * `name`, the first registered first; returns how many there are, which may be more. Any thread. */
size_t registered_find(const char *name, size_t size, uint64_t *functions, size_t max);

#endif
