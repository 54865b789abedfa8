/* SPDX-License-Identifier: MIT */
/* fork_guard.h - the locks of a face, held around forks so that the child finds each of them free
 *
 * A face declares its locks by GUARDED_LOCK() and calls fork_guard_start() once;
 * tools/check_forks.py sees to it.
 */
#ifndef RTL_LIB_FACE_FORK_GUARD_H
#define RTL_LIB_FACE_FORK_GUARD_H

#include "base/lock.h"

/* A static lock that is held around forks. */
#define GUARDED_LOCK(name, rank)                                                                   \
	static struct lock name = LOCK_INIT(rank);                                                 \
	__attribute__((section("guarded_locks"), used)) static struct lock *const name##_guarded = \
		&name

/* From the face's constructor, once. */
void fork_guard_start(void);

/* This thread runs code of the program under `l`: a fork in there leaves `l` alone. NULL: it has
 * returned. */
void fork_guard_except(const struct lock *l);

#endif
