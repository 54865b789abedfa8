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

static _Atomic bool ready;

bool barrier_init(void)
{
	bool ok = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

	/* relaxed: the kernel refuses those who are not registered */
	atomic_store_explicit(&ready, ok, memory_order_relaxed);
	return ok;
}

bool barrier_all(void)
{
	/* between the caller's accesses in any case */
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&ready, memory_order_relaxed) &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
