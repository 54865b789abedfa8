/* SPDX-License-Identifier: MIT */
/* lock.c - the order check of debug builds
 *
 * Owns:     a mask of held ranks for each thread.
 * Threads:  any.
 */
#include "base/lock.h"
#include "base/sys.h"

#ifdef RTL_DEBUG_CHECKS
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static _Thread_local uint64_t held;
_Static_assert(LOCK_NR_RANKS <= 64, "a bit for each");

static void broken(const char *what, enum lock_rank rank)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "rtl: lock of rank %d %s; held: 0x%llx\n", (int)rank,
			 what, (unsigned long long)held);

	if (n > 0 && sys_write(STDERR_FILENO, line, (size_t)n) < 0)
		n = 0;
	__builtin_trap();
}

void lock_check_take(enum lock_rank rank)
{
	if (held >> rank)
		broken("taken inside of an inner one", rank);
	held |= UINT64_C(1) << rank;
}

void lock_check_drop(enum lock_rank rank)
{
	if (!(held & UINT64_C(1) << rank))
		broken("dropped but not held", rank);
	held &= ~(UINT64_C(1) << rank);
}

void lock_assert_held(const struct lock *l)
{
	if (!(held & UINT64_C(1) << l->rank))
		broken("is needed here", l->rank);
}
#else
typedef int lock_is_empty;
#endif
