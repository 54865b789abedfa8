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

/* Makes the path of `name` in the folder that is `above` the given one, or in that itself. */
static bool is_program(char *out, const char *folder, unsigned int above, const char *name)
{
	struct str s;

	str_init(&s, out, PATH_MAX);
	str_add(&s, folder);
	while (above-- > 0)
		str_add(&s, "/..");
	str_add(&s, name);
	return !s.cut && access(out, X_OK) == 0;
}

bool beside_find(const char *named, const char *library, unsigned int levels, char *out)
{
	char folder[PATH_MAX];
	Dl_info info;
	char *slash;

	if (*named)
		return is_program(out, named, 0, "");
	if (!*library && dladdr((void *)(uintptr_t)beside_find, &info) && info.dli_fname)
		library = info.dli_fname;
	if (!realpath(library, folder) || !(slash = strrchr(folder, '/')))
		return false;
	*slash = '\0';
	for (unsigned int above = 1; above <= levels; above++)
		if (is_program(out, folder, above, "/bin/rtl"))
			return true;
	return is_program(out, folder, 0, "/rtl");
}
