/* SPDX-License-Identifier: MIT */
/* otf2_lib.c - libotf2, loaded when it is used */
#include "export/otf2/otf2_lib.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

struct otf2_lib otf2_lib;

int otf2_lib_load(void)
{
	/* OTF2 3.x, whose functions differ from those of 2.x; Debian's has another name */
	static const char *const names[] = { "libotf2.so.10", "libopen-trace-format2.so.10" };
	void *handle = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return -ENOENT;
#define LOAD(name)                                                                                 \
	otf2_lib.name = (__typeof__(otf2_lib.name))dlsym(handle, "OTF2_" #name);                   \
	if (!otf2_lib.name)                                                                        \
		return -ENOENT;
	OTF2_LIB_FUNCTIONS(LOAD)
	return 0;
}
