/* SPDX-License-Identifier: MIT */
/* symbol.h - the name of a kernel, out of the code object as it lies in memory */
#ifndef VGPU_GCN_SYMBOL_H
#define VGPU_GCN_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

struct gcn_host;

/* Writes the name of the kernel object at `object`, or its address where there is no name. */
void symbol_name(const struct gcn_host *host, uint64_t object, char *out, size_t size);

#endif
