/* SPDX-License-Identifier: MIT */
/* unfinished.h - the ranks of a data set that are not finished, as a table: rtl status DIR */
#ifndef RTL_CLI_TRACE_UNFINISHED_H
#define RTL_CLI_TRACE_UNFINISHED_H

#include "cli/grid.h"

/* Ends the process with a message where the folder can't be read. */
void unfinished_print(const char *set, enum grid_format format);

#endif
