/* SPDX-License-Identifier: MIT */
/* summary.h - shared by the files of `rtl summary`
 *
 *	cmd_summary.c	 the command
 *	summary.c	 one table after the other
 *	summary_group.c	 the columns of kernels, calls, copies and markers
 *	summary_rows.c	 kernels, calls, copies and markers, grouped by name
 *	summary_counter.c hardware counters of kernels
 *	summary_metrics.c how near kernels came to the peaks of their GPU
 *	summary_lane.c	 GPUs and streams: how busy they were
 *	summary_more.c	 processes, ranks, graphs, failed calls, gaps
 *	summary_range.c	 ranges as a tree
 *	summary_path.c	 the critical path
 *	summary_collective.c collectives, and who is late
 *	summary_overview.c one screen of all of it
 *	summary_findings.c findings on a screen
 */
#ifndef RTL_CLI_READ_SUMMARY_H
#define RTL_CLI_READ_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/digest.h"
#include "analysis/findings.h"
#include "analysis/occupancy.h"
#include "cli/db.h"
#include "cli/grid.h"
#include "cli/read/stats.h"
#include "query/kinds.h"
#include "query/rows.h"
#include "query/slice.h"
#include "store/map.h"

/* In the order of the choices of --by. */
enum summary_by {
	SUMMARY_OVERVIEW,
	SUMMARY_KERNEL,
	SUMMARY_API,
	SUMMARY_COPY,
	SUMMARY_MARKER,
	SUMMARY_STREAM,
	SUMMARY_GPU,
	SUMMARY_COUNTER,
	SUMMARY_RANGE,
	SUMMARY_PROCESS,
	SUMMARY_RANK,
	SUMMARY_GRAPH,
	SUMMARY_ERROR,
	SUMMARY_GAP,
	SUMMARY_PATH,
	SUMMARY_COLLECTIVE,
	SUMMARY_NR
};
#define SUMMARY_CHOICES                                                                            \
	"overview|kernel|api|copy|marker|stream|gpu|counter|range|process|rank|graph|error|gap|path|collective"

/* The domain of calls to count; from 1 in the order of the choices of --domain. */
enum summary_domain { SUMMARY_ANY, SUMMARY_HIP, SUMMARY_HSA, SUMMARY_RCCL, SUMMARY_MPI };

struct summary {
	struct query *q;
	enum summary_by by;
	enum summary_domain domain;
	enum grid_format format;
	enum grid_units units;
	enum names_form names;
	bool internal, wide, has_rows; /* has_rows: rows_prepare() was called */
	unsigned int width;	       /* 0: no limit */
	uint64_t rows;		       /* of a table; 0: all */
	const char *metrics;	       /* of kernels: a view of counter/view.h; NULL: times */
	const char *sort;	       /* NULL: the longest first */
	const char *collectives;       /* names of kernels that are collectives, too; NULL: none */
	struct slice filter;
	struct stats *stats;
	uint64_t nr_untimed, nr_joined, nr_errors;
	uint64_t all_ns; /* of the rows of a table */
	struct kinds kinds;
	sqlite3_stmt *occupancy;
	struct digest *digest; /* NULL: not needed so far */
	struct findings findings;
	bool has_findings;
};

/* The tables of --by, a list of SUMMARY_CHOICES, in its order. rows of UINT64_MAX: as many as each of them has by default. */
void summary_print(struct summary *s, const char *by);
void summary_free(struct summary *s);
/* The overview of a database on stderr, for rtl trace --summary. */
void summary_print_overview(const char *path);

/* What the tables have in common: format, width, units, names, order. */
struct grid *summary_grid(const struct summary *s, const struct grid_column *columns, size_t nr);
/* Rows that a table adds: all if they are sorted afterwards. */
bool summary_adds(const struct summary *s, size_t nr_rows);
/* What times of --time count from. */
int64_t summary_begin(struct query *q);
/* The wall time of what is looked at, with its start-up. */
struct wall summary_wall(struct summary *s);
/* The digest of the trace, read when it is first asked for. */
struct digest *summary_digest(struct summary *s);

/* Of an operation, by the ids of its description and type. */
enum kinds_op summary_rows_kind(struct summary *s, int64_t name, int64_t type);
/* Fills s->stats. */
void summary_rows_kernels(struct summary *s);
void summary_rows_calls(struct summary *s);
void summary_rows_copies(struct summary *s);
void summary_rows_markers(struct summary *s);

/* Each prints a table and returns the number of its rows; s->all_ns is the time of all. */
size_t summary_group_print(struct summary *s);
size_t summary_lane_print(struct summary *s);
size_t summary_counter_print(struct summary *s);
size_t summary_metrics_print(struct summary *s);
size_t summary_range_print(struct summary *s);
size_t summary_more_processes(struct summary *s);
size_t summary_more_graphs(struct summary *s);
size_t summary_more_errors(struct summary *s);
size_t summary_more_gaps(struct summary *s);
size_t summary_collective_print(struct summary *s);
size_t summary_path_print(struct summary *s);
size_t summary_overview_print(struct summary *s);
/* Why a database has no operation, and what to do: a line on stderr. */
void summary_overview_say_empty(const char *path);

/* The error's name, or "error N" in buf. */
const char *summary_more_error_name(const struct digest_error *e, char buf[32]);
/* What the host did in an explained gap: "hipFree 40%, outside of calls"; malloc'd. */
char *summary_more_gap_host(struct digest *d, const struct digest_gap *gap);

/* What is wrong with the program (analysis/findings.h): read when it is first asked for. */
const struct findings *summary_findings(struct summary *s);
/* The finding as on a screen: with short names of kernels; malloc'd. */
char *summary_findings_text(const struct finding *f);

#endif
