/* SPDX-License-Identifier: MIT */
/* pmc_limit.h - which dispatches are counted: by their number, or by how often the kernel ran
 * before
 *
 *	1:4	the dispatches 1, 2 and 3 of a process, from 0 on; 1: all from 1 on; 4 this one
 *		(rocprof's range)
 *	[1-2],[5]	of each kernel the first, second and fifth; 1-2,5 as well (rocprofv3's
 *			kernel_iteration_range)
 */
#ifndef RTL_CLI_PMC_PMC_LIMIT_H
#define RTL_CLI_PMC_PMC_LIMIT_H

/* What is wrong with a text; NULL: nothing. */
const char *pmc_limit_check_dispatches(const char *text);
const char *pmc_limit_check_iterations(const char *text);

/* A checked text as RTL_PMC_DISPATCHES and RTL_PMC_ITERATIONS have it: 1-3; 1-2,5-5. NULL of
 * NULL.
 * The texts live as long as the process. */
const char *pmc_limit_dispatches(const char *text);
const char *pmc_limit_iterations(const char *text);

/* Prints how many dispatches of a finished database have counters. */
void pmc_limit_report(const char *path);

#endif
