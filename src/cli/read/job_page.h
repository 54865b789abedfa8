/* SPDX-License-Identifier: MIT */
/* job_page.h - rtl fleet -f html: which job and ranks the page is of, and what is asked for it
 *
 * Threads:  one.
 * Fails:    ends the process with a message.
 */
#ifndef RTL_CLI_READ_JOB_PAGE_H
#define RTL_CLI_READ_JOB_PAGE_H

#include "cli/trace/dataset.h"
#include "fleet/fleet_ask.h"

struct job_page {
	struct fleet_set *set;
	const char *shown;		  /* the data set, as the user wrote it */
	const char *job, *ranks;	  /* options; NULL: not given */
	const struct dataset_mark *marks; /* of ranks that are not finished */
	ssize_t nr_marks;
	/* Asks a question of the ranks of the set that are asked; leaves out ranks that can't be
	 * read. */
	void (*ask)(void *arg, const struct fleet_question *q, struct sheet *t);
	void *arg;
};

/* Writes it to ui_output_file(). */
void job_page_print(const struct job_page *p);

#endif
