/* SPDX-License-Identifier: MIT */
/* beside.c - the rtl program that belongs to a library of ours
 *
 * Wherever that is installed: the folders of one build do not move relative to each other.
 *
 * Owns:     nothing.
 * Threads:  any.
 */
#include "base/beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static bool is_program(const struct str *s, const char *path)
{
	return s->used && !s->cut && access(path, X_OK) == 0;
}

bool beside_find(const char *named, const char *library, unsigned int levels, char *out)
{
	char folder[PATH_MAX];
	Dl_info info;
	struct str s;
	char *slash;

	str_init(&s, out, PATH_MAX);
	str_add(&s, named);
	if (*named)
		return is_program(&s, out);
	if (!*library && dladdr((void *)(uintptr_t)beside_find, &info) && info.dli_fname)
		library = info.dli_fname;
	if (!realpath(library, folder) || !(slash = strrchr(folder, '/')))
		return false;
	*slash = '\0';
	for (unsigned int above = 1; above <= levels + 1; above++) {
		str_init(&s, out, PATH_MAX);
		str_add(&s, folder);
		for (unsigned int i = 0; above <= levels && i < above; i++)
			str_add(&s, "/..");
		str_add(&s, above <= levels ? "/bin/rtl" : "/rtl");
		if (is_program(&s, out))
			return true;
	}
	return false;
}
