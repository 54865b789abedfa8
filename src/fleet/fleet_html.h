/* SPDX-License-Identifier: MIT */
/* fleet_html.h - a job as one page for a browser: heat maps of its ranks over time and over
 * kernels, tables, and timelines of a few ranks (web/fleet.js shows it)
 *
 * What is shown are the answers to questions. The page has FLEET_HTML_RANKS ranks and
 * FLEET_HTML_ROWS rows of a table at most, and says what is left out.
 *
 * Threads:  one.
 */
#ifndef RTL_FLEET_FLEET_HTML_H
#define RTL_FLEET_FLEET_HTML_H

#include <stdio.h>

#include "fleet/fleet_ask.h"

#define FLEET_HTML_RANKS 16000
#define FLEET_HTML_ROWS 1000
#define FLEET_HTML_PICKED 16 /* ranks with a timeline */

/* What is asked, in this order. The tables of the page come first; timelines, the last one, are
 * asked of the picked ranks alone. */
enum fleet_html_question {
	FLEET_HTML_OVERVIEW,
	FLEET_HTML_OF_RANKS,
	FLEET_HTML_SLOW_RANKS,
	FLEET_HTML_SLOW_HOSTS,
	FLEET_HTML_IMBALANCE,
	FLEET_HTML_COLLECTIVES,
	FLEET_HTML_OUTLIERS,
	FLEET_HTML_KERNELS,
	FLEET_HTML_TABLES,
	FLEET_HTML_BUSY = FLEET_HTML_TABLES,
	FLEET_HTML_RANK_KERNELS,
	FLEET_HTML_TIMELINE,
	FLEET_HTML_QUESTIONS
};
extern const char *const fleet_html_questions[FLEET_HTML_QUESTIONS];

/* A rank of the job that is not in the data set yet. */
struct fleet_html_mark {
	int64_t rank, pid;
	const char *host;
};

struct fleet_html {
	const struct fleet_set *set;
	const char *shown; /* the data set, as the user wrote it */
	const char *job;
	const struct fleet_html_mark *marks;
	size_t nr_marks;
	struct fleet_question questions[FLEET_HTML_QUESTIONS];
	struct sheet sheets[FLEET_HTML_QUESTIONS]; /* the answers */
	int64_t picked[FLEET_HTML_PICKED];
	size_t nr_picked;
};

/* Picks two ranks: the one whose kernels took most time beyond the medians of all ranks, without
 * those of collectives, in which the others wait for it; and the one in the middle. 0 or
 * -ENOMEM. */
int fleet_html_pick(struct fleet_html *h);
/* 0; -ENOMEM; an error of the file. */
int fleet_html_write(const struct fleet_html *h, FILE *out);

#endif
