/* SPDX-License-Identifier: MIT */
/* early.c - dlsym() up to the point where the name is known to be one of librtl's
 *
 * The run-time of a sanitizer, an allocator or another library that stands in front of the C
 * library looks its functions up when its first one is called, which may be before any constructor.
 * A function of the C library called meanwhile may be one that it has not found yet: it would call
 * NULL, or itself for ever. So this file calls nothing that a program may have in front of the C
 * library's, but the look-up itself: names are compared by loops. A test looks at what the object
 * needs.
 *
 * Threads:  any, at any time, also before librtl's constructor.
 * Fails:    in any case that is not expected the program gets what the C library found.
 * Not here: what happens with names of librtl's own, lookup.c.
 */
#include "source/hip/early.h"

#include <dlfcn.h>

#include "source/api/call.h"
#include "source/hip/frame.h"
#include "source/hip/lookup.h"

#ifdef RTL_SANITIZE_ADDRESS
/* The sanitizer calls dlsym() for the functions that it intercepts before there is shadow
 * memory. */
#define BEFORE_SHADOW __attribute__((no_sanitize_address))
static bool has_shadow;

__attribute__((constructor)) static void note_shadow(void)
{
	has_shadow = true;
}
#else
#define BEFORE_SHADOW
static const bool has_shadow = true;
#endif

_Atomic(lookup_fn) lookup_next;
const struct lookup_front *lookup_front;

BEFORE_SHADOW void early_find(void)
{
	void *libc;

	/* its oldest version: newer ones are the same function */
	lookup_next = (lookup_fn)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (lookup_next)
		return;
	/* libc stands before us where we are the dependency of a library. RTLD_NOLOAD: it is
	 * loaded */
	libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (libc)
		lookup_next = (lookup_fn)dlvsym(libc, "dlsym", "GLIBC_2.2.5");
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

uint32_t early_op(const char *name)
{
	uint32_t op = 0;

	while (op < hip_nr_ops && !(hip_symbols[op] && is_same(hip_symbols[op], name)))
		op++;
	return op;
}

/* The number of that function of `lookup_front`; as many as it has: none. */
static uint32_t front_op(const char *name)
{
	uint32_t op = 0;

	while (op < lookup_front->nr_ops && !is_same(lookup_front->ops[op].name, name))
		op++;
	return op;
}

static enum early_kind kind_of(const char *name, uint32_t *op)
{
	if (name[0] == 'h' || name[0] == '_') {
		*op = early_op(name);
		if (*op < hip_nr_ops)
			return EARLY_HIP;
		/* lib/librtl/hsa_init.c is not HIP's, but stands in front of a function as well */
		return is_same(name, "hsa_init") ? EARLY_HSA_INIT : EARLY_OTHER;
	}
	if (lookup_front && (name[0] == 'n' || name[0] == 'm')) {
		*op = front_op(name);
		if (*op < lookup_front->nr_ops)
			return EARLY_FRONT;
	}
	return EARLY_OTHER;
}

BEFORE_SHADOW bool early_lacks(void *handle, const char *name)
{
	enum early_kind kind;
	uint32_t op = 0;

	if (!has_shadow)
		return false;
	kind = kind_of(name, &op);
	return kind != EARLY_OTHER && lookup_lacks(handle, name, kind, op);
}

void *early_lookup(void *handle, const char *name)
{
	void *fn = lookup_libc()(handle, name);
	enum early_kind kind;
	uint32_t op = 0;

	if (!name)
		return fn;
	kind = kind_of(name, &op);
	if (kind == EARLY_OTHER)
		return fn;
	return fn ? lookup_translate(fn, name, kind, op) : lookup_none(handle, name);
}
