/* SPDX-License-Identifier: MIT */
/* kmt_dtif.c - the functions of libdtif.so besides the thunk's
 *
 * With HSA_ENABLE_DTIF=1 a runtime from 7.0 on loads libdtif.so by this name and takes the whole thunk from it, by
 * dlsym, instead of the one that it was linked with. It then rings the doorbells of AQL queues by
 * hsaKmtQueueRingDoorbell() and uses no events.
 *
 * One library serves all of these runtimes, although their structures differ: the names that a runtime looks up are
 * texts in its memory, and runtimes with the larger structures contain hsaKmtGetNodeWallclockFrequency.
 *
 * Life:     the library stays when the runtime closes it (-z nodelete), since its thread does.
 */
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "engine.h"
#include "kmt.h"
#include "kmt_layout.h"

void *DtifCreate(const char *api);
void DtifDestroy(void);

static char instance;

struct search {
	uintptr_t code; /* an address within the library to search */
	const char *name;
	bool found;
};

static bool holds(const struct dl_phdr_info *lib, const ElfW(Phdr) * ph, uintptr_t addr)
{
	uintptr_t begin = (uintptr_t)lib->dlpi_addr + ph->p_vaddr;

	return ph->p_type == PT_LOAD && addr >= begin && addr - begin < ph->p_memsz;
}

static int search_library(struct dl_phdr_info *lib, size_t size, void *data)
{
	struct search *s = data;
	bool its_code = false;

	(void)size;
	for (unsigned int i = 0; i < lib->dlpi_phnum; i++)
		its_code |= holds(lib, &lib->dlpi_phdr[i], s->code);
	if (!its_code)
		return 0;
	for (unsigned int i = 0; i < lib->dlpi_phnum && !s->found; i++) {
		const ElfW(Phdr) *ph = &lib->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_R) && !(ph->p_flags & PF_W))
			s->found = memmem((const char *)(uintptr_t)lib->dlpi_addr + ph->p_vaddr,
					  ph->p_filesz, s->name, strlen(s->name) + 1) != NULL;
	}
	return 1;
}

KMT_API void *DtifCreate(const char *api)
{
	struct search s = {
		.code = (uintptr_t)__builtin_return_address(0),
		.name = "hsaKmtGetNodeWallclockFrequency",
	};

	(void)api;
	dl_iterate_phdr(search_library, &s);
	if (s.found)
		kmt_layout_choose_newest();
	/* ROCr 7.2.4 has no events then, and waits without giving up the processor */
	engine_waiters_spin();
	kmt_misc_map_memory();
	return &instance;
}

KMT_API void DtifDestroy(void)
{
}
