/* SPDX-License-Identifier: MIT */
/* demangle.c - readable kernel names, by LLVM's demangler (itanium.h)
 *
 * Threads:  any.
 * Fails:    the mangled name is shown.
 */
#include "base/demangle.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/itanium.h"

/* Bounds the time; the stack is bounded by itself (itanium.cpp). */
#define NAME_SIZE 8192u
/* The parser's tree: 20 to 100 bytes for a byte of the name. Pages that it does not touch cost
 * nothing; less than a huge page. */
#define WORK_SIZE (1u << 20)

#define CLONE " [clone .kd]"

/* C++'s deleting destructors, which itanium.cpp has and never calls, refer to operator delete(void
 * *, size_t). */
__attribute__((weak, visibility("hidden"))) void demangle_no_delete(void *p,
								    size_t size) __asm__("_ZdlPvm");
void demangle_no_delete(void *p, size_t size)
{
	(void)p;
	(void)size;
}

static bool has_kd(const char *name, size_t size)
{
	return size > 3 && memcmp(name + size - 3, ".kd", 3) == 0;
}

/* As demangle_to() for the first `size` bytes. */
static size_t convert(const char *mangled, size_t size, char *out, size_t out_size)
{
	size_t used = 0;
	void *work;

	if (size < 3 || size > NAME_SIZE || mangled[0] != '_' || mangled[1] != 'Z')
		return 0;
	work = alloc_pages(WORK_SIZE);
	if (work)
		used = itanium_demangle(mangled, size, out, out_size, work, WORK_SIZE);
	alloc_pages_free(work, WORK_SIZE);
	return used;
}

size_t demangle_to(const char *mangled, char *out, size_t size)
{
	return convert(mangled, strlen(mangled), out, size);
}

/* NULL: it stays as it is. */
static char *convert_dup(const char *mangled, size_t size, const char *suffix)
{
	char *out = alloc_pages(DEMANGLE_OUT);
	size_t used = out ? convert(mangled, size, out, DEMANGLE_OUT - sizeof(CLONE)) : 0;
	char *nice = NULL;

	if (used) {
		memcpy(out + used, suffix, strlen(suffix) + 1);
		nice = alloc_string(out);
	}
	if (out)
		alloc_pages_free(out, DEMANGLE_OUT);
	return nice;
}

char *demangle_whole(const char *mangled)
{
	size_t size = strlen(mangled);
	bool kd = has_kd(mangled, size);

	return convert_dup(mangled, kd ? size - 3 : size, kd ? CLONE : "");
}

char *demangle_dup(const char *mangled)
{
	size_t size = strlen(mangled);
	char *plain;

	if (has_kd(mangled, size))
		size -= 3;
	plain = convert_dup(mangled, size, "");
	if (plain)
		return plain;
	plain = alloc_heap(size + 1);
	if (plain) {
		memcpy(plain, mangled, size);
		plain[size] = '\0';
	}
	return plain;
}
