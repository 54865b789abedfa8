/* SPDX-License-Identifier: MIT */
/* ranks.h - a database for each rank: an output name with %r, of a program that starts the ranks
 * itself (mpirun) */
#ifndef RTL_CLI_TRACE_RANKS_H
#define RTL_CLI_TRACE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rank.h"
#include "cli/trace/session.h"

/* Whether the name depends on a rank that this process does not have. */
bool ranks_are_split(const char *pattern);
/* For a process that a launcher started as one of several ranks: the name of its own output, if the
 * pattern is the same for all of them ("trace.db" becomes "trace-rank%r.db"), or for a rank that
 * was started again (torchrun's --max-restarts: "trace-rank%r-restart1.db"); malloc'd. NULL: the
 * pattern is right as it is. Variables in it are the user's choice. */
char *ranks_own_pattern(const char *pattern, const struct rank *rank);
/* The rank in a raw trace; 0 if it has none, as %r has it. */
int64_t ranks_of(const char *spool);
/* Sorts raw traces by their ranks, which are put into `ranks`. */
void ranks_sort(const char **spools, int64_t *ranks, size_t nr);
/* Gives the session the output of that rank. `pid` is the program's. false: the name is too
 * long. */
bool ranks_name(struct session *s, const char *pattern, uint32_t pid, int64_t rank);

#endif
