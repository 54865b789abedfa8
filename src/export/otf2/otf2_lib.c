/* SPDX-License-Identifier: MIT */
/* otf2_lib.c - libotf2, loaded when it is used */
#include "export/otf2/otf2_lib.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/utsname.h>
#include <unistd.h>

struct otf2_lib otf2_lib;

/*
 * The program's gethostid(), which the C library's and libotf2's calls of it yield to. libotf2
 * 3.0.2 takes a part of an archive's id from it. glibc's looks the host's name up: where neither
 * /etc/hosts nor a name server knows the name, each archive waits 10 s for an answer. A 32-bit
 * FNV-1a hash of the name is as good, and needs no network.
 */
__attribute__((visibility("default"))) long gethostid(void)
{
	struct utsname names;
	uint32_t hash = 2166136261u;

	if (uname(&names) == 0)
		for (const char *at = names.nodename; *at; at++)
			hash = (hash ^ (uint8_t)*at) * 16777619u;
	return (int32_t)hash;
}

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
