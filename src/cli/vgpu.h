/* SPDX-License-Identifier: MIT */
/* vgpu.h - messages of rtl trace about the virtual GPU */
#ifndef RTL_CLI_VGPU_H
#define RTL_CLI_VGPU_H

struct paths;

/* Ends the process if there is no virtual GPU. */
void vgpu_check_paths(const struct paths *paths);
/* Prints what the virtual GPU does and does not. */
void vgpu_explain(void);
/* Without --virtual-gpu: warns of VGPU_* variables, unless the program runs on a virtual GPU anyway. */
void vgpu_check_variables(void);

#endif
