/* SPDX-License-Identifier: MIT */
/* pmc_join.h - the counters of several runs of a program in one database
 *
 * A dispatch is the same one in two runs if process (by rank, then by start), queue (by creation),
 * kernel, how often it was launched on that queue before, and the grid are the same. Dispatches
 * without a partner are counted.
 */
#ifndef RTL_CLI_PMC_PMC_JOIN_H
#define RTL_CLI_PMC_PMC_JOIN_H

#include <stdint.h>

struct pmc_joined {
	uint64_t nr_joined;
	uint64_t nr_alone;  /* dispatches of the first run without a partner that was counted */
	uint64_t nr_others; /* counted dispatches of the other run without a partner */
};

/* Adds the counters of `other`, the database of run `number`, to those in `path`; dispatches
 * without a partner are the loss not_counted there. 0, or -errno after a message; then nothing is
 * changed. */
int pmc_join(const char *path, const char *other, uint32_t number, struct pmc_joined *joined);

#endif
