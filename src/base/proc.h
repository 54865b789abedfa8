/* SPDX-License-Identifier: MIT */
/* proc.h - whether a process still runs */
#ifndef RTL_BASE_PROC_H
#define RTL_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

/* Whether that process is there and has a thread that is no zombie: `pid` as it saw itself, start_ticks field 22 of its
 * /proc stat (0: any). One in a pid namespace below ours is found, too, by the number that it has
 * there; one that is beside or above ours is not. Reads all of /proc before it says no. */
bool proc_alive(uint32_t pid, uint64_t start_ticks);

#endif
