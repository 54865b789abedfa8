/* SPDX-License-Identifier: MIT */
/* demangle.h - names of kernels for people: Itanium C++ demangling, ".kd" stripped */
#ifndef RTL_STORE_DEMANGLE_H
#define RTL_STORE_DEMANGLE_H

#include <stddef.h>

/* Malloc'd: the demangled name, or a copy of the name (without ".kd") where it is not mangled.
 * NULL only without memory. */
char *demangle_dup(const char *mangled);

#endif
