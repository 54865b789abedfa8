/* SPDX-License-Identifier: MIT */
/* demangle.h - names of kernels for people: Itanium C++ demangling, ".kd" stripped */
#ifndef RTL_STORE_DEMANGLE_H
#define RTL_STORE_DEMANGLE_H

#include <stddef.h>

/* Malloc'd: the demangled name, or a copy of the name (without ".kd") where it is not mangled.
 * NULL only without memory. */
char *demangle_dup(const char *mangled);

/* The same without a substitute, and with ".kd", which becomes `[clone .kd]`: NULL where the name is not mangled, or stands
 * for more text than anybody reads. Takes bounded time and memory whatever the name is. */
char *demangle_whole(const char *mangled);

#endif
