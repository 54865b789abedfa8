/* SPDX-License-Identifier: MIT */
/* pmc.h - rtl trace --pmc: from names of counters and metrics to the events that librtl counts */
#ifndef RTL_CLI_PMC_H
#define RTL_CLI_PMC_H

#include <stdbool.h>

/* The value of RTL_PMC for a list of names, "SQ_WAVES,FETCH_SIZE", on this machine's GPUs or the virtual one; it lives as long
 * as the process. Ends the process with a message if a name is unknown or there is no GPU. */
const char *pmc_variable(const char *names, bool is_virtual);

#endif
