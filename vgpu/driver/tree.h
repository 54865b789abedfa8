/* SPDX-License-Identifier: MIT */
/* tree.h - the kernel driver's files in /sys that describe the virtual GPUs, in a folder of the
 * user's
 *
 * The folder has the content of /sys/class/kfd in class/, of /sys/class/drm in drm/, what
 * /sys/dev/char/ has of the render nodes in dev/char/, which both are links to the GPUs in
 * devices/, and /sys/module/amdgpu in module/. It is named by the user and by a checksum of that
 * content: processes with the same settings share it, and the last of them removes it.
 */
#ifndef VGPU_DRIVER_TREE_H
#define VGPU_DRIVER_TREE_H

#include <limits.h>
#include <stdbool.h>

/*
 * Writes what is missing of the folder, and its path to `path`, without a slash at the end.
 *
 * 0, or -errno: `path` then is what could not be made. Any thread; processes may do it at once.
 */
int tree_make(char path[PATH_MAX]);

/* Before the process ends: removes the folder if no other process uses it. May be called in a
 * signal's handler. */
void tree_leave(void);

/* Whether the folder has the file that a path names, which begins with "/sys/"; its path in the
 * folder. Any thread. */
bool tree_has(const char *path, char rest[PATH_MAX]);

/* Whether a path that begins with "/sys/" names the file with the memory of a GPU that is in use,
 * which is the process's own; the GPU. Any thread. */
bool tree_is_used(const char *path, unsigned int *gpu);

#endif
