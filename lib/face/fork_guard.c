/* SPDX-License-Identifier: MIT */
/* fork_guard.c - the locks of a face, held around forks
 *
 * Owns:     the list of the locks, which the linker makes of GUARDED_LOCK().
 * Threads:  fork handlers run on the thread that forks.
 */
#include "fork_guard.h"

#include <pthread.h>

#include "base/compiler.h"

extern RTL_HIDDEN struct lock *const __start_guarded_locks[], *const __stop_guarded_locks[];

static _Thread_local const struct lock *except;

/* All of them, the outermost first: by rank. */
static void hold(bool on)
{
	for (int rank = 0; rank < LOCK_NR_RANKS; rank++) {
		for (struct lock *const *l = __start_guarded_locks; l < __stop_guarded_locks; l++) {
			if ((int)(*l)->rank == rank && *l != except)
				lock_hold(*l, on);
		}
	}
}

static void before_fork(void)
{
	hold(true);
}

static void after_fork(void)
{
	hold(false);
}

void fork_guard_start(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

void fork_guard_except(const struct lock *l)
{
	except = l;
}
