/* SPDX-License-Identifier: MIT */
/* demangle.c - readable kernel names; the demangler is libstdc++'s
 *
 * Its streaming form is used, which allocates nothing: a short mangled name can expand to gigabytes
 * (substitutions that double), so a longjmp ends it when the output exceeds its limit, and the
 * mangled name is shown instead. Only the static library has the streaming form; without it
 * (RTL_DEMANGLE_SHARED) the usual function demangles names that are too short to explode.
 * The prototypes are here because no C header has them.
 */
#include "store/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#ifdef RTL_DEMANGLE_SHARED

#define DEMANGLE_IN 1024

extern char *__cxa_demangle(const char *mangled, char *buf, size_t *size, int *status);

static char *demangle(const char *mangled)
{
	int status = 0;

	return __cxa_demangle(mangled, NULL, NULL, &status);
}

#else

#define DEMANGLE_IN 8192 /* bounds the demangler's recursion; longer names don't occur */
#define DEMANGLE_OUT 65536

typedef void (*demangle_fn)(const char *text, size_t size, void *arg);
extern int __gcclibcxx_demangle_callback(const char *mangled, demangle_fn fn, void *arg);

struct out {
	jmp_buf stop;
	size_t used;
	char text[DEMANGLE_OUT];
};

static void append_output(const char *text, size_t size, void *arg)
{
	struct out *out = arg;

	if (size >= sizeof(out->text) - out->used)
		longjmp(out->stop, 1);
	memcpy(out->text + out->used, text, size);
	out->used += size;
}

static bool demangle_to(const char *mangled, struct out *out)
{
	out->used = 0;
	if (setjmp(out->stop))
		return false;
	if (__gcclibcxx_demangle_callback(mangled, append_output, out) != 0)
		return false;
	out->text[out->used] = '\0';
	return out->used > 0;
}

static char *demangle(const char *mangled)
{
	struct out *out = alloc_heap(sizeof(*out));
	char *nice = out && demangle_to(mangled, out) ? alloc_string(out->text) : NULL;

	alloc_free(out);
	return nice;
}

#endif

char *demangle_whole(const char *mangled)
{
	size_t size = strlen(mangled);

	if (size < 3 || size > DEMANGLE_IN || mangled[0] != '_' || mangled[1] != 'Z')
		return NULL;
	return demangle(mangled);
}

char *demangle_dup(const char *mangled)
{
	size_t size = strlen(mangled);
	char *plain;
	char *nice;

	if (size > 3 && strcmp(mangled + size - 3, ".kd") == 0)
		size -= 3;
	plain = alloc_heap(size + 1);
	if (!plain)
		return NULL;
	memcpy(plain, mangled, size);
	plain[size] = '\0';
	nice = demangle_whole(plain);
	if (!nice)
		return plain;
	alloc_free(plain);
	return nice;
}
