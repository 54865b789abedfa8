/* SPDX-License-Identifier: MIT */
/* pmc_limit.h - which dispatches keep their counters: by their number, or by how often the kernel ran before
 *
 *	1:4	the dispatches 1, 2 and 3 of a process, from 0 on; 1: all from 1 on; 4 this one (rocprof's range)
 *	[1-2],[5]	of each kernel the first, second and fifth; 1-2,5 as well (rocprofv3's kernel_iteration_range)
 */
#ifndef RTL_CLI_PMC_LIMIT_H
#define RTL_CLI_PMC_LIMIT_H

/* What is wrong with a text; NULL: nothing. */
const char *pmc_limit_check_dispatches(const char *text);
const char *pmc_limit_check_iterations(const char *text);

/* Removes the counters of all other dispatches from a finished database; NULL: no limit. Prints how many dispatches keep theirs. A
 * database that can't be changed is reported, and -errno is returned. */
int pmc_limit_apply(const char *path, const char *dispatches, const char *iterations);

#endif
