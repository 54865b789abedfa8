/* SPDX-License-Identifier: MIT */
/* arg_memory.h - librocprofiler-sdk: reads what arguments point to, which may be anything */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_ARG_MEMORY_H
#define RTL_LIB_LIBROCPROFILER_SDK_ARG_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Copies what can be read of so many bytes. Returns how many. No system call for this thread's
 * stack and the program's constants. Any thread. */
size_t arg_memory_read(void *to, const void *from, size_t size);
/* The same up to a zero, which is not counted, for `size` bytes at most. 0: nothing can be read, or
 * nothing is there: *is_readable says which. */
size_t arg_memory_read_text(char *to, const char *from, size_t size, bool *is_readable);

#endif
