/* SPDX-License-Identifier: MIT */
/* itanium.h - LLVM's demangler, as a function of C that takes all its memory from its caller */
#ifndef RTL_BASE_ITANIUM_H
#define RTL_BASE_ITANIUM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the text of a mangled name, `size` bytes, to out, with a NUL. Returns its length; 0 where
 * the name is none, or its text doesn't fit, or would take more than `work` or too many steps.
 * `work` is aligned as for malloc(). */
size_t itanium_demangle(const char *mangled, size_t size, char *out, size_t out_size, void *work,
			size_t work_size);

#ifdef __cplusplus
}
#endif

#endif
