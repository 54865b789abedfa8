/* SPDX-License-Identifier: MIT */
/* leftovers.h - what killed processes and conversions left in memory and in the current
 * directory */
#ifndef RTL_CLI_TRACE_LEFTOVERS_H
#define RTL_CLI_TRACE_LEFTOVERS_H

#include <stdbool.h>

#include "cli/grid.h"

/* Prints the table of them, of this user. With `frees` those are deleted that belong to no raw
 * trace. */
void leftovers_print(enum grid_format format, bool frees);

#endif
