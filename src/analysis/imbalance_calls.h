/* SPDX-License-Identifier: MIT */
/* imbalance_calls.h - the calls of a name on a party, in the order in which they came
 *
 * Some seven bytes each: the last ones in memory, those before in chunks of a spill that all share.
 * One thread.
 */
#ifndef RTL_ANALYSIS_IMBALANCE_CALLS_H
#define RTL_ANALYSIS_IMBALANCE_CALLS_H

#include "query/spill.h"

#define IMBALANCE_CHUNK 512 /* bytes of a row of the spill */

struct imbalance_call {
	uint64_t number; /* rises from call to call */
	int64_t begin, ns;
};

/* Zeroed: none. */
struct imbalance_calls {
	uint64_t *chunks; /* rows of the spill */
	size_t nr_chunks, max_chunks;
	unsigned char *tail; /* as a chunk */
	size_t used, max;
	struct imbalance_call last;
};

struct imbalance_calls_reader {
	const struct spill *chunks;
	const struct imbalance_calls *calls;
	struct spill_window window;
	size_t next; /* chunk */
	const unsigned char *at;
	struct imbalance_call call; /* the one that was read last */
};

/* 0 or -errno: of the file, or -ENOMEM. HOT. */
int imbalance_calls_add(struct imbalance_calls *c, struct spill *chunks,
			const struct imbalance_call *call);
/* Sets r->call to the next one; `r` is zeroed but for chunks and calls before the first one. 1, 0:
 * there is none, or -errno. HOT. */
int imbalance_calls_next(struct imbalance_calls_reader *r);
void imbalance_calls_end(struct imbalance_calls_reader *r);
void imbalance_calls_fini(struct imbalance_calls *c);

#endif
