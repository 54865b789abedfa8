/* SPDX-License-Identifier: MIT */
/* rocprof_list.h - the lists of counters and metrics in the form of rocprof --list-basic and
 * --list-derived */
#ifndef RTL_CLI_CMD_ROCPROF_LIST_H
#define RTL_CLI_CMD_ROCPROF_LIST_H

#include <stdbool.h>

#include "cli/pmc/pmc_metrics.h"

/* Of each GPU of this machine, or of the virtual one. */
void rocprof_list_print(bool derived, struct pmc_metrics *metrics, bool is_virtual);

#endif
