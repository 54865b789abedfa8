/* SPDX-License-Identifier: MIT */
/* forked.h - forked children of a traced process that use the GPU without an exec
 *
 * The core is inert in such a child: its locks may be held by threads that do not exist there, and
 * its buffers are shared with the parent. A second copy of librtl, loaded into the child when it
 * first needs one, starts as in a new program; this copy passes the child's calls on to it.
 */
#ifndef RTL_LIB_LIBRTL_FORKED_H
#define RTL_LIB_LIBRTL_FORKED_H

#include <stdbool.h>
#include <stdint.h>

#include "event/life.h"

/* HOT: whether this process is a forked child of a traced one. */
static inline bool forked_is(void)
{
	/* relaxed: set in the handler of the fork */
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED;
}

/* A function of the child's copy; NULL: there is no copy, which has been reported. Any thread of a
 * forked child. Preserves errno. */
void *forked_find(const char *name);

/* This librtl is the copy of the one at `path`: it writes the database with the rtl program beside
 * that one, and makes no copies. */
void forked_be_copy(const char *path);

/* OnLoad() and OnUnload() of the copy. */
void forked_load(void *table, uint64_t runtime_version);
void forked_unload(void);

#endif
