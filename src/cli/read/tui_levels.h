/* SPDX-License-Identifier: MIT */
/* tui_levels.h - a trace in few bytes: what each lane did in each part of the time, and where its
 * rows are
 *
 * A lane is a queue or a stream of a process, its copies on a GPU, the calls or ranges of a thread,
 * or the collectives of some ranks. Its time is divided into bins, whose number is limited over all
 * lanes: they become longer as the trace does. Rows of a table are in blocks, in the order of their
 * ids, which is nearly that of their begin: a window of time is read from the blocks that overlap
 * it. Memory grows with lanes and, 32 bytes for BLOCK_ROWS rows, with the trace. One thread. Out of
 * memory ends the process.
 */
#ifndef RTL_CLI_READ_TUI_LEVELS_H
#define RTL_CLI_READ_TUI_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/map.h"

#define BLOCK_ROWS 4096
#define LEVELS_BINS 16384	/* of a lane, at first */
#define LEVELS_MAX_BINS 1048576 /* of all lanes */

enum tui_table { TUI_OPS, TUI_CALLS, TUI_COLLECTIVES, TUI_TABLES };

/* In the order of the screen. */
enum lane_kind { LANE_KERNELS, LANE_COPIES, LANE_RANGES, LANE_CALLS, LANE_COLLECTIVES };

struct level_lane {
	enum lane_kind kind;
	int64_t of;    /* GPU, or pid; of collectives INT64_MAX */
	int64_t which; /* queue or stream, or tid, or track */
	int64_t level; /* of ranges: depth; of operations: process, 0: there is but one */
	char *name;
	uint64_t nr;
	struct level_bin *bins;
};

struct level_bin {
	float busy, best;     /* ns; of the longest slice */
	uint32_t nr;	      /* slices that begin in it */
	uint32_t name_plus_1; /* of the longest one; 0: none */
};

struct level_block {
	int64_t first_id, last_id, begin, end;
};

struct level_blocks {
	struct level_block *blocks;
	size_t nr, max;
	uint32_t in_last;
};

struct levels {
	int64_t begin, end; /* of all slices so far */
	int64_t width;	    /* ns of a bin */
	size_t nr_bins;	    /* of each lane */
	struct level_lane *lanes;
	size_t nr, max;
	size_t *order; /* the lanes as on the screen */
	struct map by_key;
	struct level_blocks tables[TUI_TABLES];
};

/* begin: no slice is earlier. */
void tui_levels_init(struct levels *l, int64_t begin);
void tui_levels_fini(struct levels *l);
/* The lane's number; `is_new`: it was just made, and has no name. */
size_t tui_levels_lane(struct levels *l, enum lane_kind kind, int64_t of, int64_t which,
		       int64_t level, bool *is_new);
/* Adds the row to the blocks of its table; a block ends after BLOCK_ROWS. Rows without valid times
 * too. */
void tui_levels_row(struct levels *l, enum tui_table table, int64_t id, int64_t begin, int64_t end);
/* Adds a slice with valid times to a lane. */
void tui_levels_slice(struct levels *l, size_t lane, int64_t begin, int64_t end, uint32_t name);

/* Adds up the bins of a part of the time. */
struct level_bin tui_levels_sum(const struct levels *l, size_t lane, int64_t begin, int64_t end);
/* The rows of all blocks that overlap a part of the time. */
uint64_t tui_levels_rows(const struct levels *l, enum tui_table table, int64_t begin, int64_t end);

#endif
