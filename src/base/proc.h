/* SPDX-License-Identifier: MIT */
/* proc.h - whether a process is running */
#ifndef RTL_BASE_PROC_H
#define RTL_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

/* Whether that process exists and has a thread that is not a zombie: `pid` in its own namespace,
 * start_ticks field 22 of its /proc stat by the clock of the boot (clock_boot_ticks(); 0: any).
 * Finds a process in a descendant pid namespace by its number there; not one in a sibling or parent
 * namespace. Reads all of /proc before it returns false. */
bool proc_alive(uint32_t pid, uint64_t start_ticks);

/* Field 22 of its /proc stat by the clock of the boot; 0: it is gone, or a zombie. */
uint64_t proc_start_ticks(uint32_t pid);

/* Whether that process maps a file whose path contains `part`. Also true if that is not known: its
 * mappings can't be read, or are none since it exits, or it is of another pid namespace. */
bool proc_maps(uint32_t pid, uint64_t start_ticks, const char *part);

#endif
