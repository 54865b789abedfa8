/* SPDX-License-Identifier: MIT */
/* loaded.h - objects that the loader has mapped, as dl_iterate_phdr() describes them */
#ifndef RTL_BASE_LOADED_H
#define RTL_BASE_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether `address` is in the object. Reads the program headers alone, where dladdr() reads the
 * object's symbols, too. Any thread. */
static inline bool loaded_has(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    (uintptr_t)address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

#endif
