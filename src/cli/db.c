/* SPDX-License-Identifier: MIT */
/* db.c - a trace opened for a command
 *
 * Fails:    an unreadable file ends the process (ui_die).
 */
#include "cli/db.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/exit_status.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"

void db_check_job(const struct job_result *res, int err)
{
	if (err == -ECANCELED && ui_stopped_by())
		ui_die(128 + ui_stopped_by(), "stopped by signal %d; %s", ui_stopped_by(),
		       ui_stop_hint());
	if (err < 0)
		ui_die(err == -ESPIPE ? STATUS_INPUT : STATUS_FAILED, "%s",
		       res->error[0] ? res->error : strerror(-err));
}

int db_check(const struct query *q, int ret)
{
	db_check_job(q->res, ret);
	return ret;
}

struct query *db_open(const char *path)
{
	return db_open_all(&path, 1);
}

struct query *db_open_all(const char *const *paths, size_t nr)
{
	static char all[PATH_MAX + 32]; /* how they are named together */
	static struct job_result res;
	static struct job_options opt;
	struct ui_progress progress;
	struct query *q;
	int err;

	opt = (struct job_options){ .progress = ui_progress_step,
				    .progress_arg = &progress,
				    .twice = true };
	ui_progress_start(&progress, nr > 1 ? "merging" : "reading the raw trace",
			  UI_PROGRESS_AUTO);
	err = query_open(&q, paths, nr, rpd_merge, &opt, &res);
	ui_progress_end(&progress);
	opt.progress = NULL;
	db_check_job(&res, err);
	if (nr > 1) {
		snprintf(all, sizeof(all), "%s and %zu more", paths[0], nr - 1);
		q->path = all;
	}
	/* commands read tables from the begin to the end, and sort: both need no more, and SQLite
	 * takes what it may */
	query_run(q, "PRAGMA cache_size = -2048");
	if (res.warning[0])
		ui_say("%s", res.warning);
	return q;
}

sqlite3_stmt *db_query(struct query *q, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	db_check(q, query_prepare(q, &stmt, sql));
	return stmt;
}

bool db_step(struct query *q, sqlite3_stmt *stmt)
{
	return db_check(q, query_step(q, stmt)) == 1;
}
