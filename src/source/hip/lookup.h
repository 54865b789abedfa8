/* SPDX-License-Identifier: MIT */
/* lookup.h - programs that take HIP's functions with dlsym() */
#ifndef RTL_SOURCE_HIP_LOOKUP_H
#define RTL_SOURCE_HIP_LOOKUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/api/call.h"
#include "source/hip/early.h"

/* The C library's dlsym(); NULL until early_find() has been called. RTLD_NEXT and RTLD_DEFAULT
 * depend on its caller. */
typedef void *(*lookup_fn)(void *handle, const char *name);
extern _Atomic(lookup_fn) lookup_next;

/* Another library whose functions librtl's symbols stand in front of, by number. `wrap`: librtl's
 * function for `fn`, which a look-up found; `fn` itself if there is none. Set within librtl's
 * start, constant after; NULL: there is none. */
struct lookup_front {
	const struct api_op *ops; /* their names */
	uint32_t nr_ops;
	bool (*has_real)(uint32_t op); /* whether a function is behind it */
	void *(*wrap)(void *fn, uint32_t op);
};
extern const struct lookup_front *lookup_front;

/* For a call of it: gcc 12 does not load atomically where an atomic pointer is called. */
static inline lookup_fn lookup_libc(void)
{
	/* relaxed: all threads set the same value */
	return atomic_load_explicit(&lookup_next, memory_order_relaxed);
}

/* What early.h does with a name of librtl's, whose kind and number it has found. */
bool lookup_lacks(void *handle, const char *name, enum early_kind kind, uint32_t op);
void *lookup_translate(void *fn, const char *name, enum early_kind kind, uint32_t op);
void *lookup_none(void *handle, const char *name); /* nothing was found: NULL, with an error */

/* dlsym() for a name that early_lacks(): NULL, with an error. */
void *lookup_absent(void *handle, const char *name);

/* A HIP function that hands out others has succeeded and returned `*fn` for `name`. Replaces it as
 * early_lookup() does, also where it is another form of the function (R0600, _spt). Any argument
 * may be NULL. Any thread. Preserves errno. */
void lookup_given(const char *name, void **fn);

#endif
