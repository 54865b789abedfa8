/* SPDX-License-Identifier: MIT */
/* lookup.h - programs that take HIP's functions with dlsym() */
#ifndef RTL_SOURCE_HIP_LOOKUP_H
#define RTL_SOURCE_HIP_LOOKUP_H

#include <stdatomic.h>
#include <stdbool.h>

/* The C library's dlsym(); NULL until lookup_find() has been called. RTLD_NEXT and RTLD_DEFAULT depend on its caller. */
typedef void *(*lookup_fn)(void *handle, const char *name);
extern _Atomic(lookup_fn) lookup_next;
void lookup_find(void);

/* Another library whose functions librtl's symbols stand in front of, by name. `wrap`: librtl's function for `fn`, which a look-up found; `fn`
 * itself if there is none. Set within librtl's start, constant after; NULL: there is none. */
struct lookup_front {
	bool (*has)(const char *name);
	bool (*has_real)(const char *name); /* whether a function is behind it */
	void *(*wrap)(void *fn, const char *name);
};
extern const struct lookup_front *lookup_front;

/* For a call of it: gcc 12 does not load atomically where an atomic pointer is called. */
static inline lookup_fn lookup_libc(void)
{
	/* relaxed: all threads set the same value */
	return atomic_load_explicit(&lookup_next, memory_order_relaxed);
}

/* For RTLD_DEFAULT and RTLD_NEXT: whether `name` is a function of HIP that only librtl has, for other releases of HIP.
 * lookup_absent() is dlsym() for such a name: NULL, with an error. */
bool lookup_lacks(void *handle, const char *name);
void *lookup_absent(void *handle, const char *name);

/* dlsym() for handles that dlopen() returned: the C library's result; for functions of a HIP runtime the wrapper of that
 * name, where mode hip sees calls by our symbols; NULL for functions that only librtl has. Any thread, any time; errno
 * and dlerror() as dlsym() leaves them. */
void *lookup(void *handle, const char *name);

/* A HIP function that hands out others has succeeded and returned `*fn` for `name`. Replaces it as lookup() does, also
 * where it is another form of the function (R0600, _spt). Any argument may be NULL. Any thread. Preserves errno. */
void lookup_given(const char *name, void **fn);

#endif
