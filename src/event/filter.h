/* SPDX-License-Identifier: MIT */
/* filter.h - what the user leaves out by name or by GPU: --kernels, --not-kernels, --calls, --gpus
 *
 * Each is decided once: for a kernel when its executable is loaded, for a function when its domain
 * is defined, for a GPU when it is found. What is left out is counted (`filtered_kernel`,
 * `filtered_call`, `filtered_gpu`).
 *
 * Any thread after filter_init().
 */
#ifndef RTL_EVENT_FILTER_H
#define RTL_EVENT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* Reads RTL_KERNELS, RTL_NOT_KERNELS, RTL_CALLS, RTL_GPUS. After env_init(), before threads. */
void filter_init(void);

/* Whether any kernel may be left out; set in filter_init(), constant after. */
extern RTL_HIDDEN bool filter_has_kernels, filter_has_gpus, filter_has_calls;

/* Whether dispatches of the kernel are left out: its mangled name without ".kd", or its demangled
 * name (demangle.h), does not match RTL_KERNELS, or one of them matches RTL_NOT_KERNELS. NULL: a
 * kernel without a name, which matches nothing. */
bool filter_leaves_out_kernel(const char *name);
/* Whether it is a kernel by which HIP copies or fills memory, of HIP 4.0 to 7.2: the program asked
 * for a copy, not for a kernel, so that it is recorded whatever kernels are selected. NULL: no. */
bool filter_is_transfer(const char *name);
bool filter_leaves_out_call(const char *function);
/* Whether RTL_INTERNAL or RTL_CALLS asks for records of a function by which the compiler's code
 * prepares a launch <<<...>>>. Otherwise its calls are part of the launch, whose record has
 * REC_F_CONFIGURED, and are not counted. */
bool filter_asks_for_part(const char *function);
bool filter_leaves_out_gpu(uint32_t gpu_index);

#endif
