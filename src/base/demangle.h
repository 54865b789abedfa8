/* SPDX-License-Identifier: MIT */
/* demangle.h - readable kernel names: Itanium C++ demangling, ".kd" stripped
 *
 * Every name that is shown and every name that is compared with an expression is made here, so that
 * --kernels selects by the names that users see. A readable name identifies nothing: two kernels
 * may have the same. Time, memory and stack (40 KiB) are bounded for every name: one that takes
 * more stays mangled.
 */
#ifndef RTL_BASE_DEMANGLE_H
#define RTL_BASE_DEMANGLE_H

#include <stddef.h>

#define DEMANGLE_OUT 65536u /* the longest text, with its NUL */

/* The demangled name, or a copy of the name (without ".kd") where it is not mangled; the caller
 * frees it.
 * NULL: out of memory. */
char *demangle_dup(const char *mangled);

/* The same with ".kd", which becomes `[clone .kd]`; NULL where the name is not mangled, its
 * demangled text is too long, or out of memory. */
char *demangle_whole(const char *mangled);

/* For a traced process: uses pages, and no heap. Writes the demangled name, which has no ".kd", to
 * out (DEMANGLE_OUT bytes are always enough). Returns its length; 0 where demangle_whole() returns
 * NULL. */
size_t demangle_to(const char *mangled, char *out, size_t size);

#endif
