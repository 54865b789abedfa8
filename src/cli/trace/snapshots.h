/* SPDX-License-Identifier: MIT */
/* snapshots.h - the snapshots that an `rtl trace` writes while its program runs, within bounds
 *
 * Each is written by a process of its own, rtl snapshot, one at a time. One thread at a time.
 */
#ifndef RTL_CLI_TRACE_SNAPSHOTS_H
#define RTL_CLI_TRACE_SNAPSHOTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct snapshots {
	/* set by the owner, constant afterwards */
	const char *dir, *output;
	uint64_t most, gap_ns; /* how many, and the least time between the begins of two */
	bool force, is_public;
	/* the module's */
	pid_t running; /* 0: none */
	uint64_t last_ns;
	unsigned int number; /* of the last name */
	unsigned int nr_begun, nr_written;
	uint64_t nr_left_out; /* asked for, and beyond the bounds */
	char name[PATH_MAX];
	char why[192];
};

/* Begins a snapshot, unless that is beyond the bounds. `nr`: reasons for it, of which `why`
 * describes the first. */
void snapshots_ask(struct snapshots *s, uint64_t nr, const char *why);
/* Looks whether the one that is being written is complete. */
void snapshots_poll(struct snapshots *s);
/* Waits for it, unless the user stops rtl; then says how many were written, and how many were
 * not. */
void snapshots_end(struct snapshots *s);

#endif
