/* SPDX-License-Identifier: MIT */
/* lookup.h - programs that take HIP's functions with dlsym() */
#ifndef RTL_SOURCE_HIP_LOOKUP_H
#define RTL_SOURCE_HIP_LOOKUP_H

#include <stdatomic.h>
#include <stdbool.h>

/* The C library's dlsym(); NULL until lookup_find() has been called. Whoever calls it is its caller, which
 * RTLD_NEXT and RTLD_DEFAULT depend on. */
typedef void *(*lookup_fn)(void *handle, const char *name);
extern _Atomic(lookup_fn) lookup_next;
void lookup_find(void);

/* For a call of it: gcc 12 loads an atomic pointer that is called as if it were none. */
static inline lookup_fn lookup_libc(void)
{
	/* relaxed: set to the same value whoever sets it */
	return atomic_load_explicit(&lookup_next, memory_order_relaxed);
}

/* For RTLD_DEFAULT and RTLD_NEXT: whether `name` is a function of HIP's that is not there but for our
 * wrapper of it, which other releases of HIP need. And dlsym() for such a name: NULL, with an error. */
bool lookup_lacks(void *handle, const char *name);
void *lookup_absent(void *handle, const char *name);

/* dlsym() for handles that dlopen() returned: what the C library says, but for functions of a HIP
 * runtime the wrapper of that name, where mode hip sees calls by our symbols; NULL for those that only
 * librtl has. Any thread, any time;
 * errno and dlerror() as dlsym() leaves them. */
void *lookup(void *handle, const char *name);

/* A HIP function that hands out others has succeeded: `*fn` is what it gave for `name`. The same is done as with
 * what dlsym() finds, also where the function is another form of what was asked for (R0600, _spt). Anything may
 * be NULL. Any thread; errno is kept. */
void lookup_given(const char *name, void **fn);

#endif
