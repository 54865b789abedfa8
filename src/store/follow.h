/* SPDX-License-Identifier: MIT */
/* follow.h - reads what a growing trace adds, while the process writes
 *
 * Each record is returned once: of chunks that are drained, and of those that are still being
 * filled. Nothing is written, and the process does nothing for it. Single-threaded.
 */
#ifndef RTL_STORE_FOLLOW_H
#define RTL_STORE_FOLLOW_H

#include <stdint.h>

#include "store/load.h"

struct follow;

/* `shape`: of a dispatch, else NULL. */
typedef void (*follow_fn)(void *arg, const struct rec_head *rec, const struct rec_shape *shape);

/* The trace of that disk half, which may still be without one. 0 or -ENOMEM. */
int follow_open(struct follow **out, const char *path);
/* Passes on what was not there at the last call. 0, or -errno with *err: load_open()'s. */
int follow_read(struct follow *f, follow_fn fn, void *arg, struct load_error *err);
/* As of the last follow_read() that succeeded. */
const struct load_facts *follow_facts(const struct follow *f);
void follow_close(struct follow *f); /* NULL is fine */

#endif
