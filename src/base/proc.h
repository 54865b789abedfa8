/* SPDX-License-Identifier: MIT */
/* proc.h - whether a process is running */
#ifndef RTL_BASE_PROC_H
#define RTL_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Fields of /proc/PID/stat (proc_pid_stat(5)). */
enum { PROC_STATE = 3, PROC_NR_THREADS = 20, PROC_START_TICKS = 22, PROC_ENV_START = 50 };

/* The text of a field behind the second one, in that of /proc/PID/stat; NULL: it is not there. Any
 * process, any thread. */
static inline const char *proc_stat_field(const char *stat, int field)
{
	/* field 2 is the name in brackets, which may contain any characters */
	const char *at = strrchr(stat, ')');

	for (int i = 2; at && i < field; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

/* The same as a number; 0: it is not there. */
static inline uint64_t proc_stat_number(const char *stat, int field)
{
	const char *at = proc_stat_field(stat, field);

	return at ? strtoull(at, NULL, 10) : 0;
}

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
