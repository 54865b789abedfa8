/* SPDX-License-Identifier: MIT */
/* unfinished.c - the ranks of a data set that are not finished: who writes them, whether it still
 * runs, and what finishes them */
#include "cli/trace/unfinished.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit_status.h"
#include "cli/trace/dataset.h"
#include "cli/ui.h"

enum { C_JOB, C_RANK, C_HOST, C_PID, C_STATE, C_AGE, C_COMMAND, C_SPOOL, NR_COLUMNS };

static const struct sheet_column columns[] = {
	[C_JOB] = { "job", "JOB", SHEET_NAME },
	[C_RANK] = { "rank", "RANK", SHEET_NUMBER },
	[C_HOST] = { "host", "HOST", SHEET_NAME },
	[C_PID] = { "pid", "PID", SHEET_NUMBER },
	[C_STATE] = { "state", "STATE", SHEET_NAME },
	[C_AGE] = { "age_ns", "FOR", SHEET_TIME },
	[C_COMMAND] = { "command", "FINISHED BY", SHEET_NAME, .is_typed = true },
	[C_SPOOL] = { "spool", NULL, SHEET_NAME },
};

/* Running, killed, or not known here; the number of those that were killed. */
static size_t add_rows(struct sheet *table, const struct dataset_mark *marks, size_t nr,
		       const char *set)
{
	char *here = ui_format("rtl recover %s", set);
	size_t nr_killed = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct dataset_mark *m = &marks[i];
		bool runs = m->is_here && dataset_mark_runs(m);
		char *there =
			ui_format("on %s: rtl recover %s", *m->host ? m->host : "its host", set);
		struct sheet_cell cells[NR_COLUMNS] = { 0 };

		cells[C_JOB].text = *m->job ? m->job : "0";
		cells[C_RANK].num = (uint64_t)m->rank;
		cells[C_RANK].none = m->rank < 0;
		cells[C_HOST].text = m->host;
		cells[C_PID].num = m->pid;
		cells[C_STATE].text = runs ? "running" : m->is_here ? "killed" : "not known here";
		cells[C_AGE].num = (uint64_t)m->age_ns;
		cells[C_COMMAND].text = runs ? "the end of the program" : m->is_here ? here : there;
		cells[C_SPOOL].text = m->spool;
		sheet_row(table, cells);
		nr_killed += m->is_here && !runs;
		free(there);
	}
	free(here);
	return nr_killed;
}

void unfinished_print(const char *set, enum grid_format format)
{
	struct grid_style style = grid_style(format);
	struct dataset_mark *marks;
	struct sheet table = { 0 };
	ssize_t nr = dataset_marks(set, &marks);
	size_t nr_killed;

	if (nr < 0)
		ui_die(STATUS_FAILED, "%s: %s", set, strerror((int)-nr));
	sheet_columns(&table, columns, NR_COLUMNS);
	nr_killed = add_rows(&table, marks, (size_t)nr, set);
	if (sheet_check(&table))
		ui_die_memory();
	if (nr || format != GRID_TEXT)
		grid_print(&table, &style);
	else
		ui_say("%s: no rank is unfinished", set);
	ui_flush();
	if (nr_killed && format == GRID_TEXT)
		ui_say("%zu of %zd unfinished %s killed on this host: rtl recover %s finishes %s",
		       nr_killed, nr, nr_killed == 1 ? "was" : "were", set,
		       nr_killed == 1 ? "it" : "them");
	sheet_fini(&table);
	free(marks);
}
