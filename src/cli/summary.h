/* SPDX-License-Identifier: MIT */
/* summary.h - shared by the files of `rtl summary`
 *
 *	cmd_summary.c	 the command, its columns
 *	summary_rows.c	 kernels, calls, copies and markers, grouped by name
 *	summary_counter.c hardware counters of kernels
 *	summary_lane.c	 GPUs and streams: how busy they were
 */
#ifndef RTL_CLI_SUMMARY_H
#define RTL_CLI_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/db.h"
#include "cli/grid.h"
#include "cli/stats.h"
#include "query/rows.h"
#include "store/map.h"

/* In the order of the choices of --by. */
enum summary_by {
	SUMMARY_KERNEL,
	SUMMARY_API,
	SUMMARY_COPY,
	SUMMARY_MARKER,
	SUMMARY_STREAM,
	SUMMARY_GPU,
	SUMMARY_COUNTER
};

/* The domain of calls to count; from 1 in the order of the choices of --domain. */
enum summary_domain { SUMMARY_ANY, SUMMARY_HIP, SUMMARY_HSA };

struct summary {
	struct query *q;
	enum summary_by by;
	enum summary_domain domain;
	enum grid_format format;
	enum grid_units units;
	bool internal, wide;
	unsigned int width;
	uint64_t rows; /* 0: all */
	struct stats *stats;
	uint64_t nr_untimed, nr_joined, nr_errors;
	struct map types; /* of operations: whether it is a copy */
	sqlite3_stmt *type;
};

/* Whether an operation's type (an id in rocpd_string) is a copy or a fill. */
bool summary_rows_is_copy(struct summary *s, int64_t type);
/* Fills s->stats. */
void summary_rows_kernels(struct summary *s);
void summary_rows_calls(struct summary *s);
void summary_rows_copies(struct summary *s);
void summary_rows_markers(struct summary *s);

/* Prints a row for each GPU, or for each stream. Returns their number; *all_ns is the time of all. */
size_t summary_lane_print(struct summary *s, uint64_t *all_ns);

/* Prints a row for each kernel and counter. Returns their number. */
size_t summary_counter_print(struct summary *s);

#endif
