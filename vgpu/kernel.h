/* SPDX-License-Identifier: MIT */
/* kernel.h - what a kernel does and how long it takes
 *
 * The seam between the command processor and whatever runs kernels. Today kernels are timed, not executed.
 */
#ifndef VGPU_KERNEL_H
#define VGPU_KERNEL_H

#include <stdint.h>

#include <hsa/hsa.h>

/* How long the kernel occupies its queue, in ns. */
uint64_t kernel_duration_ns(const hsa_kernel_dispatch_packet_t *packet);

#endif
