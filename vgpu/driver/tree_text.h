/* SPDX-License-Identifier: MIT */
/* tree_text.h - what is in the kernel driver's files in /sys that describe the virtual GPUs */
#ifndef VGPU_DRIVER_TREE_TEXT_H
#define VGPU_DRIVER_TREE_TEXT_H

#include <stddef.h>
#include <stdio.h>

#define TREE_RENDER_FIRST 128u
#define TREE_MILLIDEGREES 25000u

/* Files of a PCI device whose content is the process's own. */
#define TREE_VRAM_USED "mem_info_vram_used"
#define TREE_VIS_VRAM_USED "mem_info_vis_vram_used"

/* All files: "path\0text\0" for each; "@path\0target\0" is a symbolic link, "path/\0\0" a
 * folder. */
struct tree_text {
	char *bytes; /* the caller's to free() */
	size_t len;
	FILE *out; /* while it is written */
};

/* 0, or -ENOMEM. */
int tree_describe(struct tree_text *f);

#endif
