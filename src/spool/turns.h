/* SPDX-License-Identifier: MIT */
/* turns.h - the order in which chunks are drained: that of their sequence numbers
 *
 * In the order of their slots, chunks that were filled one after the other would be far apart in
 * the file, and readers would have to sort. Any number of threads.
 */
#ifndef RTL_SPOOL_TURNS_H
#define RTL_SPOOL_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/format.h"

enum { TURNS = 64 }; /* chunks that are put in order at a time */

/* A slot to drain. */
struct turn {
	uint64_t seq; /* of its chunk */
	uint32_t slot, state;
};

/* Whether a slot of that state is drained; `final`: the process is over. */
bool turns_wanted(uint32_t state, bool final);
/* The earliest slots to drain behind `after` (NULL: any); returns how many, at most TURNS. */
uint32_t turns_find(struct spool_header *h, bool final, const struct turn *after,
		    struct turn turns[TURNS]);

#endif
