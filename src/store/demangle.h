/* SPDX-License-Identifier: MIT */
/* demangle.h - readable kernel names: Itanium C++ demangling, ".kd" stripped */
#ifndef RTL_STORE_DEMANGLE_H
#define RTL_STORE_DEMANGLE_H

#include <stddef.h>

/* The demangled name, or a copy of the name (without ".kd") where it is not mangled; the caller frees it.
 * NULL: out of memory. */
char *demangle_dup(const char *mangled);

/* The same with ".kd", which becomes `[clone .kd]`; NULL where the name is not mangled or its demangled text is too long.
 * Time and memory are bounded for every name. */
char *demangle_whole(const char *mangled);

#endif
