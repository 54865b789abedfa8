/* SPDX-License-Identifier: MIT */
/* trace_set.h - rtl trace -o DIR/: options that a data set has no use for */
#ifndef RTL_CLI_CMD_TRACE_SET_H
#define RTL_CLI_CMD_TRACE_SET_H

#include "cli/opts.h"

/* Ends the process with a message if the output is a data set and such an option is given.
 * `reruns`: the program runs several times. */
void trace_set_check(const struct opt_parsed *p, const char *pattern, bool reruns);

#endif
