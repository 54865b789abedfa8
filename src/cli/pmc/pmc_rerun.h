/* SPDX-License-Identifier: MIT */
/* pmc_rerun.h - rtl trace --passes=rerun: runs the program once for each pass of counters, and
 * joins the traces */
#ifndef RTL_CLI_PMC_PMC_RERUN_H
#define RTL_CLI_PMC_PMC_RERUN_H

#include <stdint.h>

#include "cli/opts.h"

/* Runs `rtl trace` with the parsed options and --pmc-run=1 to --pmc-run=NR; `output` is the pattern
 * of the first one's database. Returns the exit status. */
int pmc_rerun(const struct command *trace, const struct opt_parsed *p, const char *output,
	      const char *spool_dir, uint32_t nr, int loss_status);

#endif
