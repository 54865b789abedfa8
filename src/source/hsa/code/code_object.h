/* SPDX-License-Identifier: MIT */
/* code_object.h - code objects and kernel symbols: from a packet's kernel object to a kernel
 *
 * A runtime reuses addresses after an unload, and the harvester looks a dispatch up after it has
 * run. So each dispatch stores the epoch, which every load and unload advances, and (kernel object,
 * epoch) identifies a kernel. Kernel ids are never reused.
 */
#ifndef RTL_SOURCE_HSA_CODE_OBJECT_H
#define RTL_SOURCE_HSA_CODE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "base/compiler.h"

extern RTL_HIDDEN _Atomic uint32_t code_object_epoch;

/* HOT: the epoch of a dispatch that is submitted now. */
static inline uint32_t code_object_now(void)
{
	/* relaxed: a program that dispatches while it loads the same kernel orders the two
	 * itself */
	return atomic_load_explicit(&code_object_epoch, memory_order_relaxed);
}

/* Begins another epoch, and returns it: dispatches that are submitted from now on belong to it. */
uint32_t code_object_mark(void);

/* The kernel id of `object` in `epoch`. For an object that no executable announced (the runtime's
 * own shaders) it makes an id and emits it. Any thread; no lock if the object is known. */
uint32_t code_object_kernel(uint64_t object, uint32_t epoch, uint32_t agent, bool internal);

/* HOT: whether the user leaves out dispatches of the kernel that is at `object` now (filter.h).
 * Only if filter_has_kernels. */
bool code_object_is_left_out(uint64_t object);
/* The same for counters: also of kernels by which HIP copies and fills, which are recorded whatever
 * is selected. */
bool code_object_is_not_counted(uint64_t object);

/* Counts a launch of the kernel that is at `object` now; the number of its launches. 0: there was
 * no memory for its symbol. Any thread. */
uint32_t code_object_launch(uint64_t object, uint32_t agent);

/* Bytes of the arguments of the kernel that is at `object` now; UINT32_MAX: not known. Any
 * thread. */
uint32_t code_object_kernarg_size(uint64_t object);

/* The name of that kernel without .kd, or its address where the name is not known or does not fit.
 * While its executable lives. */
void code_object_name(uint64_t object, char *name, size_t size);

/* Emits the code objects and kernels of an executable that was just frozen. Any thread. */
void code_object_load(hsa_executable_t executable);

/* The executable's kernels are about to be gone: before the runtime's call, which may reuse their
 * addresses. */
void code_object_unload(hsa_executable_t executable);

/* Gets the loader extension from the runtime; after `real` is set. */
void code_object_init(void);

/* The runtime went away: every symbol is unloaded. */
void code_object_reset(void);

#endif
