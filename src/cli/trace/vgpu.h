/* SPDX-License-Identifier: MIT */
/* vgpu.h - the virtual GPU as rtl trace sees it: messages, architectures */
#ifndef RTL_CLI_TRACE_VGPU_H
#define RTL_CLI_TRACE_VGPU_H

#include <stdbool.h>

#include "cli/machine.h"

struct paths;

/* Ends the process if there is no virtual GPU. */
void vgpu_check_paths(const struct paths *paths);
/* Stores one GPU of each architecture in VGPU_ARCH; their number. A list that the virtual GPU
 * ignores is its default. */
size_t vgpu_gpus(struct machine_gpu gpus[MACHINE_GPUS_MAX]);
/* Prints what the virtual GPU does and does not. */
void vgpu_explain(void);
/* Whether programs run on the virtual GPU anyway: by LD_PRELOAD. */
bool vgpu_is_preloaded(void);
/* Without --virtual-gpu: warns of VGPU_* variables, unless the program runs on a virtual GPU
 * anyway. */
void vgpu_check_variables(void);

#endif
