/* SPDX-License-Identifier: MIT */
/* barrier.c - membarrier(2)
 *
 * Threads:  any.
 */
#include "base/barrier.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNKNOWN, READY, MISSING };
static _Atomic int state;

bool barrier_init(void)
{
	bool ok = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

	/* relaxed: the kernel refuses the barrier to unregistered processes */
	atomic_store_explicit(&state, ok ? READY : MISSING, memory_order_relaxed);
	return ok;
}

bool barrier_is_ready(void)
{
	return atomic_load_explicit(&state, memory_order_relaxed) != UNKNOWN;
}

bool barrier_all(void)
{
	int now = atomic_load_explicit(&state, memory_order_relaxed);

	/* orders the caller's accesses in any case */
	atomic_thread_fence(memory_order_seq_cst);
	return (now == READY || (now == UNKNOWN && barrier_init())) &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
