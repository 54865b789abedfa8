/* SPDX-License-Identifier: MIT */
/* dynamic.h - what the readers of dynamic sections share (rebind.c, visible.c) */
#ifndef RTL_LIBRTL_DYNAMIC_H
#define RTL_LIBRTL_DYNAMIC_H

#include <stdint.h>

/* The address that an entry of a dynamic section means. The loader has added the object's base to
 * the entries, but not where it can't
 * write: objects of the kernel. An address is never below the base. Which of both is nearer to the
 * dynamic section would be no test: in a large program at a low address, as under valgrind, it may
 * be twice the base. */
static inline const void *dynamic_address(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? base + value : value);
}

#endif
