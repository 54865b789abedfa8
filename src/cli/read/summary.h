/* SPDX-License-Identifier: MIT */
/* summary.h - shared by the files of `rtl summary`
 *
 *	cmd_summary.c	   the command
 *	summary.c	   one table after the other: of analysis/tables.h, drawn by cli/grid.h
 *	summary_overview.c one screen of all of it
 *	summary_findings.c findings on a screen
 */
#ifndef RTL_CLI_READ_SUMMARY_H
#define RTL_CLI_READ_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/tables.h"
#include "cli/db.h"
#include "cli/grid.h"

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
	SUMMARY_CLOCK,
	SUMMARY_IMBALANCE,
	SUMMARY_MPI,
	SUMMARY_NR
};
#define SUMMARY_CHOICES                                                                            \
	"overview|kernel|api|copy|marker|stream|gpu|counter|range|process|rank|graph|error|gap|path|collective|clock|imbalance|mpi"

struct summary {
	struct query *q;
	struct tables tables; /* what is asked */
	struct grid_style style;
	uint64_t rows; /* of a table; 0: all; UINT64_MAX: as many as each of them has by default */
	const char *sort; /* NULL: the longest first */
};

/* One of --by, with the key that divides it. */
struct summary_part {
	enum summary_by by;
	enum tables_split split;
	const char *name; /* "kernel,rank": not ended */
	size_t size;
};

#define SUMMARY_PARTS 32 /* at most */
/* Divides --by, a list of SUMMARY_CHOICES: rank or process behind a table that can be divided
 * divides it. Returns their number; ends the process if there are more than SUMMARY_PARTS. */
size_t summary_parse(const char *by, struct summary_part parts[SUMMARY_PARTS]);

/* The tables of --by, in its order. */
void summary_print(struct summary *s, const char *by);
/* One table, not drawn; says what there is to say about it. The caller's to sheet_fini(). */
void summary_make(struct summary *s, enum summary_by by, struct sheet *out);
void summary_free(struct summary *s);
/* The overview of a database on stderr, for rtl trace --summary. */
void summary_print_overview(const char *path);

/* What times of --time count from. */
int64_t summary_begin(struct query *q);
/* The digest of the trace, read when it is first asked for. */
struct digest *summary_digest(struct summary *s);

void summary_overview_print(struct summary *s);
/* Why a database has no operation, and what to do: a line on stderr. */
void summary_overview_say_empty(const char *path);

/* What is wrong with the program (analysis/findings.h): read when it is first asked for. */
const struct findings *summary_findings(struct summary *s);
/* The finding as on a screen: with short names of kernels; malloc'd. */
char *summary_findings_text(const struct finding *f);

#endif
