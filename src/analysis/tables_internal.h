/* SPDX-License-Identifier: MIT */
/* tables_internal.h - shared by the files that make tables (tables.h) */
#ifndef RTL_ANALYSIS_TABLES_INTERNAL_H
#define RTL_ANALYSIS_TABLES_INTERNAL_H

#include "analysis/collective.h"
#include "analysis/pass.h"
#include "analysis/tables.h"

/* The parts into which a table is divided: ranks or processes. */
struct tables_parts {
	uint32_t nr;	  /* 1 of a table that is not divided */
	uint32_t *of;	  /* of each process in q->processes; NULL: all are part 0 */
	int64_t *numbers; /* of each part: rank (-1: none) or pid */
};

/* One table of a call of tables_read(). */
struct tables_job {
	struct tables *t;
	enum tables_kind kind;
	enum tables_split split;
	struct tables_parts parts;
	struct sheet *out;
	void *state;		   /* of the file that makes it */
	struct pass_reader reader; /* take NULL: it needs no pass */
	size_t nr_jobs;		   /* of the call: values in memory are divided among them */
};

/* Of each file: begin() sets job->state and job->reader; end() makes the rows; done() frees the
 * state, in all cases. */
int table_names_begin(struct tables_job *job);
int table_names_end(struct tables_job *job);
void table_names_done(struct tables_job *job);
int table_busy_begin(struct tables_job *job);
int table_busy_end(struct tables_job *job);
void table_busy_done(struct tables_job *job);
int table_ranges_begin(struct tables_job *job);
int table_ranges_end(struct tables_job *job);
int table_ranges_names_end(struct tables_job *job);
void table_ranges_done(struct tables_job *job);
int table_processes_end(struct tables_job *job);
int table_counters_end(struct tables_job *job);
int table_metrics_end(struct tables_job *job);
int table_collectives_end(struct tables_job *job);
int table_clocks_end(struct tables_job *job);
int table_imbalance_begin(struct tables_job *job);
int table_imbalance_end(struct tables_job *job);
void table_imbalance_done(struct tables_job *job);
int table_mpi_end(struct tables_job *job);
int table_path_end(struct tables_job *job);
int table_more_graphs(struct tables_job *job);
int table_more_errors(struct tables_job *job);
int table_more_gaps(struct tables_job *job);

/* The collectives of the trace, matched when they are first asked for. 0 or -errno with
 * q->res->error. */
int table_collectives_read(struct tables *t, const struct collectives **out);
/* Lines about the clocks of several hosts. */
void table_clocks_notes(struct sheet *out, const struct clock_align *clocks);

/* The part of a process, and of a row by its id. */
uint32_t tables_part(const struct tables_job *job, uint32_t process);
uint32_t tables_part_of(const struct tables_job *job, int64_t id);

/* The columns of a divided table: the rank or pid, the row's time of the mean of its name, the most
 * of the mean, and who has it. */
#define TABLES_PART_COLUMNS 4
void tables_part_columns(struct tables_job *job);
/* The cells of a row: `own` is its part and time, `all` are the times of its name in each part, of
 * which `has` says which have it. */
void tables_part_cells(const struct tables_job *job, uint32_t part, const uint64_t *all,
		       const bool *has, struct sheet_cell cells[TABLES_PART_COLUMNS]);

/* Columns of the durations of a group: share, total, calls, mean, min, median, p99, max. On a
 * narrow screen the mean and those behind it are left out; with `drop` all are, from that number
 * on. */
#define TABLES_TIMES 8
struct sheet_column tables_time_column(size_t i, unsigned char drop);
void tables_time_cells(const struct tables_job *job, struct sums *sums, struct sums_group *g,
		       struct sheet_cell cells[TABLES_TIMES]);

/* The wall time of what is looked at, with its start-up. */
struct wall tables_wall(struct tables *t);
/* The rows of a statement, which is prepared and finalized: take() gets each. */
int tables_rows(struct tables *t, const char *sql, int (*take)(void *arg, sqlite3_stmt *row),
		void *arg);

#endif
