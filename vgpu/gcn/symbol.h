/* SPDX-License-Identifier: MIT */
/* symbol.h - the name of a kernel, from the loaded code object */
#ifndef VGPU_GCN_SYMBOL_H
#define VGPU_GCN_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

struct gcn_host;

/* Writes the name of the kernel object at `object`, or its address if it has no name. */
void symbol_name(const struct gcn_host *host, uint64_t object, char *out, size_t size);

#endif
